#include "polyhalite/operators.h"

#include <cmath>
#include <limits>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/language/match_types.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace detail {

namespace {

Op op_of(Binary b) {
  switch (b) {
    case Binary::Add:
      return Op::Add;
    case Binary::Sub:
      return Op::Sub;
    case Binary::Mul:
      return Op::Mul;
    case Binary::Div:
      return Op::Div;
    case Binary::Mod:
      return Op::Mod;
    case Binary::Min:
      return Op::Min;
    case Binary::Max:
      return Op::Max;
    case Binary::Eq:
      return Op::Eq;
    case Binary::Ne:
      return Op::Ne;
    case Binary::Lt:
      return Op::Lt;
    case Binary::Le:
      return Op::Le;
    case Binary::Gt:
      return Op::Gt;
    case Binary::Ge:
      return Op::Ge;
  }
  return Op::Add;
}

const char *bitwise_symbol(Bitwise op) {
  switch (op) {
    case Bitwise::And:
      return "&";
    case Bitwise::Or:
      return "|";
    case Bitwise::Xor:
      return "^";
    case Bitwise::ShiftLeft:
      return "<<";
    case Bitwise::ShiftRight:
      return ">>";
  }
  return "";
}

const char *bitwise_intrinsic(Bitwise op) {
  switch (op) {
    case Bitwise::And:
      return intrinsic::kBitwiseAnd;
    case Bitwise::Or:
      return intrinsic::kBitwiseOr;
    case Bitwise::Xor:
      return intrinsic::kBitwiseXor;
    case Bitwise::ShiftLeft:
      return intrinsic::kShiftLeft;
    case Bitwise::ShiftRight:
      return intrinsic::kShiftRight;
  }
  return "";
}

void require_integer(const Expr &e, const char *symbol) {
  if (e.type().is_int_or_uint()) return;
  user_error(std::string("'") + symbol + "' on " + e.type().to_string(),
             "bits are defined for integers only", "cast or reinterpret the operand to an integer");
}

}  // namespace

Expr binary(Binary op, Expr a, Expr b) {
  const Op o = op_of(op);
  require_defined(a, op_name(o));
  require_defined(b, op_name(o));
  match_types(a, b, op_name(o));
  return make_binary(o, std::move(a), std::move(b));
}

Expr binary(Binary op, Expr a, int b) {
  const Op o = op_of(op);
  require_defined(a, op_name(o));
  Expr literal = literal_as(a.type(), b, op_name(o));
  return make_binary(o, std::move(a), std::move(literal));
}

Expr binary(Binary op, int a, Expr b) {
  const Op o = op_of(op);
  require_defined(b, op_name(o));
  Expr literal = literal_as(b.type(), a, op_name(o));
  return make_binary(o, std::move(literal), std::move(b));
}

Expr bitwise(Bitwise op, Expr a, Expr b) {
  const char *symbol = bitwise_symbol(op);
  require_defined(a, symbol);
  require_defined(b, symbol);
  require_integer(a, symbol);
  require_integer(b, symbol);
  if (op == Bitwise::ShiftLeft || op == Bitwise::ShiftRight) {
    match_lanes(a, b);
    // A negative amount keeps its sign.
    b = make_cast(b.type().with_bits(a.type().bits()), b);
  } else {
    if (a.type().is_int() != b.type().is_int()) {
      user_error(std::string("'") + symbol + "' mixes " + a.type().to_string() + " and " +
                     b.type().to_string(),
                 "both operands must be signed or both unsigned", "cast one operand");
    }
    match_types(a, b, symbol);
  }
  const Type t = a.type();
  return make_intrinsic(t, bitwise_intrinsic(op), {std::move(a), std::move(b)});
}

Expr bitwise(Bitwise op, Expr a, int b) {
  const char *symbol = bitwise_symbol(op);
  require_defined(a, symbol);
  require_integer(a, symbol);
  const bool shift = op == Bitwise::ShiftLeft || op == Bitwise::ShiftRight;
  const Type t = shift && b < 0 ? a.type().with_code(Type::Int) : a.type();
  Expr literal = literal_as(t, b, symbol);
  return bitwise(op, std::move(a), std::move(literal));
}

