// What is a function of one byte is a table of 256 bytes: made once, looked up for each point.
#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

bool is_byte(const Expr &e) {
  return e.type().is_int_or_uint() && e.type().bits() == 8 && !e.type().is_bool();
}

// A value of a Func or an image.
bool is_read(const Expr &e) {
  const CallNode *c = as_call(e);
  return c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
}

// The one byte that e is a function of: undefined where it reads or counts anything else.
class OneByte {
 public:
  // `deep`: bytes are values of Funcs and images; else also those that expressions make.
  OneByte(const Expr &e, bool deep) : root_(e), deep_(deep) {
    find(e);
    if (!only_) byte_ = Expr();
  }
  const Expr &byte() const { return byte_; }

 private:
  void find(const Expr &e) {
    if (!only_ || !seen_.insert(e.get()).second) return;
    const bool made = !deep_ && !e.same_as(root_) && is_byte(e) && !is_const(e);
    if (is_byte(e) && (is_read(e) || made)) {
      only_ = !byte_.defined() || equal(byte_, e);
      byte_ = e;
      return;
    }
    const VariableNode *v = as_variable(e);
    const CallNode *c = as_call(e);
    only_ = !is_read(e) && !as_let(e) && !as_load(e) && !(c && (is_extern(*c) || acts(*c))) &&
            (!v || v->kind == VariableKind::Param);
    for (const Expr &arg : e->args) find(arg);
  }

  const Expr root_;
  const bool deep_;
  bool only_ = true;
  Expr byte_;
  std::unordered_set<const ExprNode *> seen_;
};

// Operations on floats: what a lookup spares.
int float_operations(const Expr &e) {
  int n = 0;
  for_each_node(e, [&](const Expr &each) {
    if (each.type().is_float() && !is_const(each)) n += as_call(each) ? 8 : 1;
  });
  return n;
}

class Replacing : public ExprRewriter {
 public:
  Replacing(Expr what, Expr by) : what_(std::move(what)), by_(std::move(by)) {}

 private:
  Expr rewrite(const Expr &e) override { return equal(e, what_) ? by_ : rewrite_children(e); }

  const Expr what_, by_;
};

class Tabulating : public ExprRewriter {
 public:
  explicit Tabulating(const Target &target) : target_(target) {}

 private:
  Expr rewrite(const Expr &e) override {
    if (is_read(e)) return e;
    if (is_byte(e)) {
      for (const bool deep : {true, false}) {
        const Expr byte = OneByte(e, deep).byte();
        if (!byte.defined()) continue;
        const Expr found = looked_up(e, byte);
        if (found.defined()) return found;
      }
    }
    return rewrite_children(e);
  }

  // Undefined where e is as quick.
  Expr looked_up(const Expr &e, const Expr &byte) {
    constexpr int kWorthTable = 4;
    const int least = byte.type().is_int() ? -128 : 0;
    const Var i("i");
    const Expr value = Replacing(byte, cast(byte.type(), i + least))(e);
    if (float_operations(value) < kWorthTable) return Expr();
    Func table("table");
    table(i) = value;
    table.compute_root().vectorize(i, target_.natural_vector_size(Float(32)));
    return table(cast<int32_t>(byte) - least);
  }

  const Target &target_;
};

}  // namespace

Expr tabulated(const Expr &e, int64_t points, const Target &target) {
  // Others take one byte after the other, which is no quicker than to compute.
  const bool has_lookups = target.has_feature(Target::AVX512_Cannonlake);
  constexpr int64_t kWorthTable = 4096;
  return has_lookups && points >= kWorthTable ? Tabulating(target)(e) : e;
}

}  // namespace polyhalite::ops
