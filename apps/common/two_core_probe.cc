#include "apps/common/two_core_probe.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

namespace polyhalite_apps {
namespace {

constexpr int kChains = 12;  // independent accumulators: they hide the latency of one

// Each kernel runs `n` rounds of kChains dependent chains and returns the floats per vector.
typedef float Vector __attribute__((vector_size(16)));

int run_portable(long n) {
  Vector sums[kChains] = {};
  const Vector factor = {0.5f, 0.5f, 0.5f, 0.5f};
  for (long i = 0; i < n; i++) {
    for (Vector &sum : sums) {
      sum = sum * factor + factor;
      asm volatile("" : "+m"(sum));
    }
  }
  return 4;
}

#if defined(__x86_64__)
#define POLYHALITE_CHAINS(FMA) \
  FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10) FMA(11)

// Zeros: denormal numbers, which the registers may hold, would slow the chains down.
int run_avx512(long n) {
  asm volatile("vzeroall" ::: "memory");
  for (long i = 0; i < n; i++) {
#define FMA(r) asm volatile("vfmadd213ps %%zmm15, %%zmm14, %%zmm" #r ::: "xmm" #r);
    POLYHALITE_CHAINS(FMA)
#undef FMA
  }
  return 16;
}

int run_avx2(long n) {
  asm volatile("vzeroall" ::: "memory");
  for (long i = 0; i < n; i++) {
#define FMA(r) asm volatile("vfmadd213ps %%ymm15, %%ymm14, %%ymm" #r ::: "xmm" #r);
    POLYHALITE_CHAINS(FMA)
#undef FMA
  }
  return 8;
}

int run(long n) {
  if (__builtin_cpu_supports("avx512f")) return run_avx512(n);
  if (__builtin_cpu_supports("fma")) return run_avx2(n);
  return run_portable(n);
}
#else
int run(long n) { return run_portable(n); }
#endif

double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; i++) {
      if (CPU_ISSET(i, &set)) cores.push_back(i);
    }
  }
  return cores;
}

constexpr long kRounds = 2'000'000;

// GFLOP/s of `cores`, all at once; of one by its processor time, which others' work does not
// change.
double rate(const std::vector<int> &cores) {
  const int count = static_cast<int>(cores.size());
  const clockid_t clock = count == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::atomic<int> ready{0};
  std::vector<double> begin(count), end(count);
  std::vector<int> lanes(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; t++) {
    threads.emplace_back([&, t] {
      pin(cores[t]);
      run(kRounds / 4);
      ready++;
      while (ready < count) std::this_thread::yield();
      begin[t] = seconds(clock);
      lanes[t] = run(kRounds);
      end[t] = seconds(clock);
    });
  }
  for (std::thread &t : threads) t.join();
  const double taken =
      *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
  return 2.0 * kChains * lanes[0] * kRounds * count / taken / 1e9;
}

}  // namespace

ProbeResult probe_two_cores() {
  const std::vector<int> cores = usable_cores();
  ProbeResult result;
  if (cores.empty()) return result;
  result.one_core = rate({cores[0]});
  if (cores.size() < 2) return result;
  result.one_core = std::max(result.one_core, rate({cores[1]}));
  result.two_cores = rate({cores[0], cores[1]});
  return result;
}

}  // namespace polyhalite_apps
