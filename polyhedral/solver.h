// solver: has a Problem an integer solution, and which is the smallest? Answers are remembered by
// the problem's rows, as plain integers, for as long as the Solver lives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/isl_wrap.h"
#include "polyhedral/model/constraints.h"

namespace polyhalite {

struct Solution {
  enum Answer : uint8_t { None, Found, Unknown } answer = None;
  std::vector<int64_t> values;  // Found: [variable], small numbers where there are some
  std::string problem;          // Unknown: why
};

class Solver {
 public:
  /// `operations`: isl's quota for each conjunction of a problem.
  explicit Solver(unsigned long operations) : operations_(operations) {}

  Solution solve(const Problem &problem);
  /// A point that `inside` has and `outside` has not, over the variables that are kept of each, in
  /// this order; all others are existential. None where inside is covered.
  Solution uncovered(const Problem &inside, const std::vector<int> &inside_keep,
                     const Problem &outside, const std::vector<int> &outside_keep);

  /// Questions that isl was asked so far; the rest came from memory.
  int questions() const { return questions_; }

 private:
  IslContext &context();
  Solution smallest(const Problem &problem, const Conjunction &rows);
  using Visit = std::function<bool(const Conjunction &)>;
  /// Calls `visit` with the conjunctions that the choices give, until it returns true. False where
  /// there are too many.
  bool for_each_conjunction(const Problem &problem, const Visit &visit);
  /// Variable v is dimension place[v].
  IslSet to_set(const Problem &problem, const Conjunction &rows, const std::vector<int> &place);
  /// The points' coordinates that are kept. nullopt where there are too many conjunctions.
  std::optional<IslSet> to_set(Problem problem, std::vector<int> keep);

  unsigned long operations_;
  std::unique_ptr<IslContext> context_;  // made when first needed
  std::map<std::vector<int64_t>, Solution> memory_;
  int questions_ = 0;
};

}  // namespace polyhalite
