// A program of PolyBench on made-up arrays: what it gives, against plain loops.
#pragma once

#include <string>
#include <vector>

#include "apps/polybench/kernel.h"

namespace polyhalite_apps {

/// Arrays of one size for a program, and what the plain loops make of them.
class SmallCase {
 public:
  SmallCase(const Program &program, const Kernel &kernel, const std::vector<int> &sizes);

  std::vector<polyhalite::Buffer<double>> images, results;
  /// What of `results` is not right; empty: all is.
  std::string mistakes(const Kernel &kernel) const;

 private:
  std::vector<polyhalite::Buffer<double>> expected_;
};

}  // namespace polyhalite_apps
