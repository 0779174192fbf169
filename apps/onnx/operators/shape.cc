// Operators on shapes, and views: the same elements in another shape.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

void infer_identity(Inference &i) {
  i.result(0, i.type(0), i.shape(0));
  if (const auto known = i.known_sizes(0); known && i.rank(0) <= 1) i.contents(0, *known);
}

std::vector<Tensor> lower_view(Lowering &l) { return {ops::reshape(l.in(0), l.result_sizes(0))}; }

std::vector<Tensor> lower_turn(Lowering &l) { return {l.in(0)}; }

void infer_reshape(Inference &i) {
  const std::vector<Dim> wanted = i.sizes(1);
  const Shape &from = i.shape(0);
  const bool zero_is_zero = i.node().integer("allowzero", 0) != 0;
  Shape shape;
  int rest = -1;
  Dim known = 1;
  for (size_t d = 0; d < wanted.size(); d++) {
    if (wanted[d].is(-1)) {
      if (rest >= 0) i.fail("two sizes of the new shape are -1", "one size can be left open");
      rest = static_cast<int>(d);
      shape.emplace_back(1);
      continue;
    }
    if (wanted[d].is(0) && !zero_is_zero) {
      if (d >= from.size())
        i.fail("size " + std::to_string(d) + " of the new shape is 0",
               "the operand has no such dimension");
      shape.push_back(from[d]);
    } else {
      shape.push_back(wanted[d]);
    }
    known = known * shape.back();
  }
  const Dim all = elements(from);
  if (rest >= 0) {
    shape[static_cast<size_t>(rest)] = known.is(0) ? Dim(0) : Dim::floor_div(all, known);
  }
  i.require_equal(elements(shape), all,
                  "elements of " + to_string(shape) + " and of " + to_string(from));
  i.result(0, i.type(0), shape);
  if (const auto c = i.known_sizes(0); c && shape.size() <= 1) i.contents(0, *c);
}

void infer_flatten(Inference &i) {
  const Shape &from = i.shape(0);
  const int64_t a = i.node().integer("axis", 1);
  const int64_t rank = i.rank(0);
  if (a < -rank || a > rank) i.fail("axis " + std::to_string(a), "axes are from -rank to rank");
  const auto split = from.begin() + (a < 0 ? a + rank : a);
  i.result(0, i.type(0),
           {elements(Shape(from.begin(), split)), elements(Shape(split, from.end()))});
}

void infer_squeeze(Inference &i) {
  const Shape &from = i.shape(0);
  std::vector<int> axes;
  if (i.has(1)) {
    axes = i.axes(i.integers(1), i.rank(0));
  } else {
    for (size_t d = 0; d < from.size(); d++) {
      if (from[d].is(1)) axes.push_back(static_cast<int>(d));
    }
  }
  Shape shape;
  for (size_t d = 0; d < from.size(); d++) {
    if (std::count(axes.begin(), axes.end(), static_cast<int>(d)) == 0) {
      shape.push_back(from[d]);
    } else {
      i.require_equal(from[d], 1, "size " + std::to_string(d) + " and 1");
    }
  }
  i.result(0, i.type(0), shape);
  if (const auto c = i.known_sizes(0); c && shape.size() <= 1) i.contents(0, *c);
}

void infer_unsqueeze(Inference &i) {
  const std::vector<int64_t> list = i.integers(1);
  const int rank = i.rank(0) + static_cast<int>(list.size());
  std::vector<int> axes = i.axes(list, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    i.fail("an axis is named twice", "each new dimension stands once");
  }
  Shape shape = i.shape(0);
  for (int a : axes) shape.insert(shape.begin() + a, Dim(1));
  i.result(0, i.type(0), shape);
  if (const auto c = i.known_sizes(0); c && shape.size() <= 1) i.contents(0, *c);
}

// What drops elements is written as other nodes.
void infer_dropout(Inference &i) {
  i.result(0, i.type(0), i.shape(0));
  i.result(1, i.node().version < 10 ? i.type(0) : ElementType::Bool, i.shape(0));
}

std::vector<Tensor> lower_dropout(Lowering &l) {
  const Type mask = l.wants(1) ? l.result_type(1) : Bool();
  return {l.in(0), Tensor(mask, l.in(0).shape(),
                          [mask](const ops::Index &) { return cast(mask, Expr(1)); })};
}

