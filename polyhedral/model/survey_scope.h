// survey_scope: the surveyed loops, symbols and boxes as rows of a Problem, exactly as lowering
// emits them. (stage_model.h is the other view: what the directives mean, with a fuse's coordinates
// kept.)
#pragma once

#include <set>
#include <string>
#include <utility>

#include "polyhedral/model/translate.h"
#include "polyhedral/survey.h"

namespace polyhalite {

class SurveyScope {
 public:
  /// What the symbols of the root and of shared loops are. Free ones take any values, which makes
  /// short problems: what holds then, holds.
  enum SharedSymbols : uint8_t { Defined, Free };
  /// The survey's assumptions hold, and outputs have all that the pipeline touches of them: the
  /// entry checks both.
  SurveyScope(Problem &problem, SharedAtoms &shared, const LoopTree &tree, const Survey &survey,
              SharedSymbols symbols = Defined);

  Translator &translator() { return translator_; }
  /// A loop of which all instances of the problem see the same iteration.
  void enter_shared_loop(int loop);
  bool is_free(const std::string &symbol) const { return free_.count(symbol) > 0; }
  /// Is a symbol known by an interval only, as n*(m/n) is? Then there may be solutions beside its
  /// value.
  bool has_intervals() const { return has_intervals_; }
  /// A loop with an iteration of its own; its counter is returned.
  AffineRow enter_loop(int loop);
  /// Numbers that grow, compared one after the other, with the counter of a loop that was entered:
  /// of a fused loop the counters that it was fused from, which rows can say more of.
  std::vector<AffineRow> order(int loop);
  enum What : uint8_t { Instances, Reads, Writes };
  /// Binds the stage's variables to their values over loops, and adds the guards of its instances,
  /// or of all that reads or writes.
  void enter_stage(StageId stage, What what = Instances);
  /// Adds that somebody uses what the instance of the stage makes, which was entered.
  void enter_used(StageId stage);
  /// Adds that `cell` lies in the box.
  void require_inside(const std::vector<AffineRow> &cell, const Box &box);

 private:
  void assume_outputs();
  bool has_cases(const Expr &e) const;
  /// The loops of a branch run where its condition holds.
  void assume_branch(StageId stage);
  void bound_counter(int loop);
  bool add_parts(const StageId &s, const std::string &dim, std::vector<AffineRow> &rows);
  void define_symbols(const std::vector<Symbol> &symbols);
  void define_shared_symbols(const std::vector<Symbol> &symbols);

  Problem &problem_;
  const LoopTree &tree_;
  const Survey &survey_;
  Translator translator_;
  const SharedSymbols symbols_;
  std::set<std::string> free_;
  std::set<std::pair<int, int>> branches_;  // whose conditions are assumed
  bool has_intervals_ = false;
};

}  // namespace polyhalite
