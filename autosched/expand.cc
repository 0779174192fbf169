#include "autosched/expand.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "autosched/hash.h"

namespace polyhalite::autosched {

namespace {

constexpr size_t kMostAccesses = 1500;
constexpr double kMostOperations = 4000;

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
    for (size_t arg = 0; arg < outer.index.size(); arg++) {
      const IndexModel &o = outer.index[arg];
      const double k = arg < i.slope.size() ? i.slope[arg] : 0;
      for (size_t v = 0; v < c.slope.size(); v++) c.slope[v] += k * o.slope[v];
      offset += k * static_cast<double>(o.offset);
      if (i.shape != 0) c.shape = mix(mix(c.shape, o.shape), static_cast<uint64_t>(o.offset));
      if (k != 0 && o.shape != 0) c.shape = mix(c.shape, o.shape);
      if (k != 0) c.found_by |= o.found_by;
      if ((i.found_by & bit_of(arg)) != 0) {
        c.found_by |= o.found_by;
        for (size_t v = 0; v < o.slope.size(); v++) c.found_by |= o.slope[v] != 0 ? bit_of(v) : 0;
      }
    }
    c.offset = static_cast<int64_t>(std::floor(offset));
    a.index.push_back(std::move(c));
  }
  return a;
}

std::vector<Read> join_reads(const std::vector<Access> &accesses, size_t vars) {
  std::map<int, Read> reads;
  std::map<int, std::vector<std::pair<int64_t, int64_t>>> offsets;
  for (const Access &a : accesses) {
    Read &r = reads[a.callee];
    auto &ends = offsets[a.callee];
    if (r.callee < 0) {
      r.callee = a.callee;
      r.slope.assign(a.index.size(), std::vector<double>(vars, 0.0));
      r.found_by.assign(a.index.size(), 0);
      ends.assign(a.index.size(), {INT64_MAX, INT64_MIN});
    }
    for (size_t d = 0; d < a.index.size(); d++) {
      for (size_t v = 0; v < vars; v++) {
        r.slope[d][v] = std::max(r.slope[d][v], std::abs(a.index[d].slope[v]));
      }
      r.found_by[d] |= a.index[d].found_by;
      ends[d] = {std::min(ends[d].first, a.index[d].offset),
                 std::max(ends[d].second, a.index[d].offset)};
    }
  }
  std::vector<Read> list;
  for (auto &[callee, r] : reads) {
    const auto &ends = offsets[callee];
    for (const auto &[lo, hi] : ends) r.spread.push_back(static_cast<double>(hi - lo));
    r.shifts = !ends.empty() && ends[0].first != ends[0].second;
    list.push_back(std::move(r));
  }
  return list;
}

std::vector<LoadKind> join_loads(const std::vector<Access> &accesses, size_t reduction) {
  std::vector<LoadKind> list;
  std::map<std::tuple<int, double, int>, size_t> known;
  std::vector<std::vector<const Access *>> of_kind;
  for (const Access &a : accesses) {
    LoadKind l;
    l.callee = a.callee;
    for (size_t d = 0; d < a.index.size(); d++) {
      const IndexModel &i = a.index[d];
      l.found = l.found || i.found_by != 0;
      l.gathers = l.gathers || (i.found_by & bit_of(0)) != 0;
      l.scattered = l.scattered || (d == 0 && i.found_by != 0);
      if (i.slope.empty()) continue;
      if (i.slope[0] != 0) {
        l.moves = true;
        if (d == 0) l.slope = std::abs(i.slope[0]);
        l.across_dim = l.across_dim || d > 0;
      }
      l.steps_rows =
          l.steps_rows || (d > 0 && reduction < i.slope.size() && i.slope[reduction] != 0);
    }
    const int flags = l.gathers | l.moves << 1 | l.across_dim << 2 | l.steps_rows << 3 |
                      l.scattered << 4 | l.found << 5;
    const auto [at, fresh] = known.emplace(std::make_tuple(l.callee, l.slope, flags), list.size());
    if (fresh) list.push_back(l);
    of_kind.resize(list.size());
    of_kind[at->second].push_back(&a);
  }
  for (size_t i = 0; i < list.size(); i++) list[i].elements.add(of_kind[i], 1);
  return list;
}

}  // namespace

ExpandedStage Expander::expand(const Plan &plan, int func, int stage) const {
  const StageModel &s = model_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)];
  ExpandedStage e;
  Access own;  // each row computes its own points
  own.index.push_back({{0, 1}, 0, 0, false});
  const auto compute = [&](const StageModel &part, const std::vector<const Access *> &calls) {
    e.operations += static_cast<double>(calls.size()) * part.operations;
    e.row_operations.add(calls, part.operations);
    e.row_bytes.add(calls, part.operation_bytes);
  };
  compute(s, {&own});
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
    std::vector<const Access *> places;
    for (const Access &call : calls) places.push_back(&call);
    compute(inner, places);
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
  e.reads = join_reads(e.accesses, s.vars.size());
  e.loads = join_loads(e.accesses, s.vars.size() - s.rvars.size());
  return e;
}

const ExpandedStage &Expander::operator()(const Plan &plan, int func, int stage) {
  uint64_t key = mix(static_cast<uint64_t>(func) * 64 + static_cast<uint64_t>(stage), 3);
  const auto mark_inlined = [&](const StageModel &s) {
    for (const Footprint &f : s.footprints) {
      if (!model_.is_func(f.callee)) continue;
      const size_t callee = static_cast<size_t>(f.callee);
      if (plan.funcs[callee].where == Where::Inline) marked_[callee] = 1;
    }
  };
  mark_inlined(model_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)]);
  for (size_t f = static_cast<size_t>(func); f-- > 0;) {
    if (!marked_[f]) continue;
    marked_[f] = 0;
    key = mix(key, f);
    mark_inlined(model_.funcs[f].stages[0]);
  }
  const auto known = memo_.find(key);
  if (known != memo_.end()) return known->second;
  return memo_.emplace(key, expand(plan, func, stage)).first->second;
}

}  // namespace polyhalite::autosched
