#include "apps/polybench/program_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace polyhalite_apps {

namespace {

using polyhalite::Buffer;

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

double error_of(double value, double expected) {
  const double error = std::abs(value - expected) / std::max(1.0, std::abs(expected));
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace

ProgramCase::ProgramCase(const Program &program, const Kernel &kernel,
                         const std::vector<int> &sizes) {
  for (const Kernel::Shape &shape : kernel.image_shapes()) {
    images.emplace_back(extents(shape, sizes));
    fill(images.back(), program.start, static_cast<uint32_t>(images.size()));
  }
  for (const Kernel::Shape &shape : kernel.result_shapes()) {
    results.emplace_back(extents(shape, sizes));
    expected_.emplace_back(extents(shape, sizes));
  }
}

void ProgramCase::expect(
    const std::function<void(const double *const *in, double *const *out)> &plain) {
  std::vector<const double *> in;
  std::vector<double *> out;
  for (const Buffer<double> &b : images) in.push_back(b.data());
  for (Buffer<double> &b : expected_) out.push_back(b.data());
  plain(in.data(), out.data());
}

double ProgramCase::apart() const {
  double worst = 0;
  for (size_t k = 0; k < results.size(); k++) {
    const double *a = results[k].data(), *e = expected_[k].data();
    for (size_t at = 0; at < results[k].number_of_elements(); at++) {
      worst = std::max(worst, error_of(a[at], e[at]));
    }
  }
  return worst;
}

std::string ProgramCase::mistakes(const Kernel &kernel) const {
  std::string text;
  for (size_t k = 0; k < results.size(); k++) {
    int wrong = 0;
    double worst = 0;
    const double *a = results[k].data(), *e = expected_[k].data();
    for (size_t at = 0; at < results[k].number_of_elements(); at++) {
      const double error = error_of(a[at], e[at]);
      wrong += error >= 1e-11;
      worst = std::max(worst, error);
    }
    if (wrong == 0) continue;
    text += std::to_string(wrong) + " elements of " + kernel.results()[k].name() + ", by up to " +
            std::to_string(worst) + "; ";
  }
  return text;
}

}  // namespace polyhalite_apps
