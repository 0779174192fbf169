// Models as bytes, for tests: writes the messages of the format.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "apps/onnx/model.h"

namespace polyhalite::onnx {

/// A message under construction.
class Message {
 public:
  Message &number(int field, int64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message &real(int field, float value) {
    varint(static_cast<uint64_t>(field) << 3 | 5);
    bytes_.append(reinterpret_cast<const char *>(&value), 4);
    return *this;
  }
  Message &text(int field, const std::string &value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message &message(int field, const Message &m) { return text(field, m.bytes_); }
  const std::string &bytes() const { return bytes_; }

 private:
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) bytes_ += static_cast<char>(v | 128);
    bytes_ += static_cast<char>(v);
  }
  std::string bytes_;
};

inline Message int_attribute(const std::string &name, int64_t v) {
  return Message().text(1, name).number(3, v).number(20, 2);
}
inline Message real_attribute(const std::string &name, float v) {
  return Message().text(1, name).real(2, v).number(20, 1);
}
inline Message ints_attribute(const std::string &name, const std::vector<int64_t> &list) {
  Message m;
  m.text(1, name);
  for (int64_t v : list) m.number(8, v);
  return m.number(20, 7);
}

inline Message text_attribute(const std::string &name, const std::string &v) {
  return Message().text(1, name).text(4, v).number(20, 3);
}
inline Message graph_attribute(const std::string &name, const Message &graph) {
  return Message().text(1, name).message(6, graph).number(20, 5);
}

/// A dimension: a number, or a symbol where the text is not empty.
struct TestDim {
  int64_t value;
  std::string symbol;
  TestDim(int v) : value(v) {}                     // NOLINT
  TestDim(const char *s) : value(0), symbol(s) {}  // NOLINT
};

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 18) : opset_(opset) {}

  static Message tensor_type(const std::vector<TestDim> &shape, int type = 1) {
    Message dims;
    for (const TestDim &d : shape) {
      dims.message(1,
                   d.symbol.empty() ? Message().number(1, d.value) : Message().text(2, d.symbol));
    }
    return Message().message(1, Message().number(1, type).message(2, dims));
  }
  static Message sequence_of(const Message &type) {
    return Message().message(4, Message().message(1, type));
  }
  static Message optional_of(const Message &type) {
    return Message().message(9, Message().message(1, type));
  }
  static Message value_info(const std::string &name, const std::vector<TestDim> &shape,
                            int type = 1) {
    return Message().text(1, name).message(2, tensor_type(shape, type));
  }
  ModelBuilder &input(const std::string &name, const std::vector<TestDim> &shape, int type = 1) {
    graph_.message(11, value_info(name, shape, type));
    return *this;
  }
  ModelBuilder &input_of(const std::string &name, const Message &type) {
    graph_.message(11, Message().text(1, name).message(2, type));
    return *this;
  }
  ModelBuilder &output(const std::string &name) {
    graph_.message(12, Message().text(1, name));
    return *this;
  }
  ModelBuilder &node(const std::string &op, const std::vector<std::string> &in,
                     const std::vector<std::string> &out,
                     const std::vector<Message> &attributes = {}, const std::string &domain = "") {
    graph_.message(1, node_message(op, in, out, attributes, domain));
    return *this;
  }
  static Message node_message(const std::string &op, const std::vector<std::string> &in,
                              const std::vector<std::string> &out,
                              const std::vector<Message> &attributes = {},
                              const std::string &domain = "") {
    Message n;
    for (const std::string &i : in) n.text(1, i);
    for (const std::string &o : out) n.text(2, o);
    n.text(3, out.empty() ? op : "make_" + out[0]).text(4, op);
    for (const Message &a : attributes) n.message(5, a);
    if (!domain.empty()) n.text(7, domain);
    return n;
  }
  template <typename T>
  static Message tensor(const std::string &name, int type, const std::vector<int64_t> &dims,
                        const std::vector<T> &values) {
    Message t;
    for (int64_t d : dims) t.number(1, d);
    t.number(2, type).text(8, name);
    return t.text(
        9, std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
  }
  ModelBuilder &weights(const std::string &name, const std::vector<int64_t> &dims,
                        const std::vector<float> &values) {
    graph_.message(5, tensor(name, 1, dims, values));
    return *this;
  }
  ModelBuilder &integers(const std::string &name, const std::vector<int64_t> &values) {
    graph_.message(5, tensor(name, 7, {static_cast<int64_t>(values.size())}, values));
    return *this;
  }
  ModelBuilder &initializer(const Message &tensor) {
    graph_.message(5, tensor);
    return *this;
  }
  ModelBuilder &function(const Message &f) {
    functions_.push_back(f);
    return *this;
  }
  ModelBuilder &import(const std::string &domain, int64_t version) {
    imports_.push_back(Message().text(1, domain).number(2, version));
    return *this;
  }
  /// The graph alone, for a region.
  Message region(const std::string &name) const {
    Message graph = graph_;
    return graph.text(2, name);
  }
  std::string bytes() const {
    Message graph = graph_;
    graph.text(2, "test");
    Message m = Message().number(1, 9).message(7, graph).message(
        8, Message().text(1, "").number(2, opset_));
    for (const Message &i : imports_) m.message(8, i);
    for (const Message &f : functions_) m.message(25, f);
    return m.bytes();
  }
  Model load(const std::string &folder = ".") const {
    auto kept = std::make_shared<const std::string>(bytes());
    return load_model(reinterpret_cast<const uint8_t *>(kept->data()), kept->size(), "test.onnx",
                      folder, kept);
  }

 private:
  int64_t opset_;
  Message graph_;
  std::vector<Message> functions_, imports_;
};

inline Constant floats(const std::vector<int64_t> &shape, const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * 4);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::of_bytes(ElementType::Float32, shape, std::move(bytes));
}

inline std::vector<double> numbers(const Constant &c) {
  std::vector<double> v;
  for (int64_t i = 0; i < c.elements(); i++) v.push_back(c.number(i));
  return v;
}

/// The same as float32.
inline std::vector<float> list(const Constant &c) {
  const std::vector<double> v = numbers(c);
  return {v.begin(), v.end()};
}

/// From -1 to 1.
inline std::vector<float> random_list(size_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float> v(n);
  for (float &f : v) f = d(bits);
  return v;
}
inline Constant random_tensor(const std::vector<int64_t> &shape, uint32_t seed) {
  size_t n = 1;
  for (const int64_t s : shape) n *= static_cast<size_t>(s);
  return floats(shape, random_list(n, seed));
}

/// The text of the CompileError, or "no error".
template <typename F>
std::string error_of(F &&f) {
  try {
    f();
    return "no error";
  } catch (const CompileError &e) {
    return e.what();
  }
}

}  // namespace polyhalite::onnx
