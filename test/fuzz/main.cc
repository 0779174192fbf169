// differential [--from SEED] [--count N] [--seconds S]: prints the report; exits 1 on any failure.
// differential --exact ...: the same, but compares the judge with its exact form and runs nothing.
// differential --auto ...: schedules are the auto-scheduler's.
// differential --kernels ...: schedules have kernels, which run on the CPU.
// differential --show SEED: prints what the seed draws; behind --kernels, with kernels.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "test/fuzz/differential.h"

int main(int argc, char **argv) {
  uint64_t from = 0;
  int count = 2000;
  double seconds = 1e9;
  auto *trial = polyhalite::test::differential;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--from" && value) {
      from = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--count" && value) {
      count = std::atoi(argv[++i]);
    } else if (word == "--exact") {
      trial = polyhalite::test::judge_both_ways;
    } else if (word == "--auto") {
      trial = polyhalite::test::auto_scheduled;
    } else if (word == "--kernels") {
      trial = polyhalite::test::with_random_kernels;
    } else if (word == "--show" && value) {
      std::cout << polyhalite::test::describe(std::strtoull(value, nullptr, 10),
                                              trial == polyhalite::test::with_random_kernels);
      return 0;
    } else if (word == "--seconds" && value) {
      seconds = std::atof(argv[++i]);
    } else {
      std::cerr << "usage: differential [--exact|--auto|--kernels] [--from SEED] [--count N] "
                   "[--seconds S] | "
                   "--show "
                   "SEED\n";
      return 2;
    }
  }
  polyhalite::test::DifferentialCounts counts;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double next_line = 10;
  for (int i = 0; i < count && elapsed() < seconds; i++) {
    trial(from + static_cast<uint64_t>(i), counts);
    if (elapsed() > next_line) {
      std::cerr << i + 1 << " of " << count << ", " << counts.failures.size() << " failures\n";
      next_line += 10;
    }
  }
  std::cout << polyhalite::test::report(counts);
  if (!counts.false_refusal_seeds.empty()) {
    std::cout << "false refusals:";
    for (uint64_t s : counts.false_refusal_seeds) std::cout << " " << s;
    std::cout << "\n";
  }
  return counts.failures.empty() ? 0 : 1;
}
