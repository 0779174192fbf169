// Pooling: a reduction over windows of the spatial dimensions.
#include <algorithm>
#include <functional>

#include "lang/ops/common.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// The pixel of x that a window's cell stands for, clamped to x, and whether it lies in x.
struct Pixel {
  Index at;
  Expr inside;  // undefined: always

  Pixel(const Tensor &x, const Window &window, const Index &point, const Index &cell)
      : at{point[0], point[1]} {
    for (size_t i = 0; i < window.kernel.size(); i++) {
      const Expr n = x.size(static_cast<int>(i) + 2);
      const Expr p =
          point[i + 2] * window.stride[i] - window.before[i] + cell[i] * window.dilation[i];
      const auto size = constant(n);
      const auto shape = constant(window.shape[i]);
      const int64_t end = shape ? (*shape - 1) * window.stride[i] - window.before[i] +
                                      int64_t{window.kernel[i] - 1} * window.dilation[i]
                                : 0;
      if (window.before[i] == 0 && size && shape && end < *size) {
        at.push_back(p);
        continue;
      }
      const Expr in = p >= 0 && p < n;
      inside = inside.defined() ? inside && in : in;
      // Loops are cut where windows leave x.
      at.push_back(clamp(likely(p), 0, n - 1));
    }
  }
};

// The cells of a window, a reduction's variables in the order of x's dimensions.
struct Cells {
  RDom r;
  Index at;

  explicit Cells(const Window &window) {
    Region region;
    for (size_t i = window.kernel.size(); i-- > 0;) {
      region.emplace_back(Expr(0), Expr(window.kernel[i]));
    }
    r = RDom(region, "w");
    for (int i = r.dimensions(); i-- > 0;) at.emplace_back(r[i]);
  }
};

Index pooled_shape(const Tensor &x, const Window &window) {
  Index shape{x.size(0), x.size(1)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  return shape;
}

// How many cells of each window lie in x, or in x and `after` elements of padding behind it.
Expr count(const Tensor &x, const Window &window, const Index &point, bool padding,
           const std::vector<int> &after) {
  Expr product = 1;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const int dilation = window.dilation[i];
    const Expr start = point[i + 2] * window.stride[i] - window.before[i];
    const Expr first = padding ? Expr(-window.before[i]) : Expr(0);
    const Expr end = x.size(static_cast<int>(i) + 2) + (padding ? after[i] : 0);
    const Expr low = max((first - start + (dilation - 1)) / dilation, 0);
    const Expr high = min((end - 1 - start) / dilation, window.kernel[i] - 1);
    product = product * max(high - low + 1, 0);
  }
  return product;
}

// Is all of x's images under one window?
bool covers(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const auto size = constant(x.size(static_cast<int>(i) + 2));
    if (!is_one(window.shape[i]) || window.before[i] != 0 || window.dilation[i] != 1) return false;
    if (size != window.kernel[i]) return false;
  }
  return true;
}

// The reduction of whole images, whose pixels are then one long row.
Tensor pool_images(const Tensor &x, Pooling how) {
  Expr pixels = 1;
  Index kept{x.size(0), x.size(1)};
  for (int d = 2; d < x.rank(); d++) {
    pixels = pixels * x.size(d);
    kept.emplace_back(1);
  }
  const Tensor rows = reshape(x, {x.size(0), x.size(1), pixels});
  const auto reduction = how == Pooling::Max ? Reduction::Max : Reduction::Mean;
  return reshape(reduce(rows, reduction, {2}, false), kept);
}

Stage own_stage(const Func &f, const Index &shape) {
  Stage s;
  s.kind = Stage::Window;
  s.func = f;
  s.extents = reversed(shape);
  s.dims = reversed_dims(static_cast<int>(shape.size()));
  return s;
}

// How a window's cells become one value.
struct Cellwise {
  Expr identity;
  std::function<Expr(const Expr &)> term;
  std::function<Expr(const Expr &, const Expr &)> combine;

  // What the cell of a column or window adds: nothing outside of x.
  Expr at(const Tensor &x, const Pixel &pixel) const {
    const Expr value = term(x(pixel.at));
    return pixel.inside.defined() ? select(!pixel.inside, identity, likely(value)) : value;
  }
};

Cellwise cellwise(Pooling how, int p, const Type &type) {
  Cellwise c;
  c.identity = how == Pooling::Max ? type.min() : cast(type, Expr(0));
  c.term = [how, p, type](const Expr &element) {
    const Expr v = cast(type, element);
    if (how != Pooling::Norm) return v;
    return p == 1 ? abs(v) : p == 2 ? v * v : pow(abs(v), cast(type, Expr(p)));
  };
  c.combine = [how](const Expr &a, const Expr &b) {
    return how == Pooling::Max ? max(a, b) : a + b;
  };
  return c;
}

