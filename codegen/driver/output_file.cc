#include "codegen/driver/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "polyhalite/error.h"

namespace polyhalite {

void write_file(const std::string &path, const std::string &bytes, const std::string &what) {
  errno = 0;
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int write_error = errno;
  // What the buffer still holds is written by the close, which may be what fails.
  if (file && std::fclose(file) != 0) written = false;
  if (written) return;
  const int reason = write_error ? write_error : errno;
  user_error("cannot write " + what + " '" + path + "'", std::strerror(reason),
             "choose a folder that exists and may be written to");
}

}  // namespace polyhalite
