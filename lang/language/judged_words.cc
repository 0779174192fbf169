#include "lang/language/judged_words.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lang/ir/extern_stage.h"
#include "lang/ir/freeze.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/define.h"
#include "lang/language/stage_loops.h"
#include "lang/simplify/associative.h"
#include "polyhalite/backend.h"

namespace polyhalite {

namespace {

// Only what other Funcs hold is unknown: they are images.
class ImagesForFuncs : public ExprRewriter {
 public:
  explicit ImagesForFuncs(const std::string &own) : own_(own) {}
  std::vector<AlgorithmInput> inputs;

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name == own_) return r;
    auto call = std::make_shared<CallNode>(c->type, CallKind::Image, c->name, c->args);
    call->param = image(c->name + "." + std::to_string(c->value_index), *c);
    call->name = call->param->name;
    return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
  }

 private:
  std::shared_ptr<ParameterContents> image(const std::string &name, const CallNode &c) {
    auto &p = images_[name];
    if (p) return p;
    p = std::make_shared<ParameterContents>();
    p->name = name;
    p->type = c.type;
    p->is_buffer = true;
    p->dimensions = static_cast<int>(c.args.size());
    p->dims.resize(c.args.size());
    inputs.push_back({p});
    return p;
  }

  const std::string &own_;
  std::map<std::string, std::shared_ptr<ParameterContents>> images_;
};

bool speaks_of_loops(DirectiveKind kind) {
  return (concerns_loops(kind) && !concerns_device(kind)) || kind == DirectiveKind::Atomic ||
         kind == DirectiveKind::AllowRaceConditions;
}

// The Func alone, computed over all of its output; none where the program is not that far.
std::optional<FrozenPipeline> alone(const std::shared_ptr<FunctionContents> &f) {
  FrozenPipeline p;
  try {
    p = freeze_so_far(f);
  } catch (const CompileError &) {
    return std::nullopt;
  }
  const std::string name = p.algorithm.outputs[0];
  FuncDef def = *p.algorithm.find(name);
  ImagesForFuncs images(name);
  for (StageDef &s : def.stages) {
    for (Expr &e : s.args) e = images(e);
    for (Expr &e : s.values) e = images(e);
    for (ReductionVariable &v : s.rvars) {
      v.min = images(v.min);
      v.extent = images(v.extent);
    }
    if (s.predicate.defined()) s.predicate = images(s.predicate);
  }
  p.algorithm.funcs = {std::move(def)};
  p.algorithm.inputs.insert(p.algorithm.inputs.end(), images.inputs.begin(), images.inputs.end());
  p.algorithm.requirements.clear();
  auto &list = p.directives;
  list.erase(std::remove_if(
                 list.begin(), list.end(),
                 [&](const Directive &d) { return d.func != name || !speaks_of_loops(d.kind); }),
             list.end());
  return p;
}

// What decides it lies outside of the Func's own definitions and loops.
bool is_open(const FunctionContents &f) {
  if (f.is_partial) return true;
  return std::any_of(f.directives.begin(), f.directives.end(), [](const Directive &d) {
    return makes_func(d.kind) || d.kind == DirectiveKind::Specialize ||
           d.kind == DirectiveKind::SpecializeFail || d.kind == DirectiveKind::EagerInline ||
           concerns_device(d.kind);
  });
}

bool concerns_reduction(const FunctionContents &f, const Stage &s, const Directive &d) {
  // Loops that fuse has joined are no more; what they became has their kind.
  for (const CurrentLoop &l : current_loops(f, s.index(), s.branch())) {
    if (l.is_reduction && std::count(d.loops.begin(), d.loops.end(), l.name)) return true;
  }
  return false;
}

}  // namespace

void judge_reduction(const Stage &s, size_t first) {
  const std::shared_ptr<FunctionContents> &f = s.function();
  if (s.index() == 0 || !s.branch().empty() || is_open(*f)) return;
  const Directive &d = f->directives.back();
  if (!concerns_reduction(*f, s, d)) return;
  const bool orders = d.kind == DirectiveKind::Reorder || d.kind == DirectiveKind::Fuse;
  if (orders) {
    const auto update = prove_associative(definition_view(*f, s.index()), s.index());
    if (update && update->commutative) return;
  }
  const std::optional<FrozenPipeline> pipeline = alone(f);
  if (!pipeline) return;
  try {
    backend().judge_loops(*pipeline);
  } catch (const CompileError &) {
    f->directives.resize(first);
    throw;
  }
}

}  // namespace polyhalite
