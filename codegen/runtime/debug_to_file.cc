// debug_to_file: a buffer as a file that other programs read. The first dimension varies fastest in
// all formats; what is min 0 in the file is the buffer's min.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

constexpr int kMaxDimensions = 16;

class File {
 public:
  explicit File(const char *name) : file_(fopen(name, "wb")) {}
  /// False where anything went wrong since the beginning.
  bool close() { return file_ && fclose(file_) == 0 && good_; }
  void write(const void *bytes, size_t n) {
    good_ = good_ && file_ && fwrite(bytes, 1, n, file_) == n;
  }
  template <typename T>
  void put(T value) {
    write(&value, sizeof value);
  }
  void fill(size_t n) {
    for (size_t i = 0; i < n; i++) put('\0');
  }

 private:
  FILE *file_;
  bool good_ = true;
};

size_t bytes_of(const polyhalite_buffer_t &b) { return static_cast<size_t>(b.type.bits + 7) / 8; }

int64_t elements_of(const polyhalite_buffer_t &b) {
  int64_t n = 1;
  for (int d = 0; d < b.dimensions; d++) n *= b.dim[d].extent > 0 ? b.dim[d].extent : 0;
  return n;
}

int32_t extent_of(const polyhalite_buffer_t &b, int d) {
  return d < b.dimensions ? b.dim[d].extent : 1;
}

void write_elements(File &file, const polyhalite_buffer_t &b) {
  const size_t size = bytes_of(b);
  int32_t at[kMaxDimensions] = {};
  for (int64_t n = elements_of(b); n > 0; n--) {
    int64_t offset = 0;
    for (int d = 0; d < b.dimensions; d++) offset += int64_t{at[d]} * b.dim[d].stride;
    file.write(b.host + offset * static_cast<int64_t>(size), size);
    for (int d = 0; d < b.dimensions && ++at[d] == b.dim[d].extent; d++) at[d] = 0;
  }
}

// 0 to 9 in the order float32, float64, uint8, int8 ... uint64, int64; -1: has none.
int type_number(const polyhalite_type_t &t) {
  if (t.code == polyhalite_type_float) return t.bits == 32 ? 0 : t.bits == 64 ? 1 : -1;
  if (t.code != polyhalite_type_int && t.code != polyhalite_type_uint) return -1;
  const int is_signed = t.code == polyhalite_type_int;
  return t.bits <= 8    ? 2 + is_signed
         : t.bits == 16 ? 4 + is_signed
         : t.bits == 32 ? 6 + is_signed
                        : 8 + is_signed;
}

// Five int32: four extents, the last one times those of all behind it, and the type.
bool write_tmp(File &file, const polyhalite_buffer_t &b) {
  const int type = type_number(b.type);
  if (type < 0) return false;
  int32_t last = 1;
  for (int d = 3; d < b.dimensions; d++) last *= b.dim[d].extent;
  for (int d = 0; d < 3; d++) file.put(extent_of(b, d));
  file.put(last);
  file.put(static_cast<int32_t>(type));
  write_elements(file, b);
  return true;
}

// NumPy's format 1.0: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. The
// array's last axis is the first dimension.
bool write_npy(File &file, const polyhalite_buffer_t &b) {
  const auto code = b.type.code;
  if (code != polyhalite_type_int && code != polyhalite_type_uint &&
      code != polyhalite_type_float) {
    return false;
  }
  const char letter = b.type.bits == 1               ? 'b'
                      : code == polyhalite_type_int  ? 'i'
                      : code == polyhalite_type_uint ? 'u'
                                                     : 'f';
  char header[512];
  int n = snprintf(header, sizeof header, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                   b.type.bits > 8 ? '<' : '|', letter, static_cast<int>(bytes_of(b)));
  for (int d = b.dimensions; d-- > 0;) {
    n += snprintf(header + n, sizeof header - static_cast<size_t>(n), "%d, ", b.dim[d].extent);
  }
  n += snprintf(header + n, sizeof header - static_cast<size_t>(n), "), }");
  constexpr int kFront = 10;  // what stands before the header
  const int length = (kFront + n + 64) / 64 * 64 - kFront;
  memset(header + n, ' ', static_cast<size_t>(length - n));
  header[length - 1] = '\n';
  file.write("\x93NUMPY\1\0", 8);
  file.put(static_cast<uint16_t>(length));
  file.write(header, static_cast<size_t>(length));
  write_elements(file, b);
  return true;
}

// MATLAB's level 5 format: https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
bool write_mat(File &file, const polyhalite_buffer_t &b, const char *filename) {
  struct MatType {
    uint32_t element, array;  // miTYPE, mxTYPE_CLASS
  };
  static constexpr MatType kTypes[] = {{7, 7},  {9, 6},  {2, 9},  {1, 8},   {4, 11},
                                       {3, 10}, {6, 13}, {5, 12}, {13, 15}, {12, 14}};
  const int type = type_number(b.type);
  const uint64_t payload = static_cast<uint64_t>(elements_of(b)) * bytes_of(b);
  if (type < 0 || payload > UINT32_MAX - 1024) return false;
  // The variable is called as the file, without folders and ending.
  const char *slash = strrchr(filename, '/');
  const char *begin = slash ? slash + 1 : filename;
  char name[64] = {};
  for (size_t i = 0; i + 1 < sizeof name && begin[i] && begin[i] != '.'; i++) {
    const char c = begin[i];
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name[i] = good ? c : '_';
  }
  if (!name[0]) name[0] = 'x';
  const auto name_length = static_cast<uint32_t>(strlen(name));
  auto padded = [](uint64_t n) { return (n + 7) / 8 * 8; };
  // A matrix has two dimensions at least.
  const int dims = b.dimensions < 2 ? 2 : b.dimensions;
  const uint64_t all = 16 + 8 + padded(4 * static_cast<uint64_t>(dims)) + 8 + padded(name_length) +
                       8 + padded(payload);
  char text[124] = {};
  memset(text, ' ', 116);
  memcpy(text, "MATLAB 5.0 MAT-file, produced by Polyhalite", 43);
  file.write(text, sizeof text);
  file.put(static_cast<uint16_t>(0x0100));
  file.put(static_cast<uint16_t>('M' << 8 | 'I'));
  auto tag = [&](uint32_t kind, uint64_t bytes) {
    file.put(kind);
    file.put(static_cast<uint32_t>(bytes));
  };
  constexpr uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14;
  tag(kMatrix, all);
  tag(kUint32, 8);
  file.put(kTypes[type].array);
  file.put(uint32_t{0});
  tag(kInt32, 4 * static_cast<uint64_t>(dims));
  for (int d = 0; d < dims; d++) file.put(extent_of(b, d));
  if (dims % 2) file.put(int32_t{0});
  tag(kInt8, name_length);
  file.write(name, name_length);
  file.fill(padded(name_length) - name_length);
  tag(kTypes[type].element, payload);
  write_elements(file, b);
  file.fill(padded(payload) - payload);
  return true;
}

