// A figure of the benchmark: our time beside a peer's. Tables, JSON and comparisons are made of
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace polyhalite_apps {

struct PeerTime {
  std::string name;
  double seconds = 0;
};

/// One program on one shape with some number of threads, and all peers in the same run.
struct Row {
  std::string name, shape, type;
  int threads = 1;
  double ours = 0;              // seconds
  std::vector<PeerTime> peers;  // empty where none is installed
  double rate = 0;              // work per second, in `unit`; 0: none is counted
  std::string unit;
  // Of what this run measured: multiply-adds, or a copy of as many bytes; 0 where there is no peak.
  double percent_of_peak = 0;
  int repeated = 0;     // rounds that two cores did not carry
  std::string failure;  // empty, or why there are no times

  /// The best peer's time over ours; 0 without peers.
  double ratio() const;
};

/// An array of objects, one for each peer of each row (one without a peer for a row that has none):
/// name, shape, type, threads, ours_ms, peer, peer_ms, ratio (peer over ours), percent_of_peak,
/// rate, unit, repeated_rounds; name, threads and failure where there is a failure.
nlohmann::json to_json(const std::vector<Row> &rows);

/// As lines for people: a heading, the rows, and for each number of threads the geometric mean of
/// the ratios and the lowest one.
std::string table_of(const std::vector<Row> &rows);

/// What changed between two files that to_json() made: our times, ratios and percents of peak, of
/// the rows that both have. Throws std::runtime_error where a file is none of these.
std::string compare_files(const std::string &before, const std::string &after);

}  // namespace polyhalite_apps
