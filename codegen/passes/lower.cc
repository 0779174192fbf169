#include "codegen/passes/lower.h"

#include <map>

#include "codegen/passes/bounds_query.h"
#include "codegen/passes/entry_checks.h"
#include "polyhalite/buffer_contents.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// Larger allocations go to the heap: thread-pool stacks are small.
constexpr int64_t kMaxStackBytes = 16 * 1024;

/// Accesses of folded Funcs go to their rings.
class RingAccesses : public ExprRewriter {
 public:
  RingAccesses(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  void fold(int func, std::vector<Expr> &indices) const {
    const std::vector<int64_t> &rings = survey_.funcs[func].fold;
    for (size_t d = 0; d < rings.size(); d++) {
      if (rings[d] == 0) continue;
      indices[d] = make_binary(Op::Mod, indices[d], make_int(indices[d].type(), rings[d]));
    }
  }

 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *c = as_call(e);
    if (!c || c->kind != CallKind::Func) return rewrite_children(e);
    std::vector<Expr> args;
    for (const Expr &a : c->args) args.push_back((*this)(a));
    fold(tree_.algorithm.index_of(c->name), args);
    return with_args(e, std::move(args));
  }

 private:
  const LoopTree &tree_;
  const Survey &survey_;
};

class Lowering {
 public:
  Lowering(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  /// `checks` use the root's symbols, so they stand inside their bindings.
  Stmt body(std::vector<Stmt> checks) {
    checks.push_back(block(tree_.roots));
    return with_symbols(survey_.root_symbols, make_block(std::move(checks)));
  }

 private:
  static Stmt with_symbols(const std::vector<Symbol> &symbols, Stmt s) {
    for (auto it = symbols.rbegin(); it != symbols.rend(); ++it) {
      s = make_let_stmt(it->name, it->value, s);
    }
    return s;
  }

  /// The Func whose nest this is, or -1.
  int producer(const TreeNode &n) const {
    if (n.kind == TreeNode::Loop) return tree_.loops[n.loop].stage.func;
    if (n.kind == TreeNode::Stage) return n.stage.func;
    return -1;
  }

  /// `inside`: the Func whose nest this block is in; its loops need no marker of their own.
  Stmt block(const std::vector<Tree> &nodes, int inside = -1) {
    std::vector<Stmt> out;
    for (size_t i = 0; i < nodes.size();) {
      const int func = producer(*nodes[i]);
      std::vector<Stmt> nests = {node(*nodes[i++], inside)};
      while (func >= 0 && i < nodes.size() && producer(*nodes[i]) == func) {
        nests.push_back(node(*nodes[i++], inside));
      }
      Stmt s = make_block(std::move(nests));
      const bool marked = func >= 0 && func != inside;
      out.push_back(marked ? make_produce(tree_.algorithm.funcs[func].name, s) : s);
    }
    return make_block(std::move(out));
  }

  Stmt node(const TreeNode &n, int inside) {
    switch (n.kind) {
      case TreeNode::Loop:
        return loop(n);
      case TreeNode::Stage:
        return stage(n.stage);
      case TreeNode::Allocate:
        return allocate(n, inside);
      case TreeNode::Hoist:
        return hoist(n, inside);
      case TreeNode::Branch:
        return make_if(n.condition, block(n.children, inside),
                       n.otherwise.empty() ? Stmt() : block(n.otherwise, inside));
      case TreeNode::Fork:
        break;
    }
    internal_check(false, "lower: a loop tree node without a lowering");
    return Stmt();
  }

  Stmt loop(const TreeNode &n) {
    const LoopInfo &info = tree_.loops[n.loop];
    const LoopBounds &bounds = survey_.loops[n.loop];
    return make_for(info.name, bounds.min, bounds.extent, info.kind,
                    with_symbols(bounds.symbols, block(n.children, info.stage.func)));
  }

  Stmt allocate(const TreeNode &n, int inside) {
    const FuncDef &def = tree_.algorithm.funcs[n.stage.func];
    const FuncSurvey &fs = survey_.funcs[n.stage.func];
    std::vector<Expr> args;
    int64_t bytes = def.types[0].bytes();
    for (int d = 0; d < def.dimensions(); d++) {
      const IndexRange &r = fs.stored[d];
      const Expr extent = make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1));
      if (fs.fold[d] > 0) {
        args.push_back(Expr(0));
        args.push_back(Expr(static_cast<int32_t>(fs.fold[d])));
        bytes = bytes > kMaxStackBytes ? bytes : bytes * fs.fold[d];
        continue;
      }
      args.push_back(r.min);
      if (fs.stored_extent[d]) {
        args.push_back(Expr(static_cast<int32_t>(*fs.stored_extent[d])));
        bytes = bytes > kMaxStackBytes ? bytes : bytes * *fs.stored_extent[d];
      } else {
        args.push_back(make_binary(Op::Max, extent, Expr(0)));
        bytes = kMaxStackBytes + 1;
      }
    }
    const Stmt body = block(n.children, inside);
    if (!fs.hoisted) {
      return make_allocate(def.name, def.types[0], std::move(args), bytes <= kMaxStackBytes, body);
    }
    Expr at = make_cast(Int(64), fs.hoisted->slot);
    for (const Expr &e : fs.hoisted->extents) at = make_binary(Op::Mul, at, make_cast(Int(64), e));
    return make_place(def.name, def.types[0], std::move(args), memory_name(def.name), at, body);
  }

  static std::string memory_name(const std::string &func) { return func + ".memory"; }

  // The memory that storages inside are placed in, those of a ring one behind the other.
  Stmt hoist(const TreeNode &n, int inside) {
    const FuncDef &def = tree_.algorithm.funcs[n.stage.func];
    std::vector<Expr> extents = survey_.funcs[n.stage.func].hoisted->extents;
    const Expr &ring = tree_.placements[n.stage.func].ring;
    if (ring.defined()) extents.push_back(ring);
    std::vector<Expr> args;
    int64_t bytes = def.types[0].bytes();
    for (const Expr &e : extents) {
      args.push_back(Expr(0));
      args.push_back(e);
      int64_t k = 0;
      bytes = is_const_int(e, &k) && bytes <= kMaxStackBytes ? bytes * k : kMaxStackBytes + 1;
    }
    return make_allocate(memory_name(def.name), def.types[0], std::move(args),
                         bytes <= kMaxStackBytes, block(n.children, inside));
  }

  Stmt stage(const StageId &s) {
    const StageDef &def = tree_.definition(s);
    const StageSurvey &st = survey_.stages[s.func][s.stage];
    std::vector<Expr> indices, values;
    RingAccesses in_rings(tree_, survey_);
    for (const Expr &e : def.args) indices.push_back(in_rings(substitute(st.dims, e)));
    for (const Expr &e : def.values) values.push_back(in_rings(substitute(st.dims, e)));
    in_rings.fold(s.func, indices);
    Stmt body = make_provide(tree_.func(s).name, std::move(indices), std::move(values));
    for (auto it = st.guards.rbegin(); it != st.guards.rend(); ++it) {
      body = make_if(in_rings(it->condition), body);
    }
    return body;
  }

  const LoopTree &tree_;
  const Survey &survey_;
};

