// Arguments that the compiler makes up to run a pipeline.
#include "codegen/driver/made_up_arguments.h"

#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::made_up_arguments_test {
namespace {

template <typename T>
void expect_numbers(bool whole) {
  ImageParam in(type_of<T>(), 1, "in");
  Param<T> p("p");
  Var x("x");
  Func f("f");
  f(x) = in(x) + p;
  const Algorithm a = freeze({f.function()}).algorithm;
  const MadeUpArguments made(a, {{"in", {{0, 99}}}}, {{{0, 99}}});
  ASSERT_EQ(made.pointers().size(), 3u);
  for (size_t i = 0; i < a.inputs.size(); i++) {
    if (!a.inputs[i].param->is_buffer) {
      EXPECT_EQ(static_cast<double>(*static_cast<const T *>(made.pointers()[i])), 1.0);
      continue;
    }
    const auto *buffer = static_cast<const polyhalite_buffer_t *>(made.pointers()[i]);
    for (int k = 0; k < 100; k++) {
      const auto n = static_cast<double>(reinterpret_cast<const T *>(buffer->host)[k]);
      EXPECT_GE(n, whole ? 1 : 1.0 / 128);
      EXPECT_LE(n, whole ? 128 : 1);
    }
  }
}

TEST(MadeUpArguments, AreSmallNumbersOfEveryType) {
  expect_numbers<uint8_t>(true);
  expect_numbers<int16_t>(true);
  expect_numbers<uint64_t>(true);
  expect_numbers<float>(false);
  expect_numbers<double>(false);
  expect_numbers<float16_t>(false);
  expect_numbers<bfloat16_t>(false);
}

}  // namespace
}  // namespace polyhalite::made_up_arguments_test
