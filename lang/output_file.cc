#include "lang/output_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// 0, or the system's reason.
int write_bytes(const std::string &path, const std::string &bytes) {
  errno = 0;
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int write_error = errno;
  // What the buffer still holds is written by the close, which may be what fails.
  if (file && std::fclose(file) != 0) written = false;
  return written ? 0 : write_error ? write_error : errno;
}

// A link keeps its target's place.
bool is_replaceable(const std::filesystem::path &path) {
  std::error_code ignored;
  const auto kind = std::filesystem::symlink_status(path, ignored).type();
  return kind == std::filesystem::file_type::not_found ||
         kind == std::filesystem::file_type::regular;
}

}  // namespace

void write_file(const std::string &path, const std::string &bytes, const std::string &what) {
  int reason;
  if (is_replaceable(path)) {
    static std::atomic<unsigned> count{0};
    const std::string beside =
        path + ".writing-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    reason = write_bytes(beside, bytes);
    if (!reason && std::rename(beside.c_str(), path.c_str()) != 0) reason = errno;
    if (reason) std::remove(beside.c_str());
  } else {
    reason = write_bytes(path, bytes);
  }
  if (!reason) return;
  user_error("cannot write " + what + " '" + path + "'", std::strerror(reason),
             "choose a folder that exists and may be written to");
}

}  // namespace polyhalite
