// Attention and what belongs to it.
#include <cmath>
#include <optional>

#include "apps/onnx/operators.h"
#include "lang/ir/node.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

// [image, position, heads*width]  ->  [image, head, position, width]
Shape headed_shape(const Shape &s, const Dim &heads) {
  if (s.size() == 4) return s;
  return {s[0], heads, s[1], Dim::floor_div(s[2], heads)};
}
Tensor headed(const Tensor &x, const Index &shape) {
  if (x.rank() == 4) return x;
  const Expr width = shape[3];
  return Tensor(
      x.type(), shape,
      [x, width](const Index &at) { return x({at[0], at[2], at[1] * width + at[3]}); },
      x.detached_stages());
}

struct AttentionShapes {
  Shape query, key, value;  // with heads, and with what was before
  Shape result;
};

template <typename Context>
AttentionShapes attention_shapes(const Context &c, bool has_past, const Shape &past_key) {
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size()) {
    c.fail("its operands have rank " + std::to_string(q.size()), "they have equal ranks, 3 or 4");
  }
  const int64_t q_heads = c.node().integer("q_num_heads", 0);
  const int64_t kv_heads = c.node().integer("kv_num_heads", 0);
  if (q.size() == 3 && (q_heads < 1 || kv_heads < 1))
    c.fail("the numbers of heads are missing", "operands of rank 3 need them");
  AttentionShapes s;
  s.query = headed_shape(q, q.size() == 4 ? q[1] : Dim(q_heads));
  s.key = headed_shape(k, q.size() == 4 ? k[1] : Dim(kv_heads));
  s.value = headed_shape(v, q.size() == 4 ? v[1] : Dim(kv_heads));
  if (has_past) {
    s.key[2] = s.key[2] + past_key[2];
    s.value[2] = s.value[2] + past_key[2];
  }
  s.result = {s.query[0], s.query[1], s.query[2], s.value[3]};
  if (q.size() == 3) s.result = {q[0], q[1], s.query[1] * s.value[3]};
  return s;
}

// How far from its own position a query sees keys, in either direction; unbounded where undefined.
struct Reach {
  std::optional<int> left, right;
  bool bounded() const { return left || right; }
};

template <typename Context>
Reach reach_of(const Context &c) {
  constexpr int64_t kEverywhere = int64_t{1} << 30;  // sums with positions stay in 32 bits
  const auto window = [&](const char *side) -> std::optional<int> {
    const int64_t size = c.node().integer(side, -1);
    if (size < -1) {
      c.fail(std::string(side) + " is " + std::to_string(size),
             "windows have 0 or more keys on a side, or -1: all of them");
    }
    if (size == -1 || size >= kEverywhere) return std::nullopt;
    return static_cast<int>(size);
  };
  Reach r{window("left_window_size"), window("right_window_size")};
  if (c.node().integer("is_causal", 0) != 0) r.right = 0;
  return r;
}

// What was before is [image, head, position, width], of keys and of values.
void require_past(const Inference &i) {
  if (i.has(4) != i.has(5))
    i.fail("it has past " + std::string(i.has(4) ? "keys" : "values") + " alone",
           "each key has a value");
  if (!i.has(4)) return;
  i.require_rank(4, 4, 4);
  i.require_rank(5, 4, 4);
  i.require_equal(i.shape(4)[2], i.shape(5)[2], "numbers of past keys and values");
}

