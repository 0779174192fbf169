// Functions of C++ by the names that the linker has for them, as the Itanium C++ ABI makes them
// (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling).
//
//   a::f(int, const float *)  ->  _ZN1a1fEiPKf
#pragma once

#include <string>
#include <vector>

#include "polyhalite/type.h"

namespace polyhalite {

/// "a::b::f" in its parts; "::f" has one.
std::vector<std::string> split_qualified(const std::string &name);

/// Is this a C++ function's name? Those of C functions have no colons; "::f" is that of a C++
/// function in no namespace.
bool is_cxx_name(const std::string &name);

/// The symbol of a C++ function with these parameters, for a machine of `bits`.
std::string cxx_symbol(const std::string &name, const std::vector<Type> &parameters, int bits);

/// The symbol of an external function, of C or of C++ as its name says.
std::string extern_symbol(const std::string &name, const std::vector<Type> &parameters, int bits);

/// The name for people: "a::f" of its symbol.
std::string readable_symbol(const std::string &symbol);

/// Pointers to buffers, as functions take them.
Type buffer_pointer();

}  // namespace polyhalite
