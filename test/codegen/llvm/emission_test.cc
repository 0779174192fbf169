// Machine code against the interpreter of loop IR: expressions of every type, scalar and vector.
#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/llvm/pipeline_run.h"

namespace polyhalite::emission_test {
namespace {

constexpr int kSize = 64;

// Replaces A and B by loads at `index`, $T by the type T and @N@ by the constant N of type `in`,
// all with so many lanes.
std::string with_lanes(const std::string &expression, Type in, int lanes,
                       const std::string &index) {
  std::string text;
  for (size_t i = 0; i < expression.size(); i++) {
    const char c = expression[i];
    if (c == 'A' || c == 'B') {
      text += std::string(c == 'A' ? "a[" : "b[") + index + "]";
    } else if (c == '$') {
      const size_t end = expression.find('(', i);
      text += expression.substr(i + 1, end - i - 1);
      if (lanes > 1) text += "x" + std::to_string(lanes);
      i = end - 1;
    } else if (c == '@') {
      const size_t end = expression.find('@', i + 1);
      const std::string scalar = in.to_string() + "(" + expression.substr(i + 1, end - i - 1) + ")";
      text += lanes == 1 ? scalar : "broadcast(" + scalar + ", " + std::to_string(lanes) + ")";
      i = end;
    } else {
      text += c;
    }
  }
  return text;
}

// out[x] = EXPRESSION over a[x], b[x], one element at a time and eight at a time.
void expect_same_expression(Type in, Type out, const std::string &expression) {
  RunBuffer a(in, {kSize}), b(in, {kSize}), result(out, {kSize});
  fill(a, 1);
  fill(b, 2);
  // Division by zero is part of every run.
  std::memset(b.bytes.data(), 0, 8 * static_cast<size_t>(in.bytes()));
  const std::string arguments = "(a: input " + in.to_string() + "[1], b: input " + in.to_string() +
                                "[1], out: output " + out.to_string() + "[1])";
  for (int lanes : {1, 8}) {
    const std::string index = lanes == 1 ? "int64(x)" : "ramp(int64(x)*8i64, 1i64, 8)";
    expect_same("func f" + arguments + " {\n  for x in (0, " + std::to_string(kSize / lanes) +
                    ") {\n    out[" + index + "] = " + with_lanes(expression, in, lanes, index) +
                    "\n  }\n}\n",
                {{"a", &a}, {"b", &b}, {"out", &result}});
  }
}

class IntegerTypes : public testing::TestWithParam<Type> {};

TEST_P(IntegerTypes, arithmetic) {
  const Type t = GetParam();
  for (const char *e :
       {"min(A, B)", "max(A, B)", "A/B", "A % B", "B/A", "B % A", "bitwise_and(A, B)",
        "bitwise_or(A, B)", "bitwise_xor(A, B)", "bitwise_not(A)", "absd(A, B)"}) {
    const std::string text = e;
    const bool unsigned_result = text.find("absd") == 0;
    expect_same_expression(t, unsigned_result ? t.with_code(Type::UInt) : t, text);
  }
  if (t.bits() < 32 || t.is_uint()) {  // the others must not overflow
    for (const char *e : {"A + B", "A - B", "A*B"}) expect_same_expression(t, t, e);
  }
  for (const char *e : {"A == B", "A != B", "A < B", "A <= B", "A > B", "A >= B",
                        "A < B && !(A == B)", "A < B || B < A"}) {
    expect_same_expression(t, Bool(), e);
  }
}

TEST_P(IntegerTypes, division_by_constants) {
  const Type t = GetParam();
  std::vector<int> divisors = {1, 2, 3, 7, 8, 10, 64, 100};
  if (t.is_int()) divisors.insert(divisors.end(), {-1, -2, -3, -8, -100});
  for (int d : divisors) {
    const std::string c = "@" + std::to_string(d) + "@";
    expect_same_expression(t, t, "A/" + c);
    expect_same_expression(t, t, "A % " + c);
  }
}

// Numbers beside powers of two, and the largest and smallest ones, by each other.
TEST_P(IntegerTypes, division_of_edges) {
  const Type t = GetParam();
  if (t.bits() > 32) return;
  std::vector<int64_t> edges{0};
  for (int bit = 0; bit <= t.bits(); bit++) {
    for (const int64_t beside : {-1, 0, 1}) {
      const int64_t v = (int64_t{1} << bit) + beside;
      for (const int64_t signed_v : {v, -v}) {
        const bool fits = t.is_uint() ? signed_v >= 0 && signed_v < int64_t{1} << t.bits()
                                      : signed_v >= -(int64_t{1} << (t.bits() - 1)) &&
                                            signed_v < int64_t{1} << (t.bits() - 1);
        if (fits) edges.push_back(signed_v);
      }
    }
  }
  constexpr int kLanes = 16;
  const size_t pairs = (edges.size() * edges.size() + kLanes - 1) / kLanes * kLanes;
  RunBuffer a(t, {static_cast<int>(pairs)}), b(t, {static_cast<int>(pairs)});
  RunBuffer quotient(t, {static_cast<int>(pairs)}), rest(t, {static_cast<int>(pairs)});
  const auto bytes = static_cast<size_t>(t.bytes());
  for (size_t i = 0; i < pairs; i++) {
    const size_t n = edges.size();
    std::memcpy(a.bytes.data() + i * bytes, &edges[i / n % n], bytes);
    std::memcpy(b.bytes.data() + i * bytes, &edges[i % n], bytes);
  }
  const std::string type = t.to_string(), at = "ramp(int64(x)*16i64, 1i64, 16)";
  expect_same("func f(a: input " + type + "[1], b: input " + type + "[1], quotient: output " +
                  type + "[1], rest: output " + type + "[1]) {\n  for x in (0, " +
                  std::to_string(pairs / kLanes) + ") {\n    quotient[" + at + "] = a[" + at +
                  "]/b[" + at + "]\n    rest[" + at + "] = a[" + at + "]%b[" + at + "]\n  }\n}\n",
              {{"a", &a}, {"b", &b}, {"quotient", &quotient}, {"rest", &rest}});
}

TEST_P(IntegerTypes, casts) {
  const Type t = GetParam();
  for (Type to : {Bool(), UInt(8), UInt(16), UInt(32), UInt(64), Int(8), Int(16), Int(32), Int(64),
                  Float(32), Float(64)}) {
    if (to != t) expect_same_expression(t, to, "$" + to.to_string() + "(A)");
  }
}

TEST_P(IntegerTypes, shifts_and_select) {
  const Type t = GetParam();
  for (int bits : {0, 1, 5, 7}) {
    const std::string c = "@" + std::to_string(bits) + "@";
    expect_same_expression(t, t, "shift_right(A, " + c + ")");
    if (t.bits() < 32 || t.is_uint()) expect_same_expression(t, t, "shift_left(A, " + c + ")");
    expect_same_expression(t, t, "shift_right(A, bitwise_and(B, @7@))");
  }
  expect_same_expression(t, t, "select(A < B, B, A)");
}

TEST_P(IntegerTypes, averages) {
  const Type t = GetParam();
  if (!t.is_uint() || t.bits() == 64) return;
  const std::string wide = "$" + t.with_bits(2 * t.bits()).to_string();
  for (const char *one : {"", " + 1"}) {
    const std::string sum = wide + "(A) + " + wide + "(B)" + (*one ? " + " + wide + "(@1@)" : "");
    expect_same_expression(t, t, "$" + t.to_string() + "((" + sum + ")/" + wide + "(@2@))");
  }
}

INSTANTIATE_TEST_SUITE_P(all, IntegerTypes,
                         testing::Values(UInt(8), UInt(16), UInt(32), UInt(64), Int(8), Int(16),
                                         Int(32), Int(64)),
                         [](const auto &info) { return info.param.to_string(); });

class FloatTypes : public testing::TestWithParam<Type> {};

TEST_P(FloatTypes, arithmetic) {
  const Type t = GetParam();
  const Type other = t.bits() == 32 ? Float(64) : Float(32);
  for (const char *e : {"A + B", "A - B", "A*B", "A/B", "min(A, B)", "max(A, B)", "abs(A)",
                        "strict_float(A*B + A)", "fma(A, B, A)", "select(A < B, A, B)", "floor(A)",
                        "ceil(A)", "trunc(A)", "round(A)", "sqrt(abs(A))"}) {
    expect_same_expression(t, t, e);
  }
  // Those of float32 are our own, close to the C library's and not equal: realize/numbers_test.
  for (const char *e : {"sin(A)", "pow(A, B)", "exp(min(A, B))", "atan2(A, B)"}) {
    if (t.bits() == 64) expect_same_expression(t, t, e);
  }
  // b holds zeros, and what is no number has no one bit pattern
  expect_same_expression(t, t, "A % (abs(B) + abs(A) + abs(A)*abs(A))");
  for (const char *e : {"A == B", "A != B", "A < B", "A <= B", "A > B", "A >= B"}) {
    expect_same_expression(t, Bool(), e);
  }
  for (Type to : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), other}) {
    expect_same_expression(t, to, "$" + to.to_string() + "(A)");
    // What is rounded to integers has one instruction, and halves go to even.
    if (to.is_int_or_uint())
      expect_same_expression(t, to, "$" + to.to_string() + "(round(A*@0.5@))");
  }
  // A truth value is no number that wraps.
  expect_same_expression(t, Bool(), "$bool(round(A))");
}

