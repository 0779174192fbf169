// What the loop IR calls the fields of buffers, and what it asks of them.
#pragma once

#include <string>

#include "lang/ir/node.h"

namespace polyhalite {

/// "blur.min.0": `what` is "min", "extent" or "stride".
std::string buffer_field_name(const std::string &buffer, const char *what, size_t dimension);
Expr buffer_field(const std::string &buffer, const char *what, size_t dimension);
/// An intrinsic whose one argument is the buffer's name.
Expr buffer_fact(Type t, const char *intrinsic, const std::string &buffer);

}  // namespace polyhalite
