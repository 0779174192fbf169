#include "codegen/ir/kernel.h"
#include "codegen/ir/verifier.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

void Verifier::operand(const Expr &e) {
  require(e->op != Op::StringImm, "errors", "a text is an operand of a statement");
  require(e.type().is_scalar() || is_flat(), "no flat", "a vector");
  whole(e);
}

void Verifier::condition(const Expr &e) {
  require(e.type().is_scalar(), "lanes", "a condition is no scalar");
  require(e.type().element_of().is_bool(), "types", "a condition is no bool");
}

const Verifier::Buffer *Verifier::find_buffer(const std::string &name, int value_index) {
  auto it = buffers_.find(name);
  if (it == buffers_.end()) it = buffers_.find(name + "." + std::to_string(value_index));
  require(it != buffers_.end(), "buffers", "there is no buffer '", name, "' here");
  if (it == buffers_.end()) return nullptr;
  const Home home = it->second.home;
  if (in_kernel_ && is_flat()) {
    require(is_in_kernel(home) || is_on_device(home), "device", "a kernel accesses '", name,
            "', which has no memory on the device");
  }
  if (!in_kernel_) {
    require(home != Home::Device, "device", "'", name,
            "' is accessed on the host, where it has no memory");
  }
  return &it->second;
}

void Verifier::indices(const std::string &name, const Buffer &b, const std::vector<Expr> &args,
                       size_t n) {
  require(b.dimensions == static_cast<int>(n), "indices", "'", name, "' has ", b.dimensions,
          " dimensions, ", n, " indices are given");
  for (size_t i = 0; i < n; i++) {
    require(args[i].type() == Int(32), "indices", "an index of '", name, "' is no int32");
  }
}

void Verifier::access(const std::string &name, const Expr &index, Type t, const Expr &mask,
                      bool writes) {
  const Buffer *b = find_buffer(name, 0);
  if (!b) return;
  require(!writes || b->is_written, "buffers", "'", name, "' is no output, but is written");
  require(t.element_of() == b->type, "buffers", "'", name, "' has elements of type ", b->type);
  require(index.type() == Int(64, t.lanes()), "indices", "'", name, "' is accessed at ",
          index.type(), " for ", t);
  require(!mask.defined() || mask.type() == Bool(t.lanes()), "indices", "the mask of '", name,
          "' is no bool of as many lanes");
}

void Verifier::whole(const Expr &e) {
  seen_.clear();
  expr(e);
}

void Verifier::expr(const Expr &e) {
  if (problem_) return;
  if (!e.defined()) return report("shape", "an undefined operand");
  // A node under a Let may mean something else elsewhere.
  if (lets_ == 0 && !seen_.insert(e.get()).second) return;
  if (e->op == Op::Let) {
    if (e->args.size() != 2) return report("shape", "a Let without value and body");
    expr(e->args[0]);
    lets_++;
    in_scope(as_let(e)->name, e->args[0].type(), VariableKind::Symbol, [&] { expr(e->args[1]); });
    lets_--;
    return;
  }
  for (const Expr &a : e->args) {
    expr(a);
    if (problem_) return;
    require(a->op != Op::StringImm || e->op == Op::Call, "errors",
            "a text is no operand of a call");
  }
  if (!problem_) node(e);
}

