// GeneratorParam: a value that is fixed when a generator runs, set on its command line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/expr.h"
#include "polyhalite/stage.h"
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

  /// How a stub's header spells the parameter: its C++ type, its value, the text of a variable
  /// `v` of it, and what must be declared before.
  struct StubForm {
    std::string type, value, to_text, declarations;
    bool is_loop_level = false;
  };
  virtual StubForm stub_form() const = 0;

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
std::string float_text(float value);
std::string float_text(double value);
LoopLevel parse_loop_level(const std::string &name, const std::string &text);
/// As a C++ string literal.
std::string quoted_text(const std::string &text);
std::vector<std::string> split_at_commas(const std::string &text);
std::string number_text(bool value);
template <typename T>
std::string number_text(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return float_text(value);
  } else {
    return std::to_string(value);
  }
}
template <typename T>
T parse_number(const std::string &name, const std::string &text) {
  if constexpr (std::is_same_v<T, bool>) {
    return parse_bool(name, text);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(parse_float(name, text));
  } else if constexpr (std::is_signed_v<T>) {
    constexpr int64_t kTop = static_cast<int64_t>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
    return static_cast<T>(parse_integer(name, text, -kTop - 1, kTop));
  } else {
    return static_cast<T>(parse_unsigned(name, text, ~uint64_t{0} >> (64 - 8 * sizeof(T))));
  }
}
template <typename T>
struct IsVector : std::false_type {};
template <typename E>
struct IsVector<std::vector<E>> : std::true_type {};
[[noreturn]] void unknown_choice(const std::string &name, const std::string &text,
                                 const std::string &choices);
[[noreturn]] void out_of_range(const std::string &name, const std::string &value,
                               const std::string &min, const std::string &max);

}  // namespace detail

/// T is an arithmetic type or a std::vector of one ("1,2,3"), std::string, Type, Target, LoopLevel,
/// or an enum with a map of its values' names.
template <typename T>
class GeneratorParam : public GeneratorParamBase {
 public:
  GeneratorParam(const std::string &name, const T &value)
      : GeneratorParamBase(name), value_(value) {}
  /// Values outside [min, max] are refused.
  template <typename U = T, typename = std::enable_if_t<std::is_arithmetic_v<U>>>
  GeneratorParam(const std::string &name, const T &value, const T &min, const T &max)
      : GeneratorParamBase(name), value_(value), range_{min, max} {
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
    if constexpr (std::is_same_v<T, LoopLevel>) {
      value_.set(value);  // directives that have it already follow
    } else {
      value_ = value;
      check_range();
    }
  }

  void set_from_string(const std::string &text) override {
    if (!choices_.empty()) {
      const auto it = choices_.find(text);
      if (it == choices_.end()) detail::unknown_choice(name(), text, choice_names());
      value_ = it->second;
      return;
    }
    if constexpr (std::is_arithmetic_v<T>) {
      value_ = detail::parse_number<T>(name(), text);
    } else if constexpr (detail::IsVector<T>::value) {
      value_.clear();
      for (const std::string &word : detail::split_at_commas(text)) {
        value_.push_back(detail::parse_number<typename T::value_type>(name(), word));
      }
    } else if constexpr (std::is_same_v<T, Type>) {
      value_ = detail::parse_type(name(), text);
    } else if constexpr (std::is_same_v<T, Target>) {
      value_ = Target(text);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value_ = text;
    } else if constexpr (std::is_same_v<T, LoopLevel>) {
      set(detail::parse_loop_level(name(), text));
    } else {
      detail::unknown_choice(name(), text, choice_names());
    }
    check_range();
  }

  std::string value_text() const override {
    if constexpr (!std::is_same_v<T, LoopLevel>) {
      for (const auto &[text, choice] : choices_) {
        if (choice == value_) return text;
      }
    }
    if constexpr (std::is_arithmetic_v<T>) {
      return detail::number_text(value_);
    } else if constexpr (detail::IsVector<T>::value) {
      std::string s;
      for (const auto &v : value_) s += (s.empty() ? "" : ",") + detail::number_text(v);
      return s;
    } else if constexpr (std::is_same_v<T, Type> || std::is_same_v<T, Target>) {
      return value_.to_string();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return value_;
    } else {
      return "(a loop)";
    }
  }

