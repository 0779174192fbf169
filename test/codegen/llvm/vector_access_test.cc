// Vector loads, stores and lookups against the interpreter of loop IR: strides, masks, gathers.
#include <algorithm>
#include <utility>

#include "codegen/llvm/pipeline_run.h"

namespace polyhalite::vector_access_test {
namespace {

constexpr int kSize = 64;

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

// Vectors of all lengths, in turn lane by lane, densely and as rows with gaps between.
TEST_P(VectorAccess, interleaved) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  Target avx2 = get_host_target();
  avx2 = Target(avx2.os, avx2.arch, avx2.bits, {Target::SSE41, Target::AVX, Target::AVX2});
  std::vector<Target> targets = {get_host_target()};
  if (get_host_target().has_feature(Target::AVX2)) targets.push_back(avx2);
  for (int vectors : {2, 3, 4, 8, 16}) {
    for (int lanes : {2, 3, 4, 6, 8, 16, 24}) {
      const std::string v = std::to_string(vectors), n = std::to_string(lanes);
      const std::string gap = std::to_string(vectors + 3);
      std::string operands, order;
      for (int i = 0; i < vectors; i++) {
        operands +=
            (i ? ", " : "") + ("in[ramp(" + std::to_string(i * lanes)) + "i64, 1i64, " + n + ")]";
      }
      for (int lane = 0; lane < lanes; lane++) {
        for (int i = 0; i < vectors; i++) {
          order += (order.empty() ? "" : ", ") + std::to_string(i * lanes + lane);
        }
      }
      const std::string value = "shuffle({" + operands + "}, {" + order + "})";
      for (const Target &target : targets) {
        RunBuffer in(t, {vectors * lanes}), dense(t, {vectors * lanes});
        RunBuffer rows(t, {(vectors + 3) * lanes});
        fill(in, 3);
        expect_same("func f(in: input " + name + "[1], dense: output " + name +
                        "[1], rows: output " + name + "[1]) {\n  dense[ramp(0i64, 1i64, " +
                        std::to_string(vectors * lanes) + ")] = " + value +
                        "\n  rows[ramp(ramp(0i64, 1i64, " + v + "), broadcast(" + gap + "i64, " +
                        v + "), " + n + ")] = " + value + "\n}\n",
                    {{"in", &in}, {"dense", &dense}, {"rows", &rows}}, target);
      }
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

int floor_div(int a, int d) { return a >= 0 ? a / d : -((d - 1 - a) / d); }

// Lanes (a + l)/d wherever they begin, down to negative ones, from a buffer that ends with them.
TEST_P(VectorAccess, elements_that_neighbours_share) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  for (const int d : {2, 3, 4, 8, 16}) {
    for (const int lanes : {6, 16}) {
      for (const std::string wide : {"int64x", ""}) {
        const std::string n = std::to_string(lanes);
        const std::string ending = wide.empty() ? "i64" : "";
        for (int a = -3; a < d; a += d / 3 + 1) {
          const int first = floor_div(a, d), last = floor_div(a + lanes - 1, d);
          RunBuffer in(t, {last - first + 1}), out(t, {lanes});
          fill(in, 4);
          const std::string begin = wide.empty() ? "int64(a)" : "a";
          const std::string index = "ramp(" + begin + ", 1" + ending + ", " + n + ")/broadcast(" +
                                    std::to_string(d) + ending + ", " + n + ")";
          expect_same("func f(in: input " + name + "[1], out: output " + name +
                          "[1]) {\n  for a in (" + std::to_string(a) +
                          ", 1) {\n    out[ramp(0i64, 1i64, " + n + ")] = in[" +
                          (wide.empty() ? index : wide + n + "(" + index + ")") + " - broadcast(" +
                          std::to_string(first) + "i64, " + n + ")]\n  }\n}\n",
                      {{"in", &in}, {"out", &out}});
        }
      }
    }
  }
}

// Every third element behind an index that is read, as of colours side by side.
TEST_P(VectorAccess, gathered_in_steps) {
  const Type t = GetParam();
  const std::string name = t.to_string();
  RunBuffer in(t, {kSize}), at(Int(32), {8}), out(t, {kSize}), scattered(t, {kSize});
  fill(in, 6);
  for (int i = 0; i < 8; i++) at.as<int32_t>()[i] = i * 3 % 8 - 4;
  const std::string index =
      "int64x8(at[ramp(0i64, 1i64, 8)])*broadcast(3i64, 8) + broadcast(20i64, 8)";
  expect_same("func f(in: input " + name + "[1], at: input int32[1], out: output " + name +
                  "[1], scattered: output " + name + "[1]) {\n  out[ramp(0i64, 1i64, 8)] = in[" +
                  index + "]\n  out[ramp(8i64, 1i64, 8) if ramp(0, 1, 8) < broadcast(3, 8)] = in[" +
                  index + " if ramp(0, 1, 8) < broadcast(3, 8)]\n  scattered[" + index +
                  "] = in[ramp(0i64, 1i64, 8)]\n}\n",
              {{"in", &in}, {"at", &at}, {"out", &out}, {"scattered", &scattered}});
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

}  // namespace
}  // namespace polyhalite::vector_access_test