std::vector<std::shared_ptr<BufferContents>> constant_buffers(const Algorithm &a) {
  std::map<std::string, std::shared_ptr<BufferContents>> found;
  auto look = [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Image && c->image) found[c->name] = c->image;
    });
  };
  for (const FuncDef &f : a.funcs) {
    for (const StageDef &s : f.stages) {
      for (const Expr &e : s.args) look(e);
      for (const Expr &e : s.values) look(e);
      look(s.predicate);
    }
  }
  std::vector<std::shared_ptr<BufferContents>> out;
  for (auto &[name, b] : found) out.push_back(b);
  return out;
}

}  // namespace

Function lower(const std::string &name, const LoopTree &tree, const Survey &survey,
               const LowerOptions &options) {
  Function f;
  f.name = name;
  f.buffer_limit = options.buffer_limit;
  const Algorithm &a = tree.algorithm;
  for (const AlgorithmInput &i : a.inputs) {
    f.args.push_back(
        {i.param->name, i.param->is_buffer, false, i.param->type, i.param->dimensions});
  }
  for (const std::string &output : a.outputs) {
    const FuncDef &def = *a.find(output);
    f.args.push_back({output, true, true, def.types[0], def.dimensions()});
  }
  f.constants = constant_buffers(a);
  std::vector<Stmt> all = shape_checks(name, f.args, options.bounds_queries);
  std::vector<Stmt> front;
  if (options.bounds_queries) front = answer_bounds_query(f.args, tree, survey);
  for (Stmt &s : value_checks(name, f.args, f.constants, tree, survey, f.buffer_limit)) {
    front.push_back(std::move(s));
  }
  all.push_back(Lowering(tree, survey).body(std::move(front)));
  f.body = make_block(std::move(all));
  return f;
}

}  // namespace polyhalite
