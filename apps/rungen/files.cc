#include "apps/rungen/files.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace polyhalite::rungen {

namespace {

[[noreturn]] void fail(const std::string &path, const std::string &why) {
  throw std::runtime_error("'" + path + "': " + why);
}

std::string ending(const std::string &path) {
  const size_t dot = path.rfind('.');
  std::string e = dot == std::string::npos ? "" : path.substr(dot + 1);
  std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return std::tolower(c); });
  return e;
}

Array read_picture(const std::string &path) {
  int width = 0, height = 0, channels = 0;
  const bool wide = stbi_is_16_bit(path.c_str());
  void *pixels =
      wide ? static_cast<void *>(stbi_load_16(path.c_str(), &width, &height, &channels, 0))
           : stbi_load(path.c_str(), &width, &height, &channels, 0);
  if (!pixels) fail(path, stbi_failure_reason());
  const Type type = {polyhalite_type_uint, static_cast<uint8_t>(wide ? 16 : 8), 1};
  Array a(type, channels == 1 ? 2 : 3);
  a.set_extents({width, height, channels});
  a.allocate();
  const auto *from = static_cast<const uint8_t *>(pixels);
  a.for_each([&](uint8_t *to, const std::vector<int> &at) {
    const int c = channels == 1 ? 0 : at[2];
    const size_t i = (static_cast<size_t>(at[1]) * width + at[0]) * channels + c;
    std::memcpy(to, from + i * a.bytes_per_element(), a.bytes_per_element());
  });
  stbi_image_free(pixels);
  return a;
}

void write_picture(const std::string &path, Array &array) {
  const size_t dimensions = array.dims().size();
  if (dimensions != 2 && dimensions != 3) {
    fail(path, "a picture has 2 or 3 dimensions, not " + std::to_string(dimensions));
  }
  const int width = array.dims()[0].extent, height = array.dims()[1].extent;
  const int channels = dimensions == 2 ? 1 : array.dims()[2].extent;
  if (channels < 1 || channels > 4) {
    fail(path, "a picture has 1 to 4 channels, not " + std::to_string(channels));
  }
  Array bytes = converted(array, {polyhalite_type_uint, 8, 1}, true);
  std::vector<uint8_t> pixels(static_cast<size_t>(width) * height * channels);
  bytes.for_each([&](const uint8_t *from, const std::vector<int> &at) {
    const int x = at[0] - bytes.dims()[0].min, y = at[1] - bytes.dims()[1].min;
    const int c = dimensions == 2 ? 0 : at[2] - bytes.dims()[2].min;
    pixels[(static_cast<size_t>(y) * width + x) * channels + c] = *from;
  });
  const std::string e = ending(path);
  int written = 0;
  if (e == "png") {
    written =
        stbi_write_png(path.c_str(), width, height, channels, pixels.data(), width * channels);
  } else if (e == "jpg" || e == "jpeg") {
    written = stbi_write_jpg(path.c_str(), width, height, channels, pixels.data(), 95);
  } else if (e == "bmp") {
    written = stbi_write_bmp(path.c_str(), width, height, channels, pixels.data());
  } else if (e == "tga") {
    written = stbi_write_tga(path.c_str(), width, height, channels, pixels.data());
  } else {
    if (channels != 1 && channels != 3) fail(path, "it takes 1 or 3 channels");
    std::ofstream file(path, std::ios::binary);
    file << (channels == 1 ? "P5" : "P6") << '\n' << width << ' ' << height << "\n255\n";
    file.write(reinterpret_cast<const char *>(pixels.data()),
               static_cast<std::streamsize>(pixels.size()));
    written = file.good();
  }
  if (!written) fail(path, "it cannot be written");
}

// numpy's format 1.0: magic, header length, a dictionary as text, elements.
constexpr char kMagic[] = "\x93NUMPY";

std::string numpy_type(Type t) {
  if (t.bits == 1) return "|b1";
  const char *code = t.code == polyhalite_type_float ? "f"
                     : t.code == polyhalite_type_int ? "i"
                                                     : "u";
  return (t.bits == 8 ? "|" : "<") + std::string(code) + std::to_string(t.bits / 8);
}

