// The text form of an algorithm, which reads back: to_text(parse_algorithm(t)) == t, and
// parse_algorithm(to_text(a)) computes what a does. One declaration or definition a line.
//
//   algorithm 1
//   param gain: float32                      a scalar; then: min E, max E, estimate E,
//                                            default E
//   image in: uint8, 2                       an ImageParam of 2 dimensions; then, per fixed field:
//                                            min.0 E, extent.0 E, stride.0 E, and for estimates
//                                            min_estimate.0 E, extent_estimate.0 E
//   constant k: int32 (0, 3) = {1, 2, 1}     a Buffer of the program: (min, extent)..., elements
//   blur(x, y) = (in(x, y) + in(x + 1, y))/2u8
//   hist(x) = 0                              the first definition of a name is its pure one
//   over r(0, 10), s(0, 20) where r < s: hist(in(r, s)) = hist(in(r, s)) + 1
//   pair(x) = {x, 2*x}                       several values
//   instead of 0 if n == 1: f(x) = 0         a branch of the first definition (0), see StageDef
//   fail "too big": f(x) = 0                 runs nowhere: outside of its branches is an error
//   output blur, hist
//   estimates blur, min.0 0, extent.0 640    what set_estimate says of a Func
//
// Inputs stand in the order in which the compiled function takes them.
#pragma once

#include <string>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// Throws CompileError at NAME:LINE. Definitions get these places as their `where`.
Algorithm parse_algorithm(const std::string &text, const std::string &name = "algorithm");

}  // namespace polyhalite
