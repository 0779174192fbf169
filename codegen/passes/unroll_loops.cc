#include "codegen/passes/unroll_loops.h"

#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/copy_body.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

bool reads(const Expr &e, const std::string &buffer) {
  bool found = false;
  for_each_node(e, [&](const Expr &x) {
    const LoadNode *load = as_load(x);
    const CallNode *call = as_call(x);
    found |= (load && load->buffer == buffer) || (call && call->kind == CallKind::Extern);
  });
  return found;
}

// Vectors that lie between one another are stored as one:
//
//   for c<3 { f[ramp(3*x + c, 3, 8)] = v(c) }  ->  f[ramp(3*x, 1, 24)] = interleaved v(0), v(1),
//   v(2)
//
// Undefined where the loop is of no such form.
Stmt interleaved(const Stmt &loop, int64_t n) {
  constexpr int64_t kMostVectors = 8;
  if (n < 2 || n > kMostVectors) return Stmt();
  Stmt s = loop->body[0];
  std::vector<std::pair<std::string, Expr>> lets;
  for (; s->kind == StmtKind::Let; s = s->body[0]) lets.emplace_back(s->name, s->args[0]);
  if (s->kind != StmtKind::Store || s->args.size() > 2) return Stmt();
  const Expr &index = s->args[0];
  int64_t stride, gap;
  if (index->op != Op::Ramp || !index->args[0].type().is_scalar() ||
      !is_const_int(index->args[1], &stride) || stride != n) {
    return Stmt();
  }
  for (const auto &[name, value] : lets) {
    if (uses_variable(index, name) || reads(value, s->name)) return Stmt();
  }
  if (reads(s->args[1], s->name)) return Stmt();
  auto at = [&](const Expr &e, int64_t i) {
    const Expr counter = simplify(make_binary(Op::Add, loop->args[0], make_int(Int(32), i)));
    return simplify(substitute(loop->name, counter, e));
  };
  const Expr first = at(index->args[0], 0);
  const Expr next = simplify(make_binary(Op::Sub, at(index->args[0], 1), first));
  if (!is_const_int(next, &gap) || gap != 1) return Stmt();
  Expr value = s->args[1];
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
    value = make_let(let->first, let->second, value);
  }
  const int lanes = index.type().lanes();
  std::vector<Expr> values;
  for (int64_t i = 0; i < n; i++) values.push_back(at(value, i));
  std::vector<int> order;
  for (int lane = 0; lane < lanes; lane++) {
    for (int i = 0; i < n; i++) order.push_back(i * lanes + lane);
  }
  const int all = lanes * static_cast<int>(n);
  const Stmt store =
      make_store(s->name, make_ramp(first, make_one(first.type()), all),
                 Expr(std::make_shared<const ShuffleNode>(std::move(values), std::move(order))));
  return written_as(s, store);
}

class Unroll : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);
    if (r->kind != StmtKind::For || r->loop_kind != LoopKind::Unrolled) return r;
    int64_t n;
    internal_check(is_const_int(r->args[1], &n), "unroll_loops: the extent is no constant");
    if (const Stmt all = interleaved(r, n); all.defined()) return all;
    return copy_body_of_each(r, n);
  }
};

}  // namespace

Function unroll_loops(const Function &f) {
  Function out = f;
  out.body = Unroll()(f.body);
  return out;
}

}  // namespace polyhalite
