// Other views of the same values.
#include <algorithm>

#include "lang/ir/node.h"
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

Tensor transpose(const Tensor &x, const std::vector<int> &permutation) {
  Index shape;
  for (int p : permutation) shape.push_back(x.size(p));
  auto read = [x, permutation](const Index &index) {
    Index at(index.size());
    for (size_t d = 0; d < index.size(); d++) at[static_cast<size_t>(permutation[d])] = index[d];
    return x(at);
  };
  std::vector<Stage> stages = x.stages();
  for (Stage &s : stages) {
    for (int &d : s.dims) {
      if (d < 0) continue;
      d = static_cast<int>(std::find(permutation.begin(), permutation.end(), d) -
                           permutation.begin());
    }
  }
  return Tensor(x.type(), shape, read, stages);
}

Tensor reshape(const Tensor &x, const Index &shape) {
  auto read = [x, shape](const Index &index) {
    // Dimensions of size 1 on either side take no part in the arithmetic; equal leading and
    // trailing ones meet one to one.
    const Index &own = x.shape();
    size_t from = 0, to = 0, from_end = own.size(), to_end = shape.size();
    Index at(own.size(), Expr(0));
    const auto are_equal = [&](size_t a, size_t b) { return equal(own[a], shape[b]); };
    while (true) {
      while (from < own.size() && is_one(own[from])) from++;
      while (to < shape.size() && is_one(shape[to])) to++;
      if (from == own.size() || to == shape.size() || !are_equal(from, to)) break;
      at[from++] = index[to++];
    }
    while (true) {
      while (from_end > from && is_one(own[from_end - 1])) from_end--;
      while (to_end > to && is_one(shape[to_end - 1])) to_end--;
      if (from_end == from || to_end == to || !are_equal(from_end - 1, to_end - 1)) break;
      at[--from_end] = index[--to_end];
    }
    Expr flat = 0;
    for (size_t d = to; d < to_end; d++) {
      if (!is_one(shape[d])) flat = flat * shape[d] + index[d];
    }
    for (size_t d = from_end; d-- > from;) {
      if (is_one(own[d])) continue;
      bool outermost = true;
      for (size_t o = from; o < d; o++) outermost = outermost && is_one(own[o]);
      at[d] = outermost ? flat : flat % own[d];
      flat = flat / own[d];
    }
    return x(at);
  };
  return Tensor(x.type(), shape, read, x.detached_stages());
}

Tensor expand(const Tensor &x, const Index &shape) {
  const Tensor to(x.type(), shape, [x](const Index &) { return cast(x.type(), Expr(0)); });
  return elementwise({x, to}, x.type(), [](const std::vector<Expr> &v) { return v[0]; });
}

Tensor unsqueeze(const Tensor &x, const std::vector<int> &axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  const std::vector<int> fresh = normal_axes(axes, rank);
  Index shape;
  std::vector<int> kept;
  for (int d = 0; d < rank; d++) {
    const bool is_new = std::find(fresh.begin(), fresh.end(), d) != fresh.end();
    shape.push_back(is_new ? Expr(1) : x.size(static_cast<int>(kept.size())));
    if (!is_new) kept.push_back(d);
  }
  auto read = [x, kept](const Index &index) {
    Index at;
    for (int d : kept) at.push_back(index[static_cast<size_t>(d)]);
    return x(at);
  };
  std::vector<Stage> stages = x.stages();
  for (Stage &s : stages) {
    for (int &d : s.dims) d = d < 0 ? d : kept[static_cast<size_t>(d)];
  }
  return Tensor(x.type(), shape, read, stages);
}

Tensor slice(const Tensor &x, const Index &start, const std::vector<int> &step,
             const Index &shape) {
  auto read = [x, start, step](const Index &index) {
    Index at;
    for (size_t d = 0; d < index.size(); d++) {
      at.push_back(constant(start[d]) == 0 && step[d] == 1 ? index[d]
                                                           : start[d] + index[d] * step[d]);
    }
    return x(at);
  };
  return Tensor(x.type(), shape, read, x.detached_stages());
}

