#include "polyhedral/isl_wrap.h"

#include <gtest/gtest.h>
#include <isl/ctx.h>
#include <isl/set.h>
#include <isl/space.h>

#include <optional>

#include "polyhedral/verdict.h"

namespace polyhalite::isl_wrap_test {
namespace {

// x >= 2, y >= 3, x + y <= 10 (columns: constant, x, y)
const std::vector<IntegerRow> kTriangle = {{-2, 1, 0}, {-3, 0, 1}, {10, -1, -1}};

TEST(isl_wrap, smallest_point_is_lexicographic) {
  IslContext context(1000000);
  const IslSet s = IslSet::from_rows(context, 2, {}, kTriangle);
  EXPECT_EQ(s.is_empty(), false);
  EXPECT_EQ(s.smallest(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(s.to_text(), "{ [i0, i1] : i0 >= 2 and 3 <= i1 <= 10 - i0 }");
}

TEST(isl_wrap, numbers_beyond_32_bits_keep_their_value) {
  IslContext context(1000000);
  const int64_t big = int64_t{1} << 40;
  const IslSet s = IslSet::from_rows(context, 1, {{-big, 1}}, {});
  EXPECT_EQ(s.smallest(), (std::vector<int64_t>{big}));
}

TEST(isl_wrap, projection_keeps_integer_points_only) {
  IslContext context(1000000);
  // x = 2*y, 0 <= x <= 9
  const IslSet even =
      IslSet::from_rows(context, 2, {{0, 1, -2}}, {{0, 1, 0}, {9, -1, 0}}).keep_first(1);
  const IslSet all = IslSet::from_rows(context, 1, {}, {{0, 1}, {9, -1}});
  EXPECT_EQ(even.is_subset_of(all), true);
  EXPECT_EQ(all.is_subset_of(even), false);
  EXPECT_EQ(all.smallest_outside(even), (std::vector<int64_t>{1}));
}

TEST(isl_wrap, quota_leaves_a_question_without_an_answer) {
  IslContext context(1);
  const IslSet s = IslSet::from_rows(context, 2, {}, kTriangle);
  EXPECT_EQ(s.smallest(), std::nullopt);
  EXPECT_EQ(context.last_problem(), "isl's quota of 1 operations ran out");
}

TEST(isl_wrap, error_of_isl_leaves_a_question_without_an_answer) {
  IslContext context(1000000);
  const IslSet line = IslSet::from_rows(context, 1, {}, {});
  const IslSet plane = IslSet::from_rows(context, 2, {}, {});
  EXPECT_EQ(line.unite(plane).is_empty(), std::nullopt);
  EXPECT_EQ(context.last_problem().substr(0, 11), "isl failed:");
}

// What isl says on stderr while contexts are freed.
template <typename Work>
std::string said_by_isl(Work work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(isl_wrap, leak_is_reported_when_the_context_ends) {
  isl_set *leaked = nullptr;
  const std::string said = said_by_isl([&] {
    IslContext context(1000000);
    leaked = isl_set_universe(isl_space_set_alloc(context.get(), 0, 1));
  });
  EXPECT_NE(said.find("isl_ctx not freed"), std::string::npos) << said;
  // The context lives on for its last object: both end properly here.
  isl_ctx *context = isl_set_get_ctx(leaked);
  isl_set_free(leaked);
  isl_ctx_free(context);
}

TEST(isl_wrap, judging_leaks_nothing) {
  const std::string said = said_by_isl([] {
    const std::string scan = R"(f(x) = x
over r(0, 10), s(0, 10): f(r) = f(s + 1)*2
output f
)";
    EXPECT_NE(verdict(scan, "f.update(0).reorder(s, r)"), "legal");
    JudgeOptions tight;
    tight.isl_operations = 20;
    EXPECT_NE(verdict(scan, "f.update(0).reorder(s, r)", tight), "legal");
  });
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace polyhalite::isl_wrap_test
