#include "polyhalite/tuple.h"

#include <string>

#include "lang/language/match_types.h"
#include "polyhalite/error.h"
#include "polyhalite/evaluate.h"
#include "polyhalite/func_ref.h"

namespace polyhalite {

namespace {

void require_same_size(size_t a, size_t b, const char *user) {
  if (a == b) return;
  user_error(std::string(user) + " of a Tuple of " + std::to_string(a) + " values and one of " +
                 std::to_string(b),
             "it works component by component", "give Tuples of the same size");
}

}  // namespace

Tuple::Tuple(const std::vector<Expr> &list) : exprs_(list) {
  if (!list.empty()) return;
  user_error("a Tuple of no values", "a Func has at least one value", "give at least one Expr");
}

Tuple::Tuple(const FuncRef &f) {
  f.require_defined_func();
  for (size_t i = 0; i < f.size(); i++) exprs_.push_back(f.value(static_cast<int>(i)));
}

Tuple::operator Expr() const {
  if (exprs_.size() == 1) return exprs_[0];
  user_error("a Tuple of size " + std::to_string(exprs_.size()) + " is used as one Expr",
             "an Expr is one value", "take one of its values, as in t[0]");
}

size_t Tuple::checked(size_t i) const {
  if (i < exprs_.size()) return i;
  user_error("value " + std::to_string(i) + " of a Tuple",
             "it has " + std::to_string(exprs_.size()) + ", counted from 0", "ask for one of them");
}

Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value) {
  require_same_size(true_value.size(), false_value.size(), "select");
  std::vector<Expr> values;
  for (size_t i = 0; i < true_value.size(); i++) {
    values.push_back(select(condition, true_value[i], false_value[i]));
  }
  return Tuple(values);
}

Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value) {
  require_same_size(condition.size(), true_value.size(), "select");
  require_same_size(true_value.size(), false_value.size(), "select");
  std::vector<Expr> values;
  for (size_t i = 0; i < true_value.size(); i++) {
    values.push_back(select(condition[i], true_value[i], false_value[i]));
  }
  return Tuple(values);
}

void detail::check_value_count(const Tuple &t, size_t count, const Here &here) {
  if (t.size() == count) return;
  user_error("evaluate() of a Tuple of " + std::to_string(t.size()) + " values into " +
                 std::to_string(count) + " variables",
             "each value goes to one", "give one pointer for each value", here.where);
}

namespace {

// f(value) for each.
template <typename F>
Tuple each(const Tuple &t, F &&f) {
  std::vector<Expr> values;
  for (const Expr &e : t) values.push_back(f(e));
  return Tuple(values);
}

std::vector<Expr> joined(std::vector<Expr> first, const std::vector<Expr> &more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace

Tuple likely(const Tuple &t) {
  return each(t, [](const Expr &e) { return likely(e); });
}

Tuple likely_if_innermost(const Tuple &t) {
  return each(t, [](const Expr &e) { return likely_if_innermost(e); });
}

Tuple strict_float(const Tuple &t) {
  return each(t, [](const Expr &e) { return strict_float(e); });
}

Tuple memoize_tag(const Tuple &t, const std::vector<Expr> &keys) {
  return each(t, [&](const Expr &e) { return memoize_tag(e, keys); });
}

// The first value carries the line.
Tuple print_when(const Expr &condition, const Tuple &t, const std::vector<Expr> &more) {
  Tuple result = t;
  result[0] = print_when(condition, joined(t.as_vector(), more));
  return result;
}

Tuple require(const Expr &condition, const Tuple &t, const std::vector<Expr> &message) {
  return each(t, [&](const Expr &e) { return require(condition, joined({e}, message)); });
}

Expr mux(const Expr &id, const Tuple &values) { return mux(id, values.as_vector()); }

Tuple mux(const Expr &id, const std::vector<Tuple> &values) {
  if (values.empty()) {
    user_error("mux without values", "there is nothing to choose from", "give at least one value");
  }
  std::vector<Expr> result;
  for (size_t i = 0; i < values[0].size(); i++) {
    std::vector<Expr> component;
    for (const Tuple &t : values) {
      require_same_size(values[0].size(), t.size(), "mux");
      component.push_back(t[i]);
    }
    result.push_back(mux(id, component));
  }
  return Tuple(result);
}

}  // namespace polyhalite
