// Files that a compilation writes.
#pragma once

#include <string>

namespace polyhalite {

/// Throws CompileError that names the path and the system's reason. `what`: "the object file".
void write_file(const std::string &path, const std::string &bytes, const std::string &what);

}  // namespace polyhalite
