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

class VectorAccess : public testing::TestWithParam<Type> {};

// Every spacing of lanes, up to the buffer's very last element.
TEST_P(VectorAccess, strides) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (int stride : {-5, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7}) {
    for (int lanes : {2, 4, 8, 16}) {
      const int span = std::abs(stride) * (lanes - 1) + 1;
      const int first = stride < 0 ? span - 1 : 0;
      RunBuffer in(t, {span}), out(t, {lanes}), scattered(t, {span});
      fill(in, 3);
      const std::string ramp = "ramp(" + std::to_string(first) + "i64, " + std::to_string(stride) +
                               "i64, " + std::to_string(lanes) + ")";
      std::string body =
          "  out[ramp(0i64, 1i64, " + std::to_string(lanes) + ")] = in[" + ramp + "]\n";
      if (stride != 0) {
        body += "  scattered[" + ramp + "] = in[" + ramp + "]\n";
      }
      expect_same("func f(in: input " + name + "[1], out: output " + name +
                      "[1], scattered: output " + name + "[1]) {\n" + body + "}\n",
                  {{"in", &in}, {"out", &out}, {"scattered", &scattered}});
    }
  }
}

// Every stride-th element from each of the places that `firsts` names, in one block.
TEST_P(VectorAccess, strides_side_by_side) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  const std::vector<std::pair<int, std::vector<int>>> groups = {
      {2, {0, 1}}, {2, {0, 1, 2, 3}}, {2, {1, 4}}, {3, {0, 1, 2}}, {3, {2, 0}}, {4, {3, 1, 0, 2}}};
  for (const auto &[stride, firsts] : groups) {
    for (int lanes : {4, 16}) {
      const int last = *std::max_element(firsts.begin(), firsts.end());
      const int rows = static_cast<int>(firsts.size());
      RunBuffer in(t, {stride * (lanes - 1) + last + 1}), out(t, {lanes * rows});
      fill(in, 3);
      std::string body;
      for (int r = 0; r < rows; r++) {
        body += "  out[ramp(" + std::to_string(r * lanes) + "i64, 1i64, " + std::to_string(lanes) +
                ")] = in[ramp(" + std::to_string(firsts[r]) + "i64, " + std::to_string(stride) +
                "i64, " + std::to_string(lanes) + ")]\n";
      }
      expect_same(
          "func f(in: input " + name + "[1], out: output " + name + "[1]) {\n" + body + "}\n",
          {{"in", &in}, {"out", &out}});
    }
  }
}

TEST_P(VectorAccess, masks) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (int stride : {-2, -1, 1, 2, 3, 4}) {
    for (int valid : {0, 1, 5, 8}) {
      // Lanes from `valid` on lie outside of the buffers.
      const int span = std::max(1, std::abs(stride) * (valid - 1) + 1);
      const std::string first = stride < 0 ? std::to_string(span - 1) : "0";
      RunBuffer in(t, {span}), out(t, {span});
      fill(in, 4);
      fill(out, 5);
      const std::string ramp = "ramp(" + first + "i64, " + std::to_string(stride) + "i64, 8)";
      const std::string mask = "ramp(0, 1, 8) < broadcast(" + std::to_string(valid) + ", 8)";
      expect_same("func f(in: input " + name + "[1], out: output " + name + "[1]) {\n  out[" +
                      ramp + " if " + mask + "] = in[" + ramp + " if " + mask + "]\n}\n",
                  {{"in", &in}, {"out", &out}});
    }
  }
}

// Ends of rows that AVX2 stores in parts: every number of lanes, fewer than none and more than all.
TEST_P(VectorAccess, first_lanes) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  Target avx2 = get_host_target();
  if (!avx2.has_feature(Target::AVX2)) GTEST_SKIP() << "no AVX2 here";
  avx2 = Target(avx2.os, avx2.arch, avx2.bits, {Target::SSE41, Target::AVX, Target::AVX2});
  for (const int lanes : {2, 4, 8, 16}) {
    const std::string n = std::to_string(lanes);
    const std::string wide = "ramp(0i64, 1i64, " + n + ")", at = "ramp(1i64, 1i64, " + n + ")";
    for (int last = -2; last <= lanes + 3; last++) {
      for (const std::string order : {"<", "<="}) {
        RunBuffer in(t, {lanes}), out(t, {lanes + 2});
        fill(in, 4);
        fill(out, 5);
        expect_same("func f(in: input " + name + "[1], out: output " + name + "[1]) {\n  out[" +
                        at + " if ramp(1, 1, " + n + ") " + order + " broadcast(" +
                        std::to_string(last) + ", " + n + ")] = in[" + wide + "]\n}\n",
                    {{"in", &in}, {"out", &out}}, avx2);
      }
    }
  }
}

