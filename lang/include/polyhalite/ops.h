// Operators of networks and of linear algebra. Each is an ordinary algorithm over Funcs, such as a
// program could write itself, together with what the library knows of scheduling it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhalite/func.h"
#include "polyhalite/param.h"
#include "polyhalite/target.h"

namespace polyhalite::ops {

/// One index or size for each dimension, outermost first, as arrays are written on paper: [row,
/// column]. (A Func's arguments stand the other way round, innermost first.)
using Index = std::vector<Expr>;

/// What is promised of a size that a pipeline knows at run time only, and what to plan for.
struct OpenSize {
  int64_t least = 0;
  int64_t typical = 0;  // 0: nothing is known
  int64_t multiple = 1;
  int64_t most = 0;  // 0: nothing is known; else what is read beyond the size is 0
};

/// What the library's schedule knows of a Func inside an operator.
struct Stage {
  enum Kind {
    Product,    // a sum over products: vectors over the first argument, rows over the second
    Strips,     // a Product in strips of extents[0] results: its last argument says which strip
    Depthwise,  // a Product each of whose results has images and kernels of its own
    Operand,  // of the Product behind it, read once for each row: worth packing beside the vectors
    Border,   // Store of an image with a border, for the Product behind it, which may place it
    Reduce,   // an update over a reduction domain, for each point
    Window,   // a Reduce over the few cells of a window, which few points share
    Row,      // values that the Reduce behind it and the result read: held for as long as both do;
              // or what the rows of the Product behind it are made of, beside those
    Attention,  // of `parts`
    Winograd,   // of `parts`: tiles of results from products of transformed tiles
    Fourier,    // of `parts`: passes, each for one factor of the length
    InPlace,    // updates that write one place after the other: running sums, scattered elements
    Turn,   // values that lie along the first argument in what they are read from, each used once:
            // held for a row of a tensor that is stored along another, else computed where used
    Store,  // values that are read many times
  };
  Func func;
  Kind kind = Store;
  std::vector<Expr> extents;  // of the arguments
  // Of the update, innermost first. Of a Reduce only where the operator is associative.
  std::vector<RVar> rvars;
  // For each argument of func the dimension of the tensor that it counts along; empty where the
  // tensor reads the Func elsewhere than at its own point.
  std::vector<int> dims;
  // Do the rows of an image follow each other in func's argument of columns? Then dims has one entry
  // more: the dimension of the rows, behind those of the arguments.
  bool joined = false;
  // Of a Product that is made of several side by side, and of Strips: the last argument says which,
  // and the first counts within it along the same dimension. The last strip may have results beyond
  // the tensor's.
  // Of an Attention: heads that share keys. Of a Fourier: 1 where members of the batch are rows.
  int groups = 1;
  // The Funcs of an Attention: keys turned, scores, what is seen of them, each query's largest,
  // weights, their sum, weighted sums; then rvars are those of scores, largest, sum, weighted sums.
  // Of Strips whose terms are sums themselves, of products: those.
  // Of a Winograd: transformed tiles, sums of products, which are in strips of `groups` results,
  // and their copies.
  // Of a Window that is no update: columns of cells, `columns` of them for a row, 0 where that is
  // open.
  std::vector<Func> parts = {};
  int columns = 0;
  int cells = 0;  // of one of these windows
  // Of a Winograd, of rows and of columns: results of a tile, pixels between windows, products for
  // each channel of a tile. Of a Fourier, `tile` is each part's factor, 0 where it is no pass.
  // Of a Border, `places` are the image's dimensions that the arguments count along.
  std::vector<int> tile = {}, stride = {}, places = {};
  // Of a Product, Strips or Depthwise of open sizes, whose func selects by size between the sums of
  // others: the first one whose `when` holds, the last one, which has none, where no other does. A
  // Product has its operand as its part. The condition is of sizes alone.
  std::vector<Stage> choices = {};
  Expr when = {};
  // Of the extents, then of a Product's only reduction; what is not there is unknown.
  std::vector<OpenSize> open = {};
};

/// A value of rank n as an expression over n indices, with the Funcs that it is made of. Sizes are
/// Int(32) expressions: constants, or what a pipeline knows at run time only. Copies share Funcs.
class Tensor {
 public:
  using Read = std::function<Expr(const Index &)>;

