#include "lang/language/warnings.h"

#include <set>

#include "lang/language/names.h"

namespace polyhalite {

namespace {

void warn_of_unscheduled_updates(const FunctionContents &f) {
  std::set<int> scheduled;
  for (const Directive &d : f.directives) {
    if (concerns_loops(d.kind)) scheduled.insert(d.stage);
  }
  if (scheduled.empty()) return;
  for (size_t i = 0; i < f.updates.size(); i++) {
    const int stage = static_cast<int>(i) + 1;
    if (scheduled.count(stage) || f.unscheduled.count(stage)) continue;
    const std::string update = "update(" + std::to_string(i) + ")";
    user_warning("update " + std::to_string(i) + " of '" + plain_name(f.name) +
                     "' is not scheduled, and another of its definitions is",
                 "directives on a Func concern its pure definition only",
                 "schedule " + update + ", or say " + update + ".unscheduled()",
                 f.updates[i].where);
  }
}

}  // namespace

void warn_of_unscheduled_updates(const FrozenPipeline &pipeline) {
  for (const auto &f : pipeline.functions) warn_of_unscheduled_updates(*f);
}

}  // namespace polyhalite