Array read_numpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, std::strerror(errno));
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (all.size() < 12 || all.compare(0, 6, kMagic, 6) != 0) fail(path, "it is no .npy file");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(all[i])); };
  const bool first = byte(6) == 1;
  const size_t start = first ? 10 : 12;
  const size_t length =
      first ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (start + length > all.size()) fail(path, "its header is cut off");
  const std::string header = all.substr(start, length);
  auto behind = [&](const char *key) {
    const size_t at = header.find(key);
    if (at == std::string::npos) fail(path, std::string("its header has no ") + key);
    return header.find(':', at) + 1;
  };
  const size_t quote = header.find('\'', behind("'descr'"));
  const std::string descr = header.substr(quote + 1, header.find('\'', quote + 1) - quote - 1);
  const bool fortran =
      header.compare(header.find_first_not_of(' ', behind("'fortran_order'")), 4, "True") == 0;
  if (descr.size() < 3 || descr[0] == '>') fail(path, "its element type '" + descr + "'");
  Type type{};
  type.lanes = 1;
  type.bits = static_cast<uint8_t>(8 * std::atoi(descr.c_str() + 2));
  switch (descr[1]) {
    case 'f':
      type.code = polyhalite_type_float;
      break;
    case 'i':
      type.code = polyhalite_type_int;
      break;
    case 'u':
      type.code = polyhalite_type_uint;
      break;
    case 'b':
      type.code = polyhalite_type_uint;
      type.bits = 1;
      break;
    default:
      fail(path, "its element type '" + descr + "' is none of numbers");
  }
  std::vector<int> extents;
  const size_t open = header.find('(', behind("'shape'"));
  const char *p = header.c_str() + open + 1;
  while (*p && *p != ')') {
    char *end = nullptr;
    const long n = std::strtol(p, &end, 10);
    if (end == p) {
      p++;
      continue;
    }
    if (n < 0 || n > INT32_MAX) fail(path, "its shape");
    extents.push_back(static_cast<int>(n));
    p = end;
  }
  if (!fortran) std::reverse(extents.begin(), extents.end());
  Array a(type, static_cast<int>(extents.size()));
  a.set_extents(extents);
  a.allocate();
  const size_t bytes = static_cast<size_t>(a.elements()) * a.bytes_per_element();
  if (all.size() - start - length < bytes) fail(path, "its elements are cut off");
  size_t at = start + length;
  a.for_each([&](uint8_t *to, const std::vector<int> &) {
    std::memcpy(to, all.data() + at, a.bytes_per_element());
    at += a.bytes_per_element();
  });
  return a;
}

void write_numpy(const std::string &path, Array &array) {
  if (array.type().code == polyhalite_type_bfloat) fail(path, "numpy has no bfloat16");
  std::string shape;
  for (auto d = array.dims().rbegin(); d != array.dims().rend(); ++d) {
    shape += std::to_string(d->extent) + ", ";
  }
  std::string header = "{'descr': '" + numpy_type(array.type()) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write(kMagic, 6);
  file << '\1' << '\0' << static_cast<char>(header.size() & 255)
       << static_cast<char>(header.size() >> 8) << header;
  array.for_each([&](const uint8_t *element, const std::vector<int> &) {
    file.write(reinterpret_cast<const char *>(element), array.bytes_per_element());
  });
  file.close();
  if (!file.good()) fail(path, "it cannot be written");
}

bool has_ending(const std::string &path, std::initializer_list<const char *> list) {
  const std::string e = ending(path);
  return std::any_of(list.begin(), list.end(), [&](const char *one) { return e == one; });
}

}  // namespace

bool is_picture(const std::string &path) {
  return has_ending(path, {"png", "jpg", "jpeg", "bmp", "tga", "pgm", "ppm"});
}

Array read_file(const std::string &path) {
  if (ending(path) == "npy") return read_numpy(path);
  if (is_picture(path)) return read_picture(path);
  fail(path, "its ending is none of .png .jpg .bmp .tga .pgm .ppm .npy");
}

void write_file(const std::string &path, Array &array) {
  if (ending(path) == "npy") return write_numpy(path, array);
  if (is_picture(path)) return write_picture(path, array);
  fail(path, "its ending is none of .png .jpg .bmp .tga .pgm .ppm .npy");
}

}  // namespace polyhalite::rungen
