// DifferentialCounts: what became of the cases of the differential test.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace polyhalite::test {

struct DifferentialCounts {
  /// Many programs in little time: one in 20 becomes machine code, and seeds draw others.
  bool quick = false;
  int drawn = 0;
  int structural = 0;  // refused by a structural error
  int refused = 0;     // refused by the judge
  int accepted = 0;
  int enumerated = 0;        // verdicts that enumeration decided
  int false_refusals = 0;    // refused, but legal by enumeration on all data and sizes tried
  int counter_examples = 0;  // of refusals, enumerated at the sizes that they name
  int executed = 0, not_run = 0;
  int refused_late = 0;                   // accepted, and then no kernel could be made of it
  int compiled = 0;                       // executed ones that became machine code
  int with_kernels = 0;                   // of these, those with kernels, on a card
  int rounded = 0;                        // outputs of a real card that are rounded otherwise
  int memoized = 0;                       // run twice, since Funcs are kept between runs
  int with_extern = 0;                    // executed ones with C functions in them
  int traced = 0;                         // executed ones whose trace events were checked
  int judged_exactly = 0;                 // verdicts of the judge held against its exact form
  int exactly_unknown = 0;                // of these, questions that isl's quota did not answer
  int findings[3] = {0, 0, 0};            // of the second proof: proven, undecided, refused
  std::map<std::string, int> undecided;   // why
  int sliding = 0, folded = 0;            // accepted ones with a sliding window, with a ring
  std::map<std::string, double> seconds;  // of the processor, by what was done
  std::map<char, int> refused_by_claim, false_by_claim;
  // Programs with a directive, a tail, a type of values: all, and those that the judge accepted.
  std::map<std::string, int> drawn_with, accepted_with;
  std::vector<uint64_t> false_refusal_seeds, unshown_seeds;  // unshown: nothing breaks there
  std::vector<std::string> failures;  // wrong results, false acceptances, internal errors
};

/// Adds the processor's time that it lives to a part of the counts.
class Stopwatch {
 public:
  Stopwatch(DifferentialCounts &counts, const char *part) : sum_(counts.seconds[part]) {}
  Stopwatch(const Stopwatch &) = delete;
  ~Stopwatch() { sum_ += static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC; }

 private:
  double &sum_;
  const std::clock_t begin_ = std::clock();
};

std::string report(const DifferentialCounts &c);

/// In few words how the one case that was tried failed; empty where it did not.
std::string failure_kind(const DifferentialCounts &c);

/// A table of drawn_with and accepted_with.
std::string coverage(const DifferentialCounts &c);
/// The directives, tails and types that no accepted program has. Those of devices need only be
/// drawn.
std::vector<std::string> never_accepted(const DifferentialCounts &c);

}  // namespace polyhalite::test
