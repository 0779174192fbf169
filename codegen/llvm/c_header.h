// The C header of a compiled function.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Of C or C++.
bool is_c_keyword(const std::string &word);

std::string c_header(const Function &f, const Target &target);

}  // namespace polyhalite
