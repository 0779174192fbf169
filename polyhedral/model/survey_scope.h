// survey_scope: the surveyed loops, symbols and boxes as rows of a Problem, exactly as lowering
// emits them. (stage_model.h is the other view: what the directives mean, with a fuse's coordinates
// kept.)
#pragma once

#include "polyhedral/model/translate.h"
#include "polyhedral/survey.h"

namespace polyhalite {

class SurveyScope {
 public:
  /// Root symbols are defined, and the survey's assumptions hold.
  SurveyScope(Problem &problem, SharedAtoms &shared, const LoopTree &tree, const Survey &survey);

  Translator &translator() { return translator_; }
  /// A loop of which all instances of the problem see the same iteration.
  void enter_shared_loop(int loop);
  /// A loop with an iteration of its own; its counter is returned.
  AffineRow enter_loop(int loop);
  /// Binds the stage's variables to their values over loops, and adds its guards.
  void enter_stage(StageId stage);
  /// Adds that `cell` lies in the box.
  void require_inside(const std::vector<AffineRow> &cell, const Box &box);

 private:
  void define_symbols(const std::vector<Symbol> &symbols);

  Problem &problem_;
  const LoopTree &tree_;
  const Survey &survey_;
  Translator translator_;
};

}  // namespace polyhalite
