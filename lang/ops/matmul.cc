// Products of matrices.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

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
  const Type type = sums == Type() ? computed_type(a.type()) : sums;
  const Type result = sums == Type() ? a.type() : sums;
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
  RDom k(0, a.size(-1), "k");
  // The right operand in a Func of its own, so that a schedule can lay out the columns of a tile
  // side by side; of its own type, as dot products want it.
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
  right(right_args) = element(b, point, depth, column);
  product(reversed(vars)) = cast(type, Expr(0));
  // A schedule may compute rows beyond an open number of them.
  const Expr rows = a.size(-2);
  const Expr inside = constant(rows) ? row : clamp(row, 0, rows - 1);
  product(reversed(vars)) += widened(element(a, point, inside, k)) * widened(right(right_point));

  Stage operand;
  operand.kind = Stage::Operand;
  operand.func = right;
  std::vector<Stage> stages = merged_stages({a, b});
  stages.push_back(operand);
  Stage own;
  own.kind = Stage::Product;
  own.extents = reversed(shape);
  own.rvars = {k};
  own.dims = reversed_dims(static_cast<int>(shape.size()));
  return convert(tensor_of(product, type, shape, own, std::move(stages)), result);
}

}  // namespace polyhalite::ops
