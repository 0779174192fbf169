// Whether the events of a traced call make sense: parents, begins and ends, places, values.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "polyhalite/jit_context.h"

namespace polyhalite::test {

/// Given to a call as its context; `problem` is then what does not make sense first, or "".
class TraceCheck : public JITUserContext {
 public:
  /// The sizes of each Func's ring along its dimensions, 0: none.
  using Rings = std::map<std::string, std::vector<int64_t>>;

  explicit TraceCheck(Rings rings);
  /// After the call.
  std::string problem() const;
  int events() const { return last_; }

 private:
  struct Begun {
    polyhalite_trace_event_code_t event;
    std::string func;
    int parent = 0;
    bool is_open = true;
    std::vector<int32_t> box;
  };
  using Cell = std::vector<int32_t>;  // value index, then coordinates

  static int32_t handle(JITUserContext *context, const polyhalite_trace_event_t *event);
  void check(const polyhalite_trace_event_t &e);
  void check_access(const polyhalite_trace_event_t &e);
  void fail(const polyhalite_trace_event_t &e, const std::string &what);
  /// Where a cell lies: in the place of another one where a ring is full.
  Cell place_of(const std::string &func, const Cell &cell) const;
  /// The realization that an event with this parent belongs to; 0 where none is traced.
  int realization_of(int parent) const;

  std::mutex lock_;
  int last_ = 0;
  std::map<int, Begun> begun_;
  const Rings rings_;
  std::map<int, std::map<Cell, std::string>> stored_;  // [realization] bytes by cell
  std::map<int, std::map<Cell, Cell>> held_;           // [realization] the cell in each place
  std::string problem_;
};

}  // namespace polyhalite::test