  Tensor() = default;
  Tensor(Type type, Index shape, Read read, std::vector<Stage> stages = {})
      : type_(type), shape_(std::move(shape)), read_(std::move(read)), stages_(std::move(stages)) {}
  /// Of rank 0.
  explicit Tensor(const Expr &value);
  /// Reads an image whose dimension k (0 is innermost) is the tensor's dimension order[k]; by
  /// default the last dimension is innermost.
  Tensor(const ImageParam &image, Index shape, std::vector<int> order = {});

  bool defined() const { return static_cast<bool>(read_); }
  Type type() const { return type_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  const Index &shape() const { return shape_; }
  /// Of dimension d; negative ones count from the end.
  const Expr &size(int d) const { return shape_[static_cast<size_t>(d < 0 ? d + rank() : d)]; }
  /// The number of elements.
  Expr elements() const;
  /// The value at one point: an index for each dimension.
  Expr operator()(const Index &index) const;
  const std::vector<Stage> &stages() const { return stages_; }
  /// The same values with stages that no schedule may compute beside the tensor's own points.
  std::vector<Stage> detached_stages() const;

 private:
  Type type_;
  Index shape_;
  Read read_;
  std::vector<Stage> stages_;
};
/// The stages of all tensors, each Func once, for a tensor that reads them; none of them moves with
/// its points.
std::vector<Stage> merged_stages(const std::vector<Tensor> &tensors);

/// Funcs that hold these tensors, the outputs of one pipeline, with the library's schedule for them
/// and for all that they are made of. orders[i][k] is the dimension of tensor i that is dimension k
/// (0 is innermost) of its Func; an empty order puts the last dimension innermost. The schedules
/// are for whole tensors: a run that asks for a part that is smaller than a tile is refused, with
/// the size that it takes. promise(f, i), where it is given, may say of each Func how its memory
/// lies (f.output_buffer()), before schedules ask.
std::vector<Func> materialize(const std::vector<Tensor> &tensors,
                              const std::vector<std::string> &names,
                              const std::vector<std::vector<int>> &orders, const Target &target,
                              const std::function<void(const Func &, size_t)> &promise = {});

// Elementwise. Shapes meet as numpy's do: aligned at the last dimension, sizes of 1 repeat.

using Pointwise = std::function<Expr(const std::vector<Expr> &)>;
/// CompileError where the shapes do not meet. Float16 and bfloat16 values are computed in float32
/// and rounded to `result` at the end.
Tensor elementwise(const std::vector<Tensor> &operands, Type result, const Pointwise &f);
Tensor elementwise(const Tensor &operand, const std::function<Expr(Expr)> &f);
/// The shape in which the operands meet. Sizes that are no constants count as equal.
Index broadcast_shape(const std::vector<Tensor> &operands);
/// As numpy's: floats to integers are cut off, NaN is true.
Tensor convert(const Tensor &x, Type type);
Tensor add(const Tensor &a, const Tensor &b);
Tensor subtract(const Tensor &a, const Tensor &b);
Tensor multiply(const Tensor &a, const Tensor &b);
/// Of integers rounded towards zero.
Tensor divide(const Tensor &a, const Tensor &b);

// Points of float types; each takes and returns Exprs, to be used in elementwise().
namespace point {
/// 1/(1 + e^-x), of float32 within 2 units in the last place.
Expr sigmoid(Expr x);
/// x/(1 + e^-ax), of float32 within 3 units in the last place where ax > -87; below results,
/// smaller than 1e-35 of x, may be zero.
Expr swish(Expr x, double a = 1);
Expr softplus(Expr x);
/// x * P(X <= x) for a standard normal X; the second form uses tanh.
Expr gelu(Expr x);
Expr gelu_tanh(Expr x);
/// round(steps) + zero_point as the nearest value of an integer type of at most 16 bits; halves go
/// to even. `steps` is float32.
Expr saturated(const Expr &steps, const Expr &zero_point, Type type);
/// As Python's: the result has the divisor's sign. Of integers.
Expr modulo(Expr a, Expr b);
}  // namespace point

/// The same values, held in a Func: computed once, wherever they are read.
Tensor stored(const Tensor &x, const std::string &name);

// Other views of the same values.
Tensor transpose(const Tensor &x, const std::vector<int> &permutation);
/// The same elements in row-major order in another shape.
Tensor reshape(const Tensor &x, const Index &shape);
/// Sizes of 1 that repeat, and new dimensions in front.
Tensor expand(const Tensor &x, const Index &shape);
Tensor unsqueeze(const Tensor &x, const std::vector<int> &axes);
/// x[start], x[start + step], ... along each dimension, `shape` elements.
Tensor slice(const Tensor &x, const Index &start, const std::vector<int> &step, const Index &shape);
Tensor concat(const std::vector<Tensor> &parts, int axis);
Tensor tile(const Tensor &x, const Index &shape);
enum class PadMode { Constant, Edge, Reflect, Wrap };
/// `before` elements more in front of each dimension (fewer where negative), `shape` in all.
Tensor pad(const Tensor &x, const Index &before, const Index &shape, PadMode mode,
           const Expr &value);

// Subscripts from data. Negative ones count from the end; those beyond the end read the last
// element.
Tensor gather(const Tensor &x, const Tensor &indices, int axis);
Tensor gather_elements(const Tensor &x, const Tensor &indices, int axis);
Tensor gather_nd(const Tensor &x, const Tensor &indices, int batch_dims, int index_size);
enum class Combine { Replace, Add, Multiply, Min, Max };
/// x with updates put at, or combined with, the cells that the indices name, in row-major order.
Tensor scatter_elements(const Tensor &x, const Tensor &indices, const Tensor &updates, int axis,
                        Combine combine);
Tensor scatter_nd(const Tensor &x, const Tensor &indices, const Tensor &updates, int index_size,
                  Combine combine);

enum class Reduction { Sum, Mean, Max, Min, Product, SumSquare, L1, L2, LogSum, LogSumExp };
/// Over the axes, which keep size 1, or vanish.
Tensor reduce(const Tensor &x, Reduction how, const std::vector<int> &axes, bool keep_axes);
/// Int(64) position of the largest (smallest) value along the axis; of equal ones the first or
/// last.
Tensor arg_reduce(const Tensor &x, bool largest, int axis, bool keep_axis, bool last);
/// Sums (products) of all elements up to each point, without it where exclusive.
Tensor cumulate(const Tensor &x, int axis, bool product, bool exclusive, bool reverse);
/// Discrete Fourier transforms of rows of a known length, re[row, n] + i im[row, n] of Float(64)
/// (im undefined: real numbers): parts [row, k, 2] for k below `results`, which is at most the
/// length. The inverse is not divided by the length. `many_rows`: there are as many as a vector has
/// lanes, or more.
Tensor fourier_transform(const Tensor &re, const Tensor &im, int results, bool inverse,
                         bool many_rows);
/// The k largest (smallest) values along an axis in order, and their Int(64) positions.
std::pair<Tensor, Tensor> top_k(const Tensor &x, int k, int axis, bool largest);

/// exp(x) over its sum along the axes, and its logarithm.
Tensor softmax(const Tensor &x, const std::vector<int> &axes);
/// softmax, but 0 where all elements along the axes are -inf: a query that sees no key.
Tensor softmax_or_zero(const Tensor &x, const std::vector<int> &axes);
Tensor log_softmax(const Tensor &x, const std::vector<int> &axes);
/// (x - mean) / sqrt(variance + epsilon) along the axes; `mean` and `inverse` (1/sqrt) where asked
/// for.
Tensor normalize(const Tensor &x, const std::vector<int> &axes, float epsilon,
                 Tensor *mean = nullptr, Tensor *inverse = nullptr);
/// The same of x[image, channel, ..], of rank 3 or more, over all pixels of each of `groups` groups
/// of channels side by side (0: each channel is one), then times scale[channel] plus bias[channel].
Tensor normalize_channels(const Tensor &x, int groups, const Tensor &scale, const Tensor &bias,
                          float epsilon);
/// x / sqrt(mean of squares + epsilon) along the axes.
Tensor rms_normalize(const Tensor &x, const std::vector<int> &axes, float epsilon);

/// As numpy's matmul: the last two dimensions are matrices, others meet; a vector on the left is a
/// row, on the right a column, and that dimension vanishes. Sums and result have type `sums` (by
/// default the operands').
Tensor matmul(const Tensor &a, const Tensor &b, Type sums = Type());
/// The same of a[.., row, k], of rank 2 or 3, with a right operand in strips: strips[strip, k, i]
/// is b[k, strip * S + i], S being the last size, as kernel_strips() lays out b's transpose.
Tensor matmul(const Tensor &a, const Tensor &strips, int columns, Type sums = Type());

/// How queries attend to keys.
struct Attention {
  Expr scale;  // of the products; undefined: 1/sqrt(size)
  // The last query sees all keys, each before it one less; one that sees none has the result 0.
  bool causal = false;
};
/// softmax(scale * q k^T) v for each head: q[image, head, query, size], k[image, key head, key,
/// size] and v[image, key head, key, value size] give [image, head, query, value size]. The number
/// of heads is a constant multiple of the key heads', each of which serves as many in a row.
/// CompileError where the shapes do not meet.
Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v, const Attention &how = {});

/// How windows move over the spatial dimensions, outermost first.
struct Window {
  std::vector<int> kernel, stride, dilation, before;  // `before`: padding in front
  Index shape;                                        // of the result's spatial dimensions
};
/// x[image, channel, ...] itself where channels lie side by side in what it reads, or are few or of
/// an open number; else a copy in which they do.
Tensor channels_together(const Tensor &x);
/// stored(), of an image x[image, channel, ...], whose channels lie side by side in the Func where
/// they do so in what x reads.
Tensor stored_image(const Tensor &x);
/// x[image, channel, ...] with w[result channel, channel / groups, ...]. Padding has the value 0.
Tensor convolution(const Tensor &x, const Tensor &w, const Window &window, int groups,
                   Type sums = Type());
/// The same of one group, as the product of w as a matrix with one of each pixel's window: for few
/// pixels, or an open number of results, which kernels are not worth turning for.
Tensor convolution_by_product(const Tensor &x, const Tensor &w, const Window &window);
/// The same with kernels in strips, as kernel_strips() lays them out, of so many results.
Tensor convolution_by_product(const Tensor &x, const Tensor &strips, int results,
                              const Window &window);
/// Is that quicker than convolution() with strips, of results whose columns lie side by side?
bool gains_by_product(const Tensor &x, int results, const Window &window);
/// x[image, channel, ...] with w[channel, 1, ...], each channel by its own kernel, in vectors along
/// rows: for images whose channels lie apart, and results that do. gains_along_rows(): is that
/// quicker there than convolution(), which turns the image?
bool gains_along_rows(const Tensor &x, const Window &window);
Tensor depthwise_along_rows(const Tensor &x, const Tensor &w, const Window &window);
/// The same with kernels in strips: strips[strip, ..., channel, i] belongs to result strip * S + i,
/// S being the last size, which is a constant; those beyond the last of `results` are 0. What a
/// tile of results reads of them lies side by side. Each of several groups has whole strips.
Tensor convolution(const Tensor &x, const Tensor &strips, int results, const Window &window,
                   Type sums = Type(), int groups = 1);
/// Do so few results of a convolution leave most lanes of a vector idle, that vectors run along
/// rows of the image? Its kernels are best as they are, then.
bool few_results(int results, const Window &window);
/// How many results of so many make a strip, for pixels or rows of a matrix, or for one.
int strip_width(int results, const Type &sums, const Target &target, bool one_row = false);
/// Kernels w[result, channel, ...], or the transpose of a matrix, in strips of this width, for
/// whoever lays them out in memory.
Tensor kernel_strips(const Tensor &w, int width);
/// Winograd's form of convolutions: tiles of tile[0] rows by tile[1] columns of results, each of
/// them 1, 2 or 4. Along a dimension of 2 or 4 a tile takes fewer products for each channel than
/// the direct form: of 3 cells 4 for 2 results and 6 for 4, of 7 cells two apart 13 for 4. Where a
/// tile has one result, nothing is transformed. An error is below (terms + 4 * (p + q)) units of
/// rounding (half of epsilon) of the same sums over absolute values,
///   |A'| (|G g H'| * (|B'| |d| |C|)) |D|
/// for `terms` products in a sum and p by q places of a tile; in practice it is no more than the
/// direct form's for tiles of up to 2, up to four times as much for {4, 1}, and about ten times for
/// {4, 4}. Matrices are those of Toom and Cook, see A. L. Toom (1963) and S. A. Cook (1966); for
/// tiles of 2 by 2 and 3x3 kernels, but for signs, those of Lavin and Gray, "Fast algorithms for
/// convolutional neural networks" (2016).
///
/// Images x[image, channel, row, column]; kernels [strip, i, j, channel, result in the strip] as
/// winograd_kernels() makes them. CompileError for other windows.
///
/// Of whole numbers it is exact: x and kernels of Int(16), the kernels times winograd_scale() of
/// rows and of columns, results of Int(32). Transformed pixels, kernels and results times the
/// scales have to fit their types; those of bytes less a zero point do, of up to 900 channels.
Tensor winograd(const Tensor &x, const Tensor &kernels, int results, const Window &window,
                const std::vector<int> &tile);
/// G w H' of kernels w[result, channel, row, column], in strips of `width` results.
Tensor winograd_kernels(const Tensor &w, const Window &window, const std::vector<int> &tile,
                        int width);
/// G, for whoever transforms kernels ahead: rows and columns, the kernel's cells, of a spatial
/// dimension with so many cells, so many pixels between windows and so many results of a tile.
std::vector<std::vector<double>> winograd_kernel_transform(int kernel, int stride, int tile);
/// The factor that makes whole numbers of G, 1 or 2; 0 where pixels or results are multiplied, too.
int winograd_scale(int kernel, int stride, int tile);
/// The tile with which this form is quicker than the direct one, of those whose errors are no more
/// than four times as large; empty where there is none. Images of few pixels have too few tiles for
/// each kernel.
std::vector<int> winograd_tile(int channels, int results, const Window &window);
/// The transposed one: w[channel, result channel / groups, ...].
Tensor transposed_convolution(const Tensor &x, const Tensor &w, const Window &window, int groups);
/// Results whose places leave the same rest by the stride take the same cells of a transposed
/// convolution's kernel, every stride-th one: they are a convolution of stride 1. All rests
/// together, the last dimension's first, are one with `count` times the results.
struct Phases {
  Window window;           // of that convolution
  std::vector<int> first;  // the place in its results' row of what lies at 0
  int count = 1;
  /// Has one fewer cells than another, or begins in the border? Strips of one phase each leave out
  /// what it has not.
  bool differ = false;
};
/// Nothing where the window has dilation or more padding than its kernel has cells.
std::optional<Phases> transposed_phases(const Window &window);
/// The same with kernels of the phases in strips, as the convolution above takes them: the kernel
/// of phase p and result r is kernel p * results + r. Its cell c along a dimension is w's cell
/// (cells - 1 - c) * stride + rest, 0 beyond its last.
Tensor transposed_convolution(const Tensor &x, const Tensor &strips, int results,
                              const Window &window);

enum class Pooling { Max, Average, AverageWithPadding, Norm };
/// Average counts elements of x only, AverageWithPadding `after`-wards bounded padding too. Norm is
/// the p-norm.
Tensor pool(const Tensor &x, const Window &window, Pooling how, const std::vector<int> &after = {},
            int p = 2);
/// The positions of the maxima in x, counted through all of x; column_major swaps the last two.
Tensor max_pool_positions(const Tensor &x, const Window &window, bool column_major);

/// round(x / scale) + zero_point, saturated to `type`; halves go to even.
Tensor quantize(const Tensor &x, const Tensor &scale, const Tensor &zero_point, Type type);
Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero_point, Type type);
/// Has the target dot products of 16 bits alone, so that bytes are widened for each of them? There
/// weights of Int(16), less their zero points, serve quantized_matmul() and quantized_convolution()
/// better, as long as many rows or pixels share them.
bool widens_bytes(const Type &a, const Type &b, const Target &target);
/// How processors' dot products take the right operand of a product of narrow numbers.
struct DotStrips {
  int columns, terms;
};
/// Where the target multiplies a by a matrix b of so many columns that they fill whole strips. For
/// whoever lays out matrices in memory: packed[strip, k / terms, column, k % terms].
std::optional<DotStrips> dot_strips(const Type &a, const Type &b, int columns,
                                    const Target &target);
