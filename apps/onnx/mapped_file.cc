#include "apps/onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "polyhalite/error.h"

namespace polyhalite::onnx {

std::shared_ptr<const MappedFile> MappedFile::of_descriptor(int fd, const std::string &path) {
  struct stat status{};
  auto fail = [&](const std::string &why) {
    user_error("'" + path + "' cannot be read", why, "give a file that can be read");
  };
  if (fstat(fd, &status) != 0) fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->size_ = static_cast<size_t>(status.st_size);
  if (file->size_ == 0) return file;
  void *p = mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) fail(std::strerror(errno));
  file->data_ = static_cast<const uint8_t *>(p);
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    user_error("'" + path + "' cannot be read", std::strerror(errno),
               "give a file that can be read");
  }
  struct Close {
    int fd;
    ~Close() { ::close(fd); }
  } close{fd};
  return of_descriptor(fd, path);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<uint8_t *>(data_), size_);
}

}  // namespace polyhalite::onnx