Tensor concat(const std::vector<Tensor> &parts, int axis) {
  const size_t a = static_cast<size_t>(axis < 0 ? axis + parts[0].rank() : axis);
  Index shape = parts[0].shape();
  Index ends;
  Expr end = 0;
  for (const Tensor &t : parts) {
    const auto c = constant(end), n = constant(t.shape()[a]);
    end = c && n ? Expr(static_cast<int>(*c + *n)) : end + t.shape()[a];
    ends.push_back(end);
  }
  shape[a] = end;
  auto read = [parts, a, ends](const Index &index) {
    Expr value;
    for (size_t k = parts.size(); k-- > 0;) {
      if (constant(parts[k].shape()[a]) == 0) continue;
      Index at = index;
      const Expr begin = k == 0 ? Expr(0) : ends[k - 1];
      at[a] = clamp(index[a] - begin, 0, parts[k].shape()[a] - 1);
      const Expr v = parts[k](at);
      // Where an open part of a row ends is said of the last one, too: a vector is then one load
      // under a mask.
      const bool ends_here = value.defined() || (a + 1 == index.size() && !constant(ends[k]));
      const Expr beyond = value.defined() ? value : cast(parts[k].type(), Expr(0));
      value = ends_here ? select(index[a] < ends[k], v, beyond) : v;
    }
    return value.defined() ? value : cast(parts[0].type(), Expr(0));
  };
  return Tensor(parts[0].type(), shape, read, merged_stages(parts));
}

Tensor tile(const Tensor &x, const Index &shape) {
  auto read = [x, shape](const Index &index) {
    Index at;
    for (size_t d = 0; d < index.size(); d++) {
      const auto n = constant(x.shape()[d]), all = constant(shape[d]);
      constexpr int64_t kFew = 8;
      if (d + 1 < index.size() || !n || !all || *n < 1 || *all > kFew * *n) {
        at.push_back(index[d] % x.shape()[d]);
        continue;
      }
      // Of a few copies along the last dimension each is read as it lies.
      Expr place = index[d] - static_cast<int>((*all - 1) / *n * *n);
      for (int64_t k = (*all - 1) / *n; k-- > 0;) {
        const int begin = static_cast<int>(k * *n), end = static_cast<int>((k + 1) * *n);
        place = select(index[d] < end, index[d] - begin, place);
      }
      at.push_back(clamp(place, 0, static_cast<int>(*n - 1)));
    }
    return x(at);
  };
  return Tensor(x.type(), shape, read, x.detached_stages());
}

Tensor pad(const Tensor &x, const Index &before, const Index &shape, PadMode mode,
           const Expr &value) {
  auto read = [x, before, shape, mode, value](const Index &index) {
    Index at;
    std::vector<Expr> borders;
    for (size_t d = 0; d < index.size(); d++) {
      const Expr n = x.shape()[d], i = index[d] - before[d];
      const auto size = constant(n), padded = constant(shape[d]);
      if (constant(before[d]) == 0 && size && size == padded) {
        at.push_back(index[d]);
        continue;
      }
      // What is inside lies as it is read: loops are cut so that its vectors ask nothing.
      const Expr inside = i >= 0 && i < n;
      switch (mode) {
        case PadMode::Constant:
          borders.push_back(inside);
          at.push_back(clamp(i, 0, n - 1));
          break;
        case PadMode::Edge:
          at.push_back(clamp(select(inside, likely(i), select(i < 0, 0, n - 1)), 0, n - 1));
          break;
        case PadMode::Reflect: {
          // ... 2 1 [0 1 2 ... n-1] n-2 ...
          const Expr period = max(2 * (n - 1), 1);
          const Expr r = i % period;
          at.push_back(clamp(select(inside, likely(i), min(r, period - r)), 0, n - 1));
          break;
        }
        case PadMode::Wrap:
          at.push_back(clamp(select(inside, likely(i), i % n), 0, n - 1));
          break;
      }
    }
    Expr v = x(at);
    for (const Expr &inside : borders) v = select(inside, likely(v), cast(x.type(), value));
    return v;
  };
  return Tensor(x.type(), shape, read, x.detached_stages());
}

}  // namespace polyhalite::ops
