#include "apps/onnx/operators/size_elements.h"

#include <algorithm>
#include <stdexcept>

namespace polyhalite::onnx {

namespace {

using Operands = std::vector<Dim>;
using Element = std::optional<Dim>;

bool is_at_least(const Dim &d, int64_t n) {
  const auto bound = d.lower_bound();
  return bound && *bound >= n;
}

// Towards zero, as integers are divided.
Element quotient(const Dim &a, const Dim &b) {
  const auto x = a.constant(), y = b.constant();
  if (y == 0 || (x == INT64_MIN && y == -1)) return std::nullopt;
  if (x && y) return Dim(*x / *y);
  if (is_at_least(a, 0) && is_at_least(b, 0)) return Dim::floor_div(a, b);
  return std::nullopt;
}

Element remainder(const Node &n, const Dim &a, const Dim &b) {
  const bool sign_of_dividend = n.integer("fmod", 0) != 0;
  if (b.is(0) || !is_at_least(b, 0) || (sign_of_dividend && !is_at_least(a, 0)))
    return std::nullopt;
  return a - Dim::floor_div(a, b) * b;
}

Element is_less(const Dim &a, const Dim &b) {
  if (is_at_least(b - a, 1)) return Dim(1);
  if (is_at_least(a - b, 0)) return Dim(0);
  return std::nullopt;
}

Element is_equal(const Dim &a, const Dim &b) {
  if (a == b) return Dim(1);
  if (is_at_least(a - b, 1) || is_at_least(b - a, 1)) return Dim(0);
  return std::nullopt;
}

Element inverted(const Element &truth) {
  if (!truth) return std::nullopt;
  return Dim(1) - *truth;
}

Element chosen(const Operands &v) {
  if (v[0].constant()) return v[0].is(0) ? v[2] : v[1];
  if (v[1] == v[2]) return v[1];
  return std::nullopt;
}

Element as_type(ElementType to, const Dim &v) {
  if (to != ElementType::Bool) return v;
  return inverted(is_equal(v, 0));
}

Element element_of(const Inference &i, const Operands &v) {
  const Node &n = i.node();
  const std::string &op = n.op;
  auto folded = [&](Dim (*f)(const Dim &, const Dim &)) {
    Dim value = v[0];
    for (size_t k = 1; k < v.size(); k++) value = f(value, v[k]);
    return value;
  };
  if (op == "Add" || op == "Sum") return folded([](const Dim &a, const Dim &b) { return a + b; });
  if (op == "Sub") return v[0] - v[1];
  if (op == "Mul") return v[0] * v[1];
  if (op == "Div") return quotient(v[0], v[1]);
  if (op == "Mod") return remainder(n, v[0], v[1]);
  if (op == "Neg") return Dim(0) - v[0];
  if (op == "Min") return folded(Dim::minimum);
  if (op == "Max") return folded(Dim::maximum);
  if (op == "Equal") return is_equal(v[0], v[1]);
  if (op == "Less") return is_less(v[0], v[1]);
  if (op == "Greater") return is_less(v[1], v[0]);
  if (op == "GreaterOrEqual") return inverted(is_less(v[0], v[1]));
  if (op == "LessOrEqual") return inverted(is_less(v[1], v[0]));
  if (op == "Not") return inverted(v[0]);
  // Truths are 0 and 1.
  if (op == "And") return folded(Dim::minimum);
  if (op == "Or") return folded(Dim::maximum);
  if (op == "Where") return chosen(v);
  if (op == "Cast" || op == "CastLike") return as_type(i.result_type(0), v[0]);
  return std::nullopt;
}

}  // namespace

void follow_sizes(Inference &i) {
  if (!i.wants(0) || !holds_sizes(i.result_type(0))) return;
  const size_t count = i.node().op == "CastLike" ? 1 : i.inputs();
  std::vector<std::vector<Dim>> operands;
  size_t n = 1;
  for (size_t k = 0; k < count; k++) {
    const auto known = i.has(k) && i.rank(k) <= 1 ? i.known_sizes(k) : std::nullopt;
    if (!known) return;
    if (known->size() != 1) n = known->size();
    operands.push_back(*known);
  }
  std::vector<Dim> list;
  try {
    for (size_t k = 0; k < n; k++) {
      Operands v;
      for (const auto &o : operands) {
        if (o.size() != 1 && o.size() != n) return;
        v.push_back(o[o.size() == 1 ? 0 : k]);
      }
      const Element e = element_of(i, v);
      if (!e) return;
      list.push_back(*e);
    }
  } catch (const std::overflow_error &) {
    return;  // no sizes: the elements are computed with the wrap of their type
  }
  i.contents(0, std::move(list));
}

}  // namespace polyhalite::onnx
