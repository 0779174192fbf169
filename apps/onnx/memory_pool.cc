#include "apps/onnx/memory_pool.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "polyhalite/buffer_base.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

// Less comes from the system as fast.
constexpr size_t kLeast = 64 << 10;

// All larger ones at the begin of a page, as Buffers: a load would wait for a store just before it
// that has an address some pages away.
uint8_t *from_system(size_t size) {
  namespace buffers = runtime::detail;
  if (size >= buffers::kLargeAllocation)
    return static_cast<uint8_t *>(buffers::allocate_large(size));
  void *memory = nullptr;
  const size_t alignment = size >= kLeast ? buffers::kPage : MemoryPool::kAlignment;
  return posix_memalign(&memory, alignment, size) == 0 ? static_cast<uint8_t *>(memory) : nullptr;
}

size_t rounded(int64_t bytes) {
  const int64_t whole =
      (bytes + MemoryPool::kAlignment - 1) / MemoryPool::kAlignment * MemoryPool::kAlignment;
  return static_cast<size_t>(std::max(whole, MemoryPool::kAlignment));
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (const auto &[size, memory] : kept_) std::free(memory);
}

void MemoryPool::expect(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  most_bytes_ = std::max(most_bytes_, static_cast<size_t>(bytes));
}

std::shared_ptr<uint8_t> MemoryPool::get(int64_t bytes) {
  size_t size = rounded(bytes);
  uint8_t *memory = nullptr;
  if (size >= kLeast) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto fits = kept_.lower_bound(size);
    if (fits != kept_.end() && fits->first <= size + size / 4) {
      size = fits->first;
      memory = fits->second;
      kept_bytes_ -= size;
      kept_.erase(fits);
    }
  }
  if (!memory) memory = from_system(size);
  if (!memory) {
    throw RuntimeError({"there is no memory for " + std::to_string(bytes) + " bytes",
                        "the model needs as many for its values",
                        "give smaller shapes",
                        {}});
  }
  return {memory, [pool = weak_from_this(), size](uint8_t *p) {
            const std::shared_ptr<MemoryPool> back = pool.lock();
            back &&size >= kLeast ? back->put(p, size) : std::free(p);
          }};
}

void MemoryPool::put(uint8_t *memory, size_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Other sizes make place for those of the last runs.
    while (!kept_.empty() && kept_bytes_ + bytes > most_bytes_) {
      kept_bytes_ -= kept_.begin()->first;
      std::free(kept_.begin()->second);
      kept_.erase(kept_.begin());
    }
    if (kept_bytes_ + bytes <= most_bytes_) {
      kept_.emplace(bytes, memory);
      kept_bytes_ += bytes;
      return;
    }
  }
  std::free(memory);
}

}  // namespace polyhalite::onnx
