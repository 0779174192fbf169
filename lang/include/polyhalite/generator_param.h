// GeneratorParam: a value that is fixed when a generator runs, set on its command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "polyhalite/expr.h"
#include "polyhalite/target.h"
#include "polyhalite/type.h"

namespace polyhalite {

class GeneratorParamBase {
 public:
  /// Belongs to the generator that is being constructed.
  explicit GeneratorParamBase(const std::string &name);
  GeneratorParamBase(const GeneratorParamBase &) = delete;
  GeneratorParamBase &operator=(const GeneratorParamBase &) = delete;
  virtual ~GeneratorParamBase() = default;

  const std::string &name() const { return name_; }
  /// CompileError where the text is no value of this parameter.
  virtual void set_from_string(const std::string &text) = 0;
  virtual std::string value_text() const = 0;

 private:
  std::string name_;
};

namespace detail {

// `name` is the parameter's, for the message.
int64_t parse_integer(const std::string &name, const std::string &text, int64_t min, int64_t max);
uint64_t parse_unsigned(const std::string &name, const std::string &text, uint64_t max);
double parse_float(const std::string &name, const std::string &text);
bool parse_bool(const std::string &name, const std::string &text);
Type parse_type(const std::string &name, const std::string &text);
std::string float_text(double value);
[[noreturn]] void unknown_choice(const std::string &name, const std::string &text,
                                 const std::string &choices);
[[noreturn]] void out_of_range(const std::string &name, const std::string &value,
                               const std::string &min, const std::string &max);

}  // namespace detail

/// T is an arithmetic type, std::string, Type, Target, or an enum with a map of its values' names.
template <typename T>
class GeneratorParam : public GeneratorParamBase {
 public:
  GeneratorParam(const std::string &name, const T &value)
      : GeneratorParamBase(name), value_(value) {}
  /// Values outside [min, max] are refused.
  template <typename U = T, typename = std::enable_if_t<std::is_arithmetic_v<U>>>
  GeneratorParam(const std::string &name, const T &value, const T &min, const T &max)
      : GeneratorParamBase(name), value_(value), has_range_(true), min_(min), max_(max) {
    check_range();
  }
  GeneratorParam(const std::string &name, const T &value, const std::map<std::string, T> &choices)
      : GeneratorParamBase(name), value_(value), choices_(choices) {}

  T value() const { return value_; }
  operator T() const { return value_; }  // NOLINT
  template <typename U = T, typename = std::enable_if_t<std::is_arithmetic_v<U>>>
  operator Expr() const {  // NOLINT
    return Expr(value_);
  }
  void set(const T &value) {
    value_ = value;
    check_range();
  }

  void set_from_string(const std::string &text) override {
    if (!choices_.empty()) {
      const auto it = choices_.find(text);
      if (it == choices_.end()) detail::unknown_choice(name(), text, choice_names());
      value_ = it->second;
      return;
    }
    if constexpr (std::is_same_v<T, bool>) {
      value_ = detail::parse_bool(name(), text);
    } else if constexpr (std::is_floating_point_v<T>) {
      value_ = static_cast<T>(detail::parse_float(name(), text));
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      constexpr int64_t kTop = static_cast<int64_t>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
      value_ = static_cast<T>(detail::parse_integer(name(), text, -kTop - 1, kTop));
    } else if constexpr (std::is_integral_v<T>) {
      value_ = static_cast<T>(
          detail::parse_unsigned(name(), text, ~uint64_t{0} >> (64 - 8 * sizeof(T))));
    } else if constexpr (std::is_same_v<T, Type>) {
      value_ = detail::parse_type(name(), text);
    } else if constexpr (std::is_same_v<T, Target>) {
      value_ = Target(text);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value_ = text;
    } else {
      detail::unknown_choice(name(), text, choice_names());
    }
    check_range();
  }

  std::string value_text() const override {
    for (const auto &[text, choice] : choices_) {
      if (choice == value_) return text;
    }
    if constexpr (std::is_same_v<T, bool>) {
      return value_ ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
      return detail::float_text(value_);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return std::to_string(value_);
    } else if constexpr (std::is_same_v<T, Type> || std::is_same_v<T, Target>) {
      return value_.to_string();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return value_;
    } else {
      return "?";
    }
  }

 private:
  void check_range() {
    if constexpr (std::is_arithmetic_v<T>) {
      if (has_range_ && (value_ < min_ || value_ > max_)) {
        detail::out_of_range(name(), std::to_string(value_), std::to_string(min_),
                             std::to_string(max_));
      }
    }
  }
  std::string choice_names() const {
    std::string s;
    for (const auto &[text, choice] : choices_) s += (s.empty() ? "" : ", ") + text;
    return s;
  }

  T value_;
  bool has_range_ = false;
  T min_{}, max_{};
  std::map<std::string, T> choices_;
};

// A parameter beside an operator is its value. Without these, its two conversions would compete.
#define POLYHALITE_PARAM_OPERATOR(op)                                                  \
  template <typename A, typename T>                                                    \
  auto operator op(const A &a, const GeneratorParam<T> &b)->decltype(a op b.value()) { \
    return a op b.value();                                                             \
  }                                                                                    \
  template <typename T, typename B>                                                    \
  auto operator op(const GeneratorParam<T> &a, const B &b)->decltype(a.value() op b) { \
    return a.value() op b;                                                             \
  }                                                                                    \
  template <typename T, typename U>                                                    \
  auto operator op(const GeneratorParam<T> &a, const GeneratorParam<U> &b)             \
      ->decltype(a.value() op b.value()) {                                             \
    return a.value() op b.value();                                                     \
  }
POLYHALITE_PARAM_OPERATOR(+)
POLYHALITE_PARAM_OPERATOR(-)
POLYHALITE_PARAM_OPERATOR(*)
POLYHALITE_PARAM_OPERATOR(/)
POLYHALITE_PARAM_OPERATOR(%)
POLYHALITE_PARAM_OPERATOR(==)
POLYHALITE_PARAM_OPERATOR(!=)
POLYHALITE_PARAM_OPERATOR(<)
POLYHALITE_PARAM_OPERATOR(<=)
POLYHALITE_PARAM_OPERATOR(>)
POLYHALITE_PARAM_OPERATOR(>=)
POLYHALITE_PARAM_OPERATOR(&&)
POLYHALITE_PARAM_OPERATOR(||)
#undef POLYHALITE_PARAM_OPERATOR
template <typename T>
auto operator!(const GeneratorParam<T> &a) -> decltype(!a.value()) {
  return !a.value();
}

}  // namespace polyhalite
