// The C header of a compiled function.
#pragma once

#include <string>

#include "codegen/llvm/filter.h"

namespace polyhalite {

std::string c_header(const Filter &f);

/// A word that neither C nor C++ lets a program use as a name.
bool is_c_keyword(const std::string &word);

// What the other generated sources share with it.

/// POLYHALITE_GENERATED_A_F_WHAT for a::f.
std::string include_guard(const Filter &f, const std::string &what);
std::string open_namespaces(const Filter &f);
std::string close_namespaces(const Filter &f);

}  // namespace polyhalite
