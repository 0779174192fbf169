#include "polyhalite/func.h"

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/fixed_value.h"
#include "lang/language/loop_level.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "lang/language/pipeline_contents.h"
#include "lang/language/record.h"
#include "polyhalite/param.h"

namespace polyhalite {

namespace {

std::shared_ptr<FunctionContents> make_contents(const std::string &name, Here here) {
  auto f = std::make_shared<FunctionContents>();
  f->name = name;
  f->where = std::move(here.where);
  return f;
}

const Definition &update_definition(const FunctionContents &f, int i, const Here &here) {
  const int n = static_cast<int>(f.updates.size());
  if (i < 0 || i >= n) {
    user_error("update " + std::to_string(i) + " of '" + plain_name(f.name) + "' does not exist",
               n == 0 ? "it has no updates" : "it has " + std::to_string(n) + ", counted from 0",
               n == 0 ? "schedule the Func itself, or update it first"
                      : "use update(0) to update(" + std::to_string(n - 1) + ")",
               here.where);
  }
  return f.updates[i];
}

}  // namespace

Func::Func(Here here) : Func(make_contents(anonymous_name("f"), std::move(here))) {
  contents_->is_named = false;
}

Func::Func(const std::string &name, Here here)
    : Func(make_contents(unique_name(clean_name(name)), std::move(here))) {}

Func::Func(const Expr &e, Here here) : Func(here) {
  (*this)(std::vector<Expr>{Var("_")}, here) = e;
}

Func::Func(const std::vector<Type> &types, int dimensions, const std::string &name, Here here)
    : Func(name, std::move(here)) {
  contents_->required_types = types;
  contents_->required_dimensions = dimensions;
}

Func::Func(std::shared_ptr<FunctionContents> contents)
    : contents_(std::move(contents)), pipeline_(std::make_shared<PipelineContents>()) {
  pipeline_->outputs.push_back(contents_);
}

const std::string &Func::name() const { return contents_->name; }
bool Func::defined() const { return contents_->pure.has_value(); }
int Func::dimensions() const {
  if (!defined() && contents_->required_dimensions != AnyDims) {
    return contents_->required_dimensions;
  }
  return static_cast<int>(contents_->pure_args.size());
}

std::vector<Var> Func::args() const {
  std::vector<Var> vars;
  for (const std::string &name : contents_->pure_args) vars.push_back(Var::of_loop(name));
  return vars;
}

Expr Func::value(Here here) const { return single(values(here), "value()", here); }

Tuple Func::values(Here here) const {
  if (!defined()) {
    user_error("Func '" + plain_name(name()) + "' has no value", "it is undefined",
               "define it first, as in f(x, y) = ...", here.where);
  }
  return Tuple(contents_->pure->values);
}

OutputImageParam Func::output_buffer(Here here) const {
  const std::vector<OutputImageParam> all = output_buffers(here);
  if (all.size() != 1) {
    user_error("output_buffer() of '" + plain_name(name()) + "'",
               "it has " + std::to_string(all.size()) + " values, and a buffer for each",
               "take one of output_buffers()", here.where);
  }
  return all[0];
}

std::vector<OutputImageParam> Func::output_buffers(Here here) const {
  if (contents_->types.empty()) {
    user_error("the output buffers of '" + plain_name(name()) + "' are asked for",
               "it is undefined", "define it first, as in f(x, y) = ...", here.where);
  }
  for (size_t i = contents_->output_params.size(); i < contents_->types.size(); i++) {
    auto p = std::make_shared<ParameterContents>();
    p->name = contents_->name + (contents_->types.size() > 1 ? "." + std::to_string(i) : "");
    p->type = contents_->types[i];
    p->is_buffer = p->is_output = true;
    p->dimensions = dimensions();
    p->dims.resize(static_cast<size_t>(p->dimensions));
    // Elements of the innermost dimension are adjacent unless the program says otherwise.
    if (p->dimensions > 0) p->dims[0].stride = 1;
    contents_->output_params.push_back(std::move(p));
  }
  std::vector<OutputImageParam> all;
  for (const auto &p : contents_->output_params) all.emplace_back(p);
  return all;
}

Expr Func::single(const Tuple &values, const std::string &word, const Here &here) const {
  if (values.size() == 1) return values[0];
  user_error(word + " of Func '" + plain_name(name()) + "', which has " +
                 std::to_string(values.size()) + " values",
             "only a Func of one value has a single Expr", "ask for all of them, as a Tuple",
             here.where);
}

const std::vector<Type> &Func::types() const {
  return defined() ? contents_->types : contents_->required_types;
}

const Type &Func::type(Here here) const {
  if (types().empty()) {
    user_error("Func '" + plain_name(name()) + "' has no type", "it is undefined",
               "define it first, as in f(x, y) = ...", here.where);
  }
  if (types().size() > 1) {
    user_error("type() of Func '" + plain_name(name()) + "', which has " +
                   std::to_string(types().size()) + " values",
               "only a Func of one value has a single type", "use types()", here.where);
  }
  return types()[0];
}

std::vector<Expr> Func::update_args(int i, Here here) const {
  return update_definition(*contents_, i, here).args;
}

Expr Func::update_value(int i, Here here) const {
  return single(update_values(i, here), "update_value(" + std::to_string(i) + ")", here);
}

Tuple Func::update_values(int i, Here here) const {
  return Tuple(update_definition(*contents_, i, here).values);
}

std::vector<RVar> Func::rvars(int i, Here here) const {
  std::vector<RVar> vars;
  const auto &domain = update_definition(*contents_, i, here).domain;
  for (size_t k = 0; domain && k < domain->vars.size(); k++) {
    vars.emplace_back(domain, static_cast<int>(k));
  }
  return vars;
}

int Func::num_update_definitions() const { return static_cast<int>(contents_->updates.size()); }

FuncRef Func::operator()(const std::vector<Expr> &args, Here here) const {
  return FuncRef(contents_, args, here.where);
}

FuncRef Func::operator()(const std::vector<Var> &args, Here here) const {
  return FuncRef(contents_, std::vector<Expr>(args.begin(), args.end()), here.where);
}

FuncRef Func::operator()(Here here) const { return FuncRef(contents_, {}, here.where); }

FuncRef Func::call(const std::vector<Expr> &args, const SourceLocation &where) const {
  return FuncRef(contents_, args, where);
}

Stage Func::update(int i, Here here) {
  update_definition(*contents_, i, here);
  return Stage(contents_, i + 1);
}

std::vector<Expr> Func::implicit_args(int n) {
  std::vector<Expr> args;
  for (int i = 0; i < n; i++) args.push_back(Var::implicit(i));
  return args;
}

Func &Func::compute_root(Here here) {
  record(*contents_, 0, DirectiveKind::ComputeRoot, {}, {}, here.where);
  return *this;
}

Func &Func::compute_inline(Here here) {
  record(*contents_, 0, DirectiveKind::ComputeInline, {}, {}, here.where);
  return *this;
}

Func &Func::store_root(Here here) {
  record(*contents_, 0, DirectiveKind::StoreRoot, {}, {}, here.where);
  return *this;
}

Func &Func::compute_at(const Func &consumer, const VarOrRVar &loop) {
  return compute_at(LoopLevel(consumer, loop), Here(loop.where));
}

Func &Func::store_at(const Func &consumer, const VarOrRVar &loop) {
  return store_at(LoopLevel(consumer, loop), Here(loop.where));
}

Func &Func::compute_at(const LoopLevel &level, Here here) {
  record_level(*contents_, 0, DirectiveKind::ComputeAt, level, here);
  return *this;
}

Func &Func::store_at(const LoopLevel &level, Here here) {
  record_level(*contents_, 0, DirectiveKind::StoreAt, level, here);
  return *this;
}

Func &Func::hoist_storage(const Func &consumer, const VarOrRVar &loop) {
  return hoist_storage(LoopLevel(consumer, loop), Here(loop.where));
}

Func &Func::hoist_storage(const LoopLevel &level, Here here) {
  record_level(*contents_, 0, DirectiveKind::HoistStorage, level, here);
  return *this;
}

Func &Func::hoist_storage_root(Here here) {
  record(*contents_, 0, DirectiveKind::HoistStorageRoot, {}, {}, here.where);
  return *this;
}

Func &Func::ring_buffer(Expr extent, Here here) {
  const std::string what = "the extent of ring_buffer() of '" + plain_name(name()) + "'";
  extent = detail::fixed_integer(std::move(extent), what, here.where);
  int64_t n;
  if (is_const_int(extent, &n) && n <= 0) {
    user_error(what + " is " + std::to_string(n), "a ring holds at least one storage",
               "give an extent of at least 1", here.where);
  }
  record(*contents_, 0, DirectiveKind::RingBuffer, {}, {std::move(extent)}, here.where);
  return *this;
}

Func &Func::async(Here here) {
  record(*contents_, 0, DirectiveKind::Async, {}, {}, here.where);
  return *this;
}

Func &Func::memoize(const EvictionKey &key, Here here) {
  const std::string what = "the eviction key of '" + plain_name(name()) + "'";
  std::vector<Expr> factors;
  if (key.key().defined()) {
    const Type t = key.key().type();
    if (t.is_vector() || !(t.is_int_or_uint() || t.is_handle())) {
      user_error(what + " has type " + t.to_string(), "entries are known by a number of 64 bits",
                 "give an integer or a handle", here.where);
    }
    detail::require_fixed(key.key(), what, here.where);
    factors.push_back(key.key());
  }
  for (const Directive &d : contents_->directives) {
    if (d.kind != DirectiveKind::Memoize) continue;
    const bool same =
        d.factors.size() == factors.size() && (factors.empty() || equal(d.factors[0], factors[0]));
    if (same) return *this;
    user_error(quoted_name(name()) + " is memoized under another eviction key already",
               "what a Func keeps has one", "call memoize() once", here.where);
  }
  record(*contents_, 0, DirectiveKind::Memoize, {}, std::move(factors), here.where);
  return *this;
}

size_t Func::argument_index(const char *word, const VarOrRVar &var) const {
  const std::vector<std::string> &args = contents_->pure_args;
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i] == var.name) return i;
  }
  user_error(std::string("cannot ") + word + " '" + plain_name(var.name) + "' of '" +
                 plain_name(name()) + "'",
             "it is no argument of the Func", "name one of the arguments", var.where);
}

