// What opset 28 brought: shifts of signed numbers, remainders of floats, floats of 6 bits, SwiGLU.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::opset_28_test {
namespace {

constexpr int kOpset = 28;

template <typename T>
Constant constant(ElementType type, std::vector<int64_t> shape, const std::vector<T> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::of_bytes(type, std::move(shape), bytes);
}

template <typename T>
std::vector<T> elements(const Constant &c) {
  std::vector<T> out(static_cast<size_t>(c.elements()));
  const std::vector<uint8_t> bytes = c.packed();
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// Both engines, since the compiler has its own rules for shifts.
Constant result_of(const ModelBuilder &b, const Program::Tensors &inputs) {
  CompileOptions plain;
  plain.engine = Engine::Interpreter;
  const Constant wanted = Session(b.load(), plain).run(inputs).at("y");
  Constant y = Session(b.load()).run(inputs).at("y");
  EXPECT_EQ(y.packed(), wanted.packed());
  return y;
}

template <typename T>
void shift_all(ElementType type) {
  constexpr int kBits = 8 * sizeof(T);
  using Unsigned = std::make_unsigned_t<T>;
  std::vector<T> a, by, left, right;
  for (const int64_t v :
       {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{100},
        static_cast<int64_t>(std::numeric_limits<T>::max()),
        static_cast<int64_t>(std::numeric_limits<T>::min()), int64_t{-1}, int64_t{-77}}) {
    for (const int64_t n : {-128, -1, 0, 1, 3, kBits - 1, kBits, kBits + 1, 127}) {
      const T x = static_cast<T>(v), y = static_cast<T>(n);
      const bool within = y >= 0 && static_cast<uint64_t>(y) < kBits;
      a.push_back(x);
      by.push_back(y);
      left.push_back(within ? static_cast<T>(static_cast<Unsigned>(x) << y) : T{0});
      right.push_back(within ? static_cast<T>(x >> y) : x < 0 ? static_cast<T>(-1) : T{0});
    }
  }
  const auto n = static_cast<int64_t>(a.size());
  for (const bool to_left : {true, false}) {
    ModelBuilder b(kOpset);
    b.input("a", {static_cast<int>(n)}, static_cast<int>(type));
    b.input("by", {static_cast<int>(n)}, static_cast<int>(type));
    b.node("BitShift", {"a", "by"}, {"y"},
           {text_attribute("direction", to_left ? "LEFT" : "RIGHT")});
    b.output("y");
    const Constant y =
        result_of(b, {{"a", constant(type, {n}, a)}, {"by", constant(type, {n}, by)}});
    EXPECT_EQ(elements<T>(y), to_left ? left : right) << element_name(type);
  }
}

TEST(onnx_opset_28, shifts_by_any_number_of_bits) {
  shift_all<int8_t>(ElementType::Int8);
  shift_all<int16_t>(ElementType::Int16);
  shift_all<int32_t>(ElementType::Int32);
  shift_all<int64_t>(ElementType::Int64);
  shift_all<uint8_t>(ElementType::UInt8);
  shift_all<uint16_t>(ElementType::UInt16);
  shift_all<uint32_t>(ElementType::UInt32);
  shift_all<uint64_t>(ElementType::UInt64);
}

// As Python has it: the sign is the divisor's, of zeros, too.
double floor_remainder(double x, double y) {
  if (std::isnan(x) || std::isnan(y) || std::isinf(x) || y == 0) return NAN;
  double rest = std::fmod(x, y);
  if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
  return rest == 0 ? std::copysign(0.0, y) : rest;
}

template <typename T>
void expect_remainders(ElementType type) {
  const double inf = INFINITY;
  std::vector<T> a, b, floors, truncated;
  for (const double x : {0.0, -0.0, 1.5, -1.5, 7.25, -7.25, 6.0, -6.0, 1e-30, -1e-30, inf, -inf,
                         static_cast<double>(NAN)}) {
    for (const double y : {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.75, -0.75, 1e30, -1e30, inf, -inf,
                           static_cast<double>(NAN)}) {
      const T s = static_cast<T>(x), t = static_cast<T>(y);
      a.push_back(s);
      b.push_back(t);
      floors.push_back(
          static_cast<T>(floor_remainder(static_cast<double>(s), static_cast<double>(t))));
      truncated.push_back(
          static_cast<T>(std::fmod(static_cast<double>(s), static_cast<double>(t))));
    }
  }
  const auto n = static_cast<int64_t>(a.size());
  for (const bool trunc : {false, true}) {
    ModelBuilder m(kOpset);
    m.input("a", {static_cast<int>(n)}, static_cast<int>(type));
    m.input("b", {static_cast<int>(n)}, static_cast<int>(type));
    m.node("Mod", {"a", "b"}, {"y"}, {int_attribute("fmod", trunc ? 1 : 0)}).output("y");
    const std::vector<T> y =
        elements<T>(Session(m.load())
                        .run({{"a", constant(type, {n}, a)}, {"b", constant(type, {n}, b)}})
                        .at("y"));
    for (size_t i = 0; i < y.size(); i++) {
      const T wanted = trunc ? truncated[i] : floors[i];
      SCOPED_TRACE(std::to_string(a[i]) + " mod " + std::to_string(b[i]));
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(y[i])) << y[i];
        continue;
      }
      EXPECT_EQ(y[i], wanted);
      EXPECT_EQ(std::signbit(y[i]), std::signbit(wanted));
    }
  }
}

