// Matrix products of processors, asked for by tensorize: which instructions the code has, what it
// computes (against plain loops, exactly), and what is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "codegen/ir/instructions.h"
#include "polyhalite/polyhalite.h"
#include "test/codegen/llvm/product_run.h"

namespace polyhalite::matrix_products_test {
namespace {

constexpr int kColumns = 32, kRows = 32;
constexpr const char *kArm = "arm-64-linux-armv86a";
constexpr const char *kTiles =
    "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-"
    "avx512_sapphirerapids";

bool takes_memory(const Instruction &i) { return i.group < matrix_shape(i).k; }

// f(n, m) += a(k, m) * b(k, n), as the instruction called `name` wants it.
struct Product {
  Var n{"n"}, m{"m"}, no{"no"}, ni{"ni"}, mo{"mo"}, mi{"mi"};
  RVar ko{"ko"}, ki{"ki"};
  ImageParam a, b;
  Func packed{"packed"}, f{"f"};
  RDom k;
  int depth;

  Product(Type left, Type right, Type sum, int depth, int rows = kRows)
      : a(left, 2, "a"), b(right, 2, "b"), depth(depth) {
    k = RDom(0, depth, "k");
    Var j("j");
    packed(j, n) = b(j, n);
    f(n, m) = cast(sum, 0);
    f(n, m) += cast(sum, a(k, m)) * cast(sum, packed(k, n));
    f.bound(n, 0, kColumns).bound(m, 0, rows);
    b.dim(1).set_stride(depth);
  }
  explicit Product(const char *name, int depth = 256)
      : Product(find_instruction(name)->operands[1].type, find_instruction(name)->operands[2].type,
                find_instruction(name)->operands[0].type, depth) {}

