// (c) order. Between stages and between producer and consumer the tree is the proof: productions
// stand before their uses, stages in order, and each production initialises what it reads. Within
// an update, instances that touch one cell must run in the algorithm's order.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "lang/simplify/associative.h"
#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"

namespace polyhalite {

namespace {

// Without a rule's help: does the nest visit the reduction domain in its own order? True where the
// loops that come from reduction variables are their digits, outermost variable first.
class ReductionOrder {
 public:
  ReductionOrder(const LoopTree &tree, StageId stage) : nest_(tree.nest(stage)) {
    const StageDef &def = tree.definition(stage);
    for (size_t r = def.rvars.size(); r-- > 0;) variables_.push_back(def.rvars[r].var);
    for (size_t i = 0; i < nest_.loops.size(); i++) dims_.push_back(tree.dim(stage, i));
  }

  bool kept() {
    std::map<std::string, std::vector<std::string>> fused;
    for (const Derivation &d : nest_.derivations) {
      if (is_linear(d)) return false;
      if (d.kind == Derivation::Split) {
        if (fused.count(d.a) || d.tail == TailStrategy::ShiftInwards) return false;
        parts_[d.a] = {d.b, d.c};
      } else {
        for (const std::string &part : {d.a, d.b}) {
          auto it = fused.find(part);
          if (it == fused.end()) {
            fused[d.c].push_back(part);
          } else {
            const std::vector<std::string> inner = it->second;
            fused[d.c].insert(fused[d.c].end(), inner.begin(), inner.end());
          }
        }
      }
    }
    std::vector<std::string> wanted, actual;
    for (const std::string &v : variables_) append_digits(v, wanted);
    for (const std::string &dim : dims_) {
      const std::vector<std::string> digits =
          fused.count(dim) ? fused[dim] : std::vector<std::string>{dim};
      for (const std::string &digit : digits) {
        if (std::count(wanted.begin(), wanted.end(), digit)) actual.push_back(digit);
      }
    }
    return wanted == actual;
  }

 private:
  void append_digits(const std::string &dim, std::vector<std::string> &digits) const {
    auto it = parts_.find(dim);
    if (it == parts_.end()) {
      digits.push_back(dim);
      return;
    }
    append_digits(it->second.first, digits);
    append_digits(it->second.second, digits);
  }

