// place_copies: host and device agree on what buffers hold.
//
//   allocate g: float32(0, n)            allocate g: float32(0, n) device
//   kernel g { ... g(x) = in(x) ... }    copy_to_device in
//   kernel f { ... f(x) = g(x) ... } ->  kernel g { ... }
//   out(0) = f(0)                        copy_to_device f
//                                        kernel f { ... }
//                                        device_dirty f
//                                        copy_to_host f
//                                        host_dirty out
//                                        out(0) = f(0)
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Buffers that kernels access have memory on the device: allocations become `device`, or, where
/// the host accesses them too, `mirrored`. Copies are done where dirty bits ask for them, so that
/// one in front of each use is enough.
Function place_copies(const Function &f);

}  // namespace polyhalite
