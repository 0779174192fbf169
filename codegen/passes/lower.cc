#include "codegen/passes/lower.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/passes/bounds_query.h"
#include "codegen/passes/entry_checks.h"
#include "polyhalite/buffer_contents.h"
#include "lang/ir/visit.h"
#include "schedule/inline.h"

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

  /// Which task a subtree is lowered for: of each fork around, the one that produces its Func, or
  /// the one that consumes it.
  using View = std::map<int, bool>;  // [func of the fork] is it the producer's task

  /// The Func whose nest this is, or -1.
  int producer(const TreeNode &n) const {
    if (n.kind == TreeNode::Loop) return tree_.loops[n.loop].stage.func;
    if (n.kind == TreeNode::Stage) return n.stage.func;
    return -1;
  }

  static bool produces(const View &view) {
    return std::any_of(view.begin(), view.end(), [](const auto &f) { return f.second; });
  }

  /// What the nest of a Func is lowered for, by a task that is to produce it.
  View inside_nest(const TreeNode &n, View view) const {
    view.erase(producer(n));
    return view;
  }

  /// Calls visit on the stages inside n that the task runs, until it returns true.
  template <typename Visit>
  bool any_stage(const TreeNode &n, const View &view, Visit visit) const {
    const auto found = view.find(producer(n));
    if (found != view.end() && !found->second) return false;
    if (n.kind == TreeNode::Stage) return !produces(inside_nest(n, view)) && visit(n.stage);
    const View inner = inside_nest(n, view);
    for (const auto *block : {&n.children, &n.otherwise}) {
      for (const Tree &c : *block) {
        if (any_stage(*c, inner, visit)) return true;
      }
    }
    return false;
  }

  bool is_kept(const TreeNode &n, const View &view) const {
    return any_stage(n, view, [](const StageId &) { return true; });
  }

  bool uses(const TreeNode &n, const View &view, int func) const {
    const std::string &name = tree_.algorithm.funcs[func].name;
    return any_stage(n, view, [&](const StageId &s) {
      return called_funcs(tree_.definition(s)).count(name) > 0;
    });
  }

  /// Where the task waits for an async Func, and tells that it is done: around the items
  /// [first, last] of a block, or inside the only one.
  struct Wait {
    int func;
    size_t first, last;
    bool inside;
    int channel;
  };

  /// `waiting`: Funcs whose productions stand in a block around, and that this block waits for.
  std::vector<Wait> find_waits(const std::vector<const TreeNode *> &items, const View &view,
                               const std::set<int> &waiting) {
    std::vector<Wait> waits;
    for (int f : waiting) {
      Wait w{f, items.size(), 0, false, 0};
      for (size_t i = 0; i < items.size(); i++) {
        if (!uses(*items[i], view, f)) continue;
        w.first = std::min(w.first, i);
        w.last = i;
      }
      if (w.first == items.size()) continue;
      const TreeNode::Kind kind = items[w.first]->kind;
      w.inside = w.first == w.last &&
                 (kind == TreeNode::Allocate || kind == TreeNode::Hoist || kind == TreeNode::Fork);
      if (!w.inside) w.channel = channels_[f]++;
      waits.push_back(w);
    }
    return waits;
  }

  std::string semaphore(int func, const char *what, int channel) const {
    return tree_.algorithm.funcs[func].name + "." + what + "." + std::to_string(channel);
  }

  bool is_limited(int func) const { return survey_.funcs[func].async->ahead.defined(); }

  // wait for room; the production; tell every consumer
  Stmt production(int func, Stmt nests) const {
    std::vector<Stmt> out;
    for (int c = 0; is_limited(func) && c < consumers_.at(func); c++) {
      out.push_back(make_acquire(semaphore(func, "room", c)));
    }
    out.push_back(std::move(nests));
    for (int c = 0; c < consumers_.at(func); c++) {
      out.push_back(make_release(semaphore(func, "ready", c)));
    }
    return make_block(std::move(out));
  }

  /// `inside`: the Func whose nest this block is in; its loops need no marker of their own.
  /// Undefined where the task has nothing to do here.
  Stmt block(const std::vector<Tree> &nodes, int inside = -1, const View &view = {},
             std::set<int> waiting = {}) {
    std::vector<const TreeNode *> items;
    for (const Tree &n : nodes) {
      const int func = producer(*n);
      const auto found = func == inside ? view.end() : view.find(func);
      if (found != view.end() && !found->second) waiting.insert(func);
      if (is_kept(*n, view)) items.push_back(n.get());
    }
    if (items.empty()) return Stmt();
    const std::vector<Wait> waits = find_waits(items, view, waiting);
    std::vector<Stmt> out;
    for (size_t i = 0; i < items.size();) {
      const size_t begin = i;
      const int func = producer(*items[i]);
      std::vector<Stmt> nests;
      bool cut = false;  // by a wait
      do {
        std::set<int> waiting_inside;
        for (const Wait &w : waits) {
          if (w.inside && w.first == i) waiting_inside.insert(w.func);
        }
        nests.push_back(node(*items[i], inside, inside_nest(*items[i], view), waiting_inside));
        i++;
        for (const Wait &w : waits) cut |= w.first == i || w.last + 1 == i;
      } while (func >= 0 && !cut && i < items.size() && producer(*items[i]) == func);
      Stmt s = make_block(std::move(nests));
      const bool marked = func >= 0 && func != inside;
      if (marked) s = make_produce(tree_.algorithm.funcs[func].name, s);
      const auto found = marked ? view.find(func) : view.end();
      if (found != view.end() && !produces(inside_nest(*items[begin], view))) {
        s = production(func, s);
      }
      for (const Wait &w : waits) {
        if (!w.inside && w.first == begin) {
          out.push_back(make_acquire(semaphore(w.func, "ready", w.channel)));
        }
      }
      out.push_back(s);
      for (const Wait &w : waits) {
        if (!w.inside && w.last + 1 == i && is_limited(w.func)) {
          out.push_back(make_release(semaphore(w.func, "room", w.channel)));
        }
      }
    }
    return make_block(std::move(out));
  }

  Stmt node(const TreeNode &n, int inside, const View &view, const std::set<int> &waiting) {
    switch (n.kind) {
      case TreeNode::Loop:
        return loop(n, view);
      case TreeNode::Stage:
        return stage(n.stage);
      case TreeNode::Allocate:
        return allocate(n, inside, view, waiting);
      case TreeNode::Hoist:
        return hoist(n, inside, view, waiting);
      case TreeNode::Branch:
        return make_if(n.condition, block(n.children, inside, view, waiting),
                       n.otherwise.empty() ? Stmt() : block(n.otherwise, inside, view, waiting));
      case TreeNode::Fork:
        return fork(n, inside, view, waiting);
    }
    internal_check(false, "lower: a loop tree node without a lowering");
    return Stmt();
  }

  // fork f { block }  ->  fork (semaphores) { block, f's productions } and { block, the rest }
  // A task of an outer fork that has no part in one of the two runs the other alone.
  Stmt fork(const TreeNode &n, int inside, View view, const std::set<int> &waiting) {
    const int func = n.stage.func;
    view[func] = false;
    channels_[func] = 0;
    const Stmt consumer = block(n.children, inside, view, waiting);
    const int consumers = consumers_[func] = channels_[func];
    view[func] = true;
    const Stmt producer = block(n.children, inside, view, waiting);
    if (!consumer.defined() || !producer.defined()) return consumer.defined() ? consumer : producer;
    std::vector<std::string> semaphores;
    std::vector<Expr> counts;
    for (int c = 0; c < consumers; c++) {
      semaphores.push_back(semaphore(func, "ready", c));
      counts.push_back(Expr(0));
      if (!is_limited(func)) continue;
      semaphores.push_back(semaphore(func, "room", c));
      counts.push_back(survey_.funcs[func].async->ahead);
    }
    return make_fork_stmt(tree_.algorithm.funcs[func].name, std::move(semaphores),
                          std::move(counts), producer, consumer);
  }

  Stmt loop(const TreeNode &n, const View &view) {
    const LoopInfo &info = tree_.loops[n.loop];
    const LoopBounds &bounds = survey_.loops[n.loop];
    return make_for(info.name, bounds.min, bounds.extent, info.kind,
                    with_symbols(bounds.symbols, block(n.children, info.stage.func, view)));
  }

  Stmt allocate(const TreeNode &n, int inside, const View &view, const std::set<int> &waiting) {
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
    const Stmt body = block(n.children, inside, view, waiting);
    if (!fs.hoisted) {
      return make_allocate(def.name, def.types[0], std::move(args), bytes <= kMaxStackBytes, body);
    }
    Expr at = make_cast(Int(64), fs.hoisted->slot);
    for (const Expr &e : fs.hoisted->extents) at = make_binary(Op::Mul, at, make_cast(Int(64), e));
    return make_place(def.name, def.types[0], std::move(args), memory_name(def.name), at, body);
  }

  static std::string memory_name(const std::string &func) { return func + ".memory"; }

  // The memory that storages inside are placed in, those of a ring one behind the other.
  Stmt hoist(const TreeNode &n, int inside, const View &view, const std::set<int> &waiting) {
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
                         bytes <= kMaxStackBytes, block(n.children, inside, view, waiting));
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
  std::map<int, int> channels_;   // [func] consumers' waits so far
  std::map<int, int> consumers_;  // [func] all of them
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
