#include "codegen/passes/matrix_loads.h"

#include <optional>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

constexpr int kMatrixRows = 8;       // elements of a row, and rows of a matrix
constexpr int kMatrixRowBytes = 16;  // a row's address is a multiple of it

// Where the rows in memory run along in the operand.
enum class Along : uint8_t { Rows, Columns };

MatrixPlace swapped(MatrixPlace p) { return {p.column, p.row}; }

// Does the instruction put each element where the operand has it, if its matrix number i begins
// where the operand's element 2*i of lane 0 stands?
bool fills(const Instruction &load, const Fragment &operand, Along along) {
  const Fragment &to = load.operands[0].fragment;
  if (to.per_lane != operand.per_lane) return false;
  for (int lane = 0; lane < 32; lane++) {
    for (int e = 0; e < to.per_lane; e++) {
      const MatrixPlace first = operand.at(0, e / 2 * 2), wanted = operand.at(lane, e);
      const MatrixPlace in_memory = to.at(lane, e % 2);
      const MatrixPlace in_matrix = along == Along::Columns ? in_memory : swapped(in_memory);
      if (first.row + in_matrix.row != wanted.row) return false;
      if (first.column + in_matrix.column != wanted.column) return false;
    }
  }
  return true;
}

const Instruction *find_load(const Fragment &operand, Along along) {
  for (const Instruction &i : instructions()) {
    if (i.meaning == InstructionMeaning::LoadMatrices && fills(i, operand, along)) return &i;
  }
  return nullptr;
}

// The element of a buffer of constant size that a factor reads, as `rows` elements for each row,
// `columns` for each column, from `first` on.
struct Strides {
  int64_t rows = 0, columns = 0;
  Linear first;
};

std::optional<Strides> strides_of(const FactorInMemory &f, const Stmt &allocation,
                                  const Lets &lets) {
  const CallNode &read = *as_call(f.value);
  Linear sum;
  int64_t stride = 1;
  for (size_t i = 0; i < read.args.size(); i++) {
    const size_t d = allocation->order.empty() ? i : static_cast<size_t>(allocation->order[i]);
    Expr index = make_binary(Op::Sub, read.args[d], allocation->args[2 * d]);
    for (auto l = lets.rbegin(); l != lets.rend(); ++l) {
      index = substitute(l->first, l->second, index);
    }
    sum.add(to_linear(simplify(index)), stride);
    int64_t extent = 0;
    if (!is_const_int(allocation->args[2 * d + 1], &extent)) return std::nullopt;
    stride *= extent;
  }
  Strides s;
  for (const auto &[atom, coefficient] : sum.terms) {
    const VariableNode *v = as_variable(atom);
    if (v && v->name == f.row) {
      s.rows = coefficient;
    } else if (v && v->name == f.column) {
      s.columns = coefficient;
    } else if (uses_variable(atom, f.row) || uses_variable(atom, f.column)) {
      return std::nullopt;
    } else {
      s.first.terms[atom] = coefficient;
    }
  }
  s.first.constant = sum.constant;
  for (const auto &[stride_of, start] :
       {std::pair(s.rows, f.first_row), std::pair(s.columns, f.first_column)}) {
    Expr e = start;
    for (auto l = lets.rbegin(); l != lets.rend(); ++l) e = substitute(l->first, l->second, e);
    s.first.add(to_linear(simplify(e)), stride_of);
  }
  return s;
}

bool is_multiple(const Linear &l, int64_t of) {
  for (const auto &[atom, coefficient] : l.terms) {
    if (coefficient % of != 0) return false;
  }
  return l.constant % of == 0;
}

}  // namespace

Stmt load_fragment(const InstructionOperand &operand, const std::string &to,
                   const FactorInMemory &factor, const Expr &lane,
                   const std::map<std::string, Stmt> &memory, const Lets &lets) {
  const CallNode *read = as_call(factor.value);
  if (!read || read->kind != CallKind::Func || operand.type.bits() != 16) return Stmt();
  const auto allocation = memory.find(read->name);
  if (allocation == memory.end()) return Stmt();
  const std::optional<Strides> at = strides_of(factor, allocation->second, lets);
  if (!at || (at->rows != 1 && at->columns != 1)) return Stmt();
  const Along along = at->columns == 1 ? Along::Columns : Along::Rows;
  const int64_t between_rows = along == Along::Columns ? at->rows : at->columns;
  constexpr int kElements = kMatrixRowBytes / 2;
  if (between_rows % kElements != 0 || !is_multiple(at->first, kElements)) return Stmt();
  const Fragment &f = operand.fragment;
  const Instruction *load = find_load(f, along);
  if (!load) return Stmt();
  // Lane 8*i + r gives row r of matrix i; bit b of i says where the matrix begins.
  Linear element = at->first;
  element.add(to_linear(make_binary(Op::Mod, lane, Expr(kMatrixRows))), between_rows);
  for (int b = 0; 2 << b < f.per_lane; b++) {
    const MatrixPlace begin = f.element_bits[static_cast<size_t>(b) + 1];
    const Expr bit =
        make_binary(Op::Mod, make_binary(Op::Div, lane, Expr(kMatrixRows << b)), Expr(2));
    element.add(to_linear(bit), begin.row * at->rows + begin.column * at->columns);
  }
  Linear wide = to_linear(make_cast(Int(64), simplify(to_expr(element))));
  return make_collective(load->name, {to, read->name}, {make_int(Int(64), 0), to_expr(wide)});
}

}  // namespace polyhalite