// TIFF 6.0, without compression: one strip a channel. Dimensions: width, height, channels; where
// there are more, the third is the depth (SGI's tag 32997) and the fourth the channels.
bool write_tiff(File &file, const polyhalite_buffer_t &b) {
  const bool is_float = b.type.code == polyhalite_type_float;
  if (type_number(b.type) < 0 || b.dimensions > 4) return false;
  const uint32_t width = static_cast<uint32_t>(extent_of(b, 0));
  const uint32_t height = static_cast<uint32_t>(extent_of(b, 1));
  uint32_t depth = static_cast<uint32_t>(extent_of(b, 2));
  uint32_t channels = static_cast<uint32_t>(extent_of(b, 3));
  if (channels <= 1 && depth < 5) {
    channels = depth;
    depth = 1;
  }
  const uint64_t strip = uint64_t{width} * height * depth * bytes_of(b);
  if (strip * channels > INT32_MAX || channels > UINT16_MAX) return false;
  struct Entry {
    uint16_t tag, type;
    uint32_t count, value;
  };
  constexpr uint16_t kShort = 3, kLong = 4, kRational = 5;
  constexpr uint32_t kEntries = 15, kResolutions = 10 + kEntries * 12 + 4;
  const uint32_t lists = kResolutions + 16;
  const uint32_t data = channels == 1 ? lists : lists + 8 * channels;
  const uint32_t format = is_float ? 3u : b.type.code == polyhalite_type_int ? 2u : 1u;
  const Entry entries[kEntries] = {
      {256, kLong, 1, width},
      {257, kLong, 1, height},
      {258, kShort, 1, static_cast<uint32_t>(8 * bytes_of(b))},
      {259, kShort, 1, 1},                                   // no compression
      {262, kShort, 1, channels >= 3 ? 2u : 1u},             // RGB, or black is 0
      {273, kLong, channels, channels == 1 ? data : lists},  // where the strips are
      {277, kShort, 1, channels},
      {278, kLong, 1, height},
      {279, kLong, channels, channels == 1 ? static_cast<uint32_t>(strip) : lists + 4 * channels},
      {282, kRational, 1, kResolutions},
      {283, kRational, 1, kResolutions + 8},
      {284, kShort, 1, channels == 1 ? 1u : 2u},  // channel after channel
      {296, kShort, 1, 1},
      {339, kShort, 1, format},
      {32997, kLong, 1, depth},
  };
  file.write("II", 2);
  file.put(uint16_t{42});
  file.put(uint32_t{8});
  file.put(static_cast<uint16_t>(kEntries));
  for (const Entry &e : entries) {
    file.put(e.tag);
    file.put(e.type);
    file.put(e.count);
    file.put(e.value);
  }
  file.put(uint32_t{0});
  for (int i = 0; i < 4; i++) file.put(uint32_t{1});
  if (channels > 1) {
    for (uint32_t c = 0; c < channels; c++) file.put(static_cast<uint32_t>(data + c * strip));
    for (uint32_t c = 0; c < channels; c++) file.put(static_cast<uint32_t>(strip));
  }
  write_elements(file, b);
  return true;
}

bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcasecmp(text + n - m, end) == 0;
}

}  // namespace

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK int32_t polyhalite_debug_to_file(void *user_context, const char *filename,
                                         polyhalite_buffer_t *buffer) {
  if (buffer->dimensions > runtime::kMaxDimensions || !buffer->host) {
    return polyhalite_error_code_debug_to_file_failed;
  }
  runtime::File file(filename);
  const bool known = runtime::ends_with(filename, ".npy") ? runtime::write_npy(file, *buffer)
                     : runtime::ends_with(filename, ".mat")
                         ? runtime::write_mat(file, *buffer, filename)
                     : runtime::ends_with(filename, ".tif") || runtime::ends_with(filename, ".tiff")
                         ? runtime::write_tiff(file, *buffer)
                         : runtime::write_tmp(file, *buffer);
  return file.close() && known ? 0 : polyhalite_error_code_debug_to_file_failed;
}

PH_WEAK int polyhalite_error_debug_to_file_failed(void *user_context, const char *function,
                                                  const char *filename, int32_t code) {
  char message[1024];
  snprintf(
      message, sizeof message,
      "%s: debug_to_file cannot write '%s': the file cannot be opened or written, or its format "
      "has no such type or size; .tmp and .npy have the most",
      function, filename);
  runtime::report(user_context, message);
  return code;
}

}  // extern "C"
