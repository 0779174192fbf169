#include "lang/interpret/program.h"

#include <cstring>

#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/ir/widen_float16.h"

namespace polyhalite::interpreter {

namespace {

class ExpandLets : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    if (const LetNode *let = as_let(e)) {
      return (*this)(substitute(let->name, let->args[0], let->args[1]));
    }
    return rewrite_children(e);
  }
};

[[noreturn]] void cannot(const std::string &what) {
  user_error("the interpreter cannot evaluate " + what, "", "");
}

}  // namespace

void mark_poison(Register &r, int lane, int step) {
  if (r.poison.empty()) r.poison.resize(kLanes);
  if (!r.poisoned) std::fill(r.poison.begin(), r.poison.end(), 0);
  r.poisoned = true;
  r.poison[lane] = step + 1;
}

std::string lane_text(Register &r, int lane) {
  std::string text;
  with_type(r.type, [&]<typename T>() {
    const T v = r.as<T>()[lane];
    if (is_float16(r.type)) {
      const float value = float16_from(r.type, static_cast<uint16_t>(v));
      text = to_text(make_float(r.type, static_cast<double>(value)));
      return;
    }
    text = to_text(r.type.is_float() ? make_float(r.type, static_cast<double>(v))
                                     : make_int(r.type, static_cast<int64_t>(v)));
  });
  return text;
}

Register *Program::add_register(Type t) {
  registers_.push_back(std::make_unique<Register>(t));
  levels_[registers_.back().get()] = Level::Once;
  return registers_.back().get();
}

Register *Program::add_step(Register *result, std::vector<Register *> operands,
                            std::function<void(int)> run, std::function<Diagnostic(int)> explain) {
  Step s;
  s.run = std::move(run);
  s.result = result;
  s.level = Level::Once;
  for (const Register *r : operands) s.level = std::max(s.level, level_of(r));
  s.operands = std::move(operands);
  s.explain = std::move(explain);
  levels_[result] = s.level;
  steps_.push_back(std::move(s));
  return result;
}

Register *Program::variable(const std::string &name) const {
  auto it = variables_.find(name);
  return it == variables_.end() ? nullptr : it->second;
}

Register *Program::compile(const Expr &e) { return compile_node(ExpandLets()(e)); }

Register *Program::compile_node(const Expr &e) {
  auto it = memo_.find(e.get());
  if (it != memo_.end()) return it->second;
  if (!e.type().is_scalar()) cannot("vectors in an algorithm");
  std::vector<Register *> args;
  if (!as_imm(e)) {
    for (const Expr &a : e->args) {
      if (a->op != Op::StringImm) args.push_back(compile_node(a));
    }
  }
  if (const Expr wide = widen_float16(e); wide.defined()) {
    keep_.push_back(e);
    return memo_[e.get()] = compile_node(wide);
  }
  const std::string key = key_of(e, args);
  keep_.push_back(e);
  if (const auto known = by_key_.find(key); !key.empty() && known != by_key_.end()) {
    return memo_[e.get()] = known->second;
  }
  Register *r = nullptr;
  switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
    case Op::StringImm:
    case Op::Variable:
      r = compile_leaf(e);
      break;
    case Op::Cast:
      r = add_cast(*this, e.type(), args[0]);
      break;
    case Op::Reinterpret:
      r = add_reinterpret(*this, e.type(), args[0]);
      break;
    case Op::Not: {
      r = add_register(Bool());
      uint8_t *d = r->as<uint8_t>();
      const uint8_t *a = args[0]->as<uint8_t>();
      add_step(r, args, [=](int n) {
        for (int i = 0; i < n; i++) d[i] = !a[i];
      });
      break;
    }
    case Op::Select:
      r = compile_select(e, args[0], args[1], args[2]);
      break;
    case Op::Call: {
      const CallNode &c = *as_call(e);
      if (c.kind == CallKind::Func || c.kind == CallKind::Image) {
        r = compile_load(c, args);
      } else if (const Expr meaning = expand_intrinsic(c); meaning.defined()) {
        r = compile_node(meaning);
      } else if (c.kind == CallKind::Intrinsic) {
        r = add_intrinsic(*this, c, args);
      } else if (c.kind == CallKind::Math) {
        r = add_math(*this, c, args);
      } else if (is_extern(c)) {
        r = add_extern(*this, c, args);
      } else {
        cannot("the external function '" + c.name + "'");
      }
      break;
    }
    default:
      if (!is_binary(e->op)) cannot(std::string("'") + op_name(e->op) + "' in an algorithm");
      r = is_comparison(e->op) ? add_comparison(*this, e->op, args[0], args[1])
                               : add_binary(*this, e->op, args[0], args[1]);
      if (e->op == Op::And || e->op == Op::Or) {
        steps_.back().is_logic = true;
        steps_.back().decided_by = e->op == Op::Or;
      }
      break;
  }
  if (!key.empty()) by_key_[key] = r;
  return memo_[e.get()] = r;
}

