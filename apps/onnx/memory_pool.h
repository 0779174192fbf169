// MemoryPool: memory that runs give back, for the next ones. From the system each of its pages
// would be a fault anew, which takes longer than most operators need for a page.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace polyhalite::onnx {

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  static constexpr int64_t kAlignment = 64;

  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;
  ~MemoryPool();

  /// A run needs so many bytes together: as many are kept.
  void expect(int64_t bytes);
  /// Aligned and of any content; goes back to the pool when nobody holds it, or to the system when
  /// the pool is gone. RuntimeError where there is none.
  std::shared_ptr<uint8_t> get(int64_t bytes);

 private:
  void put(uint8_t *memory, size_t bytes);

  std::mutex mutex_;
  std::multimap<size_t, uint8_t *> kept_;  // by size
  size_t kept_bytes_ = 0, most_bytes_ = 0;
};

}  // namespace polyhalite::onnx
