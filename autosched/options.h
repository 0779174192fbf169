// What callers may wish of the auto-scheduler, read from words as generators get them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace polyhalite::autosched {

struct Options {
  int parallelism = 0;         // threads that will run the pipeline; 0: the machine's
  double budget = 10;          // seconds that the search may take
  int beam = 16;               // partial schedules that are kept
  uint64_t seed = 0;           // of the random trials
  int measure = 0;             // how many of the best are timed
  double measure_limit = 120;  // seconds that compiling and timing one of them may take
  std::string records;         // the file of measured times; empty: none
  std::string report;          // a file for the report; empty: none
};

/// Unknown words of Halide's own schedulers are left out where `halides`, and with them those that
/// describe a GPU: schedules are for the threads of CPUs. Else an unknown word, or
/// a value that is no number in range, is a CompileError that lists what there is.
Options parse_options(const std::map<std::string, std::string> &words, bool halides);

/// "10s", "500ms", "2min" or a plain number of seconds; negative where it is none of these.
double parse_duration(const std::string &text);

}  // namespace polyhalite::autosched
