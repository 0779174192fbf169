#include "codegen/passes/tensor_loops.h"

#include "codegen/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// The sum of what the bits of `number` add. Bits beside each other whose places double are digits
// of one number:  bits {0, 2}, {0, 4} of columns  ->  number % 4 * 2
Expr place(const Expr &number, const MatrixPlace *bits, size_t count, int MatrixPlace::*of) {
  Expr sum = Expr(0);
  for (size_t i = 0; i < count;) {
    const int value = bits[i].*of;
    size_t end = i + 1;
    while (value > 0 && end < count && bits[end].*of == bits[end - 1].*of * 2) end++;
    if (value > 0) {
      Expr digits = number;
      if (i > 0) digits = make_binary(Op::Div, digits, Expr(1 << i));
      if (end < count) digits = make_binary(Op::Mod, digits, Expr(1 << (end - i)));
      sum = make_binary(Op::Add, sum, make_binary(Op::Mul, digits, Expr(value)));
    }
    i = end;
  }
  return sum;
}

Expr place_in(const Fragment &f, const Expr &lane, const Expr &element, int MatrixPlace::*of) {
  size_t bits = 0;
  while (1 << bits < f.per_lane) bits++;
  return simplify(make_binary(Op::Add, place(lane, f.lane_bits.data(), f.lane_bits.size(), of),
                              place(element, f.element_bits.data(), bits, of)));
}

}  // namespace

Expr fragment_row(const Fragment &f, const Expr &lane, const Expr &element) {
  return place_in(f, lane, element, &MatrixPlace::row);
}

Expr fragment_column(const Fragment &f, const Expr &lane, const Expr &element) {
  return place_in(f, lane, element, &MatrixPlace::column);
}

std::string first_of(const std::string &loop) { return loop + ".first"; }

Stmt spread_over_lanes(const Stmt &loop, const Expr &lane) {
  const Instruction *instruction = find_instruction(loop->instruction);
  internal_check(instruction, "a loop of an instruction that is in no table");
  const Fragment &d = instruction->operands[0].fragment;
  const std::string name = loop->name + ".element";
  const Expr element = make_variable(Int(32), VariableKind::Loop, name);
  Lets lets;
  Stmt s = loop;
  bool multiplies = false;
  for (int loops = 0;;) {
    if (s->kind == StmtKind::Let) {
      lets.emplace_back(s->name, s->args[0]);
      s = s->body[0];
      continue;
    }
    if (s->kind != StmtKind::For || loops == 2) {
      multiplies = s->kind == StmtKind::For;
      break;
    }
    const Expr first = make_variable(Int(32), VariableKind::Symbol, first_of(s->name));
    lets.emplace_back(first_of(s->name), s->args[0]);
    lets.emplace_back(s->name, make_binary(Op::Add, first,
                                           loops == 0 ? fragment_row(d, lane, element)
                                                      : fragment_column(d, lane, element)));
    s = substitute(s->name, make_variable(Int(32), VariableKind::Symbol, s->name), s->body[0]);
    loops++;
  }
  const Stmt out = make_for(name, Expr(0), Expr(d.per_lane), LoopKind::Unrolled,
                            make_let_stmts(lets, std::move(s)));
  return multiplies ? with_instruction(out, loop->instruction) : out;
}

}  // namespace polyhalite
