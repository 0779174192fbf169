#include "apps/onnx/read_constant.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

[[noreturn]] void refuse(const TensorProto &t, const std::string &what, const std::string &why) {
  user_error("tensor '" + t.name + "' " + what, why, "export the model again");
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }
  void reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

int64_t offset_number(const TensorProto &t, const std::string &key, const std::string &text) {
  int64_t value = 0;
  bool digits = !text.empty() && text.size() < 19;
  for (char c : text) {
    digits = digits && c >= '0' && c <= '9';
    if (digits) value = value * 10 + (c - '0');
  }
  if (!digits) {
    refuse(t, "has the external " + key + " '" + text + "'", "it is a number of bytes from 0 on");
  }
  return value;
}

Constant external_constant(const TensorProto &t, ExternalFiles *files, ElementType type,
                           size_t bytes) {
  std::map<std::string, std::string> keys;
  for (const auto &[key, value] : t.external) {
    if (!keys.emplace(key, value).second) {
      refuse(t, "has the external key '" + key + "' twice", "each key stands once");
    }
    static const std::set<std::string> kKnown = {"location", "offset", "length", "checksum"};
    if (!kKnown.count(key)) {
      refuse(t, "has the external key '" + key + "'",
             "known keys are location, offset, length and checksum");
    }
  }
  if (!keys.count("location")) refuse(t, "names no external file", "the key location is missing");
  if (!files) refuse(t, "has external data", "there is no folder to look in");
  const auto file = files->open(keys["location"], t.name);
  const int64_t offset = keys.count("offset") ? offset_number(t, "offset", keys["offset"]) : 0;
  const auto size = static_cast<int64_t>(file->size());
  if (offset > size) {
    refuse(t, "begins at byte " + std::to_string(offset) + " of '" + keys["location"] + "'",
           "the file has " + std::to_string(size) + " bytes");
  }
  const int64_t length =
      keys.count("length") ? offset_number(t, "length", keys["length"]) : size - offset;
  if (length > size - offset) {
    refuse(t,
           "needs " + std::to_string(length) + " bytes from byte " + std::to_string(offset) +
               " of '" + keys["location"] + "'",
           "the file has " + std::to_string(size) + " bytes");
  }
  if (keys.count("length") ? static_cast<size_t>(length) != bytes
                           : static_cast<size_t>(length) < bytes) {
    refuse(t, "has " + std::to_string(length) + " bytes of external data",
           "its shape needs " + std::to_string(bytes));
  }
  return Constant(type, t.dims, file, file->data() + offset);
}

// Bytes that elements share, one after the other from the lowest bits -> a byte for each.
std::vector<uint8_t> unshared(ElementType type, const uint8_t *bytes, int64_t elements) {
  const auto bits = static_cast<size_t>(element_bits(type));
  const int mask = (1 << bits) - 1;
  const int sign = language_type(type)->is_int() ? 1 << (bits - 1) : 0;
  std::vector<uint8_t> out(static_cast<size_t>(elements));
  for (size_t i = 0; i < out.size(); i++) {
    const size_t at = i * bits / 8, shift = i * bits % 8;
    int v = bytes[at] >> shift;
    if (shift + bits > 8) v |= bytes[at + 1] << (8 - shift);
    out[i] = static_cast<uint8_t>(((v & mask) ^ sign) - sign);
  }
  return out;
}

template <typename T, typename From>
std::vector<uint8_t> narrowed(const std::vector<From> &list) {
  std::vector<uint8_t> out(list.size() * sizeof(T));
  for (size_t i = 0; i < list.size(); i++) {
    const T v = static_cast<T>(list[i]);
    std::memcpy(out.data() + i * sizeof(T), &v, sizeof(T));
  }
  return out;
}

std::vector<uint8_t> listed_elements(const TensorProto &t, ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return narrowed<float>(t.floats);
    case ElementType::Float64:
      return narrowed<double>(t.doubles);
    case ElementType::Int64:
      return narrowed<int64_t>(t.int64s);
    case ElementType::UInt64:
      return narrowed<uint64_t>(t.uint64s);
    case ElementType::UInt32:
      return narrowed<uint32_t>(t.uint64s);
    case ElementType::Int32:
      return narrowed<int32_t>(t.int32s);
    case ElementType::Int16:
    case ElementType::UInt16:
    case ElementType::Float16:   // as bits
    case ElementType::BFloat16:  // as bits
      return narrowed<uint16_t>(t.int32s);
    default:
      return narrowed<uint8_t>(t.int32s);
  }
}

}  // namespace

