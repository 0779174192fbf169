// Programs that tests compile and run.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

namespace polyhalite::test {

/// What the embedded runtime was compiled with, programs that take it must be linked with.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr const char *kSanitizers = " -fsanitize=address,undefined";
#else
inline constexpr const char *kSanitizers = "";
#endif

/// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/polyhalite_test_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return path_; }
  std::string path(const std::string &name) const { return path_ + "/" + name; }

  /// What the shell command prints there, on both streams, and its exit status.
  std::pair<std::string, int> run(const std::string &command) const {
    std::FILE *pipe = popen(("cd " + path_ + " && " + command + " 2>&1").c_str(), "r");
    std::string text;
    std::array<char, 4096> chunk;
    while (size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) text.append(chunk.data(), n);
    return {text, pclose(pipe)};
  }

 private:
  std::string path_;
};

}  // namespace polyhalite::test
