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
  int false_refusals = 0;             // refused, but legal by enumeration on every data tried
  std::map<char, int> refused_by_claim, false_by_claim;
  std::vector<std::string> failures;  // wrong results, false acceptances, internal errors
};

/// Tries one seed; adds to the counts. Failures name the seed.
void differential(uint64_t seed, DifferentialCounts &counts);

std::string report(const DifferentialCounts &c);

}  // namespace polyhalite::test
