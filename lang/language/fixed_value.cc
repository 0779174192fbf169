#include "lang/language/fixed_value.h"

#include <cstdint>
#include <limits>

#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"

namespace polyhalite::detail {

namespace {

void require_fixed(const Expr &e, bool elements, const std::string &what,
                   const SourceLocation &where) {
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    const CallNode *c = as_call(n);
    const bool loop = v && (v->kind == VariableKind::Pure || v->kind == VariableKind::Reduction);
    const bool data = c && (c->kind == CallKind::Func || (c->kind == CallKind::Image && !elements));
    if (!loop && !data) return;
    user_error(what + " depends on '" + plain_name(loop ? v->name : c->name) + "'",
               "it is fixed before the loops run",
               elements ? "use a constant or an expression of Params, images' sizes and elements"
                        : "use a constant or an expression of Params and of images' sizes",
               where);
  });
}

}  // namespace

void require_fixed(const Expr &e, const std::string &what, const SourceLocation &where) {
  require_fixed(e, false, what, where);
}

void require_fixed_or_element(const Expr &e, const std::string &what, const SourceLocation &where) {
  require_fixed(e, true, what, where);
}

void require_int32(const Expr &e, const std::string &what, const SourceLocation &where) {
  if (!e.defined()) {
    user_error(what + " is undefined", "an Expr that was never given a value has no type",
               "assign the Expr before it is used", where);
  }
  if (!e.type().is_int_or_uint() || e.type().is_bool()) {
    user_error(what + " has type " + e.type().to_string(), "it counts elements or iterations",
               "give an integer, as in cast<int>(e)", where);
  }
  int64_t value;
  if (!is_const_int(e, &value)) return;
  const bool wrapped = e.type().is_uint() && value < 0;
  if (!wrapped && value >= std::numeric_limits<int32_t>::min() &&
      value <= std::numeric_limits<int32_t>::max()) {
    return;
  }
  user_error(what + " is " +
                 (wrapped ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value)),
             "sizes and indices are int32, which holds -2147483648 to 2147483647",
             "give a number that int32 holds", where);
}

Expr fixed_integer(Expr e, const std::string &what, const SourceLocation &where) {
  require_int32(e, what, where);
  require_fixed(e, what, where);
  return cast_folding(Int(32), std::move(e));
}

}  // namespace polyhalite::detail
