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

/// Among the loops of a ComputeWith: the one that its level names.
inline constexpr const char *kSharedLoop = "";

/// Appends a directive that names a level, which is bound at the freeze.
Directive &record_level(FunctionContents &f, int stage, DirectiveKind kind, const LoopLevel &level,
                        const Here &here);

/// The directive with its level's place of now, which is locked if asked for. False where it says
/// nothing: a StoreAt of an inlined level.
bool bind_level(Directive *d, bool lock);

}  // namespace polyhalite
