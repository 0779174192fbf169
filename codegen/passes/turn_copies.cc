#include "codegen/passes/turn_copies.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

namespace {

// Rows of fewer bytes are no better than lanes of a scatter; one of more would be many registers.
constexpr int64_t kLeastRow = 16, kMostRow = 512;

std::optional<int64_t> extent_of(const Stmt &loop) {
  int64_t n;
  return is_const_int(loop->args[1], &n) ? std::optional(n) : std::nullopt;
}

// How far an index moves with a loop's counter; nothing where it is not linear in it.
std::optional<int64_t> step(const Expr &index, const std::string &counter) {
  int64_t all = 0;
  for (const auto &[atom, coefficient] : to_linear(index).terms) {
    if (!uses_variable(atom, counter)) continue;
    const Expr &inside = atom->op == Op::Cast ? atom->args[0] : atom;
    if (!as_variable(inside)) return std::nullopt;
    all += coefficient;
  }
  return all;
}

const Stmt *only(const Stmt &s, StmtKind kind) {
  if (s->kind == StmtKind::Block && s->body.size() == 1) return only(s->body[0], kind);
  return s->kind == kind ? &s : nullptr;
}

// The load that is copied, or null.
const LoadNode *copied(const Expr &value) {
  const LoadNode *load = as_load(value->op == Op::Cast ? value->args[0] : value);
  return load && load->args.size() == 1 && !reads_memory(load->args[0]) ? load : nullptr;
}

bool runs_across(const Stmt &vector, const Stmt &unrolled, const Stmt &store) {
  const LoadNode *load = copied(store->args[1]);
  const auto lanes = extent_of(vector), row = extent_of(unrolled);
  if (!load || load->buffer == store->name || !lanes || !row || store->args.size() > 2) {
    return false;
  }
  const int64_t bytes = *row * store->args[1].type().bytes();
  if (bytes < kLeastRow || bytes > kMostRow || reads_memory(store->args[0])) return false;
  const auto along = step(store->args[0], unrolled->name),
             across = step(store->args[0], vector->name);
  const auto read_along = step(load->args[0], unrolled->name),
             read_across = step(load->args[0], vector->name);
  const bool apart = along == 1 && across && std::abs(*across) >= *row;
  return apart && (read_along == 1 || read_along == 0) && read_across != 1;
}

Stmt with_kind(const Stmt &loop, LoopKind kind, const Stmt &body) {
  return make_for(loop->name, loop->args[0], loop->args[1], kind, body, loop->partition);
}

class Turn : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind != StmtKind::For || !s->instruction.empty()) return rewrite_children(s);
    const Stmt *inner = only(s->body[0], StmtKind::For);
    const Stmt *store = inner ? only((*inner)->body[0], StmtKind::Store) : nullptr;
    if (!store || !(*inner)->instruction.empty()) return rewrite_children(s);
    const LoopKind out = s->loop_kind, in = (*inner)->loop_kind;
    const bool vector_outside = out == LoopKind::Vector && in == LoopKind::Unrolled;
    const bool vector_inside = in == LoopKind::Vector && out == LoopKind::Unrolled;
    const bool turns = (vector_outside && runs_across(s, *inner, *store)) ||
                       (vector_inside && runs_across(*inner, s, *store));
    // Bounds of the inner one that use the counter outside would be no lanes' bounds.
    if (!turns || uses_variable((*inner)->args[0], s->name)) return rewrite_children(s);
    return with_kind(s, in, with_kind(*inner, out, *store));
  }
};

}  // namespace

Function turn_copies(const Function &f) {
  Function out = f;
  out.body = Turn()(f.body);
  return out;
}

}  // namespace polyhalite
