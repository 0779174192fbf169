#include "codegen/passes/vectorize_loops.h"

#include <map>
#include <set>
#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/lanes.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// One vector loop of n iterations. An expression of L lanes either stays as it is, being the same
// in every iteration, or becomes one of n*L lanes, iteration after iteration.
struct VectorLoop {
  int n;
  std::map<std::string, Expr> varying;    // counter and symbols that differ by iteration
  std::set<std::string> private_buffers;  // allocated inside: element i of iteration y is i*n + y
  Expr mask;                              // n lanes: the iterations that take part, or undefined
};

class WidenExpr : public ExprRewriter {
 public:
  explicit WidenExpr(const VectorLoop &loop) : loop_(loop) {}

  /// The n iterations' values, whether they differ or not.
  Expr widened(const Expr &e) { return widen(e, (*this)(e)); }
  /// False once something without a vector form was met.
  bool possible() const { return possible_; }
  /// Did a load stay scalar that only masked iterations need?
  bool has_uniform_load() const { return has_uniform_load_; }

 protected:
  Expr rewrite(const Expr &e) override {
    switch (e->op) {
      case Op::Variable: {
        auto it = loop_.varying.find(as_variable(e)->name);
        return it == loop_.varying.end() ? e : it->second;
      }
      case Op::Let:
        return rewrite_let(e);
      case Op::Load:
        return rewrite_load(e);
      case Op::Ramp:
        return rewrite_ramp(e);
      case Op::Broadcast: {
        const Expr value = (*this)(e->args[0]);
        if (value.same_as(e->args[0])) return e;
        const int group = e->args[0].type().lanes();
        return repeat_groups(value, group, e.type().lanes() / group);
      }
      case Op::Shuffle:
        return rewrite_shuffle(e);
      case Op::Call:
        if (as_call(e)->kind == CallKind::Extern) possible_ = false;
        if (as_intrinsic(e, intrinsic::kPrint) || as_intrinsic(e, intrinsic::kRequire)) {
          return rewrite_acting(e);
        }
        if (as_intrinsic(e, intrinsic::kTraceAccess)) return rewrite_trace_access(e);
        if (as_intrinsic(e, intrinsic::kTrace)) return rewrite_trace(e);
        return rewrite_lanewise(e);
      default:
        return rewrite_lanewise(e);
    }
  }

 private:
  Expr widen(const Expr &before, const Expr &after) const {
    return after.type().lanes() == before.type().lanes() ? make_broadcast(after, loop_.n) : after;
  }

  bool rewrite_operands(const Expr &e, std::vector<Expr> *args) {
    bool varies = false;
    for (const Expr &a : e->args) {
      args->push_back((*this)(a));
      varies |= args->back().type().lanes() != a.type().lanes();
    }
    return varies;
  }

  Expr rewrite_lanewise(const Expr &e) {
    std::vector<Expr> args;
    if (!rewrite_operands(e, &args)) return e;
    for (size_t i = 0; i < args.size(); i++) {
      // One condition for all iterations needs no lanes.
      const bool scalar = e->op == Op::Select && i == 0 && args[0].type().is_scalar();
      const bool text = e->args[i]->op == Op::StringImm;
      if (!scalar && !text) args[i] = widen(e->args[i], args[i]);
    }
    const Type t = e.type().with_lanes(e.type().lanes() * loop_.n);
    switch (e->op) {
      case Op::Cast:
        return lane_cast(t, args[0]);
      case Op::Reinterpret:
        return make_reinterpret(t, args[0]);
      case Op::Not:
        return make_not(args[0]);
      case Op::Select: {
        if (args[0].type().is_vector() && args[0].type().lanes() != t.lanes()) {
          args[0] = repeat_groups(args[0], 1, t.lanes() / args[0].type().lanes());
        }
        return make_select(args[0], args[1], args[2]);
      }
      case Op::Call: {
        auto call = std::make_shared<CallNode>(*as_call(e));
        call->type = t;
        call->args = std::move(args);
        return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
      }
      default:
        return lane_binary(e->op, args[0], args[1]);
    }
  }