void infer_shape(Inference &i) {
  const Shape &from = i.shape(0);
  const int64_t rank = i.rank(0);
  auto clamped = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t begin = clamped(i.node().integer("start", 0));
  const int64_t end = std::max(begin, clamped(i.node().integer("end", rank)));
  i.result(0, ElementType::Int64, {Dim(end - begin)});
  i.contents(0, std::vector<Dim>(from.begin() + begin, from.begin() + end));
}

// A tensor whose elements are sizes that the kernel gets as scalars.
std::vector<Tensor> lower_sizes(Lowering &l, const std::vector<Dim> &list) {
  std::vector<Expr> values;
  for (const Dim &d : list) values.push_back(cast<int64_t>(l.size(d)));
  return {Tensor(Int(64), l.result_sizes(0), [values](const ops::Index &at) {
    return at.empty() ? values[0] : values.empty() ? Expr(int64_t{0}) : mux(at[0], values);
  })};
}

std::vector<Tensor> lower_shape(Lowering &l) {
  const Shape &from = l.shape(0);
  const int64_t rank = static_cast<int64_t>(from.size());
  auto clamped = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t begin = clamped(l.node().integer("start", 0));
  const int64_t end = std::max(begin, clamped(l.node().integer("end", rank)));
  return lower_sizes(l, std::vector<Dim>(from.begin() + begin, from.begin() + end));
}

void infer_size(Inference &i) {
  i.result(0, ElementType::Int64, {});
  i.contents(0, {elements(i.shape(0))});
}
std::vector<Tensor> lower_size(Lowering &l) { return lower_sizes(l, {elements(l.shape(0))}); }

void infer_constant_of_shape(Inference &i) {
  ElementType type = ElementType::Float32;
  const auto at = i.node().attributes.find("value");
  const Constant *c =
      at == i.node().attributes.end() ? nullptr : std::get_if<Constant>(&at->second);
  if (c) type = c->type();
  const std::vector<Dim> sizes = i.sizes(0);
  i.result(0, type, Shape(sizes.begin(), sizes.end()));
  const auto n = elements(sizes).constant();
  if (sizes.size() <= 1 && n && *n <= 64 &&
      (type == ElementType::Int64 || type == ElementType::Int32)) {
    i.contents(0, std::vector<Dim>(static_cast<size_t>(*n), Dim(c ? c->integer_at(0) : 0)));
  }
}

// A constant as an expression of its own type.
Expr literal(const Constant &c, Type type) {
  if (type.is_float()) return cast(type, Expr(c.number(0)));
  return cast(type, Expr(c.integer_at(0)));
}

std::vector<Tensor> lower_constant_of_shape(Lowering &l) {
  const auto at = l.node().attributes.find("value");
  const Constant *c =
      at == l.node().attributes.end() ? nullptr : std::get_if<Constant>(&at->second);
  const Type type = l.result_type(0);
  const Expr value = c ? literal(*c, type) : cast(type, Expr(0));
  return {Tensor(type, l.result_sizes(0), [value](const ops::Index &) { return value; })};
}

void infer_expand(Inference &i) {
  const std::vector<Dim> to = i.sizes(1);
  i.result(0, i.type(0), broadcast(i, {i.shape(0), Shape(to.begin(), to.end())}));
}
std::vector<Tensor> lower_expand(Lowering &l) { return {ops::expand(l.in(0), l.result_sizes(0))}; }

// Nothing where there are too many.
std::optional<int64_t> range_size(const Constant &start, const Constant &limit,
                                  const Constant &step) {
  const double by = step.number(0);
  const double n = by == 0 ? 0 : std::max(0.0, std::ceil((limit.number(0) - start.number(0)) / by));
  if (!(n < 2147483647.0)) return std::nullopt;
  return static_cast<int64_t>(n);
}

// A range whose size follows from elements runs between kernels, so that one program serves all of
// its sizes.
void infer_found_range(Inference &i) { i.result(0, i.type(0), {i.fresh_size(0, "count")}); }

