#include "codegen/oracle/interpret_ir.h"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <random>
#include <thread>
#include <unordered_map>

#include "codegen/ir/kernel.h"
#include "codegen/oracle/race_check.h"
#include "codegen/oracle/turns.h"
#include "codegen/oracle/value.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// What a device has of a buffer.
struct DeviceMemory {
  std::vector<uint8_t> bytes;
  std::vector<bool> written;
  bool host_dirty = true, device_dirty = false;
};

// An argument, a constant or an allocation.
struct Memory {
  Type type;
  uint8_t *data = nullptr;
  std::vector<polyhalite_dimension_t> dims;     // empty at the flat level's allocations
  int64_t first = 0, last = -1;                 // element indices that are inside
  std::shared_ptr<std::vector<uint8_t>> bytes;  // of allocations; tasks of a fork share them
  std::shared_ptr<std::vector<bool>> written;   // of allocations
  std::shared_ptr<DeviceMemory> device;         // once a kernel has needed it
  bool device_only = false, is_in_kernel = false, is_thread_own = false;
  std::shared_ptr<AccessRecords> accesses;  // by threads of kernels
};

struct Semaphore {
  int64_t count = 0;
  bool take() { return count > 0 && count-- > 0; }
};

[[noreturn]] void fail(std::string what) { throw InternalError({std::move(what), "", "", {}}); }

/// A read of what nobody wrote.
class UnwrittenRead : public InternalError {
 public:
  using InternalError::InternalError;
};

/// What a statement stores to. Its value may keep what is there, also where that is nothing yet:
///   f[i] = select(c, e, f[i])
struct Target {
  const std::string &buffer;
  std::vector<int64_t> elements;
  int nothing = 0;    // what elements without content are read as
  bool read = false;  // was there such an element?
};

Lane number(Type t, int n) {
  return t.is_float() ? Lane{.f = static_cast<double>(n)} : Lane{.i = n};
}

int64_t element_at(const std::string &name, const Memory &m, const std::vector<int64_t> &indices) {
  int64_t at = 0;
  for (size_t d = 0; d < indices.size(); d++) {
    const polyhalite_dimension_t &dim = m.dims[d];
    const int64_t offset = indices[d] - dim.min;
    if (offset < 0 || offset >= dim.extent) {
      fail("access of '" + name + "' at " + std::to_string(indices[d]) + " in dimension " +
           std::to_string(d) + ", which has [" + std::to_string(dim.min) + ", " +
           std::to_string(int64_t{dim.min} + dim.extent - 1) + "]");
    }
    at += offset * dim.stride;
  }
  return at;
}

Memory external_memory(const std::string &name, Type type, const polyhalite_buffer_t &b) {
  Memory m;
  m.type = type;
  m.data = b.host;
  m.dims.assign(b.dim, b.dim + b.dimensions);
  m.last = 0;
  for (const polyhalite_dimension_t &d : m.dims) {
    const int64_t reach = int64_t{d.extent - 1} * d.stride;
    (reach < 0 ? m.first : m.last) += reach;
    if (d.extent <= 0) {
      m.last = m.first - 1;
      break;
    }
  }
  if (!m.data) fail("buffer '" + name + "' has no memory");
  return m;
}

class Interpreter {
 public:
  Interpreter(const Function &f, const IrArguments &args, const InterpretOptions &options)
      : options_(options), random_(options.seed), turns_(std::make_shared<Turns>(options.seed)) {
    for (const FunctionArgument &a : f.args) {
      a.is_buffer ? add_buffer(a, args) : add_scalar(a, args);
    }
    for (const auto &c : f.constants) {
      memory_[c->name] = external_memory(c->name, c->type(), c->raw());
    }
  }

