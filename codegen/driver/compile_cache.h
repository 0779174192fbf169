// Outputs of compilations kept on disk, by the content of what was compiled.
//
// Switched on by PH_CACHE_DIR, a folder. PH_CACHE_MB limits what it holds (1024 without it): the
// entries that were used longest ago go first. Entries are written under another name and renamed,
// so that builds may share the folder; one that is broken is not used. Trouble with the folder
// never fails a compilation.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace polyhalite {

class CompileCache {
 public:
  /// `key` is all that the outputs depend on but this library, which is added.
  explicit CompileCache(const std::string &key);

  bool enabled() const { return !folder_.empty(); }
  std::optional<std::string> find(const std::string &what) const;
  void store(const std::string &what, const std::string &bytes) const;

 private:
  std::string path(const std::string &what) const;
  void make_room() const;
  std::string folder_, name_;
};

}  // namespace polyhalite
