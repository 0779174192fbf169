// Reverse-mode differentiation of Funcs.
//
// The adjoint of a Func is a Func over the same coordinates. Funcs are visited consumers first;
// when a Func's turn comes, all that its readers add to its adjoint is known:
//
//   f(x) = g(x - 1) * b(x)        ->  d_f(x) = ...                       from f's readers
//                                     d_g(u) += d_f(u + 1) * b(u + 1)    u = x - 1
//                                     d_b(u) += d_f(u) * g(u - 1)
//
// The adjoints of a Func with updates are those of its states, from the last one back:
//
//   f(I) = E  after state s-1  ->  d_(s-1) = d_s, but at I what E makes of the old value: 0 where
//   it
//                                  is overwritten, d_s(I) where E adds to it
//   and what E reads gets d_s(I) * dE/dread. An E that reads cells of f that earlier iterations
//   wrote is run backwards first: d_s(K) += d_s(I) * dE/df(K), last iteration first.
#include "polyhalite/derivative.h"

#include <algorithm>
#include <set>

#include "lang/ir/extern_stage.h"
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/differentiate.h"
#include "lang/language/names.h"
#include "lang/language/value_range.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;
using ReadRanges = std::vector<ValueRange>;
using ValueOfName = std::map<std::string, Expr>;

bool is_own_call(const Expr &e, const FunctionContents &f) {
  const CallNode *c = as_call(e);
  return c && c->kind == CallKind::Func && c->name == f.name;
}

// Calls of f become calls of the Func that holds the state that they mean.
class ReadState : public ExprRewriter {
 public:
  ReadState(const FunctionContents &f, const Func &state) : f_(f), state_(state) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    return is_own_call(r, f_) ? Expr(state_(r->args)) : r;
  }

 private:
  const FunctionContents &f_;
  const Func &state_;
};

// f after its first `updates` updates.
Func state_of(const FuncPtr &f, size_t updates) {
  if (updates == f->updates.size()) return Func(f);
  Func state(plain_name(f->name) + "_before");
  FunctionContents &s = *state.function();
  const std::string name = s.name;
  s.pure_args = f->pure_args;
  s.types = f->types;
  s.where = f->where;
  s.pure = f->pure;
  // Its own calls own nothing.
  struct Rename : ExprRewriter {
    const std::string &from, &to;
    Rename(const std::string &a, const std::string &b) : from(a), to(b) {}
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_call(r);
      if (!c || c->kind != CallKind::Func || c->name != from) return r;
      auto copy = std::make_shared<CallNode>(*c);
      copy->name = to;
      copy->func = nullptr;
      return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
    }
  } rename(f->name, name);
  for (size_t u = 0; u < updates; u++) {
    Definition d = f->updates[u];
    for (Expr &e : d.args) e = rename(e);
    for (Expr &e : d.values) e = rename(e);
    s.updates.push_back(std::move(d));
  }
  return state;
}

// The one variable that an index follows step by step: index = sign * variable + rest.
struct Follows {
  std::string variable;
  int sign = 1;
  Expr rest;
};

// Among `names`, the variable that e follows, if e uses no other of them.
std::optional<Follows> follows(const Expr &e, const std::set<std::string> &names) {
  std::string found;
  for (const std::string &v : free_variables(e)) {
    if (!names.count(v)) continue;
    if (!found.empty()) return std::nullopt;
    found = v;
  }
  if (found.empty()) return std::nullopt;
  Expr variable;
  for_each_node(e, [&](const Expr &n) {
    if (as_variable(n) && as_variable(n)->name == found) variable = n;
  });
  for (int sign : {1, -1}) {
    const Expr rest = simplify(sign > 0 ? e - variable : e + variable);
    if (!uses_variable(rest, found)) return Follows{found, sign, rest};
  }
  return std::nullopt;
}

class Propagation {
 public:
  Propagation(const Func &output, const SourceLocation &where) : where_(where) {
    order(output.function());
    std::reverse(funcs_.begin(), funcs_.end());
  }

