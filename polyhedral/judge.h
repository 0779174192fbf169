// The judge: proves that a surveyed loop tree keeps its algorithm's meaning, or refuses with the
// pair of instances that it would break.
//
// Claims, per DESIGN.md: (a) splits cover, (b) every value needed is produced, (c) every dependence
// keeps its order, (d) storage delivers the intended values, (e) parallel and vector loops carry
// nothing, (f) addresses stay inside allocations, (g) threads of a kernel wait for what others
// wrote. Of (g) the tree tells what blocks share; that barriers stand where dependences cross
// threads is asked again of loop IR (codegen/passes/prove_barriers.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhedral/survey.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

enum class Proof : uint8_t {
  Structural,  // legal by construction; the rule is named
  Isl,         // decided by isl on the exact relations
  Waiver,      // not proven: the schedule promises it
  Undecided,   // the quota ran out, or the relation is opaque: counts as refused
};

/// One proven claim, for reports: "(c) order of update 0 of 'hist': isl".
struct Certificate {
  char claim;  // 'a'..'g'
  std::string about;
  Proof proof;
  std::string rule;  // the structural rule or the isl question
};

/// An instance of a stage, with concrete numbers.
struct Instance {
  StageId stage;
  std::vector<std::pair<std::string, int64_t>> at;  // algorithm variables
};

struct Refusal {
  char claim;
  Proof proof;  // Isl: with a counter-example; Undecided: says what could not be decided
  Diagnostic diagnostic;
  std::vector<Instance> instances;  // two, or one for coverage
  std::vector<std::pair<std::string, int64_t>> parameters;
};

struct Judgement {
  std::vector<Certificate> certificates;
  std::optional<Refusal> refusal;  // the first, in order of claims
  double seconds = 0;
  bool legal() const { return !refusal; }
};

/// What the judgement takes on the schedule's word, one a line:
/// "promised: (e) parallel loop 'r' of update 0 of 'hist': allow_race_conditions".
std::vector<std::string> promises(const Judgement &j);

struct JudgeOptions {
  unsigned long isl_operations = 2'000'000;  // quota per query
  // Asks isl also what has a structural certificate where relations are affine: the surveyed loops
  // cover each stage's points (a), boxes cover what is read (b) and storage what is computed (f).
  bool exact = false;
  bool kernels = false;  // code is made for a CUDA device beside the processor
};

Judgement judge(const LoopTree &tree, const Survey &survey, const JudgeOptions &options = {});

/// Freeze-time entry: builds, surveys and judges; on refusal blames the last directive of the
/// shortest prefix of `directives` after which legality never returns. Throws CompileError. The
/// survey's warnings are told.
struct Judged {
  LoopTree tree;
  Survey survey;
  Judgement judgement;
  double schedule_seconds = 0, survey_seconds = 0;  // the judgement has its own
};
Judged build_and_judge(const Algorithm &algorithm, const std::vector<Directive> &directives,
                       const JudgeOptions &options = {});

}  // namespace polyhalite
