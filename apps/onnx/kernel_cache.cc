#include "apps/onnx/kernel_cache.h"

namespace polyhalite::onnx {

std::shared_ptr<CompiledPipeline> KernelCache::code(const Kernel &k, const Target &target) {
  const std::string key = target.to_string() + "\n" + k.signature;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto at = code_.find(key); at != code_.end()) return at->second;
  }
  // Others compile meanwhile; of two that compile the same, the first one's stays.
  std::shared_ptr<CompiledPipeline> made = backend().jit(*k.pipeline, target);
  const std::lock_guard<std::mutex> lock(mutex_);
  return code_.emplace(key, std::move(made)).first->second;
}

}  // namespace polyhalite::onnx
