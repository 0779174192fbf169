// Memory whose neighbours nobody can touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace polyhalite::test {

/// Whole pages of elements, at least one; an access in front of them or behind them is a fault.
template <typename T>
class GuardedPages {
 public:
  /// Room for `elements`.
  explicit GuardedPages(size_t elements = 1) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (elements * sizeof(T) + page_ - 1) / page_ * page_;
    if (bytes_ == 0) bytes_ = page_;
    void *at = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    base_ = static_cast<char *>(at);
    if (mprotect(base_ + page_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~GuardedPages() { munmap(base_, bytes_ + 2 * page_); }
  GuardedPages(const GuardedPages &) = delete;
  GuardedPages &operator=(const GuardedPages &) = delete;

  T *first() { return reinterpret_cast<T *>(base_ + page_); }
  T *end() { return reinterpret_cast<T *>(base_ + page_ + bytes_); }

 private:
  size_t page_ = 0, bytes_ = 0;
  char *base_ = nullptr;
};

}  // namespace polyhalite::test
