// The differential test: random algorithms with random schedules against the two oracles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace polyhalite::test {

struct DifferentialCounts {
  int drawn = 0;
  int structural = 0;  // refused by a structural error
  int refused = 0;     // refused by the judge
  int accepted = 0;
  int enumerated = 0;      // verdicts that enumeration decided
  int false_refusals = 0;  // refused, but legal by enumeration on all data and sizes tried
  int executed = 0, not_run = 0;
  int memoized = 0;             // run twice, since Funcs are kept between runs
  int traced = 0;               // executed ones whose trace events were checked
  int judged_exactly = 0;       // verdicts of the judge held against its exact form
  int exactly_unknown = 0;      // of these, questions that isl's quota did not answer
  int sliding = 0, folded = 0;  // accepted ones with a sliding window, with a ring
  std::map<char, int> refused_by_claim, false_by_claim;
  std::vector<uint64_t> false_refusal_seeds;
  std::vector<std::string> failures;  // wrong results, false acceptances, internal errors
};

/// Tries one seed; adds to the counts. Failures name the seed.
void differential(uint64_t seed, DifferentialCounts &counts);

/// Judges one seed's tree twice, also asking isl about everything: surveys must hold exactly, and
/// both verdicts must agree. Runs nothing.
void judge_both_ways(uint64_t seed, DifferentialCounts &counts);

/// Lets the auto-scheduler complete the schedule of the seed's algorithm, in some cases behind the
/// random directives that are legal; the result must be legal and give the interpreter's values.
void auto_scheduled(uint64_t seed, DifferentialCounts &counts);

/// Gives the seed's algorithm a random schedule with kernels, and runs what it becomes on the CPU.
void with_random_kernels(uint64_t seed, DifferentialCounts &counts);

/// The seed's algorithm and schedule, and what tree and survey make of them.
std::string describe(uint64_t seed, bool kernels = false);

std::string report(const DifferentialCounts &c);

}  // namespace polyhalite::test
