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
  TraceCheck();
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
  /// The realization that an event with this parent belongs to; 0 where none is traced.
  int realization_of(int parent) const;

  std::mutex lock_;
  int last_ = 0;
  std::map<int, Begun> begun_;
  std::map<int, std::map<Cell, std::string>> stored_;  // [realization] bytes by cell
  std::string problem_;
};

}  // namespace polyhalite::test
