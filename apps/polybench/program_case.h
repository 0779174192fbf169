// A program of PolyBench on made-up arrays: what it gives, against plain loops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/polybench/kernel.h"

namespace polyhalite_apps {

/// Arrays of one size for a program, and what plain loops make of them.
class ProgramCase {
 public:
  ProgramCase(const Program &program, const Kernel &kernel, const std::vector<int> &sizes);

  /// Runs plain loops; what they leave behind is what is expected.
  void expect(const std::function<void(const double *const *in, double *const *out)> &plain);
  /// The largest error of an element of `results`, relative where the expected one exceeds 1.
  double apart() const;
  /// What of `results` is not right; empty: all is.
  std::string mistakes(const Kernel &kernel) const;

  std::vector<polyhalite::Buffer<double>> images, results;

 private:
  std::vector<polyhalite::Buffer<double>> expected_;
};

}  // namespace polyhalite_apps
