// Operators that move elements: slices, padding, gathering, scattering.
#include <algorithm>
#include <numeric>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

std::vector<int> permutation_of(const Node &n, int rank) {
  std::vector<int> p;
  for (int64_t a : n.integers("perm")) p.push_back(static_cast<int>(a < 0 ? a + rank : a));
  if (p.empty() && !n.has("perm")) {
    for (int d = rank; d-- > 0;) p.push_back(d);
  }
  return p;
}

void infer_transpose(Inference &i) {
  const std::vector<int> p = permutation_of(i.node(), i.rank(0));
  std::vector<int> sorted = p, all(static_cast<size_t>(i.rank(0)));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) i.fail("perm is no permutation of the dimensions", "each stands there once");
  Shape shape;
  for (int d : p) shape.push_back(i.shape(0)[static_cast<size_t>(d)]);
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_transpose(Lowering &l) {
  return {ops::transpose(l.in(0), permutation_of(l.node(), l.rank(0)))};
}

// Where a slice begins, its steps and its size, for each dimension.
struct SliceRange {
  std::vector<Dim> start;
  std::vector<int> step;
  Shape shape;
};

template <typename Context>
SliceRange slice_range(const Context &c, const Shape &from,
                       const std::function<std::vector<Dim>(size_t)> &sizes,
                       const std::function<std::vector<int64_t>(size_t)> &integers) {
  SliceRange r{std::vector<Dim>(from.size()), std::vector<int>(from.size(), 1), from};
  const std::vector<Dim> starts = sizes(1), ends = sizes(2);
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.has(3)) axes = integers(3);
  if (c.has(4)) steps = integers(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    c.fail("starts, ends, axes and steps have different lengths", "each axis has one of each");
  }
  for (size_t k = 0; k < starts.size(); k++) {
    const size_t d = static_cast<size_t>(c.axis(axes[k], static_cast<int>(from.size())));
    if (d >= from.size()) c.fail("axis " + std::to_string(axes[k]), "the operand has none");
    const Dim n = from[d];
    if (steps[k] == 0) c.fail("step 0", "steps are not 0");
    // Larger ones step over all sizes, too.
    const int64_t step = std::clamp<int64_t>(steps[k], -INT32_MAX, INT32_MAX);
    // Negative positions count from the end; both are held within the dimension.
    auto position = [&](const Dim &v, int64_t low, int64_t beyond) -> Dim {
      const auto number = v.constant();
      if (number && *number >= INT32_MAX) return n + beyond;
      if (number && *number < -INT32_MAX) return low;
      // Of a size that is subtracted 0 would be the front, but nobody wants the last none.
      const bool behind = (Dim(0) - v).lower_bound().value_or(-1) >= (number ? 1 : 0);
      const bool in_front = v.lower_bound().value_or(-1) >= 0;
      // 1 where v turns out to be below 0.
      const Dim is_negative = Dim::minimum(Dim::maximum(Dim(0) - v, 0), 1);
      const Dim from_end = behind ? Dim(1) : in_front ? Dim(0) : is_negative;
      return Dim::maximum(Dim::minimum(v + n * from_end, n + beyond), low);
    };
    const Dim begin = step > 0 ? position(starts[k], 0, 0) : position(starts[k], 0, -1);
    const Dim end = step > 0 ? position(ends[k], 0, 0) : position(ends[k], -1, -1);
    r.start[d] = begin;
    r.step[d] = static_cast<int>(step);
    r.shape[d] = Dim::maximum(
        step > 0 ? Dim::ceil_div(end - begin, step) : Dim::ceil_div(begin - end, -step), 0);
  }
  return r;
}

