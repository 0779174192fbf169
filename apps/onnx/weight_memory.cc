#include "apps/onnx/weight_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace polyhalite::onnx {

std::shared_ptr<uint8_t> weight_memory(size_t bytes) {
  constexpr size_t kLine = 64, kLargePage = 2 << 20;
  const size_t unit = bytes < kLargePage ? kLine : kLargePage;
  const size_t size = (bytes + unit - 1) / unit * unit;
  void *memory = size == 0 ? std::aligned_alloc(kLine, kLine) : std::aligned_alloc(unit, size);
  if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // Before the first touch. Only advice: where it is refused, pages are ordinary ones.
  if (unit == kLargePage) madvise(memory, size, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
  return {static_cast<uint8_t *>(memory), [](uint8_t *p) { std::free(p); }};
}

}  // namespace polyhalite::onnx
