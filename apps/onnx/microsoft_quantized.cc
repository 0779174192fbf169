// Operators of com.microsoft on weights of few bits: unpacked here, or as products of bytes.
#include <algorithm>

#include "apps/onnx/expansion_call.h"
#include "apps/onnx/weight_memory.h"

namespace polyhalite::onnx {

namespace {

ValueId to_float(Call &c, ValueId v) {
  return c.w.op("Cast", {v}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
}

ValueId optional(const Call &c, size_t i) { return c.has(i) ? c.in(i) : kNone; }

void expand_integer_to_float(Call &c) {
  c.define(0, product_of_bytes(c, {c.in(0), c.in(1), optional(c, 4), optional(c, 5)}, c.in(2),
                               c.in(3), optional(c, 6), c.in(2)));
}

void expand_dynamic_matmul(Call &c) {
  const std::vector<ValueId> a = c.w.ops("DynamicQuantizeLinear", 3, {c.in(0)});
  c.define(0, product_of_bytes(c, {a[0], c.in(1), a[2], optional(c, 3)}, a[1], c.in(2),
                               optional(c, 4), c.in(0)));
}

void expand_quantize(Call &c) {
  std::vector<ValueId> operands{c.in(0), c.in(1)};
  if (c.has(2)) operands.push_back(c.in(2));
  Attributes attributes;
  if (c.node.has("axis")) attributes["axis"] = c.node.integer("axis", 1);
  c.define(0, c.w.op(c.node.op, operands, attributes));
}

// Weights [directions, inputs, gates] as numbers [directions, gates, inputs]. Scales and zero
// points are one for each direction, or one for each of its gates.
ValueId lstm_weights(Call &c, size_t at, size_t scale_at) {
  const Constant values = c.constant(at), scale = c.constant(scale_at);
  const Constant given = c.has(scale_at + 1) ? c.constant(scale_at + 1) : Constant();
  const Constant *point = c.has(scale_at + 1) ? &given : nullptr;
  if (values.shape().size() != 3)
    c.fail("its weights have rank " + std::to_string(values.shape().size()),
           "they are [directions, inputs, 4 * hidden]");
  const int64_t directions = values.shape()[0], inputs = values.shape()[1],
                gates = values.shape()[2];
  for (const Constant *one : {&scale, point}) {
    if (!one || one->elements() == directions || one->elements() == directions * gates) continue;
    c.fail("it has " + std::to_string(one->elements()) + " scales or zero points",
           "they are " + std::to_string(directions) + " or " + std::to_string(directions * gates));
  }
  auto of = [&](const Constant &list, int64_t d, int64_t gate) {
    return list.number(list.elements() == directions ? d : d * gates + gate);
  };
  const auto bytes = weight_memory(static_cast<size_t>(values.elements()) * sizeof(float));
  auto *to = reinterpret_cast<float *>(bytes.get());
  for (int64_t d = 0; d < directions; d++) {
    for (int64_t gate = 0; gate < gates; gate++) {
      const double by = of(scale, d, gate), zero = point ? of(*point, d, gate) : 0;
      for (int64_t i = 0; i < inputs; i++)
        *to++ = static_cast<float>((values.number((d * inputs + i) * gates + gate) - zero) * by);
    }
  }
  return c.w.graph().add_constant(
      c.w.graph().value(c.in(at)).name + ".numbers",
      Constant(ElementType::Float32, {directions, gates, inputs}, bytes, bytes.get()));
}

// The states are numbers, where onnxruntime quantises them before each product.
void expand_lstm(Call &c) {
  std::vector<ValueId> operands{c.in(0), lstm_weights(c, 1, 8), lstm_weights(c, 2, 10)};
  for (size_t i = 3; i < 8; i++) operands.push_back(optional(c, i));
  Attributes attributes = c.node.attributes;
  c.w.ops("LSTM", 0, operands, attributes);
  c.w.last().outputs = c.node.outputs;
}

// Element i of packed codes; rows begin at bytes, the first code in the lowest bits.
int64_t code(const Constant &packed, int64_t row, int64_t row_bytes, int64_t i, int64_t bits) {
  const int64_t each = 8 / bits;
  const int64_t byte = packed.integer_at(row * row_bytes + i / each);
  return byte >> (i % each * bits) & ((1 << bits) - 1);
}

// y = a x b, b [columns, blocks of rows] of codes of few bits with a scale for each block.
void expand_matmul_bits(Call &c) {
  const int64_t bits = c.node.integer("bits", 4), block = c.node.integer("block_size", 0),
                columns = c.node.integer("N", 0), rows = c.node.integer("K", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    c.fail("its weights have " + std::to_string(bits) + " bits", "2, 4 and 8 are supported");
  if (block < 16 || block % 16 != 0 || columns < 1 || rows < 1)
    c.fail("block_size, N and K are " + std::to_string(block) + ", " + std::to_string(columns) +
               " and " + std::to_string(rows),
           "blocks are multiples of 16, and sizes positive");
  const Constant codes = c.constant(1), scales = c.constant(2);
  const Constant given = c.has(3) ? c.constant(3) : Constant();
  const Constant *points = c.has(3) ? &given : nullptr;
  const int64_t blocks = (rows + block - 1) / block, block_bytes = block * bits / 8,
                point_bytes = (blocks * bits + 7) / 8;
  const bool packed_points = points && points->type() == ElementType::UInt8;
  auto expect = [&](const Constant &list, int64_t count, const std::string &what) {
    if (list.elements() == count) return;
    c.fail("it has " + std::to_string(list.elements()) + " " + what,
           "N, K and block_size ask for " + std::to_string(count));
  };
  if (codes.type() != ElementType::UInt8) c.fail("its weights are no bytes", "codes are packed");
  expect(codes, columns * blocks * block_bytes, "bytes of weights");
  expect(scales, columns * blocks, "scales");
  if (points) expect(*points, columns * (packed_points ? point_bytes : blocks), "zero points");
  // Which block's scale a row has; most are in order.
  bool in_order = true;
  std::vector<int64_t> block_of(static_cast<size_t>(rows));
  const Constant order = c.has(4) ? c.constant(4) : Constant();
  if (c.has(4) && order.elements() < rows) expect(order, rows, "places of rows among blocks");
  for (int64_t k = 0; k < rows; k++) {
    const int64_t b = c.has(4) ? order.integer_at(k) : k / block;
    if (b < 0 || b >= blocks)
      c.fail("row " + std::to_string(k) + " is in block " + std::to_string(b),
             "there are " + std::to_string(blocks));
    in_order = in_order && b == k / block;
    block_of[static_cast<size_t>(k)] = b;
  }
  Graph &g = c.w.graph();
  const std::string name = g.value(c.in(1)).name;
  const auto of_block = [&](const std::string &what, ElementType type, const auto &number) {
    std::vector<uint8_t> bytes;
    for (int64_t n = 0; n < columns; n++) {
      for (int64_t b = 0; b < blocks; b++) append_number(&bytes, type, number(n, b));
    }
    return g.add_constant(name + what, Constant::of_bytes(type, {columns, blocks}, bytes));
  };
  const auto zero = [&](int64_t n, int64_t b) {
    return !points         ? static_cast<double>(1 << (bits - 1))
           : packed_points ? static_cast<double>(code(*points, n, point_bytes, b, bits))
                           : points->number(n * blocks + b);
  };
  const auto scale = [&](int64_t n, int64_t b) { return scales.number(n * blocks + b); };
  ValueId y = kNone;
  if (in_order) {
    std::vector<ValueId> operands{
        to_float(c, c.in(0)),
        g.add_constant(name + ".codes", codes.reshaped({columns, blocks, block_bytes})),
        of_block(".scales", ElementType::Float32, scale)};
    if (points) {
      operands.push_back(
          of_block(".zeros", packed_points ? ElementType::UInt8 : ElementType::Float32, zero));
    }
    y = c.w.internal("BlockProduct", operands,
                     {{"bits", bits},
                      {"block_size", block},
                      {"K", rows},
                      {"N", columns},
                      {"accuracy_level", c.node.integer("accuracy_level", 0)}});
    y = c.w.op("CastLike", {y, c.in(0)});
  } else {
    const auto bytes = weight_memory(static_cast<size_t>(rows * columns) * sizeof(float));
    auto *to = reinterpret_cast<float *>(bytes.get());
    for (int64_t n = 0; n < columns; n++) {
      for (int64_t k = 0; k < rows; k++) {
        const int64_t b = block_of[static_cast<size_t>(k)];
        const auto v = static_cast<double>(code(codes, n, blocks * block_bytes, k, bits));
        to[k * columns + n] = static_cast<float>((v - zero(n, b)) * scale(n, b));
      }
    }
    ValueId weights = g.add_constant(
        name + ".numbers", Constant(ElementType::Float32, {rows, columns}, bytes, bytes.get()));
    if (scales.type() != ElementType::Float32) weights = c.w.op("CastLike", {weights, c.in(2)});
    y = c.w.op("MatMul", {c.in(0), weights});
  }
  if (c.has(5)) y = c.w.op("Add", {y, c.in(5)});
  c.define(0, y);
}

// Rows of numbers of few bits, a scale for each block of a row: codes are gathered, and unpacked
// behind that.
void expand_gather_blocks(Call &c) {
  const Constant data = c.constant(0);
  const std::vector<int64_t> shape = data.shape();
  const int64_t bits = c.node.integer("bits", 4), block = c.node.integer("block_size", 128);
  const int64_t rows = c.node.integer("gather_axis", 0), along = c.node.integer("quantize_axis", 1);
  if (shape.size() != 2 || (rows != 0 && rows != -2) || (along != 1 && along != -1))
    c.fail("its data have rank " + std::to_string(shape.size()) + ", gather_axis is " +
               std::to_string(rows) + " and quantize_axis " + std::to_string(along),
           "rows of matrices with blocks in rows are supported");
  if ((bits != 2 && bits != 4 && bits != 8) || block < 1)
    c.fail("bits and block_size are " + std::to_string(bits) + " and " + std::to_string(block),
           "2, 4 and 8 bits are supported, in blocks of at least one element");
  const bool packed = data.type() == ElementType::UInt8 && bits < 8;
  const int64_t each = packed ? 8 / bits : 1, width = shape[1] * each,
                blocks = (width + block - 1) / block;
  const Attributes wide = {{"to", static_cast<int64_t>(ElementType::Float32)}};
  const ValueId outer = c.w.op("Shape", {c.in(1)});
  // Bytes as `count` codes for each index.
  auto unpacked = [&](ValueId v, int64_t count) {
    const ValueId found = c.w.op("Gather", {v, c.in(1)}, {{"axis", int64_t{0}}});
    if (!packed) return c.w.op("Cast", {found}, wide);
    std::vector<uint8_t> shifts;
    for (int64_t k = 0; k < each; k++) shifts.push_back(static_cast<uint8_t>(k * bits));
    const ValueId by =
        c.w.graph().add_constant("shifts", Constant::of_bytes(ElementType::UInt8, {each}, shifts));
    const ValueId mask = c.w.graph().add_constant(
        "mask",
        Constant::of_bytes(ElementType::UInt8, {}, {static_cast<uint8_t>((1 << bits) - 1)}));
    const ValueId bytes = c.w.op("Unsqueeze", {found, c.w.integers({-1})});
    const ValueId codes =
        c.w.op("BitwiseAnd",
               {c.w.op("BitShift", {bytes, by}, {{"direction", std::string("RIGHT")}}), mask});
    const ValueId whole = c.w.op("Concat", {outer, c.w.integers({-1})}, {{"axis", int64_t{0}}});
    const ValueId flat = c.w.op("Reshape", {codes, whole});
    return c.w.op(
        "Cast",
        {c.w.op("Slice", {flat, c.w.integers({0}), c.w.integers({count}), c.w.integers({-1})})},
        wide);
  };
  std::vector<int64_t> block_of;
  for (int64_t k = 0; k < width; k++) block_of.push_back(k / block);
  const ValueId list = c.w.integers(block_of);
  auto spread = [&](ValueId v) { return c.w.op("Gather", {v, list}, {{"axis", int64_t{-1}}}); };
  ValueId y = unpacked(c.in(0), width);
  if (c.has(3)) {
    y = c.w.op("Sub", {y, spread(unpacked(c.in(3), blocks))});
  } else if (data.type() == ElementType::UInt8) {
    y = c.w.op("Sub", {y, c.w.number(static_cast<float>(1 << (bits - 1)), y)});
  }
  const ValueId scales = c.w.op("Gather", {c.in(2), c.in(1)}, {{"axis", int64_t{0}}});
  y = c.w.op("Mul", {y, spread(c.w.op("Cast", {scales}, wide))});
  c.define(0, c.w.op("CastLike", {y, c.in(2)}));
}

}  // namespace

ValueId product_of_bytes(Call &c, const std::vector<ValueId> &operands, ValueId a_scale,
                         ValueId b_scale, ValueId bias, ValueId like) {
  // Sums of bytes are beyond the range of halves.
  ValueId y = to_float(c, c.w.op("MatMulInteger", operands));
  y = c.w.op("Mul", {y, c.w.op("Mul", {to_float(c, a_scale), to_float(c, b_scale)})});
  if (bias != kNone) y = c.w.op("Add", {y, to_float(c, bias)});
  return c.w.op("CastLike", {y, like});
}

std::vector<Expansion> quantized_expansions() {
  return {
      {kMicrosoft, "DequantizeLinear", 2, 3, 1, {"axis"}, expand_quantize},
      {kMicrosoft,
       "DynamicQuantizeLSTM",
       12,
       12,
       3,
       {"activations", "activation_alpha", "activation_beta", "clip", "direction", "hidden_size",
        "input_forget"},
       expand_lstm},
      {kMicrosoft, "DynamicQuantizeMatMul", 3, 5, 1, {}, expand_dynamic_matmul},
      {kMicrosoft,
       "GatherBlockQuantized",
       3,
       4,
       1,
       {"bits", "block_size", "gather_axis", "quantize_axis"},
       expand_gather_blocks},
      {kMicrosoft, "MatMulIntegerToFloat", 4, 7, 1, {}, expand_integer_to_float},
      {kMicrosoft,
       "MatMulNBits",
       3,
       6,
       1,
       {"K", "N", "accuracy_level", "bits", "block_size"},
       expand_matmul_bits},
      {kMicrosoft, "QuantizeLinear", 2, 3, 1, {"axis"}, expand_quantize},
  };
}

}  // namespace polyhalite::onnx