// Windows are made of columns of cells, which windows side by side share:
//
//   columns(x, y) = f(in(x - before, y*stride), in(x - before, y*stride + 1), ...)
//   pooled(x, y) = f(columns(x*stride, y), columns(x*stride + 1, y), ...)
//
// Undefined where a column or a row of cells is long, all of which are written out, or nothing is
// shared.
Tensor pool_columns(const Tensor &x, const Window &window, const Cellwise &cellwise) {
  constexpr int kLongest = 32;
  const size_t last = window.kernel.size() - 1;
  int in_column = 1;
  for (size_t i = 0; i < last; i++) in_column *= window.kernel[i];
  const int width = window.kernel[last], stride = window.stride[last];
  if (in_column == 1 || width == 1 || in_column > kLongest || width > kLongest) return Tensor();
  const Index shape = pooled_shape(x, window);
  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size()));
  const Index point = as_index(vars);
  Window one_wide = window;
  one_wide.stride[last] = one_wide.kernel[last] = 1;
  one_wide.shape[last] =
      simplify((shape.back() - 1) * stride + (width - 1) * window.dilation[last] + 1);
  Expr column;
  for (int cell = 0; cell < in_column; cell++) {
    Index at(last + 1, Expr(0));
    for (int i = static_cast<int>(last) - 1, rest = cell; i >= 0; i--) {
      at[static_cast<size_t>(i)] = rest % window.kernel[static_cast<size_t>(i)];
      rest /= window.kernel[static_cast<size_t>(i)];
    }
    const Expr value = cellwise.at(x, Pixel(x, one_wide, point, at));
    column = cell == 0 ? value : cellwise.combine(column, value);
  }
  Func columns("columns"), pooled("pooled");
  columns(reversed(vars)) = column;
  Expr all;
  for (int cell = 0; cell < width; cell++) {
    Index at = point;
    at.back() = point.back() * stride + cell * window.dilation[last];
    const Expr value = columns(reversed(at));
    all = cell == 0 ? value : cellwise.combine(all, value);
  }
  pooled(reversed(vars)) = all;
  Stage windows = own_stage(pooled, shape);
  windows.parts = {columns};
  windows.columns = static_cast<int>(constant(one_wide.shape[last]).value_or(0));
  windows.cells = in_column * width;
  return tensor_of(pooled, cellwise.identity.type(), shape, windows, merged_stages({x}));
}

// Cells one after the other.
Tensor pool_windows(const Tensor &x, const Window &window, const Cellwise &cellwise) {
  const Index shape = pooled_shape(x, window);
  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size())), args = reversed(vars);
  const Cells cells(window);
  const Expr value = cellwise.at(x, Pixel(x, window, as_index(vars), cells.at));
  Func f("pooled");
  f(args) = cellwise.identity;
  f(args) = cellwise.combine(f(args), value);
  Stage windows = own_stage(f, shape);
  for (size_t i = 0; i < window.kernel.size(); i++)
    windows.rvars.push_back(cells.r[static_cast<int>(i)]);
  return tensor_of(f, value.type(), shape, windows, merged_stages({x}));
}

}  // namespace

Tensor pool(const Tensor &x, const Window &window, Pooling how, const std::vector<int> &after,
            int p) {
  if (how != Pooling::Norm && x.type().is_float() && covers(x, window)) return pool_images(x, how);
  const Type type = computed_type(x.type());
  const Cellwise of_cells = cellwise(how, p, type);
  Tensor total = pool_columns(x, window, of_cells);
  if (!total.defined()) total = pool_windows(x, window, of_cells);
  if (how == Pooling::Max) return convert(total, x.type());
  if (how == Pooling::Norm) {
    return convert(
        elementwise(total,
                    [p](Expr v) {
                      return p == 1 ? v : p == 2 ? sqrt(v) : pow(v, cast(v.type(), Expr(1.0 / p)));
                    }),
        x.type());
  }
  const bool padding = how == Pooling::AverageWithPadding;
  const Tensor counts(type, total.shape(), [=](const Index &index) {
    return cast(type, count(x, window, index, padding, after));
  });
  return convert(divide(total, counts), x.type());
}

Tensor max_pool_positions(const Tensor &x, const Window &window, bool column_major) {
  const Type type = computed_type(x.type());
  const Index shape = pooled_shape(x, window);
  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size())), args = reversed(vars);
  const Cells cells(window);
  const Pixel pixel(x, window, as_index(vars), cells.at);
  std::vector<size_t> order;
  for (size_t d = 0; d < pixel.at.size(); d++) order.push_back(d);
  if (column_major) std::reverse(order.begin() + 2, order.end());
  Expr flat = 0;
  for (size_t d : order) flat = flat * x.shape()[d] + pixel.at[d];
  const Expr v = cast(type, x(pixel.at));
  Func f("highest");
  f(args) = Tuple(Expr(0), type.min());
  Expr better = v > f(args)[1];
  if (pixel.inside.defined()) better = better && pixel.inside;
  f(args) = Tuple(select(better, flat, f(args)[0]), select(better, v, f(args)[1]));
  std::vector<Stage> stages = merged_stages({x});
  stages.push_back(own_stage(f, shape));
  return Tensor(
      Int(64), shape, [f](const Index &index) { return cast<int64_t>(f(reversed(index))[0]); },
      stages);
}

}  // namespace polyhalite::ops