Func &Func::set_estimate(const VarOrRVar &var, Expr min, Expr extent) {
  const size_t i = argument_index("estimate", var);
  detail::require_defined(min, "set_estimate");
  detail::require_defined(extent, "set_estimate");
  contents_->estimates.resize(contents_->pure_args.size());
  contents_->estimates[i] = {detail::cast_folding(Int(32), std::move(min)),
                             detail::cast_folding(Int(32), std::move(extent))};
  return *this;
}

Func &Func::set_estimates(const Region &estimates, Here here) {
  if (estimates.size() != contents_->pure_args.size()) {
    user_error("set_estimates of '" + plain_name(name()) + "' got " +
                   std::to_string(estimates.size()) + " estimates",
               "it has " + std::to_string(contents_->pure_args.size()) + " dimensions",
               "give one pair of min and extent for each dimension", here.where);
  }
  for (size_t i = 0; i < estimates.size(); i++) {
    set_estimate(VarOrRVar(Var::of_loop(contents_->pure_args[i])), estimates[i].min,
                 estimates[i].extent);
  }
  return *this;
}

namespace {

// Of two bounds of one dimension the last counts, which is seldom meant.
void warn_of_lost_bound(const FunctionContents &f, DirectiveKind kind,
                        const std::vector<Expr> &factors, const VarOrRVar &var) {
  if (kind != DirectiveKind::Bound && kind != DirectiveKind::BoundExtent) return;
  for (auto d = f.directives.rbegin(); d != f.directives.rend(); ++d) {
    const bool is_bound = d->kind == DirectiveKind::Bound || d->kind == DirectiveKind::BoundExtent;
    if (!is_bound || d->loops[0] != var.name) continue;
    const Expr &old_extent = d->factors.back(), &extent = factors.back();
    const bool same_min = d->kind != kind || factors.size() < 2 || equal(d->factors[0], factors[0]);
    if (equal(old_extent, extent) && same_min) return;
    user_warning(
        quoted_name(var.name) + " of " + quoted_name(f.name) + " is bounded again, to other bounds",
        "the earlier " + std::string(directive_name(d->kind)) + "() no longer counts",
        "bound each dimension once", var.where);
    return;
  }
}

}  // namespace

