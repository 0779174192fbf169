#include "codegen/passes/trace_tags.h"

#include "codegen/passes/trace.h"
#include "lang/ir/function.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

// Bounds over the whole pipeline of what is known inside loops.
class WholeRegion {
 public:
  WholeRegion(const LoopTree &tree, const Survey &survey) {
    for (const LoopInfo &l : tree.loops) {
      const LoopBounds &b = survey.loops[l.id];
      inside_[l.name] = {b.min, difference(sum(b.min, b.extent), Expr(1))};
      for (const Symbol &s : b.symbols) {
        inside_[s.name] = {s.lower.defined() ? s.lower : s.value,
                           s.upper.defined() ? s.upper : s.value};
      }
    }
  }

  /// Undefined ends where there is no bound.
  Box operator()(const Box &box) {
    Box whole;
    for (const IndexRange &r : box) whole.push_back({bound(r.min).min, bound(r.max).max});
    return whole;
  }

 private:
  Interval bound(const Expr &e) {
    Bounder bounder([&](const VariableNode &v) -> std::optional<Interval> {
      const auto at = inside_.find(v.name);
      return at == inside_.end() ? std::nullopt : std::optional(at->second);
    });
    return bounder(e);
  }

  std::map<std::string, Interval> inside_;  // loops and symbols of their bodies
};

std::string type_words(const std::vector<Type> &types) {
  std::string text = "func_type_and_dim: " + std::to_string(types.size());
  for (const Type &t : types) {
    text += " " + std::to_string(static_cast<int>(t.code())) + " " + std::to_string(t.bits()) +
            " " + std::to_string(t.lanes());
  }
  return text;
}

Stmt shape_tag(const std::string &name, const std::vector<Type> &types, const Box &box,
               const Expr &pipeline) {
  std::vector<Expr> numbers;
  for (const IndexRange &r : box) {
    if (!r.min.defined() || !r.max.defined()) {
      numbers.clear();  // a region that nothing bounds has no numbers
      break;
    }
    numbers.push_back(r.min);
    numbers.push_back(sum(difference(r.max, r.min), 1));
  }
  const std::string words = type_words(types) + " " + std::to_string(numbers.size() / 2);
  return make_evaluate(trace_event(name, polyhalite_trace_tag, pipeline, words, numbers));
}

}  // namespace

std::vector<Stmt> trace_tags(const LoopTree &tree, const Survey &survey,
                             const std::set<std::string> &traced_funcs, const Expr &pipeline) {
  std::vector<Stmt> out;
  for (const AlgorithmInput &i : tree.algorithm.inputs) {
    const auto input = survey.inputs.find(i.param->name);
    if (!i.param->trace_loads || input == survey.inputs.end()) continue;
    out.push_back(shape_tag(i.param->name, {i.param->type}, input->second, pipeline));
  }
  WholeRegion whole(tree, survey);
  std::map<std::string, Box> regions;  // by the Func as the user names it, copies included
  for (size_t f = 0; f < tree.algorithm.funcs.size(); f++) {
    const std::string &name = tree.algorithm.funcs[f].name;
    if (!traced_funcs.count(name)) continue;
    const Box box = whole(survey.funcs[f].stored);
    const auto [known, is_first] = regions.emplace(tree.origin_of(name), box);
    for (size_t d = 0; !is_first && d < box.size(); d++) {
      IndexRange &r = known->second[d];
      const bool bounded = r.min.defined() && box[d].min.defined();
      r.min = bounded ? smaller(r.min, box[d].min) : Expr();
      const bool ends = r.max.defined() && box[d].max.defined();
      r.max = ends ? larger(r.max, box[d].max) : Expr();
    }
  }
  for (const FuncDef &def : tree.algorithm.funcs) {
    const auto region = regions.find(def.name);
    if (region == regions.end()) continue;
    out.push_back(shape_tag(def.name, def.types, region->second, pipeline));
  }
  std::map<std::string, std::vector<std::string>> tags;
  for (const AlgorithmInput &i : tree.algorithm.inputs) {
    if (!i.param->trace_tags.empty()) tags[i.param->name] = i.param->trace_tags;
  }
  for (const Directive &d : tree.directives) {
    if (d.kind == DirectiveKind::TraceTag) tags[d.func].push_back(as_imm(d.factors[0])->s);
  }
  for (const auto &[name, texts] : tags) {
    for (const std::string &text : texts) {
      out.push_back(make_evaluate(trace_event(name, polyhalite_trace_tag, pipeline, text, {})));
    }
  }
  return out;
}

}  // namespace polyhalite
