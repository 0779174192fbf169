// Products of matrices.
#include "lang/ops/common.h"
#include "lang/ops/product_operands.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// Processors' dot products take so many terms of narrow numbers at once; 1: they have none.
int terms_at_once(const Type &a, const Type &b, const Type &sums) {
  const auto is_byte = [](const Type &t) { return t.is_int_or_uint() && t.bits() == 8; };
  if (is_byte(a) && is_byte(b)) return 4;
  const bool pairs = a == Int(16) && b == Int(16) && sums == Int(32);
  return pairs || (a == BFloat(16) && b == BFloat(16)) ? 2 : 1;
}

// Columns that fill a vector of a processor's dot products, which have 4, 8 or 16 sums, where few
// of them serve many rows; else as many as there are.
int64_t filled_columns(int64_t columns, int64_t rows, int terms) {
  constexpr int64_t kManyRows = 16;
  if (terms == 1 || rows < kManyRows || columns <= 1 || columns >= 64) return columns;
  return columns <= 4 ? 4 : columns <= 8 ? 8 : (columns + 15) / 16 * 16;
}

// Sizes for which one schedule serves.
struct SizeClass {
  Expr when;  // undefined: all that no class before takes
  Expr rows;
  std::vector<OpenSize> open;  // columns, rows, depth
};