void infer_attention(Inference &i) {
  require_past(i);
  reach_of(i);
  const AttentionShapes s = attention_shapes(i, i.has(4), i.has(4) ? i.shape(4) : Shape());
  const int64_t heads = i.number(s.query[1]), served = i.number(s.key[1]);
  if (served < 1 || heads % served != 0) {
    i.fail("there are " + std::to_string(heads) + " heads of queries and " +
               std::to_string(served) + " of keys",
           "each head of keys serves a number of heads of queries");
  }
  i.require_equal(s.key[1], s.value[1], "heads of keys and of values");
  i.require_equal(s.key[2], s.value[2], "numbers of keys and values");
  i.require_equal(s.query[3], s.key[3], "sizes of a head's queries and keys");
  if (i.has(4)) {
    for (const auto &[past, now] : {std::pair{4, &s.key}, {5, &s.value}}) {
      for (const size_t d : {1, 3})
        i.require_equal(i.shape(past)[d], (*now)[d], "sizes of what was before and what is now");
    }
  }
  i.number(s.query[3]);
  if (i.has(3)) {
    const Shape &mask = i.shape(3);
    if (mask.empty() || mask.size() > 4)
      i.fail("its mask has rank " + std::to_string(mask.size()),
             "it has keys, and perhaps queries, heads and images");
    // Fewer keys are those that are seen.
    const auto beyond = (mask.back() - s.key[2]).constant();
    if (beyond && *beyond > 0) {
      i.fail("its mask has " + mask.back().to_string() + " keys, of " + s.key[2].to_string(),
             "it has a place for each key, or for the first ones");
    }
    const Shape scores{s.query[0], s.query[1], s.query[2]};
    const size_t offset = 4 - mask.size();
    for (size_t d = 0; d + 1 < mask.size(); d++) {
      if (!mask[d].is(1)) i.require_equal(mask[d], scores[offset + d], "sizes of mask and scores");
    }
  }
  if (i.has(6)) {
    i.require_rank(6, 1, 1);
    i.require_equal(i.shape(6)[0], s.query[0], "numbers of lengths and of images");
  }
  if (i.has(7)) {
    i.require_rank(7, 1, 1);
    i.require_equal(i.shape(7)[0], s.query[1], "sizes of sinks and heads");
  }
  i.result(0, i.type(0), s.result);
  i.result(1, i.type(1), s.key);
  i.result(2, i.type(2), s.value);
  i.result(3, i.type(0), {s.query[0], s.query[1], s.query[2], s.key[2]});
}

// As if each head had one more key, of a score that it always has, and no value.
Tensor softmax_with_sink(const Tensor &scores, const Tensor &sink) {
  Index shape = scores.shape();
  const Expr keys = shape[3];
  shape[3] = keys + 1;
  const Tensor all =
      ops::softmax(Tensor(
                       scores.type(), shape,
                       [=](const Index &at) {
                         const Expr score = scores({at[0], at[1], at[2], min(at[3], keys - 1)});
                         return select(at[3] < keys, score, cast(score.type(), sink({at[1]})));
                       },
                       scores.detached_stages()),
                   {3});
  return Tensor(
      all.type(), scores.shape(), [all](const Index &at) { return all(at); },
      all.detached_stages());
}

// Scores, -inf where a query does not see a key. Query i of an image stands at place i behind what
// was before, or, where an image has a length, such that its last query stands at its last key.
Tensor seen(const Lowering &l, const Tensor &scores, const Reach &reach) {
  const Tensor mask = l.has(3) ? l.in(3) : Tensor(), lengths = l.has(6) ? l.in(6) : Tensor();
  const bool has_past = l.has(4);
  const Expr past = has_past ? l.size(l.shape(4)[2]) : Expr(0), queries = scores.size(2);
  // Keys behind the last query's are no keys.
  const bool ends = lengths.defined() && (has_past || !reach.right || *reach.right > 0);
  // Masks of fewer keys came with version 24: before, one key stands for all.
  const bool one_is_all = l.node().version < 24;
  return Tensor(
      scores.type(), scores.shape(),
      [=](const Index &at) {
        Expr value = scores(at);
        const Expr low = value.type().min();
        if (mask.defined()) {
          // Aligned at the last dimension; keys beyond the mask are masked.
          Index from;
          const size_t offset = 4 - mask.shape().size();
          Expr within;
          for (size_t d = 0; d < mask.shape().size(); d++) {
            const Expr size = mask.shape()[d];
            const bool keys = offset + d == 3;
            int64_t one = 0;
            if (is_const_int(size, &one) && one == 1 && (!keys || one_is_all)) {
              from.emplace_back(0);
            } else if (keys) {
              within = at[3] < size;
              from.push_back(min(at[3], size - 1));
            } else {
              from.push_back(at[offset + d]);
            }
          }
          const Expr m = mask(from);
          if (mask.type().is_bool()) {
            value = select(m, value, low);
          } else {
            // What is masked stays so where the score is no number.
            const Expr added = cast(value.type(), m);
            value = select(added == low, low, value + added);
          }
          if (within.defined()) value = select(within, value, low);
        }
        const Expr length = lengths.defined() ? cast<int32_t>(lengths({at[0]})) : Expr();
        const Expr first = has_past || !length.defined() ? past : length - queries;
        if (reach.right) value = select(at[3] - (first + *reach.right) > at[2], low, value);
        if (reach.left) value = select(at[3] - (first - *reach.left) < at[2], low, value);
        if (ends) value = select(at[3] < length, value, low);
        return value;
      },
      scores.stages());
}

