#include "schedule/eager_inline.h"

#include <set>
#include <string>

#include "lang/ir/extern_stage.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/inline.h"

namespace polyhalite {

namespace {

// Does it ask for loops or storage, which an inlined Func has not? Loops may be split and ordered.
bool asks_for_more(const Directive &d) {
  switch (d.kind) {
    case DirectiveKind::ComputeRoot:
    case DirectiveKind::ComputeAt:
    case DirectiveKind::StoreRoot:
    case DirectiveKind::StoreAt:
    case DirectiveKind::HoistStorage:
    case DirectiveKind::HoistStorageRoot:
    case DirectiveKind::RingBuffer:
    case DirectiveKind::Async:
    case DirectiveKind::ComputeWith:
    case DirectiveKind::Memoize:
    case DirectiveKind::Parallel:
    case DirectiveKind::Vectorize:
    case DirectiveKind::Unroll:
      return true;
    default:
      return concerns_device(d.kind);
  }
}

}  // namespace

Algorithm eager_inline(Algorithm a, const Directive &d, const std::vector<Directive> &before) {
  const int definition = a.find(d.func)->definition_of(d.stage);
  auto refuse = [&](const std::string &name, const std::string &why, const std::string &fix) {
    user_error("cannot inline '" + name + "' into " + describe_stage(d.func, definition), why, fix,
               d.where);
  };
  for (const std::string &name : d.funcs) {
    const FuncDef *g = a.find(name);
    if (!g) refuse(name, "the pipeline has no such Func", "name Funcs that the stage calls");
    if (name == d.func) refuse(name, "it is the Func itself", "name Funcs that the stage calls");
    if (is_extern_stage(g->stages[0])) {
      refuse(name, "a C function computes it", "leave it out");
    }
    if (is_extern_stage(a.find(d.func)->stages[0])) {
      refuse(name, "a C function reads it from memory", "leave it out");
    }
    if (g->num_definitions() > 1) {
      refuse(name, "it has update definitions, and so no single expression as its value",
             "inline Funcs with a pure definition only");
    }
    if (g->stages.size() > 1) {
      refuse(name, "it is specialized", "inline it before specialize()");
    }
    const Directive *more = nullptr;
    for (const Directive &b : before) {
      if (b.func != name) continue;
      if (b.kind == DirectiveKind::ComputeInline) more = nullptr;
      if (asks_for_more(b)) more = &b;
    }
    if (more) {
      const std::string word = directive_name(more->kind);
      refuse(name, "it is scheduled " + word + "(), which asks for loops or storage of its own",
             "call " + word + "() afterwards, for what else reads it, or drop it");
    }
  }
  inline_into_stage(a, a.index_of(d.func), d.stage, {d.funcs.begin(), d.funcs.end()});
  return a;
}

}  // namespace polyhalite