  std::map<Derivative::Key, Func> run(const Func &output, const Func &seed,
                                      const ReadRanges &bounds) {
    Target &first = target_of(output.function());
    first.bounds = bounds;
    first.adjoint = seed;
    for (const FuncPtr &f : funcs_) {
      Target &t = targets_[f->name];
      if (!t.adjoint.defined()) continue;  // nothing with a derivative reads it
      differentiate(f, t);
    }
    return std::move(result_);
  }

 private:
  struct Target {
    Func adjoint;       // while it is collected: its definitions so far
    ReadRanges bounds;  // of what is read; of a Func
  };

  [[noreturn]] void refuse(const std::string &what, const std::string &why,
                           const std::string &fix) const {
    user_error("cannot differentiate " + what, why, fix, where_);
  }
  // Producers first.
  void order(const FuncPtr &f) {
    if (!seen_.insert(f.get()).second) return;
    if (!f->pure) refuse(quoted_name(f->name), "it is undefined", "define it first");
    auto visit = [&](const Expr &e) {
      if (!e.defined()) return;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (c && c->func) order(c->func);
      });
    };
    auto visit_all = [&](const Definition &d) {
      for (const Expr &e : d.args) visit(e);
      for (const Expr &e : d.values) visit(e);
      if (d.domain) visit(d.domain->predicate);
    };
    visit_all(*f->pure);
    for (const Definition &d : f->updates) visit_all(d);
    funcs_.push_back(f);
  }

  Target &target_of(const FuncPtr &f) {
    if (f->types.size() != 1) {
      refuse(quoted_name(f->name), "it has several values", "compute each with a Func of its own");
    }
    StageDef stage;
    stage.values = f->pure->values;
    if (is_extern_stage(stage)) {
      refuse(quoted_name(f->name), "a C function computes it", "give its derivative as a Func");
    }
    return targets_[f->name];
  }

  // The coordinates of an adjoint: the Func's own names.
  static std::vector<Expr> coordinates(const std::vector<std::string> &args) {
    std::vector<Expr> list;
    for (const std::string &a : args) list.push_back(Var::of_loop(a));
    return list;
  }

  // A new state's adjoint, equal to the one of the state after it.
  static Func copied(const Func &after, const FunctionContents &f) {
    Func before(plain_name(f.name) + "_d");
    const std::vector<Expr> args = coordinates(f.pure_args);
    before(args) = Expr(after(args));
    return before;
  }

  std::map<std::string, ValueRange> ranges(const FunctionContents &f, const ReadRanges &bounds,
                                           const ReductionDomain *domain) const {
    std::map<std::string, ValueRange> known;
    for (size_t d = 0; d < bounds.size(); d++) known[f.pure_args[d]] = bounds[d];
    for (size_t r = 0; domain && r < domain->vars.size(); r++) {
      const ReductionVariable &v = domain->vars[r];
      known[v.var] = {v.min, simplify(v.min + v.extent - 1)};
    }
    return known;
  }

  // The bounds of what the updates of f read of f itself count as well.
  void grow_by_own_reads(const FunctionContents &f, ReadRanges &bounds) const {
    for (const Definition &d : f.updates) {
      const auto known = ranges(f, bounds, d.domain.get());
      for_each_node(d.values[0], [&](const Expr &n) {
        if (!is_own_call(n, f)) return;
        for (size_t i = 0; i < n->args.size(); i++) {
          const VariableNode *v = as_variable(n->args[i]);
          if (v && v->name == f.pure_args[i]) continue;
          for (const std::string &name : free_variables(n->args[i])) {
            if (!std::count(f.pure_args.begin(), f.pure_args.end(), name)) continue;
            refuse("an update of " + quoted_name(f.name),
                   "it reads its Func beside its own '" + plain_name(name) +
                       "', so that no region is enough",
                   "use a reduction variable for the dimension");
          }
          bounds[i] = hull(bounds[i], bounded(n->args[i], known, f));
        }
      });
    }
  }

  ValueRange bounded(const Expr &e, const std::map<std::string, ValueRange> &known,
                     const FunctionContents &read) const {
    const ValueRange r = range_of(e, known);
    if (!r.defined()) {
      refuse("what reads " + quoted_name(read.name),
             "an index of the access has no bounds that are known", "clamp the index");
    }
    return r;
  }

  void differentiate(const FuncPtr &f, Target &t) {
    grow_by_own_reads(*f, t.bounds);
    Func after = t.adjoint;
    for (size_t u = f->updates.size(); u > 0; u--) after = update(f, u - 1, after, t.bounds);
    result_.insert({{f->name, -1}, after});
    const std::vector<Expr> args = coordinates(f->pure_args);
    for (const ReadAdjoint &r : read_adjoints(f->pure->values[0], after(args), f->where)) {
      contribute(*f, *f->pure, t.bounds, r);
    }
  }

  // The adjoint before update u, given the one behind it.
  Func update(const FuncPtr &f, size_t u, Func after, const ReadRanges &bounds) {
    const Definition &d = f->updates[u];
    const std::string what = "update " + std::to_string(u) + " of " + quoted_name(f->name);
    const Expr &value = d.values[0];
    std::vector<std::vector<Expr>> others;  // other cells of f that it reads
    bool reads_cell = false;
    for_each_node(value, [&](const Expr &n) {
      if (!is_own_call(n, *f)) return;
      const bool same = std::equal(n->args.begin(), n->args.end(), d.args.begin(), equal);
      reads_cell |= same;
      if (!same) others.push_back(n->args);
    });
    Expr kept;  // what the new value has of the old one
    for (const ReadAdjoint &r : read_adjoints(value, make_one(value.type()), d.where)) {
      if (!reads_cell || !is_own_call(r.read, *f)) continue;
      kept = simplify(kept.defined() ? kept + r.adjoint : r.adjoint);
    }
    const bool accumulates = others.empty() && kept.defined() && is_one(kept);
    if (!accumulates && !writes_once(*f, d)) {
      refuse(what, "several iterations write one cell, and it does more than add to it",
             "give each iteration a cell of its own");
    }
    if (reads_cell && !others.empty()) {
      refuse(what, "it reads the cell that it writes and others too",
             "read the others from another Func");
    }
    if (!others.empty()) after = backwards(f, u, after, others, what);
    result_.insert({{f->name, static_cast<int>(u)}, after});

    const Func state = accumulates || others.empty() ? state_of(f, u) : state_of(f, u + 1);
    ReadState in_state(*f, state);
    for (const ReadAdjoint &r : read_adjoints(value, after(d.args), d.where)) {
      if (is_own_call(r.read, *f)) continue;
      contribute(*f, d, bounds, {in_state(r.read), in_state(r.adjoint)});
    }
    if (accumulates) return copied(after, *f);
    const Expr old = kept.defined() ? in_state(kept) * after(d.args) : make_zero(value.type());
    if (pure_variables(*f, d).size() == d.args.size()) {  // all cells
      Func before(plain_name(f->name) + "_d");
      before(d.args) = old;
      return before;
    }
    Func before = copied(after, *f);
    const Moved moved = moved_to(d, false);
    before(moved.of(d.args)) = moved(old);
    return before;
  }

  // Those of f's arguments that are variables of the definition.
  static std::set<std::string> pure_variables(const FunctionContents &f, const Definition &d) {
    std::set<std::string> names;
    for (size_t i = 0; i < d.args.size(); i++) {
      const VariableNode *v = as_variable(d.args[i]);
      if (v && v->name == f.pure_args[i]) names.insert(v->name);
    }
    return names;
  }

  // No two iterations write one cell: each variable is followed by an index of its own.
  static bool writes_once(const FunctionContents &f, const Definition &d) {
    std::set<std::string> variables = pure_variables(f, d);
    if (d.domain) {
      for (const ReductionVariable &r : d.domain->vars) variables.insert(r.var);
    }
    std::set<std::string> followed;
    for (const Expr &e : d.args) {
      const auto by = follows(e, variables);
      if (by) followed.insert(by->variable);
    }
    return followed == variables;
  }

  // A definition's variables in a domain of their own; with `reversed`, last iteration first.
  struct Moved {
    ValueOfName map;
    Expr operator()(const Expr &e) const { return e.defined() ? substitute(map, e) : e; }
    std::vector<Expr> of(const std::vector<Expr> &list) const {
      std::vector<Expr> out;
      for (const Expr &e : list) out.push_back((*this)(e));
      return out;
    }
  };

  static Moved moved_to(const Definition &d, bool reversed) {
    Moved moved;
    if (!d.domain) return moved;
    Region region;
    for (const ReductionVariable &v : d.domain->vars) region.emplace_back(v.min, v.extent);
    RDom domain(region);
    for (size_t i = 0; i < region.size(); i++) {
      const Expr r = domain[static_cast<int>(i)], &min = region[i].min;
      moved.map[d.domain->vars[i].var] =
          reversed ? simplify(2 * min + region[i].extent - 1 - r) : r;
    }
    if (d.domain->predicate.defined()) domain.where(moved(d.domain->predicate));
    return moved;
  }

  // Where update u reads cells that it wrote before, adjoints run from the last iteration to the
  // first; cells keep what they have when their turn comes.
  Func backwards(const FuncPtr &f, size_t u, const Func &after,
                 const std::vector<std::vector<Expr>> &cells, const std::string &what) const {
    const Definition &d = f->updates[u];
    std::optional<size_t> dimension;
    for (const std::vector<Expr> &cell : cells) {
      for (size_t i = 0; i < cell.size(); i++) {
        if (equal(cell[i], d.args[i])) continue;
        if (dimension && *dimension != i) {
          refuse(what, "it reads cells that differ from the one it writes in several dimensions",
                 "let them differ in one");
        }
        dimension = i;
        check_earlier(d, cell[i], d.args[i], what);
      }
    }
    const Func state = state_of(f, u + 1);
    ReadState in_state(*f, state);
    Func adjoint = copied(after, *f);
    const Moved moved = moved_to(d, true);
    std::vector<Expr> indices, values;
    for (const ReadAdjoint &r : read_adjoints(d.values[0], adjoint(d.args), d.where)) {
      if (!is_own_call(r.read, *f)) continue;
      const Expr &index = r.read->args[*dimension];
      const auto known = std::find_if(indices.begin(), indices.end(),
                                      [&](const Expr &e) { return equal(e, index); });
      if (known == indices.end()) {
        indices.push_back(index);
        values.push_back(adjoint(r.read->args) + in_state(r.adjoint));
      } else {
        Expr &sum = values[static_cast<size_t>(known - indices.begin())];
        sum = sum + in_state(r.adjoint);
      }
    }
    std::vector<Expr> at = moved.of(d.args);
    const std::vector<Expr> to = moved.of(indices), sums = moved.of(values);
    at[*dimension] = to.size() == 1 ? to[0] : scatter(to);
    adjoint(at) = sums.size() == 1 ? sums[0] : gather(sums);
    return adjoint;
  }

  // What is read at `index` was written, if the update writes it, by an earlier iteration.
  void check_earlier(const Definition &d, const Expr &index, const Expr &written,
                     const std::string &what) const {
    std::set<std::string> variables;
    if (d.domain) {
      for (const ReductionVariable &r : d.domain->vars) variables.insert(r.var);
    }
    const auto w = follows(written, variables), r = follows(index, variables);
    int64_t distance = 0;
    const bool known = w && r && w->variable == r->variable && w->sign == r->sign &&
                       is_const_int(simplify(r->rest - w->rest), &distance);
    if (known && distance * w->sign < 0) return;
    refuse(what, "it reads cells of its Func that are not known to be those of earlier iterations",
           "read what iterations before wrote, at a constant distance");
  }

  // Adds what an iteration's read gets to the adjoint of what it reads.
  void contribute(const FunctionContents &f, const Definition &d, const ReadRanges &bounds,
                  const ReadAdjoint &read) {
    const CallNode *c = as_call(read.read);
    std::string name;
    std::vector<std::string> args;
    Target *t = nullptr;
    if (c && c->kind == CallKind::Func) {
      t = &target_of(c->func);
      name = c->func->name;
      args = c->func->pure_args;
      const auto known = ranges(f, bounds, d.domain.get());
      ReadRanges reads;
      for (const Expr &index : c->args) reads.push_back(bounded(index, known, *c->func));
      for (size_t i = 0; i < t->bounds.size(); i++) reads[i] = hull(t->bounds[i], reads[i]);
      t->bounds = std::move(reads);
    } else {
      name = c ? (c->param ? c->param->name : c->image->name) : as_variable(read.read)->param->name;
      for (size_t i = 0; c && i < c->args.size(); i++) {
        args.push_back(Var::implicit(static_cast<int>(i)).name());
      }
      t = &targets_[name];
    }
    const std::vector<Expr> coordinates_of_read = coordinates(args);
    if (!t->adjoint.defined()) {
      t->adjoint = Func(plain_name(name) + "_d");
      t->adjoint(coordinates_of_read) = make_zero(read.read.type());
      if (!c || c->kind == CallKind::Image) result_.insert({{name, -1}, t->adjoint});
    }
    add(f, d, bounds, c ? c->args : std::vector<Expr>(), coordinates_of_read, read.adjoint,
        t->adjoint);
  }

  // for all p in bounds, r in domain { adjoint(indices) += value }, with coordinates of the adjoint
  // in the place of variables that indices follow.
  void add(const FunctionContents &f, const Definition &definition, const ReadRanges &bounds,
           const std::vector<Expr> &indices, const std::vector<Expr> &coordinate, Expr value,
           Func &adjoint) const {
    const ReductionDomain *domain = definition.domain.get();
    const std::set<std::string> open = pure_variables(f, definition);
    struct Place {
      size_t dimension;
      Follows by;
    };
    std::map<std::string, Place> replaced;
    for (size_t i = 0; i < indices.size(); i++) {
      const auto by = follows(indices[i], open);
      if (by && !replaced.count(by->variable)) replaced[by->variable] = {i, *by};
    }
    Region region;
    std::vector<std::string> reduced;
    for (size_t d = 0; d < f.pure_args.size(); d++) {
      if (!open.count(f.pure_args[d]) || replaced.count(f.pure_args[d])) continue;
      region.emplace_back(bounds[d].min, simplify(bounds[d].max - bounds[d].min + 1));
      reduced.push_back(f.pure_args[d]);
    }
    for (size_t r = 0; domain && r < domain->vars.size(); r++) {
      region.emplace_back(domain->vars[r].min, domain->vars[r].extent);
      reduced.push_back(domain->vars[r].var);
    }
    RDom sums;
    if (!region.empty()) sums = RDom(region);
    ValueOfName map;
    for (size_t i = 0; i < reduced.size(); i++) map[reduced[i]] = sums[static_cast<int>(i)];
    // Images are not read where the iteration does not exist.
    const bool reads_images = reads_image(value);
    Expr exists;
    for (size_t d = 0; d < f.pure_args.size(); d++) {
      const auto place = replaced.find(f.pure_args[d]);
      if (place == replaced.end()) continue;
      const Follows &by = place->second.by;
      const Expr offset = coordinate[place->second.dimension] - substitute(map, by.rest);
      const Expr p = simplify(by.sign > 0 ? offset : -offset);
      map[f.pure_args[d]] = reads_images ? clamp(p, bounds[d].min, bounds[d].max) : p;
      if (!reads_images) continue;
      const Expr inside = p >= bounds[d].min && p <= bounds[d].max;
      exists = exists.defined() ? exists && inside : inside;
    }
    if (domain && domain->predicate.defined()) sums.where(substitute(map, domain->predicate));
    value = substitute(map, value);
    if (exists.defined()) value = select(exists, value, make_zero(value.type()));
    std::vector<Expr> at;
    for (size_t i = 0; i < indices.size(); i++) {
      const bool is_place = std::any_of(replaced.begin(), replaced.end(),
                                        [&](const auto &p) { return p.second.dimension == i; });
      at.push_back(is_place ? coordinate[i] : simplify(substitute(map, indices[i])));
    }
    adjoint(at) += value;
  }

  static bool reads_image(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found = found || (c && c->kind == CallKind::Image);
    });
    return found;
  }

  const SourceLocation &where_;
  std::set<const FunctionContents *> seen_;
  std::vector<FuncPtr> funcs_;  // consumers first, once the constructor has run
  std::map<std::string, Target> targets_;
  std::map<Derivative::Key, Func> result_;
};

