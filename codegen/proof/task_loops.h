// task_loops: the loops of a fork's two tasks that run in step: each iteration of the one that
// consumes waits for the same iteration of the one that produces.
//
//   fork f { for y { acquire room  f's cells  release ready } }
//      and { for y { acquire ready  uses of f  release room } }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"

namespace polyhalite {

struct TaskLoops {
  std::vector<Stmt> produces, consumes;  // outermost first, as many of both
  std::string ready, room;       // semaphores; room: empty where nothing limits the producer
  std::optional<int64_t> ahead;  // how many iterations the producer may be in front, if known
};

/// nullopt where the tasks do not wait for each other in this form: `why` says what is in the way.
std::optional<TaskLoops> task_loops(const Stmt &fork, std::string &why);

}  // namespace polyhalite
