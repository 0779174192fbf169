#include "polyhalite/effects.h"

#include <string>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/language/match_types.h"
#include "lang/language/random.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Expr with_items(const char *name, Expr condition, const std::vector<Expr> &values) {
  detail::require_defined(condition, name);
  if (values.empty()) {
    user_error(std::string("'") + name + "' without a value", "it stands for its first value",
               "give at least one value");
  }
  for (const Expr &v : values) detail::require_defined(v, name);
  if (!condition.type().element_of().is_bool()) {
    user_error(
        std::string("the condition of '") + name + "' has type " + condition.type().to_string(),
        "conditions have type bool", "compare it, as in x != 0");
  }
  if (values[0]->op == Op::StringImm) {
    user_error(std::string("the value of '") + name + "' is a text",
               "it stands for its first value", "give the text after the value");
  }
  const Type t = values[0].type();
  std::vector<Expr> args = {std::move(condition)};
  args.insert(args.end(), values.begin(), values.end());
  return make_intrinsic(t, name, std::move(args));
}

}  // namespace

Expr print(const std::vector<Expr> &values) { return print_when(Expr(true), values); }

Expr print_when(Expr condition, const std::vector<Expr> &values) {
  return with_items(intrinsic::kPrint, std::move(condition), values);
}

Expr require(Expr condition, const std::vector<Expr> &values) {
  return with_items(intrinsic::kRequire, std::move(condition), values);
}

Expr undef(Type t) { return make_intrinsic(t, intrinsic::kUndef, {}); }

Expr memoize_tag(Expr result, const std::vector<Expr> &keys) {
  detail::require_defined(result, "memoize_tag");
  for (const Expr &k : keys) detail::require_defined(k, "memoize_tag");
  const Type t = result.type();
  std::vector<Expr> args = {std::move(result)};
  args.insert(args.end(), keys.begin(), keys.end());
  return make_intrinsic(t, intrinsic::kMemoizeTag, std::move(args));
}

Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
  detail::require_defined(value, "unsafe_promise_clamped");
  const Type t = value.type();
  // A side without a promise has the type's end.
  const Expr low = min.defined() ? detail::bound_as(t, min, "unsafe_promise_clamped") : t.min();
  const Expr high = max.defined() ? detail::bound_as(t, max, "unsafe_promise_clamped") : t.max();
  return make_intrinsic(t, intrinsic::kPromiseClamped, {value, low, high});
}

namespace {

Expr random_bits(Expr seed) {
  std::vector<Expr> args = {Expr(next_random_call())};
  if (seed.defined()) {
    if (!seed.type().is_int_or_uint() || seed.type().bits() > 32) {
      user_error("the seed of a random number has type " + seed.type().to_string(),
                 "seeds are integers of up to 32 bits", "cast the seed");
    }
    args.push_back(std::move(seed));
  }
  return make_intrinsic(UInt(32), intrinsic::kRandom, std::move(args));
}

}  // namespace

Expr random_uint(Expr seed) { return random_bits(std::move(seed)); }
Expr random_int(Expr seed) { return reinterpret<int32_t>(random_bits(std::move(seed))); }

// 23 random bits behind the point of a number in [1, 2).
Expr random_float(Expr seed) {
  const Expr mantissa = random_bits(std::move(seed)) >> 9;
  return reinterpret<float>(mantissa | 0x3f800000) - 1.0f;
}

}  // namespace polyhalite
