#include "codegen/passes/lower.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "codegen/ir/instructions.h"
#include "codegen/passes/async_tasks.h"
#include "codegen/passes/bounds_query.h"
#include "codegen/passes/buffer_fields.h"
#include "codegen/passes/entry_checks.h"
#include "codegen/passes/extern_stage_call.h"
#include "codegen/passes/likely_windows.h"
#include "codegen/passes/memoized_production.h"
#include "codegen/passes/prefetch_loops.h"
#include "codegen/passes/stage_body.h"
#include "codegen/passes/storage_scopes.h"
#include "codegen/passes/trace.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

class Lowering {
 public:
  Lowering(const LoopTree &tree, const Survey &survey, const TraceAll &trace_all,
           std::string memory)
      : tree_(tree),
        survey_(survey),
        memory_(std::move(memory)),
        tasks_(tree, survey),
        tracer_(tree, survey, trace_all) {}

  /// All that is computed, and what is reported of it. It uses the root's symbols.
  Stmt pipeline(const std::string &name, bool profile) {
    std::vector<int> outputs;
    for (const std::string &f : tree_.algorithm.outputs) {
      const int func = tree_.algorithm.index_of(f);
      if (tracer_.traces_realizations(func)) outputs.push_back(func);
    }
    // The last output is the outermost.
    for (auto it = outputs.rbegin(); it != outputs.rend(); ++it) {
      tracer_.open(*it, Tracer::Span::Realization);
    }
    std::vector<Stmt> parts = {block(tree_.roots)};
    for (const std::string &f : tree_.algorithm.outputs) {
      const int func = tree_.algorithm.index_of(f);
      parts.push_back(debug_to_files(tree_, survey_, func, whole_output(func)));
    }
    Stmt all = make_block(std::move(parts));
    for (int func : outputs) all = tracer_.close(func, all);
    if (tracer_.is_active()) all = tracer_.pipeline(name, all);
    return profile ? make_profile(all) : all;
  }

  static Stmt with_symbols(const std::vector<Symbol> &symbols, Stmt s) {
    for (auto it = symbols.rbegin(); it != symbols.rend(); ++it) {
      s = make_let_stmt(it->name, it->value, s);
    }
    return s;
  }

 private:
  // The box of an output's buffer.
  Box whole_output(int func) const {
    const FuncDef &f = tree_.algorithm.funcs[func];
    Box box;
    for (int d = 0; d < f.dimensions(); d++) {
      auto field = [&](const char *what) {
        return buffer_field(f.buffer_name(0), what, static_cast<size_t>(d));
      };
      const Expr min = field("min");
      box.push_back(
          {min, make_binary(Op::Sub, make_binary(Op::Add, min, field("extent")), Expr(1))});
    }
    return box;
  }

  int producer(const TreeNode &n) const { return producing_func(tree_, n); }

