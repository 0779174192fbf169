// resolve_random: random numbers as arithmetic on the variables of the definition that uses them.
//   random(7u32, seed)  ->  mix(mix(mix(mix(7, seed), definition), x), y)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhalite/expr.h"

namespace polyhalite {

/// `definition` names the definition, `variables` are its loops' variables.
Expr resolve_random(const Expr &e, const std::string &definition,
                    const std::vector<Expr> &variables);

/// The number of a new call of random_int() and its kin.
uint32_t next_random_call();
/// While it lives, calls are numbered as if those after its construction were the process's first
/// ones: a program that is run again has the same numbers, as for each target of a function.
class SameRandomCalls {
 public:
  SameRandomCalls();
  ~SameRandomCalls();
  SameRandomCalls(const SameRandomCalls &) = delete;
  SameRandomCalls &operator=(const SameRandomCalls &) = delete;

 private:
  uint32_t before_;
};

}  // namespace polyhalite