/// The matrix [k, column] that lies so; products read it where it is.
Tensor packed_matrix(const Tensor &packed);
/// a[row, k] times a matrix of codes of `bits`, 2, 4 or 8, with a scale and a zero point
/// (undefined: the code in the middle) for each `block` rows of a column: scales[strip, block,
/// result], zeros likewise. codes[strip, group, result] are words of UInt(32), whose byte i holds
/// codes h = 0, 1, .. from its lowest bits on, of rows group * 32/bits + 4 h + i. As bytes of
/// UInt(8), [strip, group, result, i], they are multiplied by rows that are rounded to bytes, with
/// a scale for each block of a row. A strip has block_strip_width() results; the last one may have
/// some beyond `results`.
Tensor block_product(const Tensor &a, const Tensor &codes, const Tensor &scales,
                     const Tensor &zeros, int results, int bits, int block);
int block_strip_width(const Target &target);
/// The product of a - a_point and b - b_point, which have 8 bits, in Int(32): that of a and b as
/// they are, which processors have instructions for, and sums of rows and columns. The points are
/// undefined for 0, scalars, or of a one for each row {.., rows, 1}, of b one for each column.
/// `column_sums`: those of b in Int(32), {.., 1, columns}, where the caller knows them. b may have
/// 16 bits, see widens_bytes(), and then zeros behind a's columns, to an even number.
Tensor quantized_matmul(const Tensor &a, const Tensor &a_point, const Tensor &b,
                        const Tensor &b_point, const Tensor &column_sums = Tensor());
