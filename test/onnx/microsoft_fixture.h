// What tests of com.microsoft's operators share: a model with one, and one of standard operators.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx {

using Shape64 = std::vector<int64_t>;
using Names = std::vector<std::string>;

inline Message reals_attribute(const std::string &name, const std::vector<float> &list) {
  Message m;
  m.text(1, name);
  for (float v : list) m.real(7, v);
  return m.number(20, 6);
}

inline int64_t count(const Shape64 &shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

inline std::vector<float> random_floats(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float> v(static_cast<size_t>(n));
  for (float &f : v) f = d(bits);
  return v;
}
inline std::vector<uint8_t> random_bytes(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (uint8_t &b : v) b = static_cast<uint8_t>(bits());
  return v;
}

// Two models with the same operands, one of com.microsoft's operators and one without.
class Microsoft : public testing::Test {
 protected:
  Microsoft() { ours_.import("com.microsoft", 1); }

  const std::vector<float> &operand(const std::string &name, const Shape64 &shape,
                                    bool known = false) {
    values_[name] = random_floats(count(shape), static_cast<uint32_t>(values_.size()) + 1);
    for (ModelBuilder *b : {&ours_, &plain_}) {
      if (known) {
        b->weights(name, shape, values_[name]);
      } else {
        b->input(name, std::vector<TestDim>(shape.begin(), shape.end()));
      }
    }
    if (!known) in_[name] = floats(shape, values_[name]);
    return values_[name];
  }
  template <typename T>
  void weights(const std::string &name, int type, const Shape64 &shape, const std::vector<T> &v) {
    for (ModelBuilder *b : {&ours_, &plain_})
      b->initializer(ModelBuilder::tensor<T>(name, type, shape, v));
  }
  void ours(const std::string &op, const Names &in, const Names &out,
            const std::vector<Message> &attributes = {}) {
    ours_.node(op, in, out, attributes, "com.microsoft");
    for (const std::string &o : out) {
      if (!o.empty()) ours_.output(o);
    }
  }
  void plain(const std::string &op, const Names &in, const Names &out,
             const std::vector<Message> &attributes = {}) {
    plain_.node(op, in, out, attributes);
  }
  void expect_same(const Names &outputs = {"y"}, double tolerance = 1e-5) {
    for (const std::string &o : outputs) plain_.output(o);
    const Program::Tensors got = Session(ours_.load()).run(in_),
                           wanted = Session(plain_.load()).run(in_);
    for (const std::string &o : outputs)
      EXPECT_EQ(compare(got.at(o), wanted.at(o), tolerance, tolerance), "") << o;
  }
  void expect(const std::string &output, const Shape64 &shape, const std::vector<double> &wanted,
              double tolerance = 1e-5) {
    const Constant got = Session(ours_.load()).run(in_).at(output);
    EXPECT_EQ(got.shape(), shape);
    ASSERT_EQ(got.elements(), static_cast<int64_t>(wanted.size()));
    for (int64_t i = 0; i < got.elements(); i++)
      ASSERT_NEAR(got.number(i), wanted[static_cast<size_t>(i)], tolerance) << output << " " << i;
  }
  std::string error() {
    return error_of([&] { Session(ours_.load()).run(in_); });
  }

  ModelBuilder ours_{23}, plain_{23};
  Program::Tensors in_;
  std::map<std::string, std::vector<float>> values_;
};

}  // namespace polyhalite::onnx
