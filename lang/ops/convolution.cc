// Convolutions, of any number of spatial dimensions. The Funcs have channels innermost, whatever
// the order of the images around them: vectors run over result channels, a pixel's value is read
// once for all of them.
#include <algorithm>
#include <climits>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/convolution.h"
#include "lang/ops/loops.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// Columns, channel, rows..., image.
std::vector<int> columns_first(int rank) {
  std::vector<int> order = channels_first(rank);
  std::swap(order[0], order[1]);
  return order;
}

// Register tiles of so many columns, and what a column takes beside those of the others.
struct ColumnClass {
  int tile, cost;
};
constexpr ColumnClass kStripColumns[] = {{7, 10}, {6, 10}, {4, 12}};
constexpr ColumnClass kDepthwiseColumns[] = {{7, 10}, {4, 12}};

// A stage for each class of the number of columns, where that is open: of those that fit the one
// with the least work, what is computed twice at the end of a row being some; for few columns one
// of single columns.
template <size_t N>
std::vector<Stage> by_columns(const Expr &columns, const ColumnClass (&classes)[N],
                              const std::function<Stage()> &make) {
  std::vector<Stage> choices;
  const auto cost = [&](const ColumnClass &c) {
    return (columns + (c.tile - 1)) / c.tile * (c.tile * c.cost);
  };
  for (size_t i = 0; i < N && !constant(columns) && is_fixed(columns); i++) {
    Expr when = columns >= classes[i].tile;
    for (size_t k = i + 1; k < N; k++) when = when && cost(classes[i]) <= cost(classes[k]);
    choices.push_back(make());
    choices.back().when = when;
    choices.back().open = {{}, {classes[i].tile, classes[i].tile}};
  }
  choices.push_back(make());
  return choices;
}

// The same for vectors along rows: of long rows, of a vector's columns, of fewer.
std::vector<Stage> by_row_length(const Expr &columns, const std::function<Stage()> &make) {
  std::vector<Stage> choices;
  for (const int least : {64, 16}) {
    if (constant(columns) || !is_fixed(columns)) break;
    choices.push_back(make());
    choices.back().when = columns >= least;
    choices.back().open = {{least, 4 * least}};
  }
  choices.push_back(make());
  return choices;
}

// Are the sums' columns all pixels of an image? Where each is made of one pixel, since rows then
// follow each other; and where rows are short, of narrow strips, as for 16 registers, whose tiles
// are no 7 or 14 columns: then few are computed twice, and the border is a copy of the image.
bool joins_rows(const Tensor &x, const Window &window, int64_t width) {
  constexpr int64_t kNarrow = 16, kShortRow = 14;
  const size_t spatial = window.kernel.size();
  if (spatial < 2) return false;
  bool known = true, is_pointwise = true;
  for (size_t i = 0; i < spatial; i++) {
    const auto count = constant(window.shape[i]);
    const auto size = constant(x.size(static_cast<int>(i) + 2));
    known = known && count && size && *count > 1;
    is_pointwise = is_pointwise && known && window.kernel[i] == 1 && window.before[i] == 0 &&
                   (*count - 1) * window.stride[i] < *size;
  }
  return known &&
         (is_pointwise || (width <= kNarrow && *constant(window.shape.back()) <= kShortRow));
}

// x[image, channel, ..., pixel] as [image, channel, ..., row, column] of so many columns.
Tensor with_rows(const Tensor &x, const Expr &rows, const Expr &columns) {
  Index shape = x.shape();
  shape.back() = rows;
  shape.push_back(columns);
  auto read = [x, columns](const Index &index) {
    Index at(index.begin(), index.end() - 1);
    at.back() = index[index.size() - 2] * columns + index.back();
    return x(at);
  };
  std::vector<Stage> stages = x.stages();
  const int row = x.rank() - 1;
  for (Stage &s : stages) {
    const auto pixel = std::find(s.dims.begin(), s.dims.end(), row);
    if (pixel <= s.dims.begin() + 1 && pixel != s.dims.end()) {
      s.joined = true;
      *pixel = row + 1;
      s.dims.push_back(row);
    } else {
      s.dims.clear();
    }
  }
  return Tensor(x.type(), shape, read, stages);
}

