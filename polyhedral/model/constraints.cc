#include "polyhedral/model/constraints.h"

#include <algorithm>
#include <utility>

namespace polyhalite {

AffineRow AffineRow::variable(int index) {
  AffineRow r;
  r.terms[index] = 1;
  return r;
}

AffineRow &AffineRow::add(const AffineRow &o, int64_t factor) {
  constant += factor * o.constant;
  for (const auto &[v, c] : o.terms) {
    auto it = terms.emplace(v, 0).first;
    it->second += factor * c;
    if (it->second == 0) terms.erase(it);
  }
  return *this;
}

int64_t AffineRow::evaluate(const std::vector<int64_t> &values) const {
  int64_t sum = constant;
  for (const auto &[v, c] : terms) sum += c * values[v];
  return sum;
}

AffineRow operator+(AffineRow a, const AffineRow &b) { return a.add(b); }
AffineRow operator-(AffineRow a, const AffineRow &b) { return a.add(b, -1); }
AffineRow operator*(int64_t factor, const AffineRow &a) { return AffineRow().add(a, factor); }

Conjunction &Conjunction::append(const Conjunction &o) {
  nonnegative.insert(nonnegative.end(), o.nonnegative.begin(), o.nonnegative.end());
  zero.insert(zero.end(), o.zero.begin(), o.zero.end());
  return *this;
}

int Problem::add(ModelVariable::Role role, std::string name) {
  variables.push_back({role, std::move(name)});
  return static_cast<int>(variables.size()) - 1;
}

AffineRow Problem::fresh(ModelVariable::Role role, std::string name) {
  return AffineRow::variable(add(role, std::move(name)));
}

Choice lexicographically_less(const std::vector<AffineRow> &a, const std::vector<AffineRow> &b) {
  Choice choice;
  Conjunction equal_so_far;
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    Conjunction option = equal_so_far;
    option.nonnegative.push_back(b[i] - a[i] - AffineRow(1));
    choice.push_back(option);
    equal_so_far.zero.push_back(a[i] - b[i]);
  }
  return choice;
}

}  // namespace polyhalite