void Verifier::node(const Expr &e) {
  const Type t = e.type();
  auto same = [&](size_t i, Type wanted) {
    require(e->args[i].type() == wanted, "types", "operand of ", op_name(e->op), " is ",
            e->args[i].type(), ", not ", wanted);
  };
  auto count = [&](size_t n) {
    require(e->args.size() == n, "shape", "wrong number of operands of ", op_name(e->op));
    return e->args.size() == n;
  };
  switch (e->op) {
    case Op::Variable:
      return variable(*as_variable(e));
    case Op::Cast:
      if (count(1)) same(0, e->args[0].type().with_lanes(t.lanes()));
      return;
    case Op::Not:
      if (count(1)) same(0, Bool(t.lanes()));
      return;
    case Op::Select: {
      if (!count(3)) return;
      const Type c = e->args[0].type();
      require(c == Bool() || c == Bool(t.lanes()), "types", "the condition of select is ", c);
      same(1, t);
      same(2, t);
      return;
    }
    case Op::Ramp:
    case Op::Broadcast:
    case Op::Shuffle:
      require(is_flat(), "no flat", "a ", op_name(e->op));
      if (e->op == Op::Ramp && count(2)) same(1, e->args[0].type());
      if (e->op != Op::Shuffle) {
        const Type part = e->args[0].type();
        require(t.lanes() > part.lanes() && t.lanes() % part.lanes() == 0, "types", "the lanes of ",
                op_name(e->op), " are no multiple of its operand's");
        same(0, t.with_lanes(part.lanes()));
      }
      return;
    case Op::Load: {
      require(is_flat(), "no flat", "a Load of '", as_load(e)->buffer, "'");
      require(e->args.size() == 1 || e->args.size() == 2, "shape",
              "wrong number of operands of a Load");
      if (problem_) return;
      return access(as_load(e)->buffer, e->args[0], t, e->args.size() > 1 ? e->args[1] : Expr(),
                    false);
    }
    case Op::Call:
      return call(*as_call(e));
    default:
      if (!is_binary(e->op) || !count(2)) return;
      same(1, e->args[0].type());
      if (is_comparison(e->op)) {
        require(t == Bool(e->args[0].type().lanes()), "types", "a comparison is no bool");
      } else {
        same(0, t);
      }
      require((e->op != Op::And && e->op != Op::Or) || t.element_of().is_bool(), "types",
              "&& and || are for bool");
  }
}

void Verifier::variable(const VariableNode &v) {
  if (v.kind == VariableKind::BufferField) {
    return require(fields_.count(v.name) && v.type == Int(32), "bound", "'", v.name,
                   "' is no field of an argument");
  }
  if (v.kind == VariableKind::Param) {
    auto it = params_.find(v.name);
    return require(it != params_.end() && it->second == v.type, "bound", "'", v.name,
                   "' is no scalar argument of type ", v.type);
  }
  auto it = bound_.find(v.name);
  require(it != bound_.end(), "bound", "nothing binds '", v.name, "' here");
  if (it == bound_.end()) return;
  require(it->second.second == v.kind, "bound", "'", v.name, "' is of another kind here");
  require(it->second.first == v.type, "bound", "'", v.name, "' is ", it->second.first,
          " here, not ", v.type);
}

void Verifier::sum_products(const CallNode &c) {
  require(is_flat(), "no flat", "sum_products");
  require(c.args.size() == 3, "shape", "wrong number of operands of sum_products");
  if (problem_) return;
  const Type a = c.args[1].type(), b = c.args[2].type();
  require(c.args[0].type() == c.type, "types", "sum_products adds to another type than its own");
  require(a.lanes() == b.lanes() && a.lanes() % c.type.lanes() == 0, "types",
          "the factors of sum_products have ", a.lanes(), " and ", b.lanes(), " lanes for ",
          c.type.lanes(), " sums");
}

void Verifier::sum_matrix_products(const CallNode &c) {
  require(is_flat(), "no flat", "sum_matrix_products");
  require(c.args.size() == 5, "shape", "wrong number of operands of sum_matrix_products");
  if (problem_) return;
  int64_t m = 0, group = 0;
  const bool has_shape = is_const_int(c.args[3], &m) && is_const_int(c.args[4], &group);
  require(has_shape && m > 0 && group > 0, "constants",
          "sum_matrix_products has rows and groups of no constant number");
  if (problem_) return;
  const int64_t sums = c.type.lanes(), a = c.args[1].type().lanes(), b = c.args[2].type().lanes();
  require(c.args[0].type() == c.type, "types",
          "sum_matrix_products adds to another type than its own");
  require(sums % m == 0 && a % m == 0 && a / m % group == 0 && b == sums / m * (a / m), "types",
          "the factors of sum_matrix_products have ", a, " and ", b, " lanes for ", sums,
          " sums in ", m, " rows, terms in groups of ", group);
}

void Verifier::call(const CallNode &c) {
  if (c.kind == CallKind::Intrinsic && c.name == intrinsic::kSumProducts) return sum_products(c);
  if (c.kind == CallKind::Intrinsic && c.name == intrinsic::kSumMatrixProducts) {
    return sum_matrix_products(c);
  }
  if (c.kind != CallKind::Func && c.kind != CallKind::Image) return;
  require(!is_flat(), "no boxes", "a call of '", c.name, "'");
  const Buffer *b = find_buffer(c.name, c.value_index);
  if (!b) return;
  require(c.type == b->type, "buffers", "'", c.name, "' has elements of type ", b->type);
  indices(c.name, *b, c.args, c.args.size());
}

}  // namespace polyhalite
