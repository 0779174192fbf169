#include "test/corpus/label.h"

#include "polyhalite/error.h"
#include "polyhedral/judge.h"
#include "polyhedral/oracle/brute_force.h"
#include "schedule/build_tree.h"

namespace polyhalite::test {

namespace {

std::string without_place(Diagnostic d) {
  d.where = {};
  const std::string kind = "error: ";
  return d.to_string().substr(kind.size()) + "\n";
}

}  // namespace

Labels label(const CorpusFile &file, const std::vector<Directive> &directives) {
  const LoopTree tree = build_tree(file.algorithm, directives);
  const Survey regions = survey(tree);
  Labels l;
  for (oracle::Experiment experiment : file.experiments) {
    constexpr int kTries = 4;
    experiment = oracle::with_room(tree, regions, experiment);
    const oracle::Enumeration found = oracle::brute_force(tree, regions, experiment, kTries);
    if (!found.unmet.empty()) continue;
    if (l.label.empty()) l.label = "legal";
    if (!found.violation) continue;
    l.label = "illegal";
    l.violation = found.violation->text;
    break;
  }
  const Judgement judgement = judge(tree, regions);
  l.accepted = judgement.legal();
  if (!l.accepted) {
    if (l.label == "legal") l.label = "strict";
    l.message = without_place(judgement.refusal->diagnostic);
    l.names_instances = !judgement.refusal->instances.empty();
  }
  return l;
}

}  // namespace polyhalite::test
