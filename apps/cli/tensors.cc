#include "apps/cli/tensors.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "apps/onnx/model.h"
#include "apps/rungen/files.h"
#include "polyhalite/error.h"

namespace polyhalite::cli {

namespace {

std::pair<std::string, std::string> name_and_rest(const std::string &text, const char *form) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    user_error("'" + text + "' has no name", std::string("the form is ") + form, "write NAME=...");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::map<std::string, std::vector<int64_t>> parse_shapes(const std::vector<std::string> &list) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const std::string &text : list) {
    const auto [name, rest] = name_and_rest(text, "NAME=1,3,224,224");
    std::vector<int64_t> shape;
    size_t at = 0;
    while (at < rest.size()) {
      char *end = nullptr;
      const long long n = std::strtoll(rest.c_str() + at, &end, 10);
      const auto next = static_cast<size_t>(end - rest.c_str());
      if (next == at || n < 0 || n > INT32_MAX || (next < rest.size() && rest[next] != ',')) {
        user_error("'" + text + "' is no shape", "sizes are numbers from 0 to 2^31 - 1",
                   "write NAME=1,3,224,224");
      }
      shape.push_back(n);
      at = next + 1;
    }
    shapes[name] = shape;
  }
  return shapes;
}

std::map<std::string, std::vector<std::string>> parse_files(const std::vector<std::string> &list) {
  std::map<std::string, std::vector<std::string>> files;
  for (const std::string &text : list) {
    const auto [name, file] = name_and_rest(text, "NAME=FILE.npy");
    files[name].push_back(file);
  }
  return files;
}

onnx::Constant read_tensor_file(const std::string &path) {
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".pb") == 0)
    return onnx::load_tensor(path);
  rungen::Array array = rungen::read_file(path);
  std::vector<int64_t> shape;
  for (auto d = array.dims().rbegin(); d != array.dims().rend(); ++d) shape.push_back(d->extent);
  std::vector<uint8_t> bytes;
  const auto size = static_cast<size_t>(array.bytes_per_element());
  array.for_each(
      [&](const uint8_t *p, const std::vector<int> &) { bytes.insert(bytes.end(), p, p + size); });
  return onnx::Constant::of_bytes(onnx::element_type(Type(array.type())), shape, std::move(bytes));
}

void write_npy(const std::string &path, const onnx::Constant &tensor) {
  const Type type = *onnx::language_type(tensor.type());
  rungen::Array array(type, static_cast<int>(tensor.shape().size()));
  array.set_extents({tensor.shape().rbegin(), tensor.shape().rend()});
  array.allocate();
  int64_t i = 0;
  const auto size = static_cast<size_t>(tensor.element_bytes());
  array.for_each([&](uint8_t *p, const std::vector<int> &) {
    const uint8_t *from = tensor.at(i++);
    std::copy(from, from + size, p);
  });
  rungen::write_file(path, array);
}

onnx::Constant random_tensor(onnx::ElementType type, const std::vector<int64_t> &shape,
                             uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> digit(0, 9);
  const Type t = *onnx::language_type(type);
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  std::vector<uint8_t> bytes(static_cast<size_t>(n * t.bytes()));
  auto put = [&](int64_t i, auto v) {
    std::copy_n(reinterpret_cast<const uint8_t *>(&v), sizeof v,
                bytes.data() + i * static_cast<int64_t>(sizeof v));
  };
  for (int64_t i = 0; i < n; i++) {
    if (t == Float(64)) {
      put(i, normal(bits));
    } else if (t == Float(32)) {
      put(i, static_cast<float>(normal(bits)));
    } else if (t == Float(16)) {
      put(i, float16_t(static_cast<float>(normal(bits))));
    } else if (t == BFloat(16)) {
      put(i, bfloat16_t(static_cast<float>(normal(bits))));
    } else {
      const int v = t.is_bool() ? digit(bits) % 2 : digit(bits);
      for (int b = 0; b < t.bytes(); b++)
        bytes[static_cast<size_t>(i * t.bytes() + b)] = b == 0 ? static_cast<uint8_t>(v) : 0;
    }
  }
  return onnx::Constant::of_bytes(type, shape, std::move(bytes));
}

}  // namespace polyhalite::cli
