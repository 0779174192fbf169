#include "autosched/number_program.h"

#include <algorithm>

#include "lang/ir/compares.h"
#include "polyhedral/interval.h"

namespace polyhalite::autosched {

namespace {

constexpr size_t kMostSteps = 200;

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  const int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t apply(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return b < 0 ? -floor_div(a, -b) : floor_div(a, b);
    case Op::Mod:
      return b == 0 ? 0 : a - floor_div(a, std::abs(b)) * std::abs(b);
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::And:
      return a && b;
    case Op::Or:
      return a || b;
    default:
      return is_comparison(op) && compares(op, a, b);
  }
}

}  // namespace

bool NumberProgram::add(const Expr &e, const std::map<std::string, int> &slots) {
  if (steps_.size() > kMostSteps || e.type().is_float() || !e.type().is_scalar()) return false;
  int64_t constant = 0;
  if (is_const_int(e, &constant)) {
    steps_.push_back({Step::Constant, e->op, constant});
    return true;
  }
  if (const VariableNode *v = as_variable(e)) {
    const auto slot = slots.find(v->name);
    if (slot == slots.end()) return false;
    steps_.push_back({Step::Slot, e->op, slot->second});
    return true;
  }
  // Between integers that hold the value; narrow ones may wrap, which sizes do not.
  if (e->op == Op::Cast) return add(e->args[0], slots);
  for (const Expr &a : e->args) {
    if (!is_binary(e->op) && e->op != Op::Select && e->op != Op::Not) return false;
    if (!add(a, slots)) return false;
  }
  if (is_binary(e->op)) {
    steps_.push_back({Step::Binary, e->op, 0});
  } else if (e->op == Op::Select || e->op == Op::Not) {
    steps_.push_back({e->op == Op::Not ? Step::Not : Step::Select, e->op, 0});
  } else {
    return false;
  }
  return true;
}

std::optional<NumberProgram> NumberProgram::compile(const Expr &e,
                                                    const std::map<std::string, int> &slots) {
  NumberProgram p;
  if (!e.defined() || !p.add(strip_hints(e), slots)) return std::nullopt;
  return p;
}

int64_t NumberProgram::operator()(const std::vector<int64_t> &slots) const {
  int64_t stack[kMostSteps + 8];
  int top = 0;
  for (const Step &s : steps_) {
    switch (s.kind) {
      case Step::Constant:
        stack[top++] = s.value;
        break;
      case Step::Slot:
        stack[top++] = slots[static_cast<size_t>(s.value)];
        break;
      case Step::Binary:
        stack[top - 2] = apply(s.op, stack[top - 2], stack[top - 1]);
        top--;
        break;
      case Step::Select:
        stack[top - 3] = stack[top - 3] ? stack[top - 2] : stack[top - 1];
        top -= 2;
        break;
      case Step::Not:
        stack[top - 1] = !stack[top - 1];
        break;
    }
  }
  return stack[0];
}

}  // namespace polyhalite::autosched