// A word with fixed integers for a variable; the last of `names` is at least `least`.
Func &Func::record_bounds(DirectiveKind kind, const VarOrRVar &var, std::vector<Expr> factors,
                          std::vector<const char *> names, int64_t least) {
  const char *word = directive_name(kind);
  argument_index(word, var);
  const std::string whose = std::string(" of ") + word + "() of '" + plain_name(var.name) +
                            "' of '" + plain_name(name()) + "'";
  for (size_t i = 0; i < factors.size(); i++) {
    factors[i] = detail::fixed_integer(std::move(factors[i]),
                                       std::string("the ") + names[i] + whose, var.where);
    int64_t n;
    if (std::string(names[i]) == "min" || std::string(names[i]) == "remainder") continue;
    if (!is_const_int(factors[i], &n) || n >= least) continue;
    user_error(std::string("cannot ") + word + " '" + plain_name(var.name) + "' of '" +
                   plain_name(name()) + "' to " + names[i] + " " + std::to_string(n),
               "it counts elements",
               std::string("give ") + (names[i][0] == 'e' || names[i][0] == 'a' ? "an " : "a ") +
                   names[i] + " of at least " + std::to_string(least),
               var.where);
  }
  warn_of_lost_bound(*contents_, kind, factors, var);
  record(*contents_, 0, kind, {var.name}, std::move(factors), var.where);
  return *this;
}

