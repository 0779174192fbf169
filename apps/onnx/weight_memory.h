// weight_memory: memory for elements that kernels stream through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace polyhalite::onnx {

/// Zeros, which begin where lines of the caches do, so that no vector of them lies in two. Large
/// ones are in large pages where the system has them: streams then seldom wait for addresses.
std::shared_ptr<uint8_t> weight_memory(size_t bytes);

}  // namespace polyhalite::onnx
