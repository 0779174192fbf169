#include "codegen/oracle/ir_interpreter.h"

#include <algorithm>

namespace polyhalite {

namespace {

Lane number(Type t, int n) {
  return t.is_float() ? Lane{.f = static_cast<double>(n)} : Lane{.i = n};
}

}  // namespace

IrInterpreter::Cell IrInterpreter::cell(const std::string &name, Memory &m, int64_t at,
                                        bool writes) {
  const auto i = static_cast<size_t>(at - m.first);
  if (in_kernel_ && !m.accesses) {
    m.accesses = std::make_shared<AccessRecords>(m.last - m.first + 1);
  }
  if (!in_kernel_) {
    if (m.device_only) oracle_error("the host accesses '" + name + "', which is the device's");
    if (m.device && m.device->device_dirty) {
      oracle_error("the host accesses '" + name + "', of which the device has newer values");
    }
    if (writes && m.device && !m.device->host_dirty) {
      oracle_error("the host writes '" + name + "', and the device does not hear of it");
    }
    return {m.data + at * m.type.bytes(), m.written.get(), nullptr};
  }
  if (m.is_thread_own) return {m.data + at * m.type.bytes(), m.written.get(), nullptr};
  if (m.is_in_kernel || m.device_only) {
    return {m.data + at * m.type.bytes(), m.written.get(), &(*m.accesses)[i]};
  }
  if (!m.device || m.device->host_dirty) {
    oracle_error("a kernel accesses '" + name + "', of which the device has no new values");
  }
  return {m.device->bytes.data() + i * m.type.bytes(), &m.device->written, &(*m.accesses)[i]};
}

void IrInterpreter::run_allocate(const Stmt &s) {
  if (in_kernel_ && s->home == Home::Thread && races_.thread() < 0) {
    // Each thread makes its own when it comes by.
    own_[s->name] = {s, {}};
    run(s->body[0]);
    own_.erase(s->name);
    return;
  }
  memory_[s->name] = s->home == Home::Block ? of_block(s) : fresh(s);
  run(s->body[0]);
  memory_.erase(s->name);
}

Memory IrInterpreter::of_block(const Stmt &s) {
  auto [known, is_new] = of_block_.emplace(s->name, Memory());
  Memory &m = known->second;
  const Memory next = fresh(s);
  if (is_new || m.last != next.last) m = next;
  m.written = next.written;
  return m;
}

Memory IrInterpreter::fresh(const Stmt &s) {
  Memory m;
  m.type = s->type;
  m.device_only = s->home == Home::Device;
  m.is_in_kernel = in_kernel_;
  m.is_thread_own = s->home == Home::Thread;
  const int64_t elements = s->args.size() == 1 ? scalar(s->args[0]) : take_box(s, m);
  if (elements < 0)
    oracle_error("allocation '" + s->name + "' has " + std::to_string(elements) + " elements");
  m.last = elements - 1;
  m.bytes = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(elements * s->type.bytes()));
  if (options_.may_be_unwritten.count(s->name)) {
    // Small numbers: no arithmetic of programs leaves its type's range for them.
    for (int64_t i = 0; i < elements; i++) {
      Lane any{};
      const auto n = static_cast<int64_t>(random_() % (s->type.is_bool() ? 2 : 60));
      if (s->type.is_float()) any.f = static_cast<double>(n);
      if (!s->type.is_float()) any.i = n;
      write_element(s->type, any, m.bytes->data() + i * s->type.bytes());
    }
  } else {
    m.written = std::make_shared<std::vector<bool>>(static_cast<size_t>(elements));
  }
  m.data = m.bytes->data();
  if (s->home == Home::Block) m.accesses = std::make_shared<AccessRecords>(elements);
  return m;
}

int64_t IrInterpreter::take_box(const Stmt &s, Memory &m) {
  int64_t elements = 1;
  for (size_t d = 0; d + 1 < s->args.size(); d += 2) {
    polyhalite_dimension_t dim{};
    dim.min = static_cast<int32_t>(scalar(s->args[d]));
    dim.extent = static_cast<int32_t>(scalar(s->args[d + 1]));
    dim.stride = static_cast<int32_t>(elements);
    elements *= dim.extent;
    m.dims.push_back(dim);
  }
  return elements;
}

void IrInterpreter::run_place(const Stmt &s) {
  const Memory &block = memory(s->inside);
  Memory m;
  m.type = s->type;
  const int64_t elements = take_box(s, m), at = scalar(s->args.back());
  if (elements < 0 || at < block.first || at + elements - 1 > block.last) {
    oracle_error("box '" + s->name + "' takes elements " + std::to_string(at) + " to " +
                 std::to_string(at + elements - 1) + " of '" + s->inside + "', which has " +
                 std::to_string(block.last + 1));
  }
  m.last = elements - 1;
  // Nothing of it yet, whatever is in the block.
  if (!options_.may_be_unwritten.count(s->name)) {
    m.written = std::make_shared<std::vector<bool>>(static_cast<size_t>(elements));
  }
  m.data = block.data + at * s->type.bytes();
  memory_[s->name] = std::move(m);
  run(s->body[0]);
  memory_.erase(s->name);
}