  // print and require act in the iterations that take part.
  Expr rewrite_acting(const Expr &e) {
    const Expr r = rewrite_lanewise(e);
    if (!loop_.mask.defined()) return r;
    const bool prints = as_intrinsic(e, intrinsic::kPrint) != nullptr;
    std::vector<Expr> args = r->args;
    const Expr own = repeat_groups(loop_.mask, 1, e.type().lanes());
    if (args[0].type().lanes() != own.type().lanes()) args[0] = widen(e->args[0], args[0]);
    args[0] =
        prints ? make_binary(Op::And, args[0], own) : make_binary(Op::Or, args[0], make_not(own));
    return with_args(r, std::move(args));
  }

  // One event reports all lanes; of the iterations, those that take part.
  Expr rewrite_trace_access(const Expr &e) {
    constexpr size_t kCondition = 1, kCoordinates = 6;
    std::vector<Expr> args = e->args;
    bool varies = false;
    for (size_t i = 0; i < args.size(); i++) {
      if (i > kCondition && i < kCoordinates) continue;
      args[i] = (*this)(args[i]);
      varies |= args[i].type().lanes() != e->args[i].type().lanes();
    }
    const int lanes = e.type().lanes();
    for (size_t i = 0; varies && i < args.size(); i++) {
      if (i == 0 || i >= kCoordinates) args[i] = widen(e->args[i], args[i]);
    }
    // The condition is a scalar, or has as many lanes as the value.
    Expr &condition = args[kCondition];
    if (varies && condition.type().is_vector()) {
      condition = e->args[kCondition].type().lanes() == lanes
                      ? widen(e->args[kCondition], condition)
                      : repeat_groups(condition, 1, lanes);
    }
    if (loop_.mask.defined()) {
      // Where all iterations make one access, it is made if one of them takes part.
      const Expr own = varies ? repeat_groups(loop_.mask, 1, lanes) : any_lane(loop_.mask);
      if (own.type().lanes() > condition.type().lanes()) {
        condition = make_broadcast(condition, own.type().lanes());
      }
      condition = make_binary(Op::And, condition,
                              own.type().lanes() < condition.type().lanes()
                                  ? make_broadcast(own, condition.type().lanes())
                                  : own);
    }
    auto call = std::make_shared<CallNode>(*as_call(e));
    call->type = args[0].type();
    call->args = std::move(args);
    return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
  }

  // Iterations have one realization and one production, of the region that holds all of theirs.
  Expr rewrite_trace(const Expr &e) {
    constexpr size_t kNumbers = 5;
    if (loop_.mask.defined()) possible_ = false;
    std::vector<Expr> args = e->args;
    for (size_t i = kNumbers; i + 1 < args.size(); i += 2) {
      const Expr min = (*this)(args[i]), extent = (*this)(args[i + 1]);
      if (min.type().is_scalar() && extent.type().is_scalar()) continue;
      const Expr mins = widen(args[i], min);
      const Expr ends = lane_binary(Op::Add, mins, widen(args[i + 1], extent));
      args[i] = combine_each(Op::Min, mins);
      args[i + 1] = make_binary(Op::Sub, combine_each(Op::Max, ends), args[i]);
    }
    return with_args(e, std::move(args));
  }

  Expr rewrite_ramp(const Expr &e) {
    std::vector<Expr> args;
    if (!rewrite_operands(e, &args)) return e;
    const int group = e->args[0].type().lanes(), steps = e.type().lanes() / group;
    const Expr base = repeat_groups(widen(e->args[0], args[0]), group, steps);
    const Expr stride = repeat_groups(widen(e->args[1], args[1]), group, steps);
    // {0, 1, 2, ...}, each for a whole group, again in every iteration.
    const Type part = e->args[0].type();
    const Expr step = make_broadcast(make_ramp(make_zero(part), make_one(part), steps), loop_.n);
    if (group == 1 && args[1].type().is_scalar() && args[0]->op == Op::Ramp) {
      return lane_ramp(make_ramp(args[0]->args[0], args[1], steps),
                       make_broadcast(args[0]->args[1], steps), loop_.n);
    }
    return make_binary(Op::Add, base, make_binary(Op::Mul, stride, step));
  }

