#include "autosched/options.h"

#include <cstdlib>
#include <vector>

#include "polyhalite/error.h"

namespace polyhalite::autosched {

namespace {

[[noreturn]] void bad_value(const std::string &name, const std::string &value,
                            const std::string &wanted, const std::string &example) {
  user_error("auto-scheduler option " + name + "=" + value, "it takes " + wanted,
             "write, say, " + name + "=" + example);
}

int64_t number(const std::string &name, const std::string &value, int64_t least, int64_t most,
               const std::string &example) {
  char *end = nullptr;
  const long long n = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end || n < least || n > most) {
    bad_value(name, value,
              "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
              example);
  }
  return n;
}

}  // namespace

double parse_duration(const std::string &text) {
  char *end = nullptr;
  const double n = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(n >= 0) || n > 1e9) return -1;
  const std::string unit = end;
  if (unit.empty() || unit == "s") return n;
  if (unit == "ms") return n / 1000;
  if (unit == "min") return n * 60;
  return -1;
}

Options parse_options(const std::map<std::string, std::string> &words, bool halides) {
  Options o;
  // Halide's programs that may run on a GPU say how many blocks keep it busy: no number of threads.
  const auto gpu = words.find("experimental_gpu_schedule");
  const bool for_gpu = halides && gpu != words.end() && gpu->second != "0";
  for (const auto &[name, value] : words) {
    const auto duration = [&, n = name, v = value](const std::string &example) {
      const double seconds = parse_duration(v);
      if (seconds < 0) bad_value(n, v, "a time in s, ms or min", example);
      return seconds;
    };
    if (name == "parallelism" && for_gpu) {
      continue;
    } else if (name == "parallelism") {
      o.parallelism = static_cast<int>(number(name, value, 1, 4096, "4"));
    } else if (name == "budget") {
      o.budget = duration("10s");
    } else if (name == "beam" || (halides && name == "beam_size")) {
      o.beam = static_cast<int>(number(name, value, 1, 4096, "16"));
    } else if (name == "seed") {
      o.seed = static_cast<uint64_t>(number(name, value, 0, INT64_MAX, "1"));
    } else if (name == "measure") {
      o.measure = static_cast<int>(number(name, value, 0, 64, "4"));
    } else if (name == "measure_limit") {
      o.measure_limit = duration("120s");
    } else if (name == "records") {
      o.records = value;
    } else if (name == "report") {
      o.report = value;
    } else if (!halides) {
      user_error("the auto-scheduler has no option '" + name + "'",
                 "its options are: parallelism, budget, beam, seed, measure, "
                 "measure_limit, records, report",
                 "use one of these");
    }
  }
  return o;
}

}  // namespace polyhalite::autosched
