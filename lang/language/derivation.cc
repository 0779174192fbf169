#include "lang/language/derivation.h"

#include <algorithm>
#include <utility>

#include "lang/language/define.h"
#include "polyhalite/backend.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Of the directive that made `f`: its place among all, and which of its Funcs f is.
std::pair<uint64_t, size_t> maker(const FunctionContents &f) {
  for (const Directive &d : f.made_of->directives) {
    if (d.makes == f.name) return {d.order, 0};
    const auto at = std::find(d.makes_more.begin(), d.makes_more.end(), f.name);
    if (at != d.makes_more.end()) {
      return {d.order, 1 + static_cast<size_t>(at - d.makes_more.begin())};
    }
  }
  internal_check(false, "a derived Func without the directive that made it");
  return {};
}

bool is_changed(const FunctionContents &f, int stage) {
  return f.is_partial ||
         std::any_of(f.directives.begin(), f.directives.end(), [&](const Directive &d) {
           if (d.kind == DirectiveKind::ChangeType) return true;
           return d.stage == stage &&
                  (d.kind == DirectiveKind::Rfactor || d.kind == DirectiveKind::Fission ||
                   d.kind == DirectiveKind::Scan || d.kind == DirectiveKind::EagerInline ||
                   d.kind == DirectiveKind::HoistInvariants);
         });
}

}  // namespace

DerivedSoFar derive_so_far(const std::shared_ptr<FunctionContents> &f) {
  FunctionContents *root = f.get();
  while (root->is_partial) root = root->made_of;
  // What f is a part of lives as long as f.
  FrozenPipeline frozen = freeze_so_far(std::shared_ptr<FunctionContents>(f, root));
  DerivedSoFar result;
  if (root == f.get()) {
    result.func = frozen.algorithm.outputs[0];
  } else {
    const auto [order, number] = maker(*f);
    for (const Directive &d : frozen.directives) {
      if (d.order == order) result.func = number == 0 ? d.makes : d.makes_more[number - 1];
    }
  }
  result.pipeline = backend().derive(frozen);
  return result;
}

FuncDef current_definition(const std::shared_ptr<FunctionContents> &f, int stage) {
  if (!is_changed(*f, stage)) return definition_view(*f, stage);
  FuncDef def = derive_so_far(f).definition();
  if (stage < def.num_definitions()) return def;
  user_error(describe_stage(*f, stage) + " is no more",
             "a directive has changed the type of the Func, which is a cast of another one now",
             "schedule the Func that change_type() has returned");
}

}  // namespace polyhalite