/// The same of a convolution: x_point is one number, w_point that or one for each result. w: the
/// kernels, where windows do not overlap also their matrix [(channel, cell..), result]. Groups have
/// one channel and one result, or a multiple of 4 channels each (of kernels of 16 bits an even
/// number), of which dot products take neighbours. Padding is x_point. All sizes are constants.
/// `kernel_sums`: of each result's kernel in Int(32), where the caller knows them.
Tensor quantized_convolution(const Tensor &x, const Tensor &x_point, const Tensor &w,
                             const Tensor &w_point, const Window &window, int groups = 1,
                             const Tensor &kernel_sums = Tensor());
/// The same by Winograd's form: kernels as winograd() takes whole numbers, which have no zero point
/// left, packed[strip, i, j, channel / 2, result in the strip, channel % 2], perhaps with zeros
/// behind the last channel.
Tensor quantized_winograd(const Tensor &x, const Tensor &x_point, const Tensor &packed, int results,
                          const Window &window, const std::vector<int> &tile);
/// Kernels that lie as dot products take them, which convolutions read where they are:
/// packed[result / width, cell.., channel / 4, result % width, channel % 4], of 16 bits with pairs
/// of channels in place of fours. The width is a divisor of a group's results; of one group,
/// channels may be zeros behind those of the image.
Tensor packed_kernels(const Tensor &packed);

}  // namespace polyhalite::ops
