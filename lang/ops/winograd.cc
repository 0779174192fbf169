// Winograd's form of convolutions: products of transformed tiles and kernels, of which tiles of
// results are made.
//
//   results tile = A' [ sum over channels of (G g H') * (B' d C) ] D
//
// with the matrices of rows (G, B', A') and those of columns. Along a dimension whose tiles are of
// one result nothing is transformed: the kernel's cells there belong to the sum.
#include <algorithm>
#include <cmath>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/winograd_transforms.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

using Matrix = WinogradTransforms::Matrix;

// A spatial dimension of the form.
struct Axis {
  int kernel, stride, tile;
  WinogradTransforms transforms;  // those of one place where cells belong to the sum

  Axis(int cells, int apart, int results) : kernel(cells), stride(apart), tile(results) {
    if (is_direct()) {
      transforms = {{{1}}, {{1}}, {{1}}};
    } else {
      transforms = winograd_transforms(cells, apart, results);
    }
  }
  bool is_direct() const { return tile == 1; }
  int places() const { return transforms.places(); }
  // Of the transformed kernels.
  int kernel_places() const { return is_direct() ? kernel : places(); }
  int summed_cells() const { return is_direct() ? kernel : 1; }
};

std::string text(const std::vector<int> &sizes) {
  std::string list;
  for (const int n : sizes) list += (list.empty() ? "" : " x ") + std::to_string(n);
  return list;
}

std::vector<Axis> axes_of(const Window &window, const std::vector<int> &tile) {
  const auto known = [](int n) { return n == 1 || n == 2 || n == 4; };
  if (tile.size() != 2 || !std::all_of(tile.begin(), tile.end(), known) ||
      (tile[0] == 1 && tile[1] == 1)) {
    user_error("Winograd's form has tiles of " + text(tile) + " results",
               "tiles have 1, 2 or 4 rows and columns, and more than one result",
               "use {2, 2}, or what winograd_tile() chooses");
  }
  if (window.kernel.size() != 2 || window.dilation != std::vector<int>{1, 1}) {
    user_error("a convolution has no Winograd form",
               "images have two spatial dimensions, and the kernel's cells lie side by side",
               "use convolution()");
  }
  std::vector<Axis> axes;
  for (size_t d = 0; d < 2; d++) axes.emplace_back(window.kernel[d], window.stride[d], tile[d]);
  return axes;
}

// The sum of factors[i] * values[i].
Expr combined(const std::vector<double> &factors, const std::vector<Expr> &values) {
  Expr sum;
  for (size_t i = 0; i < factors.size(); i++) {
    if (factors[i] == 0) continue;
    const Type type = values[i].type();
    const double size = std::fabs(factors[i]);
    const Expr term = size == 1 ? values[i] : values[i] * cast(type, Expr(size));
    const bool negative = factors[i] < 0;
    if (!sum.defined()) {
      sum = negative ? -term : term;
    } else {
      sum = negative ? sum - term : sum + term;
    }
  }
  return sum;
}

Expr picked(const Expr &index, const std::vector<Expr> &values) {
  return values.size() == 1 ? values[0] : mux(index, values);
}

// D values A' at (row, column), which are counted where loops are unrolled. `value` is told row and
// column of the untransformed tile.
template <typename Value>
Expr transformed(const Matrix &d, const Matrix &a, const Expr &row, const Expr &column,
                 const Value &value) {
  std::vector<Expr> rows;
  for (const std::vector<double> &of_row : d) {
    std::vector<Expr> line;
    for (size_t x = 0; x < a[0].size(); x++) {
      std::vector<Expr> column_values;
      for (size_t y = 0; y < d[0].size(); y++) {
        column_values.push_back(value(static_cast<int>(y), static_cast<int>(x)));
      }
      line.push_back(combined(of_row, column_values));
    }
    std::vector<Expr> cells;
    for (const std::vector<double> &of_column : a) cells.push_back(combined(of_column, line));
    rows.push_back(picked(column, cells));
  }
  return picked(row, rows);
}

