#include "apps/bench/parallel_share.h"

#include <algorithm>
#include <ctime>

namespace polyhalite_apps {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

ParallelShare::ParallelShare() : start_(cpu_seconds()) { handlers.custom_do_par_for = run_tasks; }

double ParallelShare::speedup() const {
  const double all = cpu_seconds() - start_;
  return all / (all - saved_);
}

int ParallelShare::run_tasks(JITUserContext *context, int (*task)(JITUserContext *, int, uint8_t *),
                             int min, int extent, uint8_t *closure) {
  auto &share = *static_cast<ParallelShare *>(context);
  double workers[2] = {0, 0};
  int result = 0;
  share.depth_++;
  for (int i = min; i < min + extent && result == 0; i++) {
    const double before = cpu_seconds();
    result = task(context, i, closure);
    *std::min_element(workers, workers + 2) += cpu_seconds() - before;
  }
  // Tasks of an inner loop keep one worker busy: the other has tasks of the outer one.
  if (--share.depth_ == 0) share.saved_ += std::min(workers[0], workers[1]);
  return result;
}

}  // namespace polyhalite_apps