// Bounds whose distance takes more than 32 bits, and masks of other types, which wrap.
TEST_P(VectorAccess, first_lanes_of_any_bound) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  Target avx2 = get_host_target();
  if (!avx2.has_feature(Target::AVX2)) GTEST_SKIP() << "no AVX2 here";
  avx2 = Target(avx2.os, avx2.arch, avx2.bits, {Target::SSE41, Target::AVX, Target::AVX2});
  for (const std::string mask :
       {"ramp(5, 1, 8) < broadcast(-2147483647, 8)", "ramp(5, 1, 8) <= broadcast(2147483647, 8)",
        "ramp(5i64, 1i64, 8) < broadcast(8i64, 8)",
        "ramp(uint32(5), uint32(1), 8) < broadcast(uint32(3), 8)"}) {
    RunBuffer in(t, {8}), out(t, {8});
    fill(in, 4);
    fill(out, 5);
    const std::string at = "ramp(0i64, 1i64, 8)";
    expect_same("func f(in: input " + name + "[1], out: output " + name + "[1]) {\n  out[" + at +
                    " if " + mask + "] = in[" + at + "]\n}\n",
                {{"in", &in}, {"out", &out}}, avx2);
  }
}

// Any lanes of every second to fourth element, the others on pages that nobody may read.
TEST_P(VectorAccess, masks_of_strides) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (const int stride : {2, 3, 4}) {
    for (const int lanes : {4, 16}) {
      RunBuffer in(t, {stride * lanes}), wanted(Int(32), {lanes}), out(t, {lanes});
      fill(in, 4);
      for (int i = 0; i < lanes; i++) wanted.as<int32_t>()[i] = i % 5 == 1 || i == 2;
      const std::string all = std::to_string(lanes);
      const std::string dense = "ramp(0i64, 1i64, " + all + ")";
      expect_same("func f(in: input " + name + "[1], wanted: input int32[1], out: output " + name +
                      "[1]) {\n  let m = wanted[" + dense + "] == broadcast(1, " + all +
                      ")\n  out[" + dense + "] = in[ramp(1i64, " + std::to_string(stride) +
                      "i64, " + all + ") if m]\n}\n",
                  {{"in", &in}, {"wanted", &wanted}, {"out", &out}});
    }
  }
}

// Columns of rows that are far apart, column by column, up to the buffer's very last element.
TEST_P(VectorAccess, columns_of_rows) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (const auto &[rows, n] :
       std::vector<std::pair<int, int>>{{2, 2}, {2, 8}, {3, 4}, {4, 4}, {4, 2}, {8, 8}}) {
    for (const bool masked : {false, true}) {
      const int lanes = rows * n, stride = n + 3, valid = masked ? lanes - rows - 1 : lanes;
      // Masked lanes from `valid` on lie outside of the buffer: in the last row, at least.
      const int last = (rows - 1) * stride + (masked ? n - 2 : n - 1);
      RunBuffer in(t, {masked ? std::max(last, (rows - 2) * stride + n - 1) : last + 1});
      RunBuffer out(t, {lanes});
      fill(in, 9);
      fill(out, 10);
      const std::string all = std::to_string(lanes), each = std::to_string(rows);
      const std::string mask = masked ? " if ramp(0, 1, " + all + ") < broadcast(" +
                                            std::to_string(valid) + ", " + all + ")"
                                      : "";
      expect_same("func f(in: input " + name + "[1], out: output " + name +
                      "[1]) {\n  out[ramp(0i64, 1i64, " + all + ")" + mask +
                      "] = in[ramp(ramp(0i64, " + std::to_string(stride) + "i64, " + each +
                      "), broadcast(1i64, " + each + "), " + std::to_string(n) + ")" + mask +
                      "]\n}\n",
                  {{"in", &in}, {"out", &out}});
    }
  }
}

TEST_P(VectorAccess, gathered_and_scattered) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  RunBuffer in(t, {kSize}), at(Int(32), {16}), out(t, {kSize});
  fill(in, 6);
  for (int i = 0; i < 16; i++) at.as<int32_t>()[i] = (i * 29 + 5) % kSize;
  expect_same("func f(in: input " + name + "[1], at: input int32[1], out: output " + name +
                  "[1]) {\n  for x in (0, 2) {\n"
                  "    let i = int64x8(at[ramp(int64(x)*8i64, 1i64, 8)])\n"
                  "    out[i] = in[i]\n"
                  "    out[i if ramp(x, 1, 8) < broadcast(3, 8)] = in[broadcast(63i64, 8) - i]\n"
                  "  }\n}\n",
              {{"in", &in}, {"at", &at}, {"out", &out}});
}

