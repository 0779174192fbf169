#include "codegen/passes/form_collectives.h"

#include <optional>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/matrix_loads.h"
#include "codegen/passes/tensor_loops.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Expr with_lets(const Lets &lets, Expr e) {
  for (auto l = lets.rbegin(); l != lets.rend(); ++l) e = substitute(l->first, l->second, e);
  return e;
}

Expr symbol(const std::string &name) { return make_variable(Int(32), VariableKind::Symbol, name); }

// One nest, and what stands for it.
class Product {
 public:
  Product(const Stmt &loop, Expr lane)
      : loop_(loop), lane_(std::move(lane)), instruction_(*find_instruction(loop->instruction)) {
    // The lets of m and n stay names; others are put in.
    Stmt s = loop->body[0];
    for (; s->kind == StmtKind::Let; s = s->body[0]) {
      all_.emplace_back(s->name, s->args[0]);
      const bool first = !firsts_.empty() && first_of(s->name) == firsts_.back();
      if (first) {
        counters_.push_back(s->name);
      } else {
        if (s->name.size() > 6 && s->name.compare(s->name.size() - 6, 6, ".first") == 0) {
          firsts_.push_back(s->name);
        }
        around_.emplace_back(s->name, s->args[0]);
      }
    }
    if (s->kind != StmtKind::For) refuse("it has no loop k");
    k_ = s;
    for (s = s->body[0]; s->kind == StmtKind::Let; s = s->body[0]) {
      all_.emplace_back(s->name, s->args[0]);
      around_.emplace_back(s->name, s->args[0]);
    }
    if (s->kind == StmtKind::If) {
      refuse("its tile is guarded by " + to_text(s->args[0]) + ", and an instruction runs whole");
    }
    if (s->kind != StmtKind::Provide || s->value_count != 1) refuse("its body is no single update");
    provide_ = s;
  }

  /// `memory`: allocations of the block around it; `lets` around it, outermost first.
  Stmt made(const std::map<std::string, Stmt> &memory, const Lets &lets) const {
    const auto [a, b] = operands();
    const std::string &m = counters_[0], &n = counters_[1];
    const InstructionOperand &of_d = instruction_.operands[0], &of_a = instruction_.operands[1],
                             &of_b = instruction_.operands[2];
    const std::string d_name = loop_->name + ".d", a_name = loop_->name + ".a",
                      b_name = loop_->name + ".b";
    const Expr e = make_variable(Int(32), VariableKind::Loop, loop_->name);
    auto plus = [](const Expr &x, const Expr &y) { return make_binary(Op::Add, x, y); };
    auto elements = [&](const InstructionOperand &o, const Stmt &body) {
      return make_for(loop_->name, Expr(0), Expr(o.fragment.per_lane), LoopKind::Unrolled, body);
    };
    std::vector<Expr> cell(provide_->args.begin(), provide_->args.end() - 1);
    for (Expr &c : cell) c = with_lets(all_, c);
    const Type type = provide_->args.back().type();
    Lets all_lets = lets;
    all_lets.insert(all_lets.end(), around_.begin(), around_.end());
    // Operand o, loaded by an instruction or element by element.
    auto loaded = [&](const InstructionOperand &o, const std::string &to, const FactorInMemory &f) {
      if (Stmt load = load_fragment(o, to, f, lane_, memory, all_lets); load.defined()) return load;
      const Expr value =
          substitute({{f.row, plus(f.first_row, fragment_row(o.fragment, lane_, e))},
                      {f.column, plus(f.first_column, fragment_column(o.fragment, lane_, e))}},
                     f.value);
      return elements(o, make_provide(to, {e}, {with_lets(firsts(), value)}));
    };
    const Expr zero = make_int(Int(64), 0);
    Stmt out = make_block({
        elements(of_d, make_provide(d_name, {e}, {make_func_call(type, provide_->name, cell)})),
        loaded(of_a, a_name, {a, m, k_->name, first(m), k_->args[0]}),
        loaded(of_b, b_name, {b, k_->name, n, k_->args[0], first(n)}),
        make_collective(instruction_.name, {d_name, a_name, b_name}, {zero, zero, zero}),
        elements(of_d, make_provide(provide_->name, cell, {make_func_call(type, d_name, {e})})),
    });
    auto allocate = [&](const std::string &name, const InstructionOperand &o) {
      out = make_allocate(name, o.type, {Expr(0), Expr(o.fragment.per_lane)}, Home::Thread, out);
    };
    allocate(b_name, of_b);
    allocate(a_name, of_a);
    allocate(d_name, of_d);
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string &why) const {
    user_error(
        "cannot make '" + std::string(instruction_.name) + "' of the loops around '" +
            loop_->name.substr(0, loop_->name.rfind('.')) + "'",
        why,
        "give tensorize an update f(n, m) += cast<float>(a(k, m)) * cast<float>(b(n, k)) over "
        "whole tiles");
  }

