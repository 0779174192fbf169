// The runtime for the machine that this library was built for, as the bytes of an object file.
#pragma once

#include <string>

#include "polyhalite/target.h"

namespace polyhalite {

bool has_runtime_object(const Target &target);
/// Throws CompileError for targets that it was not built for.
std::string runtime_object(const Target &target);
/// The same, for programs that link it themselves: its functions have Halide's names too, which
/// languages without a preprocessor call. Static libraries that bring the runtime along do without,
/// since a program may link pipelines of Halide's beside them.
std::string standalone_runtime(const Target &target);
/// A header that declares the functions; of any target.
std::string runtime_header(const Target &target);

}  // namespace polyhalite
