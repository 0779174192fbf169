// The runtime for the machine that this library was built for, as the bytes of one object file.
#pragma once

#include <string>

#include "polyhalite/target.h"

namespace polyhalite {

bool has_runtime_object(const Target &target);
/// Throws CompileError for targets that it was not built for.
std::string runtime_object(const Target &target);

}  // namespace polyhalite
