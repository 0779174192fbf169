// Locks of cells that parallel iterations update: a fixed table, a lock by the cell's address.
// Nobody holds two at once.
#include <sched.h>
#include <stdint.h>

#include "codegen/runtime/internal.h"

namespace {

constexpr uintptr_t kLocks = 1024;
constexpr int kSpins = 64;
// One lock to a cache line.
struct alignas(64) Lock {
  int held;
};
Lock locks[kLocks];

Lock &lock_of(const void *cell) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(cell);
  return locks[(a / 4 ^ a >> 14) % kLocks];
}

}  // namespace

extern "C" {

PH_WEAK void polyhalite_atomic_begin(const void *cell) {
  int *held = &lock_of(cell).held;
  for (int spins = 0; __atomic_exchange_n(held, 1, __ATOMIC_ACQUIRE); spins++) {
    if (spins >= kSpins) sched_yield();
  }
}

PH_WEAK void polyhalite_atomic_end(const void *cell) {
  __atomic_store_n(&lock_of(cell).held, 0, __ATOMIC_RELEASE);
}

}  // extern "C"