TEST(onnx_opset_28, remainders_of_floats) {
  expect_remainders<float>(ElementType::Float32);
  expect_remainders<double>(ElementType::Float64);
}

TEST(onnx_opset_28, blocks_to_channels_in_both_orders) {
  constexpr int kChannels = 2, kRows = 4, kColumns = 6, kBlock = 2;
  std::vector<float> x(kChannels * kRows * kColumns);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
  for (const bool crd : {false, true}) {
    ModelBuilder b(kOpset);
    b.input("x", {1, kChannels, kRows, kColumns});
    b.node("SpaceToDepth", {"x"}, {"y"},
           {int_attribute("blocksize", kBlock), text_attribute("mode", crd ? "CRD" : "DCR")});
    b.node("DepthToSpace", {"y"}, {"z"},
           {int_attribute("blocksize", kBlock), text_attribute("mode", crd ? "CRD" : "DCR")});
    b.output("y").output("z");
    const auto out = Session(b.load()).run({{"x", floats({1, kChannels, kRows, kColumns}, x)}});
    EXPECT_EQ(elements<float>(out.at("z")), x);
    const std::vector<float> y = elements<float>(out.at("y"));
    size_t i = 0;
    for (int channel = 0; channel < kChannels * kBlock * kBlock; channel++) {
      const int cell = crd ? channel % 4 : channel / kChannels;
      const int from = crd ? channel / 4 : channel % kChannels;
      for (int r = 0; r < kRows / kBlock; r++) {
        for (int c = 0; c < kColumns / kBlock; c++, i++) {
          const int row = r * kBlock + cell / kBlock, column = c * kBlock + cell % kBlock;
          EXPECT_EQ(y[i], static_cast<float>((from * kRows + row) * kColumns + column));
        }
      }
    }
  }
}

TEST(onnx_opset_28, gated_activations) {
  const std::vector<float> a = {-3, -0.5f, 0, 0.25f, 2}, b = {2, -1, 5, 4, 0.5f};
  ModelBuilder m(kOpset);
  m.input("a", {5}).input("b", {5});
  m.node("SwiGLU", {"a", "b"}, {"y"}, {real_attribute("alpha", 1.5f)}).output("y");
  const auto y = elements<float>(
      Session(m.load()).run({{"a", floats({5}, a)}, {"b", floats({5}, b)}}).at("y"));
  for (size_t i = 0; i < a.size(); i++)
    EXPECT_NEAR(y[i], a[i] / (1 + std::exp(-1.5f * a[i])) * b[i], 1e-6) << i;
  ModelBuilder celu(kOpset);
  celu.input("x", {3}, 11);
  celu.node("Celu", {"x"}, {"y"}, {real_attribute("alpha", 2)}).output("y");
  const std::vector<double> x = {-4, -0.125, 3};
  const auto z = elements<double>(
      Session(celu.load()).run({{"x", constant(ElementType::Float64, {3}, x)}}).at("y"));
  for (size_t i = 0; i < x.size(); i++)
    EXPECT_NEAR(z[i], std::max(0.0, x[i]) + std::min(0.0, 2 * std::expm1(x[i] / 2)), 1e-14);
}

// A float of 6 bits as sign, exponent and mantissa.
double six_bits(int code, int exponents, int mantissas, int bias) {
  const int exponent = code >> mantissas & ((1 << exponents) - 1);
  const int rest = code & ((1 << mantissas) - 1);
  const double value = exponent > 0
                           ? std::ldexp((1 << mantissas) + rest, exponent - bias - mantissas)
                           : std::ldexp(rest, 1 - bias - mantissas);
  return code & 32 ? -value : value;
}

