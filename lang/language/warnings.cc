#include "lang/language/warnings.h"

#include <set>
#include <string>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

void warn_of_unscheduled_updates(const FunctionContents &f) {
  std::set<int> scheduled;
  for (const Directive &d : f.directives) {
    if (concerns_loops(d.kind)) scheduled.insert(d.stage);
  }
  if (scheduled.empty()) return;
  for (size_t i = 0; i < f.updates.size(); i++) {
    const int stage = static_cast<int>(i) + 1;
    if (scheduled.count(stage) || f.unscheduled.count(stage)) continue;
    const std::string update = "update(" + std::to_string(i) + ")";
    user_warning("update " + std::to_string(i) + " of '" + plain_name(f.name) +
                     "' is not scheduled, and another of its definitions is",
                 "directives on a Func concern its pure definition only",
                 "schedule " + update + ", or say " + update + ".unscheduled()",
                 f.updates[i].where);
  }
}

// The last word on where it is computed is that it is computed nowhere.
bool is_inlined(const FunctionContents &f) {
  bool inlined = f.updates.empty();
  for (const Directive &d : f.directives) {
    if (d.kind == DirectiveKind::ComputeInline) inlined = f.updates.empty();
    if (d.kind == DirectiveKind::ComputeRoot || d.kind == DirectiveKind::ComputeAt) inlined = false;
  }
  return inlined;
}

void warn_of_inlined_streams(const FunctionContents &f) {
  if (!is_inlined(f)) return;
  for (const Directive &d : f.directives) {
    const bool loads = d.kind == DirectiveKind::StreamLoads;
    if (!loads && d.kind != DirectiveKind::StreamStores) continue;
    user_warning(std::string(directive_name(d.kind)) + "() of '" + plain_name(f.name) +
                     "' does nothing: '" + plain_name(f.name) + "' is computed inline",
                 loads ? "what it reads is read by the stages that use it" : "it stores nothing",
                 loads ? "say it of the Funcs that use it, or add compute_root or compute_at"
                       : "add compute_root or compute_at",
                 d.where);
  }
}

void warn_of_false_requirements(const FuncDef &f) {
  for (const StageDef &stage : f.stages) {
    for (const Expr &value : stage.values) {
      for_each_node(value, [&](const Expr &e) {
        const CallNode *c = as_call(e);
        if (!c || c->kind != CallKind::Intrinsic || c->name != intrinsic::kRequire ||
            !is_false(simplify(c->args[0]))) {
          return;
        }
        user_warning("a require() of '" + f.name + "' fails whatever the inputs are",
                     "its condition is always false", "mend the condition, or leave it out",
                     stage.where);
      });
    }
  }
}

}  // namespace

void warn_of_schedules(const FrozenPipeline &pipeline) {
  std::set<std::string> outputs(pipeline.algorithm.outputs.begin(),
                                pipeline.algorithm.outputs.end());
  for (size_t i = 0; i < pipeline.functions.size(); i++) {
    warn_of_unscheduled_updates(*pipeline.functions[i]);
    warn_of_false_requirements(pipeline.algorithm.funcs[i]);
    const std::string &name = pipeline.algorithm.funcs[i].name;
    if (!outputs.count(name)) warn_of_inlined_streams(*pipeline.functions[i]);
  }
}

}  // namespace polyhalite
