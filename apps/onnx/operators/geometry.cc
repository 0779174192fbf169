// Operators that sample images at places which are computed, and determinants.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "apps/onnx/operators.h"
#include "apps/onnx/operators/window.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

void infer_affine_grid(Inference &i) {
  const std::vector<Dim> size = i.sizes(1);
  if (size.size() != 4 && size.size() != 5)
    i.fail("the size has " + std::to_string(size.size()) + " elements", "it has 4 or 5");
  Shape shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  shape.emplace_back(static_cast<int64_t>(size.size()) - 2);
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_affine_grid(Lowering &l) {
  const Tensor theta = l.in(0);
  const bool corners = l.node().integer("align_corners", 0) != 0;
  const Index shape = l.result_sizes(0);
  const size_t spatial = shape.size() - 2;
  const Type type = theta.type();
  return {Tensor(type, shape, [=](const Index &at) {
    const Expr row = at.back();
    Expr sum = theta({at[0], row, Expr(static_cast<int>(spatial))});
    for (size_t k = 0; k < spatial; k++) {
      // The first coordinate runs along the last dimension.
      const size_t d = spatial - k;
      const Expr n = cast(type, shape[d]), place = cast(type, at[d]);
      const Expr one = cast(type, Expr(1)), two = cast(type, Expr(2));
      const Expr x =
          corners ? two * place / max(n - one, one) - one : (two * place + one) / n - one;
      sum = sum + theta({at[0], row, Expr(static_cast<int>(k))}) * x;
    }
    return sum;
  })};
}

// The value between the four pixels around a place; outside of the image `beyond` decides.
Expr bilinear(const std::function<Expr(const Expr &, const Expr &)> &pixel, const Expr &y,
              const Expr &x) {
  const Expr top = floor(y), left = floor(x);
  const Expr dy = y - top, dx = x - left;
  const Expr row = cast<int32_t>(top), column = cast<int32_t>(left);
  const Expr one = cast(y.type(), Expr(1));
  return pixel(row, column) * (one - dy) * (one - dx) + pixel(row, column + 1) * (one - dy) * dx +
         pixel(row + 1, column) * dy * (one - dx) + pixel(row + 1, column + 1) * dy * dx;
}

void infer_roi_align(Inference &i) {
  if (i.rank(0) != 4 || i.rank(1) != 2)
    i.fail("image and regions have ranks " + std::to_string(i.rank(0)) + " and " +
               std::to_string(i.rank(1)),
           "they are 4 and 2");
  // The number of samples depends on the regions.
  if (i.node().integer("sampling_ratio", 0) < 1) i.become("RoiAlign");
  i.result(0, i.type(0),
           {i.shape(1)[0], i.shape(0)[1], Dim(i.node().integer("output_height", 1)),
            Dim(i.node().integer("output_width", 1))});
}
std::vector<Tensor> lower_roi_align(Lowering &l) {
  const Tensor x = l.in(0), rois = l.in(1), batch = l.in(2);
  const Node &n = l.node();
  const bool half = n.text("coordinate_transformation_mode",
                           n.version < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const bool largest = n.text("mode", "avg") == "max";
  const int ratio = static_cast<int>(n.integer("sampling_ratio", 0));
  const float scale = n.real("spatial_scale", 1);
  const Index shape = l.result_sizes(0);
  const Expr rows = x.shape()[2], columns = x.shape()[3], images = x.shape()[0];
  return {Tensor(x.type(), shape, [=](const Index &at) {
    const Expr image = clamp(cast<int32_t>(batch({at[0]})), 0, images - 1);
    const Expr shift = half ? 0.5f : 0.0f;
    auto corner = [&](int k) { return cast<float>(rois({at[0], Expr(k)})) * scale - shift; };
    auto extent = [&](const Expr &from, const Expr &to) {
      return half ? to - from : max(to - from, 1.0f);
    };
    const Expr left = corner(0), top = corner(1);
    const Expr height = extent(top, corner(3)) / cast<float>(shape[2]);
    const Expr width = extent(left, corner(2)) / cast<float>(shape[3]);
    Expr result;
    for (int p = 0; p < ratio; p++) {
      for (int q = 0; q < ratio; q++) {
        const Expr y = top + (cast<float>(at[2]) +
                              (static_cast<float>(p) + 0.5f) / static_cast<float>(ratio)) *
                                 height;
        const Expr z = left + (cast<float>(at[3]) +
                               (static_cast<float>(q) + 0.5f) / static_cast<float>(ratio)) *
                                  width;
        const Expr low_y = clamp(y, 0.0f, cast<float>(rows - 1));
        const Expr low_x = clamp(z, 0.0f, cast<float>(columns - 1));
        auto pixel = [&](const Expr &r, const Expr &c) {
          return cast<float>(x({image, at[1], clamp(r, 0, rows - 1), clamp(c, 0, columns - 1)}));
        };
        const Expr inside =
            y >= -1.0f && y <= cast<float>(rows) && z >= -1.0f && z <= cast<float>(columns);
        Expr v;
        if (largest) {
          // Of the four weighted pixels.
          const Expr dy = low_y - floor(low_y), dx = low_x - floor(low_x);
          const Expr r = cast<int32_t>(floor(low_y)), c = cast<int32_t>(floor(low_x));
          v = max(max(pixel(r, c) * (1.0f - dy) * (1.0f - dx), pixel(r, c + 1) * (1.0f - dy) * dx),
                  max(pixel(r + 1, c) * dy * (1.0f - dx), pixel(r + 1, c + 1) * dy * dx));
        } else {
          v = bilinear(pixel, low_y, low_x);
        }
        v = select(inside, v, 0.0f);
        if (!result.defined()) {
          result = v;
        } else {
          result = largest ? max(result, v) : result + v;
        }
      }
    }
    if (!largest) result = result / static_cast<float>(ratio * ratio);
    return cast(x.type(), result);
  })};
}

// Sizes of the image that was pooled, without what output_shape says.
Shape unpooled(const Node &n, const Shape &from) {
  const std::vector<int64_t> kernel = n.integers("kernel_shape"), strides = n.integers("strides"),
                             pads = n.integers("pads");
  Shape shape(from.begin(), from.begin() + 2);
  for (size_t d = 0; d + 2 < from.size(); d++) {
    const int64_t stride = d < strides.size() ? strides[d] : 1;
    const int64_t before = d < pads.size() ? pads[d] : 0;
    const size_t behind = d + from.size() - 2;
    const int64_t after = behind < pads.size() ? pads[behind] : 0;
    shape.push_back((from[d + 2] - 1) * Dim(stride) +
                    Dim((d < kernel.size() ? kernel[d] : 1) - before - after));
  }
  return shape;
}
void infer_max_unpool(Inference &i) {
  if (i.rank(0) < 3) i.fail("the operand has rank " + std::to_string(i.rank(0)), "it is 3 or more");
  if (i.has(2)) {
    const std::vector<Dim> shape = i.sizes(2);
    if (static_cast<int>(shape.size()) != i.rank(0))
      i.fail("output_shape has " + std::to_string(shape.size()) + " elements",
             "each dimension has one");
    return i.result(0, i.type(0), shape);
  }
  i.result(0, i.type(0), unpooled(i.node(), i.shape(0)));
}
std::vector<Tensor> lower_max_unpool(Lowering &l) {
  const Tensor x = l.in(0);
  const Index image = l.sizes(unpooled(l.node(), l.shape(0)));
  Expr total = 1;
  for (const Expr &n : image) total = total * n;
  const Type type = x.type();
  const Tensor empty(type, {total}, [type](const Index &) { return cast(type, Expr(0)); });
  const Tensor places = ops::reshape(l.in(1), {x.elements(), Expr(1)});
  const Tensor flat =
      ops::scatter_nd(empty, places, ops::reshape(x, {x.elements()}), 1, ops::Combine::Replace);
  // Places count through the image that was pooled, which may be a part of the result.
  return {ops::pad(ops::reshape(flat, image), Index(image.size(), Expr(0)), l.result_sizes(0),
                   ops::PadMode::Constant, cast(type, Expr(0)))};
}

void infer_deform_conv(Inference &i) {
  const Shape &x = i.shape(0), &w = i.shape(1);
  if (x.size() != 4 || w.size() != 4)
    i.fail("image and kernels have ranks " + std::to_string(x.size()) + " and " +
               std::to_string(w.size()),
           "only images of two dimensions are supported");
  i.require_equal(x[1], w[1] * Dim(i.node().integer("group", 1)), "channels of image and kernels");
  i.number(x[1]);
  const WindowShape window = window_of(i, x, kernel_of(i, w));
  i.result(0, i.type(0), {x[0], w[0], window.out[0], window.out[1]});
}
std::vector<Tensor> lower_deform_conv(Lowering &l) {
  const Tensor x = l.in(0), offset = l.in(2);
  const Tensor mask = l.has(4) ? l.in(4) : Tensor();
  const ops::Window window = window_of(l, l.shape(0), kernel_of(l, l.shape(1))).lowered(l);
  const int groups = static_cast<int>(l.node().integer("group", 1));
  const int channels = static_cast<int>(l.number(l.shape(0)[1]));
  const int together =
      channels / std::max<int>(1, static_cast<int>(l.node().integer("offset_group", 1)));
  const int kh = window.kernel[0], kw = window.kernel[1], cells = kh * kw;
  const Expr rows = x.shape()[2], columns = x.shape()[3];
  const Expr out_rows = window.shape[0], out_columns = window.shape[1];
  // What each cell of the kernel sees, as the matrix [image, group, channel and cell, place].
  const int depth = channels / groups * cells;
  const Tensor seen = ops::stored(
      Tensor(x.type(), {x.shape()[0], Expr(groups), Expr(depth), out_rows * out_columns},
             [=](const Index &at) {
               const Expr channel = at[1] * (channels / groups) + at[2] / cells;
               const Expr cell = at[2] % cells, row = at[3] / out_columns,
                          column = at[3] % out_columns;
               const Expr part = channel / together * cells + cell;
               const Type f = x.type();
               auto place = [&](const Expr &out, int d, const Expr &k, int which) {
                 const Expr start = out * window.stride[static_cast<size_t>(d)] -
                                    window.before[static_cast<size_t>(d)] +
                                    k * window.dilation[static_cast<size_t>(d)];
                 return cast(f, start) + offset({at[0], part * 2 + which, row, column});
               };
               const Expr y = place(row, 0, cell / kw, 0), z = place(column, 1, cell % kw, 1);
               auto pixel = [&](const Expr &r, const Expr &c) {
                 const Expr inside = r >= 0 && r < rows && c >= 0 && c < columns;
                 return select(inside,
                               x({at[0], channel, clamp(r, 0, rows - 1), clamp(c, 0, columns - 1)}),
                               cast(f, Expr(0)));
               };
               const Expr limit = cast(f, Expr(1 << 20));
               Expr v = bilinear(pixel, clamp(y, -limit, limit), clamp(z, -limit, limit));
               if (mask.defined()) v = v * mask({at[0], part, row, column});
               return v;
             }),
      "seen");
  const Tensor kernels =
      ops::reshape(l.in(1), {Expr(groups), l.in(1).shape()[0] / groups, Expr(depth)});
  Tensor y = ops::reshape(ops::matmul(kernels, seen), l.result_sizes(0));
  if (l.has(3)) y = ops::add(y, ops::reshape(l.in(3), {l.in(3).shape()[0], Expr(1), Expr(1)}));
  return {y};
}

void infer_det(Inference &i) {
  if (i.rank(0) < 2) i.fail("the operand is no matrix", "its rank is 2 or more");
  i.require_equal(i.shape(0)[i.shape(0).size() - 2], i.shape(0).back(), "rows and columns");
  i.result(0, i.type(0), Shape(i.shape(0).begin(), i.shape(0).end() - 2));
}
// By elimination with the largest pivot of each column.
std::vector<Constant> compute_det(const Node &, const std::vector<Constant> &in) {
  const Constant &x = in[0];
  const std::vector<int64_t> shape(x.shape().begin(), x.shape().end() - 2);
  const auto n = static_cast<size_t>(x.shape().back());
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<uint8_t> bytes;
  for (int64_t m = 0; m < count; m++) {
    std::vector<double> a(n * n);
    for (size_t k = 0; k < n * n; k++)
      a[k] = x.number(m * static_cast<int64_t>(n * n) + static_cast<int64_t>(k));
    double det = 1;
    for (size_t c = 0; c < n && det != 0; c++) {
      size_t best = c;
      for (size_t r = c; r < n; r++) {
        if (std::fabs(a[r * n + c]) > std::fabs(a[best * n + c])) best = r;
      }
      if (best != c) {
        for (size_t k = 0; k < n; k++) std::swap(a[c * n + k], a[best * n + k]);
        det = -det;
      }
      det *= a[c * n + c];
      for (size_t r = c + 1; r < n && det != 0; r++) {
        const double factor = a[r * n + c] / a[c * n + c];
        for (size_t k = c; k < n; k++) a[r * n + k] -= factor * a[c * n + k];
      }
    }
    append_number(&bytes, x.type(), det);
  }
  return {Constant::of_bytes(x.type(), shape, std::move(bytes))};
}

}  // namespace

std::vector<Operator> geometry_operators() {
  const auto other = Operator::Other;
  return {
      {"", "AffineGrid", other, infer_affine_grid, lower_affine_grid, {1}},
      {"", "RoiAlign", other, infer_roi_align, lower_roi_align},
      {"", "MaxUnpool", other, infer_max_unpool, lower_max_unpool, {2}},
      {"", "DeformConv", other, infer_deform_conv, lower_deform_conv},
      {"", "Det", Operator::Host, infer_det, nullptr, {}, compute_det},
  };
}

}  // namespace polyhalite::onnx
