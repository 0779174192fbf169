// Each program of PolyBench, with each of its schedules, against plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/polybench/kernel.h"

namespace polyhalite_apps {
namespace {

using polyhalite::Buffer;
using polyhalite::Expr;
using polyhalite::Param;

// Numbers between 0 and 1, the same for the same seed.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed) {}
  double next() {
    state_ = state_ * 1664525u + 1013904223u;  // Knuth's and Lewis's constants
    return static_cast<double>(state_ >> 8) / (1 << 24);
  }

 private:
  uint32_t state_;
};

std::vector<int> extents(const Kernel::Shape &shape, const std::vector<int> &sizes) {
  std::vector<int> result;
  for (const int k : shape) result.push_back(sizes[k]);
  return result;
}

void fill(Buffer<double> &image, Start start, uint32_t seed) {
  Numbers numbers(seed);
  image.for_each_value([&](double &v) { v = numbers.next(); });
  if (start == Start::Small) {
    for (int i = 0; i < image.width(); i++) image(i) = (image(i) - 0.5) / (i + 2);
  }
  if (image.dimensions() != 2 || image.width() != image.height()) return;
  for (int i = 0; start == Start::Symmetric && i < image.width(); i++) {
    for (int j = 0; j < i; j++) image(j, i) = image(i, j);
  }
  for (int i = 0; start != Start::Any && i < image.width(); i++) image(i, i) += image.width();
}

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
  polyhalite::Pipeline pipeline(kernel.results());
  pipeline.compile_jit();
  for (const std::vector<int> &small : program.sizes) {
    std::string label = "sizes";
    for (size_t k = 0; k < small.size(); k++) {
      params[k].set(small[k]);
      label += " " + std::to_string(small[k]);
    }
    std::vector<Buffer<double>> images, actual, expected;
    std::vector<const double *> in;
    std::vector<double *> out;
    for (size_t k = 0; k < kernel.images().size(); k++) {
      images.emplace_back(extents(kernel.image_shapes()[k], small));
      fill(images.back(), program.start, static_cast<uint32_t>(k + 1));
      kernel.images()[k].set(images.back());
      in.push_back(images.back().data());
    }
    for (const Kernel::Shape &shape : kernel.result_shapes()) {
      actual.emplace_back(extents(shape, small));
      expected.emplace_back(extents(shape, small));
      out.push_back(expected.back().data());
    }
    program.plain(small.data(), in.data(), out.data());
    polyhalite::Realization results(
        std::vector<polyhalite::Buffer<>>(actual.begin(), actual.end()));
    pipeline.realize(results);
    for (size_t k = 0; k < actual.size(); k++) {
      int wrong = 0;
      double worst = 0;
      const double *a = actual[k].data(), *e = expected[k].data();
      for (size_t at = 0; at < expected[k].number_of_elements(); at++) {
        const double error = std::abs(a[at] - e[at]) / std::max(1.0, std::abs(e[at]));
        wrong += !(error < 1e-11);
        worst = std::max(worst, error);
      }
      EXPECT_EQ(wrong, 0) << kernel.results()[k].name() << ", " << label << ", worst " << worst;
    }
  }
}

std::vector<std::tuple<Program, std::string>> cases() {
  std::vector<std::tuple<Program, std::string>> all;
  for (const Program &p : polybench_programs()) {
    all.emplace_back(p, "none");
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
}  // namespace polyhalite_apps
