#include "codegen/oracle/ir_interpreter.h"

#include "codegen/ir/instructions.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"

namespace polyhalite {

bool has_collective(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) { found = found || t->kind == StmtKind::Collective; });
  return found;
}

void IrInterpreter::run_kernel(const Stmt &s) {
  in_kernel_ = true;
  races_.begin_kernel(s->name);
  for (size_t d = 0; d < threads_.size(); d++) threads_[d] = scalar(s->args[d]);
  run(s->body[0]);
  in_kernel_ = false;
}

void IrInterpreter::run_in_kernel(const Stmt &s, int64_t i) {
  const auto &kind = s->loop_kind;
  if (kind == LoopKind::GpuBlock) {
    const auto outer = block_;
    block_ += (block_.empty() ? "(" : ", ") + std::to_string(i);
    const Stmt &body = s->body[0];
    if (body->kind != StmtKind::For || body->loop_kind != LoopKind::GpuBlock) {
      races_.begin_block(block_ + ")");
      of_block_.clear();
      started_.clear();
      groups_.clear();
    }
    run_bound(s->name, {Int(32), {Lane{.i = i}}}, body);
    block_ = outer;
    return;
  }
  const size_t d = thread_nest(s).loops.size() - 1;
  if (i >= threads_[d])
    oracle_error("the kernel has no thread " + std::to_string(i) + " for '" + s->name + "'");
  thread_[d] = i;
  races_.run_thread(thread_);
  run_bound(s->name, {Int(32), {Lane{.i = i}}}, s->body[0]);
  thread_[d] = 0;
  races_.run_all();
}

void IrInterpreter::run_warp(const Stmt &loop) {
  if (scalar(loop->args[1]) != kWarpLanes)
    oracle_error("a warp of '" + loop->name + "' is not whole");
  if (threads_[0] % kWarpLanes != 0)
    oracle_error("lanes of '" + loop->name + "' are of several warps");
  lanes_.assign(kWarpLanes, {});
  for (int64_t l = 0; l < kWarpLanes; l++) lanes_[l][loop->name] = {Int(32), {Lane{.i = l}}};
  run_lanes(loop->body[0]);
  races_.run_all();
}

int64_t IrInterpreter::uniform(const Expr &e) {
  int64_t value = 0;
  for (int64_t l = 0; l < kWarpLanes; l++) {
    in_lane(l, [&] {
      const int64_t v = scalar(e);
      if (l > 0 && v != value)
        oracle_error("lanes part ways in front of an instruction of the warp");
      value = v;
    });
  }
  return value;
}

void IrInterpreter::run_lanes(const Stmt &s) {
  if (!has_collective(s)) {
    for (int64_t l = 0; l < kWarpLanes; l++) {
      const bool reverse = options_.parallel == ParallelOrder::Reverse;
      in_lane(reverse ? kWarpLanes - 1 - l : l, [&] { run(s); });
    }
    return;
  }
  switch (s->kind) {
    case StmtKind::For: {
      const int64_t min = uniform(s->args[0]), extent = uniform(s->args[1]);
      for (int64_t i = min; i < min + extent; i++) {
        bind(s->name, i);
        run_lanes(s->body[0]);
        environment_.erase(s->name);
      }
      return;
    }
    case StmtKind::Let:
      for (int64_t l = 0; l < kWarpLanes; l++) {
        LaneValues v;
        in_lane(l, [&] { v = evaluate(s->args[0]); });
        lanes_[l][s->name] = v;
      }
      run_lanes(s->body[0]);
      for (auto &lane : lanes_) lane.erase(s->name);
      return;
    case StmtKind::If:
      if (uniform(s->args[0])) {
        run_lanes(s->body[0]);
      } else if (s->body.size() > 1) {
        run_lanes(s->body[1]);
      }
      return;
    case StmtKind::Allocate:
      own_[s->name] = {s, {}};
      run_lanes(s->body[0]);
      own_.erase(s->name);
      return;
    case StmtKind::Collective:
      return run_collective(s);
    default:
      for (const Stmt &b : s->body) run_lanes(b);
  }
}

void IrInterpreter::run_collective(const Stmt &s) {
  const Instruction *instruction = find_instruction(s->name);
  if (!instruction) oracle_error("no instruction is called '" + s->name + "'");
  if (instruction->meaning == InstructionMeaning::LoadMatrices) return load_matrices(s);
  if (instruction->meaning != InstructionMeaning::MultiplyAccumulate) {
    oracle_error("instruction '" + s->name + "' has no meaning here");
  }
  // Calls `visit` with each element of an operand: where it stands, and its place in memory.
  auto each = [&](size_t operand, auto visit) {
    const Fragment &f = instruction->operands[operand].fragment;
    for (int64_t l = 0; l < kWarpLanes; l++) {
      in_lane(l, [&] {
        const int64_t first = scalar(s->args[operand]);
        for (int e = 0; e < f.per_lane; e++) {
          visit(f.at(static_cast<int>(l), e), memory(s->buffers[operand]), first + e);
        }
      });
    }
  };
  const MatrixShape shape = matrix_shape(*instruction);
  std::vector<float> d(shape.m * shape.n), a(shape.m * shape.k), b(shape.k * shape.n);
  each(0, [&](MatrixPlace p, Memory &m, int64_t at) {
    d[p.row * shape.n + p.column] = static_cast<float>(read(s->buffers[0], m, at).f);
  });
  each(1, [&](MatrixPlace p, Memory &m, int64_t at) {
    a[p.row * shape.k + p.column] = static_cast<float>(read(s->buffers[1], m, at).f);
  });
  each(2, [&](MatrixPlace p, Memory &m, int64_t at) {
    b[p.row * shape.n + p.column] = static_cast<float>(read(s->buffers[2], m, at).f);
  });
  for (int i = 0; i < shape.m; i++) {
    for (int j = 0; j < shape.n; j++) {
      for (int k = 0; k < shape.k; k++) {
        d[i * shape.n + j] += a[i * shape.k + k] * b[k * shape.n + j];
      }
    }
  }
  each(0, [&](MatrixPlace p, Memory &m, int64_t at) {
    Lane v{};
    v.f = d[p.row * shape.n + p.column];
    write(s->buffers[0], m, at, v);
  });
}

void IrInterpreter::run_transfer(const Stmt &s) {
  Memory &m = memory(s->name);
  switch (s->transfer) {
    case Transfer::ToDevice:
      return to_device(m);
    case Transfer::ToHost:
      return to_host(m);
    case Transfer::DeviceDirty:
      if (m.device_only) return;
      if (!m.device || m.device->host_dirty)
        oracle_error("both sides of '" + s->name + "' are dirty");
      m.device->device_dirty = true;
      return;
    case Transfer::HostDirty:
      if (!m.device) return;
      if (m.device->device_dirty) oracle_error("both sides of '" + s->name + "' are dirty");
      m.device->host_dirty = true;
      return;
  }
}

}  // namespace polyhalite