void require_kernels(const Tensor &x, const Tensor &kernels, int results,
                     const std::vector<Axis> &axes) {
  if (x.rank() != 4) {
    user_error("an image of Winograd's form has rank " + std::to_string(x.rank()),
               "images are [image, channel, row, column]", "use convolution()");
  }
  const auto count = constant(kernels.size(0)), width = constant(kernels.size(-1));
  bool fit = kernels.rank() == 5 && count && width && results >= 1 && *count * *width >= results &&
             (*count - 1) * *width < results;
  for (size_t d = 0; fit && d < 2; d++)
    fit = constant(kernels.size(static_cast<int>(d) + 1)) == axes[d].kernel_places();
  if (!fit) {
    user_error("the transformed kernels do not hold " + std::to_string(results) + " results of " +
                   text({axes[0].kernel_places(), axes[1].kernel_places()}) + " places",
               "they are [strip, i, j, channel, result in the strip] of constant sizes, no strip "
               "empty",
               "make them with winograd_kernels()");
  }
}

// The least factor with which the kernel's transform has whole numbers, where the others have no
// factors but 1; else 0.
int whole_scale(const WinogradTransforms &t) {
  const auto all = [](const Matrix &m, const auto &holds) {
    return std::all_of(m.begin(), m.end(), [&](const std::vector<double> &row) {
      return std::all_of(row.begin(), row.end(), holds);
    });
  };
  const auto is_unit = [](double v) { return v == 0 || std::fabs(v) == 1; };
  if (!all(t.input, is_unit) || !all(t.result, is_unit)) return 0;
  for (const int scale : {1, 2}) {
    if (all(t.kernel, [&](double v) { return v * scale == std::round(v * scale); })) return scale;
  }
  return 0;
}

// By how much transformed kernels of whole numbers, and so results, are too large.
int require_whole_numbers(const Tensor &x, const Tensor &kernels, const std::vector<Axis> &axes) {
  const int scale = whole_scale(axes[0].transforms) * whole_scale(axes[1].transforms);
  const auto channels = constant(x.size(1));
  if (x.type() != Int(16) || scale == 0 || !channels || constant(kernels.size(3)) != channels) {
    user_error("Winograd's form of whole numbers has an image of " + x.type().to_string() +
                   " with " + (channels ? std::to_string(*channels) : "?") +
                   " channels and tiles of " + text({axes[0].tile, axes[1].tile}) + " results",
               "images have 16 bits and as many channels as the kernels, and all but the kernels' "
               "transform has no factors but 1",
               "use winograd_scale() to see where it is defined");
  }
  return scale;
}

// Of 3x3 kernels at stride 2, where larger tiles take fewer products but larger kernels, of which
// each element is fetched once: from the third cache in the time of some 6 multiply-adds, from
// memory in that of 14.
std::vector<int> strided_tile(int64_t channels, int64_t results, int64_t rows, int64_t columns) {
  struct Choice {
    std::vector<int> tile;
    double transforms;  // the time they add
  };
  const Choice choices[] = {{{}, 1}, {{2, 2}, 1.08}, {{4, 2}, 1.1}};
  constexpr int64_t kThirdCache = 16 << 20;
  const auto cost = [&](const Choice &c) {
    const int64_t down = c.tile.empty() ? 1 : c.tile[0], across = c.tile.empty() ? 1 : c.tile[1];
    // Two cells and one, as convolutions of stride 1.
    const auto places = [](int64_t tile) { return tile == 1 ? 3 : 2 * tile + 1; };
    const int64_t kernels = places(down) * places(across);
    const double fetch = kernels * channels * results * 4 > kThirdCache ? 14 : 6;
    const auto count = static_cast<double>(tiles(rows, down) * tiles(columns, across));
    return c.transforms * static_cast<double>(kernels) * (count + fetch);
  };
  const Choice *best = &choices[0];
  for (const Choice &c : choices) {
    if (cost(c) < cost(*best)) best = &c;
  }
  return best->tile;
}

}  // namespace

