#include "autosched/report.h"

#include <cstdio>
#include <limits>

#include "autosched/placements.h"

namespace polyhalite::autosched {

namespace {

std::string duration(double nanoseconds) {
  char text[32];
  const bool micro = nanoseconds < 1e6;
  std::snprintf(text, sizeof text, "%.3g %s", nanoseconds / (micro ? 1e3 : 1e6),
                micro ? "us" : "ms");
  return text;
}

// The cheapest of the Func's other placements.
std::string alternative(const ReportParts &r, CostModel &costs, int func) {
  std::vector<Plan> others = other_placements(r.model, r.machine, r.plan, func);
  std::vector<Candidate> candidates;
  for (const Plan &p : others) candidates.push_back({&p, &r.plan});
  const std::vector<double> list = costs.costs(candidates);
  size_t best = others.size();
  for (size_t i = 0; i < others.size(); i++) {
    if (list[i] < std::numeric_limits<double>::infinity() &&
        (best == others.size() || list[i] < list[best])) {
      best = i;
    }
  }
  if (best == others.size()) return "";
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.3g", list[best] / r.cost);
  return "; " + describe(r.model, others[best], func) + ": " + ratio + " of the time";
}

}  // namespace

std::string make_report(const ReportParts &r, CostModel &costs) {
  std::string s = "auto-scheduler 'polyhalite', " + std::to_string(r.machine.cores) +
                  (r.machine.cores == 1 ? " thread" : " threads") + ", vectors of " +
                  std::to_string(r.machine.vector_bytes) + " bytes, seed " +
                  std::to_string(r.options.seed) + "\n";
  s += std::to_string(r.found.considered) + " plans" +
       (r.found.out_of_time ? " until the budget's end" : "") + ", the best " + duration(r.cost) +
       ", the template " + duration(r.template_cost) + " by the model '" + costs.version() + "'\n";
  if (r.refused > 0) s += std::to_string(r.refused) + " better ones were refused by the judge\n";
  for (const std::string &n : r.notes) s += n + "\n";
  for (size_t f = r.model.funcs.size(); f-- > 0;) {
    const FuncModel &func = r.model.funcs[f];
    const int index = static_cast<int>(f);
    const bool users = func.fixed_place && func.fixed_loops;
    s += func.name + ": " + (users ? "as the program says" : describe(r.model, r.plan, index));
    if (!users) s += alternative(r, costs, index);
    s += "\n";
  }
  return s;
}

}  // namespace polyhalite::autosched