  Product &split(const MatrixShape &shape) {
    f.update()
        .split(n, no, ni, shape.n)
        .split(m, mo, mi, shape.m)
        .split(k, ko, ki, shape.k)
        .reorder(ki, ni, mi, ko, no, mo);
    return *this;
  }
  Product &pack(int group) {
    const std::vector<Var> args = packed.args();
    packed.compute_root().pack(args[0], group).reorder_storage(args[1], args[0]);
    return *this;
  }
  Product &tensorize(const char *name) {
    const Instruction &i = *find_instruction(name);
    if (takes_memory(i)) pack(i.group);
    split(matrix_shape(i)).f.update().tensorize(mi, ni, ki, name);
    return *this;
  }
  test::Product run() const { return {f, a, b, kColumns, kRows, depth}; }
  std::string assembly(const char *target) {
    return f.emit_text(Emit::assembly, {a, b}, Target(target));
  }
  std::string refused(const char *target) { return test::refused(f, {a, b}, Target(target)); }
};

int count(const std::string &text, const std::string &word) {
  int n = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) n++;
  return n;
}

struct Machine {
  const char *name;  // of the instruction
  const char *target;
  std::map<std::string, int> words;  // that the assembly has, and how often
};

void PrintTo(const Machine &m, std::ostream *out) { *out << m.name << " of " << m.target; }

class MatrixProducts : public testing::TestWithParam<Machine> {};

// Sums stay in registers along the reduction: one tile is loaded and stored outside of it.
TEST_P(MatrixProducts, ArePartOfTheCode) {
  const Machine &m = GetParam();
  const std::string assembly = Product(m.name).tensorize(m.name).assembly(m.target);
  for (const auto &[word, times] : m.words) {
    EXPECT_EQ(count(assembly, word), times) << word << " in\n" << assembly;
  }
}

template <typename A, typename B>
void expect_exact(const Machine &m, int depth) {
  SCOPED_TRACE(std::string(m.name) + " depth " + std::to_string(depth));
  Product p(type_of<A>(), type_of<B>(), Int(32), depth);
  test::expect_exact<A, B>(p.tensorize(m.name).run(), Target(m.target));
}

// Depths that the terms divide, that they do not, and less than them.
TEST_P(MatrixProducts, AreExact) {
  const Machine &m = GetParam();
  for (const int depth : {128, 69, 3}) {
    if (find_instruction(m.name)->operands[1].type == BFloat(16)) {
      test::expect_exact_brain(Product(m.name, depth).tensorize(m.name).run(), Target(m.target));
      continue;
    }
    expect_exact<uint8_t, int8_t>(m, depth);
    expect_exact<int8_t, uint8_t>(m, depth);
    expect_exact<int8_t, int8_t>(m, depth);
    expect_exact<uint8_t, uint8_t>(m, depth);
  }
}

std::vector<Machine> machines() {
  return {
      {"smmla", kArm, {{"\tsmmla\t", 1}, {"smlal", 0}}},
      {"ummla", kArm, {{"\tummla\t", 1}, {"umlal", 0}}},
      {"usmmla", kArm, {{"\tusmmla\t", 1}, {"smlal", 0}}},
      {"bfmmla", kArm, {{"\tbfmmla\t", 1}}},
      {"tdpbusd", kTiles, {{"\ttdpbusd\t", 1}, {"\ttileloadd\t", 3}, {"\ttilestored\t", 1}}},
      {"tdpbssd", kTiles, {{"\ttdpbssd\t", 1}, {"\ttileloadd\t", 3}, {"\ttilestored\t", 1}}},
      {"tdpbsud", kTiles, {{"\ttdpbsud\t", 1}, {"\ttileloadd\t", 3}, {"\ttilestored\t", 1}}},
      {"tdpbuud", kTiles, {{"\ttdpbuud\t", 1}, {"\ttileloadd\t", 3}, {"\ttilestored\t", 1}}},
      {"tdpbf16ps", kTiles, {{"\ttdpbf16ps\t", 1}, {"\ttileloadd\t", 3}, {"\ttilestored\t", 1}}},
  };
}

INSTANTIATE_TEST_SUITE_P(all, MatrixProducts, testing::ValuesIn(machines()),
                         [](const auto &info) { return std::string(info.param.name); });

// The pipeline asks the system for tiles before all else.
TEST(MatrixProductsInTiles, AreAskedFor) {
  const std::string assembly = Product("tdpbusd").tensorize("tdpbusd").assembly(kTiles);
  EXPECT_NE(assembly.find("polyhalite_use_tiles"), std::string::npos) << assembly;
  Product plain("tdpbusd");
  EXPECT_EQ(plain.assembly(kTiles).find("polyhalite_use_tiles"), std::string::npos);
}

// -- Other machines, in an emulator

class EmulatedMatrixProducts : public testing::TestWithParam<std::pair<const char *, int>> {};

TEST_P(EmulatedMatrixProducts, AreExact) {
  const auto [name, depth] = GetParam();
  Product p = std::string(name) == "usmmla" && depth == 64
                  ? Product(Int(8), UInt(8), Int(32), depth)
                  : Product(name, depth);
  test::expect_exact_emulated(p.tensorize(name).run(), kArm);
}

INSTANTIATE_TEST_SUITE_P(arm, EmulatedMatrixProducts,
                         testing::Values(std::pair("smmla", 69), std::pair("ummla", 69),
                                         std::pair("usmmla", 69), std::pair("usmmla", 64),
                                         std::pair("bfmmla", 69)),
                         [](const auto &info) {
                           return std::string(info.param.first) + "_" +
                                  std::to_string(info.param.second);
                         });

// -- Tiles, played by plain functions: LLVM's code with vectors in their place

constexpr const char *kTilesInC = R"(
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

int polyhalite_use_tiles(void *, const char *) { return 0; }

void load_tile(uint8_t *tile, int16_t rows, int16_t bytes, const uint8_t *from, int64_t stride) {
  if (rows != 16 || bytes != 64) abort();
  for (int i = 0; i < rows; i++) memcpy(tile + i * 64, from + i * stride, 64);
}
void store_tile(int16_t rows, int16_t bytes, uint8_t *to, int64_t stride, const uint8_t *tile) {
  if (rows != 16 || bytes != 64) abort();
  for (int i = 0; i < rows; i++) memcpy(to + i * stride, tile + i * 64, 64);
}

}

