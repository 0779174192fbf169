#include "polyhalite/extern_call.h"

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"

namespace polyhalite {

namespace {

Expr checked_call(CallKind kind, const Type &result, const std::string &name,
                  const std::vector<Expr> &args, const std::vector<Type> &types, Here here) {
  if (args.size() != types.size()) {
    user_error("'" + name + "' is called with " + std::to_string(args.size()) + " arguments",
               "it takes " + std::to_string(types.size()), "give one for each parameter",
               here.where);
  }
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].defined() && args[i].type() == types[i]) continue;
    user_error("argument " + std::to_string(i) + " of '" + name + "' " +
                   (args[i].defined() ? "has type " + args[i].type().to_string() : "is undefined"),
               "its parameter is declared as " + types[i].to_string() +
                   ", and the arguments of C functions are not converted",
               "cast it, as in cast<int>(e)", here.where);
  }
  return Expr(std::make_shared<CallNode>(result, kind, name, args));
}

}  // namespace

Expr extern_call(const Type &result, const std::string &name, const std::vector<Expr> &args,
                 const std::vector<Type> &types, Here here) {
  return checked_call(CallKind::Extern, result, name, args, types, here);
}

Expr pure_extern_call(const Type &result, const std::string &name, const std::vector<Expr> &args,
                      const std::vector<Type> &types, Here here) {
  return checked_call(CallKind::PureExtern, result, name, args, types, here);
}

Expr user_context_value() { return make_intrinsic(Handle(), intrinsic::kUserContext, {}); }

}  // namespace polyhalite
