// differential [--from SEED] [--count N] [--seconds S]: prints the report; exits 1 on any failure,
// and at once where a program does not end.
// differential --cases FILE...: the same for cases that are written down; false refusals count too.
// differential --exact ...: the same, but compares the judge with its exact form and runs nothing.
// differential --coverage ...: draws and judges only, until all has been seen; prints which
// directives, tails and types the programs had, and exits 1 where one is in no accepted program or
// too few programs are judged.
// differential --auto ...: schedules are the auto-scheduler's.
// differential --quick ...: many programs; one in 20 becomes machine code. Seeds draw others then.
// Exits 1 too where the second proof decides too little of them.
// differential --kernels ...: schedules have kernels, which run on a card that is played.
// differential --card ...: the same on this machine's card; exits 77 where there is none. A kernel
// that breaks the card ends the run: the report says where to go on.
// differential --show SEED | FILE: prints what the seed draws (behind --kernels, with
// kernels), and what becomes of it.
// differential --ptx SEED | FILE: the loop IR of the same with kernels, and the PTX that a card
// gets. differential [--exact] --reduce SEED | FILE: prints the smallest case found that fails
// alike.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "test/fuzz/differential.h"
#include "test/fuzz/reduce.h"
#include "test/fuzz/trial_card.h"

namespace {

using namespace polyhalite::test;

// A program that never ends fails too: it waits for what does not come.
constexpr unsigned kLongestTrial = 240;  // seconds
constexpr int kNoCard = 77;              // what tests exit with that cannot run here
char hang_message[256], crash_message[256];

void give_up(int signal) {
  const char *message = signal == SIGALRM ? hang_message : crash_message;
  const ssize_t written = write(STDERR_FILENO, message, std::strlen(message));
  _exit(written < 0 ? 2 : 1);
}

// A program that does not end, or takes this one with it, is named.
void watch(const std::string &program) {
  std::snprintf(hang_message, sizeof hang_message, "%.200s: does not end\n", program.c_str());
  std::snprintf(crash_message, sizeof crash_message, "%.200s: ends by a signal\n", program.c_str());
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    auto *before = std::signal(signal, give_up);
    if (before != SIG_DFL && before != give_up) std::signal(signal, before);  // a sanitizer's
  }
  alarm(kLongestTrial);
}

Case case_of(const std::string &word, bool quick = false) {
  const bool is_seed =
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  DifferentialCounts counts;
  counts.quick = quick;
  if (is_seed) return drawn_case(std::strtoull(word.c_str(), nullptr, 10), counts);
  std::ifstream file(word);
  return parse_case({std::istreambuf_iterator<char>(file), {}}, word);
}

int reduce(const Case &c, void (*trial)(const Case &, DifferentialCounts &)) {
  auto kind = [&](const Case &tried) {
    DifferentialCounts counts;
    trial(tried, counts);
    return failure_kind(counts);
  };
  const std::string wanted = kind(c);
  if (wanted.empty()) {
    std::cout << "it does not fail\n";
    return 1;
  }
  const Case small = reduced(c, [&](const Case &tried) { return kind(tried) == wanted; });
  DifferentialCounts counts;
  trial(small, counts);
  std::cout << describe(small) << report(counts);
  return 0;
}

int try_cases(int count, char **files, void (*trial)(const Case &, DifferentialCounts &)) {
  DifferentialCounts counts;
  for (int i = 0; i < count; i++) {
    const DifferentialCounts before = counts;
    const Case c = case_of(files[i]);
    // A pipeline that is refused by mistake would run nothing, and pass.
    if (c.verdict.empty()) counts.failures.push_back(files[i] + std::string(": has no verdict"));
    watch(files[i]);
    trial(c, counts);
    alarm(0);
    if (counts.failures.size() + counts.false_refusals >
        before.failures.size() + before.false_refusals) {
      std::cout << files[i] << " fails\n";
    }
  }
  std::cout << report(counts);
  return counts.failures.empty() && counts.false_refusals == 0 ? 0 : 1;
}

int show_coverage(const DifferentialCounts &counts) {
  std::cout << coverage(counts);
  const std::vector<std::string> missing = never_accepted(counts);
  for (const std::string &word : missing) std::cout << "never accepted: " << word << "\n";
  constexpr double kLeastJudged = 0.6;
  const bool judged_enough = counts.accepted + counts.refused >= kLeastJudged * counts.drawn;
  if (!judged_enough) std::cout << "too few programs reach the judge\n";
  return counts.failures.empty() && missing.empty() && judged_enough ? 0 : 1;
}

