#include "apps/polybench/find_schedule.h"

namespace polyhalite_apps {

std::string find_schedule(const Kernel &kernel, const std::vector<int> &sizes) {
  for (size_t k = 0; k < kernel.results().size(); k++) {
    polyhalite::Region whole;
    for (const int size : kernel.result_shapes()[k]) {
      whole.emplace_back(0, sizes[static_cast<size_t>(size)]);
    }
    polyhalite::Func result = kernel.results()[k];
    result.set_estimates(whole);
  }
  return polyhalite::auto_schedule(polyhalite::Pipeline(kernel.results()),
                                   polyhalite::get_jit_target_from_environment(),
                                   {{"parallelism", "2"}})
      .schedule_text;
}

}  // namespace polyhalite_apps