// What the node computes out of which registers; empty for variables, which have a map of their
// own.
std::string Program::key_of(const Expr &e, const std::vector<Register *> &args) const {
  if (e->op == Op::Variable) return "";
  std::string key = std::to_string(static_cast<int>(e->op)) + e->type.to_string();
  if (as_imm(e)) return key + ' ' + to_text(e);
  if (const CallNode *c = as_call(e)) {
    auto address = [](const auto &p) {
      return ' ' + std::to_string(reinterpret_cast<uintptr_t>(p.get()));
    };
    key += ' ' + std::to_string(static_cast<int>(c->kind)) + c->name + '.' +
           std::to_string(c->value_index) + address(c->param) + address(c->image);
  }
  for (const Register *r : args) key += ' ' + std::to_string(reinterpret_cast<uintptr_t>(r));
  return key;
}

Register *Program::compile_leaf(const Expr &e) {
  if (const VariableNode *v = as_variable(e)) {
    const auto bound = bindings_.variables.find(v->name);
    const bool changes = v->kind == VariableKind::Pure || v->kind == VariableKind::Reduction ||
                         v->kind == VariableKind::Symbol;
    if (changes) {
      if (bound == bindings_.variables.end()) cannot("the unbound variable '" + v->name + "'");
      Register *&r = variables_[v->name];
      if (!r) r = add_register(e.type());
      levels_[r] = bound->second;
      return r;
    }
    return compile_node(bindings_.constant(*v));
  }
  Register *r = add_register(e.type());
  const ImmNode &imm = *as_imm(e);
  const bool known = e->op != Op::StringImm && with_type(e.type(), [&]<typename T>() {
                       const T value =
                           is_float16(e.type())
                               ? static_cast<T>(float16_to(e.type(), static_cast<float>(imm.f)))
                           : e->op == Op::IntImm  ? static_cast<T>(imm.i)
                           : e->op == Op::UIntImm ? static_cast<T>(imm.u)
                                                  : static_cast<T>(imm.f);
                       std::fill_n(r->as<T>(), kLanes, value);
                     });
  if (!known) cannot("values of type " + e.type().to_string());
  return r;
}

Register *Program::compile_select(const Expr &e, Register *c, Register *a, Register *b) {
  Register *r = add_register(e.type());
  with_type(e.type(), [&]<typename T>() {
    T *d = r->as<T>();
    const T *x = a->as<T>(), *y = b->as<T>();
    const uint8_t *take = c->as<uint8_t>();
    add_step(r, {c, a, b}, [=](int n) {
      for (int i = 0; i < n; i++) d[i] = take[i] ? x[i] : y[i];
    });
  });
  steps_.back().is_select = true;
  return r;
}

Register *Program::compile_load(const CallNode &c, const std::vector<Register *> &args) {
  const Grid *grid = bindings_.grid(c);
  Register *r = add_load(*this, *grid, args);
  if (c.kind == CallKind::Func && c.name == bindings_.self) {
    steps_.back().level = levels_[r] = Level::Point;
  } else if (steps_.back().level == Level::Once && !grid->is_image) {
    // The grid of a Func is filled after the program is compiled.
    steps_.back().level = levels_[r] = Level::Chunk;
  }
  return r;
}

void Program::run(Level from, int n) {
  for (Step &s : steps_) {
    if (s.level < from) continue;
    s.result->poisoned = false;
    // Constants serve every lane.
    const int lanes = s.level == Level::Once ? kLanes : n;
    s.run(lanes);
    for (const Register *r : s.operands) {
      if (r->poisoned) {
        pass_poison(s, lanes);
        break;
      }
    }
  }
}

void Program::pass_poison(Step &s, int n) {
  auto at = [](const Register *r, int lane) { return r->poisoned ? r->poison[lane] : 0; };
  for (int i = 0; i < n; i++) {
    int32_t cause = 0;
    if (s.is_select) {
      Register *c = s.operands[0];
      cause = at(c, i);
      if (!cause) cause = at(s.operands[c->as<uint8_t>()[i] ? 1 : 2], i);
    } else if (s.is_logic) {
      // false && x is false, whatever x is.
      bool decided = false;
      for (Register *r : s.operands) {
        decided |= !at(r, i) && (r->as<uint8_t>()[i] != 0) == s.decided_by;
        if (at(r, i)) cause = at(r, i);
      }
      if (decided) {
        s.result->as<uint8_t>()[i] = s.decided_by;
        cause = 0;
      }
    } else {
      for (const Register *r : s.operands) {
        if (!cause) cause = at(r, i);
      }
    }
    if (cause) mark_poison(*s.result, i, cause - 1);
  }
}

Diagnostic Program::explain(const Register &r, int lane) const {
  return steps_[r.poison[lane] - 1].explain(lane);
}

}  // namespace polyhalite::interpreter
