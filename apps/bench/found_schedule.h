// An application whose schedule one of the two auto-schedulers finds, compiled and loaded here.
#pragma once

#include <string>
#include <vector>

#include "apps/common/app_case.h"

namespace polyhalite_apps {

struct SearchOptions {
  std::string generators;          // the folder of the generators' programs
  std::string folder;              // for what they write
  std::vector<std::string> words;  // more for our generators: "autoscheduler.beam=32"
  int threads = 2;                 // that the schedule is for, and that run it
  int beam = 0;                    // of Adams2019's search; 0: all that it does in a minute
};

class FoundSchedule {
 public:
  /// Runs the generator, with our auto-scheduler or with Halide 14's Adams2019, and loads what it
  /// makes. Throws std::runtime_error where one of these steps fails.
  FoundSchedule(const SearchOptions &options, const std::string &app, bool ours);

  void operator()(AppCase &app) const;
  /// Runs it once in a process of its own: does that end well? To be asked before any other run.
  bool survives(AppCase &app) const;
  /// The inputs as large as this schedule reads them: pixels beyond the given ones are 0.
  void make_room(AppCase *app) const;

  double generator_seconds = 0;      // search and code, on the clock
  double generator_cpu_seconds = 0;  // of the processor
  std::string schedule;              // the directives as the generator wrote them

 private:
  void *find(const std::string &name) const;

  void *handle_ = nullptr;
  int (*entry_)(void **) = nullptr;
};

}  // namespace polyhalite_apps
