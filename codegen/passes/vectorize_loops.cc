#include "codegen/passes/vectorize_loops.h"

#include <set>
#include <string>
#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/inside_clamps.h"
#include "codegen/passes/lanes.h"
#include "codegen/passes/widen_expr.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Makes the vector form of a vector loop's body. Undefined results say that there is none.
class VectorBody {
 public:
  VectorBody(const Stmt &loop, int n, bool in_lanes, int least_masked_bits,
             const std::set<std::string> &counters)
      : original_(loop), in_lanes_(in_lanes) {
    const Type t = Int(32);
    loop_.n = n;
    loop_.least_masked_bits = least_masked_bits;
    loop_.counters = counters;
    if (is_not_negative(loop->args[0], counters)) loop_.counters.insert(loop->name);
    loop_.varying[loop->name] = make_ramp(loop->args[0], make_one(t), n);
  }

  Stmt run() { return whole(original_->body[0]); }

 private:
  // s in vector form, or lane after lane.
  Stmt whole(const Stmt &s) {
    const Stmt vector = stmt(s);
    if (vector.defined()) return vector;
    return make_for(original_->name, original_->args[0], original_->args[1], LoopKind::Serial, s);
  }

  bool is_masked() const { return loop_.mask.defined(); }
  // Only outside of what binds names and masks may a statement stand alone.
  Stmt part(const Stmt &s) { return is_masked() || in_scope_ ? stmt(s) : whole(s); }

