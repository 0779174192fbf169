// Attention of com.microsoft, and what stands beside it in a transformer.
#include "apps/onnx/expansion_call.h"

namespace polyhalite::onnx {

namespace {

ValueId joined(Writer *w, const std::vector<ValueId> &parts, int64_t axis) {
  return w->op("Concat", parts, {{"axis", axis}});
}
// Places [begin, end) along an axis.
ValueId places(Writer *w, ValueId v, ValueId begin, ValueId end, int64_t axis) {
  return w->op("Slice", {v, begin, end, w->integers({axis})});
}
ValueId reshaped(Writer *w, ValueId v, const std::vector<int64_t> &shape) {
  return w->op("Reshape", {v, w->integers(shape)});
}
// 0, ..., n - 1 for a list of one number.
ValueId counted(Writer *w, ValueId n) {
  return w->op("Range", {w->integer(0), w->op("Squeeze", {n}), w->integer(1)});
}
ValueId part(Writer *w, ValueId v, int64_t place, int64_t axis) {
  return w->op("Gather", {v, w->integer(place)}, {{"axis", axis}});
}
// [batch, heads, positions, width] -> [batch, positions, heads * width]
ValueId side_by_side(Writer *w, ValueId v) {
  return reshaped(w, w->op("Transpose", {v}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}),
                  {0, 0, -1});
}

// What is added to scores of `keys` keys: 0 where a mask lets a key take part, and else the filter
// value. Masks are the ends of sequences, maybe with their beginnings behind all ends; or a number
// for each key, that may differ between queries. Of float32, as scores are.
ValueId added_mask(Call &c, size_t at, bool may_have_beginnings, ValueId query, ValueId keys) {
  const ValueId mask =
      c.w.op("Cast", {c.in(at)}, {{"to", static_cast<int64_t>(ElementType::Int64)}});
  const ValueId batch = size_of(&c.w, query, 0), queries = size_of(&c.w, query, 1);
  const Branch lengths = [may_have_beginnings](Writer &w, const std::vector<ValueId> &v) {
    const ValueId each = joined(&w, {v[1], w.integers({1, 1, 1})}, 0);
    const ValueId key = counted(&w, v[3]);
    if (!may_have_beginnings) return w.op("Less", {key, w.op("Reshape", {v[0], each})});
    const ValueId twice = w.op("Add", {v[1], v[1]});
    const ValueId zeros = w.op("ConstantOfShape", {v[1]}, {{"value", Constant::integers({0})}});
    const ValueId ends = places(&w, v[0], w.integers({0}), v[1], 0),
                  beginnings = places(&w, joined(&w, {v[0], zeros}, 0), v[1], twice, 0);
    return w.op("And", {w.op("Less", {key, w.op("Reshape", {ends, each})}),
                        w.op("GreaterOrEqual", {key, w.op("Reshape", {beginnings, each})})});
  };
  // A dimension for the heads; masks of other sizes are no masks of these scores.
  const Branch of_keys = [](Writer &w, const std::vector<ValueId> &v) {
    return w.op("Reshape", {v[0], joined(&w, {w.integers({0, 1, 1}), v[3]}, 0)});
  };
  const Branch of_queries = [](Writer &w, const std::vector<ValueId> &v) {
    return w.op("Reshape", {v[0], joined(&w, {w.integers({0, 1}), v[2], v[3]}, 0)});
  };
  const Branch elements = [&](Writer &w, const std::vector<ValueId> &v) {
    return w.op("Greater", {by_rank(&w, v[0], 2, v, of_keys, of_queries), w.integer(0)});
  };
  const auto &shape = c.w.graph().value(c.in(at)).shape;
  if (shape && (shape->empty() || shape->size() > 3))
    c.fail("its mask has rank " + std::to_string(shape->size()), "it is from 1 to 3");
  const ValueId valid = by_rank(&c.w, c.in(at), 1, {mask, batch, queries, keys}, lengths, elements);
  const float filter = c.node.real("mask_filter_value", -10000);
  const ValueId zero = c.w.graph().add_constant("taken", Constant::real(0)),
                low = c.w.graph().add_constant("masked", Constant::real(filter));
  return c.w.op("Where", {valid, zero, low});
}

struct Heads {
  ValueId query, key, value;  // [batch, positions, heads * width]
  ValueId past_key = kNone, past_value = kNone;
};

// The standard's operator, its mask made of operands `mask` and `bias`: the result and the keys and
// values with the past ones.
std::vector<ValueId> attention(Call &c, const Heads &h, size_t mask, size_t bias) {
  const int64_t heads = c.node.integer("num_heads", 0);
  if (heads < 1) c.fail("num_heads is " + std::to_string(heads), "there is at least one head");
  ValueId keys = size_of(&c.w, h.key, 1);
  if (h.past_key != kNone) keys = c.w.op("Add", {keys, size_of(&c.w, h.past_key, 2)});
  ValueId added = c.has(bias) ? c.in(bias) : kNone;
  if (c.has(mask)) {
    const ValueId one = added_mask(c, mask, c.node.op != "MultiHeadAttention", h.query, keys);
    added = added == kNone ? one : c.w.op("Add", {one, c.w.op("CastLike", {added, one})});
  }
  Attributes attributes = {{"q_num_heads", heads},
                           {"kv_num_heads", heads},
                           {"is_causal", c.node.integer("unidirectional", 0)}};
  if (const float scale = c.node.real("scale", 0); scale != 0) attributes["scale"] = scale;
  return c.w.ops("Attention", 3, {h.query, h.key, h.value, added, h.past_key, h.past_value},
                 attributes);
}

// `all` are queries, keys and values side by side; then which operands the mask, the past and a
// bias of scores are.
void attend(Call &c, ValueId all, size_t mask, size_t past, size_t bias) {
  const std::vector<int64_t> sizes = c.node.integers("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3)
    c.fail("qkv_hidden_sizes has " + std::to_string(sizes.size()) + " sizes", "it has 3");
  const std::vector<ValueId> parts =
      sizes.empty()
          ? c.w.ops("Split", 3, {all}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{3}}})
          : c.w.ops("Split", 3, {all, c.w.integers(sizes)}, {{"axis", int64_t{-1}}});
  Heads h{parts[0], parts[1], parts[2]};
  if (c.has(past)) {
    h.past_key = part(&c.w, c.in(past), 0, 0);
    h.past_value = part(&c.w, c.in(past), 1, 0);
  }
  const std::vector<ValueId> results = attention(c, h, mask, bias);
  c.define(0, results[0]);
  if (!c.wants(1)) return;
  const ValueId front = c.w.integers({0});
  c.define(1, joined(&c.w,
                     {c.w.op("Unsqueeze", {results[1], front}),
                      c.w.op("Unsqueeze", {results[2], front})},
                     0));
}

