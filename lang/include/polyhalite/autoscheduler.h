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
};

/// Writes directives to the pipeline's Funcs.
using AutoSchedulerFn = std::function<void(const Pipeline &, const Target &,
                                           const AutoschedulerParams &, AutoSchedulerResults *)>;

/// Loads a dynamic library, whose static constructors may call Pipeline::add_autoscheduler. `name`
/// is a path, or "abc" for libabc.so of the usual places. CompileError where it cannot be loaded.
void load_plugin(const std::string &name, Here here = Here());

}  // namespace polyhalite
