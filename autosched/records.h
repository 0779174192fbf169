// Measured times of schedules, kept in a file: an SQLite database with one table.
//
//   measurement(pipeline, machine, version, schedule, seconds, spread, failure)
//
// `pipeline` is the algorithm's hash and the sizes that it is scheduled for, `machine` target and
// threads, `version` the compiler's. Failures are kept too: they are not tried again.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace polyhalite::autosched {

struct Measurement {
  double seconds = 0;   // the median run
  double spread = 0;    // between the quartiles, as a share of the median
  std::string failure;  // empty, or why there is no time
};

struct RecordKey {
  std::string pipeline, machine, version;
};

struct Record {
  std::string schedule;  // text form 1
  Measurement measured;
};

class Records {
 public:
  /// Opens the file, or makes it. CompileError where it is no such database.
  explicit Records(const std::string &file);
  ~Records();
  Records(const Records &) = delete;
  Records &operator=(const Records &) = delete;

  void add(const RecordKey &key, const Record &record);
  /// Fastest first, failures last.
  std::vector<Record> find(const RecordKey &key) const;

 private:
  struct Database;
  std::unique_ptr<Database> db_;
};

}  // namespace polyhalite::autosched
