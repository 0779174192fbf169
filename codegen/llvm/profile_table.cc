#include "codegen/llvm/profile_table.h"

#include <algorithm>

#include "lang/abi/polyhalite_profiler.h"

namespace polyhalite {

ProfileTable::ProfileTable(const Function &f, const Target &target) {
  if (target.has_feature(Target::ProfileByTimer)) {
    options = POLYHALITE_PROFILE_SAMPLES | POLYHALITE_PROFILE_BY_TIMER;
  } else if (target.has_feature(Target::Profile)) {
    options = POLYHALITE_PROFILE_SAMPLES;
  }
  if (target.has_feature(Target::ProfileCounts)) options |= POLYHALITE_PROFILE_COUNTS;
  if (!options) return;
  entries = {{"overhead"}, {"malloc"}, {"free"}, {"thread idle"}};
  add_productions(f.body);
  std::map<int, int64_t> none;
  add_stack(f.body, none);
}

void ProfileTable::add_productions(const Stmt &s) {
  if (s->kind == StmtKind::Produce && !numbers_.count(s->name)) {
    numbers_[s->name] = static_cast<int>(entries.size());
    entries.push_back({s->name});
  }
  for (const Stmt &b : s->body) add_productions(b);
}

void ProfileTable::add_stack(const Stmt &s, std::map<int, int64_t> &now) {
  int64_t elements = 0;
  const bool in_frame = s->kind == StmtKind::Allocate && s->home == Home::Stack &&
                        is_const_int(s->args[0], &elements);
  const int func = in_frame ? number_of(s->name) : 0;
  const int64_t bytes = elements * s->type.bytes();
  if (in_frame) {
    now[func] += bytes;
    entries[static_cast<size_t>(func)].stack =
        std::max(entries[static_cast<size_t>(func)].stack, now[func]);
  }
  for (const Stmt &b : s->body) add_stack(b, now);
  if (in_frame) now[func] -= bytes;
}

int ProfileTable::number_of(std::string name) const {
  while (true) {
    const auto at = numbers_.find(name);
    if (at != numbers_.end()) return at->second;
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos) return POLYHALITE_PROFILE_OVERHEAD;
    name.resize(dot);
  }
}

}  // namespace polyhalite
