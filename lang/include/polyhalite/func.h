// Func: a stage of a pipeline, as a function over integer coordinates, and the words of its
// schedule.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"
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

  // Where the Func is computed and stored. Without a word, a Func with a pure definition only is
  // inlined, and one with updates is computed where it is used innermost.
  Func &compute_root(Here here = Here());
  Func &compute_inline(Here here = Here());
  Func &compute_at(const Func &consumer, const VarOrRVar &loop);
  Func &compute_at(const LoopLevel &level, Here here = Here());
  Func &store_root(Here here = Here());
  Func &store_at(const Func &consumer, const VarOrRVar &loop);
  Func &store_at(const LoopLevel &level, Here here = Here());
  /// Copies the values to the device or back where the next consumer runs; devices do not exist yet.
  Func &copy_to_device(DeviceAPI api = DeviceAPI::Default_GPU, Here here = Here());
  Func &copy_to_host(Here here = Here());
  /// Promises that the Func is needed over [min, min + extent) of var only; checked at entry.
  Func &bound(const VarOrRVar &var, Expr min, Expr extent);

  /// Report what happens to the Func as trace events, see polyhalite_trace_event_t: every value that
  /// is read or written, or the begin and end of its storage, productions and uses. Of a Func that
  /// is computed inline there is nothing to report.
  Func &trace_loads(Here here = Here());
  Func &trace_stores(Here here = Here());
  Func &trace_realizations(Here here = Here());
  /// A text for readers of the trace, reported once at the beginning of the pipeline.
  Func &add_trace_tag(const std::string &text, Here here = Here());

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
  size_t argument_index(const char *word, const VarOrRVar &var) const;
  std::shared_ptr<FunctionContents> contents_;
  std::shared_ptr<PipelineContents> pipeline_;  // with this Func as its output
};

}  // namespace polyhalite
