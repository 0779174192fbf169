// The printed form of loop IR and its parser: to_text(parse_function(t)) == t.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"

namespace polyhalite {

std::string to_text(const Function &f);
std::string to_text(const Stmt &s);
/// Throws CompileError at "NAME:LINE".
Function parse_function(const std::string &text, const std::string &name = "loop IR");

}  // namespace polyhalite
