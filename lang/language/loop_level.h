// What the handles of one LoopLevel share, and how its place becomes a directive.
#pragma once

#include <string>

#include "lang/ir/function.h"
#include "polyhalite/stage.h"

namespace polyhalite {

struct LoopLevelContents {
  enum Kind { Undefined, Loop, Root, Inlined } kind = Undefined;
  std::string func, loop;  // process-unique
  bool is_rvar = false;
  int stage = -1;
  bool locked = false;  // a pipeline has been compiled with it
  SourceLocation where;
};

/// Appends ComputeAt or StoreAt with the level that is bound at the freeze.
void record_level(FunctionContents &f, DirectiveKind kind, const LoopLevel &level,
                  const Here &here);

/// The directive with its level's place of now, which is locked. False where it says nothing: a
/// StoreAt of an inlined level.
bool bind_level(Directive *d);

}  // namespace polyhalite