TEST(onnx_opset_28, floats_of_six_bits) {
  std::string packed, listed;
  for (int code = 0; code < 64; code += 4) {
    const int bits = code | (code + 1) << 6 | (code + 2) << 12 | (code + 3) << 18;
    for (int byte = 0; byte < 3; byte++) packed += static_cast<char>(bits >> (8 * byte));
  }
  for (int code = 0; code < 64; code++) listed += static_cast<char>(code);
  for (const auto &[type, exponents, mantissas, bias] :
       {std::tuple{27, 2, 3, 1}, std::tuple{28, 3, 2, 3}}) {
    std::vector<float> values;
    for (int code = 0; code < 64; code++)
      values.push_back(static_cast<float>(six_bits(code, exponents, mantissas, bias)));
    for (const bool raw : {true, false}) {
      ModelBuilder b(kOpset);
      b.initializer(Message().number(1, 64).number(2, type).text(8, "q").text(
          raw ? 9 : 5, raw ? packed : listed));
      b.node("Cast", {"q"}, {"y"}, {int_attribute("to", 1)}).output("y");
      EXPECT_EQ(elements<float>(Session(b.load()).run({}).at("y")), values) << type << raw;
    }
    // Between neighbours the nearer one, of two as near the even one; beyond the last the last.
    std::vector<float> x;
    std::vector<uint8_t> wanted;
    for (int code = 0; code < 31; code++) {
      const float low = values[static_cast<size_t>(code)],
                  high = values[static_cast<size_t>(code + 1)];
      x.insert(x.end(),
               {low, low + (high - low) * 0.375f, (low + high) / 2, low + (high - low) * 0.625f});
      const auto c = static_cast<uint8_t>(code), next = static_cast<uint8_t>(code + 1);
      wanted.insert(wanted.end(), {c, c, code % 2 == 0 ? c : next, next});
    }
    const size_t half = x.size();
    for (size_t i = 0; i < half; i++) {
      x.push_back(-x[i]);
      wanted.push_back(wanted[i] | 32);
    }
    x.insert(x.end(), {1e9f, -1e9f, INFINITY, -INFINITY});
    wanted.insert(wanted.end(), {31, 63, 31, 63});
    const auto n = static_cast<int64_t>(x.size());
    for (const bool quantized : {false, true}) {
      ModelBuilder b(kOpset);
      b.input("x", {static_cast<int>(n)});
      if (quantized) {
        b.weights("scale", {}, {1});
        b.node("QuantizeLinear", {"x", "scale"}, {"y"}, {int_attribute("output_dtype", type)});
        b.node("DequantizeLinear", {"y", "scale"}, {"z"});
      } else {
        b.node("Cast", {"x"}, {"y"}, {int_attribute("to", type)});
        b.node("Cast", {"y"}, {"z"}, {int_attribute("to", 1)});
      }
      b.output("y").output("z");
      const auto out = Session(b.load()).run({{"x", floats({n}, x)}});
      EXPECT_EQ(elements<uint8_t>(out.at("y")), wanted) << type << quantized;
      std::vector<float> back;
      for (const uint8_t code : wanted) back.push_back(values[code]);
      EXPECT_EQ(elements<float>(out.at("z")), back) << type << quantized;
    }
  }
}

TEST(onnx_opset_28, six_bits_of_wrong_length) {
  auto load = [](int field, const std::string &bytes) {
    return error_of([&] {
      ModelBuilder b(kOpset);
      b.initializer(Message().number(1, 5).number(2, 27).text(8, "q").text(field, bytes));
      b.node("Cast", {"q"}, {"y"}, {int_attribute("to", 1)}).output("y");
      b.load();
    });
  };
  EXPECT_EQ(load(9, std::string(4, '\1')), "no error");
  EXPECT_EQ(load(9, std::string(5, '\1')),
            "error: tensor 'q' has 5 bytes of elements\n"
            "  why: its shape needs 4\n"
            "  fix: export the model again");
  EXPECT_EQ(load(5, std::string(4, '\1')),
            "error: tensor 'q' has 4 bytes of elements\n"
            "  why: its shape needs 5\n"
            "  fix: export the model again");
}

}  // namespace
}  // namespace polyhalite::onnx::opset_28_test
