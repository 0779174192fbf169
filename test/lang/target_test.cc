// Targets as text.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/target.h"

namespace polyhalite {
namespace {

TEST(Target, TextIsSortedAndImpliedFeaturesAreAdded) {
  EXPECT_EQ(Target("x86-64-linux-fma-avx2-f16c").to_string(),
            "x86-64-linux-avx-avx2-f16c-fma-sse41");
  EXPECT_EQ(Target("arm-64-linux").to_string(), "arm-64-linux");
}

TEST(Target, HostTakesMoreFeatures) {
  const Target t("host-no_asserts");
  EXPECT_TRUE(t.has_feature(Target::NoAsserts));
  EXPECT_EQ(t.without_feature(Target::NoAsserts), get_host_target());
  EXPECT_EQ(Target(t.to_string()), t);
}

TEST(Target, VectorSizesFollowTheInstructionSet) {
  EXPECT_EQ(Target("x86-64-linux").natural_vector_size<float>(), 4);
  EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<float>(), 8);
  EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<uint8_t>(), 16);
  EXPECT_EQ(Target("x86-64-linux-avx2").natural_vector_size<uint8_t>(), 32);
  EXPECT_EQ(Target("x86-64-linux-avx512_skylake").natural_vector_size<float>(), 16);
  EXPECT_EQ(Target("arm-64-linux").natural_vector_size<uint16_t>(), 8);
}

std::string message_about(const std::string &what) {
  return what +
         "\n  fix: write arch-bits-os and then features, as in x86-64-linux-avx2-fma, or host; the "
         "known "
         "words are: host; x86, arm; 32, 64; linux; arm_dot_prod, arm_fp16, avx, avx2, avx512, "
         "avx512_cannonlake, avx512_sapphirerapids, avx512_skylake, debug, f16c, fma, jit, "
         "large_buffers, no_asserts, no_bounds_query, no_runtime, sse41, strict_float, "
         "user_context";
}

TEST(Target, UnknownWordIsNamedAndTheKnownAreListed) {
  EXPECT_EQ(message_of([] { Target("x86-64-linux-avx3"); }),
            message_about("error: cannot read the target 'x86-64-linux-avx3'\n"
                          "  why: 'avx3' is no known word"));
}

TEST(Target, MissingPartIsNamed) {
  EXPECT_EQ(message_of([] { Target("x86-64"); }),
            message_about("error: cannot read the target 'x86-64'\n"
                          "  why: it names no operating system"));
}

}  // namespace
}  // namespace polyhalite