Memory &IrInterpreter::memory(const std::string &name, int value_index) {
  for (const std::string &n : {name, name + "." + std::to_string(value_index)}) {
    const auto own = own_.find(n);
    if (own == own_.end()) continue;
    auto [at, is_new] = own->second.of_threads.emplace(races_.thread(), Memory());
    if (is_new) at->second = fresh(own->second.allocation);
    return at->second;
  }
  auto it = memory_.find(name);
  if (it == memory_.end()) it = memory_.find(name + "." + std::to_string(value_index));
  if (it == memory_.end()) oracle_error("there is no buffer '" + name + "' here");
  return it->second;
}

void IrInterpreter::run_provide(const Stmt &s) {
  const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
  std::vector<int64_t> indices;
  for (size_t i = 0; i < dims; i++) indices.push_back(scalar(s->args[i]));
  std::vector<Stored> values;
  for (size_t i = dims; i < s->args.size(); i++) {
    Memory &m = memory(s->name, static_cast<int>(i - dims));
    values.push_back(value_for(s->args[i], s->name, m, {element_at(s->name, m, indices)}));
  }
  for (size_t i = 0; i < values.size(); i++) {
    Memory &m = memory(s->name, static_cast<int>(i));
    if (values[i].keeps.empty()) {
      const int64_t at = element_at(s->name, m, indices);
      const Lane v = values[i].value.lanes[0];
      s->is_async ? start_copy(s->name, m, at, v) : write(s->name, m, at, v);
    }
  }
}

void IrInterpreter::run_store(const Stmt &s) {
  Memory &m = memory(s->name);
  const LaneValues index = evaluate(s->args[0]);
  std::vector<int64_t> elements;
  for (const Lane &l : index.lanes) elements.push_back(l.i);
  const Stored stored = value_for(s->args[1], s->name, m, elements);
  const LaneValues mask = s->args.size() > 2 ? evaluate(s->args[2]) : LaneValues();
  for (size_t l = 0; l < elements.size(); l++) {
    if (!stored.keeps.empty() && stored.keeps[l]) {
      check_inside(s->name, m, elements[l]);
    } else if (mask.lanes.empty() || mask.lanes[l].u) {
      const Lane v = stored.value.lanes[l];
      if (s->is_async) {
        check_inside(s->name, m, elements[l]);
        start_copy(s->name, m, elements[l], v);
      } else {
        write(s->name, m, elements[l], v);
      }
    }
  }
}

bool IrInterpreter::has_content(Memory &m, const std::string &name, int64_t at) {
  const Cell c = cell(name, m, at, false);
  return !c.written || (*c.written)[static_cast<size_t>(at - m.first)];
}

IrInterpreter::Stored IrInterpreter::value_for(const Expr &e, const std::string &buffer, Memory &m,
                                               std::vector<int64_t> elements) {
  Target target{buffer, std::move(elements)};
  target_ = &target;
  Stored stored{evaluate(e), {}};
  if (target.read) {
    target.nothing = 1;
    const LaneValues again = evaluate(e);
    for (size_t l = 0; l < again.lanes.size(); l++) {
      const uint64_t a = stored.value.lanes[l].u, b = again.lanes[l].u;
      const bool inside = target.elements[l] >= m.first && target.elements[l] <= m.last;
      if (a != b && inside && has_content(m, buffer, target.elements[l])) {
        target_ = nullptr;
        evaluate(e);  // says what it reads
      }
      stored.keeps.push_back(a != b);
    }
  }
  target_ = nullptr;
  return stored;
}

void IrInterpreter::write(const std::string &name, Memory &m, int64_t at, Lane v) {
  check_inside(name, m, at);
  const Cell c = cell(name, m, at, true);
  const int bytes = m.type.bytes();
  const std::vector<uint8_t> old(c.data, c.data + bytes);
  write_element(m.type, v, c.data);
  if (c.accesses) {
    const bool same = std::equal(old.begin(), old.end(), c.data);
    races_.on_write(*c.accesses, name, at, atomic_ > 0, same);
  }
  if (c.written) (*c.written)[static_cast<size_t>(at - m.first)] = true;
}

Lane IrInterpreter::read(const std::string &name, Memory &m, int64_t at) {
  check_inside(name, m, at);
  const Cell c = cell(name, m, at, false);
  if (unused_ == 0 && c.accesses) races_.on_read(*c.accesses, name, at, atomic_ > 0);
  if (unused_ == 0 && c.written && !(*c.written)[static_cast<size_t>(at - m.first)]) {
    if (target_ && target_->buffer == name &&
        std::count(target_->elements.begin(), target_->elements.end(), at) > 0) {
      target_->read = true;
      return number(m.type, target_->nothing);
    }
    if (nothing_) return number(m.type, *nothing_);
    throw UnwrittenRead(
        {"read of '" + name + "' at element " + std::to_string(at) + ", which nobody wrote",
         "",
         "",
         {}});
  }
  return read_element(m.type, c.data);
}

}  // namespace polyhalite
