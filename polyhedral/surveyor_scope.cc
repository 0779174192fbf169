#include <algorithm>
#include <numeric>

#include "lang/simplify/simplify.h"
#include "polyhedral/limited_sums.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

Surveyor::Surveyor(const LoopTree &tree) : tree_(tree) {
  const size_t n = tree.algorithm.funcs.size();
  out_.loops.resize(tree.loops.size());
  out_.funcs.resize(n);
  out_.stages.resize(n);
  for (size_t f = 0; f < n; f++) out_.stages[f].resize(tree.algorithm.funcs[f].stages.size());
  parent_.assign(tree.loops.size(), kRoot);
  for (const Tree &t : tree.roots) find_parents(*t, kRoot);
  for (const LoopInfo &l : tree.loops) loop_by_name_[l.name] = l.id;
}

Survey Surveyor::run() {
  try {
    // Consumers first: a producer's box is the hull of what they read.
    for (const std::vector<int> &group : consumers_first()) survey_group(group);
    share_hoisted();
    survey_inputs();
    survey_prefetches();
  } catch (const Error &) {
    errors_.raise();  // what comes after them may be their doing
    throw;
  }
  errors_.raise();
  return std::move(out_);
}

namespace {

// What debug_to_file() writes has one value for each point, and has them all at the end.
void check_files(const LoopTree &tree, const Survey &survey) {
  for (const Directive &d : tree.directives) {
    const int func = d.kind == DirectiveKind::DebugToFile ? tree.algorithm.index_of(d.func) : -1;
    if (func < 0) continue;
    if (tree.algorithm.funcs[func].types.size() > 1) {
      user_error("debug_to_file() of '" + d.func + "'", "a file has one value for each point",
                 "write each element of the Tuple from a Func of its own", d.where);
    }
    for (int64_t ring : survey.funcs[func].fold) {
      if (ring == 0) continue;
      user_error("debug_to_file() of '" + d.func + "'",
                 "it is stored in a ring, which at the end holds its last values only",
                 "compute it where it is stored, or leave fold_storage() out", d.where);
    }
  }
}

}  // namespace

Survey survey(const LoopTree &tree) {
  Survey s = Surveyor(tree).run();
  check_files(tree, s);
  return s;
}

Expr buffer_field(const std::string &buffer, const char *what, int dimension) {
  return make_variable(Int(32), VariableKind::BufferField,
                       buffer + "." + what + "." + std::to_string(dimension));
}

bool same_ends(const Interval &a, const Interval &b) {
  auto same = [](const Expr &x, const Expr &y) {
    return x.defined() == y.defined() && (!x.defined() || equal(x, y));
  };
  return same(a.min, b.min) && same(a.max, b.max);
}

Expr extent_of(const IndexRange &r) { return sum(difference(r.max, r.min), 1); }

Expr ceil_div(const Expr &a, const Expr &b) {
  return simplify(make_binary(Op::Div, sum(sum(a, b), -1), b));
}

std::optional<int64_t> constant(const Expr &e) {
  int64_t k;
  return is_const_int(e, &k) ? std::optional<int64_t>(k) : std::nullopt;
}

void Surveyor::find_parents(const TreeNode &n, int enclosing) {
  if (n.kind == TreeNode::Loop) {
    parent_[n.loop] = enclosing;
    enclosing = n.loop;
  }
  for (const Tree &c : n.children) find_parents(*c, enclosing);
  for (const Tree &c : n.otherwise) find_parents(*c, enclosing);
}

bool Surveyor::visible(int scope, int owner) const {
  if (owner == kRoot) return true;
  for (int l = scope; l != kRoot; l = parent_[l]) {
    if (l == owner) return true;
  }
  return false;
}

int Surveyor::owner_of(const VariableNode &v) const {
  if (v.kind == VariableKind::Loop) return loop_by_name_.at(v.name);
  if (v.kind == VariableKind::Symbol) {
    auto it = symbol_owner_.find(v.name);
    return it == symbol_owner_.end() ? kRoot : it->second;
  }
  return kRoot;
}

int Surveyor::innermost_owner(const Expr &e) const {
  int best = kRoot;
  for_each_node(e, [&](const Expr &n) {
    if (const VariableNode *v = as_variable(n)) {
      const int o = owner_of(*v);
      if (!visible(best, o)) best = o;
    }
  });
  return best;
}

Expr Surveyor::add_symbol(int owner, const std::string &name, Expr value, Expr lower, Expr upper) {
  Symbol s{name, simplify(value), lower, upper};
  if (constant(s.value)) return s.value;
  symbol_owner_[name] = owner;
  symbol_[name] = s;
  (owner == kRoot ? out_.root_symbols : out_.loops[owner].symbols).push_back(s);
  return make_variable(Int(32), VariableKind::Symbol, name);
}

std::optional<Interval> Surveyor::resolve(const VariableNode &v, const StageId *stage, int scope,
                                          const Expr &domain) {
  switch (v.kind) {
    case VariableKind::Pure:
    case VariableKind::Reduction:
      return dim_interval(*stage, v.name, scope, domain);
    case VariableKind::Loop: {
      const int l = loop_by_name_.at(v.name);
      if (visible(scope, l)) return std::nullopt;
      const LoopBounds &b = out_.loops[l];
      return Interval{b.min, sum(sum(b.min, b.extent), -1)};
    }
    case VariableKind::Symbol: {
      auto it = symbol_.find(v.name);
      if (it == symbol_.end() || visible(scope, symbol_owner_.at(v.name))) return std::nullopt;
      const Symbol &s = it->second;
      return Interval{s.lower.defined() ? s.lower : s.value, s.upper.defined() ? s.upper : s.value};
    }
    default:
      return std::nullopt;
  }
}

