// What a profiled function bills its time and memory to: a number for each Func.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct ProfileTable {
  struct Entry {
    std::string name;
    int64_t stack = 0;  // bytes in a frame at once
  };

  /// Entries of the runtime's own, then the Funcs that f produces, in the order of their first
  /// productions.
  ProfileTable(const Function &f, const Target &target);

  /// POLYHALITE_PROFILE_SAMPLES...; 0 where the target does not ask for a profile.
  int options = 0;
  std::vector<Entry> entries;

  /// Of a Func, or of the Func whose buffer this is: "f", "f.0", "f.memory".
  int number_of(std::string name) const;

 private:
  void add_productions(const Stmt &s);
  void add_stack(const Stmt &s, std::map<int, int64_t> &now);
  std::map<std::string, int> numbers_;
};

}  // namespace polyhalite
