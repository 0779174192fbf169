#include "codegen/ir/kernel.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

constexpr size_t kMostDimensions = 3;
constexpr int64_t kBlockAlignment = 128;

Nest nest_of(Stmt s, bool (*belongs)(LoopKind)) {
  Nest nest;
  while (s->kind == StmtKind::For && belongs(s->loop_kind)) {
    nest.loops.insert(nest.loops.begin(), s);
    s = s->body[0];
  }
  nest.body = s;
  return nest;
}

bool is_block_loop(LoopKind kind) { return kind == LoopKind::GpuBlock; }

class Shape {
 public:
  std::optional<std::string> problem(const Stmt &kernel) {
    const Nest blocks = block_nest(kernel);
    if (blocks.loops.empty()) fail("kernel '" + kernel->name + "' has no loop over blocks");
    nest(blocks, "blocks");
    outside({kernel->args.begin(), kernel->args.end()}, "the threads of '" + kernel->name + "'");
    block_level(blocks.body);
    const int64_t bytes = block_bytes(kernel);
    if (bytes > kMostBlockBytes) {
      fail("'" + kernel->name + "' takes " + std::to_string(bytes) + " bytes for a block");
    }
    return problem_;
  }

 private:
  void fail(std::string what) {
    if (!problem_) problem_ = std::move(what);
  }

  void outside(const std::vector<Expr> &exprs, const std::string &what) {
    for (const Expr &e : exprs) {
      for (const std::string &v : free_variables(e)) {
        if (bound_.count(v)) fail(what + " uses '" + v + "', which the kernel binds");
      }
    }
  }

  void nest(const Nest &n, const std::string &of) {
    if (n.loops.size() > kMostDimensions) fail("more than three loops over " + of);
    for (size_t i = 0; i < n.loops.size(); i++) {
      const Stmt &loop = n.loops[i];
      int64_t first = -1;
      if (!is_const_int(loop->args[0], &first) || first != 0)
        fail("loop '" + loop->name + "' begins not at 0");
      if (loop->loop_kind == LoopKind::GpuLane) {
        int64_t lanes = 0;
        if (i > 0) fail("the loop over lanes '" + loop->name + "' is not the innermost");
        if (!is_const_int(loop->args[1], &lanes) || lanes > kWarpLanes) {
          fail("the loop over lanes '" + loop->name + "' may have more than 32");
        }
      }
      bound_.insert(loop->name);
    }
    for (const Stmt &loop : n.loops) outside({loop->args[1]}, "the extent of '" + loop->name + "'");
  }

  void block_level(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::For:
        if (is_thread_loop(s)) {
          const Nest phase = thread_nest(s);
          nest(phase, "threads");
          return in_phase(phase.body);
        }
        if (s->loop_kind != LoopKind::Serial && s->loop_kind != LoopKind::Unrolled) {
          return misplaced(s, "a block");
        }
        bound_.insert(s->name);
        break;
      case StmtKind::Let:
      case StmtKind::Allocate:
        bound_.insert(s->name);
        break;
      case StmtKind::Block:
      case StmtKind::If:
      case StmtKind::Produce:
      case StmtKind::Barrier:
      case StmtKind::CommitCopies:
      case StmtKind::WaitCopies:
        break;
      default:
        return misplaced(s, "a block");
    }
    for (const Stmt &b : s->body) block_level(b);
  }

  void in_phase(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::For:
        if (is_gpu_loop(s->loop_kind) || s->loop_kind == LoopKind::Parallel) {
          return misplaced(s, "a phase");
        }
        break;
      case StmtKind::Allocate:
        if (s->home != Home::Thread) fail("'" + s->name + "' in a phase is no thread's own");
        break;
      case StmtKind::Block:
      case StmtKind::Let:
      case StmtKind::Place:
      case StmtKind::If:
      case StmtKind::Produce:
      case StmtKind::Provide:
      case StmtKind::Store:
      case StmtKind::Evaluate:
      case StmtKind::Atomic:
      case StmtKind::Collective:
        break;
      default:
        return misplaced(s, "a phase");
    }
    for (const Stmt &b : s->body) in_phase(b);
  }

  void misplaced(const Stmt &s, const std::string &where) {
    fail(s->kind == StmtKind::For ? "the " + std::string(loop_kind_name(s->loop_kind)) + " loop '" +
                                        s->name + "' stands in " + where
                                  : "a statement that " + where + " may not have");
  }

  std::set<std::string> bound_;
  std::optional<std::string> problem_;
};

// Names that are bound, and buffers that are allocated, in s.
void collect_bound(const Stmt &s, std::set<std::string> &names) {
  for_each_stmt(s, [&](const Stmt &t) {
    if (t->kind == StmtKind::For || t->kind == StmtKind::Let || t->kind == StmtKind::Allocate) {
      names.insert(t->name);
    }
  });
}

}  // namespace

bool is_thread_loop(const Stmt &s) {
  return s->kind == StmtKind::For && is_thread_loop(s->loop_kind);
}

Nest block_nest(const Stmt &kernel) { return nest_of(kernel->body[0], is_block_loop); }

Nest thread_nest(const Stmt &loop) { return nest_of(loop, is_thread_loop); }

KernelOperands kernel_operands(const Stmt &kernel) {
  std::set<std::string> bound;
  collect_bound(kernel, bound);
  std::map<std::string, Expr> scalars;
  std::map<std::string, KernelBuffer> buffers;
  auto touch = [&](const std::string &name, Type type, bool reads, bool writes) {
    if (bound.count(name)) return;
    KernelBuffer &b = buffers[name];
    b.name = name;
    b.type = type.element_of();
    b.is_read = b.is_read || reads;
    b.is_written = b.is_written || writes;
  };
  for_each_stmt(kernel, [&](const Stmt &s) {
    if (s->kind == StmtKind::Store) touch(s->name, s->args[1].type(), false, true);
  });
  for_each_operand(kernel->body[0], [&](const Expr &e) {
    const auto free = free_variables(e);
    for_each_node(e, [&](const Expr &n) {
      if (const VariableNode *v = as_variable(n)) {
        if (v->image) return;  // a constant buffer's fields are constants
        if (free.count(v->name) && !bound.count(v->name)) scalars.emplace(v->name, n);
      }
      if (const LoadNode *load = as_load(n)) touch(load->buffer, n.type(), true, false);
    });
  });
  KernelOperands out;
  for (auto &[name, e] : scalars) out.scalars.push_back(e);
  for (auto &[name, b] : buffers) out.buffers.push_back(b);
  return out;
}

int64_t block_bytes(const Stmt &kernel) {
  int64_t bytes = 0;
  for_each_stmt(kernel, [&](const Stmt &s) {
    if (s->kind != StmtKind::Allocate || s->home != Home::Block) return;
    const bool flat = s->args.size() == 1;
    int64_t size = s->type.bytes() * std::max(s->ring, 1);
    for (size_t i = flat ? 0 : 1; i < s->args.size(); i += 2) {
      int64_t n = 0;
      is_const_int(s->args[i], &n);
      size = size > kMostBlockBytes ? size : size * n;
    }
    bytes += (size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  });
  return bytes;
}

std::optional<std::string> kernel_problem(const Stmt &kernel) { return Shape().problem(kernel); }

}  // namespace polyhalite
