#include "codegen/driver/compile_cache.h"

#include <dlfcn.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace polyhalite {

namespace {

namespace fs = std::filesystem;

std::string sha256(const std::string &text) {
  const auto digest = llvm::SHA256::hash(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  std::string hex;
  for (uint8_t byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

// Another build of this library may compile differently.
std::string library_identity() {
  Dl_info info;
  struct stat file{};
  if (!dladdr(reinterpret_cast<const void *>(&library_identity), &info) ||
      stat(info.dli_fname, &file) != 0) {
    return "";
  }
  return std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) + "." +
         std::to_string(file.st_mtim.tv_nsec);
}

uint64_t size_limit() {
  const char *text = std::getenv("PH_CACHE_MB");
  const uint64_t megabytes = text && *text ? std::strtoull(text, nullptr, 10) : 1024;
  return megabytes << 20;
}

}  // namespace

CompileCache::CompileCache(const std::string &key) {
  const char *folder = std::getenv("PH_CACHE_DIR");
  const std::string identity = library_identity();
  if (!folder || !*folder || identity.empty()) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || access(folder, W_OK) != 0) return;
  folder_ = folder;
  name_ = sha256(identity + "\n" + key);
}

std::string CompileCache::path(const std::string &what) const {
  return folder_ + "/" + name_ + "." + what + ".entry";
}

// An entry: the digest of the bytes on a line, then the bytes.
std::optional<std::string> CompileCache::find(const std::string &what) const {
  if (!enabled()) return std::nullopt;
  std::ifstream file(path(what), std::ios::binary);
  if (!file) return std::nullopt;
  std::string digest;
  std::getline(file, digest);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (sha256(bytes) != digest) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path(what), fs::file_time_type::clock::now(), ignored);
  return bytes;
}

void CompileCache::store(const std::string &what, const std::string &bytes) const {
  if (!enabled() || bytes.size() > size_limit()) return;
  std::string temporary = folder_ + "/writing_XXXXXX";
  const int handle = mkstemp(temporary.data());
  if (handle < 0) return;
  close(handle);
  bool written = false;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << sha256(bytes) << '\n' << bytes;
    file.close();
    written = file.good();
  }
  std::error_code failed;
  if (written) fs::rename(temporary, path(what), failed);
  if (!written || failed) {
    fs::remove(temporary, failed);
    return;
  }
  make_room();
}

void CompileCache::make_room() const {
  struct Entry {
    fs::file_time_type used;
    uint64_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code failed;
  for (const auto &file : fs::directory_iterator(folder_, failed)) {
    // Others may remove entries at the same time.
    std::error_code gone;
    const fs::path &p = file.path();
    if (p.extension() != ".entry") continue;
    const Entry e{fs::last_write_time(p, gone), fs::file_size(p, gone), p};
    if (gone) continue;
    entries.push_back(e);
    total += e.size;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &e : entries) {
    if (total <= size_limit()) return;
    fs::remove(e.path, failed);
    total -= e.size;
  }
}

}  // namespace polyhalite
