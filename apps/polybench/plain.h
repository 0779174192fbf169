// Arrays of plain loops.
#pragma once

#include <algorithm>
#include <cstddef>

namespace polyhalite_apps::plain {

template <typename T>
struct Rows {
  T *base;
  int width;
  T &operator()(int i, int j) const { return base[static_cast<ptrdiff_t>(i) * width + j]; }
};
using View = Rows<double>;
using ConstView = Rows<const double>;

/// `out` with what `in` holds.
inline View copy(const double *in, int rows, int width, double *out) {
  std::copy(in, in + static_cast<ptrdiff_t>(rows) * width, out);
  return {out, width};
}

}  // namespace polyhalite_apps::plain
