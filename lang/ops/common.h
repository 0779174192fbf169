// What the operators share: sizes that are constants, arguments of Funcs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

inline std::optional<int64_t> constant(const Expr &e) {
  int64_t value = 0;
  if (e.defined() && is_const_int(e, &value)) return value;
  return std::nullopt;
}

/// Equal constants, or sizes of which one is known at run time only.
inline bool may_be_equal(const Expr &a, const Expr &b) {
  const auto x = constant(a), y = constant(b);
  return !x || !y || *x == *y;
}

/// Variables i0, i1, ..., one for each dimension, outermost first.
inline std::vector<Var> index_vars(int rank, const std::string &prefix = "i") {
  std::vector<Var> vars;
  for (int d = 0; d < rank; d++) vars.emplace_back(prefix + std::to_string(d));
  return vars;
}
inline Index as_index(const std::vector<Var> &vars) { return Index(vars.begin(), vars.end()); }
/// The arguments of a Func whose innermost dimension is the last one.
template <typename T>
std::vector<T> reversed(const std::vector<T> &list) {
  return {list.rbegin(), list.rend()};
}
inline std::vector<int> reversed_dims(int rank) {
  std::vector<int> dims;
  for (int d = rank - 1; d >= 0; d--) dims.push_back(d);
  return dims;
}

/// The elements of a list that these numbers name, in their order.
template <typename T>
std::vector<T> in_order(const std::vector<T> &list, const std::vector<int> &order) {
  std::vector<T> out;
  for (int d : order) out.push_back(list[static_cast<size_t>(d)]);
  return out;
}

/// Dimensions of an image in the order of a Func's arguments: channel, columns, rows..., image.
std::vector<int> channels_first(int rank);

/// Axes in [0, rank), in rising order.
std::vector<int> normal_axes(const std::vector<int> &axes, int rank);

/// The float type in which values of type t are computed: float32 for 16-bit floats.
Type computed_type(Type t);

/// A tensor that reads Func f, whose arguments are its dimensions, the last first; `stages` come
/// before f's own.
Tensor tensor_of(const Func &f, Type type, const Index &shape, Stage stage,
                 std::vector<Stage> stages);

/// Calls f with each cell of the window's kernel, in row-major order.
void for_each_cell(const Window &window, const std::function<void(const std::vector<int> &)> &f);

/// x with zeros, or `outside`, around its spatial dimensions, as far as windows reach; channels
/// innermost unless they are few or `planes`. `exact`: tiles read no further than windows do, so
/// that an image of an open size, which all windows lie in, is itself.
Tensor bordered(const Tensor &x, const Window &window, const Tensor &outside = Tensor(),
                bool planes = false, bool exact = false);

/// The spatial dimension, an earlier one, that stands in the place of the last one, where that has
/// a single place and one cell: tiles go along the last one.
std::optional<size_t> instead_of_columns(const Tensor &x, const Window &window);
/// x, and a window, with spatial dimension d and the last one of `spatial` swapped; the first of
/// them is dimension `first` of x.
Tensor with_columns(const Tensor &x, size_t first, size_t d, size_t spatial);
Window with_columns(const Window &window, size_t d);

/// Do the channels of x[image, channel, ...] lie side by side in all that it reads?
bool channels_are_together(const Tensor &x);

/// In some of it?
bool some_channels_are_together(const Tensor &x);

/// A copy of x[image, channel, ...] whose channels lie side by side.
Tensor with_channels_innermost(const Tensor &x, const std::string &name = "pixels",
                               Stage::Kind kind = Stage::Store);

/// e^x for x <= 0, which is promised: it takes fewer instructions.
Expr exp_of_nonpositive(const Expr &x);

/// What makes the weights exp(x - peak) / total of a row of -inf 0 instead of NaN: a peak that is a
/// number, and a total that is above 0 by what is lost beside the 1 of any other row's peak.
Expr number_below(const Expr &peak);
Expr above_zero(const Expr &total);

/// x in a Func of its own, of a Store or a Row.
Tensor held(const Tensor &x, const std::string &name, Stage::Kind kind);

/// For each row, which keeps its dimension, the first place, or the last one, where a condition
/// holds: Int(32); where it holds nowhere the row's length, or -1.
Tensor place_where(const Tensor &holds, bool last);

/// Adds a stage, or, where its Func is there already at other points, takes it from all points.
void add_stage(std::vector<Stage> *stages, const Stage &s, std::vector<int> dims);

/// Strips for each class of the number of columns, or of a matrix's rows, where that is open.
std::vector<Stage> strip_choices(const Expr &columns, const std::function<Stage()> &make);

/// Is a size known when a pipeline begins to run, so that it may choose between schedules?
bool is_fixed(const Expr &size);

/// A stage that selects by size between others of the same values, the last of which has no
/// condition; itself where it is the only one.
Stage chosen(std::vector<Stage> choices, const std::string &name);

}  // namespace polyhalite::ops
