// fence_streams: fences between streamed stores and what lets other threads read them.
//
//   parallel for y { for x { stream f[x] = v } }  ->  parallel for y { for x { ... }; fence }
//   for x { stream f[x] = v }                     ->  for x { stream f[x] = v }
//   parallel for y { g[y] = f[y] }                    fence
//                                                     parallel for y { g[y] = f[y] }
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// The same function on targets whose streamed stores keep the order of others.
Function fence_streams(const Function &f, const Target &target);

}  // namespace polyhalite
