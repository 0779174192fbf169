// MappedFile: a file's bytes in memory, read when they are touched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace polyhalite::onnx {

class MappedFile {
 public:
  /// Throws CompileError where the file cannot be read.
  static std::shared_ptr<const MappedFile> open(const std::string &path);
  /// Of an open file, which stays open; `path` is for messages.
  static std::shared_ptr<const MappedFile> of_descriptor(int fd, const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile() = default;
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace polyhalite::onnx
