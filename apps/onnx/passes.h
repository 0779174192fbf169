// The passes over graphs, in the order in which they run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "polyhalite/target.h"

namespace polyhalite::onnx {

struct GraphPass {
  const char *name;
  Graph (*run)(Graph);
};

struct MachinePass {
  const char *name;
  Graph (*run)(Graph, const Target &);
};

/// What runs after shapes are inferred, and behind that what prepares known weights for a machine;
/// each may be switched off by its name.
const std::vector<GraphPass> &graph_passes();
const std::vector<MachinePass> &machine_passes();

/// All names of what may be switched off, also of what is no pass over a graph.
const std::set<std::string> &switchable_passes();

///   nodes and constants whose values nobody reads  ->
Graph remove_dead_nodes(Graph g);
///   %y: float16 = Conv(%x, %w)   ->   %x.wide: float32 = Cast(%x); %w.wide as float32;
///   %y.wide: float32 = Conv(%x.wide, %w.wide)
/// no processor multiplies float16 exactly: values are numbers of 32 bits inside of the graph,
/// which are rounded where the graph, or a Cast, gives them away.
Graph widen_halves(Graph g);
///   %y = Identity(%x); %z = f(%y)   ->   %z = f(%x)
/// likewise Dropout that drops nothing, Cast to the same type, Concat of one: they are no kernels,
/// and keep others apart. CastLike becomes Cast.
Graph remove_copies(Graph g);
///   %a = f(%x); %b = f(%x)   ->   %a = f(%x), also in the place of %b; equal constants likewise
Graph share_common_nodes(Graph g);
///   %y = Conv(%x, %w, %b); %z = BatchNormalization(%y, ...)   ->   %z = Conv(%x, %w', %b')
///   %z = BatchNormalization(%y, ...)   ->   %t = Mul(%y, %factors); %z = Add(%t, %summands)
Graph fold_batch_norm(Graph g);
///   %r = Reshape(%x); %n = InstanceNormalization(%r, ...); %s = Reshape(%n); %t = Mul(%s, %w);
///   %y = Add(%t, %b)   ->   %y = GroupNormalization(%x, %w', %b')
/// where groups of channels become one, and scales are known: images then keep their layout.
Graph join_group_norm(Graph g);
///   %y = Conv(%x: 14x14, %w) {3x3 cells, 24 apart, pads 24}   ->   %y = Conv(%x, %w')  {1x1}
/// cells of known kernels that see what is around the image only, for each of its pixels.
Graph crop_kernels(Graph g);
///   %y = Conv(%x: 14x14, %w) {3x3 cells, 12 apart, pads 12}   ->   for each cell
///   %p = Slice(%x); %q = Conv(%p, %w'); %r = Pad(%q); %y' = Add(%y, %r)
/// where cells see the image for few of the results.
Graph split_kernels(Graph g);
///   %y = ConvTranspose(%x: 1x1, %w: 4x4)   ->   %r = Reshape(%x); %p = Gemm(%r, %w');
///   %y = Reshape(%p)
/// likewise Conv with kernels as large as the image: known ones, without padding.
Graph pixel_products(Graph g);
///   %s = Sigmoid(%x); %y = Mul(%x, %s)   ->   %s = Sigmoid(%x); %y = Swish(%x)
Graph join_swish(Graph g);
///   %y = MatMulInteger(%a, %b, %a_point)   ->   %y = MatMulInteger(%a, %b, %a_point, , %sums)
/// sums of the columns of b, of each kernel of a convolution, where its elements are known bytes;
/// also of ConvInteger, QLinearMatMul and QLinearConv, behind all of their operands.
Graph sum_weights(Graph g);

/// Not in the list, since a library has kernels only: long rows are sorted between them.
///   %v, %p = TopK(%x: 1x8400, 100)   ->   the same on the host
Graph sort_between_kernels(Graph g);
/// Not in the list: what lies well depends on the machine. Kernels and known right
/// operands of products become strips of results, see
/// ops::kernel_strips():
///   %y = Conv(%x, %w, ...)   ->   %y = Conv(%x, %strips, ...) {strips_of = results}
///   %y = MatMul(%a, %b)      ->   %y = MatMul(%a, %strips) {strips_of = columns}, likewise Gemm
///   %y = ConvTranspose(%x, %w, ...)   ->   %y = ConvTranspose(%x, %strips of phases, ...)
///   {strips_of = results}, see ops::transposed_phases()
Graph strip_kernels(Graph g, const Target &target);
/// Before pack_bytes. Known weights of products of bytes get signs, as dot products want them:
///   %y = MatMulInteger(%a, %b, %p, %q)  ->  %y = MatMulInteger(%a, %b - 128, %p, %q - 128)
/// likewise ConvInteger, QLinearMatMul and QLinearConv; for x86.
Graph sign_weights(Graph g, const Target &target);
/// Before pack_bytes, where processors multiply pairs of 16 bits: known kernels of convolutions of
/// bytes that Winograd's form makes quicker, which is exact:
///   %y = QLinearConv(%x, ..., %w, ...)  ->  %y = QLinearConv(%x, ..., %transformed, ...)
///   {strips_of = results, winograd_tile = [i, j]}, see ops::quantized_winograd(); likewise
///   ConvInteger
Graph winograd_bytes(Graph g, const Target &target);
/// Known right operands of products of bytes, and kernels of convolutions of bytes, become strips
/// as dot products take them, see ops::dot_strips(), of 16 bits less their zero points where
/// ops::widens_bytes():
///   %y = MatMulInteger(%a, %b, ...)  ->  %y = MatMulInteger(%a, %packed, ...) {packed_columns = n}
/// likewise ConvInteger, QLinearMatMul and QLinearConv. Kernels of several cells or of groups lie
/// as ops::packed_kernels() says:
///   %y = QLinearConv(%x, ..., %w, ...)  ->  %y = QLinearConv(%x, ..., %packed, ...)
///   {packed_kernels = results}
Graph pack_bytes(Graph g, const Target &target);
/// Codes of few bits as ops::block_product() takes them; where the node allows rows to be rounded
/// to bytes, and the target has dot products, as bytes:
///   %y = BlockProduct(%x, %codes, %scales)   ->   %y = BlockProduct(%x, %packed, %strips)
///   {strips_of = columns}
Graph pack_blocks(Graph g, const Target &target);
/// Before strip_kernels. Convolutions that gain by it, see ops::winograd_tile(), get transformed
/// kernels:
///   %y = Conv(%x, %w, ...)   ->   %y = Conv(%x, %kernels, ...) {winograd_tile = [2, 2],
///   strips_of = results}
Graph winograd_kernels(Graph g, const Target &target);

}  // namespace polyhalite::onnx