  Stmt stmt(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::Block: {
        std::vector<Stmt> out;
        for (const Stmt &b : s->body) {
          out.push_back(part(b));
          if (!out.back().defined()) return Stmt();
        }
        return make_block(std::move(out));
      }
      case StmtKind::Produce: {
        const Stmt body = part(s->body[0]);
        return body.defined() ? make_produce(s->name, body) : body;
      }
      case StmtKind::Store:
        return store(s);
      case StmtKind::Let:
        return let(s);
      case StmtKind::If:
        return condition(s);
      case StmtKind::For:
        return inner_loop(s);
      case StmtKind::Allocate:
        return allocate(s);
      case StmtKind::Atomic:
        return reduction(s);
      case StmtKind::Evaluate:
        return evaluate(s);
      default:
        return Stmt();
    }
  }

  // atomic { f[i] = op(f[i], e) } with one cell for all iterations: their e are combined first.
  // Cells that differ are updated at once where no other thread meets them. The rest goes lane
  // after lane.
  Stmt reduction(const Stmt &s) {
    const Stmt &update = s->body[0];
    if (update->kind != StmtKind::Store || update->args.size() > 2) return Stmt();
    if (loop_.private_buffers.count(update->name)) return Stmt();
    const Expr &index = update->args[0], &value = update->args[1];
    if (as_intrinsic(value, intrinsic::kSumProducts)) return products(s);
    const Op op = value->op;
    const bool combines = op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max ||
                          op == Op::And || op == Op::Or;
    if (!combines) return Stmt();
    for (int own = 0; own < 2; own++) {
      const LoadNode *load = as_load(value->args[own]);
      if (!load || load->buffer != update->name || load->args.size() > 1) continue;
      if (!equal(load->args[0], index)) continue;
      WidenExpr w(loop_);
      const Expr cells = w(index), operand = w.widened(value->args[1 - own]);
      const bool one_cell = w.possible() && cells.type() == index.type();
      if (const Expr sum = sum_of_products(value->args[own], value->args[1 - own]);
          one_cell && op == Op::Add && sum.defined()) {
        return reads(with_args(sum, {sum->args[1], sum->args[2]}), update->name)
                   ? Stmt()
                   : make_atomic(make_store(update->name, index, sum), s->lanes_only);
      }
      if (is_masked() || !w.possible() || reads(operand, update->name)) return Stmt();
      if (one_cell) {
        const Expr all = s->lanes_only && (in_lanes_ || value.type().is_vector())
                             ? in_turn(op, value->args[1 - own], operand)
                             : combine_lanes(op, operand, value.type().lanes(), lanes_);
        return make_atomic(make_store(update->name, index, make_binary(op, value->args[own], all)),
                           s->lanes_only);
      }
      if (!s->lanes_only || !differ_by_lane(cells)) return Stmt();
      const Expr before = w(value->args[own]);
      return make_atomic(make_store(update->name, cells, make_binary(op, before, operand)), true);
    }
    return Stmt();
  }

  // atomic { f[i] = sum_products(f[i], a, b) }, which a loop inside made, at once for all
  // iterations: their cells differ.
  Stmt products(const Stmt &s) {
    const Stmt &update = s->body[0];
    const Expr &index = update->args[0], &value = update->args[1];
    const LoadNode *own = as_load(value->args[0]);
    if (!s->lanes_only || is_masked() || !own || own->buffer != update->name) return Stmt();
    if (own->args.size() > 1 || !equal(own->args[0], index)) return Stmt();
    if (reads(value->args[1], update->name) || reads(value->args[2], update->name)) return Stmt();
    WidenExpr w(loop_);
    const Expr cells = w(index), sums = w.widened(value);
    if (!w.possible() || !differ_by_lane(cells)) return Stmt();
    uniform_load_ |= w.has_uniform_load();
    return make_atomic(make_store(update->name, cells, sums), true);
  }

  // Lanes of cells are more than lanes of iterations: the iterations' values are combined one by
  // one, so that no lane changes places: f[i] += in[i + 8*r], r < 2  ->  f[i] += in[i] + in[i + 8]
  Expr in_turn(Op op, const Expr &e, const Expr &widened) const {
    constexpr int kMostTerms = 16;
    if (loop_.n > kMostTerms || loop_.varying.size() > 1) {
      return combine_lanes(op, widened, e.type().lanes(), lanes_);
    }
    std::vector<Expr> terms;
    for (int i = 0; i < loop_.n; i++) {
      const Expr at = make_binary(Op::Add, original_->args[0], Expr(i));
      terms.push_back(simplify(substitute(original_->name, at, e)));
    }
    for (size_t step = 1; step < terms.size(); step *= 2) {
      for (size_t i = 0; i + step < terms.size(); i += 2 * step) {
        terms[i] = make_binary(op, terms[i], terms[i + step]);
      }
    }
    return terms[0];
  }

  // own + T(x)*T(y), x and y narrower than T: what machines have dot products for.
  Expr sum_of_products(const Expr &own, const Expr &term) {
    constexpr int kMostTerms = 4;
    if (loop_.n > kMostTerms || term->op != Op::Mul) return Expr();
    WidenExpr w(loop_);
    std::vector<Expr> operands = {own};
    for (const Expr &factor : term->args) {
      if (!is_widened_factor(factor)) return Expr();
      operands.push_back(w.widened(factor->args[0]));
    }
    if (!w.possible()) return Expr();
    // Iterations that take no part add nothing.
    if (is_masked()) {
      operands[1] = make_select(loop_.mask, operands[1], make_zero(operands[1].type()));
    }
    uniform_load_ |= w.has_uniform_load();
    return make_intrinsic(own.type(), intrinsic::kSumProducts, std::move(operands));
  }

  static bool is_widened_factor(const Expr &e) {
    if (e->op != Op::Cast || !e.type().is_scalar()) return false;
    const Type wide = e.type(), narrow = e->args[0].type();
    if (wide == Float(32)) return narrow == BFloat(16);
    return wide.is_int_or_uint() && wide.bits() == 32 && narrow.is_int_or_uint() &&
           (narrow.bits() == 8 || narrow.bits() == 16);
  }

  // Only trace events have a form for all iterations at once.
  Stmt evaluate(const Stmt &s) {
    if (!as_intrinsic(s->args[0], intrinsic::kTrace)) return Stmt();
    WidenExpr w(loop_);
    const Expr event = w(s->args[0]);
    return w.possible() ? make_evaluate(event) : Stmt();
  }

  static bool reads(const Expr &e, const std::string &buffer) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) { found |= as_load(n) && as_load(n)->buffer == buffer; });
    return found;
  }

  bool is_uniform(const Expr &e) {
    WidenExpr w(loop_);
    return w(e).type() == e.type() && w.possible();
  }

  Stmt store(const Stmt &s) {
    WidenExpr w(loop_);
    const bool is_private = loop_.private_buffers.count(s->name) > 0;
    Expr index = w(s->args[0]);
    if (is_private) {
      index = w.private_index(s->args[0], index);
    } else if (index.type() == s->args[0].type()) {
      return Stmt();  // all iterations write one place: the last one's value stays
    }
    const Expr value = w.widened(s->args[1]);
    const Expr own = s->args.size() > 2 ? w.widened(s->args[2]) : Expr();
    const Expr mask = w.with_loop_mask(own, s->args[1].type().lanes());
    if (!w.possible()) return Stmt();
    uniform_load_ |= w.has_uniform_load();
    return written_as(s, make_store(s->name, index, value, mask));
  }

  Stmt let(const Stmt &s) {
    WidenExpr w(loop_);
    const Expr value = w(s->args[0]);
    if (!w.possible()) return Stmt();
    uniform_load_ |= w.has_uniform_load();
    if (value.type() == s->args[0].type()) {
      const Stmt body = part(s->body[0]);
      return body.defined() ? make_let_stmt(s->name, value, body) : body;
    }
    // A ramp's name stands for its base, so that indices by it are ramps still.
    const bool ramp = value->op == Op::Ramp && is_const(value->args[1]);
    const Expr bound = ramp ? value->args[0] : value;
    const Expr symbol = make_variable(bound.type(), VariableKind::Symbol, s->name);
    loop_.varying[s->name] = ramp ? make_ramp(symbol, value->args[1], loop_.n) : symbol;
    const bool outer = std::exchange(in_scope_, true);
    const Stmt body = stmt(s->body[0]);
    in_scope_ = outer;
    loop_.varying.erase(s->name);
    return body.defined() ? make_let_stmt(s->name, bound, body) : body;
  }

  Stmt condition(const Stmt &s) {
    WidenExpr w(loop_);
    const Expr c = w(s->args[0]);
    if (!w.possible()) return Stmt();
    uniform_load_ |= w.has_uniform_load();
    const bool has_else = s->body.size() > 1;
    if (c.type().is_scalar()) {
      const Stmt then_case = part(s->body[0]);
      const Stmt else_case = has_else ? part(s->body[1]) : Stmt();
      if (!then_case.defined() || (has_else && !else_case.defined())) return Stmt();
      return make_if(c, then_case, else_case);
    }
    if (!has_else) return masked(c, s->body[0]);
    // The then case may change what the condition reads.
    const std::string name = original_->name + ".mask." + std::to_string(masks_++);
    const Expr mask = reads_memory(c) ? make_variable(c.type(), VariableKind::Symbol, name) : c;
    const Stmt then_case = masked(mask, s->body[0]);
    const Stmt else_case = masked(make_not(mask), s->body[1]);
    if (!then_case.defined() || !else_case.defined()) return Stmt();
    const Stmt both = make_block({then_case, else_case});
    return mask.same_as(c) ? both : make_let_stmt(name, c, both);
  }

  static bool reads_memory(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) { found |= n->op == Op::Load; });
    return found;
  }

  Stmt masked(const Expr &c, const Stmt &s) {
    const Expr outer = loop_.mask;
    const bool outer_load = std::exchange(uniform_load_, false);
    loop_.mask = outer.defined() ? make_binary(Op::And, outer, c) : c;
    Stmt out = stmt(s);
    // A scalar load takes place where some iteration would have made it.
    if (out.defined() && uniform_load_) out = make_if(any_lane(loop_.mask, lanes_), out);
    loop_.mask = outer;
    uniform_load_ = outer_load;
    return out;
  }

  Stmt inner_loop(const Stmt &s) {
    if (!is_uniform(s->args[0]) || !is_uniform(s->args[1])) return Stmt();
    const Stmt body = part(s->body[0]);
    if (!body.defined()) return body;
    return make_for(s->name, s->args[0], s->args[1], s->loop_kind, body);
  }

  Stmt allocate(const Stmt &s) {
    if (!is_uniform(s->args[0])) return Stmt();
    const bool outer = std::exchange(in_scope_, true);
    loop_.private_buffers.insert(s->name);
    const Stmt body = stmt(s->body[0]);
    loop_.private_buffers.erase(s->name);
    in_scope_ = outer;
    if (!body.defined()) return body;
    const Expr elements = make_binary(Op::Mul, s->args[0], make_int(Int(64), loop_.n));
    return make_allocate(s->name, s->type, {simplify(elements)}, s->home, body);
  }

  const Stmt &original_;
  const bool in_lanes_;  // of a vector loop around
  const std::string lanes_ = original_->name + ".lanes";
  VectorLoop loop_;
  int masks_ = 0;              // named so far
  bool in_scope_ = false;      // inside a symbol that varies, or an allocation
  bool uniform_load_ = false;  // met since the innermost mask was set
};

