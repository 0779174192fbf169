// Images as convolutions and pools see them: borders around them, how their channels lie, which of
// their dimensions are columns.
#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

std::vector<int> channels_first(int rank) {
  std::vector<int> order{1};
  for (int d = rank - 1; d >= 2; d--) order.push_back(d);
  order.push_back(0);
  return order;
}

void for_each_cell(const Window &window, const std::function<void(const std::vector<int> &)> &f) {
  std::vector<int> cell(window.kernel.size(), 0);
  for (bool more = true; more;) {
    f(cell);
    more = false;
    for (size_t i = cell.size(); i-- > 0 && !more;) {
      more = ++cell[i] < window.kernel[i];
      if (!more) cell[i] = 0;
    }
  }
}

Tensor bordered(const Tensor &x, const Window &window, const Tensor &outside, bool planes,
                bool exact) {
  constexpr int kFewChannels = 4;
  Index before{Expr(0), Expr(0)}, shape{x.size(0), x.size(1)};
  bool any = false;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const int d = static_cast<int>(i) + 2;
    const int cells = (window.kernel[i] - 1) * window.dilation[i] + 1;
    Expr reach = (window.shape[i] - 1) * window.stride[i] + cells;
    if (const auto count = constant(window.shape[i])) {
      reach = static_cast<int>((*count - 1) * window.stride[i] + cells);
    }
    const bool open = !constant(x.size(d)) || !constant(reach);
    any =
        any || window.before[i] != 0 || (open && !exact) || !is_true(simplify(reach <= x.size(d)));
    before.emplace_back(window.before[i]);
    shape.push_back(reach);
  }
  if (!any) return x;
  // What lies outside of x is known; the index is clamped so that no other element is needed. A few
  // channels fill no vector, rows do.
  const std::vector<int> order = planes || constant(x.size(1)).value_or(16) <= kFewChannels
                                     ? reversed_dims(x.rank())
                                     : channels_first(x.rank());
  const std::vector<Var> vars = index_vars(x.rank());
  Index at = as_index(vars);
  std::vector<Expr> borders;
  for (size_t d = 2; d < at.size(); d++) {
    const Expr n = x.shape()[d], i = at[d] - before[d];
    borders.push_back(i >= 0 && i < n);
    at[d] = clamp(i, 0, n - 1);
  }
  Func f("padded");
  const Expr border = outside.defined() ? outside(Index{}) : cast(x.type(), Expr(0));
  Expr value = x(at);
  // Loops are cut where each dimension asks for itself.
  for (const Expr &inside : borders) value = select(inside, likely(value), border);
  f(in_order(vars, order)) = value;
  Stage own;
  own.kind = Stage::Border;
  own.func = f;
  own.extents = in_order(shape, order);
  own.dims = own.places = order;
  std::vector<Stage> stages = merged_stages({x});
  stages.push_back(own);
  return Tensor(
      x.type(), shape, [f, order](const Index &index) -> Expr { return f(in_order(index, order)); },
      stages);
}

std::optional<size_t> instead_of_columns(const Tensor &x, const Window &window) {
  if (window.kernel.size() < 2) return std::nullopt;
  const size_t last = window.kernel.size() - 1;
  const bool single = constant(x.size(-1)) == 1 && window.kernel[last] == 1 &&
                      constant(window.shape[last]) == 1 && window.before[last] == 0;
  if (!single) return std::nullopt;
  for (size_t d = last; d-- > 0;) {
    if (constant(window.shape[d]) != 1) return d;
  }
  return std::nullopt;
}

Tensor with_columns(const Tensor &x, size_t first, size_t d, size_t spatial) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); i++) order.push_back(i);
  std::swap(order[first + d], order[first + spatial - 1]);
  return transpose(x, order);
}

Window with_columns(const Window &window, size_t d) {
  Window w = window;
  for (std::vector<int> *list : {&w.kernel, &w.stride, &w.dilation, &w.before})
    std::swap((*list)[d], list->back());
  std::swap(w.shape[d], w.shape.back());
  return w;
}

namespace {

// How what x is made of holds x's channels.
struct Channels {
  bool apart = false, together = false;

  explicit Channels(const Tensor &x) {
    const std::vector<Var> vars = index_vars(x.rank());
    for_each_node(x(as_index(vars)), [&](const Expr &e) {
      const CallNode *c = as_call(e);
      if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
      for (size_t i = 0; i < c->args.size(); i++) {
        if (uses_variable(c->args[i], vars[1].name())) (i == 0 ? together : apart) = true;
      }
    });
  }
};

}  // namespace

bool some_channels_are_together(const Tensor &x) { return Channels(x).together; }

bool channels_are_together(const Tensor &x) {
  const Channels channels(x);
  return channels.together && !channels.apart;
}

Tensor channels_together(const Tensor &x) {
  constexpr int64_t kMany = 16;
  if (constant(x.size(1)).value_or(0) < kMany) return x;
  const Channels channels(x);
  return channels.apart && !channels.together ? with_channels_innermost(x) : x;
}

Tensor stored_image(const Tensor &x) {
  if (x.rank() < 3) return stored(x, "image");
  return channels_are_together(x) ? with_channels_innermost(x) : stored(x, "image");
}

Tensor with_channels_innermost(const Tensor &x, const std::string &name, Stage::Kind kind) {
  std::vector<int> channels_last{0}, channels_second{0, x.rank() - 1};
  for (int d = 2; d < x.rank(); d++) {
    channels_last.push_back(d);
    channels_second.push_back(d - 1);
  }
  channels_last.push_back(1);
  return transpose(held(transpose(x, channels_last), name, kind), channels_second);
}

}  // namespace polyhalite::ops
