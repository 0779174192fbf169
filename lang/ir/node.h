// The nodes behind Expr. One uniform shape (op, type, operands) plus a payload for a few ops, so
// that walking and rewriting need no case per node.
//
// Grammar (e: expression, T: type)
//   e ::= int | float | "text"                       constants
//       | name                                       Variable, see VariableKind
//       | T(e) | reinterpret T(e)                    Cast, Reinterpret
//       | e + e | - | * | / | % | min | max          same-typed arithmetic; / and % round to floor
//                                                    (remainder in [0,|b|)), and give 0 for b = 0
//       | e == e | != | < | <= | > | >=              same-typed comparison, result Bool(lanes)
//       | e && e | e || e | !e                       on Bool
//       | select(c, a, b)
//       | name(e, ...)                               Call, see CallKind
//       | let name = e in e
//   loop IR only:
//       | ramp(base, stride, lanes) | broadcast(e, lanes)
//       | name[index] if mask                        Load from flat storage
//       | shuffle(e..., indices)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "polyhalite/expr.h"

namespace polyhalite {

enum class Op : uint8_t {
  IntImm,
  UIntImm,
  FloatImm,
  StringImm,
  Variable,
  Cast,
  Reinterpret,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Not,
  Select,
  Call,
  Let,
  Ramp,
  Broadcast,
  Load,
  Shuffle,
};

struct ExprNode {
  Op op;
  Type type;
  std::vector<Expr> args;  // operands, in the order of the grammar above
  int depth = 0;           // of the tree below

