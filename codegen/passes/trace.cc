#include "codegen/passes/trace.h"

#include <algorithm>

#include "codegen/passes/buffer_fields.h"
#include "codegen/passes/trace_tags.h"
#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

constexpr const char *kPipeline = "trace";

Expr number(const std::string &symbol) {
  return make_variable(Int(32), VariableKind::Symbol, symbol);
}

Expr extent_of(const IndexRange &r) {
  return make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1));
}

// x, reported. The condition is made narrower where the access takes place in some cases only.
Expr access_event(const std::string &func, polyhalite_trace_event_code_t event, const Expr &parent,
                  int value_index, const Expr &x, const std::vector<Expr> &indices) {
  std::vector<Expr> args = {
      x, make_true(), make_string(func), Expr(static_cast<int>(event)), parent, Expr(value_index)};
  args.insert(args.end(), indices.begin(), indices.end());
  return make_intrinsic(x.type(), intrinsic::kTraceAccess, std::move(args));
}

}  // namespace

Expr trace_event(const std::string &func, polyhalite_trace_event_code_t event, const Expr &parent,
                 const std::string &tag, const std::vector<Expr> &numbers) {
  std::vector<Expr> args = {make_string(func), Expr(static_cast<int>(event)), parent, Expr(0),
                            make_string(tag)};
  args.insert(args.end(), numbers.begin(), numbers.end());
  return make_intrinsic(Int(32), intrinsic::kTrace, std::move(args));
}

Tracer::Tracer(const LoopTree &tree, const Survey &survey, const TraceAll &all)
    : tree_(tree), survey_(survey), all_(all) {
  std::map<DirectiveKind, std::set<std::string>> asked;
  for (const Directive &d : tree.directives) asked[d.kind].insert(d.func);
  // Of Funcs that are substituted into others nothing is left; copies are the Func that they copy.
  for (const FuncDef &f : tree.algorithm.funcs) {
    auto traces = [&](DirectiveKind kind) { return asked[kind].count(tree.origin_of(f.name)) > 0; };
    if (all.loads || traces(DirectiveKind::TraceLoads)) loads_.insert(f.name);
    if (all.stores || traces(DirectiveKind::TraceStores)) stores_.insert(f.name);
    if (all.realizations || traces(DirectiveKind::TraceRealizations)) realizations_.insert(f.name);
  }
  is_active_ = all.loads || all.stores || all.realizations || all.pipeline ||
               !asked[DirectiveKind::TracePipeline].empty() || !loads_.empty() ||
               !stores_.empty() || !realizations_.empty();
  for (const AlgorithmInput &i : tree.algorithm.inputs) {
    is_active_ = is_active_ || i.param->trace_loads;
  }
}

std::string Tracer::symbol(const std::string &func, Span span) {
  return func + (span == Span::Realization  ? ".trace"
                 : span == Span::Production ? ".trace.produce"
                                            : ".trace.consume");
}

Expr Tracer::parent_of(const std::string &func) const {
  const auto spans = open_.find(func);
  return spans == open_.end() || spans->second.empty() ? Expr(0)
                                                       : number(symbol(func, spans->second.back()));
}

bool Tracer::is_open(int func, Span span) const {
  const auto spans = open_.find(name_of(func));
  return spans != open_.end() &&
         std::find(spans->second.begin(), spans->second.end(), span) != spans->second.end();
}

bool Tracer::is_output(int func) const {
  const auto &outputs = tree_.algorithm.outputs;
  return std::find(outputs.begin(), outputs.end(), name_of(func)) != outputs.end();
}

void Tracer::open(int func, Span span) { open_[name_of(func)].push_back(span); }

std::vector<Expr> Tracer::box_of(int func, Span span) const {
  std::vector<Expr> box;
  const FuncDef &f = tree_.algorithm.funcs[func];
  if (span == Span::Realization && is_output(func)) {
    for (int d = 0; d < f.dimensions(); d++) {
      for (const char *what : {"min", "extent"}) {
        box.push_back(buffer_field(f.buffer_name(0), what, static_cast<size_t>(d)));
      }
    }
    return box;
  }
  const FuncSurvey &s = survey_.funcs[func];
  for (int d = 0; d < f.dimensions(); d++) {
    IndexRange r = span == Span::Realization ? s.stored[d] : s.computed[d];
    // What tiles compute again is no part of the production.
    if (span != Span::Realization && s.slides[d] && s.slides[d]->first.defined()) {
      (s.slides[d]->down ? r.max : r.min) = s.slides[d]->first;
    }
    box.push_back(r.min);
    box.push_back(extent_of(r));
  }
  return box;
}

Stmt Tracer::close(int func, Stmt body) {
  const std::string &name = name_of(func);
  const Span span = open_[name].back();
  open_[name].pop_back();
  const auto [begin, end] =
      [&]() -> std::pair<polyhalite_trace_event_code_t, polyhalite_trace_event_code_t> {
    switch (span) {
      case Span::Realization:
        return {polyhalite_trace_begin_realization, polyhalite_trace_end_realization};
      case Span::Production:
        return {polyhalite_trace_produce, polyhalite_trace_end_produce};
      default:
        return {polyhalite_trace_consume, polyhalite_trace_end_consume};
    }
  }();
  const Expr parent = span == Span::Realization ? number(kPipeline) : parent_of(name);
  const std::vector<Expr> box = box_of(func, span);
  const std::string own = symbol(name, span);
  const std::string &reported = tree_.origin_of(name);
  return make_let_stmt(
      own, trace_event(reported, begin, parent, "", box),
      make_block({body, make_evaluate(trace_event(reported, end, number(own), "", box))}));
}

bool Tracer::traces_load(const CallNode &c) const {
  if (c.kind == CallKind::Func) return loads_.count(c.name) > 0;
  return c.kind == CallKind::Image && (all_.loads || (c.param && c.param->trace_loads));
}

Stmt Tracer::pipeline(const std::string &name, Stmt body) const {
  std::set<std::string> traced = loads_;
  traced.insert(stores_.begin(), stores_.end());
  traced.insert(realizations_.begin(), realizations_.end());
  std::vector<Stmt> parts = trace_tags(tree_, survey_, traced, number(kPipeline));
  parts.push_back(std::move(body));
  parts.push_back(
      make_evaluate(trace_event(name, polyhalite_trace_end_pipeline, number(kPipeline), "", {})));
  return make_let_stmt(kPipeline,
                       trace_event(name, polyhalite_trace_begin_pipeline, Expr(0), "", {}),
                       make_block(std::move(parts)));
}

Expr Tracer::with_loads(const Expr &e) const {
  class Loads : public ExprRewriter {
   public:
    explicit Loads(const Tracer &t) : t_(t) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_call(r);
      if (!c || !t_.traces_load(*c)) return r;
      const bool image = c->kind == CallKind::Image;
      const Expr parent = image ? number(kPipeline) : t_.parent_of(c->name);
      return access_event(image ? c->name : t_.tree_.origin_of(c->name), polyhalite_trace_load,
                          parent, c->value_index, r, c->args);
    }

   private:
    const Tracer &t_;
  };
  return is_active_ ? Loads(*this)(e) : e;
}

Expr Tracer::stored(int func, int value_index, const Expr &value,
                    const std::vector<Expr> &indices) const {
  const std::string &name = name_of(func);
  return access_event(tree_.origin_of(name), polyhalite_trace_store, parent_of(name), value_index,
                      value, indices);
}

}  // namespace polyhalite
