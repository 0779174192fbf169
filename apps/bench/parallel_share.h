// How much two threads can gain of a pipeline's parallel loops, told by the processor time of their
// tasks: a figure that does not depend on what else the machine does.
#pragma once

#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

/// Processor seconds of this process, of all its threads.
double cpu_seconds();

/// A context for realize() whose parallel loops run on the calling thread, their tasks timed and
/// dealt to two workers as they would take them: the next one goes to the worker who is free first.
class ParallelShare : public polyhalite::JITUserContext {
 public:
  ParallelShare();
  /// By what factor two workers are faster than one, everything outside of parallel loops included;
  /// asked after realize().
  double speedup() const;

 private:
  static int run_tasks(JITUserContext *, int (*task)(JITUserContext *, int, uint8_t *), int min,
                       int extent, uint8_t *closure);

  double start_ = 0;
  double saved_ = 0;  // seconds
  int depth_ = 0;     // of parallel loops in parallel loops
};

}  // namespace polyhalite_apps