// The classes of a product whose rows, columns or depth are open, the one without a condition last.
// Known sizes are one class.
std::vector<SizeClass> size_classes(const Expr &rows, const Expr &columns, const Expr &depth,
                                    const Type &sums, const Type &right, int terms) {
  const bool masks = sums.bits() >= 32 && terms == 1;
  const bool is_open = !constant(rows) || !constant(columns) || !constant(depth);
  if (!is_open || !is_fixed(rows) || !is_fixed(columns) || !is_fixed(depth))
    return {{Expr(), rows, {}}};
  std::vector<SizeClass> classes;
  auto add = [&](const Expr &when, const Expr &n, const OpenSize &of_columns,
                 const OpenSize &of_rows, const OpenSize &of_depth = {}) {
    const Expr condition = simplify(when);
    for (const SizeClass &c : classes) {
      if (!c.when.defined() || equal(c.when, condition)) return;
    }
    if (is_false(condition)) return;
    classes.push_back(
        {is_true(condition) ? Expr() : condition, n, {of_columns, of_rows, of_depth}});
  };
  // In bytes: what a strip of columns takes, a page, what a processor keeps track of the pages of.
  constexpr int kStrip = 256, kLine = 64, kPage = 4096, kTracked = 6 << 20, kNear = kNearSums;
  const int strip = kStrip / sums.bytes(), size = right.bytes();
  const Expr wide = columns >= strip;
  // Whole dot products of narrow numbers. Many rows are worth packing the right operand for. They
  // go in tiles of 4 rows or of 6, by what is computed twice.
  bool has_many = false;  // is there a class for each number of rows from 4 on?
  if (terms > 1) {
    const Expr whole = depth % terms == 0, fours = (rows + 3) / 4 * 84 <= (rows + 5) / 6 * 120;
    add(wide && rows >= 4 && whole && (rows < 8 || fours), rows, {strip, 256}, {4, 4},
        {0, 0, terms});
    add(wide && rows >= 8 && whole, rows, {strip, 256}, {8, 256}, {0, 0, terms});
    has_many = is_true(simplify(wide && whole));
    add(columns >= strip / 4 && rows >= 8 && whole, rows, {strip / 4, strip / 4}, {8, 256},
        {0, 0, terms});
  }
  // A vector with a large matrix, which is read once; its sums stay in the first cache or do not.
  const Expr large = columns >= 256 && depth >= 512;
  add(rows == 1 && large && columns <= kNear / sums.bytes(), 1, {256, 1024}, {1, 1});
  add(rows == 1 && large, 1, {256, 8192}, {1, 1});
  // A tile of `vectors` whose lanes beyond the last column are masked.
  const int lanes = strip / 4;
  const auto masked = [lanes](int vectors) {
    return OpenSize{1, vectors * lanes, 1, vectors * lanes};
  };
  const Expr some = columns >= 1;
  if (masks && !constant(columns)) {
    add(some && columns < strip && rows == 1, 1, masked(4), {1, 1});
    add(some && columns <= 2 * strip && rows == 1, 1, masked(8), {1, 1});
  }
  // Many rows read a strip of columns, or its vectors lie in two lines each, or it lies on many
  // pages: worth packing.
  const Expr scattered = depth >= 256 && (columns % (kPage / 2 / size) == 0 ||
                                          depth / 16 >= kTracked / 16 / size / columns);
  const Expr split_lines = rows >= 192 && columns % (kLine / size) != 0;
  // Narrow strips where at most half of the last wide one would be new.
  const Expr narrow = (columns - 1) % strip < strip / 2;
  const auto add_narrow = [&](int most) {
    if (constant(columns)) return;
    add(wide && rows >= 8 && columns <= most && narrow, rows, {strip / 2, strip}, {8, 64});
  };
  if (!has_many) {
    add_narrow(2 * strip);
    add(wide && rows >= 24 && (rows >= 512 || split_lines || scattered), rows, {strip, 1024},
        {24, 1024});
    add_narrow(8 * strip);
    add(wide && rows >= 24, rows, {strip, 256}, {24, 160});
    add(wide && rows >= 8, rows, {strip, 256}, {8, 64});
    add(wide && rows >= 5 && rows <= 6, rows, {strip, 256}, {3, 64});
    add(wide && rows >= 4, rows, {strip, 256}, {4, 64});
  }
  add(wide && rows == 3, 3, {strip, 256}, {3, 3});
  add(wide && rows == 2, 2, {strip, 256}, {2, 2});
  add(wide, rows, {strip, 256}, {1, 1});
  // Very few columns: vectors along the sums.
  const Expr along = columns < 4 && rows >= 8 && depth >= (sums.bits() > 32 ? 64 : 48);
  add(along, rows, {1, 1}, {8, 64});
  // Few columns: of a known number all are one tile.
  if (constant(columns)) {
    add(rows >= 8, rows, {}, {8, 64});
  } else {
    const Expr filled = (columns - 1) % (2 * lanes) >= lanes;
    const OpenSize two{2 * lanes, 2 * lanes}, one_and_half{lanes * 3 / 2, lanes * 3 / 2};
    add(columns >= 2 * lanes && filled && rows >= 8, rows, two, {8, 64});
    add(columns >= 2 * lanes && rows >= 8, rows, one_and_half, {8, 64});
    add(columns >= lanes && rows >= 8, rows, {lanes, lanes}, {8, 64});
    if (masks) {
      add(some && columns <= lanes / 2 && rows >= 8, rows, {1, lanes / 2, 1, lanes / 2}, {8, 64});
      add(some && columns <= lanes && rows >= 8, rows, masked(1), {8, 64});
      for (const int vectors : {1, 2, 4}) {
        const Expr few = some && columns <= vectors * lanes;
        if (vectors > 1) {
          add(few && rows == 2, 2, masked(vectors), {2, 2});
          add(few && rows >= 5 && rows <= 6, rows, masked(vectors), {3, 64});
        }
        add(few, rows, masked(vectors), {});
      }
    } else {
      add(columns >= lanes / 4 && rows >= 8, rows, {lanes / 4, lanes / 4}, {8, 64});
    }
  }
  add(make_true(), rows, {}, {});
  return classes;
}

// The last `count` elements of x's rows, and zeros behind them: `size` together. The zeros come
// first, so that elements are copied without a condition.
Tensor ends_of_rows(const Tensor &x, int from, int count, int size) {
  Index shape = x.shape();
  shape.back() = size;
  const std::vector<Var> vars = index_vars(x.rank());
  std::vector<Var> args = reversed(vars);
  RDom k(0, count, "k");
  Index at = as_index(vars), to = at;
  at.back() = from + k;
  to.back() = k;
  Func ends("ends");
  ends(args) = cast(x.type(), Expr(0));
  ends(reversed(to)) = x(at);
  Stage own;
  own.kind = Stage::Store;
  own.extents = reversed(shape);
  own.rvars = {k};
  return tensor_of(ends, x.type(), shape, own, merged_stages({x}));
}

