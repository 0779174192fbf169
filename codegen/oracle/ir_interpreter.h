// IrInterpreter: runs statements of loop IR, each access checked. interpret_ir.cc has control flow,
// interpret_expr.cc values, interpret_accesses.cc allocations, loads and stores,
// interpret_kernel.cc what runs on a device, interpret_copies.cc what its instructions do with
// memory of the block.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/oracle/interpret_ir.h"
#include "codegen/oracle/memory.h"
#include "codegen/oracle/race_check.h"
#include "codegen/oracle/turns.h"
#include "codegen/oracle/value.h"
#include "polyhalite/error.h"

namespace polyhalite {

/// A read of what nobody wrote.
class UnwrittenRead : public InternalError {
 public:
  using InternalError::InternalError;
};

/// Is an instruction of a warp in s?
bool has_collective(const Stmt &s);

class IrInterpreter {
 public:
  IrInterpreter(const Function &f, const IrArguments &args, const InterpretOptions &options);
  void run(const Stmt &s);

  /// Buffers of the caller get what the device wrote.
  void finish(const Function &f);

 private:
  using Memo = std::unordered_map<const ExprNode *, LaneValues>;
  struct Semaphore {
    int64_t count = 0;
    bool take() { return count > 0 && count-- > 0; }
  };
  /// What a statement stores to. What is made of nothing is nothing, which nobody else may read:
  ///   f[i] = select(c, e, f[i]), f[i] = f[i] + 1
  struct Target {
    const std::string &buffer;
    std::vector<int64_t> elements;
    int nothing = 0;    // what elements without content are read as
    bool read = false;  // was there such an element?
  };

  struct Stored {
    LaneValues value;
    std::vector<bool> keeps;  // lanes that leave nothing as it is; none where empty
  };
  // The bytes and marks of an element, on the side that runs.
  struct Cell {
    uint8_t *data;
    std::vector<bool> *written;
    AccessRecord *accesses;
  };

  // interpret_ir.cc: control flow
  void add_buffer(const FunctionArgument &a, const IrArguments &args);
  void add_scalar(const FunctionArgument &a, const IrArguments &args);
  void bind(const std::string &name, int64_t value);
  void run_bound(const std::string &name, LaneValues value, const Stmt &body);
  // A value that reads what nobody wrote is looked at again where it is used: a store to the cell
  // itself may keep it.
  void run_let(const Stmt &s);
  void run_for(const Stmt &s);
  // The producer runs on a thread of its own, as a copy that shares all memory.
  void run_fork(const Stmt &s);
  // Lets the other task of a fork run to its end.
  void abandon(const Stmt &s, int other);

  // interpret_kernel.cc
  // Blocks one after the other, and in each, every phase thread by thread.
  void run_kernel(const Stmt &s);
  // An iteration of a loop of a kernel.
  void run_in_kernel(const Stmt &s, int64_t i);
  // A loop over lanes with instructions of the warp: each statement for all lanes before the next.
  void run_warp(const Stmt &loop);
  void run_lanes(const Stmt &s);
  template <typename Body>
  void in_lane(int64_t lane, Body body) {
    thread_[0] = lane;
    races_.run_thread(thread_);
    for (const auto &[name, value] : lanes_[lane]) environment_[name] = value;
    body();
    for (const auto &[name, value] : lanes_[lane]) environment_.erase(name);
    thread_[0] = 0;
  }
  // What all lanes must agree on.
  int64_t uniform(const Expr &e);
  void run_collective(const Stmt &s);
  void run_transfer(const Stmt &s);

  // interpret_copies.cc
  // Of v to an element of memory of the block.
  void start_copy(const std::string &name, Memory &m, int64_t at, Lane v);
  // Are there copies to the element on their way, and do all bring this value?
  bool is_on_its_way(const Memory &m, int64_t at, Lane v) const;
  void commit_copies();
  void wait_copies(size_t on_their_way);
  void load_matrices(const Stmt &s);

