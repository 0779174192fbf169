#include "apps/onnx/turns.h"

#include <algorithm>

#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

// Elements that kernels can read where they are.
Constant readable(const Constant &c) {
  if (!c.is_splat() && c.is_aligned()) return c;
  return Constant::of_bytes(c.type(), c.shape(), c.packed());
}

}  // namespace

Turns::Turns(const RegionProgram &body, std::vector<Operand> operands, size_t seen)
    : body_(body), operands_(std::move(operands)), seen_(seen) {
  for (size_t k = 0; k < operands_.size(); k++) {
    operands_[k].elements = readable(operands_[k].elements);
    if (operands_[k].kind == Operand::State) states_.push_back(k);
  }
}

void Turns::run() {
  if (turn_ == 0) plan();
  run_ ? run_planned() : run_by_names();
  turn_++;
}

int64_t Turns::row_of_turn(const Operand &o) const {
  return o.backwards ? o.elements.shape()[0] - 1 - turn_ : turn_;
}

std::vector<Constant> Turns::operands_of_turn() const {
  std::vector<Constant> list;
  for (const Operand &o : operands_) {
    list.push_back(o.kind == Operand::Row ? row(o.elements, row_of_turn(o)) : o.elements);
  }
  return list;
}

void Turns::plan() {
  const std::vector<Constant> operands = operands_of_turn();
  program_ = body_.program_by_shapes(operands);
  if (!program_) return;
  const std::shared_ptr<const RunPlan> plan = program_->plan_for(body_.named(operands));
  auto run = std::make_unique<ProgramRun>(*program_, plan);
  if (!run->is_planned()) return;
  const Graph &g = program_->graph();
  for (ValueId v : g.outputs) {
    const std::vector<int64_t> &shape = *plan->shapes[static_cast<size_t>(v)];
    const ElementType type = g.value(v).type;
    results_.push_back({type, shape, Constant(type, shape, nullptr, nullptr).bytes()});
  }
  for (size_t k = 0; k < states_.size(); k++) {
    const Result &after = results_[seen_.size() + k];
    const Constant &before = operands_[states_[k]].elements;
    if (!operands_[states_[k]].is_read) continue;
    if (after.type != before.type() || after.shape != before.shape()) return;
  }
  for (ValueId v : g.inputs) sources_.push_back(body_.position(g.value(v).name));
  outputs_.resize(results_.size());
  for (size_t k = 0; k < states_end(); k++) {
    const Result &r = results_[k];
    const auto bytes = static_cast<int64_t>(r.bytes);
    if (k < seen_.size()) {
      seen_memory_.push_back(pool_->get(bytes));
      seen_[k] = Constant(r.type, r.shape, seen_memory_[k], seen_memory_[k].get());
    } else {
      for (std::vector<Bytes> &memory : state_memory_) memory.push_back(pool_->get(bytes));
    }
  }
  for (size_t k = states_end(); k < results_.size(); k++)
    collected_.push_back({results_[k].type, results_[k].shape, {}});
  run_ = std::move(run);
}

const uint8_t *Turns::address(size_t operand) const {
  const Operand &o = operands_[operand];
  if (o.kind != Operand::Row) return o.elements.data();
  const auto bytes = static_cast<int64_t>(o.elements.bytes()) / o.elements.shape()[0];
  return o.elements.data() + row_of_turn(o) * bytes;
}

void Turns::run_planned() {
  inputs_.clear();
  for (size_t operand : sources_) inputs_.push_back(address(operand));
  for (size_t k = 0; k < states_.size(); k++) {
    // The state before this turn's stays until the body has read it.
    std::vector<Bytes> &memory = state_memory_[turn_ % 2];
    outputs_[seen_.size() + k] = memory[k].get();
    if (turn_ > 0) {
      for (size_t i = 0; i < sources_.size(); i++) {
        if (sources_[i] == states_[k] && operands_[states_[k]].is_read)
          inputs_[i] = state_memory_[(turn_ + 1) % 2][k].get();
      }
    }
  }
  for (size_t k = 0; k < seen_.size(); k++) outputs_[k] = seen_memory_[k].get();
  for (size_t k = 0; k < collected_.size(); k++) {
    std::vector<uint8_t> &all = collected_[k].bytes;
    const size_t begin = all.size();
    all.resize(begin + results_[states_end() + k].bytes);
    outputs_[states_end() + k] = all.data() + begin;
  }
  run_->run(inputs_, outputs_);
}

void Turns::run_by_names() {
  const std::vector<Constant> out = body_.run(operands_of_turn());
  std::copy_n(out.begin(), seen_.size(), seen_.begin());
  after_.clear();
  for (size_t k = 0; k < states_.size(); k++) {
    Operand &o = operands_[states_[k]];
    const Constant &given = out[seen_.size() + k];
    after_.push_back(readable(o.is_read ? of_rank(given, o.elements.shape().size()) : given));
    if (o.is_read) o.elements = after_.back();
  }
  for (size_t k = states_end(); k < out.size(); k++) {
    const Constant &c = out[k];
    if (turn_ == 0) collected_.push_back({c.type(), c.shape(), {}});
    Collection &all = collected_[k - states_end()];
    if (c.type() != all.type || c.shape() != all.shape) {
      throw RuntimeError({"a result has the shape " + shape_text(all.shape) + " in one turn and " +
                              shape_text(c.shape()) + " in a later one",
                          "the results of all turns are put into one tensor",
                          "mend the model's loop",
                          {}});
    }
    const std::vector<uint8_t> bytes = c.packed();
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
  }
}

std::vector<Constant> Turns::states() const {
  std::vector<Constant> list;
  for (size_t k = 0; k < states_.size(); k++) {
    if (turn_ == 0) {
      list.push_back(operands_[states_[k]].elements);
    } else if (run_) {
      const Result &r = results_[seen_.size() + k];
      const Bytes &memory = state_memory_[(turn_ - 1) % 2][k];
      list.emplace_back(r.type, r.shape, memory, memory.get());
    } else {
      list.push_back(after_[k]);
    }
  }
  return list;
}

Constant Turns::take_collected(size_t k, int64_t turns, bool backwards) {
  if (turn_ == 0) return {};
  Collection &all = collected_.at(k);
  std::vector<uint8_t> bytes = std::move(all.bytes);
  const size_t size = bytes.size() / static_cast<size_t>(turn_);
  bytes.resize(size * static_cast<size_t>(turns));
  if (backwards) {
    uint8_t *first = bytes.data(), *last = first + bytes.size();
    for (int64_t i = 0; i < turns / 2; i++, first += size) {
      last -= size;
      std::swap_ranges(first, first + size, last);
    }
  }
  std::vector<int64_t> shape = all.shape;
  shape.insert(shape.begin(), turns);
  return Constant::of_bytes(all.type, shape, std::move(bytes));
}

}  // namespace polyhalite::onnx