Func &Func::bound(const VarOrRVar &var, Expr min, Expr extent) {
  if (!min.defined()) return bound_extent(var, std::move(extent));
  return record_bounds(DirectiveKind::Bound, var, {std::move(min), std::move(extent)},
                       {"min", "extent"}, 1);
}

Func &Func::bound_extent(const VarOrRVar &var, Expr extent) {
  return record_bounds(DirectiveKind::BoundExtent, var, {std::move(extent)}, {"extent"}, 1);
}

Func &Func::align_bounds(const VarOrRVar &var, Expr modulus, Expr remainder) {
  return record_bounds(DirectiveKind::AlignBounds, var, {std::move(modulus), std::move(remainder)},
                       {"modulus", "remainder"}, 1);
}

Func &Func::align_extent(const VarOrRVar &var, Expr modulus) {
  return record_bounds(DirectiveKind::AlignExtent, var, {std::move(modulus)}, {"modulus"}, 1);
}

Func &Func::reorder_storage(const std::vector<Var> &dims, Here here) {
  std::vector<std::string> names;
  for (const Var &v : dims) {
    VarOrRVar var(v);
    var.where = here.where;
    argument_index("reorder the storage of", var);
    if (std::count(names.begin(), names.end(), v.name())) {
      user_error("cannot reorder the storage of '" + plain_name(name()) + "': '" +
                     plain_name(v.name()) + "' is named twice",
                 "each dimension has one place", "name it once", here.where);
    }
    names.push_back(v.name());
  }
  record(*contents_, 0, DirectiveKind::ReorderStorage, std::move(names), {}, here.where);
  return *this;
}

Func &Func::align_storage(const VarOrRVar &dim, Expr alignment) {
  return record_bounds(DirectiveKind::AlignStorage, dim, {std::move(alignment)}, {"alignment"}, 1);
}

Func &Func::pack(const VarOrRVar &dim, Expr factor) {
  return record_bounds(DirectiveKind::Pack, dim, {std::move(factor)}, {"factor"}, 1);
}

Func &Func::fold_storage(const VarOrRVar &dim, Expr extent, bool fold_forward) {
  record_bounds(DirectiveKind::FoldStorage, dim, {std::move(extent)}, {"extent"}, 1);
  if (!fold_forward) contents_->directives.back().option = "backward";
  return *this;
}

Func &Func::bound_storage(const VarOrRVar &dim, Expr extent) {
  return record_bounds(DirectiveKind::BoundStorage, dim, {std::move(extent)}, {"extent"}, 1);
}

Func &Func::in_place(const Func &func, Here here) {
  const std::string what = "cannot compute '" + plain_name(name()) + "' in place";
  if (!defined()) {
    user_error(what, "it is not defined", "define it before its schedule", here.where);
  }
  if (!func.defined()) {
    user_error(what + " of '" + plain_name(func.name()) + "'",
               quoted_name(func.name()) + " is not defined", "define it first", here.where);
  }
  record(*contents_, 0, DirectiveKind::InPlace, {}, {}, here.where).funcs = {func.name()};
  return *this;
}

Func &Func::store_in(MemoryType memory, Here here) {
  switch (memory) {
    case MemoryType::Auto:
    case MemoryType::Heap:
    case MemoryType::Stack:
    case MemoryType::Register:
    case MemoryType::GPUShared:
      break;
    default:
      user_error(
          "cannot store '" + plain_name(name()) + "' in MemoryType::" + memory_type_name(memory),
          "the targets that are compiled for have no such memory",
          "use Auto, Heap, Stack or Register", here.where);
  }
  record(*contents_, 0, DirectiveKind::StoreIn, {}, {}, here.where).option =
      memory_type_name(memory);
  return *this;
}

Func &Func::trace_loads(Here here) {
  record(*contents_, 0, DirectiveKind::TraceLoads, {}, {}, here.where);
  return *this;
}

Func &Func::trace_stores(Here here) {
  record(*contents_, 0, DirectiveKind::TraceStores, {}, {}, here.where);
  return *this;
}

Func &Func::trace_realizations(Here here) {
  record(*contents_, 0, DirectiveKind::TraceRealizations, {}, {}, here.where);
  return *this;
}

Func &Func::add_trace_tag(const std::string &text, Here here) {
  record(*contents_, 0, DirectiveKind::TraceTag, {}, {make_string(text)}, here.where);
  return *this;
}

Func &Func::no_profiling(Here here) {
  record(*contents_, 0, DirectiveKind::NoProfiling, {}, {}, here.where);
  return *this;
}

void Func::debug_to_file(const std::string &filename, Here here) {
  record(*contents_, 0, DirectiveKind::DebugToFile, {}, {make_string(filename)}, here.where);
}

}  // namespace polyhalite