// Narrow elements have loads under a mask on some machines only.
constexpr int kMaskedEverywhere = 32;

class Vectorize : public StmtRewriter {
 public:
  explicit Vectorize(int least_masked_bits) : least_masked_bits_(least_masked_bits) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    const bool vector = s->kind == StmtKind::For && s->loop_kind == LoopKind::Vector;
    const bool counts = (s->kind == StmtKind::For || s->kind == StmtKind::Let) &&
                        s->args[0].type().is_affine() && is_not_negative(s->args[0], counters_);
    around_ += vector;
    if (counts) counters_.insert(s->name);
    const Stmt r = rewrite_children(s);  // inner vector loops first
    if (counts) counters_.erase(s->name);
    around_ -= vector;
    if (!vector) return r;
    int64_t n;
    internal_check(is_const_int(r->args[1], &n), "vectorize_loops: the extent is no constant");
    if (n <= 0) return make_block({});
    if (n == 1) return substitute(r->name, r->args[0], r->body[0]);
    return VectorBody(r, static_cast<int>(n), around_ > 0, least_masked_bits_, counters_).run();
  }

 private:
  const int least_masked_bits_;
  int around_ = 0;                  // vector loops
  std::set<std::string> counters_;  // loops and symbols around that are not negative
};

// Lanes have taken their turns.
class FreeOfLanes : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);
    return r->kind == StmtKind::Atomic && r->lanes_only ? r->body[0] : r;
  }
};

}  // namespace

Stmt vector_form(const Stmt &loop, int n) {
  return VectorBody(loop, n, false, kMaskedEverywhere, {}).run();
}

Function vectorize_loops(const Function &f, const Target &target) {
  const bool bytes = target.has_feature(Target::AVX512_Skylake);
  Function out = f;
  out.body = FreeOfLanes()(Vectorize(bytes ? 8 : kMaskedEverywhere)(f.body));
  return out;
}

}  // namespace polyhalite
