#include "codegen/passes/promote_accumulators.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/ir/instructions.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/distinct_cells.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

// What the widest register file holds: 32 registers of 64 bytes, or 8 tiles of 1024.
constexpr int64_t kMaxBytes = 2048, kMaxTileBytes = 8192, kTileBytes = 1024;

bool uses_any(const Expr &e, const std::set<std::string> &names) {
  for (const std::string &n : free_variables(e)) {
    if (names.count(n)) return true;
  }
  return false;
}

// What a processor's instruction runs: its loops over results become lanes.
// A nest without branches: loops, symbols and Ifs around one Provide.
struct AccumulatorNest {
  std::vector<Stmt> around;  // outermost first
  Stmt leaf;
  std::map<std::string, Expr> symbols;       // of the nest, by what is outside and counters
  std::set<std::string> serial, expanded;    // counters of serial, and of vector and unrolled loops
  std::set<std::string> lanes;               // of the latter those that become lanes
  const Instruction *instruction = nullptr;  // that some of the loops stand for
  std::vector<Stmt> cell_loops;              // those that the cell depends on, fastest first
  std::vector<Expr> indices;                 // of the cell, without the nest's symbols
};

// Does an instruction of a processor multiply matrices in it? Its cells lie as the instruction has
// them only where they are carried.
bool multiplies_matrices(const AccumulatorNest &nest) {
  return nest.instruction && nest.instruction->meaning == InstructionMeaning::MatrixProducts;
}

std::optional<AccumulatorNest> find_nest(const Stmt &root) {
  AccumulatorNest nest;
  Stmt s = root;
  int results = 0;  // loops of the instruction over its results that are inside
  while (s->kind != StmtKind::Provide) {
    switch (s->kind) {
      case StmtKind::For:
        if (s->loop_kind == LoopKind::Parallel || is_gpu_loop(s->loop_kind)) return std::nullopt;
        if (is_tensor(s)) {
          nest.instruction = find_instruction(s->instruction);
          results = multiplies_matrices(nest) ? 2 : 1;
        }
        if (s->loop_kind == LoopKind::Vector || results > 0) nest.lanes.insert(s->name);
        (s->loop_kind == LoopKind::Serial && results == 0 ? nest.serial : nest.expanded)
            .insert(s->name);
        results = std::max(results - 1, 0);
        break;
      case StmtKind::Let:
        nest.symbols[s->name] = substitute(nest.symbols, s->args[0]);
        break;
      case StmtKind::If:
        if (s->body.size() > 1) return std::nullopt;
        break;
      case StmtKind::Produce:
        break;
      default:
        return std::nullopt;
    }
    nest.around.push_back(s);
    s = s->body[0];
  }
  if (s->value_count != 1) return std::nullopt;
  nest.leaf = s;
  for (size_t i = 0; i + 1 < s->args.size(); i++) {
    nest.indices.push_back(simplify(substitute(nest.symbols, s->args[i])));
  }
  return nest;
}

int64_t max_bytes(const AccumulatorNest &nest) {
  if (!multiplies_matrices(nest)) return kMaxBytes;
  const MatrixShape shape = matrix_shape(*nest.instruction);
  const int64_t result = int64_t{shape.m} * shape.n * nest.leaf->args.back().type().bytes();
  return result < kTileBytes ? kMaxBytes : kMaxTileBytes;
}

// Do different counters give different cells? Each counter stands in one index; within an index the
// smaller coefficients reach less far than the next larger one:  8*i + j  with j < 8.
bool is_injective(const AccumulatorNest &nest) {
  std::set<std::string> used;
  for (const Expr &index : nest.indices) {
    std::vector<std::pair<int64_t, int64_t>> steps;  // coefficient, extent
    for (const auto &[atom, coefficient] : to_linear(index).terms) {
      if (!uses_any(atom, nest.expanded)) continue;
      const VariableNode *v = as_variable(atom);
      if (!v || !used.insert(v->name).second) return false;
      for (const Stmt &loop : nest.cell_loops) {
        int64_t extent;
        if (loop->name == v->name && is_const_int(loop->args[1], &extent)) {
          steps.emplace_back(std::abs(coefficient), extent);
        }
      }
    }
    std::sort(steps.begin(), steps.end());
    int64_t reach = 0;
    for (const auto &[coefficient, extent] : steps) {
      if (coefficient <= reach) return false;
      reach += coefficient * (extent - 1);
    }
  }
  return true;
}

