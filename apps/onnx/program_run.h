// ProgramRun: running a program: memory, the calls in order, results.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/onnx/program.h"

namespace polyhalite::onnx {

/// For one thread, and for inputs of the shapes that the plan is for. The program outlives it.
class ProgramRun {
 public:
  ProgramRun(const Program &p, std::shared_ptr<const RunPlan> plan);

  /// Do all calls follow from the inputs' shapes, so that run() can be asked?
  bool is_planned() const;
  /// Runs with inputs and outputs at these addresses, in the graph's order: row-major elements,
  /// aligned to their type. What is written overlaps nothing else. May be repeated, as a loop does.
  void run(const std::vector<const uint8_t *> &inputs, const std::vector<uint8_t *> &outputs);

  /// The same piece by piece, for results in memory of their own.
  void set_input(size_t i, const Constant &c);
  void step(size_t i);
  Program::Tensors outputs() const;

 private:
  using Bytes = std::shared_ptr<uint8_t>;

  Bytes allocate(int64_t bytes) const { return p_.memory_->get(bytes); }
  std::vector<int64_t> shape_of(ValueId v) const;
  void make_room(ValueId v);
  uint8_t *address(ValueId v) const;
  bool is_made_in_place(size_t output) const;
  void run_on_host(const Step &s);
  Constant with_known_sizes(ValueId v, const Constant &c) const;
  void bind_sizes(const Node &n, ValueId v, const Constant &c);
  void check_assumptions(const std::string &symbol) const;
  void run_kernel(const Step &s, const CallPlan &call);
  void interpret_kernel(const Step &s, const CallPlan &call);

  const Program &p_;
  const Graph &g_;
  const std::shared_ptr<const RunPlan> plan_;
  std::map<std::string, int64_t> sizes_;  // known so far
  Bytes memory_;                          // of the plan's arena
  std::vector<const uint8_t *> operands_;
  std::vector<Bytes> copies_, results_;
  std::map<ValueId, Bytes> own_;  // of values whose sizes no plan knew
  // Of the call that runs.
  std::vector<int32_t> symbols_;
  std::vector<polyhalite_buffer_t> buffers_;
  std::vector<void *> slots_;
};

}  // namespace polyhalite::onnx