void infer_slice(Inference &i) {
  const SliceRange r = slice_range(
      i, i.shape(0), [&](size_t k) { return i.sizes(k); }, [&](size_t k) { return i.integers(k); });
  i.result(0, i.type(0), r.shape);
  const auto known = i.known_sizes(0);
  const auto begin = i.rank(0) == 1 ? r.start[0].constant() : std::nullopt;
  const int64_t n = i.rank(0) == 1 ? r.shape[0].constant().value_or(-1) : -1;
  if (!known || !begin || n < 0) return;
  std::vector<Dim> list;
  for (int64_t k = 0; k < n; k++)
    list.push_back((*known)[static_cast<size_t>(*begin + k * r.step[0])]);
  i.contents(0, list);
}
std::vector<Tensor> lower_slice(Lowering &l) {
  const SliceRange r = slice_range(
      l, l.shape(0), [&](size_t k) { return l.known_sizes(k); },
      [&](size_t k) { return l.integers(k); });
  return {ops::slice(l.in(0), l.sizes(r.start), r.step, l.sizes(r.shape))};
}

std::vector<Dim> split_sizes(const Dim &n, size_t parts,
                             const std::optional<std::vector<Dim>> &given) {
  if (given) return *given;
  std::vector<Dim> sizes;
  // Equal parts, the last one smaller.
  const Dim each = Dim::ceil_div(n, static_cast<int64_t>(parts));
  for (size_t k = 0; k + 1 < parts; k++) sizes.push_back(each);
  sizes.push_back(n - each * Dim(static_cast<int64_t>(parts) - 1));
  return sizes;
}

void infer_split(Inference &i) {
  const size_t a = static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(0)));
  std::optional<std::vector<Dim>> given;
  if (i.has(1)) given = i.sizes(1);
  const std::vector<Dim> sizes = split_sizes(i.shape(0)[a], i.outputs(), given);
  if (sizes.size() != i.outputs())
    i.fail("it has " + std::to_string(i.outputs()) + " outputs",
           "there are " + std::to_string(sizes.size()) + " sizes");
  Dim sum = 0;
  for (size_t k = 0; k < sizes.size(); k++) {
    Shape shape = i.shape(0);
    shape[a] = sizes[k];
    sum = sum + sizes[k];
    i.result(k, i.type(0), shape);
  }
  i.require_equal(sum, i.shape(0)[a], "the sum of the parts and the dimension's size");
}
std::vector<Tensor> lower_split(Lowering &l) {
  const size_t a = static_cast<size_t>(l.axis(l.node().integer("axis", 0), l.rank(0)));
  std::optional<std::vector<Dim>> given;
  if (l.has(1)) given = l.known_sizes(1);
  const size_t parts = l.node().outputs.size();
  const std::vector<Dim> sizes = split_sizes(l.shape(0)[a], parts, given);
  std::vector<Tensor> results(parts);
  Dim begin = 0;
  for (size_t k = 0; k < parts; k++) {
    if (l.wants(k)) {
      ops::Index start(l.shape(0).size(), Expr(0));
      // A part without elements beside others has one that nobody reads, and lies within the whole.
      const Dim part = Dim::maximum(sizes[k], 1), rest = Dim::maximum(l.shape(0)[a] - part, 0);
      start[a] = l.size(sizes[k].constant() ? begin : Dim::minimum(begin, rest));
      results[k] = ops::slice(l.in(0), start, std::vector<int>(start.size(), 1), l.result_sizes(k));
    }
    begin = begin + sizes[k];
  }
  return results;
}

// Padding in front of and behind each dimension.
template <typename Context>
std::pair<std::vector<Dim>, std::vector<Dim>> pads_of(const Context &c, size_t rank,
                                                      const std::vector<Dim> &pads,
                                                      const std::vector<int64_t> &given_axes) {
  std::vector<int64_t> axes = given_axes;
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) {
    c.fail("it has " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) +
               " axes",
           "each axis has two");
  }
  std::vector<Dim> before(rank), after(rank);
  for (size_t k = 0; k < axes.size(); k++) {
    const size_t d = static_cast<size_t>(c.axis(axes[k], static_cast<int>(rank)));
    before[d] = pads[k];
    after[d] = pads[k + axes.size()];
  }
  return {before, after};
}

