// Dot products of processors, asked for by tensorize: which instructions the code has, what it
// computes (against plain loops, exactly), and what is refused.
#include <gtest/gtest.h>

#include "codegen/ir/instructions.h"
#include "polyhalite/polyhalite.h"
#include "test/codegen/llvm/product_run.h"

namespace polyhalite::dot_products_test {
namespace {

constexpr int kColumns = 32, kRows = 3;

struct Machine {
  const char *name;  // of the instruction
  const char *target;
  std::vector<const char *> words;  // that the assembly has
  const char *absent = "";          // and one that it has not
};

void PrintTo(const Machine &m, std::ostream *out) { *out << m.name << " of " << m.target; }

// f(n, m) += a(k, m) * b(k, n), as the instruction called `name` wants it.
struct Product {
  Var n{"n"}, m{"m"}, no{"no"}, ni{"ni"};
  RVar ko{"ko"}, ki{"ki"};
  ImageParam a, b;
  Func f{"f"};
  RDom k;

  Product(Type left, Type right, Type sum, int depth) : a(left, 2, "a"), b(right, 2, "b") {
    k = RDom(0, depth, "k");
    f(n, m) = cast(sum, 0);
    f(n, m) += cast(sum, a(k, m)) * cast(sum, b(k, n));
    f.bound(n, 0, kColumns).bound(m, 0, kRows);
    b.dim(1).set_stride(depth);
  }
  Product &tensorize(const char *name, int sums, int terms) {
    f.update()
        .split(n, no, ni, sums)
        .split(k, ko, ki, terms)
        .reorder(ki, ni, ko, no, m)
        .tensorize(ni, ki, name);
    return *this;
  }
  Product &tensorize(const char *name) {
    const MatrixShape shape = matrix_shape(*find_instruction(name));
    return tensorize(name, shape.n, shape.k);
  }
  std::string refused(const Target &target) { return test::refused(f, {a, b}, target); }
};

Product product_for(const char *name, int depth) {
  const auto &operands = find_instruction(name)->operands;
  return Product(operands[1].type, operands[2].type, operands[0].type, depth);
}

Target host() { return get_jit_target_from_environment(); }

template <typename A, typename B>
void expect_exact(const char *name, int depth, const Target &target) {
  SCOPED_TRACE(std::string(name) + " depth " + std::to_string(depth));
  Product p(type_of<A>(), type_of<B>(), Int(32), depth);
  p.tensorize(name);
  test::expect_exact<A, B>({p.f, p.a, p.b, kColumns, kRows, depth}, target);
}

class DotProducts : public testing::TestWithParam<Machine> {};

TEST_P(DotProducts, ArePartOfTheCode) {
  const Machine &m = GetParam();
  Product p = product_for(m.name, 64);
  p.tensorize(m.name);
  const std::string assembly = p.f.emit_text(Emit::assembly, {p.a, p.b}, Target(m.target));
  for (const char *word : m.words) {
    EXPECT_NE(assembly.find(word), std::string::npos) << word << " is not in\n" << assembly;
  }
  if (*m.absent) {
    EXPECT_EQ(assembly.find(m.absent), std::string::npos) << m.absent << " is in\n" << assembly;
  }
}

// Depths that the terms divide, that they do not, and less than them.
TEST_P(DotProducts, AreExact) {
  const Machine &m = GetParam();
  const Target target(m.target);
  const Type left = find_instruction(m.name)->operands[1].type;
  if (left == BFloat(16)) return;  // those have a test of their own
  for (const int depth : {64, 37, 3}) {
    if (left == Int(16)) {
      // Four products of extremes fit.
      expect_exact<int16_t, int16_t>(m.name, std::min(depth, 2), target);
      continue;
    }
    expect_exact<uint8_t, int8_t>(m.name, depth, target);
    expect_exact<int8_t, uint8_t>(m.name, depth, target);
    expect_exact<int8_t, int8_t>(m.name, depth, target);
    expect_exact<uint8_t, uint8_t>(m.name, depth, target);
  }
}

// Without an instruction's name: lanes of terms inside of lanes of sums, two or four at a time.
template <typename A, typename B>
void expect_exact_lanes(int terms, int depth) {
  SCOPED_TRACE("terms " + std::to_string(terms) + " depth " + std::to_string(depth));
  Product p(type_of<A>(), type_of<B>(), Int(32), depth);
  p.f.update()
      .split(p.n, p.no, p.ni, 16)
      .split(p.k, p.ko, p.ki, terms)
      .reorder(p.ki, p.ni, p.ko, p.no, p.m)
      .atomic()
      .vectorize(p.ki)
      .vectorize(p.ni);
  test::expect_exact<A, B>({p.f, p.a, p.b, kColumns, kRows, depth}, host());
}

TEST(LanesOfTerms, InsideOfLanesOfSumsAreExact) {
  for (const int terms : {2, 4}) {
    for (const int depth : {64, 37}) {
      expect_exact_lanes<uint8_t, int8_t>(terms, depth);
      expect_exact_lanes<int8_t, int8_t>(terms, depth);
      expect_exact_lanes<uint8_t, uint8_t>(terms, depth);
    }
  }
}

TEST(LanesOfTerms, PairsOfBytesAreProductsOfSixteenBits) {
  Product p(UInt(8), Int(8), Int(32), 64);
  p.f.update()
      .split(p.n, p.no, p.ni, 16)
      .split(p.k, p.ko, p.ki, 2)
      .reorder(p.ki, p.ni, p.ko, p.no, p.m)
      .atomic()
      .vectorize(p.ki)
      .vectorize(p.ni);
  const std::string assembly =
      p.f.emit_text(Emit::assembly, {p.a, p.b}, Target("x86-64-linux-sse41-avx-avx2"));
  EXPECT_NE(assembly.find("vpmaddwd"), std::string::npos) << assembly;
  EXPECT_EQ(assembly.find("vpmulld"), std::string::npos) << assembly;
}

std::vector<Machine> machines() {
  const char *zen4 =
      "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4";
  const char *skylake = "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake";
  const char *avx2 = "x86-64-linux-sse41-avx-avx2-fma-f16c";
  const char *vnni = "x86-64-linux-sse41-avx-avx2-fma-f16c-avxvnni";
  const char *sse41 = "x86-64-linux-sse41";
  return {
      {"vpdpbusd_512", zen4, {"vpdpbusd", "%zmm"}, "vpmull"},
      {"vpdpbusd_256", zen4, {"vpdpbusd", "%ymm"}, "vpmull"},
      {"vpdpbusd_128", zen4, {"vpdpbusd", "%xmm"}, "vpmull"},
      {"vpdpbusd_256", vnni, {"vpdpbusd", "%ymm"}, "vpmull"},
      {"vpmaddwd_u8s8_512", skylake, {"vpmaddwd", "%zmm"}, "maddubs"},
      {"vpmaddwd_u8s8_256", avx2, {"vpmaddwd", "%ymm"}, "maddubs"},
      {"pmaddwd_u8s8_128", sse41, {"pmaddwd", "%xmm"}, "maddubs"},
      {"vpmaddwd_512", skylake, {"vpmaddwd", "%zmm"}},
      {"vpmaddwd_256", avx2, {"vpmaddwd", "%ymm"}},
      {"pmaddwd_128", sse41, {"pmaddwd", "%xmm"}},
      {"vdpbf16ps_512", zen4, {"vdpbf16ps", "%zmm"}},
      {"vdpbf16ps_256", zen4, {"vdpbf16ps", "%ymm"}},
      {"vdpbf16ps_128", zen4, {"vdpbf16ps", "%xmm"}},
      {"sdot", "arm-64-linux-arm_dot_prod", {"sdot"}, "smlal"},
      {"udot", "arm-64-linux-arm_dot_prod", {"udot"}, "umlal"},
      {"usdot", "arm-64-linux-armv86a", {"usdot"}, "smlal"},
      {"bfdot", "arm-64-linux-armv86a", {"bfdot"}},
  };
}

INSTANTIATE_TEST_SUITE_P(all, DotProducts, testing::ValuesIn(machines()), [](const auto &info) {
  return std::string(info.param.name) + "_" + std::to_string(info.index);
});

TEST(DotProductsOfFloats, AreExactWhereSumsAre) {
  for (const char *name : {"vdpbf16ps_512", "vdpbf16ps_256", "vdpbf16ps_128"}) {
    if (!runs_on(*find_instruction(name), host())) continue;
    for (const int depth : {64, 37}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(depth));
      Product p = product_for(name, depth);
      p.tensorize(name);
      test::expect_exact_brain({p.f, p.a, p.b, kColumns, kRows, depth}, host());
    }
  }
}

// -- Other machines, in an emulator

struct Emulated {
  const char *name, *target, *left, *right;
};

void PrintTo(const Emulated &e, std::ostream *out) { *out << e.name << " of " << e.target; }

class EmulatedDotProducts : public testing::TestWithParam<Emulated> {};

TEST_P(EmulatedDotProducts, AreExact) {
  const Emulated &e = GetParam();
  auto type = [](const std::string &t) { return t == "uint8_t" ? UInt(8) : Int(8); };
  Product p(type(e.left), type(e.right), Int(32), 37);
  p.tensorize(e.name);
  test::expect_exact_emulated({p.f, p.a, p.b, kColumns, kRows, 37}, e.target);
}

INSTANTIATE_TEST_SUITE_P(
    arm, EmulatedDotProducts,
    testing::Values(Emulated{"sdot", "arm-64-linux-arm_dot_prod", "int8_t", "int8_t"},
                    Emulated{"udot", "arm-64-linux-arm_dot_prod", "uint8_t", "uint8_t"},
                    Emulated{"sdot", "arm-64-linux-arm_dot_prod", "uint8_t", "int8_t"},
                    Emulated{"usdot", "arm-64-linux-armv86a", "uint8_t", "int8_t"},
                    Emulated{"usdot", "arm-64-linux-armv86a", "int8_t", "uint8_t"}),
    [](const auto &info) {
      return std::string(info.param.name) + "_" + info.param.left + "_" + info.param.right;
    });

// -- What is refused

const Target kZen4("x86-64-linux-avx512_skylake-avx512_zen4");

TEST(DotProductsRefused, WhereTheTargetLacksThem) {
  Product p = product_for("vpdpbusd_512", 64);
  EXPECT_EQ(p.tensorize("vpdpbusd_512").refused(Target("x86-64-linux-sse41")),
            "error: cannot make 'vpdpbusd_512' of the loops around 'f.s1'\n"
            "  why: the target x86-64-linux-sse41 does not have it\n"
            "  fix: instructions of the target are: pmaddwd_u8s8_128, pmaddwd_128");
}

TEST(DotProductsRefused, ForOtherTypes) {
  Product p(Int(16), Int(8), Int(32), 64);
  EXPECT_EQ(p.tensorize("vpdpbusd_512").refused(kZen4),
            "error: cannot make 'vpdpbusd_512' of the loops around 'f.s1'\n"
            "  why: its factors are int8 and int16\n"
            "  fix: give tensorize an update f(n) += cast<int32>(a(k)) * cast<int32>(b(k, n)) of a "
            "uint8 and a int8");
}

TEST(DotProductsRefused, ForOtherExtents) {
  Product p = product_for("vpdpbusd_512", 64);
  EXPECT_EQ(p.tensorize("vpdpbusd_512", 16, 8).refused(kZen4),
            "error: cannot tensorize update 0 of 'f' by 'vpdpbusd_512'\n"
            "  why: its loop k, 'ki', has the extent 8, and the instruction's is 4\n"
            "  fix: split it by 4 in whole tiles");
}

TEST(DotProductsRefused, ForThreeLoops) {
  Product p = product_for("vpdpbusd_512", 64);
  p.f.update()
      .split(p.n, p.no, p.ni, 16)
      .split(p.k, p.ko, p.ki, 4)
      .reorder(p.ki, p.ni, p.m, p.ko, p.no)
      .tensorize(p.m, p.ni, p.ki, "vpdpbusd_512");
  EXPECT_EQ(p.refused(kZen4),
            "error: cannot tensorize update 0 of 'f' by 'vpdpbusd_512'\n"
            "  why: it stands for two loops, n and k, not 3\n"
            "  fix: give it the loop over the results of a vector and the one over what is summed");
}

TEST(DotProductsRefused, ForAnotherOperator) {
  Var n("n"), no("no"), ni("ni");
  RVar ko("ko"), ki("ki");
  ImageParam a(UInt(8), 1, "a"), b(Int(8), 2, "b");
  RDom k(0, 64, "k");
  Func f("f");
  f(n) = 0;
  f(n) = max(f(n), cast<int>(a(k)) * cast<int>(b(k, n)));
  f.bound(n, 0, 32);
  f.update()
      .split(n, no, ni, 16)
      .split(k, ko, ki, 4)
      .reorder(ki, ni, ko, no)
      .tensorize(ni, ki, "vpdpbusd_512");
  EXPECT_EQ(test::refused(f, {a, b}, kZen4),
            "error: cannot make 'vpdpbusd_512' of the loops around 'f.s1'\n"
            "  why: it adds nothing to its cell\n"
            "  fix: give tensorize an update f(n) += cast<int32>(a(k)) * cast<int32>(b(k, n)) of a "
            "uint8 and a int8");
}

TEST(DotProductsRefused, OfACard) {
  Product p = product_for("vpdpbusd_512", 64);
  EXPECT_EQ(p.tensorize("mma_m16n8k16_f16_f32", 16, 4).refused(kZen4),
            "error: cannot tensorize update 0 of 'f' by 'mma_m16n8k16_f16_f32'\n"
            "  why: it runs on the host\n"
            "  fix: give loops around it to the blocks of a kernel");
}

}  // namespace
}  // namespace polyhalite::dot_products_test