// The pixels of a convolution's results as its sums count them: by rows and columns, or where rows
// are joined one row after the other.
class Pixels {
 public:
  Pixels(const Window &window, bool joined)
      : spatial_(window.kernel.size()),
        joined_(joined),
        rows_(spatial_ > 1 ? window.shape[spatial_ - 2] : Expr()),
        columns_(spatial_ > 0 ? window.shape.back() : Expr()) {}

  // [image, result, ..., row, column] of the sums.
  Index of_sums(Index shape) const {
    if (!joined_) return shape;
    shape.pop_back();
    shape.back() = static_cast<int>(*constant(rows_) * *constant(columns_));
    return shape;
  }
  // The spatial places of a point [image, result, ...] of theirs.
  Index places(const Index &at) const {
    Index list(at.begin() + 2, at.end());
    if (!joined_) return list;
    list.push_back(list.back() % columns_);
    list[spatial_ - 2] = list[spatial_ - 2] / columns_;
    return list;
  }
  Tensor image(const Tensor &sums) const {
    return joined_ ? with_rows(sums, rows_, columns_) : sums;
  }

 private:
  const size_t spatial_;
  const bool joined_;
  const Expr rows_, columns_;
};

}  // namespace

Tensor summed(Type type, Type result, const Index &shape, int groups, const KernelDomain &domain,
              std::vector<Stage> stages,
              const std::function<Expr(const Index &, const Expr &)> &term, bool along_rows) {
  const int rank = static_cast<int>(shape.size());
  const std::vector<int> order = along_rows ? columns_first(rank) : channels_first(rank);
  const auto channels = constant(shape[1]);
  // Vectors stay within a group. A group of one result is its channel.
  const bool apart = groups > 1 && channels && *channels > groups;
  const int size = apart ? static_cast<int>(*channels) / groups : 1;
  std::vector<Var> vars = index_vars(rank), args = in_order(vars, order);
  Index at = as_index(vars);
  Expr group = at[1];
  if (apart) {
    args.emplace_back("group");
    group = args.back();
    at[1] = group * size + vars[1];
  } else if (groups > 1 && !channels) {
    group = at[1] / (shape[1] / groups);
  }
  const auto make = [&] {
    Func sum("convolution");
    sum(args) = cast(type, Expr(0));
    sum(args) += term(at, group);
    Stage own;
    own.kind = groups > 1 && channels == groups ? Stage::Depthwise : Stage::Product;
    own.func = sum;
    own.extents = in_order(shape, order);
    own.rvars = domain.variables(along_rows);
    own.dims = order;
    if (apart) {
      own.groups = groups;
      own.extents[0] = size;
      own.extents.emplace_back(groups);
      own.dims.push_back(1);
    }
    return own;
  };
  auto place = [order, apart, size](const Index &index) {
    Index to = in_order(index, order);
    if (!apart) return to;
    to[0] = index[1] % size;
    to.push_back(index[1] / size);
    return to;
  };
  const Expr columns = in_order(shape, order)[along_rows ? 0 : 1];
  std::vector<Stage> choices;
  if (along_rows) {
    choices = by_row_length(columns, make);
  } else if (groups > 1 && channels == groups) {
    choices = by_columns(columns, kDepthwiseColumns, make);
  } else {
    choices.push_back(make());
  }
  const Stage own = chosen(choices, "convolution_by_size");
  stages.push_back(own);
  return convert(
      Tensor(
          type, shape,
          [sum = own.func, place](const Index &index) -> Expr { return sum(place(index)); },
          std::move(stages)),
      result);
}

namespace {

// Are channels to be copied side by side? Each strip reads all of an image, of which a step's
// channel may lie a power of 2 behind the one before it, in one set of a cache: 1024 channels of
// 64x64 pixels took a Zen 3 65 ms for 256 results as they lay, 32 with the copy. Two strips gain
// nothing; a border is such a copy anyhow.
bool is_worth_turning(int64_t strips, const Window &window) {
  return strips >= 3 && std::all_of(window.stride.begin(), window.stride.end(),
                                    [](int stride) { return stride == 1; });
}

}  // namespace

