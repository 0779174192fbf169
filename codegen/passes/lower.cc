#include "codegen/passes/lower.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/passes/bounds_query.h"
#include "codegen/passes/entry_checks.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/undef.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"
#include "polyhedral/extern_bounds.h"
#include "schedule/inline.h"
#include "schedule/memoize.h"

namespace polyhalite {

namespace {

// Larger allocations go to the heap: thread-pool stacks are small.
constexpr int64_t kMaxStackBytes = 16 * 1024;
// What a frame may hold where a directive asks for the stack.
constexpr int64_t kMostStackBytes = 64 * 1024;

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

/// Reads of Funcs and images take place where a condition holds only: those of `func`, or of all
/// others.
class GuardedReads : public ExprRewriter {
 public:
  GuardedReads(const Expr &condition, const std::string &func, bool own)
      : condition_(condition), func_(func), own_(own) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (!condition_.defined()) return e;
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
    if ((c->kind == CallKind::Func && c->name == func_) != own_) return r;
    return make_intrinsic(r.type(), intrinsic::kGuarded, {condition_, r});
  }

 private:
  const Expr &condition_;
  const std::string &func_;
  const bool own_;
};

/// Indices whose bounds rest on values stay inside of what is there.
///
///   in(cast<int>(f(x)))  ->  in(max(min(cast<int>(f(x)), box.max), box.min))
class HeldIndices : public ExprRewriter {
 public:
  HeldIndices(const LoopTree &tree, const Survey &survey, const StageId &s)
      : tree_(tree), survey_(survey), held_(survey.stages[s.func][s.stage].held) {
    for (HeldIndex &h : held_) {
      h.index = substitute(survey.stages[s.func][s.stage].dims, h.index);
    }
  }

  void hold(const std::string &callee, std::vector<Expr> &indices,
            const std::vector<Expr> &before) const {
    const auto found = survey_.inputs.find(callee);
    for (size_t d = 0; d < indices.size(); d++) {
      const auto h = std::find_if(held_.begin(), held_.end(), [&](const HeldIndex &at) {
        return at.callee == callee && at.dimension == d && equal(at.index, before[d]);
      });
      if (h == held_.end()) continue;
      const Box &box = found != survey_.inputs.end()
                           ? found->second
                           : survey_.funcs[tree_.algorithm.index_of(callee)].needed;
      indices[d] =
          make_binary(Op::Max, make_binary(Op::Min, indices[d], box[d].max), box[d].min);
    }
  }

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = held_.empty() ? e : rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || held_.empty() || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
    std::vector<Expr> args = c->args;
    hold(c->name, args, as_call(e)->args);
    return with_args(r, std::move(args));
  }

 private:
  const LoopTree &tree_;
  const Survey &survey_;
  std::vector<HeldIndex> held_;
};

class Lowering {
 public:
  Lowering(const LoopTree &tree, const Survey &survey, std::string memory_name)
      : tree_(tree), survey_(survey), memory_name_(std::move(memory_name)) {}

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
    if (n.kind == TreeNode::Branch) {
      for (const auto *part : {&n.children, &n.otherwise}) {
        if (!part->empty()) return producer(*part->front());
      }
    }
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

