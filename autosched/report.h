// What was chosen over what, for people.
//
//   auto-scheduler 'polyhalite', 2 threads, vectors of 32 bytes, seed 0
//   21 plans, the best 1.5 ms, the template 4.0 ms by the model 'analytic 1'
//   out: root, y by 32 parallel, vectors of 8
//   blur_x: in tiles of y of 'out', vectors of 8; inlined would take 1.4 times as long
#pragma once

#include <string>

#include "autosched/machine.h"
#include "autosched/search.h"

namespace polyhalite::autosched {

struct ReportParts {
  const PipelineModel &model;
  const Machine &machine;
  const Options &options;
  const SearchResult &found;
  const Plan &plan;          // the one that was taken
  double cost = 0, template_cost = 0;
  int refused = 0;           // better ones that the judge refused
  std::vector<std::string> notes;
};

std::string make_report(const ReportParts &parts, CostModel &costs);

}  // namespace polyhalite::autosched