  /// CompileError for a tree so deep that walking it would exhaust the stack.
  ExprNode(Op op, Type type, std::vector<Expr> args = {})
      : op(op), type(type), args(std::move(args)) {
    measure_depth();
  }
  /// To be called where `args` change after construction.
  void measure_depth();
  virtual ~ExprNode() = default;
};

/// IntImm (value sign-extended), UIntImm (bits in `u`), FloatImm, StringImm.
struct ImmNode : ExprNode {
  int64_t i = 0;
  uint64_t u = 0;
  double f = 0;
  std::string s;
  using ExprNode::ExprNode;
};

enum class VariableKind : uint8_t {
  Pure,         // a Var of an algorithm: identified by name
  Reduction,    // an RVar: identified by name; `domain` says its range
  Param,        // a scalar Param: identified by `param`
  BufferField,  // min, extent or stride of an image's dimension: `param` or a buffer's name,
                // name "NAME.min.0", "NAME.extent.0", "NAME.stride.0"
  Symbol,       // bound by Let or LetStmt, or by the survey; identified by name
  Loop,         // a loop's counter, identified by name (unique in a pipeline)
};

struct ReductionDomain;
struct ParameterContents;
struct FunctionContents;
struct BufferContents;

struct VariableNode : ExprNode {
  VariableKind kind;
  std::string name;
  std::shared_ptr<const ReductionDomain> domain;  // Reduction, before the freeze; else null
  std::shared_ptr<ParameterContents> param;       // Param, BufferField of a parameter
  std::shared_ptr<BufferContents> image;          // BufferField of a constant Buffer
  VariableNode(Type t, VariableKind kind, std::string name)
      : ExprNode(Op::Variable, t), kind(kind), name(std::move(name)) {}
};

enum class CallKind : uint8_t {
  Func,        // value `value_index` of a Func at args
  Image,       // an ImageParam (`param`) or a constant Buffer (`image`) at args
  Intrinsic,   // meaning fixed by this library, listed in intrinsics.h
  Math,        // a pure C math function by its plain name, typed by its arguments: "sqrt", "exp"...
  Extern,      // a C function of the user
  PureExtern,  // one whose results depend on its arguments alone, and that does nothing else
};

struct CallNode : ExprNode {
  CallKind kind;
  std::string name;
  int value_index = 0;
  // Func, before the freeze. Null for a call of a Func inside its own updates (no cycles of
  // ownership), and everywhere after the freeze, where names are unique.
  std::shared_ptr<FunctionContents> func;
  std::shared_ptr<ParameterContents> param;
  std::shared_ptr<BufferContents> image;
  CallNode(Type t, CallKind kind, std::string name, std::vector<Expr> args)
      : ExprNode(Op::Call, t, std::move(args)), kind(kind), name(std::move(name)) {}
};

/// args = {value, body}; binds the Symbol `name`.
struct LetNode : ExprNode {
  std::string name;
  LetNode(std::string name, Expr value, Expr body);
};

/// args = {index} or {index, mask}; `index` counts elements of `type.element_of()`.
struct LoadNode : ExprNode {
  std::string buffer;
  std::shared_ptr<BufferContents> image;  // a constant Buffer, else null
  LoadNode(Type t, std::string buffer, Expr index, Expr mask = {});
};

/// args are concatenated and lanes picked by `indices`.
struct ShuffleNode : ExprNode {
  std::vector<int> indices;
  ShuffleNode(std::vector<Expr> args, std::vector<int> indices);
};

// -- Making nodes. These check types by internal_check: the front end has matched them before.

Expr make_int(Type t, int64_t value);  // IntImm, UIntImm or FloatImm by t; broadcast if vector
Expr make_float(Type t, double value);
/// The float of type t that is nearest to value; 16-bit floats by way of float32.
double round_to(Type t, double value);
Expr make_string(std::string text);
Expr make_true(int lanes = 1);
Expr make_false(int lanes = 1);
Expr make_zero(Type t);
Expr make_one(Type t);
Expr make_variable(Type t, VariableKind kind, std::string name);
Expr pure_variable(std::string name);  // of Int(32), as all that count
Expr reduction_variable(std::string name);
Expr make_binary(Op op, Expr a, Expr b);  // Add..Max, Eq..Ge, And, Or: result type by op
Expr make_not(Expr a);
Expr make_select(Expr condition, Expr a, Expr b);
Expr make_cast(Type t, Expr a);  // a itself where the type is the same already
Expr make_reinterpret(Type t, Expr a);
Expr make_let(std::string name, Expr value, Expr body);
Expr make_intrinsic(Type t, std::string name, std::vector<Expr> args);
Expr make_math(Type t, std::string name, std::vector<Expr> args);
Expr make_func_call(Type t, std::string name, std::vector<Expr> args, int value_index = 0);
/// All values of a Func at a point.
std::vector<Expr> make_func_calls(const std::vector<Type> &types, const std::string &name,
                                  const std::vector<Expr> &args);
Expr make_ramp(Expr base, Expr stride, int lanes);
Expr make_broadcast(Expr value, int lanes);
Expr make_load(Type t, std::string buffer, Expr index, Expr mask = {});
/// A copy of `e` with other operands (type recomputed by the caller where it changes).
Expr with_args(const Expr &e, std::vector<Expr> args);

// -- Asking. Each `as_x` returns null where e is no x.

const ImmNode *as_imm(const Expr &e);
const VariableNode *as_variable(const Expr &e);
const CallNode *as_call(const Expr &e);
const CallNode *as_intrinsic(const Expr &e, const char *name);
/// Is c a C function of the user, pure or not?
bool is_extern(const CallNode &c);
/// What an intrinsic that only says something about a value, or acts beside it (likely, print,
/// require...), has as its value; undefined for any other expression.
Expr wrapped_value(const Expr &e);
/// Is evaluating the call more than its value: does it print, fail, report, or call the user's
/// code?
bool acts(const CallNode &c);
const LetNode *as_let(const Expr &e);
const LoadNode *as_load(const Expr &e);
const ShuffleNode *as_shuffle(const Expr &e);
/// The value of an integer constant (scalar or broadcast), if e is one.
bool is_const_int(const Expr &e, int64_t *value = nullptr);
bool is_const_float(const Expr &e, double *value = nullptr);
bool is_const(const Expr &e);
bool is_zero(const Expr &e);
bool is_one(const Expr &e);
bool is_true(const Expr &e);
bool is_false(const Expr &e);
bool is_comparison(Op op);
bool is_binary(Op op);
/// "+", "min", "<=" ...
const char *op_name(Op op);

/// Structural equality: same tree, same names, same payload.
bool equal(const Expr &a, const Expr &b);
/// A total order consistent with equal(), the same in every run.
int compare(const Expr &a, const Expr &b);
uint64_t structural_hash(const Expr &e);

}  // namespace polyhalite