// Indices of any integer type, alone and with what all lanes have in common.
TEST_P(VectorAccess, gathered_by_narrow_indices) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (const Type i : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64)}) {
    for (int lanes : {2, 5, 8}) {
      RunBuffer in(t, {kSize}), at(i, {8}), out(t, {kSize}), scattered(t, {kSize});
      fill(in, 6);
      for (size_t l = 0; l < 8; l++) {
        const int64_t value = static_cast<int64_t>(l * 3 % 8) - (i.is_int() ? 4 : 0);
        const auto bytes = static_cast<size_t>(i.bytes());
        std::memcpy(at.bytes.data() + l * bytes, &value, bytes);
      }
      const std::string n = std::to_string(lanes), x = "x" + n + "(";
      const std::string read = "at[ramp(0i64, 1i64, " + n + ")]";
      const std::string index = i.bits() == 64 ? read : "int64" + x + read + ")";
      const std::string common = "broadcast(int64(in.min.0) + 20i64, " + n + ")";
      auto line = [&](int from, const std::string &what) {
        return "  out[ramp(" + std::to_string(from) + "i64, 1i64, " + n + ")] = in[" + what + "]\n";
      };
      const std::string mask = " if ramp(0, 1, " + n + ") < broadcast(3, " + n + ")";
      expect_same("func f(in: input " + name + "[1], at: input " + i.to_string() +
                      "[1], out: output " + name + "[1], scattered: output " + name + "[1]) {\n" +
                      line(0, common + " + " + index) + line(8, common + " - " + index) +
                      line(16, index + " + ramp(20i64, 3i64, " + n + ")") +
                      line(24, index + " + " + index + " + " + common) +
                      line(32, index + " + " + common + mask) + "  scattered[" + index +
                      " + ramp(9i64, 2i64, " + n + ")] = in[ramp(0i64, 1i64, " + n +
                      ")]\n  scattered[" + common + " - " + index + mask +
                      "] = in[ramp(0i64, 1i64, " + n + ")]\n}\n",
                  {{"in", &in}, {"at", &at}, {"out", &out}, {"scattered", &scattered}});
    }
  }
}

// Tables of bytes, of 256 elements and of fewer, looked up by bytes.
TEST(Tables, lookups_by_bytes) {
  for (const char *index_type : {"uint8", "int8"}) {
    for (const int size : {256, 200}) {
      for (const int lanes : {5, 8, 32, 64, 128}) {
        const bool is_signed = index_type[0] == 'i';
        RunBuffer in(Int(8), {256}), at(is_signed ? Int(8) : UInt(8), {128}), out(Int(8), {128});
        fill(in, 1);
        // Those of a smaller table are asked for what it has.
        for (int l = 0; l < 128; l++) {
          const int wanted = size == 256 ? l * 37 % 256 : l;
          at.bytes[static_cast<size_t>(l)] =
              static_cast<uint8_t>(is_signed ? wanted - (size == 256 ? 128 : 64) : wanted);
        }
        const std::string n = std::to_string(lanes);
        const std::string read = "at[ramp(0i64, 1i64, " + n + ")]";
        const std::string base = !is_signed ? "0i64" : size == 256 ? "128i64" : "64i64";
        expect_same("func f(in: input int8[1], at: input " + std::string(index_type) +
                        "[1], out: output int8[1]) {\n  allocate t: int8[" + std::to_string(size) +
                        "i64] stack\n  for x in (0, " + std::to_string(size) +
                        ") {\n    t[int64(x)] = in[int64(x)]\n  }\n  out[ramp(0i64, 1i64, " + n +
                        ")] = t[int64x" + n + "(" + read + ") + broadcast(" + base + ", " + n +
                        ")]\n}\n",
                    {{"in", &in}, {"at", &at}, {"out", &out}});
      }
    }
  }
}

// One element for all lanes, which nothing reads where all of them are off: it lies nowhere then.
TEST_P(VectorAccess, uniform_under_a_mask) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  RunBuffer in(t, {16}), out(t, {kSize});
  fill(in, 7);
  fill(out, 8);
  expect_same("func f(in: input " + name + "[1], out: output " + name +
                  "[1]) {\n"
                  "  for x in (0, 9) {\n"
                  "    out[ramp(int64(x)*8i64, 1i64, 8) if ramp(x*8, 1, 8) < broadcast(60, 8)] = "
                  "in[broadcast(int64(x) + int64(x/8)*1000000000000i64, 8) if ramp(x*8, 1, 8) < "
                  "broadcast(60, 8)]\n"
                  "  }\n"
                  "}\n",
              {{"in", &in}, {"out", &out}});
}

INSTANTIATE_TEST_SUITE_P(all, VectorAccess,
                         testing::Values(Bool(), UInt(8), Int(16), Float(32), Float(64)),
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
