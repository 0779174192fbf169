#include "lang/simplify/written_values.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

bool is_known_without_data(const Expr &condition) {
  bool known = true;
  for_each_node(condition,
                [&](const Expr &n) { known = known && !as_call(n) && n->op != Op::Load; });
  return known;
}

Expr or_true(const Expr &where) { return where.defined() ? where : make_true(); }

// `own`: is this the value of the cell itself?
template <typename IsOwn>
WrittenValue without_own(const Expr &e, const IsOwn &own) {
  if (own(e)) return {make_zero(e.type()), make_false()};
  if (e->op != Op::Select || !is_known_without_data(e->args[0])) return {e, Expr()};
  const Expr &condition = e->args[0];
  const WrittenValue a = without_own(e->args[1], own), b = without_own(e->args[2], own);
  if (!a.where.defined() && !b.where.defined()) return {e, Expr()};
  const bool never_a = a.where.defined() && is_false(a.where);
  const bool never_b = b.where.defined() && is_false(b.where);
  if (never_a && never_b) return a;
  auto both = [](const Expr &x, const Expr &y) {
    return y.defined() ? make_binary(Op::And, x, y) : x;
  };
  if (never_b) return {a.value, both(condition, a.where)};
  if (never_a) return {b.value, both(simplify(make_not(condition)), b.where)};
  return {make_select(condition, a.value, b.value),
          make_select(condition, or_true(a.where), or_true(b.where))};
}

}  // namespace

std::vector<WrittenValue> written_values(const std::string &func, const StageDef &stage,
                                         const CellWrite &write) {
  std::vector<WrittenValue> written;
  const bool parts = write.values.size() > 1 && cell_writes(stage).size() == 1;
  for (size_t v = 0; v < write.values.size(); v++) {
    const auto own = [&](const Expr &e) {
      const CallNode *c = as_call(e);
      return c && c->kind == CallKind::Func && c->name == func &&
             c->value_index == static_cast<int>(v) &&
             std::equal(c->args.begin(), c->args.end(), write.cell.begin(), write.cell.end(),
                        [](const Expr &a, const Expr &b) {
                          return equal(a, b) || is_zero(simplify(make_binary(Op::Sub, a, b)));
                        });
    };
    written.push_back(parts ? without_own(write.values[v], own)
                            : WrittenValue{write.values[v], Expr()});
  }
  return written;
}

}  // namespace polyhalite
