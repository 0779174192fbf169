// Convolutions, of any number of spatial dimensions. The Funcs have channels innermost, whatever
// the order of the images around them: vectors run over result channels, a pixel's value is read
// once for all of them.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// Dimensions of an image in the order of a Func's arguments: channel, columns, rows..., image.
std::vector<int> channels_first(int rank) {
  std::vector<int> order{1};
  for (int d = rank - 1; d >= 2; d--) order.push_back(d);
  order.push_back(0);
  return order;
}

template <typename T>
std::vector<T> in_order(const std::vector<T> &list, const std::vector<int> &order) {
  std::vector<T> out;
  for (int d : order) out.push_back(list[static_cast<size_t>(d)]);
  return out;
}

// A reduction over channels (innermost) and the kernel's cells; `channel` and cells[i] of the
// spatial dimensions, outermost first.
struct KernelDomain {
  RDom r;
  Expr channel;
  Index cells;

  KernelDomain(const Expr &channels, const std::vector<int> &kernel) {
    Region region{{Expr(0), channels}};
    for (size_t i = kernel.size(); i-- > 0;) region.emplace_back(Expr(0), Expr(kernel[i]));
    r = RDom(region, "k");
    channel = r[0];
    for (size_t i = 0; i < kernel.size(); i++) {
      cells.emplace_back(r[static_cast<int>(kernel.size() - i)]);
    }
  }
  std::vector<RVar> variables() const {
    std::vector<RVar> list;
    for (int d = 0; d < r.dimensions(); d++) list.push_back(r[d]);
    return list;
  }
};

// The sums of terms. `term` is told the point and the group of its channel.
Tensor summed(Type type, Type result, const Index &shape, int groups, const KernelDomain &domain,
              std::vector<Stage> stages,
              const std::function<Expr(const Index &, const Expr &)> &term) {
  const int rank = static_cast<int>(shape.size());
  const std::vector<int> order = channels_first(rank);
  const auto channels = constant(shape[1]);
  // Vectors stay within a group. A group of one result is its channel.
  const bool apart = groups > 1 && channels && *channels > groups;
  const int size = apart ? static_cast<int>(*channels) / groups : 1;
  std::vector<Var> vars = index_vars(rank), args = in_order(vars, order);
  Index at = as_index(vars);
  Expr group = at[1];
  if (apart) {
    args.emplace_back("group");
    group = args.back();
    at[1] = group * size + vars[1];
  } else if (groups > 1 && !channels) {
    group = at[1] / (shape[1] / groups);
  }
  Func sum("convolution");
  sum(args) = cast(type, Expr(0));
  sum(args) += term(at, group);
  Stage own;
  own.kind = Stage::Product;
  own.func = sum;
  own.extents = in_order(shape, order);
  own.rvars = domain.variables();
  own.dims = order;
  auto place = [order, apart, size](const Index &index) {
    Index to = in_order(index, order);
    if (!apart) return to;
    to[0] = index[1] % size;
    to.push_back(index[1] / size);
    return to;
  };
  if (apart) {
    own.groups = groups;
    own.extents[0] = size;
    own.extents.emplace_back(groups);
    own.dims.push_back(1);
  }
  stages.push_back(own);
  return convert(
      Tensor(
          type, shape, [sum, place](const Index &index) -> Expr { return sum(place(index)); },
          std::move(stages)),
      result);
}

// x with zeros around its spatial dimensions, channels innermost.
Tensor padded(const Tensor &x, const Window &window) {
  Index before{Expr(0), Expr(0)}, shape{x.size(0), x.size(1)};
  bool any = false;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const int d = static_cast<int>(i) + 2;
    const Expr reach = (window.shape[i] - 1) * window.stride[i] +
                       ((window.kernel[i] - 1) * window.dilation[i] + 1);
    const auto n = constant(x.size(d)), last = constant(reach);
    any = any || window.before[i] != 0 || !n || !last || *last > *n;
    before.emplace_back(window.before[i]);
    shape.push_back(reach);
  }
  if (!any) return x;
  // What lies outside of x is 0; the index is clamped so that no other element is needed.
  const Tensor wide = pad(x, before, shape, PadMode::Constant, cast(x.type(), Expr(0)));
  const std::vector<int> order = channels_first(x.rank());
  const std::vector<Var> vars = index_vars(x.rank());
  Func f("padded");
  f(in_order(vars, order)) = wide(as_index(vars));
  Stage own;
  own.kind = Stage::Store;
  own.func = f;
  own.extents = in_order(shape, order);
  std::vector<Stage> stages = merged_stages({x});
  stages.push_back(own);
  return Tensor(
      x.type(), shape, [f, order](const Index &index) -> Expr { return f(in_order(index, order)); },
      stages);
}

Expr times(const Expr &a, int b) { return b == 1 ? a : a * b; }

}  // namespace

Tensor convolution(const Tensor &x, const Tensor &w, const Window &window, int groups, Type sums) {
  const Type type = sums == Type() ? computed_type(x.type()) : sums;
  const Type result = sums == Type() ? x.type() : sums;
  const Tensor image = padded(x, window);
  Index shape{x.size(0), w.size(0)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  const KernelDomain domain(w.size(1), window.kernel);
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  auto term = [&](const Index &at, const Expr &group) {
    Expr channel = domain.channel;
    if (groups > 1) channel = is_one(w.size(1)) ? group : group * w.size(1) + channel;
    Index pixel{at[0], channel}, weight{at[1], domain.channel};
    for (size_t i = 0; i < window.kernel.size(); i++) {
      pixel.push_back(times(at[i + 2], window.stride[i]) +
                      times(domain.cells[i], window.dilation[i]));
      weight.push_back(domain.cells[i]);
    }
    return wide(image(pixel)) * wide(w(weight));
  };
  return summed(type, result, shape, groups, domain, merged_stages({image, w}), term);
}

Tensor transposed_convolution(const Tensor &x, const Tensor &w, const Window &window, int groups) {
  const Type type = computed_type(x.type());
  const Expr results = w.size(1);  // of one group
  Index shape{x.size(0), results * groups};
  if (const auto c = constant(results)) shape[1] = static_cast<int>(*c * groups);
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  const Expr channels = groups == 1 ? x.size(1) : Expr(x.size(1) / groups);
  const KernelDomain domain(channels, window.kernel);
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  // A result's cell gets each pixel that the kernel spreads to it.
  auto term = [&](const Index &at, const Expr &group) {
    Expr channel = domain.channel, result = at[1];
    if (groups > 1) {
      channel = group * channels + domain.channel;
      result = at[1] - group * results;
    }
    Index pixel{at[0], channel}, weight{channel, result};
    Expr hit;
    for (size_t i = 0; i < window.kernel.size(); i++) {
      const Expr n = x.size(static_cast<int>(i) + 2);
      const Expr from = at[i + 2] + window.before[i] - times(domain.cells[i], window.dilation[i]);
      const int stride = window.stride[i];
      const Expr source = stride == 1 ? from : from / stride;
      Expr here = from >= 0 && source < n;
      if (stride != 1) here = here && from % stride == 0;
      hit = hit.defined() ? hit && here : here;
      pixel.push_back(clamp(source, 0, n - 1));
      weight.push_back(domain.cells[i]);
    }
    const Expr value = wide(x(pixel)) * wide(w(weight));
    return hit.defined() ? select(hit, value, cast(type, Expr(0))) : value;
  };
  return summed(type, x.type(), shape, groups, domain, merged_stages({x, w}), term);
}

}  // namespace polyhalite::ops
