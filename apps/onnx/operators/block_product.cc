// BlockProduct: rows times a matrix of codes of few bits, with a scale for each block of a column,
// which is what MatMulNBits becomes. Codes are bytes [columns, blocks, bytes of a block] until
// pack_blocks lays them out.
#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

void infer_block_product(Inference &i) {
  Shape shape = i.shape(0);
  const Node &n = i.node();
  if (shape.empty()) i.fail("its operand is a scalar", "rows have a dimension");
  i.require_equal(shape.back(), n.integer("K", 0), "columns and rows");
  shape.back() = n.integer("N", 0);
  i.result(0, ElementType::Float32, shape);
}

// The numbers [k, column] that codes stand for.
Tensor numbers_of(Lowering &l) {
  const Node &n = l.node();
  const int bits = static_cast<int>(n.integer("bits", 4)), each = 8 / bits;
  const int block = static_cast<int>(n.integer("block_size", 32));
  const Tensor codes = l.in(1), scales = l.in(2), zeros = l.has(3) ? l.in(3) : Tensor();
  const ops::Index shape{Expr(static_cast<int>(n.integer("K", 0))),
                         Expr(static_cast<int>(n.integer("N", 0)))};
  return ops::stored(Tensor(Float(32), shape,
                            [=](const ops::Index &at) {
                              const Expr of_block = at[0] / block, k = at[0] % block;
                              const Expr byte = codes({at[1], of_block, k / each});
                              const Expr code = (byte >> cast<uint8_t>(k % each * bits)) &
                                                cast<uint8_t>((1 << bits) - 1);
                              const Expr zero = zeros.defined()
                                                    ? cast<float>(zeros({at[1], of_block}))
                                                    : cast<float>(1 << (bits - 1));
                              return (cast<float>(code) - zero) * scales({at[1], of_block});
                            }),
                     "numbers");
}

std::vector<Tensor> lower_block_product(Lowering &l) {
  const Node &n = l.node();
  const Tensor a = l.in(0);
  const int results = static_cast<int>(n.integer("N", 0));
  // Dimensions that the kernel could not merge.
  const Shape &shape = l.shape(0);
  const Expr rows = l.size(elements(Shape(shape.begin(), shape.end() - 1)));
  const Tensor matrix = a.rank() == 2 ? a : ops::reshape(a, {rows, a.size(-1)});
  const Tensor y = n.has("strips_of")
                       ? ops::block_product(matrix, l.in(1), l.in(2), l.has(3) ? l.in(3) : Tensor(),
                                            results, static_cast<int>(n.integer("bits", 4)),
                                            static_cast<int>(n.integer("block_size", 32)))
                       : ops::matmul(matrix, numbers_of(l));
  return {a.rank() == 2 ? y : ops::reshape(y, l.result_sizes(0))};
}

}  // namespace

std::vector<Operator> block_product_operators() {
  return {
      {kInternalDomain, "BlockProduct", Operator::Other, infer_block_product, lower_block_product}};
}

}  // namespace polyhalite::onnx