  /// Is a nest of the Func among the nodes, or in a storage, a fork or a branch among them?
  bool produced_among(const std::vector<Tree> &nodes, int func) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Tree &n) {
      if (n->kind == TreeNode::Loop || n->kind == TreeNode::Stage) return producer(*n) == func;
      return produced_among(n->children, func) || produced_among(n->otherwise, func);
    });
  }

  /// `inside`: the Func whose nest this block is in; its loops need no marker of their own.
  /// `waiting`: async Funcs that are produced in this block or one around it, and that what is used
  /// of them in here waits for. Undefined where the task has nothing to do here.
  Stmt block(const std::vector<Tree> &nodes, int inside = -1, const View &view = {},
             const std::set<int> &waiting = {}) {
    std::vector<const TreeNode *> items;
    for (const Tree &n : nodes) {
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
        // A branch's blocks belong to the production that is marked here.
        const int within = func >= 0 ? func : inside;
        nests.push_back(node(*items[i], within, inside_nest(*items[i], view), waiting_inside));
        i++;
        for (const Wait &w : waits) cut |= w.first == i || w.last + 1 == i;
      } while (func >= 0 && !cut && i < items.size() && producer(*items[i]) == func);
      Stmt s = make_block(std::move(nests));
      const bool marked = func >= 0 && func != inside;
      if (marked && tree_.storage[func].memoized) s = memoize(func, s);
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
        return branch(n.condition, block(n.children, inside, view, waiting),
                      block(n.otherwise, inside, view, waiting));
      case TreeNode::Fork:
        return fork(n, inside, view, waiting);
    }
    internal_check(false, "lower: a loop tree node without a lowering");
    return Stmt();
  }

  static Stmt branch(const Expr &condition, const Stmt &then_case, const Stmt &else_case) {
    if (then_case.defined()) return make_if(condition, then_case, else_case);
    return else_case.defined() ? make_if(make_not(condition), else_case) : else_case;
  }

  // fork f { block }  ->  fork (semaphores) { block, f's productions } and { block, the rest }
  // A task of an outer fork that has no part in one of the two runs the other alone.
  Stmt fork(const TreeNode &n, int inside, View view, const std::set<int> &waiting) {
    const int func = n.stage.func;
    view[func] = false;
    channels_[func] = 0;
    std::set<int> waiting_for_this = waiting;
    if (produced_among(n.children, func)) waiting_for_this.insert(func);
    const Stmt consumer = block(n.children, inside, view, waiting_for_this);
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
    std::vector<Stmt> body;
    for (size_t i = 0; i < tree_.prefetches.size(); i++) {
      if (tree_.prefetches[i].at == n.loop) body.push_back(prefetch(i));
    }
    std::set<int> waiting;
    for (const auto &[func, is_producer] : view) {
      if (!is_producer && produced_among(n.children, func)) waiting.insert(func);
    }
    body.push_back(block(n.children, info.stage.func, view, waiting));
    return make_for(info.name, bounds.min, bounds.extent,
                    bounds.stays_serial ? LoopKind::Serial : info.kind,
                    with_symbols(bounds.symbols, make_block(std::move(body))), info.partition);
  }

  Stmt allocate(const TreeNode &n, int inside, const View &view, const std::set<int> &waiting) {
    const FuncDef &def = tree_.algorithm.funcs[n.stage.func];
    const FuncSurvey &fs = survey_.funcs[n.stage.func];
    std::vector<Expr> args;
    const FuncStorage &storage = tree_.storage[n.stage.func];
    int64_t cells = 1;
    for (int d = 0; d < def.dimensions(); d++) {
      const IndexRange &r = fs.stored[d];
      const Expr extent = make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1));
      const int64_t align = storage.dims[d].align;
      args.push_back(fs.fold[d] > 0 ? Expr(0) : r.min);
      if (fs.fold[d] > 0 || fs.stored_extent[d]) {
        const int64_t n = fs.fold[d] > 0 ? fs.fold[d] : *fs.stored_extent[d];
        const int64_t padded = (n + align - 1) / align * align;
        args.push_back(make_int(Int(32), padded));
        cells = cells > kMostStackBytes ? cells : cells * padded;
      } else {
        Expr padded = make_binary(Op::Max, extent, Expr(0));
        if (align > 1) {
          const Expr k = make_int(Int(32), align);
          padded = plus(padded, make_int(Int(32), align - 1));
          padded = make_binary(Op::Mul, make_binary(Op::Div, padded, k), k);
        }
        args.push_back(padded);
        cells = kMostStackBytes + 1;
      }
    }
    Stmt s = block(n.children, inside, view, waiting);
    for (int i = static_cast<int>(def.types.size()); i-- > 0;) {
      const Type t = def.types[i];
      const std::string name = def.buffer_name(i);
      if (!fs.hoisted) {
        s = make_allocate(name, t, args, home(def, storage, cells * t.bytes()), s,
                          storage.order);
        continue;
      }
      Expr at = make_cast(Int(64), fs.hoisted->slot);
      for (const Expr &e : fs.hoisted->extents) at = make_binary(Op::Mul, at, make_cast(Int(64), e));
      s = make_place(name, t, args, memory_name(name), at, s, storage.order);
    }
    return s;
  }

  // production  ->  memoize "pipeline/f" of f by (box, inputs) { production }
  Stmt memoize(int func, const Stmt &production) const {
    const FuncDef &def = tree_.algorithm.funcs[func];
    const FuncSurvey &fs = survey_.funcs[func];
    std::vector<Expr> key;
    for (int d = 0; d < def.dimensions(); d++) {
      for (const Box *box : {&fs.stored, &fs.computed}) {
        key.push_back((*box)[d].min);
        key.push_back((*box)[d].max);
      }
    }
    const FuncStorage &storage = tree_.storage[func];
    for (Expr &e : memoization_key(tree_.algorithm, func, storage.memoize_where)) {
      key.push_back(std::move(e));
    }
    std::vector<std::string> buffers;
    for (int i = 0; i < static_cast<int>(def.types.size()); i++) {
      buffers.push_back(def.buffer_name(i));
    }
    const std::string name =
        memory_name_ + "/" + tree_.algorithm.funcs[memoized_as(tree_, func)].name;
    return make_memoize(name, std::move(buffers), {}, storage.eviction, std::move(key), production);
  }

  static std::string memory_name(const std::string &buffer) { return buffer + ".memory"; }

  // The memory that storages inside are placed in, those of a ring one behind the other.
  Stmt hoist(const TreeNode &n, int inside, const View &view, const std::set<int> &waiting) {
    const FuncDef &def = tree_.algorithm.funcs[n.stage.func];
    std::vector<Expr> extents = survey_.funcs[n.stage.func].hoisted->extents;
    const Expr &ring = tree_.placements[n.stage.func].ring;
    if (ring.defined()) extents.push_back(ring);
    std::vector<Expr> args;
    int64_t elements = 1;
    for (const Expr &e : extents) {
      args.push_back(Expr(0));
      args.push_back(e);
      int64_t k = 0;
      const bool small = is_const_int(e, &k) && elements <= kMaxStackBytes;
      elements = small ? elements * k : kMaxStackBytes + 1;
    }
    Stmt s = block(n.children, inside, view, waiting);
    for (int i = static_cast<int>(def.types.size()); i-- > 0;) {
      const Type t = def.types[i];
      s = make_allocate(memory_name(def.buffer_name(i)), t, args,
                        home(def, tree_.storage[n.stage.func], elements * t.bytes()), s);
    }
    return s;
  }

  // An access of value `index` of a Func.
  static Expr box_view(const FuncDef &f, int index, const Box &box) {
    std::vector<Expr> mins, extents;
    for (const IndexRange &r : box) {
      mins.push_back(r.min);
      extents.push_back(make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1)));
    }
    return buffer_view(mins, extents, [&](const std::vector<Expr> &indices) {
      return make_func_call(f.types[static_cast<size_t>(index)], f.name, indices, index);
    });
  }

  Stmt extern_stage(const FuncDef &f, const CallNode &call, const Box &box) {
    std::vector<Expr> args = {call.args[0]};
    for (const ExternOperand &o : extern_operands(call)) {
      const int producer = o.buffer ? tree_.algorithm.index_of(o.buffer->name) : -1;
      args.push_back(!o.buffer ? o.scalar
                     : producer < 0
                         ? view_of_image(*o.buffer)
                         : box_view(tree_.algorithm.funcs[producer], o.buffer->value_index,
                                survey_.funcs[producer].needed));
    }
    for (size_t i = 0; i < f.types.size(); i++) {
      args.push_back(box_view(f, static_cast<int>(i), box));
    }
    return make_evaluate(extern_call_node(Int(32), intrinsic::kExternStage, std::move(args)));
  }

  static Home home(const FuncDef &def, const FuncStorage &storage, int64_t bytes) {
    switch (storage.memory) {
      case MemoryType::Heap:
        return Home::Heap;
      case MemoryType::Stack:
        return bytes <= kMostStackBytes ? Home::Stack : Home::Shared;
      case MemoryType::Register:
        if (bytes <= kMostStackBytes) return Home::Stack;
        user_error(
            "cannot store '" + def.name + "' in registers",
            "its size is no constant, or more than " + std::to_string(kMostStackBytes) + " bytes",
            "compute it at an inner loop, or use MemoryType::Stack", storage.memory_where);
      default:
        return bytes <= kMaxStackBytes ? Home::Stack : Home::Auto;
    }
  }

  // Loops over the region around a prefetch of each cache line of its rows:
  //
  //   for f.prefetch.1 in ... { for f.prefetch.0 in (0, lines) { prefetch f(min + 16*x, y) } }
  Stmt prefetch(size_t i) {
    const PrefetchDirective &p = tree_.prefetches[i];
    const PrefetchSurvey &survey = survey_.prefetches[i];
    const int f = tree_.algorithm.index_of(p.target);
    Type type;
    std::shared_ptr<ParameterContents> param;
    if (f >= 0) {
      type = tree_.algorithm.funcs[f].types[0];
    } else {
      for (const AlgorithmInput &in : tree_.algorithm.inputs) {
        if (in.param->name == p.target) param = in.param;
      }
      if (!param) return Stmt();  // a constant: part of the code, and read again and again
      type = param->type;
    }
    constexpr int64_t kLineBytes = 64;
    const int64_t step = std::max<int64_t>(kLineBytes / type.bytes(), 1);
    const std::string prefix = p.target + ".prefetch." + std::to_string(i) + ".";
    const int innermost = f >= 0 && !tree_.storage[f].order.empty() ? tree_.storage[f].order[0] : 0;
    std::vector<Expr> indices;
    Expr inside;
    std::vector<std::pair<std::string, Expr>> loops;  // innermost first
    for (size_t d = 0; d < survey.wanted.size(); d++) {
      Expr min = survey.wanted[d].min, max = survey.wanted[d].max;
      const IndexRange &held = survey.held[d];
      if (p.strategy == PrefetchBoundStrategy::Clamp) {
        min = make_binary(Op::Max, min, held.min);
        max = make_binary(Op::Min, max, held.max);
      } else if (p.strategy == PrefetchBoundStrategy::GuardWithIf) {
        const Expr both = make_binary(Op::And, make_binary(Op::Ge, min, held.min),
                                      make_binary(Op::Le, max, held.max));
        inside = inside.defined() ? make_binary(Op::And, inside, both) : both;
      }
      const bool rows = static_cast<int>(d) == innermost;
      const int64_t by = rows ? step : 1;
      const std::string name = prefix + std::to_string(d);
      const Expr counter = make_variable(Int(32), VariableKind::Loop, name);
      const Expr k = make_int(Int(32), by);
      indices.push_back(plus(min, make_binary(Op::Mul, counter, k)));
      const Expr extent = make_binary(Op::Div, plus(make_binary(Op::Sub, max, min), k), k);
      loops.insert(rows ? loops.begin() : loops.end(), {name, extent});
    }
    if (f >= 0) RingAccesses(tree_, survey_).fold(f, indices);
    auto call = std::make_shared<CallNode>(type, f >= 0 ? CallKind::Func : CallKind::Image,
                                           p.target, std::move(indices));
    call->param = param;
    Stmt s = make_evaluate(make_intrinsic(
        Bool(), intrinsic::kPrefetch, {Expr(std::shared_ptr<const ExprNode>(std::move(call)))}));
    for (const auto &[name, extent] : loops) {
      s = make_for(name, Expr(0), extent, LoopKind::Serial, s, Partition::Never);
    }
    return inside.defined() ? make_if(inside, s) : s;
  }

  /// May iterations that run at once update one cell?
  bool is_shared(const StageId &s) const {
    const StageNest &nest = tree_.nest(s);
    if (!nest.atomic) return false;
    for (int l : nest.loops) {
      const LoopInfo &loop = tree_.loops[l];
      const bool at_once = loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Vector;
      if (at_once && loop.is_reduction) return true;
    }
    return false;
  }

  Stmt stage(const StageId &s) {
    const StageDef &def = tree_.definition(s);
    if (const CallNode *call = as_extern_stage(def)) {
      const StageSurvey &one = survey_.stages[s.func][s.stage];
      Stmt body = extern_stage(tree_.func(s), *call, one.box);
      for (auto it = one.guards.rbegin(); it != one.guards.rend(); ++it) {
        body = make_if(it->condition, body);
      }
      return body;
    }
    const StageSurvey &st = survey_.stages[s.func][s.stage];
    RingAccesses in_rings(tree_, survey_);
    HeldIndices held(tree_, survey_, s);
    const FuncDef &func = tree_.func(s);
    Expr stores, loads;  // of PredicateStores and PredicateLoads
    std::vector<Expr> blends;
    for (const Guard &g : st.guards) {
      const Expr c = in_rings(held(g.condition));
      if (g.rest == Guard::Loads) stores = both(stores, c);
      if (g.rest == Guard::Stores) loads = both(loads, c);
      if (g.rest == Guard::Blends) blends.push_back(c);
    }
    // What the stage reads of itself lies in boxes that its predicated stores do not grow.
    GuardedReads guarded_own(stores, func.name, true), guarded(loads, func.name, false);
    std::vector<CellWrite> writes = cell_writes(def);
    bool has_undef = false;
    for (CellWrite &w : writes) {
      for (Expr &e : w.cell) e = substitute(st.dims, e);
      std::vector<Expr> cell;
      for (const Expr &e : w.cell) cell.push_back(held(e));
      held.hold(func.name, cell, w.cell);
      w.cell.clear();
      for (const Expr &e : cell) w.cell.push_back(in_rings(e));
      for (Expr &e : w.values) e = in_rings(held(substitute(st.dims, e)));
      in_rings.fold(s.func, w.cell);
      for (size_t v = 0; v < w.values.size(); v++) {
        Expr &value = w.values[v];
        has_undef = has_undef || split_undef(value).condition.defined();
        for (const Expr &c : blends) {
          const Expr old = make_func_call(value.type(), func.name, w.cell, static_cast<int>(v));
          value = make_select(c, make_intrinsic(value.type(), intrinsic::kLikely, {value}),
                              make_intrinsic(old.type(), intrinsic::kGuarded, {make_not(c), old}));
        }
        value = guarded(guarded_own(value));
      }
    }
    // Predicated stores evaluate outside of their condition.
    std::vector<std::pair<std::string, Expr>> lets;
    if (stores.defined() && writes.size() == 1 && !has_undef) {
      for (size_t v = 0; v < writes[0].values.size(); v++) {
        Expr &value = writes[0].values[v];
        const std::string symbol =
            func.name + ".s" + std::to_string(s.stage) + ".value." + std::to_string(v);
        lets.emplace_back(symbol, value);
        value = make_variable(value.type(), VariableKind::Symbol, symbol);
      }
    }
    Stmt body = writes.size() == 1 ? provide(func.name, writes[0].cell, writes[0].values)
                                   : provide_together(func.name, std::move(writes));
    if (is_shared(s)) body = make_atomic(body);
    if (stores.defined()) body = make_if(stores, body);
    for (const auto &[symbol, value] : lets) body = make_let_stmt(symbol, value, body);
    for (auto it = st.guards.rbegin(); it != st.guards.rend(); ++it) {
      if (it->rest == Guard::Nothing) body = make_if(in_rings(held(it->condition)), body);
    }
    return body;
  }

  // Where a value is undef, nothing is written; of several values those keep what they are.
  static Stmt provide(const std::string &name, std::vector<Expr> indices,
                      std::vector<Expr> values) {
    std::vector<Expr> conditions;
    bool all_alike = true, somewhere = false;
    for (Expr &v : values) {
      const PartlyDefined p = split_undef(v);
      v = p.value;
      conditions.push_back(p.condition.defined() ? p.condition : make_true());
      all_alike = all_alike && equal(conditions.back(), conditions[0]);
      somewhere = somewhere || !is_false(conditions.back());
    }
    if (!somewhere) return make_block({});
    if (all_alike) {
      const Stmt body = make_provide(name, std::move(indices), std::move(values));
      return is_true(conditions[0]) ? body : make_if(conditions[0], body);
    }
    for (size_t i = 0; i < values.size(); i++) {
      if (is_true(conditions[i])) continue;
      const Expr old = make_func_call(values[i].type(), name, indices, static_cast<int>(i));
      values[i] = is_false(conditions[i]) ? old : make_select(conditions[i], values[i], old);
    }
    return make_provide(name, std::move(indices), std::move(values));
  }

  // All indices and values are known before the first cell is written: they may read what is
  // overwritten.
  static Stmt provide_together(const std::string &name, std::vector<CellWrite> writes) {
    std::vector<std::pair<std::string, Expr>> lets;
    auto bind = [&](Expr &e, const std::string &suffix) {
      if (is_const(e) || as_variable(e)) return;
      const std::string symbol = name + ".scattered." + suffix;
      lets.emplace_back(symbol, e);
      e = make_variable(e.type(), VariableKind::Symbol, symbol);
    };
    std::vector<Stmt> provides;
    for (size_t i = 0; i < writes.size(); i++) {
      const std::string which = std::to_string(i);
      for (size_t v = 0; v < writes[i].values.size(); v++) {
        PartlyDefined p = split_undef(writes[i].values[v]);
        bind(p.value, which + ".value." + std::to_string(v));
        if (p.condition.defined()) {
          bind(p.condition, which + ".written." + std::to_string(v));
          p.value = make_select(p.condition, p.value,
                                make_intrinsic(p.value.type(), intrinsic::kUndef, {}));
        }
        writes[i].values[v] = p.value;
      }
      for (size_t d = 0; d < writes[i].cell.size(); d++) {
        if (reads_func(writes[i].cell[d], name)) {
          bind(writes[i].cell[d], which + ".index." + std::to_string(d));
        }
      }
      provides.push_back(provide(name, writes[i].cell, writes[i].values));
    }
    Stmt out = make_block(std::move(provides));
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
      out = make_let_stmt(it->first, it->second, out);
    }
    return out;
  }

  static bool reads_func(const Expr &e, const std::string &name) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found = found || (c && c->kind == CallKind::Func && c->name == name);
    });
    return found;
  }

  static Expr plus(const Expr &a, const Expr &b) { return make_binary(Op::Add, a, b); }
  static Expr both(const Expr &a, const Expr &b) {
    return a.defined() ? make_binary(Op::And, a, b) : b;
  }

  const LoopTree &tree_;
  const Survey &survey_;
  const std::string memory_name_;  // of what outlives a run
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
      for (const ReductionVariable &r : s.rvars) {
        look(r.min);
        look(r.extent);
      }
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
    for (size_t i = 0; i < def.types.size(); i++) {
      f.args.push_back(
          {def.buffer_name(static_cast<int>(i)), true, true, def.types[i], def.dimensions()});
    }
  }
  f.constants = constant_buffers(a);
  std::vector<Stmt> all = shape_checks(name, f.args, options.bounds_queries);
  std::vector<Stmt> front;
  if (options.bounds_queries) front = answer_bounds_query(f.args, tree, survey);
  for (Stmt &s : value_checks(name, f.args, f.constants, tree, survey, f.buffer_limit)) {
    front.push_back(std::move(s));
  }
  all.push_back(Lowering(tree, survey, options.memory_name.empty() ? name : options.memory_name)
                    .body(std::move(front)));
  f.body = make_block(std::move(all));
  return f;
}

}  // namespace polyhalite
