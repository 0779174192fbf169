#include "lang/simplify/counter_example.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

using Values = std::vector<Expr>;

constexpr size_t kMostTrials = 3000;
// Rounding is no counter-example: floats count as real numbers.
constexpr double kRelativeError = 1e-3;

// Small ones first. Sums of three of them overflow narrow types.
std::vector<Expr> values_of(Type t, size_t slots) {
  if (t.is_bool()) return {make_false(), make_true()};
  std::vector<Expr> v = {make_zero(t), make_one(t), make_int(t, 2)};
  if (slots > 1) return v;
  if (t.is_float()) {
    v.push_back(make_float(t, -1));
    v.push_back(make_float(t, 0.5));
    return v;
  }
  if (t.is_int()) v.push_back(make_int(t, -1));
  v.push_back(make_int(t, 3));
  v.push_back(make_int(t, 100));
  if (t.is_int()) v.push_back(make_int(t, -100));
  if (t.is_uint() && t.bits() == 8) v.push_back(make_int(t, 200));
  return v;
}

class Trial {
 public:
  Trial(const std::vector<size_t> &slots, const std::vector<Expr> &op) : slots_(slots), op_(op) {}

  // nullopt where a value has none: an overflow, an operand that is no constant.
  std::optional<Values> apply(const Values &a, const Values &b) const {
    std::map<std::string, Expr> at;
    for (size_t k = 0; k < slots_.size(); k++) {
      at[left_symbol(slots_[k])] = a[k];
      at[right_symbol(slots_[k])] = b[k];
    }
    Values r;
    for (const Expr &e : op_) {
      r.push_back(simplify(substitute(at, e)));
      if (!is_const(r.back())) return std::nullopt;
    }
    return r;
  }

  std::string text() const {
    std::map<std::string, Expr> names;
    for (size_t k = 0; k < slots_.size(); k++) {
      const std::string n = slots_.size() > 1 ? std::to_string(k) : "";
      const Type t = op_[k].type();
      names[left_symbol(slots_[k])] = make_variable(t, VariableKind::Symbol, "a" + n);
      names[right_symbol(slots_[k])] = make_variable(t, VariableKind::Symbol, "b" + n);
    }
    Values named;
    for (const Expr &e : op_) named.push_back(substitute(names, e));
    return tuple_text(named);
  }

  static std::string tuple_text(const Values &v) {
    if (v.size() == 1) return plain_text(v[0]);
    std::string text;
    for (const Expr &e : v) text += (text.empty() ? "{" : ", ") + plain_text(e);
    return text + "}";
  }

 private:
  // Without the types of numbers.
  static std::string plain_text(const Expr &e) {
    int64_t n;
    double v;
    if (!e.type().is_bool() && is_const_int(e, &n)) return std::to_string(n);
    if (!is_const_float(e, &v)) return to_text(e);
    std::ostringstream os;
    os << v;
    return os.str();
  }

  const std::vector<size_t> &slots_;
  const std::vector<Expr> &op_;
};

bool differ(const Values &a, const Values &b) {
  for (size_t k = 0; k < a.size(); k++) {
    double x, y;
    if (is_const_float(a[k], &x) && is_const_float(b[k], &y)) {
      if (std::abs(x - y) > kRelativeError * (1 + std::abs(x) + std::abs(y))) return true;
    } else if (!equal(a[k], b[k])) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string counter_example(const std::vector<size_t> &slots, const std::vector<Expr> &op) {
  const size_t n = slots.size();
  const Trial trial(slots, op);
  std::vector<std::vector<Expr>> values;  // of each slot, of three operands
  for (int i = 0; i < 3; i++) {
    for (const Expr &e : op) values.push_back(values_of(e.type(), n));
  }
  std::vector<size_t> at(values.size(), 0);
  for (size_t tried = 0; tried < kMostTrials; tried++) {
    std::vector<Values> v(3);
    for (size_t i = 0; i < values.size(); i++) v[i / n].push_back(values[i][at[i]]);
    const auto first = trial.apply(v[0], v[1]), last = trial.apply(v[1], v[2]);
    const auto left = first ? trial.apply(*first, v[2]) : std::nullopt;
    const auto right = last ? trial.apply(v[0], *last) : std::nullopt;
    if (left && right && differ(*left, *right)) {
      const std::string a = Trial::tuple_text(v[0]), b = Trial::tuple_text(v[1]),
                        c = Trial::tuple_text(v[2]);
      return "a op b = " + trial.text() + " is not associative: (" + a + " op " + b + ") op " + c +
             " is " + Trial::tuple_text(*left) + ", " + a + " op (" + b + " op " + c + ") is " +
             Trial::tuple_text(*right);
    }
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == values[i - 1].size()) at[--i] = 0;
    if (i == 0) break;
  }
  return "";
}

}  // namespace polyhalite
