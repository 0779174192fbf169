// place_barriers: threads of a block wait where one needs what others did.
//
//   for tx gpu_thread { t(tx) = in(tx) }            for tx gpu_thread { t(tx) = in(tx) }
//   for tx gpu_thread { u(tx) = t(tx)*2 }      ->   for tx gpu_thread { u(tx) = t(tx)*2 }
//                                                   barrier
//   for tx gpu_thread { f(tx) = t(tx + 1) }         for tx gpu_thread { f(tx) = t(tx + 1) }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Puts barriers in kernels, each as late as it can be, where accesses of a phase depend on those
/// that other threads may have made since the last barrier.
Function place_barriers(const Function &f);

}  // namespace polyhalite
