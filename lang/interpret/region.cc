#include "lang/interpret/region.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"

namespace polyhalite::interpreter {

namespace {

// The interval of a sum of variables times constants: no point needs to be visited.
std::optional<Span> span_of_linear(const Expr &index, const IndexDomain &domain,
                                   const Bindings &bindings) {
  const Linear l = to_linear(index);
  Span s{l.constant, l.constant};
  for (const auto &[atom, c] : l.terms) {
    const VariableNode *v = as_variable(atom);
    if (!v) return {};
    Span of_atom;
    const auto it = domain.variables.find(v->name);
    int64_t k;
    if (v->kind == VariableKind::Param || v->kind == VariableKind::BufferField) {
      if (!is_const_int(bindings.constant(*v), &k)) return {};
      of_atom = {k, k};
    } else if (it != domain.variables.end()) {
      of_atom = it->second;
    } else {
      return {};
    }
    const int64_t a = of_atom.min * c, b = of_atom.max * c;
    s.min += std::min(a, b);
    s.max += std::max(a, b);
  }
  // Beyond int32 the sum overflows somewhere: only the points say where.
  if (s.min < INT32_MIN || s.max > INT32_MAX) return {};
  return s;
}

}  // namespace

Span hull(const Span &a, const Span &b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Box hull(const Box &a, const Box &b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  Box r;
  for (size_t d = 0; d < a.size(); d++) r.push_back(hull(a[d], b[d]));
  return r;
}

bool contains(const Box &a, const Box &b) {
  if (is_empty(b)) return true;
  for (size_t d = 0; d < a.size(); d++) {
    if (!a[d].contains(b[d])) return false;
  }
  return true;
}

int64_t count_points(const Box &b) {
  int64_t n = 1;
  for (const Span &s : b) {
    if (__builtin_mul_overflow(n, s.extent(), &n)) return INT64_MAX;
  }
  return n;
}

bool is_empty(const Box &b) {
  return std::any_of(b.begin(), b.end(), [](const Span &s) { return s.empty(); });
}

PointLoop::PointLoop(std::vector<std::string> names, Box spans)
    : names_(std::move(names)), spans_(std::move(spans)), count_(count_points(spans_)) {}

int PointLoop::next(Program &program) {
  const int n = static_cast<int>(std::min<int64_t>(kLanes, count_ - next_));
  first_ = next_;
  next_ += n;
  int64_t step = 1;  // points between changes of the variable
  for (size_t d = 0; d < spans_.size(); d++) {
    const int64_t extent = spans_[d].extent();
    if (Register *r = program.variable(names_[d])) {
      int32_t *row = r->as<int32_t>();
      int64_t at = n > 0 ? first_ / step % extent : 0, within = n > 0 ? first_ % step : 0;
      for (int i = 0; i < n; i++) {
        row[i] = static_cast<int32_t>(spans_[d].min + at);
        if (++within == step) {
          within = 0;
          if (++at == extent) at = 0;
        }
      }
    }
    step *= std::max<int64_t>(extent, 1);
  }
  return n;
}

std::vector<int64_t> PointLoop::point(int lane) const {
  std::vector<int64_t> coordinates;
  int64_t rest = first_ + lane;
  for (const Span &s : spans_) {
    coordinates.push_back(s.min + rest % s.extent());
    rest /= s.extent();
  }
  return coordinates;
}

Span span_of(const Expr &index, const IndexDomain &domain, const Bindings &bindings) {
  for (const auto &[name, span] : domain.variables) {
    if (span.empty()) return {};
  }
  if (!domain.predicate.defined()) {
    if (auto s = span_of_linear(index, domain, bindings)) return *s;
  }
  // Only the variables that matter are enumerated.
  auto used = free_variables(index);
  if (domain.predicate.defined()) used.merge(free_variables(domain.predicate));
  std::vector<std::string> names;
  Box spans;
  Bindings all = bindings;
  all.variables.clear();
  for (const auto &[name, span] : domain.variables) {
    if (!used.count(name)) continue;
    names.push_back(name);
    spans.push_back(span);
    all.variables[name] = Level::Chunk;
  }
  Program program(all);
  Register *holds = domain.predicate.defined() ? program.compile(domain.predicate) : nullptr;
  Register *value = program.compile(index);
  PointLoop points(names, spans);
  Span result;
  Level from = Level::Once;
  while (const int n = points.next(program)) {
    program.run(from, n);
    from = Level::Chunk;
    for (int i = 0; i < n; i++) {
      if (value->poisoned && value->poison[i]) continue;
      if (holds && !(holds->poisoned && holds->poison[i]) && !holds->as<uint8_t>()[i]) continue;
      const int64_t v = value->as<int32_t>()[i];
      result = hull(result, Span{v, v});
    }
  }
  return result;
}

}  // namespace polyhalite::interpreter