  void run(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::Block:
        for (const Stmt &b : s->body) run(b);
        return;
      case StmtKind::For:
        return run_for(s);
      case StmtKind::Let:
        return run_let(s);
      case StmtKind::Allocate:
        return run_allocate(s);
      case StmtKind::Place:
        return run_place(s);
      case StmtKind::Provide:
        return run_provide(s);
      case StmtKind::Store:
        return run_store(s);
      case StmtKind::If:
        if (scalar(s->args[0])) {
          run(s->body[0]);
        } else if (s->body.size() > 1) {
          run(s->body[1]);
        }
        return;
      case StmtKind::Assert:
        if (!scalar(s->args[0])) throw RuntimeError({describe_call(s->args[1]), "", "", {}});
        return;
      case StmtKind::Evaluate:
        evaluate(s->args[0]);
        return;
      case StmtKind::Fork:
        return run_fork(s);
      case StmtKind::Acquire:
        turns_->wait_until(task_, [&] { return semaphores_.at(s->name)->take(); });
        return turns_->offer(task_);
      case StmtKind::Release:
        semaphores_.at(s->name)->count++;
        return turns_->offer(task_);
      case StmtKind::Memoize:  // nothing is ever kept: the values are the same
      case StmtKind::Produce:
      case StmtKind::Profile:
        return run(s->body[0]);
      case StmtKind::Atomic:
        atomic_++;
        run(s->body[0]);
        atomic_--;
        return;
      case StmtKind::Kernel:
        return run_kernel(s);
      case StmtKind::Barrier:
        return races_.barrier();
      case StmtKind::Collective:
        fail("no instruction is called '" + s->name + "'");
      case StmtKind::Transfer:
        return run_transfer(s);
    }
  }

  /// Buffers of the caller get what the device wrote.
  void finish(const Function &f) {
    for (const FunctionArgument &a : f.args) {
      if (a.is_buffer) to_host(memory(a.name));
    }
  }

 private:
  using Memo = std::unordered_map<const ExprNode *, Value>;

  void add_buffer(const FunctionArgument &a, const IrArguments &args) {
    auto it = args.buffers.find(a.name);
    if (it == args.buffers.end()) fail("no buffer is given for argument '" + a.name + "'");
    const polyhalite_buffer_t &b = *it->second;
    const Type t(static_cast<Type::Code>(b.type.code), b.type.bits);
    if (t != a.type) fail("argument '" + a.name + "' has type " + t.to_string());
    memory_[a.name] = external_memory(a.name, t, b);
    for (int d = 0; d < b.dimensions; d++) {
      const std::string suffix = "." + std::to_string(d);
      bind(a.name + ".min" + suffix, b.dim[d].min);
      bind(a.name + ".extent" + suffix, b.dim[d].extent);
      bind(a.name + ".stride" + suffix, b.dim[d].stride);
    }
  }

  void add_scalar(const FunctionArgument &a, const IrArguments &args) {
    auto it = args.scalars.find(a.name);
    if (it == args.scalars.end()) fail("no value is given for argument '" + a.name + "'");
    if (it->second.type() != a.type) {
      fail("argument '" + a.name + "' has type " + it->second.type().to_string());
    }
    environment_[a.name] = evaluate(it->second);
  }

  void bind(const std::string &name, int64_t value) {
    environment_[name] = {Int(32), {Lane{.i = value}}};
  }

  void run_bound(const std::string &name, Value value, const Stmt &body) {
    environment_[name] = std::move(value);
    run(body);
    environment_.erase(name);
  }

  // Blocks one after the other, and in each, every phase thread by thread.
  void run_kernel(const Stmt &s) {
    in_kernel_ = true;
    races_.begin_kernel(s->name);
    for (size_t d = 0; d < threads_.size(); d++) threads_[d] = scalar(s->args[d]);
    run(s->body[0]);
    in_kernel_ = false;
  }

  // An iteration of a loop of a kernel.
  void run_in_kernel(const Stmt &s, int64_t i) {
    const auto &kind = s->loop_kind;
    if (kind == LoopKind::GpuBlock) {
      const auto outer = block_;
      block_ += (block_.empty() ? "(" : ", ") + std::to_string(i);
      const Stmt &body = s->body[0];
      if (body->kind != StmtKind::For || body->loop_kind != LoopKind::GpuBlock) {
        races_.begin_block(block_ + ")");
      }
      run_bound(s->name, {Int(32), {Lane{.i = i}}}, body);
      block_ = outer;
      return;
    }
    const size_t d = thread_nest(s).loops.size() - 1;
    if (i >= threads_[d])
      fail("the kernel has no thread " + std::to_string(i) + " for '" + s->name + "'");
    thread_[d] = i;
    races_.run_thread(thread_);
    run_bound(s->name, {Int(32), {Lane{.i = i}}}, s->body[0]);
    thread_[d] = 0;
    races_.run_all();
  }

  void run_transfer(const Stmt &s) {
    Memory &m = memory(s->name);
    switch (s->transfer) {
      case Transfer::ToDevice:
        return to_device(m);
      case Transfer::ToHost:
        return to_host(m);
      case Transfer::DeviceDirty:
        if (m.device_only) return;
        if (!m.device || m.device->host_dirty) fail("both sides of '" + s->name + "' are dirty");
        m.device->device_dirty = true;
        return;
      case Transfer::HostDirty:
        if (!m.device) return;
        if (m.device->device_dirty) fail("both sides of '" + s->name + "' are dirty");
        m.device->host_dirty = true;
        return;
    }
  }

  static void to_device(Memory &m) {
    if (m.device_only) return;
    const auto elements = static_cast<size_t>(m.last - m.first + 1);
    const auto size = static_cast<size_t>(m.type.bytes());
    if (!m.device) {
      m.device = std::make_shared<DeviceMemory>();
      m.device->bytes.assign(elements * size, 0xcd);
      m.device->written.assign(elements, false);
    }
    if (!m.device->host_dirty) return;
    std::copy_n(m.data + m.first * m.type.bytes(), elements * size, m.device->bytes.begin());
    m.device->written = m.written ? *m.written : std::vector<bool>(elements, true);
    m.device->host_dirty = false;
  }

  static void to_host(Memory &m) {
    if (!m.device || !m.device->device_dirty) return;
    const int64_t size = m.type.bytes();
    for (int64_t i = m.first; i <= m.last; i++) {
      const auto at = static_cast<size_t>(i - m.first);
      if (!m.device->written[at]) continue;
      std::copy_n(m.device->bytes.begin() + (i - m.first) * size, size, m.data + i * size);
      if (m.written) (*m.written)[at] = true;
    }
    m.device->device_dirty = false;
  }

  // The bytes and marks of an element, on the side that runs.
  struct Cell {
    uint8_t *data;
    std::vector<bool> *written;
    AccessRecord *accesses;
  };
  Cell cell(const std::string &name, Memory &m, int64_t at, bool writes) {
    const auto i = static_cast<size_t>(at - m.first);
    if (!in_kernel_) {
      if (m.device_only) fail("the host accesses '" + name + "', which is the device's");
      if (m.device && m.device->device_dirty) {
        fail("the host accesses '" + name + "', of which the device has newer values");
      }
      if (writes && m.device && !m.device->host_dirty) {
        fail("the host writes '" + name + "', and the device does not hear of it");
      }
      return {m.data + at * m.type.bytes(), m.written.get(), nullptr};
    }
    if (m.is_thread_own) return {m.data + at * m.type.bytes(), m.written.get(), nullptr};
    if (!m.accesses) m.accesses = std::make_shared<AccessRecords>(m.last - m.first + 1);
    if (m.is_in_kernel || m.device_only) {
      return {m.data + at * m.type.bytes(), m.written.get(), &(*m.accesses)[i]};
    }
    if (!m.device || m.device->host_dirty) {
      fail("a kernel accesses '" + name + "', of which the device has no new values");
    }
    return {m.device->bytes.data() + i * m.type.bytes(), &m.device->written, &(*m.accesses)[i]};
  }

  // A value that reads what nobody wrote is looked at again where it is used: a store to the cell
  // itself may keep it.
  void run_let(const Stmt &s) {
    Value value;
    try {
      value = evaluate(s->args[0]);
    } catch (const UnwrittenRead &) {
      deferred_[s->name] = s->args[0];
      run(s->body[0]);
      deferred_.erase(s->name);
      return;
    }
    run_bound(s->name, std::move(value), s->body[0]);
  }

  void run_for(const Stmt &s) {
    const int64_t min = scalar(s->args[0]), extent = scalar(s->args[1]);
    std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(extent, 0)));
    std::iota(order.begin(), order.end(), min);
    if (s->loop_kind == LoopKind::Parallel || is_gpu_loop(s->loop_kind)) {
      if (options_.parallel == ParallelOrder::Reverse) std::reverse(order.begin(), order.end());
      if (options_.parallel == ParallelOrder::Shuffled) {
        for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random_() % i]);
      }
    }
    for (int64_t i : order) {
      if (is_gpu_loop(s->loop_kind)) {
        run_in_kernel(s, i);
      } else {
        run_bound(s->name, {Int(32), {Lane{.i = i}}}, s->body[0]);
      }
    }
  }

  // The producer runs on a thread of its own, as a copy that shares all memory.
  void run_fork(const Stmt &s) {
    for (size_t i = 0; i < s->semaphores.size(); i++) {
      semaphores_[s->semaphores[i]] = std::make_shared<Semaphore>(Semaphore{scalar(s->args[i])});
    }
    Interpreter producer(*this);
    producer.task_ = turns_->add();
    std::exception_ptr problem;
    std::thread thread([&] {
      turns_->begin(producer.task_);
      try {
        producer.run(s->body[0]);
      } catch (...) {
        problem = std::current_exception();
      }
      turns_->end(producer.task_);
    });
    std::exception_ptr own;
    try {
      run(s->body[1]);
      turns_->wait_until(task_, [&] { return turns_->has_ended(producer.task_); });
    } catch (...) {
      own = std::current_exception();
      abandon(s, producer.task_);
    }
    thread.join();
    if (problem) std::rethrow_exception(problem);
    if (own) std::rethrow_exception(own);
  }

  // Lets the other task of a fork run to its end.
  void abandon(const Stmt &s, int other) {
    constexpr int64_t kEnough = int64_t{1} << 40;
    for (const std::string &name : s->semaphores) semaphores_.at(name)->count = kEnough;
    try {
      turns_->wait_until(task_, [&] { return turns_->has_ended(other); });
    } catch (...) {
    }
  }

  void run_allocate(const Stmt &s) {
    if (in_kernel_ && s->home == Home::Thread && races_.thread() < 0) {
      // Each thread makes its own when it comes by.
      own_[s->name] = {s, {}};
      run(s->body[0]);
      own_.erase(s->name);
      return;
    }
    memory_[s->name] = fresh(s);
    run(s->body[0]);
    memory_.erase(s->name);
  }

  Memory fresh(const Stmt &s) {
    Memory m;
    m.type = s->type;
    m.device_only = s->home == Home::Device;
    m.is_in_kernel = in_kernel_;
    m.is_thread_own = s->home == Home::Thread;
    const int64_t elements = s->args.size() == 1 ? scalar(s->args[0]) : take_box(s, m);
    if (elements < 0)
      fail("allocation '" + s->name + "' has " + std::to_string(elements) + " elements");
    m.last = elements - 1;
    m.bytes =
        std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(elements * s->type.bytes()));
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
    return m;
  }

  // Dimensions from pairs of min and extent; the number of elements.
  int64_t take_box(const Stmt &s, Memory &m) {
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

  void run_place(const Stmt &s) {
    const Memory &block = memory(s->inside);
    Memory m;
    m.type = s->type;
    const int64_t elements = take_box(s, m), at = scalar(s->args.back());
    if (elements < 0 || at < block.first || at + elements - 1 > block.last) {
      fail("box '" + s->name + "' takes elements " + std::to_string(at) + " to " +
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

  Memory &memory(const std::string &name, int value_index = 0) {
    for (const std::string &n : {name, name + "." + std::to_string(value_index)}) {
      const auto own = own_.find(n);
      if (own == own_.end()) continue;
      auto [at, is_new] = own->second.of_threads.emplace(races_.thread(), Memory());
      if (is_new) at->second = fresh(own->second.allocation);
      return at->second;
    }
    auto it = memory_.find(name);
    if (it == memory_.end()) it = memory_.find(name + "." + std::to_string(value_index));
    if (it == memory_.end()) fail("there is no buffer '" + name + "' here");
    return it->second;
  }

  void run_provide(const Stmt &s) {
    const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
    std::vector<int64_t> indices;
    for (size_t i = 0; i < dims; i++) indices.push_back(scalar(s->args[i]));
    std::vector<Stored> values;
    for (size_t i = dims; i < s->args.size(); i++) {
      const Memory &m = memory(s->name, static_cast<int>(i - dims));
      values.push_back(value_for(s->args[i], s->name, m, {element_at(s->name, m, indices)}));
    }
    for (size_t i = 0; i < values.size(); i++) {
      Memory &m = memory(s->name, static_cast<int>(i));
      if (values[i].keeps.empty()) {
        write(s->name, m, element_at(s->name, m, indices), values[i].value.lanes[0]);
      }
    }
  }

  void run_store(const Stmt &s) {
    Memory &m = memory(s->name);
    const Value index = evaluate(s->args[0]);
    std::vector<int64_t> elements;
    for (const Lane &l : index.lanes) elements.push_back(l.i);
    const Stored stored = value_for(s->args[1], s->name, m, elements);
    const Value mask = s->args.size() > 2 ? evaluate(s->args[2]) : Value();
    for (size_t l = 0; l < elements.size(); l++) {
      if (!stored.keeps.empty() && stored.keeps[l]) {
        check_inside(s->name, m, elements[l]);
      } else if (mask.lanes.empty() || mask.lanes[l].u) {
        write(s->name, m, elements[l], stored.value.lanes[l]);
      }
    }
  }

  struct Stored {
    Value value;
    std::vector<bool> keeps;  // lanes that leave nothing as it is; none where empty
  };

  // Two contents of cells that have none tell what becomes of them: a lane is one of them, or
  // depends on neither.
  Stored value_for(const Expr &e, const std::string &buffer, const Memory &m,
                   std::vector<int64_t> elements) {
    Target target{buffer, std::move(elements)};
    target_ = &target;
    Stored stored{evaluate(e), {}};
    if (target.read) {
      target.nothing = 1;
      const Value again = evaluate(e);
      const Type t = e.type().element_of();
      for (size_t l = 0; l < again.lanes.size(); l++) {
        const uint64_t a = stored.value.lanes[l].u, b = again.lanes[l].u;
        const bool copied = a == number(t, 0).u && b == number(t, 1).u;
        const bool has_content = (*m.written)[static_cast<size_t>(target.elements[l])];
        if (a != b && (!copied || has_content)) {
          target_ = nullptr;
          evaluate(e);  // says what it reads
        }
        stored.keeps.push_back(a != b);
      }
    }
    target_ = nullptr;
    return stored;
  }

  static void check_inside(const std::string &name, const Memory &m, int64_t at) {
    if (at < m.first || at > m.last) {
      fail("access of '" + name + "' at element " + std::to_string(at) + ", which has [" +
           std::to_string(m.first) + ", " + std::to_string(m.last) + "]");
    }
  }

  void write(const std::string &name, Memory &m, int64_t at, Lane v) {
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

  Lane read(const std::string &name, Memory &m, int64_t at) {
    check_inside(name, m, at);
    const Cell c = cell(name, m, at, false);
    if (unused_ == 0 && c.written && !(*c.written)[static_cast<size_t>(at - m.first)]) {
      if (target_ && target_->buffer == name &&
          std::count(target_->elements.begin(), target_->elements.end(), at) > 0) {
        target_->read = true;
        return number(m.type, target_->nothing);
      }
      throw UnwrittenRead(
          {"read of '" + name + "' at element " + std::to_string(at) + ", which nobody wrote",
           "",
           "",
           {}});
    }
    if (unused_ == 0 && c.accesses) races_.on_read(*c.accesses, name, at, atomic_ > 0);
    return read_element(m.type, c.data);
  }

  // "polyhalite_error_x("blur", 3, -1)"
  std::string describe_call(const Expr &e) {
    const CallNode *call = as_call(e);
    if (!call) fail("an assertion's error is no call");
    std::string text = call->name + "(";
    for (size_t i = 0; i < call->args.size(); i++) {
      if (i) text += ", ";
      if (call->args[i]->op == Op::StringImm) {
        text += "\"" + as_imm(call->args[i])->s + "\"";
      } else {
        const Value v = evaluate(call->args[i]);
        text += polyhalite::to_text(v.type, v.lanes[0]);
      }
    }
    return text + ")";
  }

  Value evaluate(const Expr &e) {
    Memo memo;
    return evaluate(e, memo);
  }

  int64_t scalar(const Expr &e) {
    const Value v = evaluate(e);
    internal_check(v.lanes.size() == 1, "interpret_ir: a scalar is needed");
    return v.lanes[0].i;
  }

  Value evaluate(const Expr &e, Memo &memo) {
    auto it = memo.find(e.get());
    if (it != memo.end()) return it->second;
    Value v = compute(e, memo);
    v.type = e.type();
    internal_check(v.lanes.size() == static_cast<size_t>(e.type().lanes()),
                   "interpret_ir: wrong number of lanes");
    memo[e.get()] = v;
    return v;
  }

  Value compute(const Expr &e, Memo &memo) {
    switch (e->op) {
      case Op::IntImm:
        return {e.type(), {Lane{.i = as_imm(e)->i}}};
      case Op::UIntImm:
        return {e.type(), {Lane{.u = as_imm(e)->u}}};
      case Op::FloatImm:
        return {e.type(), {Lane{.f = as_imm(e)->f}}};
      case Op::Variable: {
        const std::string &name = as_variable(e)->name;
        auto it = environment_.find(name);
        if (it != environment_.end()) return it->second;
        const auto later = deferred_.find(name);
        if (later == deferred_.end()) fail("nobody binds '" + name + "'");
        return evaluate(later->second, memo);
      }
      case Op::Let: {
        const std::string &name = as_let(e)->name;
        environment_[name] = evaluate(e->args[0], memo);
        Memo inner;  // what uses the name has other values outside
        Value v = evaluate(e->args[1], inner);
        environment_.erase(name);
        return v;
      }
      case Op::Load:
        return load(*as_load(e), memo);
      case Op::Select: {
        const Value condition = evaluate(e->args[0], memo);
        if (condition.lanes.size() > 1) return lane_by_lane(e, memo);
        const int chosen = condition.lanes[0].u ? 1 : 2;
        // The other side may be arbitrary, but it is evaluated: its addresses count.
        Memo apart;
        unused_++;
        evaluate(e->args[3 - chosen], apart);
        unused_--;
        return evaluate(e->args[chosen], memo);
      }
      case Op::Ramp: {
        const Value base = evaluate(e->args[0], memo), stride = evaluate(e->args[1], memo);
        const size_t steps = static_cast<size_t>(e.type().lanes()) / base.lanes.size();
        Value v;
        for (size_t i = 0; i < steps; i++) {
          for (size_t l = 0; l < base.lanes.size(); l++) {
            const uint64_t at = base.lanes[l].u + i * stride.lanes[l].u;
            v.lanes.push_back(wrap_lane(e.type().element_of(), Lane{.u = at}));
          }
        }
        return v;
      }
      case Op::Broadcast: {
        const Value part = evaluate(e->args[0], memo);
        Value v;
        while (v.lanes.size() < static_cast<size_t>(e.type().lanes())) {
          v.lanes.insert(v.lanes.end(), part.lanes.begin(), part.lanes.end());
        }
        return v;
      }
      case Op::Shuffle: {
        std::vector<Lane> all;
        for (const Expr &a : e->args) {
          const Value v = evaluate(a, memo);
          all.insert(all.end(), v.lanes.begin(), v.lanes.end());
        }
        Value v;
        for (int i : as_shuffle(e)->indices) v.lanes.push_back(all.at(static_cast<size_t>(i)));
        return v;
      }
      case Op::Call:
        if (as_intrinsic(e, intrinsic::kPrefetch) || as_intrinsic(e, intrinsic::kStreamFence) ||
            as_call(e)->name == intrinsic::kDebugToFile) {
          return {Bool(), {Lane{.i = 0}}};
        }
        if (as_intrinsic(e, intrinsic::kGuarded)) {
          const bool holds = evaluate(e->args[0], memo).lanes[0].i != 0;
          return holds ? evaluate(e->args[1], memo) : Value{e.type(), {Lane{}}};
        }
        if (as_call(e)->kind == CallKind::Func || as_call(e)->kind == CallKind::Image) {
          return read_call(*as_call(e), memo);
        }
        return lane_by_lane(e, memo);
      case Op::StringImm:
        fail("a text is no value");
      default:
        return lane_by_lane(e, memo);
    }
  }

  Value read_call(const CallNode &call, Memo &memo) {
    std::vector<int64_t> indices;
    for (const Expr &a : call.args) indices.push_back(evaluate(a, memo).lanes[0].i);
    Memory &m = memory(call.name, call.value_index);
    internal_check(m.dims.size() == indices.size(), "interpret_ir: wrong number of indices");
    return {m.type, {read(call.name, m, element_at(call.name, m, indices))}};
  }

  Value load(const LoadNode &node, Memo &memo) {
    Memory &m = memory(node.buffer);
    const Value index = evaluate(node.args[0], memo);
    const Value mask = node.args.size() > 1 ? evaluate(node.args[1], memo) : Value();
    Value v;
    for (size_t l = 0; l < index.lanes.size(); l++) {
      const bool on = mask.lanes.empty() || mask.lanes[l].u;
      v.lanes.push_back(on ? read(node.buffer, m, index.lanes[l].i) : Lane{.u = 0});
    }
    return v;
  }

  Value lane_by_lane(const Expr &e, Memo &memo) {
    const CallNode *call = as_call(e);
    // Nobody reads the trace: its numbers are all alike.
    if (call && call->name == intrinsic::kTrace) return {call->type, {Lane{.i = 1}}};
    if (call && (is_extern(*call) || call->args.empty() || call->args[0]->op == Op::StringImm)) {
      return fact(*call);
    }
    if (call) {
      if (const Expr meaning = expand_intrinsic(*call); meaning.defined()) {
        kept_.push_back(meaning);  // a key of the memo
        return evaluate(meaning, memo);
      }
      if (call->name == intrinsic::kPrint) return evaluate(call->args[1], memo);
      if (call->name == intrinsic::kRequire) return required(*call, memo);
      if (call->name == intrinsic::kTraceAccess) return evaluate(call->args[0], memo);
    }
    std::vector<Value> args;
    for (const Expr &a : e->args) args.push_back(evaluate(a, memo));
    Value v;
    for (size_t l = 0; l < static_cast<size_t>(e.type().lanes()); l++) {
      std::vector<Lane> lane;
      for (const Value &a : args) lane.push_back(a.lanes.size() == 1 ? a.lanes[0] : a.lanes.at(l));
      v.lanes.push_back(one_lane(e, lane));
    }
    return v;
  }

  Value required(const CallNode &call, Memo &memo) {
    for (const Lane &l : evaluate(call.args[0], memo).lanes) {
      if (!l.u) throw RuntimeError({"a requirement does not hold", "", "", {}});
    }
    return evaluate(call.args[1], memo);
  }

  static Lane one_lane(const Expr &e, const std::vector<Lane> &args) {
    const Type from = e->args[0].type().element_of();
    switch (e->op) {
      case Op::Cast:
        return lane_of_cast(e.type().element_of(), from, args[0]);
      case Op::Reinterpret: {
        uint8_t bytes[8] = {};
        write_element(from, args[0], bytes);
        return read_element(e.type().element_of(), bytes);
      }
      case Op::Not:
        return Lane{.u = !args[0].u};
      case Op::Select:
        return args[0].u ? args[1] : args[2];
      case Op::Call:
        return lane_of_call(*as_call(e), args);
      default:
        return lane_of_binary(e->op, from, args[0], args[1]);
    }
  }

  // What an entry check asks of a buffer argument. Here they are all as they should be.
  Value fact(const CallNode &call) {
    if (call.kind != CallKind::Intrinsic || call.args.empty())
      fail("cannot call '" + call.name + "'");
    const Memory &m = memory(as_imm(call.args[0])->s);
    uint64_t v = 0;
    if (call.name == intrinsic::kBufferType) {
      v = static_cast<uint64_t>(m.type.code()) | static_cast<uint64_t>(m.type.bits()) << 8 |
          1 << 16;
    } else if (call.name == intrinsic::kBufferDimensions) {
      v = m.dims.size();
    }
    return {call.type, {Lane{.u = v}}};
  }

  const InterpretOptions &options_;
  std::mt19937_64 random_;
  std::vector<Expr> kept_;
  std::map<std::string, Value> environment_;
  std::map<std::string, Expr> deferred_;  // names whose values nobody could say yet
  Target *target_ = nullptr;              // of the store whose value is evaluated
  std::map<std::string, Memory> memory_;
  int unused_ = 0;  // sides of selects around that are not taken
  std::map<std::string, std::shared_ptr<Semaphore>> semaphores_;
  std::shared_ptr<Turns> turns_;
  int task_ = 0;
  // In kernels:
  bool in_kernel_ = false;
  int atomic_ = 0;                               // atomic blocks around
  std::array<int64_t, 3> threads_{}, thread_{};  // x, y, z: how many, and which one runs
  std::string block_;                            // which one runs, "(1, 0"
  RaceCheck races_;
  struct OfThreads {
    Stmt allocation;
    std::map<int64_t, Memory> of_threads;
  };
  std::map<std::string, OfThreads> own_;  // allocated at block level, for each thread
};

}  // namespace

void interpret_ir(const Function &f, const IrArguments &args, const InterpretOptions &options) {
  Interpreter interpreter(f, args, options);
  interpreter.run(f.body);
  interpreter.finish(f);
}

}  // namespace polyhalite
