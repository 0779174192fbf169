// directive_effects: what each directive of a schedule did.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// As an HTML table: the directive, its place in the program, and how the stage's loops, or where
/// its Func is computed and stored, were before and are after it.
std::string directive_effects(const Algorithm &algorithm, const std::vector<Directive> &directives);

}  // namespace polyhalite
