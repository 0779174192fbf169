// Attention: every query's mean of the values, weighted by the softmax of its products with the
// keys.
#include <cmath>

#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

void require_shapes(const Tensor &q, const Tensor &k, const Tensor &v) {
  const bool ranks = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
  if (!ranks || !may_be_equal(q.size(0), k.size(0)) || !may_be_equal(k.size(0), v.size(0)) ||
      !may_be_equal(k.size(1), v.size(1)) || !may_be_equal(q.size(3), k.size(3)) ||
      !may_be_equal(k.size(2), v.size(2))) {
    user_error("queries, keys and values do not meet",
               "they are [image, head, query, size], [image, key head, key, size] and "
               "[image, key head, key, value size]",
               "reshape or transpose them to that");
  }
  const auto heads = constant(q.size(1)), shared = constant(k.size(1));
  if (!heads || !shared || *shared < 1 || *heads % *shared != 0) {
    user_error("the queries' heads are no multiple of the keys'",
               "each head of keys serves as many heads of queries as the others",
               "make both constants of which one divides the other");
  }
}

}  // namespace

Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v, const Attention &how) {
  require_shapes(q, k, v);
  const Type type = computed_type(q.type());
  const Expr queries = q.size(2), keys = k.size(2), size = q.size(3);
  const int shared = static_cast<int>(*constant(q.size(1)) / *constant(k.size(1)));
  const Expr scale =
      how.scale.defined() ? cast(type, how.scale) : cast(type, Expr(1)) / sqrt(cast(type, size));
  Var c("c"), key("key"), row("row"), head("head"), image("image"), d("d");
  const auto of_keys = [shared](const Expr &h) { return shared == 1 ? h : h / shared; };

  Func turned("turned");
  turned(key, d, head, image) = cast(type, k({image, head, key, d}));
  RDom r(0, size, "r");
  Func scores("scores");
  scores(key, row, head, image) = cast(type, Expr(0));
  scores(key, row, head, image) +=
      cast(type, q({image, head, row, r})) * turned(key, r, of_keys(head), image);
  Func seen("seen");
  Expr score = scores(key, row, head, image) * scale;
  if (how.causal) score = select(key <= row + (keys - queries), score, type.min());
  seen(key, row, head, image) = score;

  RDom all(0, keys, "keys"), each(0, keys, "each"), again(0, keys, "again");
  Func peak("peak"), weights("weights"), total("total"), sums("sums");
  peak(row, head, image) = type.min();
  peak(row, head, image) = max(peak(row, head, image), seen(all, row, head, image));
  // The first ones of more queries than keys see none.
  const auto known_keys = constant(keys), known_queries = constant(queries);
  const bool may_see_none =
      how.causal && !(known_keys && known_queries && *known_keys >= *known_queries);
  const Expr largest = peak(row, head, image);
  weights(key, row, head, image) = exp_of_nonpositive(
      seen(key, row, head, image) - (may_see_none ? number_below(largest) : largest));
  total(row, head, image) = cast(type, Expr(0));
  total(row, head, image) += weights(each, row, head, image);
  sums(c, row, head, image) = cast(type, Expr(0));
  sums(c, row, head, image) +=
      weights(again, row, head, image) * cast(type, v({image, of_keys(head), again, c}));
  Func attended("attended");
  const Expr sum = total(row, head, image);
  const Expr share = cast(type, Expr(1)) / (may_see_none ? above_zero(sum) : sum);
  attended(c, row, head, image) = cast(q.type(), sums(c, row, head, image) * share);

  Stage own;
  own.kind = Stage::Attention;
  own.parts = {turned, scores, seen, peak, weights, total, sums};
  own.rvars = {r[0], all[0], each[0], again[0]};
  own.groups = shared;
  const Index shape{q.size(0), q.size(1), queries, v.size(3)};
  own.extents = reversed(shape);
  own.dims = reversed_dims(4);
  return tensor_of(attended, q.type(), shape, own, merged_stages({q, k, v}));
}

}  // namespace polyhalite::ops
