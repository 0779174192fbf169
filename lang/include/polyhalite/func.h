// Func: a stage of a pipeline, as a function over integer coordinates, and the words of its
// schedule.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/extern_stage.h"
#include "polyhalite/func_ref.h"
#include "polyhalite/operators.h"
#include "polyhalite/rdom.h"
#include "polyhalite/realize.h"
#include "polyhalite/stage.h"
#include "polyhalite/tuple.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct FunctionContents;
class OutputImageParam;
enum class DirectiveKind : uint8_t;

/// Under which number polyhalite_memoization_cache_evict() knows what a memoized Func keeps: an
/// integer or a handle, which counts as 64 bits; none by default.
class EvictionKey {
 public:
  EvictionKey() = default;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<const T &, Expr>>>
  EvictionKey(const T &key) : key_(key) {}  // NOLINT
  const Expr &key() const { return key_; }

 private:
  Expr key_;
};

/// A handle: copies share definitions and schedule.
class Func : public Schedulable<Func>, public Realizable<Func> {
 public:
  Func(Here here = Here());  // NOLINT
  explicit Func(const std::string &name, Here here = Here());
  explicit Func(const char *name, Here here = Here()) : Func(std::string(name), std::move(here)) {}
  /// Over the implicit variables of e, as in Func(g(_) + 1); of no arguments where it has none.
  explicit Func(const Expr &e, Here here = Here());
  /// A Func whose definition must have these types of values (any, where the list is empty) and
  /// this number of dimensions (any, for AnyDims).
  Func(const std::vector<Type> &types, int dimensions, const std::string &name, Here here = Here());
  Func(const Type &type, int dimensions, const std::string &name, Here here = Here())
      : Func(std::vector<Type>{type}, dimensions, name, std::move(here)) {}
  template <typename T, int D>
  explicit Func(const Buffer<T, D> &image, Here here = Here()) : Func(std::move(here)) {
    const std::vector<Expr> args = implicit_args(image.dimensions());
    (*this)(args) = image(args);
  }

