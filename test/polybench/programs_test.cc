// Each program of PolyBench, with each of its schedules, against plain loops.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <tuple>
#include <vector>

#include "apps/polybench/find_schedule.h"
#include "apps/polybench/kernel.h"
#include "apps/polybench/program_case.h"

namespace polyhalite_apps::programs_test {
namespace {

using polyhalite::Expr;
using polyhalite::Param;

// Of each size, for schedules that are found: arrays do not stay in the second cache. What runs is
// smaller, and longer than any tile.
constexpr int kEstimate = 500, kLargest = 139;

class Programs : public testing::TestWithParam<std::tuple<Program, std::string>> {};

TEST_P(Programs, equals_plain_loops) {
  const auto &[program, schedule] = GetParam();
  std::vector<Param<int>> params;
  std::vector<Expr> sizes;
  for (size_t k = 0; k < program.sizes[0].size(); k++) {
    params.emplace_back("n" + std::to_string(k));
    sizes.push_back(params.back());
  }
  Kernel kernel(sizes, schedule);
  program.describe(kernel);
  if (schedule == kFound) {
    for (Param<int> &p : params) p.set_estimate(kEstimate);
    find_schedule(kernel, std::vector<int>(sizes.size(), kEstimate));
  }
  polyhalite::Pipeline pipeline(kernel.results());
  pipeline.compile_jit();
  std::vector<std::vector<int>> all_sizes = program.sizes;
  if (schedule == kFound) {
    all_sizes = {program.sizes[0]};
    for (size_t k = 0; k < sizes.size(); k++) all_sizes[0][k] = kLargest - static_cast<int>(k);
  }
  for (const std::vector<int> &small : all_sizes) {
    ProgramCase c(program, kernel, small);
    c.expect([&](auto in, auto out) { program.plain(small.data(), in, out); });
    std::string label = "sizes";
    for (size_t k = 0; k < small.size(); k++) {
      params[k].set(small[k]);
      label += " " + std::to_string(small[k]);
    }
    for (size_t k = 0; k < c.images.size(); k++) kernel.images()[k].set(c.images[k]);
    polyhalite::Realization results(
        std::vector<polyhalite::Buffer<>>(c.results.begin(), c.results.end()));
    pipeline.realize(results);
    EXPECT_EQ(c.mistakes(kernel), "") << label;
  }
}

std::vector<std::tuple<Program, std::string>> cases() {
  std::vector<std::tuple<Program, std::string>> all;
  for (const Program &p : polybench_programs()) {
    all.emplace_back(p, "none");
    all.emplace_back(p, kFound);
    for (const std::string &s : p.schedules) all.emplace_back(p, s);
  }
  return all;
}

std::string case_name(const testing::TestParamInfo<std::tuple<Program, std::string>> &info) {
  std::string name = std::get<0>(info.param).name + ("_" + std::get<1>(info.param));
  for (char &c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(polybench, Programs, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace polyhalite_apps::programs_test
