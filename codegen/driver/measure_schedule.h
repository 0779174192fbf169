// Timing a schedule on this machine, in a process of its own.
#pragma once

#include "autosched/autosched.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Compiles the trial's pipeline and runs it on made-up inputs with `threads` threads: the median of
/// several runs. What kills the process, or takes more than `seconds`, is a failure.
autosched::Measurement measure_schedule(const autosched::Trial &trial, const Target &target,
                                        int threads, double seconds);

}  // namespace polyhalite