void infer_pad(Inference &i) {
  const auto [before, after] =
      pads_of(i, i.shape(0).size(), i.sizes(1), i.has(3) ? i.integers(3) : std::vector<int64_t>());
  Shape shape = i.shape(0);
  for (size_t d = 0; d < shape.size(); d++) shape[d] = shape[d] + before[d] + after[d];
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_pad(Lowering &l) {
  const auto [before, after] = pads_of(l, l.shape(0).size(), l.known_sizes(1),
                                       l.has(3) ? l.integers(3) : std::vector<int64_t>());
  const std::string mode = l.node().text("mode", "constant");
  const ops::PadMode how = mode == "edge"      ? ops::PadMode::Edge
                           : mode == "reflect" ? ops::PadMode::Reflect
                           : mode == "wrap"    ? ops::PadMode::Wrap
                                               : ops::PadMode::Constant;
  Expr value = cast(l.in(0).type(), Expr(0));
  if (l.has(2)) value = l.in(2)(ops::Index(l.in(2).shape().size(), Expr(0)));
  return {ops::pad(l.in(0), l.sizes(before), l.result_sizes(0), how, value)};
}

void infer_tile(Inference &i) {
  const std::vector<Dim> repeats = i.sizes(1);
  Shape shape = i.shape(0);
  if (repeats.size() != shape.size())
    i.fail("it has " + std::to_string(repeats.size()) + " repeats", "each dimension has one");
  for (size_t d = 0; d < shape.size(); d++) shape[d] = shape[d] * repeats[d];
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_tile(Lowering &l) { return {ops::tile(l.in(0), l.result_sizes(0))}; }

void infer_gather(Inference &i) {
  const int axis = i.axis(i.node().integer("axis", 0), i.rank(0));
  Shape shape(i.shape(0).begin(), i.shape(0).begin() + axis);
  shape.insert(shape.end(), i.shape(1).begin(), i.shape(1).end());
  shape.insert(shape.end(), i.shape(0).begin() + axis + 1, i.shape(0).end());
  i.result(0, i.type(0), shape);
  const auto known = i.known_sizes(0), at = i.known_sizes(1);
  if (!known || !at || i.rank(0) != 1 || i.rank(1) > 1) return;
  std::vector<Dim> list;
  for (const Dim &d : *at) {
    const auto k = d.constant();
    if (!k) return;
    const int64_t n = static_cast<int64_t>(known->size()), p = *k < 0 ? *k + n : *k;
    if (p < 0 || p >= n)
      i.fail("index " + std::to_string(*k), "the operand has " + std::to_string(n) + " elements");
    list.push_back((*known)[static_cast<size_t>(p)]);
  }
  i.contents(0, list);
}
std::vector<Tensor> lower_gather(Lowering &l) {
  return {ops::gather(l.in(0), l.in(1), l.axis(l.node().integer("axis", 0), l.rank(0)))};
}

void infer_gather_elements(Inference &i) {
  i.axis(i.node().integer("axis", 0), i.rank(0));
  if (i.rank(1) != i.rank(0))
    i.fail("indices have another rank than the operand", "both have the same");
  i.result(0, i.type(0), i.shape(1));
}
std::vector<Tensor> lower_gather_elements(Lowering &l) {
  return {ops::gather_elements(l.in(0), l.in(1), l.axis(l.node().integer("axis", 0), l.rank(0)))};
}

void infer_gather_nd(Inference &i) {
  i.require_rank(1, 1, INT32_MAX);
  const int64_t batch = i.node().integer("batch_dims", 0);
  const int64_t length = i.number(i.shape(1).back());
  if (batch < 0 || length < 0 || batch + length > i.rank(0) || batch >= i.rank(1)) {
    i.fail("indices of length " + std::to_string(length),
           "the operand has rank " + std::to_string(i.rank(0)));
  }
  Shape shape(i.shape(1).begin(), i.shape(1).end() - 1);
  shape.insert(shape.end(), i.shape(0).begin() + batch + length, i.shape(0).end());
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_gather_nd(Lowering &l) {
  return {ops::gather_nd(l.in(0), l.in(1), static_cast<int>(l.node().integer("batch_dims", 0)),
                         static_cast<int>(*l.shape(1).back().constant()))};
}

ops::Combine combine_of(const Node &n) {
  const std::string how = n.text("reduction", "none");
  return how == "add"   ? ops::Combine::Add
         : how == "mul" ? ops::Combine::Multiply
         : how == "min" ? ops::Combine::Min
         : how == "max" ? ops::Combine::Max
                        : ops::Combine::Replace;
}

void infer_scatter_elements(Inference &i) {
  i.axis(i.node().integer("axis", 0), i.rank(0));
  if (i.rank(1) != i.rank(0) || i.rank(2) != i.rank(0))
    i.fail("indices or updates have another rank than the operand", "all have the same");
  i.result(0, i.type(0), i.shape(0));
}
std::vector<Tensor> lower_scatter_elements(Lowering &l) {
  return {ops::scatter_elements(l.in(0), l.in(1), l.in(2),
                                l.axis(l.node().integer("axis", 0), l.rank(0)),
                                combine_of(l.node()))};
}

void infer_scatter_nd(Inference &i) {
  i.require_rank(1, 1, INT32_MAX);
  const int64_t length = i.number(i.shape(1).back());
  if (length < 0 || length > i.rank(0))
    i.fail("indices of length " + std::to_string(length),
           "the operand has rank " + std::to_string(i.rank(0)));
  i.result(0, i.type(0), i.shape(0));
}
std::vector<Tensor> lower_scatter_nd(Lowering &l) {
  return {ops::scatter_nd(l.in(0), l.in(1), l.in(2),
                          static_cast<int>(*l.shape(1).back().constant()), combine_of(l.node()))};
}

// A state that grows: updates of one time step at the position that each image has.
void infer_tensor_scatter(Inference &i) {
  i.require_rank(1, i.rank(0), i.rank(0));
  i.axis(i.node().integer("axis", -2), i.rank(0));
  if (i.has(2)) i.require_rank(2, 1, 1);
  i.result(0, i.type(0), i.shape(0));
}
std::vector<Tensor> lower_tensor_scatter(Lowering &l) {
  const Tensor x = l.in(0), update = l.in(1);
  const int rank = x.rank();
  const size_t a = static_cast<size_t>(l.axis(l.node().integer("axis", -2), rank));
  const bool circular = l.node().text("mode", "linear") == "circular";
  const Expr n = x.shape()[a], count = update.shape()[a];
  const Tensor where = l.has(2) ? l.in(2) : Tensor();
  return {Tensor(x.type(), x.shape(), [=](const ops::Index &at) {
    const Expr start = where.defined() ? cast<int32_t>(where({at[0]})) : Expr(0);
    Expr step = at[a] - start;
    if (circular) step = step % n;
    ops::Index from = at;
    from[a] = clamp(step, 0, count - 1);
    return select(step >= 0 && step < count, update(from), x(at));
  })};
}

// The blocksize of images that become, or are, blocks of pixels.
int64_t block_of(const Inference &i) {
  const int64_t b = i.node().integer("blocksize", 1);
  if (i.rank(0) != 4)
    i.fail("the operand has rank " + std::to_string(i.rank(0)), "images have rank 4");
  if (b < 1 || b > INT16_MAX) {
    i.fail("blocksize is " + std::to_string(b),
           "blocks have 1 to " + std::to_string(INT16_MAX) + " rows and columns");
  }
  return b;
}
void require_whole(const Inference &i, const Dim &size, int64_t parts, const char *what) {
  const auto n = size.constant();
  if (n && *n % parts != 0) {
    i.fail("the operand has " + std::to_string(*n) + " " + what,
           "they are a multiple of " + std::to_string(parts) + ", by the blocksize");
  }
}

void infer_depth_to_space(Inference &i) {
  const int64_t b = block_of(i);
  const Shape &s = i.shape(0);
  require_whole(i, s[1], b * b, "channels");
  i.result(0, i.type(0), {s[0], Dim::floor_div(s[1], b * b), s[2] * b, s[3] * b});
}
std::vector<Tensor> lower_depth_to_space(Lowering &l) {
  const Tensor x = l.in(0);
  const int b = static_cast<int>(l.node().integer("blocksize", 1));
  const bool crd = l.node().text("mode", "DCR") == "CRD";
  const ops::Index shape = l.result_sizes(0);
  return {Tensor(x.type(), shape, [=](const ops::Index &at) {
    const Expr row = at[2] % b, column = at[3] % b;
    const Expr channel =
        crd ? (at[1] * b + row) * b + column : (row * b + column) * shape[1] + at[1];
    return x({at[0], channel, at[2] / b, at[3] / b});
  })};
}
void infer_space_to_depth(Inference &i) {
  const int64_t b = block_of(i);
  const Shape &s = i.shape(0);
  require_whole(i, s[2], b, "rows");
  require_whole(i, s[3], b, "columns");
  i.result(0, i.type(0),
           {s[0], s[1] * Dim(b * b), Dim::floor_div(s[2], b), Dim::floor_div(s[3], b)});
}
std::vector<Tensor> lower_space_to_depth(Lowering &l) {
  const Tensor x = l.in(0);
  const int b = static_cast<int>(l.node().integer("blocksize", 1));
  const bool crd = l.node().text("mode", "DCR") == "CRD";
  return {Tensor(x.type(), l.result_sizes(0), [=](const ops::Index &at) {
    const Expr n = x.size(1), cell = crd ? at[1] % (b * b) : at[1] / n;
    const Expr channel = crd ? at[1] / (b * b) : at[1] % n;
    return x({at[0], channel, at[2] * b + cell / b, at[3] * b + cell % b});
  })};
}

void infer_trilu(Inference &i) {
  i.require_rank(0, 2, INT32_MAX);
  infer_same(i);
}
std::vector<Tensor> lower_trilu(Lowering &l) {
  const Tensor x = l.in(0);
  const bool upper = l.node().integer("upper", 1) != 0;
  const Expr k =
      l.has(1) ? cast<int32_t>(l.in(1)(ops::Index(l.in(1).shape().size(), Expr(0)))) : Expr(0);
  return {Tensor(x.type(), x.shape(), [=](const ops::Index &at) {
    const Expr column = at.back(), row = at[at.size() - 2];
    return select(upper ? column - row >= k : column - row <= k, x(at), cast(x.type(), Expr(0)));
  })};
}

void infer_one_hot(Inference &i) {
  // A depth may be a number of floats, too.
  const std::vector<Dim> depth = [&] {
    if (holds_sizes(i.type(1))) return i.sizes(1);
    const std::vector<int64_t> numbers = i.integers(1);
    return std::vector<Dim>(numbers.begin(), numbers.end());
  }();
  i.require_rank(2, 1, 1);
  Shape shape = i.shape(0);
  const int axis = i.axis(i.node().integer("axis", -1), i.rank(0) + 1);
  shape.insert(shape.begin() + axis, depth.at(0));
  i.result(0, i.type(2), shape);
}
std::vector<Tensor> lower_one_hot(Lowering &l) {
  const Tensor indices = l.in(0), values = l.in(2);
  const size_t a = static_cast<size_t>(l.axis(l.node().integer("axis", -1), l.rank(0) + 1));
  const ops::Index shape = l.result_sizes(0);
  return {Tensor(values.type(), shape, [=](const ops::Index &at) {
    ops::Index from = at;
    from.erase(from.begin() + static_cast<ptrdiff_t>(a));
    const Expr i = cast<int32_t>(indices(from));
    const Expr hot = select(i < 0, i + shape[a], i) == at[a];
    return select(hot, values({Expr(1)}), values({Expr(0)}));
  })};
}

void infer_reverse_sequence(Inference &i) {
  i.require_rank(0, 2, INT32_MAX);
  i.require_rank(1, 1, 1);
  const int64_t time = i.node().integer("time_axis", 0), batch = i.node().integer("batch_axis", 1);
  if (time < 0 || time > 1 || batch != 1 - time) {
    i.fail("time_axis and batch_axis are " + std::to_string(time) + " and " + std::to_string(batch),
           "they are 0 and 1, or 1 and 0");
  }
  i.require_equal(i.shape(0)[static_cast<size_t>(batch)], i.shape(1)[0], "sequences and lengths");
  infer_same(i);
}
std::vector<Tensor> lower_reverse_sequence(Lowering &l) {
  const Tensor x = l.in(0), lengths = l.in(1);
  const size_t time = static_cast<size_t>(l.node().integer("time_axis", 0));
  const size_t batch = static_cast<size_t>(l.node().integer("batch_axis", 1));
  return {Tensor(x.type(), x.shape(), [=](const ops::Index &at) {
    const Expr n = cast<int32_t>(lengths({at[batch]}));
    ops::Index from = at;
    from[time] = clamp(select(at[time] < n, n - 1 - at[time], at[time]), 0, x.shape()[time] - 1);
    return x(from);
  })};
}

void infer_center_crop_pad(Inference &i) {
  const std::vector<Dim> sizes = i.sizes(1);
  Shape shape = i.shape(0);
  std::vector<int64_t> axes = i.node().integers("axes");
  if (axes.empty()) {
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != sizes.size())
    i.fail("there are " + std::to_string(sizes.size()) + " sizes", "each axis has one");
  for (size_t k = 0; k < axes.size(); k++) {
    Dim &size = shape[static_cast<size_t>(i.axis(axes[k], i.rank(0)))];
    i.number(size - sizes[k]);  // where a part is left out depends on which is larger
    size = sizes[k];
  }
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_center_crop_pad(Lowering &l) {
  std::vector<Dim> before;
  for (size_t d = 0; d < l.shape(0).size(); d++) {
    const int64_t more = l.number(l.result_shape(0)[d] - l.shape(0)[d]);
    before.emplace_back(more / 2);  // of an odd difference the larger part is behind
  }
  return {ops::pad(l.in(0), l.sizes(before), l.result_sizes(0), ops::PadMode::Constant,
                   cast(l.in(0).type(), Expr(0)))};
}

}  // namespace

std::vector<Operator> movement_operators() {
  const auto other = Operator::Other;
  return {
      {"", "Transpose", other, infer_transpose, lower_transpose},
      {"", "Slice", other, infer_slice, lower_slice, {1, 2, 3, 4}},
      {"", "Split", other, infer_split, lower_split, {1}},
      {"", "Pad", other, infer_pad, lower_pad, {1, 3}},
      {"", "Tile", other, infer_tile, lower_tile, {1}},
      {"", "Gather", other, infer_gather, lower_gather},
      {"", "GatherElements", other, infer_gather_elements, lower_gather_elements},
      {"", "GatherND", other, infer_gather_nd, lower_gather_nd},
      {"", "ScatterElements", other, infer_scatter_elements, lower_scatter_elements},
      {"", "ScatterND", other, infer_scatter_nd, lower_scatter_nd},
      {"", "TensorScatter", other, infer_tensor_scatter, lower_tensor_scatter},
      {"", "DepthToSpace", other, infer_depth_to_space, lower_depth_to_space},
      {"", "SpaceToDepth", other, infer_space_to_depth, lower_space_to_depth},
      {"", "Trilu", other, infer_trilu, lower_trilu},
      {"", "OneHot", other, infer_one_hot, lower_one_hot, {1}},
      {"", "ReverseSequence", other, infer_reverse_sequence, lower_reverse_sequence},
      {"", "CenterCropPad", other, infer_center_crop_pad, lower_center_crop_pad, {1}},
  };
}

}  // namespace polyhalite::onnx