std::vector<int> winograd_tile(int channels, int results, const Window &window) {
  constexpr int kLeastChannels = 32, kLeastResults = 32, kLongKernel = 5, kLongest = 16,
                kLongTile = 4;
  constexpr int64_t kLeastPixels = 36, kPixelsOfSquares = 64;
  if (window.kernel.size() != 2 || window.dilation != std::vector<int>{1, 1}) return {};
  if (results < kLeastResults) return {};
  // Images of open sizes have enough pixels for the forms whose tiles are small or long, most
  // times.
  const auto rows = constant(window.shape[0]), columns = constant(window.shape[1]);
  const bool open = !rows || !columns;
  const int64_t pixels = open ? kPixelsOfSquares : *rows * *columns;
  // A tile's windows share products of cells a stride apart: that saves a quarter of them where it
  // is worth the transforms. What each window sees for itself saves none.
  const auto is_long = [&](size_t d, const std::optional<int64_t> &size) {
    const int cells = window.kernel[d], stride = window.stride[d];
    const int apart = (cells + stride - 1) / stride, products = (kLongTile - 1 + apart) * stride;
    return cells >= kLongKernel && cells <= kLongest && size.value_or(kLongTile) >= kLongTile &&
           3 * kLongTile * cells >= 4 * products;
  };
  if (pixels >= kPixelsOfSquares && is_long(0, rows)) return {kLongTile, 1};
  if (pixels >= kPixelsOfSquares && is_long(1, columns)) return {1, kLongTile};
  if (channels < kLeastChannels || pixels < kLeastPixels) return {};
  if (!open && window.stride == std::vector<int>{2, 2} && window.kernel == std::vector<int>{3, 3})
    return strided_tile(channels, results, *rows, *columns);
  if (window.stride != std::vector<int>{1, 1}) return {};
  if (window.kernel == std::vector<int>{3, 3})
    return pixels >= kPixelsOfSquares ? std::vector<int>{2, 2} : std::vector<int>{2, 1};
  if (window.kernel == std::vector<int>{3, 1}) return {2, 1};
  if (window.kernel == std::vector<int>{1, 3}) return {1, 2};
  return {};
}

int winograd_scale(int kernel, int stride, int tile) {
  return tile > 1 ? whole_scale(winograd_transforms(kernel, stride, tile)) : 1;
}

std::vector<std::vector<double>> winograd_kernel_transform(int kernel, int stride, int tile) {
  if (tile > 1) return winograd_transforms(kernel, stride, tile).kernel;
  Matrix same(static_cast<size_t>(kernel), std::vector<double>(static_cast<size_t>(kernel), 0));
  for (size_t i = 0; i < same.size(); i++) same[i][i] = 1;
  return same;
}

Tensor winograd_kernels(const Tensor &w, const Window &window, const std::vector<int> &tile,
                        int width) {
  const std::vector<Axis> axes = axes_of(window, tile);
  const Tensor strips = kernel_strips(w, width);  // [strip, row, column, channel, result]
  Index shape = strips.shape();
  for (size_t d = 0; d < 2; d++) shape[d + 1] = axes[d].kernel_places();
  auto read = [strips, axes](const Index &at) {
    const auto cell = [&](size_t d, int place) {
      return axes[d].is_direct() ? at[d + 1] : Expr(place);
    };
    return transformed(axes[0].transforms.kernel, axes[1].transforms.kernel, at[1], at[2],
                       [&](int row, int column) {
                         return strips({at[0], cell(0, row), cell(1, column), at[3], at[4]});
                       });
  };
  return Tensor(w.type(), shape, read, strips.detached_stages());
}

