#include "codegen/passes/flatten_storage.h"

#include <map>
#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/buffer_fields.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Where element (i_0, i_1, ...) of a buffer lies: sum of (i_d - min_d) * stride_d.
struct Layout {
  struct Dimension {
    Expr min;                // Int(32)
    Expr stride;             // Int(64)
    bool is_of_one = false;  // there is one index, whatever an access computes
  };
  std::vector<Dimension> dims;
  std::string buffer;  // where the elements are: a block that a box is placed in; empty: its own
  Expr at;             // the block's element where the box begins; null: 0
};

Expr int64(int64_t v) { return make_int(Int(64), v); }

// a * b, distributed over a's terms.
Linear product(const Linear &a, const Expr &b) {
  int64_t constant;
  Linear result;
  result.type = Int(64);
  if (is_const_int(b, &constant)) return result.add(a, constant);
  for (const auto &[atom, coefficient] : a.terms) {
    result.add(to_linear(make_binary(Op::Mul, atom, b)), coefficient);
  }
  return result.add(to_linear(b), a.constant);
}

using NamedValues = std::map<std::string, Expr>;

// The parts of a fused loop that lie beside each other in memory are the loop again:
//   q*6 + r*2  ->  e*2, where q = e/3 and r = e%3
void join_parts(Linear &sum, const NamedValues &values) {
  auto value_of = [&](const Expr &atom) {
    if (atom->op != Op::Cast) return Expr();
    const VariableNode *v = as_variable(atom->args[0]);
    const auto value = v ? values.find(v->name) : values.end();
    return !v ? atom->args[0] : value == values.end() ? Expr() : value->second;
  };
  std::vector<std::pair<Expr, int64_t>> quotients;
  for (const auto &[atom, coefficient] : sum.terms) {
    const Expr value = value_of(atom);
    if (value.defined() && value->op == Op::Div) quotients.emplace_back(atom, coefficient);
  }
  for (const auto &[quotient, coefficient] : quotients) {
    const Expr q = value_of(quotient);
    int64_t divisor;
    if (!is_const_int(q->args[1], &divisor) || divisor <= 0) continue;
    for (const auto &[atom, of_rest] : sum.terms) {
      const Expr r = value_of(atom);
      if (!r.defined() || r->op != Op::Mod || !equal(r->args[0], q->args[0]) ||
          !equal(r->args[1], q->args[1]) || of_rest * divisor != coefficient) {
        continue;
      }
      const Linear rest = to_linear(atom);
      const int64_t factor = of_rest;
      sum.add(to_linear(quotient), -coefficient).add(rest, -factor);
      sum.add(to_linear(make_cast(Int(64), q->args[0])), factor);
      break;
    }
  }
}

// `in_view`: of two elements, which may not be there, that say how far apart they lie.
Expr flat_index(const Layout &layout, const std::vector<Expr> &indices, const NamedValues &values,
                bool in_view = false) {
  internal_check(layout.dims.size() == indices.size(), "flatten_storage: wrong number of indices");
  Linear sum;
  sum.type = Int(64);
  for (size_t d = 0; d < indices.size(); d++) {
    if (layout.dims[d].is_of_one && !in_view) continue;
    Linear offset = to_linear(make_cast(Int(64), indices[d]));
    offset.add(to_linear(make_cast(Int(64), layout.dims[d].min)), -1);
    sum.add(product(offset, layout.dims[d].stride));
  }
  if (layout.at.defined()) sum.add(to_linear(layout.at));
  join_parts(sum, values);
  return to_expr(sum);
}

using Layouts = std::map<std::string, Layout>;

const std::string &home(const Layouts &layouts, const std::string &name) {
  const std::string &buffer = layouts.at(name).buffer;
  return buffer.empty() ? name : buffer;
}

std::string buffer_name(const Layouts &layouts, const std::string &func, int value_index) {
  return layouts.count(func) ? func : func + "." + std::to_string(value_index);
}

