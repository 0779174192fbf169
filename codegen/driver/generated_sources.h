// C++ sources that go with a compiled pipeline.
#pragma once

#include <string>

#include "codegen/llvm/filter.h"

namespace polyhalite {

/// NAME_argument_info(): the arguments as a constexpr std::array.
std::string function_info_header(const Filter &f);
/// Hands NAME_argv and NAME_metadata to polyhalite_register_argv_and_metadata before main().
std::string registration_source(const Filter &f);
/// A Python module of the function's name with one function: buffers by the buffer protocol (numpy
/// arrays, last index innermost), scalars as numbers, outputs as arrays to be filled.
std::string python_extension_source(const Filter &f);

}  // namespace polyhalite