template <typename A, typename B>
static void multiply(int32_t *c, const A *a, const B *b) {
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < 16; j++) {
      for (int k = 0; k < 64; k++) c[i * 16 + j] += a[i * 64 + k] * b[k / 4 * 64 + j * 4 + k % 4];
    }
  }
}

static float number(uint16_t brain) {
  const uint32_t bits = uint32_t{brain} << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

extern "C" {

void tdpbssd(int32_t *c, const int8_t *a, const int8_t *b) { multiply(c, a, b); }
void tdpbsud(int32_t *c, const int8_t *a, const uint8_t *b) { multiply(c, a, b); }
void tdpbusd(int32_t *c, const uint8_t *a, const int8_t *b) { multiply(c, a, b); }
void tdpbuud(int32_t *c, const uint8_t *a, const uint8_t *b) { multiply(c, a, b); }
void tdpbf16ps(float *c, const uint16_t *a, const uint16_t *b) {
  for (int i = 0; i < 16; i++) {
    for (int j = 0; j < 16; j++) {
      for (int k = 0; k < 32; k++) {
        c[i * 16 + j] += number(a[i * 32 + k]) * number(b[k / 2 * 32 + j * 2 + k % 2]);
      }
    }
  }
}

}
)";

// The intrinsics that pass tiles, made of functions that take them in memory.
std::string tiles_of_vectors(const std::string &product) {
  const std::string tile = "<256 x i32>", shape = "(i16 %r, i16 %b, ";
  return "declare void @load_tile(ptr, i16, i16, ptr, i64)\n"
         "declare void @store_tile(i16, i16, ptr, i64, ptr)\n"
         "declare void @" +
         product +
         "(ptr, ptr, ptr)\n"
         "define " +
         tile + " @tile.load" + shape +
         "ptr %p, i64 %s) {\n"
         "  %t = alloca " +
         tile +
         "\n"
         "  call void @load_tile(ptr %t, i16 %r, i16 %b, ptr %p, i64 %s)\n"
         "  %v = load " +
         tile +
         ", ptr %t\n"
         "  ret " +
         tile +
         " %v\n"
         "}\n"
         "define void @tile.store" +
         shape + "ptr %p, i64 %s, " + tile +
         " %v) {\n"
         "  %t = alloca " +
         tile +
         "\n"
         "  store " +
         tile +
         " %v, ptr %t\n"
         "  call void @store_tile(i16 %r, i16 %b, ptr %p, i64 %s, ptr %t)\n"
         "  ret void\n"
         "}\n"
         "define " +
         tile + " @tile.product" + shape + "i16 %k, " + tile + " %c, " + tile + " %x, " + tile +
         " %y) {\n"
         "  %d = alloca " +
         tile + "\n  store " + tile +
         " %c, ptr %d\n"
         "  %a = alloca " +
         tile + "\n  store " + tile +
         " %x, ptr %a\n"
         "  %e = alloca " +
         tile + "\n  store " + tile +
         " %y, ptr %e\n"
         "  call void @" +
         product +
         "(ptr %d, ptr %a, ptr %e)\n"
         "  %v = load " +
         tile +
         ", ptr %d\n"
         "  ret " +
         tile +
         " %v\n"
         "}\n"
         "define " +
         tile + " @tile.cast(" + tile + " %v) { ret " + tile + " %v }\n";
}

void expect_exact_played(const Product &made, const std::string &product) {
  const test::TemporaryFolder folder;
  const std::string compiler = "clang++-19" + test::kIncludes;
  if (get_host_target().arch != Target::X86) GTEST_SKIP() << "the code is of x86";
  const auto [why, missing] = folder.run("clang++-19 --version");
  if (missing) GTEST_SKIP() << "there is no clang++-19: " << why;
  test::Product p = made.run();
  p.f.compile_to({{Emit::llvm_assembly, folder.path("products.ll")},
                  {Emit::c_header, folder.path("products.h")}},
                 {p.a, p.b}, "products", Target(kTiles));
  std::ifstream file(folder.path("products.ll"));
  std::string code(std::istreambuf_iterator<char>(file), {});
  auto replace = [&](const std::string &pattern, const std::string &by) {
    code = std::regex_replace(code, std::regex(pattern), by);
  };
  replace("declare [^\n]*@llvm\\.x86\\.(tile|tdp|cast)[^\n]*\n", "");
  replace("x86_amx", "<256 x i32>");
  replace("@llvm\\.x86\\.tileloadd64\\.internal", "@tile.load");
  replace("@llvm\\.x86\\.tilestored64\\.internal", "@tile.store");
  replace("@llvm\\.x86\\." + product + "\\.internal", "@tile.product");
  replace("@llvm\\.x86\\.cast\\.[a-z.]*\\.v256i32", "@tile.cast");
  replace("\"target-(cpu|features)\"=\"[^\"]*\"", "");
  write_file(folder.path("products.ll"), code + tiles_of_vectors(product), "the test's code");
  write_file(folder.path("tiles.cc"), kTilesInC, "the test's tiles");
  test::expect_exact_program(folder, compiler, "", p, "products.ll tiles.cc");
}