  Expr rewrite_shuffle(const Expr &e) {
    std::vector<Expr> args;
    if (!rewrite_operands(e, &args)) return e;
    // Lane l of operand k in iteration y stands at before(k)*n + y*lanes(k) + l.
    std::vector<int> lanes;
    for (int y = 0; y < loop_.n; y++) {
      for (int index : as_shuffle(e)->indices) {
        int start = 0;
        size_t k = 0;
        while (index >= e->args[k].type().lanes()) {
          index -= e->args[k].type().lanes();
          start += e->args[k].type().lanes() * loop_.n;
          k++;
        }
        lanes.push_back(start + y * e->args[k].type().lanes() + index);
      }
    }
    for (size_t k = 0; k < args.size(); k++) args[k] = widen(e->args[k], args[k]);
    return Expr(std::make_shared<const ShuffleNode>(std::move(args), std::move(lanes)));
  }

  Expr rewrite_let(const Expr &e) {
    const LetNode *let = as_let(e);
    const Expr value = (*this)(let->args[0]);
    if (value.type() == let->args[0].type()) {
      const Expr body = (*this)(let->args[1]);
      return make_let(let->name, value, body);
    }
    VectorLoop inner = loop_;
    inner.varying[let->name] = make_variable(value.type(), VariableKind::Symbol, let->name);
    WidenExpr in_body(inner);
    const Expr body = in_body(let->args[1]);
    possible_ &= in_body.possible_;
    has_uniform_load_ |= in_body.has_uniform_load_;
    return make_let(let->name, value, body);
  }

  Expr rewrite_load(const Expr &e) {
    const LoadNode *load = as_load(e);
    const int lanes = e.type().lanes();
    Expr index = (*this)(load->args[0]);
    Expr mask = load->args.size() > 1 ? (*this)(load->args[1]) : Expr();
    if (loop_.private_buffers.count(load->buffer)) {
      index = private_index(load->args[0], index);
    } else if (index.type().lanes() == lanes && (!mask.defined() || mask.type().lanes() == lanes)) {
      has_uniform_load_ = true;
      return with_args(e,
                       mask.defined() ? std::vector<Expr>{index, mask} : std::vector<Expr>{index});
    }
    index = widen(load->args[0], index);
    if (mask.defined()) mask = widen(load->args[1], mask);
    if (!mask.defined() && !loop_.mask.defined()) {
      if (const Expr each = load_once(*load, index); each.defined()) return each;
      if (const Expr rows = load_rows(*load, index); rows.defined()) return rows;
    }
    auto out = std::make_shared<LoadNode>(e.type().with_lanes(lanes * loop_.n), load->buffer, index,
                                          with_loop_mask(mask, lanes));
    out->image = load->image;
    return Expr(std::shared_ptr<const ExprNode>(std::move(out)));
  }

  // Lanes that are read several times are read once: load({i, i, j, j}) -> {a, a, b, b}, {a, b} =
  // load({i, j}).
  static Expr load_once(const LoadNode &load, const Expr &index) {
    if (index->op != Op::Shuffle || index->args.size() != 1) return Expr();
    const std::vector<int> &lanes = as_shuffle(index)->indices;
    const Expr &from = index->args[0];
    const std::set<int> used(lanes.begin(), lanes.end());
    if (used.size() != static_cast<size_t>(from.type().lanes())) return Expr();
    auto out =
        std::make_shared<LoadNode>(load.type.with_lanes(from.type().lanes()), load.buffer, from);
    out->image = load.image;
    return Expr(std::make_shared<const ShuffleNode>(
        std::vector<Expr>{Expr(std::shared_ptr<const ExprNode>(std::move(out)))}, lanes));
  }

