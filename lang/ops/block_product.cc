// Products with matrices of few bits: codes with a scale and a zero point for each block of rows of
// a column. Codes are unpacked beside the sums that they are for, so that what is read from memory
// is as small as it is stored.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// Rows of a [row, block, k], zeros behind the last k.
Tensor in_blocks(const Tensor &a, int blocks, int block) {
  const int depth = static_cast<int>(*constant(a.size(1)));
  return Tensor(
      a.type(), {a.size(0), Expr(blocks), Expr(block)},
      [=](const Index &at) {
        const Expr k = at[1] * block + at[2];
        if (depth == blocks * block) return a({at[0], k});
        return select(k < depth, a({at[0], min(k, depth - 1)}), cast(a.type(), Expr(0)));
      },
      a.detached_stages());
}

// a as bytes of each block, and what a byte stands for.
struct Bytes {
  Tensor numbers, scales;  // [row, block, k] of Int(8), [row, block]

  explicit Bytes(const Tensor &a) {
    constexpr float kMost = 127;
    const Tensor magnitudes = elementwise(a, [](Expr v) { return abs(std::move(v)); });
    const Tensor largest = stored(reduce(magnitudes, Reduction::Max, {2}, false), "largest");
    const Tensor inverse = unsqueeze(
        elementwise(largest, [](const Expr &v) { return select(v == 0.0f, 0.0f, kMost / v); }),
        {2});
    numbers = stored(elementwise({a, inverse}, Int(8),
                                 [](const std::vector<Expr> &v) {
                                   return cast<int8_t>(clamp(round(v[0] * v[1]), -kMost, kMost));
                                 }),
                     "bytes");
    scales = stored(elementwise(largest, [](const Expr &v) { return v / kMost; }), "scales");
  }
};

}  // namespace

Tensor block_product(const Tensor &given, const Tensor &codes, const Tensor &scales,
                     const Tensor &zeros, int results, int bits, int block) {
  const auto strips = constant(codes.size(0)), width = constant(codes.size(2));
  const auto blocks = constant(scales.size(1)), depth = constant(given.size(-1));
  const int each = 8 / bits, rows_of_group = 4 * each;
  const bool rounds = codes.rank() == 4;
  if (given.rank() != 2 || !strips || !width || !blocks || !depth || block % rows_of_group != 0 ||
      (bits != 2 && bits != 4 && bits != 8) || *strips * *width < results ||
      *blocks * block < *depth) {
    user_error("a product with codes of " + std::to_string(bits) + " bits in blocks of " +
                   std::to_string(block) + " does not fit its operands",
               "codes are [strip, group, result] of known sizes, blocks whole groups of " +
                   std::to_string(rows_of_group) + " rows",
               "lay them out as block_product() says");
  }
  const int groups = block / rows_of_group;
  const Tensor a =
      stored(in_blocks(convert(given, Float(32)), static_cast<int>(*blocks), block), "blocks");
  const Expr middle = 1 << (bits - 1);
  std::vector<Tensor> operands{codes, scales, a};
  if (zeros.defined()) operands.push_back(zeros);
  Tensor factors = a, units;  // what codes are multiplied by, and what one of it stands for
  if (rounds) {
    const Bytes bytes(a);
    factors = bytes.numbers;
    units = bytes.scales;
    operands.push_back(factors);
    operands.push_back(units);
  }
  const Type sums = rounds ? Int(32) : Float(32);
  const Tensor totals = stored(
      convert(reduce(convert(factors, sums), Reduction::Sum, {2}, false), Float(32)), "totals");
  operands.push_back(totals);

  const Var result("result"), row("row"), strip("strip"), of_block("block");
  const std::vector<Stage> choices = strip_choices(given.size(0), [&] {
    Func dots("dots"), product("block_product");
    const RDom k({{0, 4}, {0, each}, {0, groups}}, "k");
    const Expr shift = k[1] * bits, mask = (1 << bits) - 1, group = of_block * groups + k[2];
    const Expr factor =
        factors({Expr(row), Expr(of_block), k[2] * rows_of_group + k[1] * 4 + k[0]});
    const std::vector<Var> args{result, row, of_block, strip};
    dots(args) = cast(sums, Expr(0));
    if (rounds) {
      const Expr byte = codes({Expr(strip), group, Expr(result), Expr(k[0])});
      const Expr code = each == 1 ? byte : (byte >> cast<uint8_t>(shift)) & cast<uint8_t>(mask);
      dots(args) += cast<int32_t>(code) * cast<int32_t>(factor);
    } else {
      const Expr word = codes({Expr(strip), group, Expr(result)});
      const Expr code = (word >> cast<uint32_t>(k[0] * 8 + shift)) & cast<uint32_t>(mask);
      dots(args) += cast<float>(cast<int32_t>(code)) * factor;
    }
    const RDom b(0, static_cast<int>(*blocks), "b");
    const Index of_codes{Expr(strip), Expr(b), Expr(result)}, of_rows{Expr(row), Expr(b)};
    const Expr zero = zeros.defined() ? cast<float>(zeros(of_codes)) : cast<float>(middle);
    Expr term = cast<float>(dots(result, row, b, strip)) - zero * totals(of_rows);
    term = scales(of_codes) * term;
    if (rounds) term = units(of_rows) * term;
    product(result, row, strip) = 0.0f;
    product(result, row, strip) += term;
    Stage own;
    own.kind = Stage::Strips;
    own.func = product;
    own.extents = {Expr(static_cast<int>(*width)), given.size(0), Expr(static_cast<int>(*strips))};
    own.rvars = {b};
    own.dims = {1, 0, 1};
    own.groups = static_cast<int>(*strips);
    own.parts = {dots};
    return own;
  });
  std::vector<Stage> stages = merged_stages(operands);
  stages.push_back(chosen(choices, "product_by_size"));
  const Func sum = stages.back().func;
  return Tensor(
      Float(32), {given.size(0), Expr(results)},
      [sum, w = static_cast<int>(*width)](const Index &at) -> Expr {
        return sum(at[1] % w, at[0], at[1] / w);
      },
      std::move(stages));
}

}  // namespace polyhalite::ops
