// An integer expression as a short program over numbered slots: what the search evaluates thousands
// of times, where walking expressions would cost too much.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite::autosched {

class NumberProgram {
 public:
  /// nullopt where `e` is more than arithmetic over constants and variables that have a slot.
  static std::optional<NumberProgram> compile(const Expr &e,
                                              const std::map<std::string, int> &slots);
  /// Division and remainder round to the floor and give 0 for a divisor of 0, as in the language.
  int64_t operator()(const std::vector<int64_t> &slots) const;

 private:
  struct Step {
    enum Kind : uint8_t { Constant, Slot, Binary, Select, Not } kind;
    Op op;
    int64_t value;
  };
  bool add(const Expr &e, const std::map<std::string, int> &slots);

  std::vector<Step> steps_;
};

}  // namespace polyhalite::autosched