void check_output(const Func &output, const Here &here) {
  if (output.defined() && output.types().size() == 1 && output.types()[0].is_float()) return;
  user_error("cannot differentiate '" + plain_name(output.name()) + "'",
             "derivatives are of one float", "give a Func with one value of a float type",
             here.where);
}

}  // namespace

Func Derivative::operator()(const std::string &name) const {
  const auto found = adjoints_.find({name, -1});
  return found == adjoints_.end() ? Func() : found->second;
}

Func Derivative::operator()(const Func &f, int update) const {
  const auto found = adjoints_.find({f.name(), update});
  if (found != adjoints_.end()) return found->second;
  // A Func that stands for an image.
  if (!f.defined() || f.has_update_definition() || f.outputs() != 1) return Func();
  const CallNode *c = as_call(f.value());
  if (!c || c->kind != CallKind::Image) return Func();
  return (*this)(c->param ? c->param->name : c->image->name);
}

Derivative propagate_adjoints(const Func &output, const Func &adjoint, const Region &output_bounds,
                              Here here) {
  check_output(output, here);
  const FunctionContents &f = *output.function();
  if (output_bounds.size() != f.pure_args.size() || adjoint.dimensions() != output.dimensions()) {
    user_error("the adjoint of '" + plain_name(output.name()) + "' has " +
                   std::to_string(adjoint.dimensions()) + " dimensions, and " +
                   std::to_string(output_bounds.size()) + " bounds",
               "the Func has " + std::to_string(f.pure_args.size()) + " dimensions",
               "give an adjoint of that many, and a bound for each", here.where);
  }
  ReadRanges bounds;
  std::vector<Expr> args, inside;
  Expr exists;
  for (size_t d = 0; d < output_bounds.size(); d++) {
    const Range &r = output_bounds[d];
    bounds.push_back({r.min, simplify(r.min + r.extent - 1)});
    args.push_back(Var::of_loop(f.pure_args[d]));
    inside.push_back(clamp(args[d], bounds[d].min, bounds[d].max));
    const Expr here_inside = args[d] >= bounds[d].min && args[d] <= bounds[d].max;
    exists = exists.defined() ? exists && here_inside : here_inside;
  }
  const Type t = output.types()[0];
  Func seed(plain_name(output.name()) + "_d");
  const Expr given = cast(t, adjoint(inside));
  seed(args) = exists.defined() ? select(exists, given, make_zero(t)) : given;
  return Derivative(Propagation(output, here.where).run(output, seed, bounds));
}

Derivative propagate_adjoints(const Func &output, const Buffer<float> &adjoint, Here here) {
  Func values("adjoint");
  std::vector<Expr> args;
  for (int i = 0; i < adjoint.dimensions(); i++) args.push_back(Var::implicit(i));
  values(args) = adjoint(args);
  Region bounds;
  for (int i = 0; i < adjoint.dimensions(); i++) {
    bounds.emplace_back(Expr(adjoint.dim(i).min()), Expr(adjoint.dim(i).extent()));
  }
  return propagate_adjoints(output, values, bounds, here);
}

Derivative propagate_adjoints(const Func &output, Here here) {
  check_output(output, here);
  if (output.dimensions() != 0) {
    user_error("the adjoint of '" + plain_name(output.name()) + "' is not given",
               "it has " + std::to_string(output.dimensions()) +
                   " dimensions, and only a Func of none has the adjoint 1",
               "give an adjoint and the output's bounds", here.where);
  }
  Func one("adjoint");
  one() = make_one(output.types()[0]);
  return propagate_adjoints(output, one, Region(), here);
}

}  // namespace polyhalite
