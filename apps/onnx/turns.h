// Turns: a region that runs again and again, as the bodies of Loop and Scan do.
#pragma once

#include <memory>
#include <vector>

#include "apps/onnx/program_run.h"
#include "apps/onnx/region_program.h"

namespace polyhalite::onnx {

/// Where shapes stay and the body is kernels only, its calls are planned once, and each turn takes
/// and gives addresses.
class Turns {
 public:
  struct Operand {
    enum Kind {
      Fixed,  // the same memory in each turn
      State,  // what it is in front of the first turn
      Row,    // of all turns, outermost
    } kind = Fixed;
    Constant elements;
    bool backwards = false;  // rows from the last one on
    bool is_read = true;     // a state that no turn reads may come out with another shape
  };

  /// The body's results are as many `seen` values, its states, and what is collected.
  Turns(const RegionProgram &body, std::vector<Operand> operands, size_t seen);

  /// The next turn. RuntimeError where what is collected changes its shape.
  void run();
  /// Of the last turn.
  const Constant &seen(size_t k) const { return seen_[k]; }
  std::vector<Constant> states() const;
  /// Takes result k behind the states, of `turns` turns, outermost: zeros of those that did not
  /// run. Undefined where none ran.
  Constant take_collected(size_t k, int64_t turns, bool backwards);

 private:
  using Bytes = std::shared_ptr<uint8_t>;
  struct Result {
    ElementType type;
    std::vector<int64_t> shape;
    size_t bytes;
  };
  // What is collected of one result.
  struct Collection {
    ElementType type;
    std::vector<int64_t> shape;  // of a turn's
    std::vector<uint8_t> bytes;
  };

  size_t states_end() const { return seen_.size() + states_.size(); }
  int64_t row_of_turn(const Operand &o) const;
  std::vector<Constant> operands_of_turn() const;
  const uint8_t *address(size_t operand) const;
  void plan();
  void run_planned();
  void run_by_names();

  const RegionProgram &body_;
  std::vector<Operand> operands_;
  std::vector<size_t> states_;   // positions among the operands
  std::vector<Constant> after_;  // states behind the last turn, which was run by names
  std::vector<Constant> seen_;
  std::vector<Collection> collected_;
  int64_t turn_ = 0;
  // Of planned runs.
  std::shared_ptr<const Program> program_;
  std::unique_ptr<ProgramRun> run_;
  std::shared_ptr<MemoryPool> pool_ = std::make_shared<MemoryPool>();
  std::vector<size_t> sources_;  // which operand is an input of the program
  std::vector<Result> results_;
  std::vector<Bytes> seen_memory_, state_memory_[2];  // of states: even turns', odd ones'
  std::vector<const uint8_t *> inputs_;
  std::vector<uint8_t *> outputs_;
};

}  // namespace polyhalite::onnx