  static Expr first(const std::string &counter) { return symbol(first_of(counter)); }

  // What the names of the first indices stand for, which are bound no more.
  Lets firsts() const {
    Lets lets;
    for (const auto &[name, value] : around_) lets.emplace_back(name, value);
    return lets;
  }

  // The factors in terms of m and k, and of k and n.
  std::pair<Expr, Expr> operands() const {
    const Expr value = with_lets(around_without_firsts(), provide_->args.back());
    std::vector<Expr> cell(provide_->args.begin(), provide_->args.end() - 1);
    if (value->op != Op::Add) refuse("it adds nothing to its cell");
    Expr product;
    for (int side = 0; side < 2; side++) {
      const CallNode *own = as_call(value->args[side]);
      if (own && own->kind == CallKind::Func && own->name == provide_->name) {
        product = value->args[1 - side];
      }
    }
    if (!product.defined() || product->op != Op::Mul) {
      refuse("what it adds to its cell is no product");
    }
    const Type in = instruction_.operands[1].type;
    std::vector<Expr> factors;
    for (const Expr &f : product->args) {
      if (f->op != Op::Cast || f.type() != Float(32) || f->args[0].type() != in) {
        refuse("its factor " + to_text(f) + " is no " + in.to_string() +
               " that is cast to float32");
      }
      factors.push_back(f->args[0]);
    }
    if (provide_->args.back().type() != instruction_.operands[0].type) {
      refuse("its sum is no " + instruction_.operands[0].type.to_string());
    }
    const std::string &m = counters_[0], &n = counters_[1];
    auto uses = [](const Expr &e, const std::string &name) { return uses_variable(e, name); };
    for (int side = 0; side < 2; side++) {
      const Expr &a = factors[side], &b = factors[1 - side];
      if (!uses(a, n) && !uses(b, m)) return {a, b};
    }
    refuse("of its factors " + to_text(factors[0]) + " and " + to_text(factors[1]) +
           " none is over m and k alone with the other over k and n alone");
  }

  Lets around_without_firsts() const {
    Lets lets;
    for (const auto &l : around_) {
      if (std::find(firsts_.begin(), firsts_.end(), l.first) == firsts_.end()) lets.push_back(l);
    }
    return lets;
  }

  const Stmt loop_;
  const Expr lane_;
  const Instruction &instruction_;
  Lets all_, around_;                           // all lets; those but of m and n
  std::vector<std::string> firsts_, counters_;  // of m and n
  Stmt k_, provide_;
};

class FormCollectives : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::For && s->loop_kind == LoopKind::GpuLane) {
      lane_ = make_variable(Int(32), VariableKind::Loop, s->name);
    }
    // A processor's instruction has no lanes around it.
    if (s->kind == StmtKind::For && !s->instruction.empty() && lane_.defined()) {
      return Product(s, lane_).made(memory_, lets_);
    }
    const bool is_shared = s->kind == StmtKind::Allocate && s->home == Home::Block;
    if (is_shared) memory_[s->name] = s;
    if (s->kind == StmtKind::Let) lets_.emplace_back(s->name, s->args[0]);
    const Stmt out = rewrite_children(s);
    if (s->kind == StmtKind::Let) lets_.pop_back();
    if (is_shared) memory_.erase(s->name);
    return out;
  }

 private:
  Expr lane_;
  std::map<std::string, Stmt> memory_;  // of the block, by name
  Lets lets_;                           // around, outermost first
};

}  // namespace

Function form_collectives(const Function &f) {
  Function out = f;
  out.body = FormCollectives()(f.body);
  return out;
}

}  // namespace polyhalite
