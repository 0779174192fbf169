// The auto-scheduler's entry: a frozen pipeline with what its user fixed, and out come directives that
// complete its schedule.
//
//   estimates   how large everything is                          estimates.h
//   model       the pipeline as numbers                          model.h
//   search      plans, best first                                search.h, plan.h
//   judge       the first plan that is proven legal, or the first ones where they are measured
//   write       the plan as directives                           write_plan.h
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autosched/estimates.h"
#include "autosched/options.h"
#include "autosched/records.h"
#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite::autosched {

/// A legal schedule that is to be timed on inputs of these boxes.
struct Trial {
  FrozenPipeline pipeline;
  std::map<std::string, NumberBox> images;  // by parameter
  std::vector<NumberBox> outputs;           // in the pipeline's order
};
/// Compiles and times it, apart from this process: what it does there harms nobody.
using Measure = std::function<Measurement(const Trial &)>;

struct Schedule {
  std::vector<Directive> directives;  // beyond the user's
  std::string report;
};

/// CompileError where the user's own schedule is refused, or an output's size is not known.
Schedule schedule(const FrozenPipeline &pipeline, const Target &target, const Options &options,
                  const Measure &measure);

}  // namespace polyhalite::autosched
