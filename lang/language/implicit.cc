#include "lang/language/implicit.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "polyhalite/var.h"

namespace polyhalite {

namespace {

bool is_placeholder(const Expr &e) {
  const VariableNode *v = e.defined() ? as_variable(e) : nullptr;
  return v && v->kind == VariableKind::Pure && Var::is_placeholder(v->name);
}

}  // namespace

int find_placeholder(const std::vector<Expr> &args) {
  const auto at = std::find_if(args.begin(), args.end(), is_placeholder);
  return at == args.end() ? -1 : static_cast<int>(at - args.begin());
}

std::vector<Expr> expand_placeholder(const std::vector<Expr> &args, int dimensions,
                                     const std::string &func, const SourceLocation &where) {
  const int at = find_placeholder(args);
  if (at < 0) return args;
  if (std::count_if(args.begin(), args.end(), is_placeholder) > 1) {
    user_error("two placeholders '_' among the arguments of '" + plain_name(func) + "'",
               "how many dimensions each stands for cannot be told", "use '_' once", where);
  }
  const int count = dimensions - (static_cast<int>(args.size()) - 1);
  if (count < 0) return args;
  std::vector<Expr> result(args.begin(), args.begin() + at);
  for (int i = 0; i < count; i++) result.push_back(Var::implicit(i));
  result.insert(result.end(), args.begin() + at + 1, args.end());
  return result;
}

int count_implicit(const std::vector<Expr> &values) {
  int count = 0;
  for (const Expr &e : values) {
    if (!e.defined()) continue;
    for_each_node(e, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      if (!v || v->kind != VariableKind::Pure) return;
      count = std::max(count, Var::implicit_index(v->name) + 1);
    });
  }
  return count;
}

}  // namespace polyhalite
