#include "autosched/expand.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace polyhalite::autosched {

namespace {

constexpr size_t kMostAccesses = 1500;
constexpr double kMostOperations = 4000;

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

uint64_t key_of(const Access &a) {
  uint64_t h = 7;
  for (const IndexModel &i : a.index) {
    for (const double s : i.slope) h = mix(h, static_cast<uint64_t>(std::llround(s * 4096)));
    h = mix(mix(h, static_cast<uint64_t>(i.offset)), i.shape);
  }
  return h;
}

// `inner` in terms of the variables of `outer`, which gives the arguments of inner's Func.
Access compose(const Access &outer, const Access &inner) {
  Access a;
  a.callee = inner.callee;
  for (const IndexModel &i : inner.index) {
    IndexModel c;
    c.slope.assign(outer.index.empty() ? 0 : outer.index[0].slope.size(), 0.0);
    double offset = static_cast<double>(i.offset);
    c.shape = i.shape;
    c.gathers = i.gathers;
    for (size_t arg = 0; arg < outer.index.size(); arg++) {
      const IndexModel &o = outer.index[arg];
      const double k = arg < i.slope.size() ? i.slope[arg] : 0;
      for (size_t v = 0; v < c.slope.size(); v++) c.slope[v] += k * o.slope[v];
      offset += k * static_cast<double>(o.offset);
      if (i.shape != 0) c.shape = mix(mix(c.shape, o.shape), static_cast<uint64_t>(o.offset));
      if (k != 0 && o.shape != 0) c.shape = mix(c.shape, o.shape);
      if (k != 0 && o.gathers) c.gathers = true;
    }
    c.offset = static_cast<int64_t>(std::floor(offset));
    a.index.push_back(std::move(c));
  }
  return a;
}

}  // namespace

ExpandedStage Expander::expand(const Plan &plan, int func, int stage) const {
  const StageModel &s = model_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)];
  ExpandedStage e;
  e.operations = s.operations;
  e.operation_bytes = s.operation_bytes;
  e.widest = s.widest;
  std::map<int, std::vector<Access>, std::greater<>> pending;  // consumers before producers
  std::map<int, std::set<uint64_t>> seen;
  const auto add = [&](Access a) {
    if (!seen[a.callee].insert(key_of(a)).second) return;
    const bool inlined = model_.is_func(a.callee) &&
                         plan.funcs[static_cast<size_t>(a.callee)].where == Where::Inline;
    if (inlined) {
      pending[a.callee].push_back(std::move(a));
    } else {
      e.accesses.push_back(std::move(a));
    }
  };
  for (const Access &a : s.accesses) add(a);
  while (!pending.empty()) {
    const auto first = pending.begin();
    const StageModel &inner = model_.funcs[static_cast<size_t>(first->first)].stages[0];
    const std::vector<Access> calls = std::move(first->second);
    pending.erase(first);
    const auto count = static_cast<double>(calls.size());
    e.operations += count * inner.operations;
    e.operation_bytes += count * inner.operation_bytes;
    e.widest = std::max(e.widest, inner.widest);
    if (e.operations > kMostOperations || e.accesses.size() > kMostAccesses ||
        count * static_cast<double>(inner.accesses.size()) > 4 * kMostAccesses) {
      e.too_large = true;
      return e;
    }
    for (const Access &call : calls) {
      for (const Access &a : inner.accesses) add(compose(call, a));
    }
  }
  return e;
}

const ExpandedStage &Expander::operator()(const Plan &plan, int func, int stage) {
  uint64_t key = mix(static_cast<uint64_t>(func) * 64 + static_cast<uint64_t>(stage), 3);
  std::set<int, std::greater<>> todo = {};
  const auto follow = [&](const StageModel &s) {
    for (const Footprint &f : s.footprints) {
      if (model_.is_func(f.callee) &&
          plan.funcs[static_cast<size_t>(f.callee)].where == Where::Inline) {
        todo.insert(f.callee);
      }
    }
  };
  follow(model_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)]);
  while (!todo.empty()) {
    const int f = *todo.begin();
    todo.erase(todo.begin());
    key = mix(key, static_cast<uint64_t>(f));
    follow(model_.funcs[static_cast<size_t>(f)].stages[0]);
  }
  const auto known = memo_.find(key);
  if (known != memo_.end()) return known->second;
  return memo_.emplace(key, expand(plan, func, stage)).first->second;
}

}  // namespace polyhalite::autosched