// May the nest's cell be carried through its outermost loop? Fills in nest.cell_loops.
bool is_accumulation(AccumulatorNest &nest) {
  const Stmt &root = nest.around[0];
  if (!nest.serial.count(root->name)) return false;
  std::set<std::string> counters = nest.serial;
  counters.insert(nest.expanded.begin(), nest.expanded.end());
  for (const Expr &index : nest.indices) {
    if (uses_any(index, nest.serial) || reads_memory(index)) return false;
  }
  int64_t bytes = nest.leaf->args.back().type().bytes();
  const int64_t most = max_bytes(nest);
  for (const Stmt &s : nest.around) {
    if (s->kind == StmtKind::If) {
      const Expr condition = substitute(nest.symbols, s->args[0]);
      if (uses_any(condition, nest.serial) || reads_memory(condition)) return false;
    }
    if (s->kind != StmtKind::For || !nest.expanded.count(s->name)) continue;
    const bool in_cell = std::any_of(nest.indices.begin(), nest.indices.end(),
                                     [&](const Expr &i) { return uses_variable(i, s->name); });
    // A guard that depends on a counter must be asked where that counter runs.
    const bool in_guard = std::any_of(nest.around.begin(), nest.around.end(), [&](const Stmt &g) {
      return g->kind == StmtKind::If &&
             uses_variable(substitute(nest.symbols, g->args[0]), s->name);
    });
    if (!in_cell && in_guard) return false;
    if (!in_cell) continue;
    int64_t extent;
    if (!is_const_int(s->args[1], &extent) || extent <= 0 || bytes > most) return false;
    if (uses_any(substitute(nest.symbols, s->args[0]), counters)) return false;
    bytes *= extent;
    nest.cell_loops.push_back(s);
  }
  // The fastest dimension of the carried cells is the vector's.
  std::reverse(nest.cell_loops.begin(), nest.cell_loops.end());
  std::stable_partition(nest.cell_loops.begin(), nest.cell_loops.end(),
                        [&](const Stmt &loop) { return nest.lanes.count(loop->name) > 0; });
  return bytes <= most && is_injective(nest);
}

bool is_cell(const CallNode &call, const AccumulatorNest &nest) {
  if (call.kind != CallKind::Func || call.name != nest.leaf->name) return false;
  for (size_t i = 0; i < call.args.size(); i++) {
    const Expr index = simplify(substitute(nest.symbols, call.args[i]));
    if (!equal(index, nest.indices[i])) return false;
  }
  return true;
}

// Does whatever e decides read the nest's cell? Where it need not, nobody may have written it yet.
class AlwaysReads {
 public:
  explicit AlwaysReads(const AccumulatorNest &nest) : nest_(nest) {}

  bool operator()(const Expr &e) {
    const auto known = known_.find(e.get());
    if (known != known_.end()) return known->second;
    const CallNode *call = as_call(e);
    bool reads = call && is_cell(*call, nest_);
    if (e->op == Op::Select) {
      reads = (*this)(e->args[0]) || ((*this)(e->args[1]) && (*this)(e->args[2]));
    } else {
      for (const Expr &part : e->args) reads = reads || (*this)(part);
    }
    return known_[e.get()] = reads;
  }

 private:
  const AccumulatorNest &nest_;
  std::map<const ExprNode *, bool> known_;
};

// Calls of the nest's cell become calls of the carried one. Other calls of its Func are collected.
class CarriedExpr : public ExprRewriter {
 public:
  CarriedExpr(const AccumulatorNest &nest, const Expr &carried) : nest_(nest), carried_(carried) {}

  const std::vector<std::vector<Expr>> &others() const { return others_; }

 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *call = as_call(e);
    if (!call || call->kind != CallKind::Func || call->name != nest_.leaf->name) {
      return rewrite_children(e);
    }
    if (is_cell(*call, nest_)) return carried_;
    others_.push_back(call->args);
    return rewrite_children(e);
  }

 private:
  const AccumulatorNest &nest_;
  const Expr carried_;
  std::vector<std::vector<Expr>> others_;  // indices
};