std::shared_ptr<const MappedFile> ExternalFiles::open(const std::string &location,
                                                      const std::string &tensor) {
  if (const auto at = files_.find(location); at != files_.end()) return at->second;
  auto refuse_location = [&](const std::string &why) {
    user_error("tensor '" + tensor + "' lies in the file '" + location + "'", why,
               "keep weights in the model's folder");
  };
  if (location.empty() || location[0] == '/' || location.find('\\') != std::string::npos ||
      location.find('\0') != std::string::npos) {
    refuse_location("the file is named relative to the model's folder");
  }
  // One part of the path at a time, so that no part is a link.
  Descriptor at(
      ::open(folder_.empty() ? "." : folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) refuse_location("the folder '" + folder_ + "': " + std::strerror(errno));
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string part = location.substr(begin, end - begin);
    const bool last = end == location.size();
    if (part == "..") refuse_location("'..' leaves the model's folder");
    if (!part.empty() && part != ".") {
      const int fd =
          openat(at.get(), part.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
      if (fd < 0) {
        refuse_location(errno == ELOOP || errno == ENOTDIR ? "'" + part + "' is a symbolic link"
                                                           : std::string(std::strerror(errno)));
      }
      at.reset(fd);
    } else if (last) {
      refuse_location("it names no file");
    }
    if (last) break;
    begin = end + 1;
  }
  return files_[location] = MappedFile::of_descriptor(at.get(), location);
}

Constant read_constant(const TensorProto &t, ExternalFiles *files,
                       const std::shared_ptr<const void> &owner) {
  const auto type = static_cast<ElementType>(t.data_type);
  const auto elements = language_type(type);
  if (!elements) {
    user_error("tensor '" + t.name + "' has elements of " + element_name(type),
               "they are not supported", "use numbers of 8 to 64 bits, or bool");
  }
  if (t.segmented) refuse(t, "is a segment", "segments are not supported");
  const bool shares = element_bits(type) < 8;
  uint64_t bytes = shares ? 1 : static_cast<uint64_t>(elements->bytes());
  for (int64_t d : t.dims) {
    if (d < 0) refuse(t, "has the size " + std::to_string(d), "sizes are not negative");
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes) || bytes > INT64_MAX) {
      refuse(t, "is larger than 2^63 bytes", "its shape overflows");
    }
  }
  const auto count = static_cast<int64_t>(bytes);
  if (shares) {
    const auto bits = static_cast<uint64_t>(element_bits(type));
    bytes = bytes / 8 * bits + (bytes % 8 * bits + 7) / 8;
  }
  // What shares bytes gets bytes of its own.
  auto spread = [&](const Constant &c) {
    if (!shares) return c;
    return Constant::of_bytes(type, t.dims, unshared(type, c.data(), count));
  };
  if (t.data_location == 1) {
    return spread(external_constant(t, files, type, static_cast<size_t>(bytes)));
  }
  auto check = [&](size_t has) {
    if (has == bytes) return;
    refuse(t, "has " + std::to_string(has) + " bytes of elements",
           "its shape needs " + std::to_string(bytes));
  };
  if (t.has_raw) {
    check(t.raw.size());
    return spread(Constant(type, t.dims, owner, reinterpret_cast<const uint8_t *>(t.raw.data())));
  }
  std::vector<uint8_t> list = listed_elements(t, type);
  if (element_bits(type) == 6) {  // these stand alone where they are listed
    bytes = static_cast<uint64_t>(count);
    check(list.size());
    for (uint8_t &code : list) code &= 0x3f;
    return Constant::of_bytes(type, t.dims, std::move(list));
  }
  check(list.size());
  return spread(Constant::of_bytes(type, t.dims, std::move(list)));
}

}  // namespace polyhalite::onnx
