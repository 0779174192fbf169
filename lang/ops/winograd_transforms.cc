#include "lang/ops/winograd_transforms.h"

#include <algorithm>

namespace polyhalite::ops {

namespace {

using Matrix = WinogradTransforms::Matrix;

constexpr int kMostCells = 4;
constexpr double kPoints[] = {0, 1, -1, 2, -0.5, -2};

// The coefficients of the product of (x - point) over some points, that of x^0 first.
std::vector<double> polynomial(const std::vector<double> &points) {
  std::vector<double> coefficients{1};
  for (const double point : points) {
    coefficients.insert(coefficients.begin(), 0);
    for (size_t i = 0; i + 1 < coefficients.size(); i++)
      coefficients[i] -= point * coefficients[i + 1];
  }
  return coefficients;
}

// Of a convolution at stride 1 with a few cells. With the points a[j] and M(x) the product of all
// x - a[j], the last row and column being those of infinity:
//   input[j]  = coefficients of M(x) / (x - a[j]);  of M
//   kernel[j] = powers of a[j] over the product of a[j] - a[l], l != j;  0 ... 0 1
//   result[.][j] = powers of a[j];  0 ... 0 1
WinogradTransforms toom_cook(int cells, int tile) {
  const int places = tile + cells - 1;
  const std::vector<double> points(kPoints, kPoints + places - 1);
  WinogradTransforms t;
  t.result.assign(static_cast<size_t>(tile), {});
  for (const double point : points) {
    std::vector<double> others;
    double scale = 1;
    for (const double other : points) {
      if (other == point) continue;
      others.push_back(other);
      scale *= point - other;
    }
    // One sign less to change for each element of the image.
    const double sign = scale < 0 ? -1 : 1;
    std::vector<double> input = polynomial(others), kernel;
    input.resize(static_cast<size_t>(places), 0);
    for (double &v : input) v *= sign;
    double power = 1;
    for (int k = 0; k < cells; k++, power *= point) kernel.push_back(sign * power / scale);
    t.input.push_back(input);
    t.kernel.push_back(kernel);
    power = 1;
    for (std::vector<double> &row : t.result) {
      row.push_back(power);
      power *= point;
    }
  }
  t.input.push_back(polynomial(points));
  t.kernel.emplace_back(static_cast<size_t>(cells), 0);
  t.kernel.back().back() = 1;
  for (std::vector<double> &row : t.result) row.push_back(0);
  t.result.back().back() = 1;
  return t;
}

}  // namespace

WinogradTransforms winograd_transforms(int cells, int stride, int tile) {
  const auto span = static_cast<size_t>((tile - 1) * stride + cells);
  WinogradTransforms all;
  all.result.assign(static_cast<size_t>(tile), {});
  for (int phase = 0; phase < std::min(stride, cells); phase++) {
    const int of_phase = (cells - phase + stride - 1) / stride;
    const int groups = (of_phase + kMostCells - 1) / kMostCells;
    for (int group = 0, from = 0; group < groups; group++) {
      const int size = (of_phase - from + groups - group - 1) / (groups - group);
      const WinogradTransforms t = toom_cook(size, tile);
      for (size_t place = 0; place < t.input.size(); place++) {
        std::vector<double> input(span, 0), kernel(static_cast<size_t>(cells), 0);
        for (size_t i = 0; i < t.input[place].size(); i++)
          input[static_cast<size_t>(phase + from * stride) + i * static_cast<size_t>(stride)] =
              t.input[place][i];
        for (size_t k = 0; k < t.kernel[place].size(); k++)
          kernel[static_cast<size_t>(phase + from * stride) + k * static_cast<size_t>(stride)] =
              t.kernel[place][k];
        all.input.push_back(input);
        all.kernel.push_back(kernel);
      }
      for (size_t row = 0; row < all.result.size(); row++)
        all.result[row].insert(all.result[row].end(), t.result[row].begin(), t.result[row].end());
      from += size;
    }
  }
  return all;
}

}  // namespace polyhalite::ops
