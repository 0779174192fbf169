#include "codegen/passes/form_kernels.h"

#include <algorithm>
#include <array>
#include <set>

#include "codegen/ir/instructions.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/tensor_loops.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

bool has_tensor(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) { found = found || is_tensor(t); });
  return found;
}

bool has_threads(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) { found = found || is_thread_loop(t) || is_tensor(t); });
  return found;
}

// Loops that an instruction stands for, spread over lanes.
class SpreadTensors : public StmtRewriter {
 public:
  explicit SpreadTensors(Expr lane) : lane_(std::move(lane)) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (is_tensor(s)) return spread_over_lanes(s, lane_);
    if (s->kind == StmtKind::Provide) {
      user_error(
          "cannot run what stands beside the loops of an instruction: it writes '" + s->name + "'",
          "all lanes of the warp would write it",
          "tensorize its loops too, or compute it at a loop over blocks");
    }
    return rewrite_children(s);
  }

 private:
  const Expr lane_;
};

bool writes(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) { found = found || t->kind == StmtKind::Provide; });
  return found;
}

// What one thread runs has memory of its own.
class OwnMemory : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);
    if (r->kind != StmtKind::Allocate) return r;
    return make_allocate(r->name, r->type, r->args, Home::Thread, r->body[0], r->order);
  }
};