bool few_results(int results, const Window &window) {
  constexpr int kFew = 4, kManyColumns = 16;
  return results <= kFew && !window.stride.empty() && window.stride.back() == 1 &&
         constant(window.shape.back()).value_or(kManyColumns) >= kManyColumns;
}

namespace {

// `reaches`: x has what tiles read behind the last window.
Tensor convolved(const Tensor &x, const Tensor &w, const Window &window, int groups, Type sums,
                 bool reaches) {
  const size_t spatial = window.kernel.size();
  if (const auto d = instead_of_columns(x, window)) {
    return with_columns(convolved(with_columns(x, 2, *d, spatial), with_columns(w, 2, *d, spatial),
                                  with_columns(window, *d), groups, sums, reaches),
                        2, *d, spatial);
  }
  const Type type = sums == Type() ? computed_type(x.type()) : sums;
  const Type result = sums == Type() ? x.type() : sums;
  // Vectors of a channel each read channels beside each other.
  const bool depthwise = groups > 1 && constant(w.size(0)) == groups;
  const bool along_rows =
      groups == 1 && few_results(static_cast<int>(constant(w.size(0)).value_or(INT_MAX)), window);
  const Tensor given = depthwise                                     ? channels_together(x)
                       : along_rows && some_channels_are_together(x) ? stored(x, "planes")
                                                                     : x;
  const Tensor image = bordered(given, window, Tensor(), along_rows, depthwise || reaches);
  Index shape{x.size(0), w.size(0)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  // Pairs of 16 bits are multiplied where registers are 16 of 8 sums.
  constexpr int64_t kStripOfPairs = 16;
  const bool pairs = x.type() == Int(16) && w.type() == Int(16) && type == Int(32);
  const Pixels pixels(window,
                      pairs && !depthwise && !along_rows && joins_rows(x, window, kStripOfPairs));
  const KernelDomain domain(w.size(1), window.kernel);
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  auto term = [&](const Index &at, const Expr &group) {
    const Index place = pixels.places(at);
    Expr channel = domain.channel;
    if (groups > 1) channel = is_one(w.size(1)) ? group : group * w.size(1) + channel;
    Index pixel{at[0], channel}, weight{at[1], domain.channel};
    for (size_t i = 0; i < window.kernel.size(); i++) {
      pixel.push_back(times(place[i], window.stride[i]) +
                      times(domain.cells[i], window.dilation[i]));
      weight.push_back(domain.cells[i]);
    }
    return wide(image(pixel)) * wide(w(weight));
  };
  return pixels.image(summed(type, result, pixels.of_sums(shape), groups, domain,
                             merged_stages({image, w}), term, along_rows));
}

}  // namespace

Tensor convolution(const Tensor &x, const Tensor &w, const Window &window, int groups, Type sums) {
  return convolved(x, w, window, groups, sums, false);
}

Tensor convolution_inside(const Tensor &image, const Tensor &w, const Window &window, int groups,
                          Type sums) {
  return convolved(image, w, window, groups, sums, true);
}

namespace {

// Does one window see all of the image, and nothing beyond it?
bool sees_whole_image(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const auto size = constant(x.size(static_cast<int>(i) + 2));
    if (!is_one(window.shape[i]) || window.before[i] != 0 || window.dilation[i] != 1 ||
        size != window.kernel[i])
      return false;
  }
  return true;
}

// The last digits of `number`, in a system of these sizes, which it is left without.
Index digits(Expr *number, const Index &sizes) {
  Index list(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    list[i] = is_one(sizes[i]) ? Expr(0) : *number % sizes[i];
    if (!is_one(sizes[i])) *number = *number / sizes[i];
  }
  return list;
}

Expr product_of_sizes(Index sizes) {
  Expr n = 1;
  for (const Expr &size : sizes) n = simplify(n * size);
  return n;
}

// kernels[result, term] with what each window sees; a term is a channel's cell, or with
// `cells_outside` a cell's channel.
Tensor product_of_windows(const Tensor &x, const Tensor &kernels, const Window &window,
                          bool cells_outside) {
  const size_t spatial = window.kernel.size();
  // Of one dimension, and of rows and columns whose numbers are known, the product is the result
  // itself, which has a dimension of images.
  const bool known = spatial == 2 && constant(window.shape[0]) && constant(window.shape[1]);
  const bool single = is_one(x.size(0)) && spatial != 1 && !known;
  const Expr channels = x.size(1);
  const Index cells(window.kernel.begin(), window.kernel.end());
  const Tensor image = bordered(x, window, Tensor(), true, true);
  Index matrix{kernels.size(1), product_of_sizes(window.shape)};
  if (!single) matrix.insert(matrix.begin(), x.size(0));
  const auto pixel = [=](const Index &at) {
    Expr term = at[at.size() - 2], point = at.back(), channel;
    if (cells_outside) channel = digits(&term, {channels})[0];
    const Index cell = digits(&term, cells), place = digits(&point, window.shape);
    Index index{single ? Expr(0) : at[0], cells_outside ? channel : term};
    for (size_t i = 0; i < cell.size(); i++)
      index.push_back(times(place[i], window.stride[i]) + times(cell[i], window.dilation[i]));
    return image(index);
  };
  const Tensor product = matmul(kernels, Tensor(x.type(), matrix, pixel, image.detached_stages()));
  if (spatial == 1) return product;
  if (known) return with_rows(product, window.shape[0], window.shape[1]);
  Index shape{x.size(0), kernels.size(0)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  return reshape(product, shape);
}

}  // namespace

Tensor convolution_by_product(const Tensor &x, const Tensor &w, const Window &window) {
  const Expr results = w.size(0);
  const Expr terms = product_of_sizes(Index(w.shape().begin() + 1, w.shape().end()));
  const Tensor kernels = reshape(w, {results, terms});
  if (!sees_whole_image(x, window)) return product_of_windows(x, kernels, window, false);
  Index shape{x.size(0), results};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  return reshape(matmul(reshape(x, {x.size(0), terms}), transpose(kernels, {1, 0})), shape);
}

Tensor convolution_by_product(const Tensor &x, const Tensor &strips, int results,
                              const Window &window) {
  const auto width = constant(strips.size(-1)), channels = constant(strips.size(-2));
  if (!width || !channels || strips.rank() != static_cast<int>(window.kernel.size()) + 3) {
    user_error("kernels in strips have rank " + std::to_string(strips.rank()) + " or an open size",
               "they are strips[strip, cell.., channel, result], of known sizes",
               "lay them out by kernel_strips()");
  }
  const int of_strip = static_cast<int>(*width);
  const Index lies(strips.shape().begin() + 1, strips.shape().end() - 1);
  const auto kernel = [=](const Index &at) {
    Expr term = at[1];
    Index from{at[0] / of_strip};
    for (const Expr &place : digits(&term, lies)) from.push_back(place);
    from.push_back(at[0] % of_strip);
    return strips(from);
  };
  const Tensor kernels(strips.type(), {results, product_of_sizes(lies)}, kernel,
                       strips.detached_stages());
  return product_of_windows(x, kernels, window, true);
}

// What each window sees is packed, a few terms for each pixel; sums whose vectors run over results
// are turned, and those are some for each pixel.
bool gains_by_product(const Tensor &x, int results, const Window &window) {
  constexpr int64_t kManyPixels = 1000, kFewTerms = 40;
  constexpr int kSomeResults = 32, kStrided = 4;
  int64_t pixels = 1, terms = constant(x.size(1)).value_or(0);
  for (const Expr &size : window.shape) pixels *= constant(size).value_or(0);
  for (const int cells : window.kernel) terms *= cells;
  const bool strided = std::any_of(window.stride.begin(), window.stride.end(),
                                   [](int stride) { return stride != 1; });
  if (terms == 0 || pixels < kManyPixels || results < kSomeResults || channels_are_together(x))
    return false;
  return terms <= kFewTerms || (strided ? results >= kStrided * terms : 2 * results >= terms);
}

// More cells than registers hold weights for are loads of their own. A stride gathers, which is
// still less than to turn what comes from the third cache.
bool gains_along_rows(const Tensor &x, const Window &window) {
  constexpr int64_t kMostCells = 9, kLeastColumns = 8, kLarge = 2 << 20;
  if (channels_are_together(x) || window.kernel.empty()) return false;
  int64_t cells = 1, bytes = x.type().bytes();
  for (const int n : window.kernel) cells *= n;
  for (const Expr &size : x.shape()) bytes *= constant(size).value_or(0);
  return cells <= kMostCells && constant(window.shape.back()).value_or(0) >= kLeastColumns &&
         bytes >= (window.stride.back() == 1 ? 1 : kLarge);
}

Tensor depthwise_along_rows(const Tensor &x, const Tensor &w, const Window &window) {
  const Type type = computed_type(x.type());
  const Tensor image = bordered(x, window, Tensor(), true, true);
  Index shape{x.size(0), x.size(1)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  auto element = [=](const Index &at) {
    Expr sum;
    for_each_cell(window, [&](const std::vector<int> &cell) {
      Index pixel{at[0], at[1]}, weight{at[1], Expr(0)};
      for (size_t i = 0; i < cell.size(); i++) {
        pixel.push_back(times(at[i + 2], window.stride[i]) + cell[i] * window.dilation[i]);
        weight.emplace_back(cell[i]);
      }
      const Expr product = wide(image(pixel)) * wide(w(weight));
      sum = sum.defined() ? sum + product : product;
    });
    return sum;
  };
  return convert(Tensor(type, shape, element, merged_stages({image, w})), x.type());
}

std::vector<Stage> strip_choices(const Expr &columns, const std::function<Stage()> &make) {
  return by_columns(columns, kStripColumns, make);
}

int strip_width(int results, const Type &sums, const Target &target, bool one_row) {
  const int lanes = target.natural_vector_size(sums);
  // Few lanes without a result, then wide strips: a pixel's value serves all vectors of one. Tiles
  // of 4 vectors by 7 columns leave a sum on the stack, which a Zen 5 fetches later than the next
  // step wants it: 2 by 14 do not. One vector's tiles wait for loads: on a Zen 3 they take 1.3 to
  // 1.7 of the time for a result, and those of three vectors the same as those of two.
  // A row's sums wait for each other, and what it reads comes in one stream; of eight vectors at a
  // time processors fetch less well ahead.
  const bool wide = target.has_feature(Target::AVX512_Skylake);
  const bool few_registers = !wide && !one_row && vector_registers(target) <= 16;
  const int most = few_registers ? 3 : one_row || (wide && !is_zen_5(target)) ? 4 : 2;
  int best = 1, least = 0;
  for (int v = most; v >= 1; v--) {
    const int width = v * lanes, padded = (results + width - 1) / width * width;
    const int cost = padded * (!few_registers ? (v == 1 ? 110 : 100)
                               : v == 1       ? 140
                               : v == 3       ? 101
                                              : 100);
    if (least == 0 || cost < least) {
      least = cost;
      best = v;
    }
  }
  return best * lanes;
}

Tensor kernel_strips(const Tensor &w, int width) {
  const int results = static_cast<int>(constant(w.size(0)).value_or(0));
  if (results == 0 || width < 1) {
    user_error("kernels are to be laid out in strips of " + std::to_string(width) + " of " +
                   (results == 0 ? "an open number" : std::to_string(results)),
               "a strip's width and the number of results are positive constants",
               "give the kernels a constant first size");
  }
  Index shape{(results + width - 1) / width};
  for (int d = 2; d < w.rank(); d++) shape.push_back(w.size(d));
  shape.push_back(w.size(1));
  shape.emplace_back(width);
  auto read = [w, width, results](const Index &index) {
    const Expr result = index[0] * width + index.back();
    Index at{results % width == 0 ? result : clamp(result, 0, results - 1),
             index[index.size() - 2]};
    at.insert(at.end(), index.begin() + 1, index.end() - 2);
    const Expr value = w(at);
    return results % width == 0 ? value : select(result < results, value, cast(w.type(), Expr(0)));
  };
  return Tensor(w.type(), shape, read, w.detached_stages());
}

Tensor strips_convolution(const Tensor &x, const Tensor &strips, int results, const Window &window,
                          Type sums, int groups, const StripWindows &own_windows) {
  const size_t spatial = window.kernel.size();
  // Windows of their own are told of dimensions as they stand.
  const bool same_windows = !own_windows.has_cell && !own_windows.further;
  if (const auto d = instead_of_columns(x, window);
      d && same_windows && strips.rank() == x.rank() + 1) {
    return with_columns(
        convolution(with_columns(x, 2, *d, spatial), with_columns(strips, 1, *d, spatial), results,
                    with_columns(window, *d), sums, groups),
        2, *d, spatial);
  }
  const Type type = sums == Type() ? computed_type(x.type()) : sums;
  const Type result = sums == Type() ? x.type() : sums;
  const auto count = constant(strips.size(0)), width = constant(strips.size(-1));
  if (!count || !width || results < 1 || *count * *width < results ||
      (*count - 1) * *width >= results || strips.rank() != x.rank() + 1) {
    user_error(std::to_string(results) + " results of kernels in " +
                   (count ? std::to_string(*count) : "?") + " strips of " +
                   (width ? std::to_string(*width) : "?"),
               "the strips hold all results, none of them is empty, and there is a dimension more "
               "than images have",
               "lay out the kernels with kernel_strips()");
  }
  if (groups < 1 || *count % groups != 0 || (groups > 1 && *count * *width != results)) {
    user_error(std::to_string(results) + " results in strips of " + std::to_string(*width) +
                   " are of " + std::to_string(groups) + " groups",
               "each group has whole strips", "use convolution() with kernels as they are");
  }
  Window seen = window;
  if (own_windows.further) {
    for (Expr &n : seen.shape) n = constant(n) ? Expr(static_cast<int>(*constant(n)) + 1) : n + 1;
  }
  const Tensor padded = bordered(x, seen, Tensor(), false, true);
  const bool has_border = padded.stages().size() != x.stages().size();
  const Tensor image =
      !has_border && is_worth_turning(*count, window) ? channels_together(padded) : padded;
  Index shape{x.size(0), Expr(results)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  const Pixels pixels(window, joins_rows(x, window, *width));
  shape = pixels.of_sums(shape);
  const int rank = static_cast<int>(shape.size());
  const std::vector<int> order = channels_first(rank);
  KernelDomain domain(strips.size(-2), window.kernel);
  // Of the sums: the result within its strip in the place of the channel, and the strip.
  std::vector<Var> vars = index_vars(rank), args = in_order(vars, order);
  const Var strip("strip");
  args.push_back(strip);
  if (own_windows.has_cell) domain.r.where(own_windows.has_cell(strip, domain.cells));
  Expr channel = domain.channel;
  if (groups > 1) channel = strip / static_cast<int>(*count / groups) * strips.size(-2) + channel;
  const Index place = pixels.places(as_index(vars));
  Index pixel{vars[0], channel}, weight{strip};
  for (size_t i = 0; i < spatial; i++) {
    Expr at = times(place[i], window.stride[i]) + times(domain.cells[i], window.dilation[i]);
    pixel.push_back(own_windows.further ? at + own_windows.further(strip, i) : at);
    weight.push_back(domain.cells[i]);
  }
  weight.push_back(domain.channel);
  weight.push_back(vars[1]);
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  const std::vector<Stage> choices = strip_choices(in_order(shape, order)[1], [&] {
    Func sum("convolution");
    sum(args) = cast(type, Expr(0));
    sum(args) += wide(image(pixel)) * wide(strips(weight));
    Stage own;
    own.kind = Stage::Strips;
    own.func = sum;
    own.extents = in_order(shape, order);
    own.extents[0] = static_cast<int>(*width);
    own.extents.push_back(static_cast<int>(*count));
    own.rvars = domain.variables();
    own.dims = order;
    own.dims.push_back(1);
    own.groups = static_cast<int>(*count);
    return own;
  });
  std::vector<Stage> stages = merged_stages({image, strips});
  stages.push_back(chosen(choices, "convolution_by_size"));
  auto read = [sum = stages.back().func, order,
               w = static_cast<int>(*width)](const Index &index) -> Expr {
    Index to = in_order(index, order);
    to[0] = index[1] % w;
    to.push_back(index[1] / w);
    return sum(to);
  };
  return pixels.image(convert(Tensor(type, shape, read, std::move(stages)), result));
}

Tensor convolution(const Tensor &x, const Tensor &strips, int results, const Window &window,
                   Type sums, int groups) {
  return strips_convolution(x, strips, results, window, sums, groups, {});
}

}  // namespace polyhalite::ops
