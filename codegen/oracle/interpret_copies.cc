// Memory of the block, by instructions: asynchronous copies, and loads of matrices.
//
// A copy takes its value where it is made, and brings it where its group is waited for; until then
// nobody may touch the element, but copies that bring the same.
#include "codegen/ir/instructions.h"
#include "codegen/ir/kernel.h"
#include "codegen/oracle/ir_interpreter.h"

namespace polyhalite {

void IrInterpreter::start_copy(const std::string &name, Memory &m, int64_t at, Lane v) {
  const Cell c = cell(name, m, at, true);
  if (!c.accesses || !c.written) oracle_error("a copy to '" + name + "', which no block shares");
  races_.on_copy(*c.accesses, name, at, is_on_its_way(m, at, v));
  (*c.written)[static_cast<size_t>(at - m.first)] = false;
  started_.push_back({m, at, v, thread_});
}

bool IrInterpreter::is_on_its_way(const Memory &m, int64_t at, Lane v) const {
  const auto size = static_cast<size_t>(m.type.bytes());
  std::vector<uint8_t> wanted(size), brought(size);
  write_element(m.type, v, wanted.data());
  bool found = false, same = true;
  auto look = [&](const std::vector<Copy> &copies) {
    for (const Copy &c : copies) {
      if (c.memory.data != m.data || c.at != at) continue;
      found = true;
      write_element(m.type, c.value, brought.data());
      same = same && wanted == brought;
    }
  };
  look(started_);
  for (const auto &group : groups_) look(group);
  return found && same;
}

void IrInterpreter::commit_copies() {
  groups_.push_back(std::move(started_));
  started_.clear();
}

void IrInterpreter::wait_copies(size_t on_their_way) {
  for (; groups_.size() > on_their_way; groups_.pop_front()) {
    for (Copy &copy : groups_.front()) {
      races_.run_thread(copy.thread);
      const auto i = static_cast<size_t>(copy.at - copy.memory.first);
      write_element(copy.memory.type, copy.value,
                    copy.memory.data + copy.at * copy.memory.type.bytes());
      races_.on_arrival((*copy.memory.accesses)[i]);
      (*copy.memory.written)[i] = true;
    }
  }
  races_.run_all();
}

void IrInterpreter::load_matrices(const Stmt &s) {
  constexpr int kRow = 8;
  const Fragment &to = find_instruction(s->name)->operands[0].fragment;
  const int rows = to.per_lane / 2 * kRow;
  std::vector<std::array<Lane, kRow>> loaded(static_cast<size_t>(rows));
  for (int64_t l = 0; l < rows; l++) {
    in_lane(l, [&] {
      Memory &m = memory(s->buffers[1]);
      const int64_t first = scalar(s->args[1]);
      if (m.type.bits() != 16) oracle_error("'" + s->buffers[1] + "' has no elements of 16 bits");
      if (first % kRow != 0) {
        oracle_error("a row of '" + s->name + "' begins at element " + std::to_string(first) +
                     " of '" + s->buffers[1] + "', at no multiple of 16 bytes");
      }
      for (int i = 0; i < kRow; i++) {
        loaded[static_cast<size_t>(l)][static_cast<size_t>(i)] = read(s->buffers[1], m, first + i);
      }
    });
  }
  for (int64_t l = 0; l < kWarpLanes; l++) {
    in_lane(l, [&] {
      Memory &m = memory(s->buffers[0]);
      const int64_t first = scalar(s->args[0]);
      for (int e = 0; e < to.per_lane; e++) {
        const MatrixPlace p = to.at(static_cast<int>(l), e % 2);
        const auto row = static_cast<size_t>(e / 2 * kRow + p.row);
        write(s->buffers[0], m, first + e, loaded[row][static_cast<size_t>(p.column)]);
      }
    });
  }
}

}  // namespace polyhalite
