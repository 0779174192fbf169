// Windows over the spatial dimensions of images, from the attributes that convolutions and pooling
// share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

struct WindowShape {
  std::vector<int64_t> kernel, stride, dilation, before, after;
  Shape out;  // spatial dimensions

  ops::Window lowered(const Lowering &l) const {
    auto narrow = [](const std::vector<int64_t> &v) {
      return std::vector<int>(v.begin(), v.end());
    };
    return {narrow(kernel), narrow(stride), narrow(dilation), narrow(before), l.sizes(out)};
  }
};

/// An attribute that lists a number for each of `count` places, each from 0 to 2^31.
template <typename Context>
std::vector<int64_t> list_or(const Context &c, const char *attribute, size_t count,
                             int64_t otherwise) {
  const std::vector<int64_t> list = c.node().integers(attribute, count, otherwise);
  if (list.size() != count) {
    c.fail(std::string(attribute) + " has " + std::to_string(list.size()) + " numbers",
           "there are " + std::to_string(count) + " places");
  }
  for (int64_t v : list) {
    if (v < INT32_MIN / 4 || v > INT32_MAX / 4)
      c.fail(std::string(attribute) + " has " + std::to_string(v), "such numbers are not meant");
  }
  return list;
}

/// The spatial sizes of kernels w, which the attribute repeats.
template <typename Context>
std::vector<int64_t> kernel_of(const Context &c, const Shape &w) {
  std::vector<int64_t> kernel = c.node().integers("kernel_shape");
  if (!kernel.empty()) return kernel;
  for (size_t d = 2; d < w.size(); d++) kernel.push_back(c.number(w[d]));
  return kernel;
}

template <typename Context>
WindowShape window_of(const Context &c, const Shape &x, const std::vector<int64_t> &kernel) {
  const Node &n = c.node();
  const size_t spatial = x.size() - 2;
  if (kernel.size() != spatial)
    c.fail("the kernel has " + std::to_string(kernel.size()) + " dimensions",
           "the image has " + std::to_string(spatial));
  WindowShape w;
  w.kernel = kernel;
  w.stride = list_or(c, "strides", spatial, 1);
  w.dilation = list_or(c, "dilations", spatial, 1);
  const std::vector<int64_t> pads = list_or(c, "pads", 2 * spatial, 0);
  const std::string mode = n.text("auto_pad", "NOTSET");
  const bool ceiling = n.integer("ceil_mode", 0) != 0;
  for (size_t d = 0; d < spatial; d++) {
    const int64_t stride = w.stride[d], reach = (kernel[d] - 1) * w.dilation[d] + 1;
    if (stride < 1 || w.dilation[d] < 1 || kernel[d] < 1) {
      c.fail("a kernel of " + std::to_string(kernel[d]) + ", stride " + std::to_string(stride) +
                 " and dilation " + std::to_string(w.dilation[d]),
             "all are at least 1");
    }
    const Dim size = x[d + 2];
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const Dim out = Dim::ceil_div(size, stride);
      const int64_t total = c.number((out - 1) * Dim(stride) + Dim(reach) - size);
      const int64_t t = std::max<int64_t>(total, 0);
      w.before.push_back(mode == "SAME_UPPER" ? t / 2 : t - t / 2);
      w.after.push_back(t - w.before.back());
      w.out.push_back(out);
      continue;
    }
    const bool none = mode == "VALID";
    w.before.push_back(none ? 0 : pads[d]);
    w.after.push_back(none ? 0 : pads[d + spatial]);
    const Dim room = size + Dim(w.before[d] + w.after[d] - reach);
    Dim out = (ceiling ? Dim::ceil_div(room, stride) : Dim::floor_div(room, stride)) + 1;
    if (const auto count = out.constant(), in = size.constant(); ceiling && count && in) {
      // No window begins in the padding behind.
      if ((*count - 1) * stride >= *in + w.before[d]) out = *count - 1;
    }
    w.out.push_back(out);
  }
  return w;
}

}  // namespace polyhalite::onnx