// x with zeros below its columns, which then have `size` elements.
Tensor long_columns(const Tensor &x, int size) {
  const size_t d = x.shape().size() - 2;
  Index shape = x.shape();
  shape[d] = size;
  auto read = [x, d](Index at) {
    const Expr n = x.shape()[d], inside = at[d] < n;
    at[d] = min(likely(at[d]), n - 1);
    return select(likely(inside), x(at), cast(x.type(), Expr(0)));
  };
  return Tensor(x.type(), shape, read, x.detached_stages());
}

}  // namespace

Tensor matmul(const Tensor &a, const Tensor &b, Type sums) {
  if (a.rank() == 0 || b.rank() == 0) {
    user_error("a product of matrices has a scalar operand", "it sums over a dimension of each",
               "multiply elementwise");
  }
  if (a.rank() == 1 || b.rank() == 1) {
    const Tensor left = a.rank() == 1 ? unsqueeze(a, {0}) : a;
    const Tensor right = b.rank() == 1 ? unsqueeze(b, {1}) : b;
    const Tensor product = matmul(left, right, sums);
    Index shape = product.shape();
    if (b.rank() == 1) shape.pop_back();
    if (a.rank() == 1) shape.erase(shape.end() - (b.rank() == 1 ? 1 : 2));
    return reshape(product, shape);
  }
  if (!may_be_equal(a.size(-1), b.size(-2))) {
    user_error("a matrix of " + std::to_string(*constant(a.size(-1))) +
                   " columns is multiplied with one of " + std::to_string(*constant(b.size(-2))) +
                   " rows",
               "the sum runs over both", "transpose or reshape an operand");
  }
  const auto depth_size = constant(a.size(-1)), row_count = constant(a.size(-2));
  const Type type = sums == Type() ? computed_type(a.type()) : sums;
  const Type result = sums == Type() ? a.type() : sums;
  const int at_once = terms_at_once(a.type(), b.type(), type);
  // No processor multiplies float16 exactly: each element is widened once, not at each use. A few
  // columns would not use it again.
  constexpr int64_t kFewColumns = 16;
  const auto column_count = constant(b.size(-1));
  if (a.type() == Float(16) && type != a.type() &&
      column_count.value_or(kFewColumns) >= kFewColumns)
    return convert(matmul(stored(convert(a, type), "left"), b, type), result);
  // Matrices of other dimensions meet as scalars would.
  auto batch = [](const Tensor &t) {
    return Tensor(t.type(), Index(t.shape().begin(), t.shape().end() - 2),
                  [t](const Index &) { return cast(t.type(), Expr(0)); });
  };
  Index shape = broadcast_shape({batch(a), batch(b)});
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  auto element = [](const Tensor &t, const Index &point, const Expr &row, const Expr &column) {
    Index at;
    const size_t offset = point.size() - t.shape().size();
    for (size_t d = 0; d + 2 < t.shape().size(); d++) {
      at.push_back(is_one(t.shape()[d]) ? Expr(0) : point[offset + d]);
    }
    at.push_back(row);
    at.push_back(column);
    return t(at);
  };
  auto widened = [type](const Expr &v) { return v.type() == type ? v : cast(type, v); };

  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size()));
  const Index point = as_index(vars);
  const Expr row = point[point.size() - 2], column = point.back();
  // The sums, and their right operand in a Func of its own, so that a schedule can lay out the
  // columns of a tile side by side; of its own type where dot products want that.
  const Type packed = b.type() == Float(16) ? type : b.type();
  // Terms that are no whole dot product are one of copies with zeros behind them.
  const bool has_rest = depth_size && *depth_size % at_once != 0 && *depth_size > at_once;
  const int whole = has_rest ? static_cast<int>(*depth_size / at_once * at_once) : 0;
  const Expr depths = has_rest ? Expr(whole) : a.size(-1);
  const Tensor rest =
      has_rest ? ends_of_rows(a, whole, static_cast<int>(*depth_size - whole), at_once) : Tensor();
  const Tensor columns = has_rest ? long_columns(b, whole + at_once) : b;
  const int64_t known_columns = column_count.value_or(0);
  const int64_t filled = filled_columns(known_columns, row_count.value_or(0), at_once);
  auto sums_of = [&](const Expr &rows, std::vector<OpenSize> open) {
    const RDom k(0, depths, "k");
    Func right("right"), product("product");
    Var depth("depth");
    std::vector<Var> right_args{vars.back(), depth};
    std::vector<Expr> right_point{column, k};
    for (size_t d = shape.size() - 2; d-- > 0;) {
      // Dimensions along which the right operand repeats are none of its own.
      const int own = static_cast<int>(d) - (static_cast<int>(shape.size()) - b.rank());
      if (own < 0 || is_one(b.size(own))) continue;
      right_args.push_back(vars[d]);
      right_point.push_back(point[d]);
    }
    const bool masked = !open.empty() && open[0].most > 0;
    const bool has_idle = masked || filled > known_columns;
    const Expr n = shape.back();
    Expr of_right = element(columns, point, depth, has_idle ? min(column, n - 1) : column);
    // Lanes beyond the last column.
    if (has_idle) of_right = select(column < n, of_right, cast(b.type(), Expr(0)));
    right(right_args) = cast(packed, of_right);
    product(reversed(vars)) = cast(type, Expr(0));
    // A schedule may compute rows beyond an open number of them.
    const bool beyond = !constant(rows) && (open.empty() || open[1].least <= 1);
    const Expr inside = beyond ? clamp(row, 0, rows - 1) : row;
    product(reversed(vars)) += widened(element(a, point, inside, k)) * widened(right(right_point));
    if (has_rest) {
      const RDom last(0, at_once, "last");
      right_point[1] = whole + last;
      product(reversed(vars)) +=
          widened(element(rest, point, inside, last)) * widened(right(right_point));
    }
    Stage own;
    own.kind = Stage::Product;
    own.func = product;
    own.extents = reversed(shape);
    if (filled > known_columns) own.extents[0] = static_cast<int>(filled);
    own.extents[1] = rows;
    own.rvars = {k};
    own.dims = reversed_dims(static_cast<int>(shape.size()));
    own.parts = {right};
    // Behind those of columns and rows stand the matrices' numbers, and then the depth.
    if (!open.empty()) open.insert(open.begin() + 2, shape.size() - 2, OpenSize{});
    own.open = std::move(open);
    return own;
  };

  std::vector<Stage> choices;
  for (const SizeClass &c : size_classes(a.size(-2), b.size(-1), depths, type, packed, at_once)) {
    choices.push_back(sums_of(c.rows, c.open));
    choices.back().when = c.when;
  }
  std::vector<Stage> stages = has_rest ? merged_stages({a, rest, columns}) : merged_stages({a, b});
  if (is_packed(b, at_once)) {
    for (Stage &choice : choices) choice.parts.clear();
  } else if (choices.size() == 1) {
    Stage operand;
    operand.kind = Stage::Operand;
    operand.func = choices[0].parts[0];
    stages.push_back(operand);
    choices[0].parts.clear();
  }
  const Stage own = chosen(std::move(choices), "product_by_size");
  const Func product = own.func;
  return convert(tensor_of(product, type, shape, own, std::move(stages)), result);
}

// A convolution with one cell: rows are pixels, columns results.
Tensor matmul(const Tensor &a, const Tensor &strips, int columns, Type sums) {
  if ((a.rank() != 2 && a.rank() != 3) || strips.rank() != 3) {
    user_error("a matrix of rank " + std::to_string(a.rank()) +
                   " is multiplied with strips of rank " + std::to_string(strips.rank()),
               "they are [.., row, k], of rank 2 or 3, and [strip, k, i]",
               "reshape the matrix, and lay out the right operand with kernel_strips()");
  }
  if (a.rank() == 2) return convolution(a, strips, columns, Window{}, sums);
  Window cell;
  cell.kernel = cell.stride = cell.dilation = {1};
  cell.before = {0};
  cell.shape = {a.size(1)};
  const Tensor rows =
      convolution(transpose(a, {0, 2, 1}), unsqueeze(strips, {1}), columns, cell, sums);
  return transpose(rows, {0, 2, 1});
}

}  // namespace polyhalite::ops
