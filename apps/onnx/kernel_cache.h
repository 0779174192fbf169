// KernelCache: code that the programs of a session share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

/// Programs of one model for other sizes, and the bodies of its loops, have many kernels in common.
/// Threads may share it.
class KernelCache {
 public:
  /// The kernel's code, compiled where it is new. CompileError as Backend::jit() gives.
  std::shared_ptr<CompiledPipeline> code(const Kernel &k, const Target &target);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<CompiledPipeline>> code_;  // by target and signature
};

}  // namespace polyhalite::onnx
