#include "lang/language/call.h"

#include "lang/ir/node.h"
#include "lang/language/implicit.h"
#include "lang/language/match_types.h"

namespace polyhalite::detail {

std::vector<Expr> call_arguments(const std::vector<Expr> &given, int dimensions, const char *kind,
                                 const std::string &name, const SourceLocation &where) {
  const std::string who = std::string(kind) + " '" + name + "'";
  const std::vector<Expr> args = expand_placeholder(given, dimensions, name, where);
  if (static_cast<int>(args.size()) != dimensions) {
    user_error(who + " is called with " + std::to_string(args.size()) + " arguments",
               "it has " + std::to_string(dimensions) + " dimensions",
               "give one argument for each dimension", where);
  }
  std::vector<Expr> result;
  for (size_t i = 0; i < args.size(); i++) {
    const std::string which = "argument " + std::to_string(i) + " of " + who;
    if (!args[i].defined()) {
      user_error(which + " is undefined", "an Expr that was never given a value has no type",
                 "assign the Expr before it is used", where);
    }
    const Type t = args[i].type();
    if (!t.is_int_or_uint()) {
      user_error(which + " has type " + t.to_string(), "coordinates are int32",
                 "cast it, as in cast<int>(e)", where);
    }
    if (t.bits() > 32 || (t.is_uint() && t.bits() == 32)) {
      user_error(which + " has type " + t.to_string(),
                 "coordinates are int32, which does not hold every " + t.to_string(),
                 "cast it to int32 where its range allows", where);
    }
    result.push_back(cast_folding(Int(32), args[i]));
  }
  return result;
}

}  // namespace polyhalite::detail
