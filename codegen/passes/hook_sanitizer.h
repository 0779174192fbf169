// hook_sanitizer: what a program with a memory sanitizer is told of memory, where the target has
// msan. Compiled code is not instrumented itself.
//
//   func f(in: input, out: output) {       func f(in: input, out: output) {
//     assert ... else ...                    assert ... else ...
//     produce g {                            evaluate check_argument(in)
//       extern_stage("h", view of t,   ->    produce g {
//                    view of g)                extern_stage("h", written_buffer(view of t),
//     }                                                     checked_buffer(view of g))
//     ...                                    }
//   }                                        ...
//                                            evaluate annotate_buffer_is_initialized(out)
//                                          }
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// The same function on targets without msan.
Function hook_sanitizer(const Function &f, const Target &target);

}  // namespace polyhalite
