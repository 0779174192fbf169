#include "autosched/records.h"

#include <sqlite3.h>

#include "polyhalite/error.h"

namespace polyhalite::autosched {

struct Records::Database {
  sqlite3 *handle = nullptr;
  std::string file;

  Database() = default;
  Database(const Database &) = delete;
  ~Database() { sqlite3_close(handle); }

  [[noreturn]] void fail(const std::string &what) const {
    user_error("cannot " + what + " the measured times in '" + file + "'",
               handle ? sqlite3_errmsg(handle) : "there is no memory",
               "name a file that can be written and is no other database, or none");
  }
  void run(const char *sql) const {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("read");
  }
};

namespace {

class Statement {
 public:
  Statement(sqlite3 *db, const char *sql) {
    ok_ = sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  bool ok() const { return ok_; }
  void bind(int i, const std::string &text) {
    ok_ = ok_ && sqlite3_bind_text(statement_, i, text.data(), static_cast<int>(text.size()),
                                   SQLITE_TRANSIENT) == SQLITE_OK;
  }
  void bind(int i, double number) {
    ok_ = ok_ && sqlite3_bind_double(statement_, i, number) == SQLITE_OK;
  }
  bool next() { return ok_ && sqlite3_step(statement_) == SQLITE_ROW; }
  bool run() { return ok_ && sqlite3_step(statement_) == SQLITE_DONE; }
  std::string text(int column) const {
    return reinterpret_cast<const char *>(sqlite3_column_text(statement_, column));
  }
  double number(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3_stmt *statement_ = nullptr;
  bool ok_ = false;
};

}  // namespace

Records::Records(const std::string &file) : db_(std::make_unique<Database>()) {
  db_->file = file;
  if (sqlite3_open(file.c_str(), &db_->handle) != SQLITE_OK) db_->fail("open");
  // Several schedulers may write at a time.
  sqlite3_busy_timeout(db_->handle, 10'000);
  db_->run(
      "create table if not exists measurement (pipeline text not null, machine text not null, "
      "version text not null, schedule text not null, seconds real not null, spread real not "
      "null, failure text not null, primary key (pipeline, machine, version, schedule))");
}

Records::~Records() = default;

void Records::add(const RecordKey &key, const Record &r) {
  Statement s(db_->handle, "insert or replace into measurement values (?, ?, ?, ?, ?, ?, ?)");
  s.bind(1, key.pipeline);
  s.bind(2, key.machine);
  s.bind(3, key.version);
  s.bind(4, r.schedule);
  s.bind(5, r.measured.seconds);
  s.bind(6, r.measured.spread);
  s.bind(7, r.measured.failure);
  if (!s.run()) db_->fail("write");
}

std::vector<Record> Records::find(const RecordKey &key) const {
  Statement s(db_->handle,
              "select schedule, seconds, spread, failure from measurement where pipeline = ? and "
              "machine = ? and version = ? order by failure != '', seconds, schedule");
  s.bind(1, key.pipeline);
  s.bind(2, key.machine);
  s.bind(3, key.version);
  if (!s.ok()) db_->fail("read");
  std::vector<Record> list;
  while (s.next()) list.push_back({s.text(0), {s.number(1), s.number(2), s.text(3)}});
  return list;
}

}  // namespace polyhalite::autosched
