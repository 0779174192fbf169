// thread_accesses: what the threads of a kernel read and write, and whether two of them meet. The
// question behind barriers and behind elements that threads keep in registers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/solver.h"

namespace polyhalite {

/// One access of a kernel's body at the multi-dimensional level.
struct ThreadAccess {
  std::string func;  // or image; of all its values
  std::vector<Expr> cell;
  bool writes = false, atomic = false;
  bool is_async = false;       // a copy that is made later
  Expr copied;                 // and what it copies
  bool by_all = false;         // at block level: every thread of the block
  bool by_warp = false;        // a read of an instruction, which lanes may make for each other
  std::vector<Stmt> around;    // For, Let and If in the loops over blocks, outermost first
  std::vector<bool> branches;  // of each If: is it the then part?
};

/// The accesses of `s`, which stands inside of `around` in a kernel; equal ones once.
std::vector<ThreadAccess> thread_accesses(const Stmt &s, const std::vector<Stmt> &around,
                                          const std::vector<bool> &branches);

/// Two threads of a block that access one element, or may.
struct ThreadConflict {
  std::vector<int64_t> first, second;  // the threads: x, y, z
  std::vector<int64_t> cell;
  bool certain = false;
  /// "threads (1, 0, 0) and (2, 0, 0) both access t(3, 0)"
  std::string text(const std::string &func) const;
};

/// Of loops around two accesses, how many iterations the second is behind the first: 0, or 1 for
/// one or more. Of others nothing is known.
using Distances = std::map<std::string, int>;

/// Where a kernel allocates: allocations in a loop take the same memory in each iteration, whatever
/// its cells are called there.
class KernelMemory {
 public:
  explicit KernelMemory(const Stmt &kernel);
  /// Has each thread elements of its own?
  bool is_private(const std::string &func) const { return private_.count(func) > 0; }
  /// The distances that tell apart cells of func: those of loops inside of its allocation.
  Distances telling(const std::string &func, const Distances &distances) const;

 private:
  void visit(const Stmt &s, std::set<std::string> &loops);
  std::set<std::string> private_;
  std::map<std::string, std::set<std::string>> loops_;  // [func] around its allocation
};

/// Different threads of one block, at iterations of loops inside of the blocks that are so far
/// apart. Copies from one place are none: they bring one value. nullopt: proven that there are
/// none.
std::optional<ThreadConflict> find_thread_conflict(Solver &solver, const Stmt &kernel,
                                                   const ThreadAccess &a, const ThreadAccess &b,
                                                   const Distances &distances = {});

/// Groups of copies are counted from 0. Is there a copy, of group `group`, that stands in front of
/// `later` in the order of the block, of its element, while `later` may only know that the first
/// `visible` groups have arrived? `copy_first`: in one iteration of all common loops the copy
/// comes first. nullopt: proven that there is none, for any threads.
std::optional<ThreadConflict> find_early_access(Solver &solver, const Stmt &kernel,
                                                const ThreadAccess &copy, const Expr &group,
                                                const ThreadAccess &later, const Expr &visible,
                                                bool copy_first);

/// Must a thread that makes b wait for others that made a?
bool depend(const ThreadAccess &a, const ThreadAccess &b);

}  // namespace polyhalite