// A proof that decides nothing finds no fault either.
void hold_proofs(DifferentialCounts &counts) {
  constexpr double kLeastProven = 0.4;
  constexpr int kFewest = 100;
  const int proven = counts.findings[0], others = counts.findings[1] + counts.findings[2];
  if (proven + others >= kFewest && proven < kLeastProven * (proven + others)) {
    counts.failures.push_back("the second proof decides too little");
  }
}

int run(int argc, char **argv) {
  uint64_t from = 0;
  int count = 2000;
  double seconds = 1e9;
  bool quick = false;
  bool shows_coverage = false;
  auto *trial = differential;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (word == "--from" && value) {
      from = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--count" && value) {
      count = std::atoi(argv[++i]);
    } else if (word == "--quick") {
      quick = true;
    } else if (word == "--exact") {
      trial = judge_both_ways;
    } else if (word == "--coverage") {
      trial = judge_only;
      shows_coverage = true;
    } else if (word == "--auto") {
      trial = auto_scheduled;
    } else if (word == "--kernels") {
      trial = with_random_kernels;
    } else if (word == "--card") {
      trial = on_card;
      if (const std::string why = why_no_card(); !why.empty()) {
        std::cout << "no card here: " << why << "\n";
        return kNoCard;
      }
    } else if (word == "--show" && value) {
      const Case c = case_of(value, quick);
      std::cout << describe(trial == with_random_kernels ? with_kernels(c) : c);
      return 0;
    } else if (word == "--ptx" && value) {
      std::cout << device_text(case_of(value, quick));
      return 0;
    } else if (word == "--reduce" && value) {
      return reduce(case_of(value, quick), trial);
    } else if (word == "--cases" && value) {
      return try_cases(argc - i - 1, argv + i + 1, trial);
    } else if (word == "--seconds" && value) {
      seconds = std::atof(argv[++i]);
    } else {
      std::cerr
          << "usage: differential [--exact | --coverage | --auto | --kernels | --card] [--quick] "
             "[--from SEED] [--count N] [--seconds S] | --cases FILE... | --show CASE | "
             "--ptx CASE | --reduce CASE\n"
             "A CASE is a seed or a file.\n";
      return 2;
    }
  }
  DifferentialCounts counts;
  counts.quick = quick;
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double next_line = 10;
  std::vector<std::pair<double, uint64_t>> slowest;
  constexpr int kFewest = 300;
  for (int i = 0; i < count && elapsed() < seconds; i++) {
    if (shows_coverage && i >= kFewest && never_accepted(counts).empty()) break;
    const uint64_t seed = from + static_cast<uint64_t>(i);
    const size_t before = counts.failures.size();
    const std::clock_t begin = std::clock();
    watch("seed " + std::to_string(seed));
    try {
      trial(drawn_case(seed, counts), counts);
    } catch (const std::exception &e) {
      counts.failures.push_back("seed " + std::to_string(seed) + ": " + e.what());
    }
    slowest.emplace_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, seed);
    for (size_t f = before; f < counts.failures.size(); f++)
      std::cerr << counts.failures[f] << "\n";
    if (trial == on_card && counts.failures.size() > before && !why_no_card().empty()) {
      std::cout << "the card is lost; go on from " << seed + 1 << "\n";
      break;
    }
    if (elapsed() > next_line) {
      std::cerr << i + 1 << " of " << count << ", " << counts.failures.size() << " failures\n";
      next_line += 10;
    }
  }
  alarm(0);
  if (quick) hold_proofs(counts);
  std::cout << report(counts);
  const auto print_seeds = [](const char *what, const std::vector<uint64_t> &seeds) {
    if (seeds.empty()) return;
    std::cout << what << ":";
    for (uint64_t s : seeds) std::cout << " " << s;
    std::cout << "\n";
  };
  print_seeds("false refusals", counts.false_refusal_seeds);
  print_seeds("counter-examples that break nothing", counts.unshown_seeds);
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  std::cout << static_cast<int64_t>(3600 * counts.drawn / cpu) << " programs an hour of a core\n";
  std::sort(slowest.rbegin(), slowest.rend());
  slowest.resize(std::min<size_t>(slowest.size(), 5));
  std::cout << "slowest:";
  for (const auto &[time, seed] : slowest) std::cout << " " << seed << " (" << time << " s)";
  std::cout << "\n";
  if (shows_coverage) return show_coverage(counts);
  return counts.failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
}