  // Lanes that lie beside each other iteration after iteration are read in rows, interleaved:
  //   load[ramp(ramp(b, 64, 2), {1, 1}, 8)]  ->  {load[ramp(b, 1, 8)], load[ramp(b + 64, 1, 8)]}
  static Expr load_rows(const LoadNode &load, const Expr &index) {
    int64_t step;
    if (index->op != Op::Ramp || index->args[1]->op != Op::Broadcast) return Expr();
    const Expr &first = index->args[0], &by = index->args[1]->args[0];
    if (first->op != Op::Ramp || first->args[0].type().is_vector()) return Expr();
    const int rows = first.type().lanes(), n = index.type().lanes() / rows;
    if (rows >= n || !is_const_int(simplify(by), &step) || step != 1) return Expr();
    std::vector<Expr> parts;
    std::vector<int> lanes;
    for (int r = 0; r < rows; r++) {
      const Expr start =
          lane_binary(Op::Add, first->args[0],
                      lane_binary(Op::Mul, first->args[1], make_int(first->args[1].type(), r)));
      auto row = std::make_shared<LoadNode>(load.type.with_lanes(n), load.buffer,
                                            make_ramp(start, make_one(start.type()), n));
      row->image = load.image;
      parts.emplace_back(std::shared_ptr<const ExprNode>(std::move(row)));
    }
    for (int y = 0; y < n; y++) {
      for (int r = 0; r < rows; r++) lanes.push_back(r * n + y);
    }
    return Expr(std::make_shared<const ShuffleNode>(std::move(parts), std::move(lanes)));
  }

 public:
  /// Where an access of `before` lies in a buffer with a copy per iteration.
  Expr private_index(const Expr &before, const Expr &after) const {
    const int lanes = before.type().lanes();
    const Type t = before.type().element_of();
    const Expr iteration = repeat_groups(make_ramp(make_zero(t), make_one(t), loop_.n), 1, lanes);
    const Expr each = widen(before, after);
    return lane_binary(Op::Add, lane_binary(Op::Mul, each, make_int(each.type(), loop_.n)),
                       iteration);
  }

  /// `mask` of an access of `lanes` lanes per iteration, and the loop's own.
  Expr with_loop_mask(const Expr &mask, int lanes) const {
    if (!loop_.mask.defined()) return mask;
    const Expr own = repeat_groups(loop_.mask, 1, lanes);
    return mask.defined() ? make_binary(Op::And, mask, own) : own;
  }

 private:
  const VectorLoop &loop_;
  bool possible_ = true;
  bool has_uniform_load_ = false;
};

// Makes the vector form of a vector loop's body. Undefined results say that there is none.
class VectorBody {
 public:
  VectorBody(const Stmt &loop, int n, bool in_lanes) : original_(loop), in_lanes_(in_lanes) {
    const Type t = Int(32);
    loop_.n = n;
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
    if (out.defined() && uniform_load_) out = make_if(any_lane(loop_.mask), out);
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

class Vectorize : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const bool vector = s->kind == StmtKind::For && s->loop_kind == LoopKind::Vector;
    around_ += vector;
    const Stmt r = rewrite_children(s);  // inner vector loops first
    around_ -= vector;
    if (!vector) return r;
    int64_t n;
    internal_check(is_const_int(r->args[1], &n), "vectorize_loops: the extent is no constant");
    if (n <= 0) return make_block({});
    if (n == 1) return substitute(r->name, r->args[0], r->body[0]);
    return VectorBody(r, static_cast<int>(n), around_ > 0).run();
  }

 private:
  int around_ = 0;  // vector loops
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

Stmt vector_form(const Stmt &loop, int n) { return VectorBody(loop, n).run(); }

Function vectorize_loops(const Function &f) {
  Function out = f;
  out.body = FreeOfLanes()(Vectorize()(f.body));
  return out;
}

}  // namespace polyhalite