  StubForm stub_form() const override {
    if (!choices_.empty()) {
      const std::string type = "Enum_" + name();
      std::string values, texts;
      for (const auto &[text, choice] : choices_) {
        values += (values.empty() ? "" : ", ") + text;
        texts += "    if (v == " + type + "::" + text + ") return \"" + text + "\";\n";
      }
      return {type, type + "::" + value_text(), type + "_text(v)",
              "  enum class " + type + " { " + values + " };\n  static std::string " + type +
                  "_text(" + type + " v) {\n" + texts + "    return \"\";\n  }\n"};
    }
    if constexpr (std::is_same_v<T, bool>) {
      return {"bool", value_text(), "std::string(v ? \"true\" : \"false\")", ""};
    } else if constexpr (std::is_floating_point_v<T>) {
      const std::string type = sizeof(T) == 4 ? "float" : "double";
      return {type, "static_cast<" + type + ">(" + value_text() + ")",
              "::polyhalite::detail::float_text(v)", ""};
    } else if constexpr (std::is_arithmetic_v<T>) {
      const std::string type =
          (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
      return {type, value_text() + (std::is_signed_v<T> ? "" : "u"), "std::to_string(v)", ""};
    } else if constexpr (std::is_same_v<T, Type>) {
      return {"::polyhalite::Type",
              "::polyhalite::detail::parse_type(\"" + name() + "\", \"" + value_text() + "\")",
              "v.to_string()", ""};
    } else if constexpr (std::is_same_v<T, Target>) {
      return {"::polyhalite::Target", "::polyhalite::Target(\"" + value_text() + "\")",
              "v.to_string()", ""};
    } else if constexpr (std::is_same_v<T, LoopLevel>) {
      return {"::polyhalite::LoopLevel", "::polyhalite::LoopLevel::root()", "", "", true};
    } else {
      return {"std::string", detail::quoted_text(value_text()), "v", ""};
    }
  }

 private:
  void check_range() {
    if constexpr (std::is_arithmetic_v<T>) {
      if (!range_.empty() && !(value_ >= range_[0] && value_ <= range_[1])) {
        detail::out_of_range(name(), std::to_string(value_), std::to_string(range_[0]),
                             std::to_string(range_[1]));
      }
    }
  }
  std::string choice_names() const {
    std::string s;
    for (const auto &[text, choice] : choices_) s += (s.empty() ? "" : ", ") + text;
    return s;
  }

  T value_;
  std::vector<T> range_;  // empty, or least and greatest value
  std::map<std::string, T> choices_;
};

namespace detail {

// min and max of plain values and of expressions alike.
using std::max;
using std::min;
template <typename A, typename B>
auto min_of(const A &a, const B &b) -> decltype(min(a, b)) {
  return min(a, b);
}
template <typename A, typename B>
auto max_of(const A &a, const B &b) -> decltype(max(a, b)) {
  return max(a, b);
}

}  // namespace detail

// A parameter beside an operator is its value. Without these, its two conversions would compete.
// This line is none of the user's, whose is not known.
#define POLYHALITE_PARAM_OPERATOR(op)                                                  \
  template <typename A, typename T>                                                    \
  auto operator op(const A &a, const GeneratorParam<T> &b)->decltype(a op b.value()) { \
    const ErrorPlace place(ExprSite::unknown());                                       \
    return a op b.value();                                                             \
  }                                                                                    \
  template <typename T, typename B>                                                    \
  auto operator op(const GeneratorParam<T> &a, const B &b)->decltype(a.value() op b) { \
    const ErrorPlace place(ExprSite::unknown());                                       \
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
#define POLYHALITE_PARAM_FUNCTION(name)                                                            \
  template <typename A, typename T>                                                                \
  auto name(const A &a, const GeneratorParam<T> &b) -> decltype(detail::name##_of(a, b.value())) { \
    return detail::name##_of(a, b.value());                                                        \
  }                                                                                                \
  template <typename T, typename B>                                                                \
  auto name(const GeneratorParam<T> &a, const B &b) -> decltype(detail::name##_of(a.value(), b)) { \
    return detail::name##_of(a.value(), b);                                                        \
  }                                                                                                \
  template <typename T>                                                                            \
  T name(const GeneratorParam<T> &a, const GeneratorParam<T> &b) {                                 \
    return detail::name##_of(a.value(), b.value());                                                \
  }
POLYHALITE_PARAM_FUNCTION(min)
POLYHALITE_PARAM_FUNCTION(max)
#undef POLYHALITE_PARAM_FUNCTION
template <typename T>
auto operator!(const GeneratorParam<T> &a) -> decltype(!a.value()) {
  return !a.value();
}

}  // namespace polyhalite