class Promote : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) {
      home_ = Home::Thread;
      const Stmt out = rewrite_children(s);
      home_ = Home::Stack;
      return out;
    }
    if (s->kind == StmtKind::Allocate && s->home == home_) {
      on_stack_.insert(s->name);
      const Stmt out = rewrite_children(s);
      on_stack_.erase(s->name);
      return out;
    }
    if (is_tensor(s)) return s;
    if (s->kind == StmtKind::For && s->loop_kind == LoopKind::Serial) {
      std::optional<AccumulatorNest> nest = find_nest(s);
      const bool helps = nest && (!on_stack_.count(nest->leaf->name) || multiplies_matrices(*nest));
      if (helps && is_accumulation(*nest)) {
        const Stmt out = promoted(*nest);
        if (out.defined()) return out;
      }
    }
    return inside(s);
  }

 private:
  // s with what stands in it rewritten.
  Stmt inside(const Stmt &s) {
    if (s->kind != StmtKind::For && s->kind != StmtKind::Let && s->kind != StmtKind::If) {
      return rewrite_children(s);
    }
    outside_.around.push_back(s);
    std::vector<Stmt> body;
    for (size_t i = 0; i < s->body.size(); i++) {
      if (s->kind == StmtKind::If) outside_.branches.push_back(i == 0);
      body.push_back((*this)(s->body[i]));
      if (s->kind == StmtKind::If) outside_.branches.pop_back();
    }
    outside_.around.pop_back();
    return with_parts(s, s->args, std::move(body));
  }

  // Is no cell of the nest read at these indices, which stand in its leaf?
  bool reads_no_cell_at(const AccumulatorNest &nest, const std::vector<Expr> &indices) {
    Surroundings around{nest.around, {}};
    for (const Stmt &s : nest.around) {
      if (s->kind == StmtKind::If) around.branches.push_back(true);
    }
    CellSet cells{nest.leaf->name, nest.indices, {}};
    for (const Stmt &loop : nest.cell_loops) {
      cells.loops.push_back(
          with_parts(loop, {substitute(nest.symbols, loop->args[0]), loop->args[1]}, loop->body));
    }
    return reads_no_cell(solver_, outside_, around, indices, cells);
  }

  // The nest with its cell carried; undefined where it need not read its cell, or may read it by
  // other indices.
  Stmt promoted(const AccumulatorNest &nest) {
    AlwaysReads always_reads(nest);
    bool reads = always_reads(nest.leaf->args.back());
    for (const Stmt &s : nest.around) {
      for (const Expr &e : s->args) reads = reads || always_reads(e);
    }
    if (!reads) return Stmt();
    const std::string name = nest.leaf->name + ".carried";
    const Type type = nest.leaf->args.back().type();
    std::vector<Expr> box, at;
    for (const Stmt &loop : nest.cell_loops) {
      box.push_back(substitute(nest.symbols, loop->args[0]));
      box.push_back(loop->args[1]);
      at.push_back(make_variable(Int(32), VariableKind::Loop, loop->name));
    }
    const Expr carried = make_func_call(type, name, at);
    CarriedExpr rewriter(nest, carried);
    Stmt body = make_provide(name, at, {rewriter(nest.leaf->args.back())});
    const std::vector<std::vector<Expr>> others = rewriter.others();
    for (auto s = nest.around.rbegin(); s != nest.around.rend(); ++s) {
      std::vector<Expr> args;
      for (const Expr &e : (*s)->args) args.push_back(rewriter(e));
      body = with_parts(*s, std::move(args), {body});
    }
    if (rewriter.others().size() != others.size()) return Stmt();
    for (const std::vector<Expr> &indices : others) {
      if (!reads_no_cell_at(nest, indices)) return Stmt();
    }

    const Expr cell = make_func_call(type, nest.leaf->name, nest.indices);
    const Stmt load = for_cells(nest, make_provide(name, at, {cell}));
    const Stmt write = make_provide(nest.leaf->name, nest.indices, {carried});
    const Stmt store = for_cells(nest, written_as(nest.leaf, write));
    const Stmt all =
        make_allocate(name, type, std::move(box), home_, make_block({load, body, store}));
    // A loop that never runs may not touch its cells.
    const Expr runs = simplify(make_binary(Op::Gt, nest.around[0]->args[1], Expr(0)));
    return is_true(runs) ? all : make_if(runs, all);
  }

  // `leaf` for every cell of the nest: under its Ifs, inside the loops that the cell depends on.
  static Stmt for_cells(const AccumulatorNest &nest, Stmt leaf) {
    for (auto s = nest.around.rbegin(); s != nest.around.rend(); ++s) {
      const bool in_cell = std::any_of(nest.cell_loops.begin(), nest.cell_loops.end(),
                                       [&](const Stmt &loop) { return loop.same_as(*s); });
      if ((*s)->kind == StmtKind::If) leaf = make_if(substitute(nest.symbols, (*s)->args[0]), leaf);
      if (in_cell) {
        leaf = make_for((*s)->name, substitute(nest.symbols, (*s)->args[0]), (*s)->args[1],
                        nest.lanes.count((*s)->name) ? LoopKind::Vector : (*s)->loop_kind, leaf,
                        (*s)->partition);
      }
    }
    return leaf;
  }

  std::set<std::string> on_stack_;  // or a thread's own
  Home home_ = Home::Stack;         // of what is carried
  Surroundings outside_;            // of the statement that is looked at
  Solver solver_{JudgeOptions().isl_operations};
};

}  // namespace

Function promote_accumulators(const Function &f) {
  Function out = f;
  out.body = Promote()(f.body);
  return out;
}

}  // namespace polyhalite
