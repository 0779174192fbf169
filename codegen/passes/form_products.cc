#include "codegen/passes/form_products.h"

#include <cstdlib>
#include <map>
#include <optional>

#include "codegen/ir/instructions.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/lanes.h"
#include "codegen/passes/product_operands.h"
#include "codegen/passes/vectorize_loops.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
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

class FormProducts : public StmtRewriter {
 public:
  explicit FormProducts(const Target &target) : target_(target) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;
    if (s->kind != StmtKind::For || s->instruction.empty()) return rewrite_children(s);
    loop_ = s;
    instruction_ = find_instruction(s->instruction);
    check_target();
    if (instruction_->meaning == InstructionMeaning::MatrixProducts) return matrix_products();
    check(read_update(2));
    const Stmt dots = Inner(matrix_shape(*instruction_).k)(s->body[0]);
    for_each_stmt(dots, [](const Stmt &t) {
      internal_check(t->kind != StmtKind::For,
                     "form_products: a sum of products has a vector form");
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
    const bool is_dot = instruction_->meaning == InstructionMeaning::DotProducts;
    refuse(why, "give tensorize an update f(n" + std::string(is_dot ? "" : ", m") + ") += cast<" +
                    sum + ">(a(k" + (is_dot ? "" : ", m") + ")) * cast<" + sum +
                    ">(b(k, n)) of a " + instruction_->operands[1].type.to_string() + " and a " +
                    instruction_->operands[2].type.to_string());
  }

  void check_target() const {
    if (runs_on(*instruction_, target_)) return;
    std::string known;
    for (const Instruction &i : instructions()) {
      if (!is_of_processor(i) || !runs_on(i, target_)) continue;
      known += (known.empty() ? "" : ", ") + std::string(i.name);
    }
    refuse("the target " + target_.to_string() + " does not have it",
           known.empty() ? "leave tensorize out" : "instructions of the target are: " + known);
  }

  // The one update in the loops, without the symbols that they bind.
  struct Update {
    std::vector<ProductLoop> loops;  // [m,] n, k
    Expr guard;                      // of k; undefined: none
    Stmt store;
    Expr cell, value;           // its operands
    std::vector<Expr> factors;  // x and y of f[i] = f[i] + T(x)*T(y)
  };

  // Of so many loops around one store f[i] = f[i] + T(x)*T(y).
  Update read_update(size_t loops) const {
    Update u;
    std::map<std::string, Expr> lets;
    Stmt s = loop_;
    for (;; s = s->body[0]) {
      if (s->kind == StmtKind::Let) {
        lets[s->name] = substitute(lets, s->args[0]);
      } else if (s->kind == StmtKind::For && u.loops.size() < loops) {
        int64_t extent = 0;
        is_const_int(s->args[1], &extent);
        u.loops.push_back({s->name, substitute(lets, s->args[0]), static_cast<int>(extent)});
      } else if (s->kind == StmtKind::If && s->body.size() == 1 && u.loops.size() == loops) {
        const Expr guard = substitute(lets, s->args[0]);
        if (!is_same_for_results(guard, u)) break;
        u.guard = u.guard.defined() ? make_binary(Op::And, u.guard, guard) : guard;
      } else {
        break;
      }
    }
    if (s->kind == StmtKind::If) {
      refuse("its tile is guarded by " + to_text(s->args[0]) + ", and whole tiles are computed");
    }
    if (s->kind != StmtKind::Store || s->args.size() != 2 || u.loops.size() != loops) {
      refuse("its body is no single update");
    }
    u.store = s;
    u.cell = substitute(lets, s->args[0]);
    u.value = substitute(lets, s->args[1]);
    return u;
  }

  // Do the loops over results leave e as it is?
  static bool is_same_for_results(const Expr &e, const Update &u) {
    for (size_t i = 0; i + 1 < u.loops.size(); i++) {
      if (uses_variable(e, u.loops[i].counter)) return false;
    }
    return true;
  }

  // x and y have the factors' types and do not read f, i is another cell for each result and the
  // same for each k. Fills in the factors.
  Update check(Update u) const {
    check_cells(u);
    if (u.value->op != Op::Add) refuse("it adds nothing to its cell");
    Expr product;
    for (int side = 0; side < 2; side++) {
      const LoadNode *own = as_load(u.value->args[side]);
      if (own && own->buffer == u.store->name && own->args.size() == 1 &&
          equal(own->args[0], u.cell)) {
        product = u.value->args[1 - side];
      }
    }
    if (!product.defined() || product->op != Op::Mul) {
      refuse("what it adds to its cell is no product");
    }
    check_factors(product, u.store->name);
    for (const Expr &f : product->args) u.factors.push_back(f->args[0]);
    return u;
  }

  void check_cells(const Update &u) const {
    const std::string &n = u.loops[u.loops.size() - 2].counter, &k = u.loops.back().counter;
    const auto next = step(u.cell, n);
    bool differ = next.value_or(0) != 0 && step(u.cell, k) == 0;
    if (u.loops.size() == 2) {
      if (differ) return;
      refuse("its cell " + to_text(u.cell) +
             " is not another one for each n and the same for each k");
    }
    const ProductLoop &m = u.loops[0];
    differ = differ && uses_variable(u.cell, m.counter);
    // A step that is no constant is one of a dimension that n does not go along.
    if (const auto by = step(u.cell, m.counter); differ && by) {
      const int64_t along_n = std::abs(*next), along_m = std::abs(*by);
      differ = along_m > along_n * (u.loops[1].extent - 1) ||
               (along_m > 0 && along_n > along_m * (m.extent - 1));
    }
    if (differ) return;
    refuse("its cell " + to_text(u.cell) +
           " is not another one for each m and n and the same for each k");
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

  Stmt matrix_products() const {
    const Update u = check(read_update(3));
    const ProductLoop &m = u.loops[0], &n = u.loops[1], &k = u.loops[2];
    auto is_by = [&](const Expr &e, const ProductLoop &own, const ProductLoop &other) {
      return uses_variable(e, own.counter) && uses_variable(e, k.counter) &&
             !uses_variable(e, other.counter);
    };
    const Expr &x = u.factors[0], &y = u.factors[1];
    const bool in_order = is_by(x, m, n) && is_by(y, n, m);
    if (!in_order && !(is_by(x, n, m) && is_by(y, m, n))) {
      refuse("its factors " + name_of(x) + " and " + name_of(y) +
             " are not one by m and k and one by n and k");
    }
    const Expr &a = in_order ? x : y, &b = in_order ? y : x;
    Expr mask;
    if (u.guard.defined()) {
      mask = in_lanes(u.guard, {k}).value;
      if (!mask.defined()) refuse("its guard " + to_text(u.guard) + " has no vector form");
    }
    const bool from_memory = instruction_->group < k.extent;
    return from_memory ? of_memory(u, a, b, mask) : of_vectors(u, a, b, mask);
  }

  // Operands are values, whatever they are made of.
  Stmt of_vectors(const Update &u, const Expr &a, const Expr &b, const Expr &mask) const {
    const ProductLoop &m = u.loops[0], &n = u.loops[1], &k = u.loops[2];
    auto lanes = [&](const Expr &e, const std::vector<ProductLoop> &loops, const Expr &own) {
      const InLanes all = in_lanes(e, loops, own);
      if (!all.value.defined()) refuse(to_text(e) + " has no vector form");
      return all;
    };
    const InLanes rows = lanes(a, {k, m}, mask), columns = lanes(b, {k, n}, mask);
    const Stmt store =
        product_store(u, lanes(u.cell, {n, m}, Expr()).value, rows.value, columns.value);
    // What is read once for all k is read where some k is there.
    const bool needs_one = mask.defined() && (rows.has_uniform_load || columns.has_uniform_load);
    return needs_one ? make_if(any_lane(mask, k.counter + ".lanes"), store) : store;
  }

  // Operands are rows in memory: those of b have `group` terms of each column.
  Stmt of_memory(const Update &u, const Expr &a, const Expr &b, const Expr &mask) const {
    const ProductLoop &m = u.loops[0], &n = u.loops[1], &k = u.loops[2];
    const int group = instruction_->group;
    const auto cells = rows_of(u.cell, m, n);
    if (!cells) {
      refuse("its cells " + to_text(u.cell) + " are no rows of " + std::to_string(n.extent),
             "sum into a Func that has n innermost in memory");
    }
    const LoadNode *left = unmasked_load(a), *right = unmasked_load(b);
    const auto rows = left ? rows_of(left->args[0], m, k) : std::nullopt;
    if (!rows) {
      refuse("its factor " + name_of(a) + " is no matrix in memory with rows of " +
                 std::to_string(k.extent),
             "take it from a Func or an input that has k innermost in memory");
    }
    const auto columns = right ? interleaved_rows_of(right->args[0], n, k, group) : std::nullopt;
    if (!columns) {
      const std::string g = std::to_string(group);
      refuse("its factor " + name_of(b) + " does not have groups of " + g +
                 " k side by side in memory, those of the columns one after the other",
             "pack it: compute it into a Func p(k, n) with p.pack(k, " + g +
                 ").reorder_storage(n, k)");
    }
    const int row = n.extent * group;
    const Expr x = load_at(*left, index_of_rows(*rows, m.extent, k.extent),
                           mask.defined() ? make_broadcast(mask, m.extent) : mask);
    const Expr y = load_at(*right, index_of_rows(*columns, k.extent / group, row),
                           mask.defined() ? groups_repeated(mask, group, n.extent) : mask);
    return product_store(u, index_of_rows(*cells, m.extent, n.extent), x, y);
  }

  static std::string name_of(const Expr &factor) {
    return as_load(factor) ? "'" + as_load(factor)->buffer + "'" : to_text(factor);
  }

  static const LoadNode *unmasked_load(const Expr &e) {
    const LoadNode *load = as_load(e);
    return load && load->args.size() == 1 ? load : nullptr;
  }

  static Expr load_at(const LoadNode &load, const Expr &index, const Expr &mask) {
    auto out = std::make_shared<LoadNode>(load.type.with_lanes(index.type().lanes()), load.buffer,
                                          index, mask);
    out->image = load.image;
    return Expr(std::shared_ptr<const ExprNode>(std::move(out)));
  }

  Stmt product_store(const Update &u, const Expr &cells, const Expr &a, const Expr &b) const {
    const Type sums = instruction_->operands[0].type.with_lanes(cells.type().lanes());
    const Expr before = make_load(sums, u.store->name, cells);
    return written_as(u.store, make_store(u.store->name, cells,
                                          make_intrinsic(sums, intrinsic::kSumMatrixProducts,
                                                         {before, a, b, Expr(u.loops[0].extent),
                                                          Expr(instruction_->group)})));
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

Function form_products(const Function &f, const Target &target) {
  Function out = f;
  out.body = FormProducts(target)(f.body);
  return out;
}

}  // namespace polyhalite