class PlayedTiles : public testing::TestWithParam<const char *> {};

// Three steps of whole tiles or more, and a part of one.
TEST_P(PlayedTiles, AreExact) {
  expect_exact_played(Product(GetParam(), 197).tensorize(GetParam()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(x86, PlayedTiles,
                         testing::Values("tdpbusd", "tdpbssd", "tdpbsud", "tdpbuud", "tdpbf16ps"),
                         [](const auto &info) { return std::string(info.param); });

// 2 x 2 tiles: each of a and each of b is loaded once a step.
TEST(MatrixProductsInTiles, ShareTheirFactors) {
  Product p("tdpbusd");
  Var nt("nt"), mt("mt");
  p.pack(4);
  p.f.update()
      .split(p.n, p.no, p.ni, 16)
      .split(p.no, p.no, nt, 2)
      .split(p.m, p.mo, p.mi, 16)
      .split(p.mo, p.mo, mt, 2)
      .split(p.k, p.ko, p.ki, 64)
      .reorder(p.ki, p.ni, p.mi, nt, mt, p.ko, p.no, p.mo)
      .unroll(nt)
      .unroll(mt)
      .tensorize(p.mi, p.ni, p.ki, "tdpbusd");
  const std::string assembly = p.assembly(kTiles);
  EXPECT_EQ(count(assembly, "\ttdpbusd\t"), 4) << assembly;
  EXPECT_EQ(count(assembly, "\ttileloadd\t"), 4 + 2 + 2) << assembly;
  EXPECT_EQ(count(assembly, "\ttilestored\t"), 4) << assembly;
  test::expect_exact<uint8_t, int8_t>(p.run(), Target(kTiles));
  expect_exact_played(p, "tdpbusd");
}

// -- What is refused

TEST(MatrixProductsRefused, WhereTheTargetLacksThem) {
  EXPECT_EQ(Product("smmla").tensorize("smmla").refused("arm-64-linux-arm_dot_prod"),
            "error: cannot make 'smmla' of the loops around 'f.s1'\n"
            "  why: the target arm-64-linux-arm_dot_prod does not have it\n"
            "  fix: instructions of the target are: sdot, udot");
  EXPECT_EQ(Product("tdpbusd").tensorize("tdpbusd").refused("x86-64-linux-sse41"),
            "error: cannot make 'tdpbusd' of the loops around 'f.s1'\n"
            "  why: the target x86-64-linux-sse41 does not have it\n"
            "  fix: instructions of the target are: pmaddwd_u8s8_128, pmaddwd_128");
}

TEST(MatrixProductsRefused, ForOtherTypes) {
  Product p(Int(16), Int(8), Int(32), 64);
  EXPECT_EQ(p.tensorize("smmla").refused(kArm),
            "error: cannot make 'smmla' of the loops around 'f.s1'\n"
            "  why: its factors are int8 and int16\n"
            "  fix: give tensorize an update f(n, m) += cast<int32>(a(k, m)) * cast<int32>(b(k, "
            "n)) of a int8 and a int8");
}

TEST(MatrixProductsRefused, ForOtherExtents) {
  Product p("smmla");
  p.split({4, 2, 8}).f.update().tensorize(p.mi, p.ni, p.ki, "smmla");
  EXPECT_EQ(p.refused(kArm),
            "error: cannot tensorize update 0 of 'f' by 'smmla'\n"
            "  why: its loop m, 'mi', has the extent 4, and the instruction's is 2\n"
            "  fix: split it by 2 in whole tiles");
}

TEST(MatrixProductsRefused, ForTwoLoops) {
  Product p("smmla");
  p.split({2, 2, 8}).f.update().tensorize(p.ni, p.ki, "smmla");
  EXPECT_EQ(p.refused(kArm),
            "error: cannot tensorize update 0 of 'f' by 'smmla'\n"
            "  why: it stands for three loops, m, n and k, not 2\n"
            "  fix: give it the loops over rows and columns of the result and the one over what is "
            "summed");
}

TEST(MatrixProductsRefused, ForPartsOfTiles) {
  Product p(Int(8), Int(8), Int(32), 64, 31);
  p.f.update()
      .split(p.n, p.no, p.ni, 2)
      .split(p.m, p.mo, p.mi, 2, TailStrategy::GuardWithIf)
      .split(p.k, p.ko, p.ki, 8)
      .reorder(p.ki, p.ni, p.mi, p.ko, p.no, p.mo)
      .tensorize(p.mi, p.ni, p.ki, "smmla");
  EXPECT_EQ(p.refused(kArm),
            "error: cannot make 'smmla' of the loops around 'f.s1'\n"
            "  why: its tile is guarded by f.s1.mi <= 0, and whole tiles are computed\n"
            "  fix: give tensorize an update f(n, m) += cast<int32>(a(k, m)) * cast<int32>(b(k, "
            "n)) of a int8 and a int8");
}

// Both factors by m: no product of matrices.
TEST(MatrixProductsRefused, ForOtherFactors) {
  Var n("n"), m("m"), no("no"), ni("ni"), mo("mo"), mi("mi");
  RVar ko("ko"), ki("ki");
  ImageParam a(Int(8), 2, "a"), b(Int(8), 2, "b");
  RDom k(0, 64, "k");
  Func f("f");
  f(n, m) = 0;
  f(n, m) += cast<int>(a(k, m)) * cast<int>(b(k, m));
  f.bound(n, 0, 32).bound(m, 0, 32);
  f.update()
      .split(n, no, ni, 2)
      .split(m, mo, mi, 2)
      .split(k, ko, ki, 8)
      .reorder(ki, ni, mi, ko, no, mo)
      .tensorize(mi, ni, ki, "smmla");
  EXPECT_EQ(test::refused(f, {a, b}, Target(kArm)),
            "error: cannot make 'smmla' of the loops around 'f.s1'\n"
            "  why: its factors 'a' and 'b' are not one by m and k and one by n and k\n"
            "  fix: give tensorize an update f(n, m) += cast<int32>(a(k, m)) * cast<int32>(b(k, "
            "n)) of a int8 and a int8");
}

TEST(MatrixProductsRefused, InTilesWithoutPacking) {
  Product p("tdpbusd");
  p.packed.compute_root();
  p.split({16, 16, 64}).f.update().tensorize(p.mi, p.ni, p.ki, "tdpbusd");
  EXPECT_EQ(
      p.refused(kTiles),
      "error: cannot make 'tdpbusd' of the loops around 'f.s1'\n"
      "  why: its factor 'packed' does not have groups of 4 k side by side in memory, those of the "
      "columns one after the other\n"
      "  fix: pack it: compute it into a Func p(k, n) with p.pack(k, 4).reorder_storage(n, k)");
}

TEST(MatrixProductsRefused, InTilesWithRowsThatAreNotDense) {
  Product p("tdpbusd");
  p.a.dim(0).set_stride(Expr());
  p.pack(4).split({16, 16, 64}).f.update().tensorize(p.mi, p.ni, p.ki, "tdpbusd");
  EXPECT_EQ(p.refused(kTiles),
            "error: cannot make 'tdpbusd' of the loops around 'f.s1'\n"
            "  why: its factor 'a' is no matrix in memory with rows of 64\n"
            "  fix: take it from a Func or an input that has k innermost in memory");
}

}  // namespace
}  // namespace polyhalite::matrix_products_test