INSTANTIATE_TEST_SUITE_P(all, FloatTypes, testing::Values(Float(32), Float(64)),
                         [](const auto &info) { return info.param.to_string(); });

TEST(Statements, a_load_after_a_store_sees_it) {
  RunBuffer out(Int(32), {8});
  expect_same(R"(func f(out: output int32[1]) {
  for x in (0, 8) {
    out[int64(x)] = x
  }
  for x2 in (1, 7) {
    out[int64(x2)] = out[int64(x2) - 1i64] + out[int64(x2)]
    out[int64(x2)] = out[int64(x2) - 1i64] + out[int64(x2)]
  }
}
)",
              {{"out", &out}});
  EXPECT_EQ(out.as<int32_t>()[2], 4);  // 1 + (1 + 2), where out[1] has become 1
}

TEST(Statements, scopes_side_by_side_bind_the_same_name) {
  RunBuffer out(Int(32), {3});
  expect_same(R"(func f(out: output int32[1]) {
  {
    let n = 1
    out[0i64] = n*10
  }
  {
    let n = 2
    out[1i64] = n*10
  }
  out[2i64] = let n = 5 in n*10
}
)",
              {{"out", &out}});
  EXPECT_EQ(out.as<int32_t>()[1], 20);
}

TEST(Statements, storage_on_stack_and_heap) {
  RunBuffer in(Float(32), {kSize, 4}), out(Float(32), {kSize, 4});
  fill(in, 7);
  expect_same(R"(func f(in: input float32[2], out: output float32[2]) {
  for y in (0, in.extent.1) {
    allocate t: float32[64i64] stack
    for x in (0, 8) {
      t[ramp(int64(x)*8i64, 1i64, 8)] = in[ramp(int64(x)*8i64 + int64(y)*int64(in.stride.1), 1i64, 8)]
    }
    allocate h: float32[int64(in.extent.0)]
    for x2 in (0, in.extent.0) {
      h[int64(x2)] = t[int64(x2)] + 1.0f
    }
    for x3 in (0, in.extent.0) {
      if x3 % 2 == 0 {
        out[int64(x3) + int64(y)*int64(out.stride.1)] = h[int64(x3)]
      } else {
        out[int64(x3) + int64(y)*int64(out.stride.1)] = t[int64(x3)]
      }
    }
  }
}
)",
              {{"in", &in}, {"out", &out}});
}

