#include "autosched/nest_guess.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace polyhalite::autosched {

NestGuess::NestGuess(const FuncModel &model, const std::string &func, int stage)
    : model_(&model),
      stage_model_(&model.stages[static_cast<size_t>(stage)]),
      func_(func),
      stage_(stage) {
  const auto dims = static_cast<size_t>(model.dimensions());
  const StageModel &s = *stage_model_;
  const auto add = [&](size_t v) {
    if (!s.has_loop[v]) return;
    const NumberRange r = v < dims ? model.whole[v] : s.rvars[v - dims];
    loops.push_back({s.vars[v], static_cast<int>(v), static_cast<double>(r.extent())});
    first_order_.push_back(s.vars[v]);
  };
  for (size_t v = dims; v < s.vars.size(); v++) add(v);
  for (size_t v = 0; v < dims; v++) add(v);
}

size_t NestGuess::place(const std::string &name) const {
  const auto at = std::find_if(loops.begin(), loops.end(),
                               [&](const GuessedLoop &l) { return l.name == name; });
  return static_cast<size_t>(at - loops.begin());
}

void NestGuess::move(size_t from, size_t to) {
  const GuessedLoop l = loops[from];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(from));
  loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(to), l);
}

size_t NestGuess::split(size_t at, int64_t factor, const std::string &suffix) {
  GuessedLoop inner = loops[at];
  const std::vector<std::string> &vars = stage_model_->vars;
  std::set<std::string> taken(vars.begin(), vars.end());
  for (const Directive &d : changes_) taken.insert(d.loops.begin(), d.loops.end());
  const std::string hint = vars[static_cast<size_t>(inner.var)] + suffix;
  inner.name = hint;
  for (int i = 1; taken.count(inner.name); i++) inner.name = hint + std::to_string(i);
  const std::string &outer = loops[at].name;
  Directive d = directive(DirectiveKind::Split, {outer, outer, inner.name});
  d.factors = {make_int(Int(32), factor)};
  if (inner.var < model_->dimensions()) d.tail = TailStrategy::GuardWithIf;
  changes_.push_back(std::move(d));
  inner.extent = static_cast<double>(factor);
  loops[at].extent = std::ceil(loops[at].extent / static_cast<double>(factor));
  loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at), inner);
  return at;
}

void NestGuess::skew(size_t loop, size_t by, int factor) {
  const std::string &name = loops[loop].name;
  Directive d = directive(DirectiveKind::Skew, {name, loops[by].name, name});
  d.factors = {make_int(Int(32), factor)};
  changes_.push_back(std::move(d));
}

FixedNest NestGuess::fixed(double serial_cycles) const {
  FixedNest n;
  n.directives = changes_;
  std::vector<std::string> order;
  for (const GuessedLoop &l : loops) order.push_back(l.name);
  if (order != first_order_) n.directives.push_back(directive(DirectiveKind::Reorder, order));
  for (const GuessedLoop &l : loops) {
    if (l.mark == LoopMark::Serial) continue;
    n.parallel = n.parallel || l.mark == LoopMark::Parallel;
    n.directives.push_back(directive(l.mark == LoopMark::Vector     ? DirectiveKind::Vectorize
                                     : l.mark == LoopMark::Unrolled ? DirectiveKind::Unroll
                                                                    : DirectiveKind::Parallel,
                                     {l.name}));
  }
  const std::vector<std::string> &vars = stage_model_->vars;
  for (const Directive &d : changes_) {
    int64_t factor = 1;
    const auto at = std::find(vars.begin(), vars.end(), d.loops[0]) - vars.begin();
    if (d.kind != DirectiveKind::Split || at >= model_->dimensions()) continue;
    if (is_const_int(d.factors[0], &factor)) n.together.emplace_back(at, factor);
  }
  n.what = what;
  n.speedup = std::max(1.0, serial_cycles / cycles);
  return n;
}

Directive NestGuess::directive(DirectiveKind kind, std::vector<std::string> names) const {
  Directive d;
  d.kind = kind;
  d.func = func_;
  d.stage = stage_;
  d.loops = std::move(names);
  return d;
}

}  // namespace polyhalite::autosched
