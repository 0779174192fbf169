// Each application, with each of its schedules, against the interpreter.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "apps/common/app_case.h"
#include "apps/common/check.h"
#include "apps/common/compiled_apps.h"
#include "apps/common/pipelines.h"
#include "polyhalite/backend.h"
#include "polyhalite/target.h"

namespace polyhalite_apps::apps_test {
namespace {

using polyhalite::runtime::Buffer;

// Extents that no tile, vector or register tile of a good schedule divides.
constexpr int kWidth = 613, kHeight = 75;

Image noise(int width, int height) {
  Image image(width, height, 3);
  uint32_t state = 1;
  image.for_each_value([&](float &v) {
    state = state * 1664525u + 1013904223u;  // Knuth's and Lewis's constants
    v = static_cast<float>(state >> 8) / (1 << 24);
  });
  return image;
}

AppCase small_case(const std::string &name) {
  // A tile of the chain's good schedule is 512 x 320.
  const Extent extent = name == "stencil_chain" ? Extent{520, 330} : Extent{kWidth, kHeight};
  return make_app_case(name, noise(kWidth, kHeight), extent);
}

// Of images of 1 to 2 billion operations.
int rows_to_check(const std::string &name) { return name == "conv_layer" ? 4 : 0; }

class Apps : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Apps, in_process_equals_the_interpreter) {
  const auto &[name, schedule] = GetParam();
  AppCase app = small_case(name);
  const polyhalite::FrozenPipeline pipeline = frozen_app(name, schedule);
  const auto compiled =
      polyhalite::backend().jit(pipeline, polyhalite::get_jit_target_from_environment());
  std::string message;
  ASSERT_EQ(compiled->call(app.arguments(), &message), 0) << message;
  const Check check = check_against_interpreter(pipeline.algorithm, app, rows_to_check(name));
  EXPECT_EQ(check.mismatch, "");
  EXPECT_GT(check.points, 1000);
}

TEST_P(Apps, ahead_of_time_equals_the_interpreter) {
  const auto &[name, schedule] = GetParam();
  AppCase app = small_case(name);
  ASSERT_EQ(run_compiled(System::Polyhalite, name, schedule, app.arguments()), 0);
  const Check check =
      check_against_interpreter(frozen_app(name, schedule).algorithm, app, rows_to_check(name));
  EXPECT_EQ(check.mismatch, "");
}

INSTANTIATE_TEST_SUITE_P(all, Apps,
                         testing::Combine(testing::ValuesIn(app_names()),
                                          testing::Values("none", "naive", "good")),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST(check, a_wrong_value_is_found_and_named) {
  AppCase app = small_case("blur");
  ASSERT_EQ(run_compiled(System::Polyhalite, "blur", "naive", app.arguments()), 0);
  auto pixels = app.output.as<uint16_t, 2>();
  const int right = pixels(3, 2);
  pixels(3, 2) = 21846;
  const Check check = check_against_interpreter(frozen_app("blur", "naive").algorithm, app);
  EXPECT_EQ(check.mismatch, "output(3, 2) is 21846, the interpreter has " + std::to_string(right));
}

}  // namespace
}  // namespace polyhalite_apps::apps_test
