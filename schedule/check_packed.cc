#include "schedule/check_packed.h"

#include <algorithm>

#include "lang/ir/extern_stage.h"
#include "polyhalite/error.h"

namespace polyhalite {

void check_packed(const LoopTree &t) {
  for (size_t f = 0; f < t.storage.size(); f++) {
    const FuncDef &func = t.algorithm.funcs[f];
    const FuncStorage &storage = t.storage[f];
    if (storage.packed.empty()) continue;
    auto refuse = [&](const std::string &why, const std::string &fix) {
      user_error("cannot pack '" + t.origin_of(func.name) + "'", why, fix, storage.pack_where);
    };
    if (t.algorithm.is_output(func.name)) {
      refuse("it is an output, and the caller's buffer has no blocks",
             "pack a Func that the output is computed from");
    }
    auto refuse_extern = [&](const FuncDef &stage) {
      refuse("the C function of extern stage '" + stage.name + "' takes its memory as it is",
             "drop pack, or put a Func between them by in()");
    };
    for (const FuncDef &other : t.algorithm.funcs) {
      const CallNode *stage = extern_stage_of(other);
      if (!stage) continue;
      if (other.name == func.name) refuse_extern(other);
      for (const ExternOperand &o : extern_operands(*stage)) {
        if (o.buffer && o.buffer->name == func.name) refuse_extern(other);
      }
    }
    for (const Directive &d : t.directives) {
      if (d.kind != DirectiveKind::DebugToFile || d.func != t.origin_of(func.name)) continue;
      refuse("debug_to_file writes its memory as it is", "drop one of both");
    }
  }
}

}  // namespace polyhalite
