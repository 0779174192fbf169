// What convolutions and transposed ones share: their sums.
#pragma once

#include <functional>
#include <vector>

#include "lang/ops/common.h"

namespace polyhalite::ops {

/// A reduction over channels (innermost) and the kernel's cells; `channel` and cells[i] of the
/// spatial dimensions, outermost first.
struct KernelDomain {
  RDom r;
  Expr channel;
  Index cells;

  KernelDomain(const Expr &channels, const std::vector<int> &kernel) {
    Region region{{Expr(0), channels}};
    for (size_t i = kernel.size(); i-- > 0;) region.emplace_back(Expr(0), Expr(kernel[i]));
    r = RDom(region, "k");
    channel = r[0];
    for (size_t i = 0; i < kernel.size(); i++) {
      cells.emplace_back(r[static_cast<int>(kernel.size() - i)]);
    }
  }
  // The innermost first: channels, or cells of a row, which share lines of the cache.
  std::vector<RVar> variables(bool along_rows = false) const {
    std::vector<RVar> list;
    for (int d = 0; d < r.dimensions(); d++) list.push_back(r[d]);
    if (along_rows && list.size() > 1) std::swap(list[0], list[1]);
    return list;
  }
};

/// a * b, without a product where b is 1.
inline Expr times(const Expr &a, int b) { return b == 1 ? a : a * b; }

/// The sums of terms. `term` is told the point and the group of its channel.
Tensor summed(Type type, Type result, const Index &shape, int groups, const KernelDomain &domain,
              std::vector<Stage> stages,
              const std::function<Expr(const Index &, const Expr &)> &term,
              bool along_rows = false);

/// convolution() of what bordered() has made for these windows: tiles may read behind the last one.
Tensor convolution_inside(const Tensor &image, const Tensor &w, const Window &window, int groups,
                          Type sums);

/// What a strip's kernels see that differs from strip to strip; where a function is undefined,
/// nothing does.
struct StripWindows {
  // Have they the cell that lies there by rows, columns..?
  std::function<Expr(const Expr &strip, const Index &cell)> has_cell;
  // Pixels that their windows lie further along a spatial dimension, 0 or 1.
  std::function<Expr(const Expr &strip, size_t dimension)> further;
};

/// convolution() with kernels in strips, which may have windows of their own.
Tensor strips_convolution(const Tensor &x, const Tensor &strips, int results, const Window &window,
                          Type sums, int groups, const StripWindows &own_windows);

}  // namespace polyhalite::ops
