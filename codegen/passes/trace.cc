#include "codegen/passes/trace.h"

#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

bool is_traced(const CallNode &c, const std::set<std::string> &funcs) {
  if (c.kind == CallKind::Func) return funcs.count(c.name) > 0;
  return c.kind == CallKind::Image && c.param && c.param->trace_loads;
}

const std::vector<std::string> &tags_of(const Parameter &p) { return p.trace_tags; }

}  // namespace

Tracer::Tracer(const LoopTree &tree) : tree_(tree) {
  for (const Directive &d : tree.directives) {
    const bool any = d.kind == DirectiveKind::TraceLoads || d.kind == DirectiveKind::TraceStores ||
                     d.kind == DirectiveKind::TraceRealizations ||
                     d.kind == DirectiveKind::TracePipeline || d.kind == DirectiveKind::TraceTag;
    active_ = active_ || any;
    if (d.kind == DirectiveKind::TraceLoads) loads_.insert(d.func);
    if (d.kind == DirectiveKind::TraceStores) stores_.insert(d.func);
    if (d.kind == DirectiveKind::TraceRealizations) realizations_.insert(d.func);
  }
  for (const AlgorithmInput &i : tree.algorithm.inputs) {
    active_ = active_ || i.param->trace_loads || !tags_of(*i.param).empty();
  }
}

Expr Tracer::parent_of(const std::vector<std::string> &symbols, const std::string &except) const {
  for (const std::string &s : symbols) {
    if (s != except && open_.count(s)) return make_variable(Int(32), VariableKind::Symbol, s);
  }
  return Expr(0);
}

Expr Tracer::event(const std::string &func, polyhalite_trace_event_code_t code, const Expr &parent,
                   const std::string &tag, const std::vector<Expr> &box) const {
  std::vector<Expr> args = {make_string(func), Expr(static_cast<int>(code)), parent, Expr(0),
                            make_string(tag)};
  args.insert(args.end(), box.begin(), box.end());
  return make_intrinsic(Int(32), intrinsic::kTrace, std::move(args));
}

Expr Tracer::access(const std::string &func, polyhalite_trace_event_code_t code, const Expr &parent,
                    int value_index, const Expr &value, const std::vector<Expr> &indices) const {
  std::vector<Expr> args = {value, make_string(func), Expr(static_cast<int>(code)), parent,
                            Expr(value_index)};
  args.insert(args.end(), indices.begin(), indices.end());
  return make_intrinsic(value.type(), intrinsic::kTraceAccess, std::move(args));
}

std::vector<Stmt> Tracer::tags() const {
  std::vector<Stmt> out;
  const Expr parent = parent_of({kPipeline});
  auto add = [&](const std::string &name, const std::string &tag) {
    out.push_back(make_evaluate(event(name, polyhalite_trace_tag, parent, tag, {})));
  };
  for (const AlgorithmInput &i : tree_.algorithm.inputs) {
    for (const std::string &tag : tags_of(*i.param)) add(i.param->name, tag);
  }
  for (const Directive &d : tree_.directives) {
    if (d.kind == DirectiveKind::TraceTag) add(d.func, as_imm(d.factors[0])->s);
  }
  return out;
}

Expr Tracer::with_loads(const Expr &e) const {
  class Loads : public ExprRewriter {
   public:
    explicit Loads(const Tracer &t) : t_(t) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_call(r);
      if (!c || !is_traced(*c, t_.loads_)) return r;
      const Expr parent =
          t_.parent_of({c->name + ".trace.consume", c->name + ".trace.produce", kPipeline});
      return t_.access(c->name, polyhalite_trace_load, parent, c->value_index, r, c->args);
    }

   private:
    const Tracer &t_;
  };
  return Loads(*this)(e);
}

Expr Tracer::stored(const std::string &func, int value_index, const Expr &value,
                    const std::vector<Expr> &indices) const {
  return access(func, polyhalite_trace_store, parent_of({func + ".trace.produce", kPipeline}),
                value_index, value, indices);
}

}  // namespace polyhalite
