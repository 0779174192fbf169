#include "codegen/passes/lower.h"

#include <map>

#include "codegen/passes/bounds_query.h"
#include "codegen/passes/entry_checks.h"
#include "codegen/passes/trace.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"

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
  Lowering(const LoopTree &tree, const Survey &survey)
      : tree_(tree), survey_(survey), tracer_(tree) {}

  /// `checks` use the root's symbols, so they stand inside their bindings.
  Stmt body(const std::string &name, std::vector<Stmt> checks) {
    auto all = [&] { return outputs_realized(tree_.algorithm.outputs, 0); };
    checks.push_back(tracer_.active() ? tracer_.pipeline(name, all) : all());
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

  // The whole nest, within the realizations of the outputs from number `first` on.
  Stmt outputs_realized(const std::vector<std::string> &outputs, size_t first) {
    if (first == outputs.size()) return block(tree_.roots);
    const std::string &f = outputs[first];
    auto rest = [&] { return outputs_realized(outputs, first + 1); };
    if (!tracer_.traces_realizations(f)) return rest();
    std::vector<Expr> box;
    for (int d = 0; d < tree_.algorithm.find(f)->dimensions(); d++) {
      for (const char *field : {".min.", ".extent."}) {
        box.push_back(
            make_variable(Int(32), VariableKind::BufferField, f + field + std::to_string(d)));
      }
    }
    return tracer_.between(f, f + ".trace", polyhalite_trace_begin_realization,
                           polyhalite_trace_end_realization, "", box, rest);
  }

  // What is between two events of f, of the box that it computes here.
  template <typename Open>
  Stmt traced(int func, const char *symbol, polyhalite_trace_event_code_t begin,
              polyhalite_trace_event_code_t end, Open open) {
    const std::string &f = tree_.algorithm.funcs[func].name;
    std::vector<Expr> box;
    for (const IndexRange &r : survey_.funcs[func].computed) {
      box.push_back(r.min);
      box.push_back(make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1)));
    }
    return tracer_.between(f, f + symbol, begin, end, f + ".trace", box, open);
  }

  /// `inside`: the Func whose nest this block is in; its loops need no marker of their own.
  Stmt block(const std::vector<Tree> &nodes, int inside = -1, size_t first = 0) {
    std::vector<Stmt> out;
    for (size_t i = first; i < nodes.size();) {
      const int func = producer(*nodes[i]);
      const bool marked = func >= 0 && func != inside;
      auto nests = [&] {
        std::vector<Stmt> all = {node(*nodes[i++], inside)};
        while (func >= 0 && i < nodes.size() && producer(*nodes[i]) == func) {
          all.push_back(node(*nodes[i++], inside));
        }
        return make_block(std::move(all));
      };
      if (!marked) {
        out.push_back(nests());
        continue;
      }
      const std::string &name = tree_.algorithm.funcs[func].name;
      if (!tracer_.traces_realizations(name)) {
        out.push_back(make_produce(name, nests()));
        continue;
      }
      out.push_back(make_produce(name, traced(func, ".trace.produce", polyhalite_trace_produce,
                                              polyhalite_trace_end_produce, nests)));
      // What comes after a production uses it.
      if (i < nodes.size()) {
        out.push_back(traced(func, ".trace.consume", polyhalite_trace_consume,
                             polyhalite_trace_end_consume,
                             [&] { return block(nodes, inside, i); }));
      }
      break;
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
    int64_t elements = 1;
    for (int d = 0; d < def.dimensions(); d++) {
      const IndexRange &r = fs.stored[d];
      const Expr extent = make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1));
      if (fs.fold[d] > 0) {
        args.push_back(Expr(0));
        args.push_back(Expr(static_cast<int32_t>(fs.fold[d])));
        elements = elements > kMaxStackBytes ? elements : elements * fs.fold[d];
        continue;
      }
      args.push_back(r.min);
      if (fs.stored_extent[d]) {
        args.push_back(Expr(static_cast<int32_t>(*fs.stored_extent[d])));
        elements = elements > kMaxStackBytes ? elements : elements * *fs.stored_extent[d];
      } else {
        args.push_back(make_binary(Op::Max, extent, Expr(0)));
        elements = kMaxStackBytes + 1;
      }
    }
    auto body = [&] { return block(n.children, inside); };
    Stmt s = tracer_.traces_realizations(def.name)
                 ? tracer_.between(def.name, def.name + ".trace",
                                   polyhalite_trace_begin_realization,
                                   polyhalite_trace_end_realization, "", args, body)
                 : body();
    for (int i = static_cast<int>(def.types.size()); i-- > 0;) {
      const Type t = def.types[i];
      s = make_allocate(def.buffer_name(i), t, args, elements * t.bytes() <= kMaxStackBytes, s);
    }
    return s;
  }

  Stmt stage(const StageId &s) {
    const StageDef &def = tree_.definition(s);
    const StageSurvey &st = survey_.stages[s.func][s.stage];
    RingAccesses in_rings(tree_, survey_);
    const std::string &name = tree_.func(s).name;
    auto placed = [&](const Expr &e) {
      const Expr at_loops = substitute(st.dims, e);
      return tracer_.active() ? tracer_.with_loads(at_loops) : at_loops;
    };
    std::vector<CellWrite> writes = cell_writes(def);
    for (CellWrite &w : writes) {
      for (Expr &e : w.cell) e = placed(e);
      for (size_t i = 0; i < w.values.size(); i++) {
        Expr v = placed(w.values[i]);
        if (tracer_.traces_stores(name)) {
          v = tracer_.stored(name, static_cast<int>(i), v, w.cell);
        }
        w.values[i] = in_rings(v);
      }
      for (Expr &e : w.cell) e = in_rings(e);
      in_rings.fold(s.func, w.cell);
    }
    Stmt body = writes.size() == 1 ? provide(name, writes[0].cell, writes[0].values)
                                   : provide_together(name, std::move(writes));
    for (auto it = st.guards.rbegin(); it != st.guards.rend(); ++it) {
      body = make_if(in_rings(it->condition), body);
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

  const LoopTree &tree_;
  const Survey &survey_;
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
  all.push_back(Lowering(tree, survey).body(name, std::move(front)));
  f.body = make_block(std::move(all));
  return f;
}

}  // namespace polyhalite
