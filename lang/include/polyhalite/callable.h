// Callable: a pipeline compiled in process, called with its arguments like a function of C++.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/argument.h"
#include "polyhalite/buffer.h"
#include "polyhalite/jit_context.h"

namespace polyhalite {

struct CallableContents;

namespace detail {

/// One argument of a call: a buffer or a scalar's bits, and what its C++ type says about it.
struct CallArgument {
  bool is_buffer = false;
  Type type;            // Handle() for a buffer whose element type is not known before the call
  int dimensions = -1;  // of a buffer, -1 where they are not known before the call
  polyhalite_buffer_t *buffer = nullptr;
  uint64_t bits = 0;
};

template <typename T>
struct IsBuffer : std::false_type {};
template <typename T, int D>
struct IsBuffer<Buffer<T, D>> : std::true_type {
  static Type type() { return element_type<T>(); }
  static constexpr int dimensions = D;
};
template <typename T, int D, int S>
struct IsBuffer<runtime::Buffer<T, D, S>> : std::true_type {
  static Type type() { return element_type<T>(); }
  static constexpr int dimensions = D;
};

template <typename T>
constexpr bool is_raw_buffer =
    std::is_same_v<T, polyhalite_buffer_t *> || std::is_same_v<T, const polyhalite_buffer_t *>;

/// What a C++ type says of an argument; no value.
template <typename T>
CallArgument argument_of_type() {
  CallArgument a;
  if constexpr (IsBuffer<T>::value) {
    a.is_buffer = true;
    a.type = IsBuffer<T>::type();
    a.dimensions = IsBuffer<T>::dimensions;
  } else if constexpr (is_raw_buffer<T>) {
    a.is_buffer = true;
    a.type = Handle();
  } else {
    a.type = type_of<T>();
  }
  return a;
}

template <typename T>
CallArgument call_argument(const T &value) {
  CallArgument a = argument_of_type<T>();
  if constexpr (IsBuffer<T>::value) {
    if constexpr (std::is_base_of_v<runtime::BufferBase, T>) {
      a.buffer = const_cast<polyhalite_buffer_t *>(value.raw_buffer());
    } else {
      a.buffer = value.defined() ? &value.contents()->raw() : nullptr;
    }
  } else if constexpr (is_raw_buffer<T>) {
    a.buffer = const_cast<polyhalite_buffer_t *>(value);
  } else {
    static_assert(sizeof(T) <= sizeof(a.bits), "an argument of a Callable is a scalar or a buffer");
    std::memcpy(&a.bits, &value, sizeof(T));
  }
  return a;
}

}  // namespace detail

/// Calls may come from many threads. Inputs in the order that compile_to_callable() was given, then
/// outputs, one buffer for each value. Wrong arguments and failures at run time are RuntimeErrors,
/// or a message to the handler custom_error and the returned error code.
class Callable {
 public:
  /// Undefined.
  Callable() = default;
  explicit Callable(std::shared_ptr<const CallableContents> contents)
      : contents_(std::move(contents)) {}
  bool defined() const { return contents_ != nullptr; }

  template <typename C, typename... Args,
            typename = std::enable_if_t<std::is_base_of_v<JITUserContext, C>>>
  int operator()(C *context, Args &&...args) const {
    return call(context, {detail::call_argument<std::decay_t<Args>>(args)...});
  }
  template <typename... Args>
  int operator()(Args &&...args) const {
    return call(nullptr, {detail::call_argument<std::decay_t<Args>>(args)...});
  }

  /// As a std::function of these types; the first may be JITUserContext *. CompileError where the
  /// types are not those of the arguments.
  template <typename First, typename... Rest>
  std::function<int(First, Rest...)> make_std_function(Here here = Here()) const {
    std::vector<detail::CallArgument> types;
    if constexpr (!std::is_base_of_v<JITUserContext, std::remove_pointer_t<std::decay_t<First>>>) {
      types.push_back(detail::argument_of_type<std::decay_t<First>>());
    }
    (types.push_back(detail::argument_of_type<std::decay_t<Rest>>()), ...);
    check_types(types, here);
    return [callable = *this](First first, Rest... rest) {
      return callable(std::forward<First>(first), std::forward<Rest>(rest)...);
    };
  }

  /// The arguments of a call, in order; outputs too.
  const std::vector<Argument> &arguments() const;

 private:
  void check_types(const std::vector<detail::CallArgument> &types, const Here &here) const;
  int call(JITUserContext *context, const std::vector<detail::CallArgument> &args) const;
  std::shared_ptr<const CallableContents> contents_;
};

}  // namespace polyhalite