  const StageNest &nest_;
  std::vector<std::string> variables_, dims_;
  std::map<std::string, std::pair<std::string, std::string>> parts_;
};

std::optional<std::string> structural_rule(const LoopTree &tree, StageId s) {
  if (!tree.is_update(s)) return "a pure definition has no order";
  const auto update = prove_associative(tree.func(s), s.stage);
  if (update && update->commutative) {
    return "the operator is associative and commutative";
  }
  if (writes_one_value(tree, s)) return "instances that write one cell write one value";
  if (!is_pure_in_its_variables(tree, s)) return std::nullopt;
  if (tree.definition(s).rvars.empty()) return "instances touch cells of their own";
  if (ReductionOrder(tree, s).kept()) return "reduction loops run in the algorithm's order";
  return std::nullopt;
}

// The loops that the conflict tells apart: `outer` runs the wrong way, `inner` would have kept
// order.
struct BrokenPair {
  const LoopCoordinate *outer = nullptr, *inner = nullptr;
};

BrokenPair broken_pair(const StageInstance &nest, const Conflict &conflict) {
  BrokenPair pair;
  for (size_t i = 0; i < nest.time.size(); i++) {
    const int64_t a = conflict.first_time[i], b = conflict.second_time[i];
    if (!pair.outer && a > b) pair.outer = &nest.time[i];
    if (pair.outer && !pair.inner && a < b) pair.inner = &nest.time[i];
  }
  return pair;
}

// Is the loop one that a reverse made?
bool is_reversed(const LoopTree &tree, StageId s, int loop) {
  const std::vector<Derivation> &made = tree.nest(s).derivations;
  return std::any_of(made.begin(), made.end(), [&](const Derivation &d) {
    return d.kind == Derivation::Reverse && d.c == tree.loops[loop].dim;
  });
}

// `placed`: what of the loops makes the difference.
std::string why_text(const std::string &func, const Conflict &k, const std::string &placed) {
  const bool may = k.depends_on_data || k.inexact;
  auto verb = [&](const std::string &word) { return may ? " may " + word : " " + word + "s"; };
  std::string why = func + " at " + instance_text(k.second);
  switch (k.kind) {
    case Conflict::Flow:
      why += verb("read") + " what " + instance_text(k.first) + " writes";
      break;
    case Conflict::Anti:
      why += verb("overwrite") + " what " + instance_text(k.first) + " reads";
      break;
    case Conflict::Output:
      why += verb("overwrite") + " what " + instance_text(k.first) + " writes";
      break;
  }
  why +=
      "; with " + placed + ", " + short_text(k.first) + " would run after " + short_text(k.second);
  return why + parameters_text(k.parameters);
}

std::string natural_order(const LoopTree &tree, StageId s) {
  std::string text;
  const StageDef &def = tree.definition(s);
  for (size_t r = def.rvars.size(); r-- > 0;) text += (text.empty() ? "" : ", ") + def.rvars[r].var;
  return text;
}

// Two instances on one cell that the loops run in the other order than the algorithm does, the
// loops being numbered by `time`.
ConflictAnswer disorder(JudgeContext &c, StageId s,
                        const std::function<std::vector<AffineRow>(const StageInstance &)> &time) {
  return find_conflict(
      c, s, [&](Problem &p, const StageInstance &first, const StageInstance &second) {
        p.choices.push_back(lexicographically_less(first.position_rows(), second.position_rows()));
        p.choices.push_back(lexicographically_less(time(second), time(first)));
      });
}

// " or skew x by 2*y first": where that would keep order with the loops as they stand.
std::string skew_that_helps(JudgeContext &c, StageId s, size_t outer, size_t inner,
                            const StageInstance &nest) {
  if (nest.time[outer].loop == nest.time[inner].loop) return "";
  for (const int factor : {1, 2}) {
    const ConflictAnswer answer = disorder(c, s, [&](const StageInstance &i) {
      std::vector<AffineRow> rows = i.time_rows();
      rows[outer].add(rows[inner], factor);
      return rows;
    });
    if (answer.conflict || answer.unknown) continue;
    return ", or skew " + nest.time[outer].label + " by " +
           (factor > 1 ? std::to_string(factor) + "*" : "") + nest.time[inner].label + " first";
  }
  return "";
}

// A Func in the memory of another one: no instance reads a cell that another one has written
// before.
void judge_in_place(JudgeContext &c, StageId s) {
  const StageDef &def = c.tree.definition(s);
  const std::string about = c.tree.describe(s) + " in the memory of '" + def.in_place + "'";
  if (is_pure_in_its_variables(c.tree, s)) {
    c.certify('c', about, Proof::Structural, "instances touch cells of their own");
    return;
  }
  const ConflictAnswer answer =
      find_flow(c, s, [](Problem &p, const StageInstance &writer, const StageInstance &reader) {
        p.choices.push_back(lexicographically_less(writer.time_rows(), reader.time_rows()));
      });
  const std::string cannot = "compute " + about;
  const std::string fix = "run its loops in another order, or drop in_place";
  if (answer.unknown) {
    c.undecided('c', "cannot prove that it is legal to " + cannot, *answer.unknown, fix,
                def.in_place_where);
    return;
  }
  if (!answer.conflict) {
    c.certify('c', about, Proof::Isl, "each cell is read before it is written");
    return;
  }
  const Conflict &k = *answer.conflict;
  const bool may = k.depends_on_data || k.inexact;
  Refusal refusal{
      'c', k.inexact ? Proof::Undecided : Proof::Isl, {}, {k.first, k.second}, k.parameters};
  refusal.diagnostic = {(k.inexact ? "cannot prove that it is legal to " : "cannot ") + cannot,
                        c.tree.func(s).name + " at " + instance_text(k.second) +
                            (may ? " may read " : " reads ") + cell_text(def.in_place, k.cell) +
                            ", where " + instance_text(k.first) + (may ? " may have" : " has") +
                            " put a value of its own" + parameters_text(k.parameters) +
                            (k.inexact ? "; " + *k.inexact + " is not affine" : ""),
                        fix, def.in_place_where};
  c.refuse(std::move(refusal));
}

void judge_update(JudgeContext &c, StageId s) {
  if (!c.tree.definition(s).in_place.empty()) return judge_in_place(c, s);
  const std::string stage = c.tree.describe(s);
  const std::string about = "order within " + stage;
  if (auto rule = structural_rule(c.tree, s)) {
    c.certify('c', about, Proof::Structural, *rule);
    return;
  }
  const StageNest &promise = c.tree.nest(s);
  if (promise.allow_races || promise.any_order) {
    c.certify('c', about, Proof::Waiver,
              promise.any_order ? "atomic, and its order is promised not to matter"
                                : "allow_race_conditions");
    return;
  }
  const ConflictAnswer answer =
      disorder(c, s, [](const StageInstance &i) { return i.time_rows(); });
  const SourceLocation where = c.tree.definition(s).where;
  const std::string keep = "keep the reduction loops in the algorithm's order, outermost first: " +
                           natural_order(c.tree, s);
  if (answer.unknown) {
    c.undecided('c', "cannot prove that the loops of " + stage + " keep its order", *answer.unknown,
                keep, where);
    return;
  }
  if (!answer.conflict) {
    c.certify('c', about, Proof::Isl, "no two instances on one cell change places");
    return;
  }
  const Conflict &conflict = *answer.conflict;
  Problem names;
  SharedAtoms shared;
  const StageInstance nest = add_instance(names, shared, c.tree, c.survey, s);
  const BrokenPair pair = broken_pair(nest, conflict);
  const std::string outer = pair.outer ? pair.outer->label : "another loop";
  Refusal refusal{'c',
                  conflict.inexact ? Proof::Undecided : Proof::Isl,
                  {},
                  {conflict.first, conflict.second},
                  conflict.parameters};
  Diagnostic &d = refusal.diagnostic;
  const bool fused = pair.inner && pair.inner->loop == pair.outer->loop;
  const std::string verb =
      (conflict.inexact ? std::string("cannot prove that it is legal to ") : "cannot ") +
      (fused ? "fuse '" : "reorder '");
  const bool reversed = !pair.inner && pair.outer && is_reversed(c.tree, s, pair.outer->loop);
  d.what = pair.inner ? verb + pair.inner->label + "' inside '" + outer + "' on " + stage
           : reversed ? "cannot reverse '" + outer + "' on " + stage
                      : "the loops of " + stage + " break its order";
  d.why = why_text(c.tree.func(s).name, conflict, outer + (reversed ? " backwards" : " outside"));
  if (conflict.inexact) d.why += "; " + *conflict.inexact + " is not affine";
  d.fix = pair.inner ? "keep " + pair.inner->label + " outside " + outer
          : reversed ? "leave " + outer + " as it is"
                     : keep;
  if (pair.inner && !conflict.inexact) {
    d.fix += skew_that_helps(c, s, static_cast<size_t>(pair.outer - nest.time.data()),
                             static_cast<size_t>(pair.inner - nest.time.data()), nest);
  }
  d.where = pair.outer ? c.tree.loops[pair.outer->loop].where : where;
  c.refuse(std::move(refusal));
}

}  // namespace

void judge_order(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    if (c.refused()) return;
    judge_update(c, s);
    if (!c.tree.nest(s).shared.empty()) {
      c.certify('c', "loops that " + c.tree.describe(s) + " shares", Proof::Structural,
                "neither stage needs what the other computes");
    }
    if (c.tree.is_update(s)) {
      c.certify('c', "order of " + c.tree.describe(s) + " after the stage before it",
                Proof::Structural, "stages of a production run one after the other");
    }
  }
  for (const FuncDef &f : c.tree.algorithm.funcs) {
    if (c.refused() || c.tree.algorithm.is_output(f.name)) continue;
    c.certify('c', "order of '" + f.name + "' before its consumers", Proof::Structural,
              "a production stands before its uses in one block, and writes all that they read");
  }
}

}  // namespace polyhalite