  const std::string &name() const;
  bool defined() const;
  /// While undefined, what the constructor requires, else 0.
  int dimensions() const;
  std::vector<Var> args() const;
  /// The right-hand side of the pure definition; CompileError while undefined, and for a Tuple.
  Expr value(Here here = Here()) const;
  Tuple values(Here here = Here()) const;
  std::vector<Expr> update_args(int i = 0, Here here = Here()) const;
  Expr update_value(int i = 0, Here here = Here()) const;
  Tuple update_values(int i = 0, Here here = Here()) const;
  std::vector<RVar> rvars(int i = 0, Here here = Here()) const;
  bool has_update_definition() const { return num_update_definitions() > 0; }
  int num_update_definitions() const;
  /// Has the C function `function` compute the values, a box at a time. It gets the `params`, then
  /// one polyhalite_buffer_t * for each value, and returns 0 or an error code. Where a buffer of a
  /// Func has no memory (is_bounds_query()), it is asked what it needs: it sets the min and extent
  /// of each dimension of such buffers for the box that the outputs have, and computes nothing; for
  /// a larger box it must ask for no less. It reads nothing beyond what it asked for. Funcs among
  /// the params need compute_root() or compute_at(). The function runs on the processor:
  /// CompileError for other devices than None and Host.
  void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                     const std::vector<Type> &types, const std::vector<Var> &args,
                     NameMangling mangling = NameMangling::Default,
                     DeviceAPI device = DeviceAPI::Host, Here here = Here());
  void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                     const std::vector<Type> &types, int dimensions,
                     NameMangling mangling = NameMangling::Default,
                     DeviceAPI device = DeviceAPI::Host, Here here = Here());
  void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                     Type type, const std::vector<Var> &args,
                     NameMangling mangling = NameMangling::Default,
                     DeviceAPI device = DeviceAPI::Host, Here here = Here()) {
    define_extern(function, params, std::vector<Type>{type}, args, mangling, device,
                  std::move(here));
  }
  void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                     Type type, int dimensions, NameMangling mangling = NameMangling::Default,
                     DeviceAPI device = DeviceAPI::Host, Here here = Here()) {
    define_extern(function, params, std::vector<Type>{type}, dimensions, mangling, device,
                  std::move(here));
  }
  bool is_extern() const;
  /// CompileError where it is none.
  std::string extern_function_name() const;

  /// The buffer of this Func as an output, or of each of its values: constraints on its shape.
  /// CompileError while undefined.
  OutputImageParam output_buffer(Here here = Here()) const;
  std::vector<OutputImageParam> output_buffers(Here here = Here()) const;
  /// Of the values, or what the constructor requires; empty while neither is known.
  const std::vector<Type> &types() const;
  const std::vector<Type> &output_types() const { return types(); }
  /// Of a single value; CompileError while it is not known.
  const Type &type(Here here = Here()) const;
  int outputs() const { return static_cast<int>(types().size()); }

  FuncRef operator()(const std::vector<Expr> &args, Here here = Here()) const;
  FuncRef operator()(const std::vector<Var> &args, Here here = Here()) const;
  FuncRef operator()(Here here = Here()) const;
  template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
  FuncRef operator()(Index first, Args &&...more) const {
    return call({std::move(first.value), Expr(std::forward<Args>(more))...}, first.where);
  }

  /// Update definition i, to be scheduled. Directives on the Func itself mean its pure definition.
  Stage update(int i = 0, Here here = Here());
  operator Stage() const { return Stage(contents_, 0); }  // NOLINT
  /// Of the pure definition, see Stage.
  std::vector<VarOrRVar> split_vars(Here here = Here()) const {
    return Stage(contents_, 0).split_vars(std::move(here));
  }

  // Where the Func is computed and stored. Without a word, a Func with a pure definition only is
  // inlined, and one with updates is computed where it is used innermost.
  Func &compute_root(Here here = Here());
  Func &compute_inline(Here here = Here());
  Func &compute_at(const Func &consumer, const VarOrRVar &loop);
  Func &compute_at(const LoopLevel &level, Here here = Here());
  Func &store_root(Here here = Here());
  Func &store_at(const Func &consumer, const VarOrRVar &loop);
  Func &store_at(const LoopLevel &level, Here here = Here());
  /// Copies the values to the device or back where the next consumer runs; devices do not exist
  /// yet.
  Func &copy_to_device(DeviceAPI api = DeviceAPI::Default_GPU, Here here = Here());
  Func &copy_to_host(Here here = Here());
  /// Takes the storage's memory once outside of the loop, not anew in each of its iterations; what
  /// the storage holds still ends where its store level says.
  ///
  ///   g.compute_at(f, x).hoist_storage(f, y)
  ///   for y { for x { allocate g { ... } } }  ->  for y { memory { for x { g in memory { ... } } }
  ///   }
  Func &hoist_storage(const Func &consumer, const VarOrRVar &loop);
  Func &hoist_storage(const LoopLevel &level, Here here = Here());
  Func &hoist_storage_root(Here here = Here());
  /// Hoisted memory holds `extent` storages: iterations of the loops between hoist and store level
  /// take them in turn, so that with async() as many productions may be under way.
  Func &ring_buffer(Expr extent, Here here = Here());
  /// Productions run in a task beside the rest of what the storage encloses; consumers wait for
  /// them, and productions for consumers where storage is folded or taken in turn.
  ///
  ///   allocate f { for y { f's production; its uses } }
  ///     ->  allocate f { for y { wait for room; f's production; tell }
  ///                      beside
  ///                      for y { wait for f; its uses; make room } }
  Func &async(Here here = Here());
  /// Keeps what a production computes beyond the run: a later production of the same box, by this
  /// compilation of the pipeline and with equal values of all Params and shapes that the values
  /// depend on, takes it from there. The Func is stored where it is computed, and is no output.
  ///
  ///   allocate f { produce f { ... } }
  ///     ->  allocate f { produce f { if kept { copy } else { ...; keep } } }
  ///
  /// CompileError where the values depend on images' elements or handles: see memoize_tag().
  /// polyhalite_memoization_cache_set_size() says how much is kept, and
  /// polyhalite_memoization_cache_evict() drops what has a given eviction key.
  Func &memoize(const EvictionKey &key = EvictionKey(), Here here = Here());
  // Funcs that stand between this one and its consumers, to be scheduled. Asking again gives the
  // same Func.
  /// f_in_g(x) = f(x), which `consumer` reads in place of f.
  Func in(const Func &consumer, Here here = Here());
  /// One for all of `consumers`; CompileError where some have one of their own.
  Func in(const std::vector<Func> &consumers, Here here = Here());
  /// One for every consumer that has none of its own.
  Func in(Here here = Here());
  /// f_clone_in_g, with the definitions of f, which `consumer` reads in place of f.
  Func clone_in(const Func &consumer, Here here = Here());
  Func clone_in(const std::vector<Func> &consumers, Here here = Here());

  /// Computes the values in another type; this Func becomes a cast of them.
  ///   f(x) = 0.0f; f(x) += cast<float>(a(r))   ->   f_int32(x) = 0; f_int32(x) += cast<int>(a(r))
  ///                                                 f(x) = cast<float>(f_int32(x))
  /// Returns that Func; directives so far go to it. What casts a pure Func's values reads it
  /// directly, unless this one is computed somewhere. CompileError where a value might differ:
  /// float sums count as exact, whole numbers must stay in the range of `type`. Where the range
  /// depends on the extent of a reduction that is known only when the pipeline runs, it is checked
  /// then. `unproven` casts values that may not fit as well.
  Func change_type(const Type &type, bool unproven = false, Here here = Here());

  /// Promises that the Func is needed over [min, min + extent) of var only; checked at entry.
  Func &bound(const VarOrRVar &var, Expr min, Expr extent);

  /// The same for the extent alone; the minimum is what is needed.
  Func &bound_extent(const VarOrRVar &var, Expr extent);
  /// Grows the region so that its minimum is `remainder` modulo `modulus`, and its extent a
  /// multiple of `modulus`. An output's buffer must have such bounds.
  ///
  ///     f needed over [3, 8]  ->  computed over [2, 9]     f.align_bounds(x, 4, 2)
  Func &align_bounds(const VarOrRVar &var, Expr modulus, Expr remainder = 0);
  /// Grows the region so that its extent is a multiple of `modulus`.
  Func &align_extent(const VarOrRVar &var, Expr modulus);

  // How the Func's storage is laid out. Values do not depend on it; an output's buffer is laid out
  // by its owner.

  /// The order of the dimensions in memory, innermost first. Dimensions that are not named keep
  /// their places.
  ///
  ///     f(x, y, c) at x + y*W + c*W*H  ->  at c + x*C + y*C*W     f.reorder_storage(c, x, y)
  Func &reorder_storage(const std::vector<Var> &dims, Here here = Here());
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, Var> && ...)>>
  Func &reorder_storage(const VarOrRVar &x, const Var &y, Args &&...more) {
    return reorder_storage(
        std::vector<Var>{Var::of_loop(x.name), y, Var(std::forward<Args>(more))...}, Here(x.where));
  }
  /// Rounds the storage's extent of a dimension up to a multiple of `alignment`.
  Func &align_storage(const VarOrRVar &dim, Expr alignment);
  /// Stores a dimension in blocks of `factor` cells: the place in the block is innermost in memory,
  /// the number of the block has the dimension's place in the order. Of several packed dimensions
  /// the first one that is named is the innermost. The storage's extent is rounded up to whole
  /// blocks. Loops that are split by the factor, or by a divisor of it, go through a block without
  /// divisions.
  ///
  ///     b(n, k) at n + k*N  ->  at n%16 + k*16 + n/16*16*K     b.pack(n, 16).reorder_storage(k, n)
  Func &pack(const VarOrRVar &dim, Expr factor);
  /// Stores a dimension in a ring of `extent` cells: cell i lies at i modulo `extent`. Refused
  /// where the ring loses a value that is still read.
  ///
  ///     for y { f(x, y..y+2) ... }  in  f[W][H + 2]  ->  f[W][4]     f.fold_storage(y, 4)
  ///
  /// `fold_forward` says that the window moves up.
  Func &fold_storage(const VarOrRVar &dim, Expr extent, bool fold_forward = true);
  /// Promises that a dimension of the storage needs at most `extent` cells; checked at entry where
  /// it does not follow. The storage has as many.
  Func &bound_storage(const VarOrRVar &dim, Expr extent);
  /// Computes this Func in the memory of `func`, which it reads and nobody else does: its values
  /// take the place of those. Refused where an instance would read a cell that another one has
  /// written before, or somebody else reads it. Both are computed at one level, which is this
  /// Func's. Of an input take a copy, `in.in(f)`; nothing is copied where both are one buffer.
  ///
  ///     allocate f { f = ...  allocate g { g(x) = f(x) + f(x + 1)  ... } }
  ///       ->  allocate g { g = ...  g(x) = g(x) + g(x + 1)  ... }               g.in_place(f)
  Func &in_place(const Func &func, Here here = Here());
  Func &store_in(MemoryType memory, Here here = Here());
  /// Report what happens to the Func as trace events, see polyhalite_trace_event_t: every value
  /// that is read or written, or the begin and end of its storage, productions and uses. Of a Func
  /// that is computed inline there is nothing to report.
  Func &trace_loads(Here here = Here());
  Func &trace_stores(Here here = Here());
  Func &trace_realizations(Here here = Here());
  /// A text for readers of the trace, reported once at the beginning of the pipeline.
  Func &add_trace_tag(const std::string &text, Here here = Here());
  /// Writes the Func's values to a file when they are whole, for debugging; the pipeline fails
  /// where the file cannot be written. Nothing is written of a Func that is computed inline.
  /// Formats, by the name's end: .npy (numpy), .tif or .tiff, .mat (MATLAB, level 5), else a header
  /// of five int32 (the extents of four dimensions, the last one times those of all behind it, and
  /// the type: float 0, double 1, uint8 2, int8 3, uint16 4, int16 5, uint32 6, int32 7, uint64 8,
  /// int64 9) and the values. The first dimension varies fastest; mins are lost.
  void debug_to_file(const std::string &filename, Here here = Here());

  /// Profiles count the Func's productions to what surrounds them: of small ones the profiler's own
  /// work would be most of the time.
  Func &no_profiling(Here here = Here());

  /// Bounds that an auto-scheduler may assume; no promise, and nothing checks them.
  Func &set_estimate(const VarOrRVar &var, Expr min, Expr extent);
  Func &set_estimates(const Region &estimates, Here here = Here());

  /// Handles on the shared contents, for Pipeline and other parts of the library.
  const std::shared_ptr<FunctionContents> &function() const { return contents_; }
  explicit Func(std::shared_ptr<FunctionContents> contents);

  const std::shared_ptr<PipelineContents> &pipeline_contents() const { return pipeline_; }
  Stage stage_to_schedule() const { return Stage(contents_, 0); }

  /// _0, _1, ...
  static std::vector<Expr> implicit_args(int n);

 private:
  FuncRef call(const std::vector<Expr> &args, const SourceLocation &where) const;
  /// The one value; CompileError, naming what was asked for, where there are several.
  Expr single(const Tuple &values, const std::string &word, const Here &here) const;
  Func &record_bounds(DirectiveKind kind, const VarOrRVar &var, std::vector<Expr> factors,
                      std::vector<const char *> names, int64_t least);
  size_t argument_index(const char *word, const VarOrRVar &var) const;
  std::shared_ptr<FunctionContents> contents_;
  std::shared_ptr<PipelineContents> pipeline_;  // with this Func as its output
};

