#include "polyhedral/conditional_use.h"

#include <map>
#include <set>
#include <utility>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// Is it a comparison, or several that all hold, of what is known without memory?
bool says_where(const Expr &e) {
  if (e->op == Op::And) return says_where(e->args[0]) && says_where(e->args[1]);
  if (!is_comparison(e->op) || e->args[0].type() != Int(32)) return false;
  bool plain = true;
  for_each_node(e, [&](const Expr &n) { plain = plain && !as_call(n) && n->op != Op::Load; });
  return plain;
}

class Uses {
 public:
  explicit Uses(const std::function<void(const CallNode &, const Expr &)> &visit) : visit_(visit) {}

  void look(const Expr &e, Expr where) {
    // A value that is shared is met under as many conditions as ways lead to it.
    constexpr size_t kMostConditions = 16;
    std::set<const ExprNode *> &met = seen_[e.get()];
    if (met.size() >= kMostConditions) where = Expr();
    if (!met.insert(where.get()).second) return;
    if (e->op == Op::Select) {
      look(e->args[0], Expr());
      look(e->args[1], both(where, e->args[0]));
      look(e->args[2], both(where, simplify(make_not(e->args[0]))));
      return;
    }
    const CallNode *c = as_call(e);
    const bool access = c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
    if (access) visit_(*c, where);
    for (const Expr &a : e->args) look(a, access ? Expr() : where);
  }

 private:
  Expr both(const Expr &where, const Expr &condition) {
    if (!says_where(condition)) return where;
    kept_.push_back(where.defined() ? make_binary(Op::And, where, condition) : condition);
    return kept_.back();
  }

  const std::function<void(const CallNode &, const Expr &)> &visit_;
  std::map<const ExprNode *, std::set<const ExprNode *>> seen_;  // and under which conditions
  std::vector<Expr> kept_;                                       // which stay alive
};

}  // namespace

void for_each_use(const Expr &e,
                  const std::function<void(const CallNode &, const Expr &where)> &visit) {
  Uses(visit).look(e, Expr());
}

}  // namespace polyhalite