Expr bitwise(Bitwise op, int a, Expr b) {
  const char *symbol = bitwise_symbol(op);
  require_defined(b, symbol);
  require_integer(b, symbol);
  Expr literal = literal_as(b.type(), a, symbol);
  return bitwise(op, std::move(literal), std::move(b));
}

}  // namespace detail

namespace {

void require_bool(const Expr &e, const char *symbol) {
  detail::require_defined(e, symbol);
  if (e.type().element_of().is_bool()) return;
  user_error(std::string("operand of '") + symbol + "' has type " + e.type().to_string(),
             "conditions have type bool", "compare it, as in x != 0");
}

// What is made there is combined further on the same line, mostly.
void note(ExprSite site) {
  if (site.file) detail::note_site(site.file, site.line);
}

Expr logic(Op op, Expr a, Expr b) {
  const ErrorPlace place(detail::noted_site());
  require_bool(a, op_name(op));
  require_bool(b, op_name(op));
  detail::match_lanes(a, b);
  return make_binary(op, std::move(a), std::move(b));
}

}  // namespace

Expr operator-(Expr a) {
  const ErrorPlace place(detail::noted_site());
  detail::require_defined(a, "-");
  const Type t = a.type();
  return make_binary(Op::Sub, make_zero(t), std::move(a));
}

Expr operator~(Expr a) {
  const ErrorPlace place(detail::noted_site());
  detail::require_defined(a, "~");
  detail::require_integer(a, "~");
  const Type t = a.type();
  return make_intrinsic(t, intrinsic::kBitwiseNot, {std::move(a)});
}

Expr operator!(Expr a) {
  const ErrorPlace place(detail::noted_site());
  require_bool(a, "!");
  return make_not(std::move(a));
}

Expr operator&&(Expr a, Expr b) { return logic(Op::And, std::move(a), std::move(b)); }
Expr operator&&(Expr a, bool b) { return logic(Op::And, std::move(a), Expr(b)); }
Expr operator&&(bool a, Expr b) { return logic(Op::And, Expr(a), std::move(b)); }
Expr operator||(Expr a, Expr b) { return logic(Op::Or, std::move(a), std::move(b)); }
Expr operator||(Expr a, bool b) { return logic(Op::Or, std::move(a), Expr(b)); }
Expr operator||(bool a, Expr b) { return logic(Op::Or, Expr(a), std::move(b)); }

// The assigned variable keeps its type.
Expr &operator+=(Expr &a, Expr b) {
  const ErrorPlace place(detail::noted_site());
  return a = a + cast(a.type(), std::move(b));
}
Expr &operator-=(Expr &a, Expr b) {
  const ErrorPlace place(detail::noted_site());
  return a = a - cast(a.type(), std::move(b));
}
Expr &operator*=(Expr &a, Expr b) {
  const ErrorPlace place(detail::noted_site());
  return a = a * cast(a.type(), std::move(b));
}
Expr &operator/=(Expr &a, Expr b) {
  const ErrorPlace place(detail::noted_site());
  return a = a / cast(a.type(), std::move(b));
}

Expr cast(Type t, Expr e, ExprSite site) {
  note(site);
  const ErrorPlace place(site);
  detail::require_defined(e, "cast");
  if (t.is_scalar()) t = t.with_lanes(e.type().lanes());
  if (t.is_handle() != e.type().is_handle()) {
    user_error("cast from " + e.type().to_string() + " to " + t.to_string(),
               "a handle is no number", "reinterpret it to uint64");
  }
  return detail::cast_folding(t, std::move(e));
}

Expr reinterpret(Type t, Expr e, ExprSite site) {
  note(site);
  const ErrorPlace place(site);
  detail::require_defined(e, "reinterpret");
  if (t.bits() * t.lanes() != e.type().bits() * e.type().lanes()) {
    user_error("reinterpret of " + e.type().to_string() + " as " + t.to_string(),
               "the widths in bits differ", "choose a type of the same width, or cast");
  }
  return make_reinterpret(t, std::move(e));
}

