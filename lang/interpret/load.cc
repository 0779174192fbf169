// Steps that read grids: offsets into the grid first, in steps that run no more often than the
// indices they depend on change; then the elements.
#include <algorithm>
#include <cstring>

#include "lang/interpret/program.h"

namespace polyhalite::interpreter {

namespace {

std::string range_text(int64_t min, int64_t extent) {
  if (extent == 0) return "an empty range";
  std::string text = "[";
  text.append(std::to_string(min)).append(", ").append(std::to_string(min + extent - 1));
  return text + "]";
}

Diagnostic explain_load(const Grid &grid, const std::vector<Register *> &args, int lane) {
  Diagnostic d;
  for (size_t k = 0; k < args.size(); k++) {
    const int64_t at = args[k]->as<int32_t>()[lane];
    if (at >= grid.min[k] && at < grid.min[k] + grid.extent[k]) continue;
    d.what = (grid.is_image ? "input '" : "'") + grid.name + "' is read at " + std::to_string(at) +
             " in dimension " + std::to_string(k) + ", outside " +
             range_text(grid.min[k], grid.extent[k]);
    break;
  }
  d.fix = "pass an input that covers it, or clamp the index";
  return d;
}

// Adds index `k`'s share of the offset; where it is outside, the lane is poisoned.
Register *add_offset(Program &p, const Grid *g, const std::vector<Register *> &args, size_t k) {
  Register *r = p.add_register(Int(64));
  int64_t *d = r->as<int64_t>();
  const int32_t *at = args[k]->as<int32_t>();
  const int self = p.next_step();
  return p.add_step(
      r, {args[k]},
      [=](int n) {
        const int64_t min = g->min[k], stride = g->stride[k];
        const auto extent = static_cast<uint64_t>(g->extent[k]);
        bool outside = false;
        for (int i = 0; i < n; i++) {
          const int64_t distance = at[i] - min;
          outside |= static_cast<uint64_t>(distance) >= extent;
          d[i] = stride == 1 ? distance : distance * stride;
        }
        if (!outside) return;
        for (int i = 0; i < n; i++) {
          if (static_cast<uint64_t>(at[i] - min) < extent) continue;
          mark_poison(*r, i, self);
          d[i] = 0;
        }
      },
      [=](int lane) { return explain_load(*g, args, lane); });
}

Register *add_sum(Program &p, Register *a, Register *b) {
  Register *r = p.add_register(Int(64));
  int64_t *d = r->as<int64_t>();
  const int64_t *x = a->as<int64_t>(), *y = b->as<int64_t>();
  return p.add_step(r, {a, b}, [=](int n) {
    for (int i = 0; i < n; i++) d[i] = x[i] + y[i];
  });
}

template <typename T>
void gather(T *d, const T *host, const int64_t *offset, int n) {
  bool is_run = true;
  for (int i = 0; i < n; i++) is_run &= offset[i] == offset[0] + i;
  if (is_run) {
    std::memcpy(d, host + offset[0], static_cast<size_t>(n) * sizeof(T));
  } else {
    for (int i = 0; i < n; i++) d[i] = host[offset[i]];
  }
}

}  // namespace

Register *add_load(Program &p, const Grid &grid, const std::vector<Register *> &args) {
  const Grid *g = &grid;
  // Sums of what changes least come first.
  std::vector<Register *> parts;
  for (size_t k = 0; k < args.size(); k++) parts.push_back(add_offset(p, g, args, k));
  std::stable_sort(parts.begin(), parts.end(), [&](const Register *a, const Register *b) {
    return p.level_of(a) < p.level_of(b);
  });
  Register *offset = parts.empty() ? p.add_register(Int(64)) : parts[0];
  for (size_t k = 1; k < parts.size(); k++) offset = add_sum(p, offset, parts[k]);

  Register *r = p.add_register(grid.type);
  const bool known = with_type(grid.type, [&]<typename T>() {
    T *d = r->as<T>();
    const int64_t *at = offset->as<int64_t>();
    p.add_step(r, {offset}, [=](int n) {
      const T *host = reinterpret_cast<const T *>(g->host);
      if (!offset->poisoned) return gather(d, host, at, n);
      for (int i = 0; i < n; i++) d[i] = offset->poison[i] ? T() : host[at[i]];
    });
  });
  if (!known) {
    user_error("the interpreter has no values of type " + grid.type.to_string(), "", "");
  }
  return r;
}

}  // namespace polyhalite::interpreter