class FlattenExpr : public ExprRewriter {
 public:
  FlattenExpr(const Layouts &layouts, const NamedValues &fields, const NamedValues &values)
      : layouts_(layouts), fields_(fields), values_(values) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (const VariableNode *v = as_variable(e); v && v->kind == VariableKind::BufferField) {
      auto it = fields_.find(v->name);
      return it == fields_.end() ? e : it->second;
    }
    const CallNode *view = as_call(e);
    const bool is_view =
        view && view->kind == CallKind::Extern && view->name == intrinsic::kBufferView;
    const bool outer = std::exchange(in_view_, in_view_ || is_view);
    const Expr r = rewrite_children(e);
    in_view_ = outer;
    const CallNode *call = as_call(r);
    if (as_intrinsic(r, intrinsic::kGuarded)) return guarded(call->args[0], call->args[1]);
    if (!call || (call->kind != CallKind::Func && call->kind != CallKind::Image)) return r;
    const std::string name = buffer_name(layouts_, call->name, call->value_index);
    auto load =
        std::make_shared<LoadNode>(call->type, home(layouts_, name),
                                   flat_index(layouts_.at(name), call->args, values_, in_view_));
    load->image = call->image;
    return Expr(std::shared_ptr<const ExprNode>(std::move(load)));
  }

 private:
  // What was a call is a Load by now, unless another pass put a value in its place.
  static Expr guarded(const Expr &condition, const Expr &e) {
    const LoadNode *load = as_load(e);
    if (!load || is_true(condition)) return e;
    auto masked = std::make_shared<LoadNode>(*load);
    if (masked->args.size() > 1) {
      masked->args[1] = make_binary(Op::And, masked->args[1], condition);
    } else {
      masked->args.push_back(condition);
    }
    return Expr(std::shared_ptr<const ExprNode>(std::move(masked)));
  }

  const Layouts &layouts_;
  const NamedValues &fields_, &values_;
  bool in_view_ = false;  // inside of a buffer_view
};

class Flatten : public StmtRewriter {
 public:
  explicit Flatten(const Function &f) : buffer_limit_(f.buffer_limit) {
    for (const auto &c : f.constants) add_constant(*c);
    for (const FunctionArgument &a : f.args) {
      if (a.is_buffer) add_argument(a);
    }
  }

