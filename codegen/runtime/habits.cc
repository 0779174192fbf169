#include "codegen/runtime/habits.h"

#include <time.h>

namespace polyhalite::runtime {

namespace {

constexpr uint32_t kPlaces = 1024;  // a power of two
constexpr uint32_t kLong = 300000;  // ticks, about 100 us, that threads always share
// The first run fetches code and data; those after it measure both ways.
constexpr uint32_t kFirstShared = 9, kFirst = 13;
// Now and then runs look whether the other way has become the better one, some in a row, of which
// the least counts. More seldom where it was much worse.
constexpr uint32_t kLooks = 8, kOften = 256, kSeldom = 4096;

Habit habits[kPlaces];

uint32_t get(const uint32_t &field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); }
void set(uint32_t &field, uint32_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }

// A thread that was interrupted says little of the loop.
uint32_t mean(uint32_t known, uint32_t now) {
  if (now > known + known / 2) return known + known / 16 + 1;
  return known - known / 8 + now / 8;
}

uint32_t least(uint32_t known, uint32_t now) { return known == 0 || now < known ? now : known; }

// Of the run: its place among those that look, or kLooks.
uint32_t look_of(const Habit &h, uint32_t run) {
  const uint32_t alone = get(h.alone), shared = get(h.shared);
  const uint32_t less = alone < shared ? alone : shared, more = alone < shared ? shared : alone;
  const uint32_t place = run % (more < less + less / 2 ? kOften : kSeldom);
  return run >= kFirst && place < kLooks ? place : kLooks;
}

}  // namespace

uint64_t ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
#endif
}

Habit &habit_of(uintptr_t loop, int extent, int threads) {
  loop ^= (static_cast<uintptr_t>(extent) << 7 ^ static_cast<uintptr_t>(threads)) * 0x9e3779b1u;
  if (loop == 0) loop = 1;
  Habit &h = habits[(loop * 0x9e3779b1u >> 12) % kPlaces];
  if (__atomic_load_n(&h.loop, __ATOMIC_RELAXED) == loop) return h;
  set(h.alone, 0);
  set(h.shared, 0);
  set(h.runs, 0);
  __atomic_store_n(&h.loop, loop, __ATOMIC_RELAXED);
  return h;
}

Way way_of(Habit &h, bool asleep) {
  const uint32_t run = get(h.runs), alone = get(h.alone), shared = get(h.shared);
  const bool better = alone != 0 && alone <= shared;
  const bool looks = look_of(h, run) < kLooks;
  if (looks && better && asleep) return {true, true, true};
  set(h.runs, run + 1);
  const bool by_one = run < kFirst ? run >= kFirstShared && shared <= kLong : better != looks;
  const bool always_shared = shared > kLong;
  return {by_one && !always_shared, false, run > 0 && !always_shared && (by_one || !asleep)};
}

void learn(Habit &h, bool alone, uint64_t ticks) {
  const uint32_t now = ticks > UINT32_MAX / 4 ? UINT32_MAX / 4 : static_cast<uint32_t>(ticks) + 1;
  const uint32_t run = get(h.runs) - 1;
  uint32_t &known = alone ? h.alone : h.shared;
  const bool is_better = alone == (get(h.alone) <= get(h.shared));
  if (run < kFirst || get(known) == 0) return set(known, least(get(known), now));
  const uint32_t place = look_of(h, run);
  if (place == kLooks || is_better) return set(known, mean(get(known), now));
  set(h.seen, place == 0 ? now : least(get(h.seen), now));
  if (place == kLooks - 1) set(known, get(h.seen));
}

}  // namespace polyhalite::runtime
