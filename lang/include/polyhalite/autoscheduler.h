// Auto-schedulers: functions that write a pipeline's schedule, known by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite/target.h"
#include "polyhalite/var.h"

namespace polyhalite {

class Pipeline;

/// Which auto-scheduler, and its own parameters as texts. An empty name stands for none.
struct AutoschedulerParams {
  std::string name;
  std::map<std::string, std::string> extra;

  AutoschedulerParams() = default;
  AutoschedulerParams(const std::string &n) : name(n) {}                       // NOLINT
  AutoschedulerParams(const char *n) : AutoschedulerParams(std::string(n)) {}  // NOLINT
  AutoschedulerParams(const std::string &n, std::map<std::string, std::string> parameters)
      : name(n), extra(std::move(parameters)) {}
  /// "autoscheduler=NAME autoscheduler.KEY=VALUE ...", as on a generator's command line.
  std::string to_string() const;
};

struct AutoSchedulerResults {
  Target target;
  AutoschedulerParams autoscheduler_params;
  std::string schedule_source;         // C++
  std::vector<uint8_t> featurization;  // the scheduler's own
  // Of our own scheduler: the directives that it added, one a line and as Python (schedule_text.h),
  // and what it chose over what.
  std::string schedule_text, schedule_python, report;
};

/// Writes directives to the pipeline's Funcs.
using AutoSchedulerFn = std::function<void(const Pipeline &, const Target &,
                                           const AutoschedulerParams &, AutoSchedulerResults *)>;

/// Completes the pipeline's schedule with the auto-scheduler "polyhalite": what the program has
/// scheduled stays, the rest is chosen for sizes like the estimates (set_estimate). `options`:
///   parallelism    threads that will run the pipeline; this machine's
///   budget         the most time that the search takes: "10s" (the default), "500ms", "2min";
///                  "0s" gives the template that it starts from
///   beam           how many partial schedules it keeps: 16
///   seed           of its random trials: 0. The same seed gives the same schedule, unless the
///                  budget ends the search.
///   measure        how many of the best are compiled and timed here, each in a process of its
///                  own: 0
///   measure_limit  the most time that one of them gets for that: "120s"
///   records        a file (SQLite) in which measured times are kept and looked up
///   report         a file for the report of what was chosen over what
/// CompileError where an output has no estimate, with its name.
AutoSchedulerResults auto_schedule(const Pipeline &pipeline,
                                   const Target &target = get_jit_target_from_environment(),
                                   const std::map<std::string, std::string> &options = {},
                                   Here here = Here());

/// Loads a dynamic library, whose static constructors may call Pipeline::add_autoscheduler. `name`
/// is a path, or "abc" for libabc.so of the usual places. CompileError where it cannot be loaded.
/// The libraries of Halide's own auto-schedulers (autoschedule_adams2019...) are not loaded: their
/// names stand for "polyhalite", and a warning says so.
void load_plugin(const std::string &name, Here here = Here());

}  // namespace polyhalite