Tensor winograd(const Tensor &x, const Tensor &kernels, int results, const Window &window,
                const std::vector<int> &tile) {
  const std::vector<Axis> axes = axes_of(window, tile);
  require_kernels(x, kernels, results, axes);
  if (instead_of_columns(x, window)) {
    return with_columns(winograd(with_columns(x, 2, 0, 2), with_columns(kernels, 1, 0, 2), results,
                                 with_columns(window, 0), {tile[1], tile[0]}),
                        2, 0, 2);
  }
  const Axis &rows = axes[0], &columns = axes[1];
  const bool whole_numbers = kernels.type() == Int(16);
  const Type type = whole_numbers ? Int(32) : computed_type(x.type());
  const Type of_tiles = whole_numbers ? Int(16) : type;
  const int width = static_cast<int>(*constant(kernels.size(-1)));
  const int scale = whole_numbers ? require_whole_numbers(x, kernels, axes) : 1;
  // Whole tiles, and the pixels around them.
  Window whole = window;
  for (size_t d = 0; d < 2; d++) {
    Expr &n = whole.shape[d];
    const auto size = constant(n);
    const int t = tile[d];
    n = size ? Expr(static_cast<int>((*size + t - 1) / t * t)) : (n + (t - 1)) / t * t;
  }
  const Tensor image = bordered(x, whole);

  // Along a direct dimension tiles are counted by pixels of the image.
  Var channel("channel"), column("column"), i("i"), j("j"), row("row"), n("image");
  const auto pixel = [](const Axis &axis, const Var &at, int cell) -> Expr {
    return axis.is_direct() ? Expr(at) : at * (axis.tile * axis.stride) + cell;
  };
  Func tiles("tiles");
  tiles(channel, column, j, i, row, n) =
      transformed(rows.transforms.input, columns.transforms.input, i, j, [&](int down, int right) {
        return cast(of_tiles,
                    image({n, channel, pixel(rows, row, down), pixel(columns, column, right)}));
      });
  Var result("result"), strip("strip");
  const RDom k({{Expr(0), x.size(1)},
                {Expr(0), Expr(columns.summed_cells())},
                {Expr(0), Expr(rows.summed_cells())}},
               "k");
  const auto place = [](const Axis &axis, const Var &at, const RVar &cell) -> Expr {
    return axis.is_direct() ? Expr(cell) : Expr(at);
  };
  const auto tile_of = [](const Axis &axis, const Var &at, const RVar &cell) -> Expr {
    return axis.is_direct() ? at * axis.stride + cell : Expr(at);
  };
  Func sums("sums"), products("products");
  sums(result, column, j, i, row, n, strip) = cast(type, Expr(0));
  const auto widened = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  sums(result, column, j, i, row, n, strip) +=
      widened(tiles(k[0], tile_of(columns, column, k[1]), j, i, tile_of(rows, row, k[2]), n)) *
      widened(kernels({strip, place(rows, i, k[2]), place(columns, j, k[1]), k[0], result}));
  products(result, column, j, i, row, n, strip) = sums(result, column, j, i, row, n, strip);

  Var c("c"), across("x"), down("y");
  Func made("convolution");
  const Expr of_scale = transformed(rows.transforms.result, columns.transforms.result,
                                    down % rows.tile, across % columns.tile, [&](int y, int z) {
                                      return products(c % width, across / columns.tile, z, y,
                                                      down / rows.tile, n, c / width);
                                    });
  made(c, across, down, n) = scale == 1 ? of_scale : of_scale / scale;
  Stage own;
  own.kind = Stage::Winograd;
  own.parts = {tiles, sums, products};
  own.rvars = {k[0], k[1], k[2]};
  own.groups = width;
  own.tile = tile;
  own.stride = window.stride;
  own.places = {rows.places(), columns.places()};
  const Index shape{x.size(0), Expr(results), window.shape[0], window.shape[1]};
  const std::vector<int> order{1, 3, 2, 0};
  for (int d : order) own.extents.push_back(shape[static_cast<size_t>(d)]);
  own.dims = order;
  own.func = made;
  std::vector<Stage> stages = merged_stages({image, kernels});
  stages.push_back(own);
  auto read = [made](const Index &at) -> Expr { return made(at[1], at[3], at[2], at[0]); };
  return convert(Tensor(type, shape, read, std::move(stages)), whole_numbers ? type : x.type());
}

}  // namespace polyhalite::ops