TEST(Statements, parallel_loops_nest) {
  RunBuffer in(Int(32), {kSize, 32}), out(Int(32), {kSize, 32});
  fill(in, 8);
  for (size_t i = 0; i < in.size(); i++) in.as<int32_t>()[i] >>= 8;
  expect_same(R"(func f(in: input int32[2], out: output int32[2]) {
  let k = in.extent.0*3
  for y in (0, in.extent.1) parallel {
    allocate row: int32[int64(in.extent.0)]
    for x in (0, in.extent.0) parallel {
      row[int64(x)] = in[int64(x) + int64(y)*int64(in.stride.1)] + k*y
    }
    for x2 in (0, in.extent.0) parallel {
      out[int64(x2) + int64(y)*int64(out.stride.1)] = row[int64(in.extent.0 - 1 - x2)]
    }
  }
}
)",
              {{"in", &in}, {"out", &out}});
}

TEST(Statements, loops_without_iterations_do_nothing) {
  RunBuffer out(Int(32), {4});
  fill(out, 9);
  expect_same(R"(func f(out: output int32[1]) {
  for x in (3, 0) {
    out[int64(x)] = 1
  }
  for y in (3, -5) parallel {
    out[int64(y)] = 1
  }
}
)",
              {{"out", &out}});
}

