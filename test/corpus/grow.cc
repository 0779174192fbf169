#include "test/corpus/grow.h"

#include <algorithm>
#include <iostream>
#include <set>

#include "polyhalite/error.h"
#include "polyhedral/next_directives.h"
#include "schedule/build_tree.h"
#include "schedule/derive_algorithm.h"
#include "schedule/schedule_text.h"
#include "test/corpus/label.h"
#include "test/support/dice.h"

namespace polyhalite::test {

namespace {

using Step = std::vector<Directive>;

// What next_directives leaves out, since it has no end: rings, other coordinates, other orders.
std::vector<Step> further_steps(Dice &dice, const LoopTree &tree, const NextPlace &place) {
  std::vector<Step> steps;
  const auto add = [&](DirectiveKind kind, int stage, std::vector<std::string> loops, int factor) {
    Directive d;
    d.kind = kind;
    d.func = place.func;
    d.stage = stage;
    d.loops = std::move(loops);
    if (factor != 0) d.factors = {Expr(factor)};
    steps.push_back({std::move(d)});
  };
  const int func = tree.algorithm.index_of(place.func);
  if (func < 0 || place.stage >= tree.algorithm.funcs[func].num_definitions()) return steps;
  std::vector<std::string> loops;
  for (const int id : tree.nest({func, place.stage}).loops) loops.push_back(tree.loops[id].label);
  if (loops.size() >= 2) {
    const std::string a = dice.pick(loops), b = dice.pick(loops);
    if (a != b) {
      add(DirectiveKind::Skew, place.stage, {a, b, a}, dice.chance(50) ? -1 : dice.between(1, 3));
    }
    for (size_t i = loops.size(); i > 1; i--) {
      std::swap(loops[i - 1], loops[dice.between(0, static_cast<int>(i) - 1)]);
    }
    add(DirectiveKind::Reorder, place.stage, loops, 0);
    add(DirectiveKind::Shift, place.stage, {loops[0]}, dice.between(-3, 3) * 2 + 1);
  }
  if (place.stage == 0 && !tree.algorithm.is_output(place.func)) {
    for (const std::string &arg : tree.algorithm.funcs[func].args) {
      add(DirectiveKind::FoldStorage, 0, {arg}, dice.between(1, 4));
    }
  }
  return steps;
}

Directive level_directive(DirectiveKind kind, const std::string &func, const LoopTree &tree,
                          StageId at, const std::string &loop) {
  Directive d;
  d.kind = kind;
  d.func = func;
  d.target_func = tree.origin_of(tree.func(at).name);
  d.target_stage = at.stage;
  d.loops = {loop};
  return d;
}

// Computed in a loop and stored outside of it; often with a ring, or with a loop between that runs
// at once.
Step window_step(Dice &dice, const LoopTree &tree, const FuncDef &f) {
  const int count = static_cast<int>(tree.algorithm.funcs.size());
  const int consumer = dice.between(0, count - 1);
  const FuncDef &def = tree.algorithm.funcs[consumer];
  const StageId at{consumer, dice.between(0, def.num_definitions() - 1)};
  const std::vector<int> &ids = tree.nest(at).loops;
  if (def.name == f.name || ids.empty()) return {};
  const int inner = dice.between(0, static_cast<int>(ids.size()) - 1);
  const int outer = dice.between(-1, inner);
  Step step;
  if (outer < 0) {
    Directive root;
    root.kind = DirectiveKind::StoreRoot;
    root.func = f.name;
    step.push_back(root);
  } else {
    step.push_back(
        level_directive(DirectiveKind::StoreAt, f.name, tree, at, tree.loops[ids[outer]].label));
  }
  step.push_back(
      level_directive(DirectiveKind::ComputeAt, f.name, tree, at, tree.loops[ids[inner]].label));
  const int extra = dice.between(0, 2);
  Directive more;
  if (extra == 1) {
    more.kind = DirectiveKind::FoldStorage;
    more.func = f.name;
    more.loops = {dice.pick(f.args)};
    more.factors = {Expr(dice.between(1, 5))};
    step.push_back(more);
  } else if (extra == 2) {
    more.kind = DirectiveKind::Parallel;
    more.func = tree.origin_of(def.name);
    more.stage = at.stage;
    more.loops = {tree.loops[ids[dice.between(0, inner)]].label};
    step.push_back(more);
  }
  return step;
}

// Of a Func's definitions, mostly an update: pure ones have no order.
int draw_stage(Dice &dice, const FuncDef &f) {
  const int updates = f.num_definitions() - 1;
  return updates > 0 && dice.chance(85) ? dice.between(1, updates) : 0;
}

// One more step on a stage of the pipeline; none where nothing is left to say.
Step next_step(Dice &dice, const Algorithm &algorithm, const std::vector<Directive> &list) {
  const DerivedAlgorithm derived = derive_algorithm(algorithm, list);
  const LoopTree tree = build_tree(algorithm, list);
  const FuncDef &f = dice.pick(derived.algorithm.funcs);
  if (!derived.algorithm.is_output(f.name) && dice.chance(40)) return window_step(dice, tree, f);
  NextPlace place{f.name, draw_stage(dice, f)};
  constexpr int kLanes = 8;
  place.lanes = kLanes;
  std::vector<Step> steps = next_directives(derived.algorithm, tree, survey(tree), place);
  for (Step &s : further_steps(dice, tree, place)) steps.push_back(std::move(s));
  if (steps.empty()) return {};
  Step step = dice.pick(steps);
  for (Directive &d : step) {
    // Small enough for tiles to be many where few instances are enumerated.
    if (d.kind == DirectiveKind::Split) d.factors = {Expr(dice.between(2, 5))};
  }
  return step;
}

// Does the schedule say more than where tiles begin?
bool says_something(const std::vector<Directive> &list) {
  return std::any_of(list.begin(), list.end(), [](const Directive &d) {
    return d.kind != DirectiveKind::Split && d.kind != DirectiveKind::Unroll &&
           d.kind != DirectiveKind::ComputeInline && d.kind != DirectiveKind::Shift;
  });
}

std::string body_text(const std::vector<Directive> &list) {
  const std::string text = to_text(list);
  return text.substr(text.find('\n') + 1);
}

uint64_t hash_of(const CorpusFile &file, const std::vector<Directive> &list) {
  return tree_hash(build_tree(file.algorithm, list));
}

// Steps until one makes the schedule illegal, or until `length`. Null where nothing came of it.
std::optional<CorpusCase> walk(Dice &dice, const CorpusFile &file, int length) {
  std::vector<Directive> list;
  CorpusCase c;
  for (int i = 0; i < length; i++) {
    std::vector<Directive> longer = list;
    try {
      for (Directive &d : next_step(dice, file.algorithm, list)) longer.push_back(std::move(d));
      if (longer.size() == list.size() || hash_of(file, longer) == hash_of(file, list)) continue;
      const Labels l = label(file, longer);
      if (l.label.empty()) return std::nullopt;
      list = std::move(longer);
      c = {l.label, "", body_text(list), l.message};
      if (l.label == "strict" || (l.accepted && l.label != "legal")) {
        std::cout << file.name << ": the judge disagrees\n"
                  << c.schedule << l.violation << "\n"
                  << l.message;
        if (l.accepted) return std::nullopt;
      }
      if (c.label != "legal") return c;
    } catch (const CompileError &) {
      continue;  // no loop tree: another step
    }
  }
  if (!says_something(list)) return std::nullopt;
  return c;
}

}  // namespace

void grow(CorpusFile &file, int count, uint64_t seed) {
  std::set<std::string> known;
  for (const CorpusCase &c : file.cases) known.insert(c.schedule);
  Dice dice(seed);
  constexpr int kTriesPerCase = 30;
  int legal = 0, illegal = 0, strict = 0;
  for (int tries = 0; tries < count * kTriesPerCase && legal + illegal < count; tries++) {
    const auto c = walk(dice, file, dice.between(1, 4));
    if (!c) continue;
    int &have = c->label == "legal" ? legal : c->label == "illegal" ? illegal : strict;
    const bool enough = 2 * have >= count && tries < count * kTriesPerCase / 2;
    if (enough || !known.insert(c->schedule).second) continue;
    have++;
    file.cases.push_back(*c);
  }
  std::cout << file.name << ": " << legal << " legal and " << illegal << " illegal schedules, "
            << strict << " refused needlessly\n";
}

}  // namespace polyhalite::test
