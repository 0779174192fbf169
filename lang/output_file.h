// Files that the library writes.
#pragma once

#include <string>

namespace polyhalite {

/// The file has all of the bytes or is as it was: they are written beside it, and then take its
/// name. Devices and pipes are written to directly. Throws CompileError that names the path and the
/// system's reason. `what`: "the object file".
void write_file(const std::string &path, const std::string &bytes, const std::string &what);

}  // namespace polyhalite
