// The text form of a schedule: one directive a line, and back.
//
//   schedule 1                                  version of the format
//   blur_y.split(y, yo, yi, 32, ShiftInwards)
//   blur_y.update(0).reorder(x, r)
//   blur_x.compute_at(blur_y, yo)
#pragma once

#include <string>
#include <vector>

#include "lang/ir/directive.h"

namespace polyhalite {

std::string to_text(const std::vector<Directive> &directives);
/// As C++ statements on Func handles of the same names, and as Python (same calls).
std::string to_cpp(const std::vector<Directive> &directives);
/// Throws CompileError at "NAME:LINE" where the text is broken.
std::vector<Directive> parse_schedule(const std::string &text, const std::string &name = "schedule");

}  // namespace polyhalite