/// Several Funcs: the outputs of a Pipeline, what hoist_invariants() makes. One alone is a Func.
class FuncVec : public std::vector<Func> {
 public:
  using std::vector<Func>::vector;
  FuncVec() = default;
  FuncVec(const std::vector<Func> &funcs) : std::vector<Func>(funcs) {}        // NOLINT
  FuncVec(std::vector<Func> &&funcs) : std::vector<Func>(std::move(funcs)) {}  // NOLINT
  /// `count` undefined Funcs, called name0, name1...; one alone is called `name`.
  FuncVec(const std::string &name, size_t count, Here here = Here());
  /// The only one; CompileError where there are more or none.
  operator Func() const;  // NOLINT
  /// CompileError where there are not as many.
  void require_size(size_t n, const Here &here) const;
};

template <size_t N>
auto Stage::hoist_invariants(Here here) {
  FuncVec made = hoist_invariants(here);
  made.require_size(N, here);
  std::array<Func, N> funcs;
  for (size_t i = 0; i < N; i++) funcs[i] = made[i];
  return funcs;
}

/// A Func as an argument among others, with the place of the call.
struct FuncAt {
  Func func;
  SourceLocation where;
  FuncAt(const Func &f, const char *file = __builtin_FILE(),  // NOLINT
         int line = __builtin_LINE())
      : func(f), where{file, line} {}
};

template <typename Self>
Self &Schedulable<Self>::eager_inline(const Func &func, Here here) {
  return eager_inline(std::vector<Func>{func}, std::move(here));
}

template <typename Self>
template <typename... Args, typename>
Self &Schedulable<Self>::eager_inline(const Func &first, const FuncAt &second, Args &&...more) {
  return eager_inline(std::vector<Func>{first, second.func, Func(std::forward<Args>(more))...},
                      Here(second.where));
}

}  // namespace polyhalite