void expand_attention(Call &c) {
  c.refuse_input(6, "a length of a shared past");
  ValueId all = c.w.op("MatMul", {c.in(0), c.in(1)});
  if (c.has(2)) all = c.w.op("Add", {all, c.in(2)});
  attend(c, all, 3, 4, 5);
}

void expand_quantized_attention(Call &c) {
  auto optional = [&](size_t i) { return c.has(i) ? c.in(i) : kNone; };
  const ValueId all = product_of_bytes(c, {c.in(0), c.in(1), optional(6), optional(7)}, c.in(3),
                                       c.in(4), c.in(2), c.in(3));
  constexpr size_t kNoBias = 9;
  attend(c, all, 5, 8, kNoBias);
}

void expand_multi_head_attention(Call &c) {
  if (!c.has(1) || !c.has(2))
    c.fail("keys or values are packed with the queries", "they have to be operands");
  c.refuse_input(8, "a length of a shared past");
  c.refuse_input(9, "an order of beams");
  c.refuse_output(3, "the scores");
  Heads h{c.in(0), kNone, kNone};
  // Biases of queries, keys and values lie side by side.
  ValueId end = size_of(&c.w, h.query, 2);
  if (c.has(3)) {
    const ValueId bias = places(&c.w, c.in(3), c.w.integers({0}), end, 0);
    h.query = c.w.op("Add", {h.query, bias});
  }
  for (size_t i : {size_t{1}, size_t{2}}) {
    ValueId begin = end;
    std::vector<ValueId> operands{c.in(i)};
    if (c.has(3)) {
      end = i == 1 ? c.w.op("Add", {begin, begin}) : c.w.integers({INT64_MAX});
      operands.push_back(places(&c.w, c.in(3), begin, end, 0));
    }
    // Keys of another sequence, with their biases, have heads.
    (i == 1 ? h.key : h.value) = by_rank(
        &c.w, c.in(i), 4, operands,
        [](Writer &w, const std::vector<ValueId> &v) { return side_by_side(&w, v[0]); },
        [](Writer &w, const std::vector<ValueId> &v) {
          return v.size() > 1 ? w.op("Add", {v[0], v[1]}) : w.op("Identity", {v[0]});
        });
  }
  if (c.has(6) != c.has(7)) c.fail("it has past keys or past values", "there are both or none");
  if (c.has(6)) {
    h.past_key = c.in(6);
    h.past_value = c.in(7);
  }
  const std::vector<ValueId> results = attention(c, h, 4, 5);
  for (size_t k = 0; k < 3; k++) c.define(k, results[k]);
}