 protected:
  Expr rewrite_expr(const Expr &e) override { return FlattenExpr(layouts_, fields_, values_)(e); }

  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::Block:
        return rewrite_block(s);
      case StmtKind::Allocate:
        return rewrite_allocate(s);
      case StmtKind::Place:
        return rewrite_place(s);
      case StmtKind::Provide:
        return rewrite_provide(s);
      case StmtKind::Memoize:
        return rewrite_memoize(s);
      case StmtKind::Let:
        return rewrite_let(s);
      default:
        return rewrite_children(s);
    }
  }

 private:
  void add_constant(const BufferContents &c) {
    Layout layout;
    const std::vector<polyhalite_dimension_t> dims = c.dims();
    for (size_t d = 0; d < dims.size(); d++) {
      layout.dims.push_back({Expr(dims[d].min), int64(dims[d].stride)});
      fields_[buffer_field_name(c.name, "min", d)] = Expr(dims[d].min);
      fields_[buffer_field_name(c.name, "extent", d)] = Expr(dims[d].extent);
      fields_[buffer_field_name(c.name, "stride", d)] = Expr(dims[d].stride);
    }
    layouts_[c.name] = std::move(layout);
  }

  void add_argument(const FunctionArgument &a) {
    Layout layout;
    for (size_t d = 0; d < static_cast<size_t>(a.dimensions); d++) {
      auto field = [&](const char *what) {
        auto it = fields_.find(buffer_field_name(a.name, what, d));
        return it != fields_.end() ? it->second : buffer_field(a.name, what, d);
      };
      layout.dims.push_back({field("min"), simplify(make_cast(Int(64), field("stride")))});
    }
    layouts_[a.name] = std::move(layout);
    arguments_[a.name] = a;
  }

  // Behind `assert in.stride.0 == 1` the field is 1. The assertion itself keeps its field.
  void learn(const Stmt &assertion) {
    const Expr &c = assertion->args[0];
    if (c->op != Op::Eq) return;
    for (int side = 0; side < 2; side++) {
      const VariableNode *v = as_variable(c->args[side]);
      const Expr &value = c->args[1 - side];
      if (!v || v->kind != VariableKind::BufferField || !is_const_int(value)) continue;
      fields_.emplace(v->name, value);
      for (auto &[name, argument] : std::map<std::string, FunctionArgument>(arguments_)) {
        if (v->name.compare(0, name.size() + 1, name + ".") == 0) add_argument(argument);
      }
    }
  }

  Stmt rewrite_block(const Stmt &s) {
    std::vector<Stmt> out;
    for (const Stmt &b : s->body) {
      out.push_back((*this)(b));
      if (b->kind == StmtKind::Assert) learn(b);
    }
    return make_block(std::move(out));
  }

  // Binds a value that is more than a number or a name to a name.
  static Expr named(const std::string &name, const Expr &value, Lets &lets) {
    if (is_const_int(value) || as_variable(value)) return value;
    lets.emplace_back(name, value);
    return make_variable(Int(64), VariableKind::Symbol, name);
  }

  // The layout of a dense box from pairs of min and extent, and the number of its elements, the
  // product of what is added to `extents`.
  Expr dense(const Stmt &s, Layout &layout, Lets &lets, std::vector<Expr> &extents) {
    Expr stride = int64(1);
    const size_t dims = s->args.size() / 2;
    layout.dims.resize(dims);
    for (size_t i = 0; i < dims; i++) {
      const size_t d = s->order.empty() ? i : static_cast<size_t>(s->order[i]);
      const Expr extent = make_cast(Int(64), rewrite_expr(s->args[2 * d + 1]));
      extents.push_back(simplify(extent));
      layout.dims[d] = {rewrite_expr(s->args[2 * d]), stride, is_one(extents.back())};
      stride = named(buffer_field_name(s->name, "stride", i + 1),
                     simplify(make_binary(Op::Mul, stride, extent)), lets);
    }
    return stride;
  }

  Stmt rewrite_allocate(const Stmt &s) {
    Layout layout;
    Lets lets;
    std::vector<Expr> extents = {int64(buffer_limit_ / s->type.bytes())};
    const Expr elements = dense(s, layout, lets, extents);
    layouts_[s->name] = std::move(layout);
    int64_t count = 0;
    if (is_const_int(elements, &count) && count > buffer_limit_ / s->type.bytes()) {
      user_error("'" + s->name + "' is stored in " + std::to_string(count) + " elements of " +
                     std::to_string(s->type.bytes()) + " bytes",
                 "a buffer has at most " + std::to_string(buffer_limit_) + " bytes",
                 "compile for a target with the feature large_buffers, or compute it in parts");
    }
    bytes_[s->name] = simplify(make_binary(Op::Mul, elements, int64(s->type.bytes())));
    // Two int32 have a product in int64; more may not.
    const bool limited =
        !is_const_int(elements) && (extents.size() > 3 || buffer_limit_ != INT64_MAX);
    const Expr size = limited
                          ? make_intrinsic(Int(64), intrinsic::kLimitedProduct, std::move(extents))
                          : elements;
    const Stmt out = make_allocate(s->name, s->type, {size}, s->home, (*this)(s->body[0]));
    layouts_.erase(s->name);
    return make_let_stmts(lets, out);
  }

  // place f: T (m, e) in block at k { f(i) = v }  ->  block[i - m + k] = v
  Stmt rewrite_place(const Stmt &s) {
    Layout layout;
    Lets lets;
    std::vector<Expr> extents;
    dense(s, layout, lets, extents);
    layout.buffer = s->inside;
    layout.at = named(s->name + ".at", simplify(rewrite_expr(s->args.back())), lets);
    layouts_[s->name] = std::move(layout);
    const Stmt out = (*this)(s->body[0]);
    layouts_.erase(s->name);
    return make_let_stmts(lets, out);
  }

  Stmt rewrite_let(const Stmt &s) {
    const Expr value = rewrite_expr(s->args[0]);
    const auto hidden = values_.extract(s->name);
    values_[s->name] = value;
    const Stmt body = (*this)(s->body[0]);
    values_.erase(s->name);
    if (hidden) values_[s->name] = hidden.mapped();
    return make_let_stmt(s->name, value, body);
  }

  Stmt rewrite_memoize(const Stmt &s) {
    std::vector<Expr> sizes, key;
    for (const std::string &name : s->buffers) sizes.push_back(bytes_.at(name));
    for (const Expr &e : s->args) key.push_back(rewrite_expr(e));
    Expr eviction;
    if (s->evicts) {
      eviction = key.front();
      key.erase(key.begin());
    }
    return make_memoize(s->name, s->buffers, std::move(sizes), eviction, std::move(key),
                        (*this)(s->body[0]));
  }

  Stmt rewrite_provide(const Stmt &s) {
    const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
    std::vector<Expr> indices, values;
    for (size_t i = 0; i < s->args.size(); i++) {
      (i < dims ? indices : values).push_back(rewrite_expr(s->args[i]));
    }
    auto store = [&](size_t i, const Expr &value) {
      const std::string name = buffer_name(layouts_, s->name, static_cast<int>(i));
      const Stmt out =
          make_store(home(layouts_, name), flat_index(layouts_.at(name), indices, values_), value);
      return written_as(s, out);
    };
    if (values.size() == 1) return store(0, values[0]);
    // All values are known before the first one is stored: they may read what is overwritten. A
    // value that stays as it is needs no store.
    std::vector<size_t> changed;
    for (size_t i = 0; i < values.size(); i++) {
      if (!keeps_value(s, i)) changed.push_back(i);
    }
    if (changed.empty()) return store(0, values[0]);
    if (changed.size() == 1) return store(changed[0], values[changed[0]]);
    std::vector<Stmt> stores;
    for (size_t i : changed) {
      const std::string name = s->name + ".value." + std::to_string(i);
      stores.push_back(store(i, make_variable(values[i].type(), VariableKind::Symbol, name)));
    }
    Stmt out = make_block(std::move(stores));
    for (auto i = changed.rbegin(); i != changed.rend(); ++i) {
      out = make_let_stmt(s->name + ".value." + std::to_string(*i), values[*i], out);
    }
    return out;
  }

  // f(i) = {..., f(i).V, ...}
  static bool keeps_value(const Stmt &provide, size_t v) {
    const size_t dims = provide->args.size() - static_cast<size_t>(provide->value_count);
    const CallNode *c = as_call(provide->args[dims + v]);
    if (!c || c->kind != CallKind::Func || c->name != provide->name ||
        c->value_index != static_cast<int>(v)) {
      return false;
    }
    for (size_t d = 0; d < dims; d++) {
      if (!equal(c->args[d], provide->args[d])) return false;
    }
    return true;
  }

  const int64_t buffer_limit_;
  Layouts layouts_;
  std::map<std::string, Expr> bytes_;  // of allocations
  NamedValues fields_;                 // those that are numbers
  NamedValues values_;                 // of the names around
  std::map<std::string, FunctionArgument> arguments_;
};

}  // namespace

Function flatten_storage(const Function &f) {
  Function out = f;
  out.body = Flatten(f)(f.body);
  return out;
}

}  // namespace polyhalite