// Operand 7, which the standard's operator has not, are sinks of heads.
std::vector<Tensor> lower_attention(Lowering &l) {
  const Node &n = l.node();
  const AttentionShapes s = attention_shapes(l, l.has(4), l.has(4) ? l.shape(4) : Shape());
  auto split = [&](size_t i) {
    const Shape &from = l.shape(i);
    Shape shape = i == 0 ? s.query : i == 1 ? s.key : s.value;
    shape[2] = from[from.size() == 4 ? 2 : 1];
    return headed(l.in(i), l.sizes(shape));
  };
  const Tensor q = split(0);
  Tensor k = split(1), v = split(2);
  if (l.has(4)) k = ops::concat({l.in(4), k}, 2);
  if (l.has(5)) v = ops::concat({l.in(5), v}, 2);
  const Tensor present_key = k, present_value = v;
  // Query heads in groups share a head of keys and values.
  const int64_t q_heads = l.number(s.query[1]);
  const int share = static_cast<int>(q_heads / l.number(s.key[1]));
  auto shared = [&](const Tensor &t) {
    if (share == 1) return t;
    Index shape = t.shape();
    shape[1] = static_cast<int>(q_heads);
    return Tensor(
        t.type(), shape,
        [t, share](const Index &at) { return t({at[0], at[1] / share, at[2], at[3]}); },
        t.detached_stages());
  };
  k = shared(k);
  v = shared(v);
  const Type type = q.type() == Float(64) ? Float(64) : Float(32);
  const double scale = n.has("scale") ? static_cast<double>(n.real("scale", 1))
                                      : 1 / std::sqrt(static_cast<double>(l.number(s.query[3])));
  Tensor scores =
      ops::matmul(ops::convert(q, type), ops::transpose(ops::convert(k, type), {0, 1, 3, 2}));
  scores = ops::elementwise(scores, [scale](Expr e) { return e * cast(e.type(), Expr(scale)); });
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  // Version 23 put the mask before the cap; both say so through the mode's numbers.
  Tensor reported = scores;
  const float cap = n.real("softcap", 0);
  if (cap > 0) {
    scores = ops::elementwise(scores, [cap](Expr e) {
      return tanh(e / cast(e.type(), Expr(cap))) * cast(e.type(), Expr(cap));
    });
  }
  if (mode == 1) reported = scores;
  const Reach reach = reach_of(l);
  const Tensor mask = l.has(3) ? l.in(3) : Tensor(), lengths = l.has(6) ? l.in(6) : Tensor();
  if (reach.bounded() || mask.defined() || lengths.defined()) scores = seen(l, scores, reach);
  if (mode == 2) reported = scores;
  const Tensor wide =
      n.integer("softmax_precision", 0) == static_cast<int64_t>(ElementType::Float64)
          ? ops::convert(scores, Float(64))
          : scores;
  const bool may_see_nothing = mask.defined() || lengths.defined() || reach.left;
  const Tensor shares = l.has(7)          ? softmax_with_sink(wide, l.in(7))
                        : may_see_nothing ? ops::softmax_or_zero(wide, {3})
                                          : ops::softmax(wide, {3});
  const Tensor weights = ops::convert(shares, type);
  if (mode == 3) reported = weights;
  // Kept: each weight meets every column of the values.
  const Tensor product = ops::matmul(ops::stored(weights, "weights"), ops::convert(v, type));
  Tensor y = ops::convert(product, l.result_type(0));
  if (l.rank(0) == 3) {
    const Expr size = product.size(3);
    const Tensor heads = y;
    y = Tensor(
        y.type(), l.result_sizes(0),
        [heads, size](const Index &at) {
          return heads({at[0], at[2] / size, at[1], at[2] % size});
        },
        heads.detached_stages());
  }
  return {y, present_key, present_value,
          ops::convert(reported, l.wants(3) ? l.result_type(3) : type)};
}