void expand_rotary(Call &c) {
  const ValueId x = c.in(0), cosines = c.in(2);
  if (c.node.real("scale", 1) != 1) c.fail("its attribute scale is set", "that is not supported");
  const bool flat = c.node.integer("num_heads", 0) > 0;
  // A list of one is the position of the first element of each sequence.
  const Branch first = [](Writer &w, const std::vector<ValueId> &v) {
    const ValueId steps = w.op("Unsqueeze", {counted(&w, v[2]), w.integers({0})});
    const ValueId shape = joined(&w, {size_of(&w, v[1], 0), w.integers({1})}, 0);
    return w.op("Add", {w.op("Expand", {v[0], shape}), steps});
  };
  const Branch same = [](Writer &w, const std::vector<ValueId> &v) {
    return w.op("Identity", {v[0]});
  };
  const ValueId length = by_rank(
      &c.w, x, 4, {x},
      [](Writer &w, const std::vector<ValueId> &v) { return size_of(&w, v[0], 2); },
      [](Writer &w, const std::vector<ValueId> &v) { return size_of(&w, v[0], 1); });
  const ValueId positions = by_rank(&c.w, c.in(1), 1, {c.in(1), x, length}, first, same);
  Attributes attributes = {{"interleaved", c.node.integer("interleaved", 0)},
                           {"rotary_embedding_dim", c.node.integer("rotary_embedding_dim", 0)}};
  if (flat) {
    attributes["num_heads"] = c.node.integer("num_heads", 0);
    c.define(0, c.w.op("RotaryEmbedding", {x, cosines, c.in(3), positions}, attributes));
    return;
  }
  // A head is as wide as the tables say.
  const ValueId headed =
      by_rank(&c.w, x, 4, {x, cosines}, same, [](Writer &w, const std::vector<ValueId> &v) {
        const ValueId width = w.op("Mul", {size_of(&w, v[1], 1), w.integers({2})});
        const ValueId heads =
            w.op("Reshape", {v[0], joined(&w, {w.integers({0, 0, -1}), width}, 0)});
        return w.op("Transpose", {heads}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
      });
  const ValueId y = c.w.op("RotaryEmbedding", {headed, cosines, c.in(3), positions}, attributes);
  c.define(0, by_rank(&c.w, x, 4, {y}, same, [](Writer &w, const std::vector<ValueId> &v) {
             return side_by_side(&w, v[0]);
           }));
}

void expand_grouped_attention(Call &c) {
  Writer &w = c.w;
  const std::pair<size_t, const char *> refused[] = {
      {12, "scales of keys"}, {13, "scales of values"}, {16, "lengths of queries"}};
  for (const auto &[i, what] : refused) c.refuse_input(i, what);
  c.refuse_output(3, "the scores");
  const int64_t heads = c.node.integer("num_heads", 0), groups = c.node.integer("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0) {
    c.fail("it has " + std::to_string(heads) + " heads of queries and " + std::to_string(groups) +
               " of keys",
           "each head of keys serves a number of heads of queries");
  }
  if (c.has(1) != c.has(2)) c.fail("it has keys or values", "there are both or none");
  if (c.has(3) != c.has(4)) c.fail("it has past keys or past values", "there are both or none");
  auto headed = [&](ValueId v, int64_t n) {
    return w.op("Transpose", {reshaped(&w, v, {0, 0, n, -1})},
                {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  };
  std::vector<ValueId> parts;  // queries, keys, values
  if (c.has(1)) {
    parts = {headed(c.in(0), heads), headed(c.in(1), groups), headed(c.in(2), groups)};
  } else {
    parts = w.ops("Split", 3,
                  {headed(c.in(0), heads + 2 * groups), w.integers({heads, groups, groups})},
                  {{"axis", int64_t{1}}});
  }
  for (size_t k = 0; k < 2; k++) {
    if (!c.has(14 + k)) continue;
    const float epsilon = c.node.real("qk_norm_epsilon", 1e-6f);
    parts[k] =
        w.op("RMSNormalization", {parts[k], c.in(14 + k)},
             {{"epsilon", c.node.real(k == 0 ? "q_norm_epsilon" : "k_norm_epsilon", epsilon)}});
  }
  const Attributes wide = {{"to", static_cast<int64_t>(ElementType::Int64)}};
  const ValueId count = size_of(&w, c.in(0), 1);
  // [batch, 1]: how many a sequence has, and had.
  const ValueId last = reshaped(&w, w.op("Cast", {c.in(5)}, wide), {-1, 1});
  const ValueId length = w.op("Add", {last, w.integer(1)});
  const ValueId before = w.op("Max", {w.op("Sub", {length, count}), w.integer(0)});
  const ValueId positions = w.op("Add", {before, counted(&w, count)});  // [batch, queries]
  if (c.node.integer("do_rotary", 0) != 0) {
    const auto &table = w.graph().value(c.in(7)).shape;
    const auto width = table && table->size() == 2 ? (*table)[1].constant() : std::nullopt;
    if (!width) c.fail("how wide its tables of angles are is not known", "they are matrices");
    const Attributes attributes = {{"interleaved", c.node.integer("rotary_interleaved", 0)},
                                   {"rotary_embedding_dim", 2 * *width}};
    const ValueId turned = c.has(9) ? c.in(9) : positions;
    for (size_t k = 0; k < 2; k++)
      parts[k] = w.op("RotaryEmbedding", {parts[k], c.in(7), c.in(8), turned}, attributes);
  }
  const ValueId past_key = c.has(3) ? c.in(3) : kNone, past_value = c.has(4) ? c.in(4) : kNone;
  // The past may have room for all that follow.
  const ValueId total = reshaped(&w, w.op("Cast", {c.in(6)}, wide), {1});
  ValueId room = total;
  if (past_key != kNone) room = w.op("Max", {room, size_of(&w, past_key, 2)});
  ValueId steps = counted(&w, room);
  const ValueId keys = w.internal("BehindPast", {parts[1], before, steps, past_key}),
                values = w.internal("BehindPast", {parts[2], before, steps, past_value});
  c.define(1, keys);
  c.define(2, values);
  // [batch, 1, queries, keys]; a bias has no room for more.
  if (c.has(10)) steps = counted(&w, total);
  const ValueId query = reshaped(&w, positions, {0, 1, -1, 1});
  ValueId taken = c.node.integer("causal", 1) != 0
                      ? w.op("LessOrEqual", {steps, query})
                      : w.op("Less", {steps, reshaped(&w, length, {0, 1, 1, 1})});
  if (const int64_t window = c.node.integer("local_window_size", -1); window >= 0) {
    const ValueId first = w.op("Sub", {query, w.integer(window)});
    taken = w.op("And", {taken, w.op("Greater", {steps, first})});
  }
  if (c.has(10)) {
    const ValueId low = w.graph().add_constant("masked", Constant::real(-1e30f));
    const ValueId bias =
        w.op("Cast", {c.in(10)}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
    taken = w.op("Where", {taken, bias, low});
  }
  ValueId sink = c.has(11) ? c.in(11) : kNone;
  if (sink == kNone && c.node.integer("smooth_softmax", 0) > 0)
    sink = w.op("ConstantOfShape", {w.integers({heads})});
  Attributes attributes;
  if (const float scale = c.node.real("scale", 0); scale != 0) attributes["scale"] = scale;
  if (const float cap = c.node.real("softcap", 0); cap != 0) attributes["softcap"] = cap;
  const std::vector<ValueId> operands{parts[0], keys, values, taken, kNone, kNone, kNone, sink};
  c.define(0, side_by_side(&w, w.op("Attention", operands, attributes)));
}

// The sum of embeddings normalised, and what the mask, operand 7, leaves of each sequence.
void define_embedding(Call &c, ValueId sum, ValueId gamma, ValueId beta) {
  c.define(0, c.w.op("LayerNormalization", {sum, gamma, beta},
                     {{"epsilon", c.node.real("epsilon", 1e-12f)}}));
  c.define(2, sum);
  if (!c.wants(1)) return;
  const Attributes to = {{"to", static_cast<int64_t>(ElementType::Int32)}};
  if (!c.has(7)) {
    const ValueId zeros = c.w.op("ConstantOfShape", {size_of(&c.w, c.in(0), 0)},
                                 {{"value", Constant::integers({0})}});
    c.define(1, c.w.op("Cast", {zeros}, to));
    return;
  }
  const ValueId kept = c.w.op(
      "Cast", {c.w.op("Equal", {c.in(7), c.w.op("CastLike", {c.w.integer(1), c.in(7)})})}, to);
  c.define(1, c.w.op("ReduceSum", {kept, c.w.integers({1})}, {{"keepdims", int64_t{0}}}));
}

void expand_embedding(Call &c) {
  const ValueId ids = c.in(0);
  ValueId sum = c.w.op("Gather", {c.in(2), ids});
  const ValueId positions =
      c.has(8) ? c.w.op("Gather", {c.in(3), c.in(8)})
               : places(&c.w, c.in(3), c.w.integers({0}), size_of(&c.w, ids, 1), 0);
  sum = c.w.op("Add", {sum, positions});
  if (c.has(1)) sum = c.w.op("Add", {sum, c.w.op("Gather", {c.in(4), c.in(1)})});
  define_embedding(c, sum, c.in(5), c.in(6));
}

// Tables of bytes, whose scales and zero points stand behind all of them.
void expand_quantized_embedding(Call &c) {
  const ValueId ids = c.in(0);
  auto numbers = [&](size_t table, ValueId rows) {
    return c.w.op("DequantizeLinear", {rows, c.in(table + 6), c.in(table + 11)});
  };
  ValueId sum = numbers(2, c.w.op("Gather", {c.in(2), ids}));
  sum = c.w.op(
      "Add", {sum, numbers(3, places(&c.w, c.in(3), c.w.integers({0}), size_of(&c.w, ids, 1), 0))});
  if (c.has(1)) sum = c.w.op("Add", {sum, numbers(4, c.w.op("Gather", {c.in(4), c.in(1)}))});
  define_embedding(c, sum, numbers(5, c.in(5)), numbers(6, c.in(6)));
}

}  // namespace

std::vector<Expansion> attention_expansions() {
  return {
      {kMicrosoft,
       "Attention",
       2,
       7,
       2,
       {"mask_filter_value", "num_heads", "qkv_hidden_sizes", "scale", "unidirectional"},
       expand_attention},
      {kMicrosoft,
       "EmbedLayerNormalization",
       7,
       9,
       3,
       {"epsilon", "mask_index_type"},
       expand_embedding},
      {kMicrosoft,
       "GroupQueryAttention",
       7,
       17,
       4,
       {"causal", "do_rotary", "kv_num_heads", "local_window_size", "num_heads", "q_norm_epsilon",
        "k_norm_epsilon", "qk_norm_epsilon", "rotary_interleaved", "scale", "smooth_softmax",
        "softcap"},
       expand_grouped_attention},
      {kMicrosoft,
       "MultiHeadAttention",
       1,
       10,
       4,
       {"mask_filter_value", "num_heads", "scale", "unidirectional"},
       expand_multi_head_attention},
      {kMicrosoft,
       "QAttention",
       5,
       9,
       2,
       {"mask_filter_value", "num_heads", "scale", "unidirectional"},
       expand_quantized_attention},
      {kMicrosoft, "QEmbedLayerNormalization", 18, 18, 2, {"epsilon"}, expand_quantized_embedding},
      {kMicrosoft,
       "RotaryEmbedding",
       4,
       4,
       1,
       {"interleaved", "num_heads", "rotary_embedding_dim", "scale"},
       expand_rotary},
  };
}

}  // namespace polyhalite::onnx
