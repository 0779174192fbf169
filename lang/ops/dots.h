// dots: which dot product of the processor makes the sums of a product.
#pragma once

#include <optional>
#include <string>

#include "polyhalite/func.h"
#include "polyhalite/target.h"

namespace polyhalite::ops {

/// An instruction by the name that tensorize knows: `sums` results of `terms` products each.
struct Dot {
  std::string name;
  int sums = 0, terms = 0;
  bool widens = false;  // bytes to 16 bits, with each use
  bool adds = false;    // its sums by another instruction, from a register of their own
};

/// The widest one of at most `columns` results for the update
/// f += cast(x) * cast(y) of narrow x and y; nothing where the target has none for them.
std::optional<Dot> dot_for(const Func &f, int64_t columns, const Target &target);

/// The terms of a dot product lie side by side in the operand(column, depth, ..), and vectors of
/// them.
void pack_for_dots(Func operand, const Dot &dot);

/// The dot product of 16-bit numbers with as many results as one that widens.
std::optional<Dot> dot_of_widened(const Dot &dot, const Target &target);

}  // namespace polyhalite::ops