template <typename Context>
int64_t rotated_width(const Context &c) {
  if (c.rank(0) == 4) return c.number(c.shape(0)[3]);
  const int64_t heads = c.node().integer("num_heads", 0);
  if (c.rank(0) != 3 || heads < 1)
    c.fail("num_heads is " + std::to_string(heads), "operands of rank 3 have at least one head");
  return c.number(Dim::floor_div(c.shape(0)[2], heads));
}
void infer_rotary(Inference &i) {
  rotated_width(i);
  i.result(0, i.type(0), i.shape(0));
}

// Pairs of elements turned by an angle of their position.
std::vector<Tensor> lower_rotary(Lowering &l) {
  const Node &n = l.node();
  const Tensor x = l.in(0), cosines = l.in(1), sines = l.in(2);
  const Tensor positions = l.has(3) ? l.in(3) : Tensor();
  const bool flat = l.rank(0) == 3;
  const int whole = static_cast<int>(rotated_width(l));
  int turned = static_cast<int>(n.integer("rotary_embedding_dim", 0));
  if (turned == 0) turned = whole;
  const int half = turned / 2;
  const bool interleaved = n.integer("interleaved", 0) != 0;
  return {Tensor(
      x.type(), x.shape(),
      [=](const Index &at) {
        const Expr e = flat ? at[2] % whole : at[3];
        const Expr image = at[0], position = flat ? at[1] : at[2];
        auto element = [&](const Expr &place) {
          return flat ? x({at[0], at[1], clamp(at[2] - e + place, 0, x.size(2) - 1)})
                      : x({at[0], at[1], at[2], place});
        };
        const Expr pair = clamp(interleaved ? e / 2 : e % half, 0, half - 1);
        const Expr second = interleaved ? e % 2 == 1 : e >= half;
        const Expr first_place = interleaved ? pair * 2 : pair;
        const Expr second_place = interleaved ? pair * 2 + 1 : pair + half;
        auto angle = [&](const Tensor &table) {
          if (!positions.defined()) return table({image, position, pair});
          return table(
              {clamp(cast<int32_t>(positions({image, position})), 0, table.size(0) - 1), pair});
        };
        const Type type = x.type().bits() < 32 ? Float(32) : x.type();
        const Expr a = cast(type, element(first_place)), b = cast(type, element(second_place));
        const Expr c = cast(type, angle(cosines)), s = cast(type, angle(sines));
        const Expr value = cast(x.type(), select(second, s * a + c * b, c * a - s * b));
        return turned == whole ? value : select(e < turned, value, x(at));
      },
      x.detached_stages())};
}

// Keys or values [batch, heads, positions, width] behind those of the past, of which each sequence
// has `before`[batch, 1], in as many places as there are steps: the past may have room for more
// than it has. Places behind the last one are 0, since what anything there is times 0 need not be.
void infer_behind_past(Inference &i) {
  i.require_rank(0, 4, 4);
  i.require_rank(2, 1, 1);
  Shape shape = i.shape(0);
  shape[2] = i.shape(2)[0];
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_behind_past(Lowering &l) {
  const Tensor fresh = l.in(0), before = l.in(1), past = l.has(3) ? l.in(3) : Tensor();
  const Expr count = fresh.size(2);
  return {Tensor(
      fresh.type(), l.result_sizes(0),
      [=](const ops::Index &at) {
        const Expr had = cast<int32_t>(before({at[0], 0})), place = at[2] - had;
        const Expr own = fresh({at[0], at[1], clamp(place, 0, count - 1), at[3]});
        const Expr nothing = cast(fresh.type(), Expr(0));
        const Expr behind = select(place < count, own, nothing);
        if (!past.defined()) return select(place < 0, nothing, behind);
        const Expr room = past.size(2);
        const Expr old = past({at[0], at[1], clamp(at[2], 0, max(room - 1, 0)), at[3]});
        return select(place < 0, old, behind);
      },
      ops::merged_stages({fresh, before}))};
}

}  // namespace

std::vector<Operator> attention_operators() {
  return {
      {"", "Attention", Operator::Other, infer_attention, lower_attention},
      {"", "RotaryEmbedding", Operator::Other, infer_rotary, lower_rotary},
      {kInternalDomain, "BehindPast", Operator::Other, infer_behind_past, lower_behind_past},
  };
}

}  // namespace polyhalite::onnx