class OneKernel {
 public:
  Stmt form(const Stmt &outermost) {
    name_ = outermost->name.substr(0, outermost->name.rfind('.'));
    Lets lets;
    std::vector<Stmt> loops;
    Stmt s = peel(outermost, [](LoopKind k) { return k == LoopKind::GpuBlock; }, lets, loops);
    for (const Stmt &l : loops) bound_.insert(l->name);
    lets_.insert(lets_.end(), lets.begin(), lets.end());
    s = make_let_stmts(lets, block_level(s));
    // Blocks are counted where they are launched.
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
      s = make_for((*l)->name, Expr(0), outside((*l)->args[1], *l), (*l)->loop_kind, s);
    }
    std::vector<Expr> threads;
    for (const Expr &e : threads_) threads.push_back(e.defined() ? simplify(e) : Expr(1));
    const Stmt kernel = make_kernel(name_, std::move(threads), s);
    check(kernel);
    return kernel;
  }

 private:
  // The nest of loops that s begins, each counted from 0, and what stands inside. Lets between the
  // loops go inside too.
  Stmt peel(Stmt s, bool (*belongs)(LoopKind), Lets &lets, std::vector<Stmt> &loops) {
    while (true) {
      if (s->kind == StmtKind::For && belongs(s->loop_kind)) {
        loops.push_back(s);
        const Expr counter = make_variable(Int(32), VariableKind::Loop, s->name);
        const Expr place = simplify(make_binary(Op::Add, counter, s->args[0]));
        s = is_zero(s->args[0]) ? s->body[0] : substitute(s->name, place, s->body[0]);
      } else if (s->kind == StmtKind::Let && !loops.empty()) {
        lets.emplace_back(s->name, s->args[0]);
        s = s->body[0];
      } else {
        return s;
      }
    }
  }

  // An extent over what is known where the kernel is launched.
  Expr outside(Expr extent, const Stmt &loop) const {
    for (auto it = lets_.rbegin(); it != lets_.rend(); ++it) {
      extent = substitute(it->first, it->second, extent);
    }
    extent = simplify(extent);
    for (const std::string &v : free_variables(extent)) {
      if (bound_.count(v)) refuse_extent(extent, loop, "'" + v + "'");
    }
    for_each_node(extent, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Func && own_.count(c->name)) {
        refuse_extent(extent, loop, "values of '" + c->name + "'");
      }
    });
    return extent;
  }

  [[noreturn]] void refuse_extent(const Expr &extent, const Stmt &loop,
                                  const std::string &on) const {
    const bool block = loop->loop_kind == LoopKind::GpuBlock;
    user_error(
        "cannot launch kernel '" + name_ + "': the extent of its loop over " +
            (block ? "blocks '" : "threads '") + loop->name + "' rests on " + on,
        "the extent is " + to_text(extent) + ", and a launch needs it before the kernel runs",
        "split the loop by a constant, and give the inner part to threads; or bound() it");
  }

  Stmt block_level(const Stmt &s) {
    if (!has_threads(s)) return writes(s) ? one_thread(s) : s;
    if (is_thread_loop(s) || is_warp(s)) return phase(s);
    std::vector<Stmt> body;
    switch (s->kind) {
      case StmtKind::Block:
        return sequence(s);
      case StmtKind::For:
        bound_.insert(s->name);
        break;
      case StmtKind::Let:
        lets_.emplace_back(s->name, s->args[0]);
        break;
      case StmtKind::Allocate:
        own_.insert(func_of_buffer(s->name));
        own_.insert(s->name);
        break;
      default:
        break;
    }
    for (const Stmt &b : s->body) body.push_back(block_level(b));
    if (s->kind == StmtKind::Let) lets_.pop_back();
    return with_parts(s, s->args, std::move(body));
  }

  // Statements beside each other that need no threads are one phase.
  Stmt sequence(const Stmt &s) {
    std::vector<Stmt> out, alone;
    auto finish = [&] {
      if (!alone.empty()) out.push_back(block_level(make_block(alone)));
      alone.clear();
    };
    for (const Stmt &b : s->body) {
      if (!has_threads(b)) {
        alone.push_back(b);
        continue;
      }
      finish();
      out.push_back(block_level(b));
    }
    finish();
    return make_block(std::move(out));
  }

  Stmt one_thread(const Stmt &s) {
    return make_for(name_ + ".thread", Expr(0), Expr(1), LoopKind::GpuThread, OwnMemory()(s));
  }

  // Does s hold loops of an instruction, and no threads: is it what one warp runs?
  static bool is_warp(const Stmt &s) {
    bool threads = false;
    for_each_stmt(s, [&](const Stmt &t) { threads = threads || is_thread_loop(t); });
    return s->kind == StmtKind::For && has_tensor(s) && !threads;
  }

  Stmt phase(const Stmt &first) {
    Lets lets;
    std::vector<Stmt> loops;  // outermost first
    Stmt s = peel(first, is_thread_loop, lets, loops);
    if (has_tensor(s)) {
      const std::string lane = name_ + ".lane";
      has_warps_ = true;
      s = SpreadTensors(make_variable(Int(32), VariableKind::Loop, lane))(s);
      loops.push_back(
          make_for(lane, Expr(0), Expr(static_cast<int>(kWarpLanes)), LoopKind::GpuLane, s));
    }
    s = make_let_stmts(lets, s);
    for (size_t d = 0; d < threads_.size(); d++) {
      Expr extent(1);  // where a phase has no loop, one of the threads along it takes part
      if (d < loops.size()) {
        const Stmt &loop = loops[loops.size() - 1 - d];
        extent = outside(loop->args[1], loop);
        if (loop->loop_kind == LoopKind::GpuLane) check_lanes(extent, loop);
        s = make_for(loop->name, Expr(0), extent, loop->loop_kind, s);
      }
      threads_[d] = threads_[d].defined() ? make_binary(Op::Max, threads_[d], extent) : extent;
    }
    return s;
  }

  void check_lanes(const Expr &extent, const Stmt &loop) const {
    int64_t lanes = 0;
    if (is_const_int(extent, &lanes) && lanes <= kWarpLanes) return;
    user_error(
        "kernel '" + name_ + "' has " + to_text(extent) + " lanes in its loop '" + loop->name + "'",
        "lanes are of one warp, which has 32",
        "split the loop by at most 32, and give the inner part to lanes; or use gpu_threads");
  }

  // Numbers that only the launch knows are the driver's to judge.
  void check_threads(const Stmt &kernel) const {
    int64_t all = 1, along[3] = {1, 1, 1};
    std::string text;
    for (size_t d = 0; d < 3; d++) {
      is_const_int(kernel->args[d], &along[d]);
      all = std::min(all, kMostThreads + 1) * along[d];
      text += (d ? " x " : "") + to_text(kernel->args[d]);
    }
    if (all <= kMostThreads && along[2] <= kMostThreadsAlongZ) return;
    user_error("kernel '" + name_ + "' has " + text + " threads in a block",
               "a block has at most " + std::to_string(kMostThreads) + ", and " +
                   std::to_string(kMostThreadsAlongZ) + " along z, the outermost loop of three",
               "use smaller tiles, or let each thread compute several points");
  }

  void check(const Stmt &kernel) const {
    check_threads(kernel);
    int64_t along_x = 0;
    if (has_warps_ && (!is_const_int(kernel->args[0], &along_x) || along_x % kWarpLanes != 0)) {
      user_error("kernel '" + name_ + "' has " + to_text(kernel->args[0]) +
                     " threads along x, and instructions of warps",
                 "a warp is 32 threads beside each other along x",
                 "give the innermost loops over threads a multiple of 32 iterations");
    }
    const int64_t bytes = block_bytes(kernel);
    if (bytes > kMostBlockBytes) {
      user_error("kernel '" + name_ + "' needs " + std::to_string(bytes) +
                     " bytes that the threads of a block share",
                 "a block has at most " + std::to_string(kMostBlockBytes),
                 "use smaller tiles, or store some in registers");
    }
    for_each_stmt(kernel, [&](const Stmt &s) {
      if (s->kind != StmtKind::Evaluate) return;
      user_error("cannot write what kernel '" + name_ + "' stores to a file",
                 "files are the host's", "leave debug_to_file() out, or compute it on the host");
    });
    for_each_operand(kernel, [&](const Expr &e) {
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (!c || !acts(*c)) return;
        user_error("cannot call '" + c->name + "' in kernel '" + name_ + "'",
                   "it runs on the host only", "leave it out, or compute the stage on the host");
      });
    });
  }

  std::string name_;
  std::set<std::string> bound_;  // counters
  std::set<std::string> own_;    // Funcs and buffers that the kernel allocates
  Lets lets_;                    // around, outermost first
  std::array<Expr, 3> threads_;  // of the phases so far, along x, y, z
  bool has_warps_ = false;       // that run instructions
};

class FormKernels : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::For && s->loop_kind == LoopKind::GpuBlock) return OneKernel().form(s);
    return rewrite_children(s);
  }
};

}  // namespace

Function form_kernels(const Function &f) {
  Function out = f;
  out.body = FormKernels()(f.body);
  return out;
}

}  // namespace polyhalite
