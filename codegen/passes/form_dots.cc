#include "codegen/passes/form_dots.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/ir/instructions.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/vectorize_loops.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

class WithoutAtomics : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    return s->kind == StmtKind::Atomic ? s->body[0] : rewrite_children(s);
  }
};

class InAtomics : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    return s->kind == StmtKind::Store ? make_atomic(s) : rewrite_children(s);
  }
};

class FormDots : public StmtRewriter {
 public:
  explicit FormDots(const Target &target) : target_(target) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;
    if (s->kind != StmtKind::For || s->instruction.empty()) return rewrite_children(s);
    loop_ = s;
    instruction_ = find_instruction(s->instruction);
    check_target();
    check_body();
    const Stmt dots = Inner(matrix_shape(*instruction_).k)(s->body[0]);
    for_each_stmt(dots, [](const Stmt &t) {
      internal_check(t->kind != StmtKind::For, "form_dots: a sum of products has a vector form");
    });
    return make_for(s->name, s->args[0], s->args[1], LoopKind::Vector, dots);
  }

 private:
  // The loop k becomes lanes.
  class Inner : public StmtRewriter {
   public:
    explicit Inner(int k) : k_(k) {}

   protected:
    Stmt rewrite(const Stmt &s) override {
      if (s->kind != StmtKind::For) return rewrite_children(s);
      const Stmt loop =
          make_for(s->name, s->args[0], s->args[1], LoopKind::Vector, InAtomics()(s->body[0]));
      return WithoutAtomics()(vector_form(loop, k_));
    }

   private:
    const int k_;
  };

  [[noreturn]] void refuse(const std::string &why, const std::string &fix) const {
    user_error("cannot make '" + std::string(instruction_->name) + "' of the loops around '" +
                   loop_->name.substr(0, loop_->name.rfind('.')) + "'",
               why, fix);
  }
  [[noreturn]] void refuse(const std::string &why) const {
    const std::string sum = instruction_->operands[0].type.to_string();
    refuse(why, "give tensorize an update f(n) += cast<" + sum + ">(a(k)) * cast<" + sum +
                    ">(b(k, n)) of a " + instruction_->operands[1].type.to_string() + " and a " +
                    instruction_->operands[2].type.to_string());
  }

  void check_target() const {
    if (runs_on(*instruction_, target_)) return;
    std::string known;
    for (const Instruction &i : instructions()) {
      if (i.meaning != InstructionMeaning::DotProducts || !runs_on(i, target_)) continue;
      known += (known.empty() ? "" : ", ") + std::string(i.name);
    }
    refuse("the target " + target_.to_string() + " does not have it",
           known.empty() ? "leave tensorize out" : "instructions of the target are: " + known);
  }

  // One store, f[i] = f[i] + T(x)*T(y): x and y have the factors' types and do not read f, i is
  // another cell for each n and the same for each k.
  void check_body() const {
    std::map<std::string, Expr> lets;
    std::vector<std::string> counters = {loop_->name};
    Stmt s = loop_->body[0];
    for (;;) {
      if (s->kind == StmtKind::Let) {
        lets[s->name] = substitute(lets, s->args[0]);
      } else if (s->kind == StmtKind::For && counters.size() == 1) {
        counters.push_back(s->name);
      } else if (s->kind != StmtKind::If || s->body.size() != 1 || counters.size() != 2 ||
                 uses_variable(substitute(lets, s->args[0]), loop_->name)) {
        break;
      }
      s = s->body[0];
    }
    if (s->kind == StmtKind::If) {
      refuse("its tile is guarded by " + to_text(s->args[0]) + ", and whole tiles are computed");
    }
    if (s->kind != StmtKind::Store || s->args.size() != 2 || counters.size() != 2) {
      refuse("its body is no single update");
    }
    const Expr index = substitute(lets, s->args[0]), value = s->args[1];
    if (step(index, counters[0]).value_or(0) == 0 || step(index, counters[1]) != 0) {
      refuse("its cell " + to_text(index) +
             " is not another one for each n and the same for each "
             "k");
    }
    if (value->op != Op::Add) refuse("it adds nothing to its cell");
    Expr product;
    for (int side = 0; side < 2; side++) {
      const LoadNode *own = as_load(value->args[side]);
      if (own && own->buffer == s->name && own->args.size() == 1 &&
          equal(own->args[0], s->args[0])) {
        product = value->args[1 - side];
      }
    }
    if (!product.defined() || product->op != Op::Mul) {
      refuse("what it adds to its cell is no product");
    }
    check_factors(product, s->name);
  }

  void check_factors(const Expr &product, const std::string &cell) const {
    const Type sum = instruction_->operands[0].type;
    if (product.type() != sum) refuse("its sum is no " + sum.to_string());
    std::vector<Type> types;
    for (const Expr &f : product->args) {
      if (f->op != Op::Cast) refuse("its factor " + to_text(f) + " is not widened");
      types.push_back(f->args[0].type());
      for_each_node(f, [&](const Expr &n) {
        if (as_load(n) && as_load(n)->buffer == cell) {
          refuse("its factor " + to_text(f) + " reads what is summed");
        }
      });
    }
    const Type a = instruction_->operands[1].type, b = instruction_->operands[2].type;
    const bool fits = (types[0] == a && types[1] == b) || (types[0] == b && types[1] == a);
    if (!fits && !(is_byte(a) && is_byte(types[0]) && is_byte(types[1]))) {
      refuse("its factors are " + types[0].to_string() + " and " + types[1].to_string());
    }
  }

  // Of either sign: what the instruction does not have is moved by 128 into what it has.
  static bool is_byte(const Type &t) { return t.is_int_or_uint() && t.bits() == 8; }

  // By how much e grows from one iteration to the next; nothing where that differs.
  static std::optional<int64_t> step(const Expr &e, const std::string &counter) {
    if (!uses_variable(e, counter)) return 0;
    const Expr at = make_variable(Int(32), VariableKind::Loop, counter);
    const Expr next = substitute(counter, make_binary(Op::Add, at, Expr(1)), e);
    int64_t by = 0;
    if (!is_const_int(simplify(make_binary(Op::Sub, next, e)), &by)) return std::nullopt;
    return by;
  }

  const Target &target_;
  Stmt loop_;
  const Instruction *instruction_ = nullptr;
};

}  // namespace

Function form_dots(const Function &f, const Target &target) {
  Function out = f;
  out.body = FormDots(target)(f.body);
  return out;
}

}  // namespace polyhalite
