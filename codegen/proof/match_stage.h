// match_stage: is a write of loop IR an instance of a definition, and of which point?
//
//   definition  f(x, y) = g(x, y - 1)*2
//   loop IR     f(xo*8 + xi, y % 4) = g(xo*8 + xi, (y - 1) % 4)*2
//   instance    x = xo*8 + xi, y = y; it reads g at (xo*8 + xi, y - 1), from (y - 1) % 4
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct MatchedRead {
  bool is_image = false;
  bool is_held = false;  // an index is clamped, which may change it
  std::string callee;
  std::vector<Expr> cell;     // in loop IR
  std::vector<Expr> wanted;   // that the definition reads at the matched point
  std::vector<Expr> where;    // its value is used where all of these hold only
  std::vector<Expr> touched;  // it takes place where all of these hold only
};

struct Match {
  std::map<std::string, Expr> point;  // the definition's variables
  std::vector<Expr> where;  // the instance is run there; elsewhere what is there is written back
  std::vector<MatchedRead> reads;
};

/// What an index i % n is taken for first, where a definition has a variable: the index of a fused
/// loop, or the place of i in a ring.
enum class Modulo : uint8_t { Fused, Ring };

/// `cell` and `values` of a Provide, of which names are replaced by what they stand for. nullopt
/// where it is not seen to be an instance of `stage`.
std::optional<Match> match_stage(const FuncDef &f, const StageDef &stage,
                                 const std::vector<Expr> &cell, const std::vector<Expr> &values,
                                 Modulo first);

}  // namespace polyhalite
