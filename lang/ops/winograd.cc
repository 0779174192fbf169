// Winograd's form of 3x3 convolutions: products of transformed tiles and kernels, of which tiles of
// results are made.
//
//   results tile = A' [ sum over channels of (G g G') * (B' d B) ] A
#include <cmath>

#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

using Matrix = std::vector<std::vector<double>>;

// The matrices for a tile of this many results.
struct Transforms {
  Matrix input, kernel, result;  // B', G, A'
};

const Transforms &transforms_of(int tile) {
  static const Transforms two{{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                              {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                              {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  static const Transforms four{
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}},
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  if (tile != 2 && tile != 4) {
    user_error("Winograd's form has tiles of " + std::to_string(tile) + " x " +
                   std::to_string(tile) + " results",
               "its matrices are known for tiles of 2 and of 4", "use one of them");
  }
  return tile == 2 ? two : four;
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

// M values M' at (row, column), which are counted where loops are unrolled. `value` is told row and
// column of the untransformed tile.
template <typename Value>
Expr transformed(const Matrix &m, const Expr &row, const Expr &column, const Value &value) {
  const size_t size = m[0].size();
  std::vector<Expr> rows;
  for (const std::vector<double> &of_row : m) {
    std::vector<Expr> line;
    for (size_t x = 0; x < size; x++) {
      std::vector<Expr> column_values;
      for (size_t y = 0; y < size; y++) {
        column_values.push_back(value(static_cast<int>(y), static_cast<int>(x)));
      }
      line.push_back(combined(of_row, column_values));
    }
    std::vector<Expr> cells;
    for (const std::vector<double> &of_column : m) cells.push_back(combined(of_column, line));
    rows.push_back(mux(column, cells));
  }
  return mux(row, rows);
}

void require_window(const Tensor &x, const Tensor &kernels, int results, const Window &window) {
  const std::vector<int> three{3, 3}, one{1, 1};
  if (x.rank() != 4 || window.kernel != three || window.stride != one || window.dilation != one) {
    user_error(
        "a convolution has no Winograd form",
        "images have two spatial dimensions, kernels 3 x 3 cells side by side, the stride is 1",
        "use convolution()");
  }
  const auto count = constant(kernels.size(0)), width = constant(kernels.size(-1));
  if (kernels.rank() != 5 || !count || !width || results < 1 || *count * *width < results ||
      (*count - 1) * *width >= results) {
    user_error(
        "the transformed kernels do not hold " + std::to_string(results) + " results",
        "they are [strip, i, j, channel, result in the strip] of constant sizes, no strip empty",
        "make them with winograd_kernels()");
  }
}

}  // namespace

std::vector<std::vector<double>> winograd_kernel_transform(int tile) {
  return transforms_of(tile).kernel;
}

bool gains_by_winograd(int channels, int results, const Window &window) {
  constexpr int kLeastChannels = 32;
  constexpr int64_t kLeastPixels = 144;
  const std::vector<int> three{3, 3}, one{1, 1};
  if (window.kernel != three || window.stride != one || window.dilation != one) return false;
  const auto rows = constant(window.shape[0]), columns = constant(window.shape[1]);
  return channels >= kLeastChannels && results >= kLeastChannels && rows && columns &&
         *rows * *columns >= kLeastPixels;
}

Tensor winograd_kernels(const Tensor &w, int tile, int width) {
  const Matrix &g = transforms_of(tile).kernel;
  const Tensor strips = kernel_strips(w, width);  // [strip, row, column, channel, result]
  Index shape = strips.shape();
  shape[1] = shape[2] = tile + 2;
  auto read = [strips, g](const Index &at) {
    return transformed(g, at[1], at[2], [&](int row, int column) {
      return strips({at[0], row, column, at[3], at[4]});
    });
  };
  return Tensor(w.type(), shape, read, strips.detached_stages());
}

Tensor winograd(const Tensor &x, const Tensor &kernels, int results, const Window &window,
                int tile) {
  const Transforms &matrices = transforms_of(tile);
  require_window(x, kernels, results, window);
  const Type type = computed_type(x.type());
  const int width = static_cast<int>(*constant(kernels.size(-1)));
  // Whole tiles, and a pixel around them.
  Window whole = window;
  for (Expr &n : whole.shape) {
    const auto size = constant(n);
    n = size ? Expr(static_cast<int>((*size + tile - 1) / tile * tile))
             : (n + (tile - 1)) / tile * tile;
  }
  const Tensor image = bordered(x, whole);

  Var channel("channel"), column("column"), i("i"), j("j"), row("row"), n("image");
  Func tiles("tiles");
  tiles(channel, column, j, i, row, n) =
      transformed(matrices.input, i, j, [&](int down, int right) {
        return cast(type, image({n, channel, row * tile + down, column * tile + right}));
      });
  Var result("result"), strip("strip");
  RDom k(0, x.size(1), "k");
  Func sums("sums"), products("products");
  sums(result, column, j, i, row, n, strip) = cast(type, Expr(0));
  sums(result, column, j, i, row, n, strip) +=
      tiles(k, column, j, i, row, n) * cast(type, kernels({strip, i, j, k, result}));
  products(result, column, j, i, row, n, strip) = sums(result, column, j, i, row, n, strip);

  Var c("c"), across("x"), down("y");
  Func made("convolution");
  made(c, across, down, n) =
      transformed(matrices.result, down % tile, across % tile, [&](int y, int z) {
        return products(c % width, across / tile, z, y, down / tile, n, c / width);
      });
  Stage own;
  own.kind = Stage::Winograd;
  own.parts = {tiles, sums, products};
  own.rvars = {k[0]};
  own.groups = width;
  own.tile = tile;
  const Index shape{x.size(0), Expr(results), window.shape[0], window.shape[1]};
  const std::vector<int> order{1, 3, 2, 0};
  for (int d : order) own.extents.push_back(shape[static_cast<size_t>(d)]);
  own.dims = order;
  own.func = made;
  std::vector<Stage> stages = merged_stages({image, kernels});
  stages.push_back(own);
  auto read = [made](const Index &at) -> Expr { return made(at[1], at[3], at[2], at[0]); };
  return convert(Tensor(type, shape, read, std::move(stages)), x.type());
}

}  // namespace polyhalite::ops
