// Subscripts from data: gather and scatter.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// Negative subscripts count from the end; what lies beyond reads the last element.
Expr subscript(const Expr &raw, const Expr &size) {
  const Expr i = cast<int32_t>(raw);
  return clamp(select(i < 0, i + size, i), 0, size - 1);
}

Expr combined(Combine how, const Expr &old, const Expr &update) {
  switch (how) {
    case Combine::Add:
      return old + update;
    case Combine::Multiply:
      return old * update;
    case Combine::Min:
      return min(old, update);
    case Combine::Max:
      return max(old, update);
    case Combine::Replace:
      break;
  }
  return update;
}

Tensor scattered(const Tensor &x, const Tensor &indices, const Tensor &updates,
                 const Region &domain, const std::function<Index(const Index &)> &cell_of,
                 Combine combine) {
  Func f("scattered");
  const std::vector<Var> vars = index_vars(x.rank());
  f(reversed(vars)) = x(as_index(vars));
  RDom r(domain, "u");
  Index point;
  for (int d = static_cast<int>(domain.size()) - 1; d >= 0; d--) point.push_back(r[d]);
  const Index cell = cell_of(point);
  const std::vector<Expr> args = reversed(cell);
  const Expr update = updates(point);
  f(args) = combined(combine, f(args), update);
  Stage stage;
  stage.kind = Stage::InPlace;
  stage.extents = reversed(x.shape());
  return tensor_of(f, x.type(), x.shape(), stage, merged_stages({x, indices, updates}));
}

Region domain_of(const Index &shape) {
  Region region;
  for (size_t d = shape.size(); d-- > 0;) region.emplace_back(Expr(0), shape[d]);
  return region;
}

}  // namespace

Tensor gather(const Tensor &x, const Tensor &indices, int axis) {
  const size_t a = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  Index shape(x.shape().begin(), x.shape().begin() + static_cast<ptrdiff_t>(a));
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + static_cast<ptrdiff_t>(a) + 1, x.shape().end());
  const size_t count = indices.shape().size();
  auto read = [x, indices, a, count](const Index &index) {
    const auto begin = index.begin() + static_cast<ptrdiff_t>(a);
    const Index where(begin, begin + static_cast<ptrdiff_t>(count));
    Index at(index.begin(), begin);
    at.push_back(subscript(indices(where), x.shape()[a]));
    at.insert(at.end(), begin + static_cast<ptrdiff_t>(count), index.end());
    return x(at);
  };
  return Tensor(x.type(), shape, read, merged_stages({x, indices}));
}

Tensor gather_elements(const Tensor &x, const Tensor &indices, int axis) {
  const size_t a = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  auto read = [x, indices, a](const Index &index) {
    Index at = index;
    at[a] = subscript(indices(index), x.shape()[a]);
    return x(at);
  };
  return Tensor(x.type(), indices.shape(), read, merged_stages({x, indices}));
}

Tensor gather_nd(const Tensor &x, const Tensor &indices, int batch_dims, int index_size) {
  const size_t batch = static_cast<size_t>(batch_dims), length = static_cast<size_t>(index_size);
  const size_t outer = indices.shape().size() - 1;
  Index shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + static_cast<ptrdiff_t>(batch + length),
               x.shape().end());
  auto read = [x, indices, batch, length, outer](const Index &index) {
    Index at(index.begin(), index.begin() + static_cast<ptrdiff_t>(batch));
    Index where(index.begin(), index.begin() + static_cast<ptrdiff_t>(outer));
    where.emplace_back(0);
    for (size_t k = 0; k < length; k++) {
      where.back() = static_cast<int>(k);
      at.push_back(subscript(indices(where), x.shape()[batch + k]));
    }
    at.insert(at.end(), index.begin() + static_cast<ptrdiff_t>(outer), index.end());
    return x(at);
  };
  return Tensor(x.type(), shape, read, merged_stages({x, indices}));
}

Tensor scatter_elements(const Tensor &x, const Tensor &indices, const Tensor &updates, int axis,
                        Combine combine) {
  const size_t a = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  return scattered(
      x, indices, updates, domain_of(indices.shape()),
      [&](const Index &point) {
        Index cell = point;
        cell[a] = subscript(indices(point), x.shape()[a]);
        return cell;
      },
      combine);
}

Tensor scatter_nd(const Tensor &x, const Tensor &indices, const Tensor &updates, int index_size,
                  Combine combine) {
  // One cell: a list of one.
  if (indices.rank() == 1)
    return scatter_nd(x, unsqueeze(indices, {0}), unsqueeze(updates, {0}), index_size, combine);
  const size_t outer = indices.shape().size() - 1;
  return scattered(
      x, indices, updates, domain_of(updates.shape()),
      [&](const Index &point) {
        Index where(point.begin(), point.begin() + static_cast<ptrdiff_t>(outer));
        where.emplace_back(0);
        Index cell;
        for (int k = 0; k < index_size; k++) {
          where.back() = k;
          cell.push_back(subscript(indices(where), x.shape()[static_cast<size_t>(k)]));
        }
        cell.insert(cell.end(), point.begin() + static_cast<ptrdiff_t>(outer), point.end());
        return cell;
      },
      combine);
}

}  // namespace polyhalite::ops