  /// Is a nest of the Func among the nodes, or in a storage, a fork or a branch among them?
  bool produced_among(const std::vector<Tree> &nodes, int func) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const Tree &n) {
      if (n->kind == TreeNode::Loop || n->kind == TreeNode::Stage) return producer(*n) == func;
      return produced_among(n->children, func) || produced_among(n->otherwise, func);
    });
  }

  /// The last definition of the Func of which stages are in the node; 0 where there is none.
  int last_definition(const TreeNode &n, int func) const {
    const bool is_own = n.kind == TreeNode::Stage && n.stage.func == func;
    int last = is_own ? tree_.algorithm.funcs[func].definition_of(n.stage.stage) : 0;
    for (const auto *part : {&n.children, &n.otherwise}) {
      for (const Tree &c : *part) last = std::max(last, last_definition(*c, func));
    }
    return last;
  }

  /// Are stages of the Func's definition in the node?
  bool has_definition(const TreeNode &n, int func, int definition) const {
    if (n.kind == TreeNode::Stage && n.stage.func == func) {
      return tree_.algorithm.funcs[func].definition_of(n.stage.stage) == definition;
    }
    const auto has = [&](const Tree &c) { return has_definition(*c, func, definition); };
    return std::any_of(n.children.begin(), n.children.end(), has) ||
           std::any_of(n.otherwise.begin(), n.otherwise.end(), has);
  }

  /// What `make` gives, between two events of func where its realizations are traced.
  template <typename Make>
  Stmt spanned(int func, Tracer::Span span, Make make) {
    if (!tracer_.traces_realizations(func) || tracer_.is_open(func, span)) return make();
    tracer_.open(func, span);
    const Stmt s = make();
    return tracer_.close(func, s);
  }

  /// The Funcs whose productions a nest of func makes along with func's (compute_with).
  std::vector<int> produced_along(const TreeNode &n, int func) const {
    std::vector<int> others;
    if (n.kind != TreeNode::Loop) return others;
    for (const StageId &s : tree_.loops[n.loop].also) {
      const bool known = std::find(others.begin(), others.end(), s.func) != others.end();
      if (s.func != func && !known) others.push_back(s.func);
    }
    return others;
  }

  // What of a block has been made, and the Funcs whose consumption began in it.
  class Sequence {
   public:
    explicit Sequence(Tracer &tracer) : tracer_(tracer) {}

    void add(Stmt s) { parts_.push_back(std::move(s)); }
    /// What is added from here on uses func.
    void consume(int func) {
      if (!tracer_.traces_realizations(func) || tracer_.is_output(func)) return;
      if (tracer_.is_open(func, Tracer::Span::Consumption)) return;
      tracer_.open(func, Tracer::Span::Consumption);
      before_.emplace_back(func, std::move(parts_));
      parts_.clear();
    }
    Stmt take() {
      for (; !before_.empty(); before_.pop_back()) {
        auto &[func, parts] = before_.back();
        parts.push_back(tracer_.close(func, make_block(std::move(parts_))));
        parts_ = std::move(parts);
      }
      return make_block(std::move(parts_));
    }

   private:
    Tracer &tracer_;
    std::vector<Stmt> parts_;
    std::vector<std::pair<int, std::vector<Stmt>>> before_;
  };

  /// `inside`: the Func whose nest this block is in; its loops need no marker of their own.
  /// `waiting`: async Funcs that are produced in this block or one around it, and that what is used
  /// of them in here waits for. Undefined where the task has nothing to do here.
  Stmt block(const std::vector<Tree> &nodes, int inside = -1, const TaskView &view = {},
             const std::set<int> &waiting = {}) {
    std::vector<const TreeNode *> items;
    for (const Tree &n : nodes) {
      if (tasks_.is_kept(*n, view)) items.push_back(n.get());
    }
    if (items.empty()) return Stmt();
    const std::vector<AsyncWait> waits = tasks_.find_waits(items, view, waiting);
    Sequence out(tracer_);
    for (size_t i = 0; i < items.size();) {
      const size_t begin = i;
      const int func = producer(*items[i]);
      const bool marked = func >= 0 && func != inside;
      const bool memoized = marked && tree_.storage[func].memoized;
      auto nests = [&] {
        std::vector<Stmt> all;
        int last = 0;
        bool cut = false;  // by a wait
        do {
          std::set<int> waiting_inside;
          for (const AsyncWait &w : waits) {
            if (w.inside && w.first == i) waiting_inside.insert(w.func);
          }
          // A branch's blocks belong to the production that is marked here.
          const int within = func >= 0 ? func : inside;
          const Stmt nest =
              node(*items[i], within, tasks_.inside_nest(*items[i], view), waiting_inside);
          const Expr copies = func >= 0 && func != inside ? differs_from_copied(*items[i]) : Expr();
          all.push_back(copies.defined() ? make_if(copies, nest) : nest);
          if (memoized) last = std::max(last, last_definition(*items[i], func));
          i++;
          for (const AsyncWait &w : waits) cut |= w.first == i || w.last + 1 == i;
        } while (func >= 0 && !cut && i < items.size() && producer(*items[i]) == func);
        const Stmt made = make_block(std::move(all));
        return memoized ? memoized_production(tree_, survey_, memory_, func, last, made) : made;
      };
      for (const AsyncWait &w : waits) {
        if (w.inside || w.first != begin) continue;
        out.add(tasks_.acquire(w));
        out.consume(w.func);
      }
      const std::vector<int> along =
          marked ? produced_along(*items[begin], func) : std::vector<int>();
      Stmt s = marked ? production(func, along, nests) : nests();
      const bool in_ring = place_ != StoragePlace::Host && func >= 0 && fills_ring(func);
      if (marked && (in_ring || !unprofiled(func)))
        s = make_produce(tree_.algorithm.funcs[func].name, s);
      if (marked && is_for_task(*items[begin], view)) {
        // Waits and storage may have cut the production: its first part begins it, its last one
        // ends it.
        const auto is_here = [&](int definition) {
          return std::any_of(items.begin() + begin, items.begin() + i, [&](const TreeNode *n) {
            return has_definition(*n, func, definition);
          });
        };
        const int last = tree_.algorithm.funcs[func].num_definitions() - 1;
        s = tasks_.production(func, s, is_here(0), is_here(last));
      }
      out.add(s);
      for (const AsyncWait &w : waits) {
        if (!w.inside && w.last + 1 == i) out.add(tasks_.release(w));
      }
      const bool goes_on = i < items.size() && producer(*items[i]) == func;
      if (!marked || goes_on || i == items.size()) continue;
      out.consume(func);
      for (int f : along) out.consume(f);
    }
    return out.take();
  }

  // Is this the nest of an async Func, for the task that produces it?
  bool is_for_task(const TreeNode &nest, const TaskView &view) const {
    return view.count(producer(nest)) && !tasks_.is_for_another(nest, view);
  }

  // In a kernel: is the Func copied ahead into a ring of the block's memory?
  bool fills_ring(int func) const {
    const FuncPlacement &p = tree_.placements[func];
    return p.async && p.ring.defined();
  }

  bool unprofiled(int func) const {
    const std::string &name = tree_.origin_of(tree_.algorithm.funcs[func].name);
    return std::any_of(tree_.directives.begin(), tree_.directives.end(), [&](const Directive &d) {
      return d.kind == DirectiveKind::NoProfiling && d.func == name;
    });
  }

  // A copy of an image into an output of which the rest is computed in place. Of one buffer for
  // both there is nothing to copy.
  Expr differs_from_copied(const TreeNode &nest) const {
    if (nest.kind != TreeNode::Loop && nest.kind != TreeNode::Stage) return Expr();
    const StageId s = nest.kind == TreeNode::Loop ? tree_.loops[nest.loop].stage : nest.stage;
    const FuncDef &f = tree_.algorithm.funcs[s.func];
    const bool kept = s.stage == 0 && f.stages.size() > 1 && !f.stages[1].in_place.empty() &&
                      f.types.size() == 1 && tree_.algorithm.is_output(f.name);
    const CallNode *image = kept ? as_call(f.stages[0].values[0]) : nullptr;
    if (!image || image->kind != CallKind::Image || image->image) return Expr();
    auto address = [](const std::string &buffer) {
      return make_intrinsic(UInt(64), intrinsic::kBufferHost, {make_string(buffer)});
    };
    Expr differs = make_binary(Op::Ne, address(image->name), address(f.name));
    for (int d = 0; d < f.dimensions(); d++) {
      const VariableNode *v = as_variable(image->args[d]);
      if (!v || v->name != f.args[d]) return Expr();
      for (const char *what : {"min", "stride"}) {
        auto field = [&](const std::string &buffer) {
          return buffer_field(buffer, what, static_cast<size_t>(d));
        };
        differs =
            make_binary(Op::Or, differs, make_binary(Op::Ne, field(image->name), field(f.name)));
      }
    }
    return differs;
  }

  /// The production of func, and inside of it those of the Funcs that it makes along.
  Stmt production(int func, const std::vector<int> &along, std::function<Stmt()> make) {
    for (auto f = along.rbegin(); f != along.rend(); ++f) {
      make = [this, f = *f, inner = std::move(make)] {
        return spanned(f, Tracer::Span::Production, inner);
      };
    }
    return spanned(func, Tracer::Span::Production, make);
  }

  Stmt node(const TreeNode &n, int inside, const TaskView &view, const std::set<int> &waiting) {
    switch (n.kind) {
      case TreeNode::Loop:
        return loop(n, view);
      case TreeNode::Stage:
        return stage_body(tree_, survey_, tracer_, n.stage);
      case TreeNode::Allocate:
        return with_storage(
            tree_, survey_, n.stage.func, place_,
            spanned(n.stage.func, Tracer::Span::Realization, [&] {
              return make_block({block(n.children, inside, view, waiting),
                                 debug_to_files(tree_, survey_, n.stage.func,
                                                survey_.funcs[n.stage.func].stored)});
            }));
      case TreeNode::Hoist:
        // In a kernel, rings have their memory where pipeline_copies puts it.
        if (place_ != StoragePlace::Host) return block(n.children, inside, view, waiting);
        return with_hoisted_memory(tree_, survey_, n.stage.func,
                                   block(n.children, inside, view, waiting));
      case TreeNode::Branch:
        return branch(n.condition, block(n.children, inside, view, waiting),
                      block(n.otherwise, inside, view, waiting));
      case TreeNode::Fork:
        if (place_ != StoragePlace::Host) return block(n.children, inside, view, waiting);
        return tasks_.fork(n.stage.func, view, [&](const TaskView &task) {
          std::set<int> waited = waiting;
          const bool produced = produced_among(n.children, n.stage.func);
          if (produced && !task.at(n.stage.func)) waited.insert(n.stage.func);
          return block(n.children, inside, task, waited);
        });
    }
    internal_check(false, "lower: a loop tree node without a lowering");
    return Stmt();
  }

  static Stmt branch(const Expr &condition, const Stmt &then_case, const Stmt &else_case) {
    if (then_case.defined()) return make_if(condition, then_case, else_case);
    return else_case.defined() ? make_if(make_not(condition), else_case) : else_case;
  }

  Stmt loop(const TreeNode &n, const TaskView &view) {
    const LoopInfo &info = tree_.loops[n.loop];
    const LoopBounds &bounds = survey_.loops[n.loop];
    std::vector<Stmt> body;
    const StoragePlace outer = place_;
    if (info.kind == LoopKind::GpuBlock) place_ = StoragePlace::Block;
    if (is_thread_loop(info.kind)) place_ = StoragePlace::Thread;
    // A device has no caches to ask.
    for (size_t i = 0; i < tree_.prefetches.size() && place_ == StoragePlace::Host; i++) {
      if (tree_.prefetches[i].at == n.loop) body.push_back(prefetch_loops(tree_, survey_, i));
    }
    std::set<int> waiting;
    for (const auto &[func, is_producer] : view) {
      if (!is_producer && produced_among(n.children, func)) waiting.insert(func);
    }
    body.push_back(block(n.children, info.stage.func, view, waiting));
    const bool tensor = begins_tensor(info);
    if (tensor) check_tensor(info);
    place_ = outer;
    // An instruction of a processor runs whole: guards are taken out of the loops around it.
    const bool whole =
        place_ == StoragePlace::Host && info.partition == Partition::Auto && is_of_tensor(info);
    const Stmt made = make_for(info.name, bounds.min, bounds.extent,
                               bounds.stays_serial ? LoopKind::Serial : info.kind,
                               with_symbols(with_likely_windows(tree_, survey_, bounds.symbols),
                                            make_block(std::move(body))),
                               whole ? Partition::Never : info.partition);
    return tensor ? with_instruction(made, tree_.tensor(info.stage)->instruction) : made;
  }

  // Is it the first of the loops that an instruction stands for?
  bool begins_tensor(const LoopInfo &info) const {
    const TensorLoops *tensor = tree_.tensor(info.stage);
    const std::vector<int> &loops = tree_.nest(info.stage).loops;
    return tensor && loops[loops.size() - tensor->loops.size()] == info.id;
  }

  // Is it one of them?
  bool is_of_tensor(const LoopInfo &info) const {
    const TensorLoops *tensor = tree_.tensor(info.stage);
    if (!tensor) return false;
    const std::vector<int> &loops = tree_.nest(info.stage).loops;
    return std::find(loops.end() - static_cast<std::ptrdiff_t>(tensor->loops.size()), loops.end(),
                     info.id) != loops.end();
  }

  // The loops are what the instruction runs.
  void check_tensor(const LoopInfo &info) const {
    const StageNest &nest = tree_.nest(info.stage);
    const TensorLoops &tensor = *tree_.tensor(info.stage);
    const std::string &name = tensor.instruction;
    auto refuse = [&](const std::string &why, const std::string &fix) {
      user_error("cannot tensorize " + tree_.describe(info.stage) + " by '" + name + "'", why, fix,
                 tensor.where);
    };
    const Instruction *found = find_instruction(name);
    const bool on_host = place_ == StoragePlace::Host;
    const bool of_processor = found && is_of_processor(*found);
    if (!of_processor && (!found || found->meaning != InstructionMeaning::MultiplyAccumulate)) {
      std::string known;
      for (const Instruction &i : instructions()) {
        const bool fits =
            on_host ? is_of_processor(i) : i.meaning == InstructionMeaning::MultiplyAccumulate;
        if (fits) known += (known.empty() ? "" : ", ") + std::string(i.name);
      }
      refuse("no matrix instruction has this name", "instructions are: " + known);
    }
    if (on_host && !of_processor) {
      refuse("it runs on the host", "give loops around it to the blocks of a kernel");
    }
    if (!on_host && of_processor) {
      refuse("it runs in a kernel, and the instruction is a processor's",
             "take an instruction of the card, or leave its loops on the host");
    }
    const MatrixShape shape = matrix_shape(*found);
    const int extents[] = {shape.m, shape.n, shape.k};
    const bool is_dot = found->meaning == InstructionMeaning::DotProducts;
    const size_t first = is_dot ? 1 : 0;  // a dot product has no loop m
    if (is_dot && tensor.loops.size() != 2) {
      refuse("it stands for two loops, n and k, not " + std::to_string(tensor.loops.size()),
             "give it the loop over the results of a vector and the one over what is summed");
    }
    if (of_processor && !is_dot && tensor.loops.size() != 3) {
      refuse("it stands for three loops, m, n and k, not " + std::to_string(tensor.loops.size()),
             "give it the loops over rows and columns of the result and the one over what is "
             "summed");
    }
    for (size_t i = first; i < first + tensor.loops.size(); i++) {
      const int loop = nest.loops[nest.loops.size() - tensor.loops.size() + i - first];
      const LoopInfo &l = tree_.loops[loop];
      int64_t extent = 0;
      if (!is_const_int(survey_.loops[loop].extent, &extent) || extent != extents[i]) {
        refuse("its loop " + std::string(1, "mnk"[i]) + ", '" + l.label + "', has the extent " +
                   to_text(survey_.loops[loop].extent) + ", and the instruction's is " +
                   std::to_string(extents[i]),
               "split it by " + std::to_string(extents[i]) + " in whole tiles");
      }
      if (l.is_reduction != (i == 2)) {
        refuse("its loop " + std::string(1, "mnk"[i]) + ", '" + l.label + "', is " +
                   (i == 2 ? "no loop of a reduction" : "a loop of the reduction"),
               "m and n are loops over the result, k over what is summed");
      }
    }
  }

  const LoopTree &tree_;
  const Survey &survey_;
  const std::string memory_;  // under which memoized Funcs are kept
  StoragePlace place_ = StoragePlace::Host;
  AsyncTasks tasks_;
  Tracer tracer_;
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
  const Stmt pipeline = Lowering(tree, survey, options.trace_all,
                                 options.memory_name.empty() ? name : options.memory_name)
                            .pipeline(name, options.profile);
  // Checks use the root's symbols, so they stand inside their bindings.
  std::vector<Stmt> inside;
  if (options.bounds_queries) inside = answer_bounds_query(f.args, tree, survey);
  for (Stmt &s : value_checks(f, tree, survey, pipeline)) inside.push_back(std::move(s));
  inside.push_back(pipeline);
  all.push_back(Lowering::with_symbols(survey.root_symbols, make_block(std::move(inside))));
  f.body = make_block(std::move(all));
  return f;
}

}  // namespace polyhalite