namespace {

// Longer chains of selects become trees, whose depth is small.
constexpr size_t kMuxChain = 32;

Expr mux_chain(const Expr &id, const std::vector<Expr> &values, size_t begin, size_t end) {
  Expr result = values[end - 1];
  for (size_t i = end - 1; i-- > begin;) {
    result = select(id == static_cast<int>(i), values[i], result);
  }
  return result;
}

Expr mux_tree(const Expr &id, const std::vector<Expr> &values, size_t begin, size_t end) {
  if (end - begin <= kMuxChain) return mux_chain(id, values, begin, end);
  const size_t middle = begin + (end - begin) / 2;
  return select(id < static_cast<int>(middle), mux_tree(id, values, begin, middle),
                mux_tree(id, values, middle, end));
}

}  // namespace

Expr mux(const Expr &id, const std::vector<Expr> &values, ExprSite site) {
  note(site);
  const ErrorPlace place(site);
  if (values.empty()) {
    user_error("mux without values", "there is nothing to choose from", "give at least one value");
  }
  if (values.size() <= kMuxChain) return mux_chain(id, values, 0, values.size());
  return select(id < 0, values.back(), mux_tree(id, values, 0, values.size()));
}

Expr clamp(Expr a, Expr min_value, Expr max_value, ExprSite site) {
  note(site);
  const ErrorPlace place(site);
  detail::require_defined(a, "clamp");
  detail::require_defined(min_value, "clamp");
  detail::require_defined(max_value, "clamp");
  const Type t = a.type();
  Expr low = detail::bound_as(t, std::move(min_value), "clamp");
  Expr high = detail::bound_as(t, std::move(max_value), "clamp");
  return max(min(std::move(a), std::move(high)), std::move(low));
}

Expr abs(Expr a) {
  detail::require_defined(a, "abs");
  const Type t = a.type();
  if (t.is_uint()) return a;
  return make_intrinsic(t.is_int() ? t.with_code(Type::UInt) : t, intrinsic::kAbs, {std::move(a)});
}

Expr absd(Expr a, Expr b) {
  detail::require_defined(a, "absd");
  detail::require_defined(b, "absd");
  detail::match_types(a, b, "absd");
  const Type t = a.type();
  if (t.is_float()) return abs(std::move(a) - std::move(b));
  return make_intrinsic(t.with_code(Type::UInt), intrinsic::kAbsd, {std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr true_value, Expr false_value, ExprSite site) {
  note(site);
  const ErrorPlace place(site);
  // What C++ has compared is a number by now: select(sizeof(T) == 4, a, b).
  if (condition.defined() && is_const_int(condition)) {
    condition = make_binary(Op::Ne, condition, make_zero(condition.type()));
  }
  require_bool(condition, "select");
  detail::require_defined(true_value, "select");
  detail::require_defined(false_value, "select");
  if (is_const_int(true_value)) {
    true_value = detail::bound_as(false_value.type(), std::move(true_value), "select");
  } else if (is_const_int(false_value)) {
    false_value = detail::bound_as(true_value.type(), std::move(false_value), "select");
  }
  detail::match_lanes(true_value, false_value);
  if (true_value.type() != false_value.type()) {
    user_error("select between " + true_value.type().to_string() + " and " +
                   false_value.type().to_string(),
               "the two values must have the same type", "cast one of them");
  }
  return make_select(std::move(condition), std::move(true_value), std::move(false_value));
}

Expr likely(Expr e) {
  detail::require_defined(e, "likely");
  const Type t = e.type();
  return make_intrinsic(t, intrinsic::kLikely, {std::move(e)});
}

Expr likely_if_innermost(Expr e) {
  detail::require_defined(e, "likely_if_innermost");
  const Type t = e.type();
  return make_intrinsic(t, intrinsic::kLikelyIfInnermost, {std::move(e)});
}

Expr strict_float(Expr e) {
  detail::require_defined(e, "strict_float");
  const Type t = e.type();
  return make_intrinsic(t, intrinsic::kStrictFloat, {std::move(e)});
}

}  // namespace polyhalite