  // interpret_accesses.cc: allocations, loads and stores
  void run_allocate(const Stmt &s);
  void run_place(const Stmt &s);
  // What a block shares is one memory, however often it is allocated; what it holds is arbitrary.
  Memory of_block(const Stmt &s);
  Memory fresh(const Stmt &s);
  // Dimensions from pairs of min and extent; the number of elements.
  int64_t take_box(const Stmt &s, Memory &m);
  Memory &memory(const std::string &name, int value_index = 0);
  void run_provide(const Stmt &s);
  void run_store(const Stmt &s);
  // Two contents of cells that have none tell what becomes of them: a lane that differs is made of
  // nothing.
  bool has_content(Memory &m, const std::string &name, int64_t at);
  Stored value_for(const Expr &e, const std::string &buffer, Memory &m,
                   std::vector<int64_t> elements);
  Cell cell(const std::string &name, Memory &m, int64_t at, bool writes);
  void write(const std::string &name, Memory &m, int64_t at, Lane v);
  Lane read(const std::string &name, Memory &m, int64_t at);

  // interpret_expr.cc: values
  LaneValues evaluate(const Expr &e);
  int64_t scalar(const Expr &e);
  LaneValues evaluate(const Expr &e, Memo &memo);
  LaneValues compute(const Expr &e, Memo &memo);
  LaneValues read_call(const CallNode &call, Memo &memo);
  LaneValues load(const LoadNode &node, Memo &memo);
  // Of scalars: where one side decides, the other may be arbitrary.
  LaneValues logical(const Expr &e, Memo &memo);
  LaneValues logical_lanes(const Expr &e, Memo &memo);
  LaneValues selected_lanes(const Expr &e, const LaneValues &condition, Memo &memo);
  LaneValues lane_by_lane(const Expr &e, Memo &memo);
  LaneValues required(const CallNode &call, Memo &memo);
  // Sum after sum: written out, a large product would be thousands of nodes.
  LaneValues sum_matrix_products(const CallNode &call, Memo &memo);
  static Lane one_lane(const Expr &e, const std::vector<Lane> &args);
  // What an entry check asks of a buffer argument. Here they are all as they should be.
  LaneValues fact(const CallNode &call);
  // "polyhalite_error_x("blur", 3, -1)"
  std::string describe_call(const Expr &e);

  const InterpretOptions &options_;
  std::mt19937_64 random_;
  std::vector<Expr> kept_;
  std::map<std::string, LaneValues> environment_;
  std::map<std::string, Expr> deferred_;  // names whose values nobody could say yet
  Target *target_ = nullptr;              // of the store whose value is evaluated
  std::map<std::string, Memory> memory_;
  int unused_ = 0;              // sides of selects around that are not taken
  std::optional<int> nothing_;  // what all elements without content are read as
  std::map<std::string, std::shared_ptr<Semaphore>> semaphores_;
  std::shared_ptr<Turns> turns_;
  int task_ = 0;
  // In kernels:
  bool in_kernel_ = false;
  int atomic_ = 0;                                        // atomic blocks around
  std::array<int64_t, 3> threads_{}, thread_{};           // x, y, z: how many, and which one runs
  std::string block_;                                     // which one runs, "(1, 0"
  std::vector<std::map<std::string, LaneValues>> lanes_;  // what each lane of a warp has bound
  RaceCheck races_;
  struct OfThreads {
    Stmt allocation;
    std::map<int64_t, Memory> of_threads;
  };
  std::map<std::string, Memory> of_block_;  // that the block has shared so far
  struct Copy {
    Memory memory;
    int64_t at;
    Lane value;
    std::array<int64_t, 3> thread;
  };
  std::vector<Copy> started_;             // in no group yet
  std::deque<std::vector<Copy>> groups_;  // on their way
  std::map<std::string, OfThreads> own_;  // allocated at block level, for each thread
};

}  // namespace polyhalite
