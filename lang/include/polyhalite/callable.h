// Callable: a pipeline compiled in process, called with its arguments like a function of C++.
#pragma once

#include <array>
#include <cstddef>
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

/// One argument of a call: a buffer or a scalar's bits, and what its C++ type says about it. A
/// type's description has no value.
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
inline constexpr bool is_raw_buffer =
    std::is_same_v<T, polyhalite_buffer_t *> || std::is_same_v<T, const polyhalite_buffer_t *>;

template <typename T>
CallArgument describe_argument() {
  using U = std::decay_t<T>;
  CallArgument a;
  if constexpr (IsBuffer<U>::value) {
    a.is_buffer = true;
    a.type = IsBuffer<U>::type();
    a.dimensions = IsBuffer<U>::dimensions;
  } else if constexpr (is_raw_buffer<U>) {
    a.is_buffer = true;
    a.type = Handle();
  } else {
    static_assert(sizeof(U) <= sizeof(a.bits), "an argument of a Callable is a scalar or a buffer");
    a.type = type_of<U>();
  }
  return a;
}

/// The descriptions of arguments of these types: one table for all calls with them, by which a
/// Callable knows types that it has checked before.
template <typename... Args>
const CallArgument *describe_arguments() {
  // One more than there are, so that no table is empty and shares its address.
  static const std::array<CallArgument, 1 + sizeof...(Args)> list = {describe_argument<Args>()...};
  return list.data();
}

/// What compiled code gets of an argument: the buffer, or where the scalar's value stands.
template <typename T>
void *call_slot(const T &value) {
  if constexpr (IsBuffer<T>::value && std::is_base_of_v<runtime::BufferBase, T>) {
    return const_cast<polyhalite_buffer_t *>(value.raw_buffer());
  } else if constexpr (IsBuffer<T>::value) {
    return value.defined() ? &value.contents()->raw() : nullptr;
  } else if constexpr (is_raw_buffer<T>) {
    return const_cast<polyhalite_buffer_t *>(value);
  } else {
    return const_cast<T *>(&value);
  }
}

template <typename T>
CallArgument call_argument(const T &value) {
  CallArgument a = describe_argument<T>();
  if constexpr (IsBuffer<T>::value || is_raw_buffer<T>) {
    a.buffer = static_cast<polyhalite_buffer_t *>(call_slot(value));
  } else {
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
    return call_with<Args...>(context, args...);
  }
  template <typename... Args>
  int operator()(Args &&...args) const {
    return call_with<Args...>(nullptr, args...);
  }

  /// As a std::function of these types; the first may be JITUserContext *. Types that do not fit
  /// fail here as a call with them would.
  template <typename First, typename... Rest>
  std::function<int(First, Rest...)> make_std_function() const {
    if constexpr (std::is_same_v<std::decay_t<First>, JITUserContext *>) {
      check_types({detail::describe_argument<Rest>()...});
    } else {
      check_types({detail::describe_argument<First>(), detail::describe_argument<Rest>()...});
    }
    return [callable = *this](First first, Rest... rest) {
      return callable(std::forward<First>(first), std::forward<Rest>(rest)...);
    };
  }

  /// The arguments of a call, in order; outputs too.
  const std::vector<Argument> &arguments() const;
  /// For arguments whose number and types are known at run time only.
  int call(JITUserContext *context, const std::vector<detail::CallArgument> &args) const;

 private:
  template <typename... Args>
  int call_with(JITUserContext *context, const std::decay_t<Args> &...args) const {
    void *slots[1 + sizeof...(Args)] = {nullptr, detail::call_slot(args)...};
    return call(context, detail::describe_arguments<std::decay_t<Args>...>(), slots,
                sizeof...(Args));
  }
  /// `described` are the types, and stay where they are for good; slots[1 + i] is argument i's.
  int call(JITUserContext *context, const detail::CallArgument *described, void **slots,
           size_t count) const;
  void check_types(const std::vector<detail::CallArgument> &args) const;
  std::shared_ptr<const CallableContents> contents_;
};

}  // namespace polyhalite