std::vector<Constant> compute_range(const Node &n, const std::vector<Constant> &operands) {
  for (const Constant &c : operands) {
    if (c.elements() == 1) continue;
    throw RuntimeError(
        {n.describe() + ": an operand has " + std::to_string(c.elements()) + " elements",
         "start, limit and step are numbers",
         "give tensors of shape []",
         {}});
  }
  const auto count = range_size(operands[0], operands[1], operands[2]);
  if (!count)
    throw RuntimeError(
        {n.describe() + ": it has too many elements", "sizes are below 2^31", "give others", {}});
  std::vector<uint8_t> bytes;
  const ElementType type = operands[0].type();
  for (int64_t k = 0; k < *count; k++)
    append_number(&bytes, type,
                  operands[0].number(0) + static_cast<double>(k) * operands[2].number(0));
  return {Constant::of_bytes(type, {*count}, std::move(bytes))};
}

void infer_range(Inference &i) {
  const auto known = [&](size_t k) { return i.known_sizes(k); };
  if (i.type(0) == ElementType::Int64 || i.type(0) == ElementType::Int32) {
    const auto start = known(0), limit = known(1), step = known(2);
    if (start && limit && step) {
      const auto s = (*step)[0].constant();
      if (s && *s > 0) {
        const Dim n = Dim::maximum(Dim::ceil_div((*limit)[0] - (*start)[0], (*step)[0]), 0);
        i.result(0, i.type(0), {n});
        return;
      }
    }
  }
  for (size_t k = 0; k < 3; k++) {
    if (i.in(k).constant) continue;
    i.become("Range");
    infer_found_range(i);
    return;
  }
  const auto n = range_size(*i.in(0).constant, *i.in(1).constant, *i.in(2).constant);
  if (!n) i.fail("it has too many elements", "sizes are below 2^31");
  i.result(0, i.type(0), {Dim(*n)});
}

std::vector<Tensor> lower_range(Lowering &l) {
  const Tensor start = l.in(0), step = l.in(2);
  const Type type = l.result_type(0);
  auto scalar = [](const Tensor &t) { return t(ops::Index(t.shape().size(), Expr(0))); };
  return {Tensor(type, l.result_sizes(0), [=](const ops::Index &at) {
    return scalar(start) + cast(type, at[0]) * scalar(step);
  })};
}

void infer_eye_like(Inference &i) {
  i.require_rank(0, 2, 2);
  const auto type =
      i.node().has("dtype") ? static_cast<ElementType>(i.node().integer("dtype", 1)) : i.type(0);
  i.result(0, type, i.shape(0));
}
std::vector<Tensor> lower_eye_like(Lowering &l) {
  const Type type = l.result_type(0);
  const int k = static_cast<int>(l.node().integer("k", 0));
  return {Tensor(type, l.result_sizes(0), [=](const ops::Index &at) {
    return cast(type, select(at[1] - at[0] == k, Expr(1), Expr(0)));
  })};
}

}  // namespace

std::vector<Operator> shape_operators() {
  return {
      {"", "Identity", Operator::View, infer_identity, lower_view},
      {kInternalDomain, "Turn", Operator::Pointwise, infer_identity, lower_turn},
      {"", "Reshape", Operator::View, infer_reshape, lower_view, {1}},
      {"", "Flatten", Operator::View, infer_flatten, lower_view},
      {"", "Squeeze", Operator::View, infer_squeeze, lower_view, {1}},
      {"", "Unsqueeze", Operator::View, infer_unsqueeze, lower_view, {1}},
      {"", "Dropout", Operator::Other, infer_dropout, lower_dropout, {1, 2}},
      {"", "Shape", Operator::Other, infer_shape, lower_shape},
      {"", "Size", Operator::Other, infer_size, lower_size},
      {"",
       "ConstantOfShape",
       Operator::Other,
       infer_constant_of_shape,
       lower_constant_of_shape,
       {0}},
      {"", "Expand", Operator::Other, infer_expand, lower_expand, {1}},
      {"", "Range", Operator::Other, infer_range, lower_range},
      {kInternalDomain, "Range", Operator::Host, infer_found_range, nullptr, {}, compute_range},
      {"", "EyeLike", Operator::Other, infer_eye_like, lower_eye_like},
  };
}

}  // namespace polyhalite::onnx
