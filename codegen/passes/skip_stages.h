// skip_stages: a production runs only where a later statement needs what it writes.
//
//   allocate f                                   allocate f
//   produce f { for x { f(x) = ... } }     ->    if p { produce f { for x { f(x) = ... } } }
//   for x { g(x) = select(p, f(x), 0) }          for x { g(x) = select(p, f(x), 0) }
//
// Both sides of a select are evaluated: where f is not produced, its value is arbitrary, and not
// used.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

Function skip_stages(const Function &f);

}  // namespace polyhalite
