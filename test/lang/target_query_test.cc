// Questions of algorithms and schedules about their target.
#include <gtest/gtest.h>

#include "lang/ir/resolve_target.h"
#include "lang/ir/text.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::target_query_test {
namespace {

TEST(TargetQuery, AnswersAreConstantsOfTheTarget) {
  Var x("x");
  Func f("f");
  RDom r(0, target_bits(), "r");
  f(x) = select(target_arch_is(Target::ARM), 1, 2) + select(target_os_is(Target::Linux), 4, 8);
  f(x) += r * cast<int>(target_has_feature(Target::AVX2));
  f.vectorize(x, target_natural_vector_size<float>());
  const FrozenPipeline frozen = freeze({f.function()});
  const auto resolved = [&](const char *target) {
    const FrozenPipeline p = resolve_target(frozen, Target(target));
    int64_t lanes = 0;
    is_const_int(p.directives[0].factors[0], &lanes);
    return to_text(p.algorithm) + std::to_string(lanes);
  };
  EXPECT_EQ(resolved("arm-64-linux"),
            "algorithm 1\n"
            "f(x) = select(true, 1, 2) + select(true, 4, 8)\n"
            "over r(0, 64): f(x) = f(x) + r*int32(false)\n"
            "output f\n4");
  EXPECT_EQ(resolved("x86-32-windows-avx2"),
            "algorithm 1\n"
            "f(x) = select(false, 1, 2) + select(false, 4, 8)\n"
            "over r(0, 32): f(x) = f(x) + r*int32(true)\n"
            "output f\n8");
}

TEST(TargetQuery, ConstantsThatOverflowAreRefused) {
  Var x("x");
  Func f("f"), g("g");
  EXPECT_EQ(message_of([&] { f(x) = x + Expr(0x12345678) * Expr(0x76543210); }),
            at(__LINE__ - 1) +
                "error: constant arithmetic in the definition of 'f' overflows int32: "
                "305419896*1985229328\n"
                "  why: signed overflow has no defined value\n"
                "  fix: compute in a wider or an unsigned type");
  g(x) = cast<int64_t>(0x12345678) * Expr(0x76543210) + cast<uint32_t>(7) - cast<uint32_t>(8);
  EXPECT_TRUE(g.defined());
}

}  // namespace
}  // namespace polyhalite::target_query_test