// Asked for every quotient and remainder: where a window keeps to one multiple, few replacements
// show it (23 at most in the applications), and where it does not, all of them are in vain.
constexpr int kAlignmentTries = 256;

Bounder Surveyor::bounder_at(const StageId *stage, int scope, bool by_value) {
  const auto where = [this, stage, scope](const Expr &domain) {
    return [this, stage, scope, domain](const VariableNode &v) {
      return resolve(v, stage, scope, domain);
    };
  };
  const auto variable = where(stage ? tree_.definition(*stage).predicate : Expr());
  Bounder bounder = by_value
                        ? Bounder(variable, [this](const CallNode &c) { return value_interval(c); })
                        : Bounder(variable);
  bounder.set_upper_limit([this](const Expr &end) {
    return ConstantUpperBound([this](const VariableNode &v) { return meaning(v); },
                              kAlignmentTries)(end);
  });
  if (stage && !limited_sums_of(*stage).empty()) {
    bounder.set_limited_sums(limited_sums_of(*stage), where);
  }
  return bounder;
}

const std::vector<LimitedSum> &Surveyor::limited_sums_of(const StageId &s) {
  auto known = limited_.find(s);
  if (known == limited_.end()) {
    known = limited_.emplace(s, limited_sums(tree_.definition(s).predicate)).first;
  }
  return known->second;
}

Interval Surveyor::bound_at(const Expr &e, const StageId *stage, int scope, bool by_value) {
  return bounder_at(stage, scope, by_value)(e);
}

bool Surveyor::depends_on_visible_loop(const StageId &s, const Expr &value, int scope) const {
  const std::vector<int> &own = tree_.nest(s).loops;
  bool any = false;
  for_each_node(value, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v || any) return;
    const int o = owner_of(*v);
    const bool drives = std::find(own.begin(), own.end(), o) != own.end();
    if (!drives) return;
    any = visible(scope, o);
    // A symbol of a loop inside stands for what loops outside are part of: min(16*(4*x + u), n).
    const auto named = symbol_.find(v->name);
    if (!any && v->kind == VariableKind::Symbol && named != symbol_.end()) {
      any = depends_on_visible_loop(s, named->second.value, scope);
    }
  });
  return any;
}

Interval Surveyor::dim_interval(const StageId &s, const std::string &dim, int scope,
                                const Expr &domain) {
  Interval i = unconditional_interval(s, dim, scope);
  const StageSurvey &st = out_.stages[s.func][s.stage];
  if (!st.used.empty()) i = within_reach(s, dim, std::move(i), scope);
  // A point is a loop's own counter: what is computed there is computed for cut iterations too.
  // Sums of points are clamped as a whole.
  if (i.is_point()) return i;
  if (auto stage = narrowed_.find(s); stage != narrowed_.end()) {
    if (auto n = stage->second.find(dim); n != stage->second.end()) {
      i = {larger(i.min, n->second.min), smaller(i.max, n->second.max)};
    }
  }
  const Interval limits = limits_of(domain, dim);
  if (limits.min.defined()) i.min = larger(i.min, substitute(st.dims, limits.min));
  if (limits.max.defined()) i.max = smaller(i.max, substitute(st.dims, limits.max));
  const Interval here = limits_of(where_, dim);
  if (here.min.defined()) i.min = larger(i.min, substitute(st.dims, here.min));
  if (here.max.defined()) i.max = smaller(i.max, substitute(st.dims, here.max));
  return i;
}

Interval Surveyor::unconditional_interval(const StageId &s, const std::string &dim, int scope) {
  const StageSurvey &st = out_.stages[s.func][s.stage];
  const Expr value = st.dims.at(dim);
  const IndexRange &range = st.ranges.at(dim);
  // Iterations that a guard cuts have values beyond the range; nothing that they would read counts.
  const Expr limit = read_limit(s, dim);
  if (visible(scope, innermost_owner(value))) {
    const bool inside = tight_.count(s) && !reads_to_last_.count({s, dim});
    if (!limit.defined() || inside) return {value, value};
    Expr point = smaller(value, limit);
    if (may_precede(s, dim)) point = larger(point, range.min);
    return {point, point};
  }
  if (!depends_on_visible_loop(s, value, scope) && !overshoots(s, dim)) {
    return {range.min, limit.defined() ? limit : range.max};
  }
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (is_linear(d) && d.a == dim) return linear_interval(s, d, scope);
    if (d.kind == Derivation::Split && d.a == dim) {
      const Interval outer = dim_interval(s, d.b, scope, Expr()),
                     inner = dim_interval(s, d.c, scope, Expr());
      Interval base;
      if (outer.is_point() && !is_guarded(s, d.b)) {
        const Expr b = difference(value, st.dims.at(d.c));
        base = {b, b};
      } else {
        base = {split_base(s, d, outer.min), split_base(s, d, outer.max)};
      }
      Interval r{sum(base.min, inner.min), sum(base.max, inner.max)};
      if (limit.defined()) r.max = smaller(r.max, limit);
      if (may_precede(s, dim)) r = {larger(r.min, range.min), larger(r.max, range.min)};
      return r;
    }
  }
  return {range.min, range.max};
}

}  // namespace polyhalite