TEST(Statements, constants_are_read_in_place) {
  RunBuffer out(Float(32), {6});
  expect_same(R"(func f(out: output float32[1]) {
  constant table: float32[(0, 3, 1), (0, 2, 3)] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}
  for x in (0, 6) {
    out[int64(x)] = table[5i64 - int64(x)]
  }
}
)",
              {{"out", &out}});
}

TEST(Vectors, ramps_broadcasts_and_shuffles) {
  RunBuffer out(Int(32), {16});
  expect_same(R"(func f(out: output int32[1]) {
  for x in (0, 2) {
    let v = ramp(x, 3, 4)
    out[ramp(int64(x)*8i64, 1i64, 8)] = shuffle({v, broadcast(x, 4)}, {0, 7, 1, 6, 2, 5, 3, 4})
    out[int64(x)*8i64] = shuffle({v}, {2})
  }
}
)",
              {{"out", &out}});
}

// Machines without tiles have the meaning written out, which is the interpreter's.
TEST(Vectors, products_of_matrices) {
  RunBuffer a(UInt(8), {24}), b(Int(8), {32}), f(Int(32), {12});
  fill(a, 1);
  fill(b, 2);
  fill(f, 3);
  // Three rows of a, four columns of b, eight terms in groups of two.
  expect_same(R"(
    func f(a: input uint8[1], b: input int8[1], f: output int32[1]) {
      f[ramp(0i64, 1i64, 12)] = intrinsic<int32x12>(sum_matrix_products, f[ramp(0i64, 1i64, 12)],
        a[ramp(0i64, 1i64, 24)], b[ramp(0i64, 1i64, 32)], 3, 2)
    })",
              {{"a", &a}, {"b", &b}, {"f", &f}});
}

TEST(Floats, strict_float_is_not_contracted) {
  // 1 + 2^-12 squared is not representable: a fused operation keeps what a product loses.
  const std::string pipeline = R"(func f(in: input float32[1], out: output float32[1]) {
  out[0i64] = strict_float(in[0i64]*in[0i64] - in[1i64])
}
)";
  RunBuffer in(Float(32), {2}), out(Float(32), {1});
  const float a = 1.0f + std::ldexp(1.0f, -12);
  in.as<float>()[0] = a;
  in.as<float>()[1] = a * a;
  expect_same(pipeline, {{"in", &in}, {"out", &out}});
  EXPECT_EQ(out.as<float>()[0], 0.0f);
}

}  // namespace
}  // namespace polyhalite::emission_test
