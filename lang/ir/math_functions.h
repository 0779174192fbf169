// The C library's functions behind calls of CallKind::Math.
#pragma once

#include <cmath>
#include <map>
#include <string>

namespace polyhalite {

/// The function of one operand of this name, in T's precision; null if there is none.
template <typename T>
T (*unary_math_function(const std::string &name))(T) {
  using Unary = T (*)(T);
  static const std::map<std::string, Unary> kUnary = {
      {"sqrt", std::sqrt},       {"exp", std::exp},      {"log", std::log},
      {"sin", std::sin},         {"cos", std::cos},      {"tan", std::tan},
      {"asin", std::asin},       {"acos", std::acos},    {"atan", std::atan},
      {"sinh", std::sinh},       {"cosh", std::cosh},    {"tanh", std::tanh},
      {"asinh", std::asinh},     {"acosh", std::acosh},  {"atanh", std::atanh},
      {"floor", std::floor},     {"ceil", std::ceil},    {"trunc", std::trunc},
      {"round", std::nearbyint}, {"erf", std::erf},      {"fast_exp", std::exp},
      {"fast_log", std::log},    {"fast_sin", std::sin}, {"fast_cos", std::cos}};
  const auto it = kUnary.find(name);
  return it == kUnary.end() ? nullptr : it->second;
}

}  // namespace polyhalite
