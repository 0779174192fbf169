// One function as C++ text. Each node of an expression becomes a constant of its own, in front of
// the statement that uses it, so that the order of effects is that of the loop IR.
//
//   out[int64(x)] = in[int64(x)]*2u8   ->   const uint8_t t0 = ((const uint8_t
//   *)in_buffer->host)[x];
//                                           const uint8_t t1 = uint8_t(uint32_t(t0) * uint32_t(2));
//                                           ((uint8_t *)out_buffer->host)[x] = t1;
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/c_source/c_source.h"

namespace polyhalite {

class CWriter {
 public:
  CWriter(const Function &f, const Filter &filter);

  /// The body of the function.
  std::string write();
  /// Of the C functions that it calls, after write().
  std::string declarations() const;

 private:
  // -- Statements (c_stmt.cc)
  void stmt(const Stmt &s);
  void block(const Stmt &s);
  void loop(const StmtNode &s);
  void allocate(const StmtNode &s);
  void store(const StmtNode &s);
  void fork(const StmtNode &s);
  void memoize(const StmtNode &s);
  void atomic(const StmtNode &s);
  /// BODY as a closure NAME of no arguments, or of an Int(32).
  void closure(const std::string &name, const std::string &counter, const Stmt &body);

  // -- Expressions (c_expr.cc): the text of a value, which has no effects and may stand anywhere
  std::string value(const Expr &e);
  std::string made(const Expr &e);
  std::string literal(const ImmNode &imm);
  std::string variable(const VariableNode &v);
  std::string cast(const Expr &e);
  std::string arithmetic(const Expr &e);
  std::string load(const LoadNode &l);
  std::string math(const CallNode &call);
  std::string let(const LetNode &l);

  // -- Calls (c_call.cc)
  std::string intrinsic_call(const CallNode &call);
  std::string extern_call(const CallNode &call);
  std::string c_function(const std::string &name, const std::vector<std::string> &args,
                         const std::vector<std::string> &types, const char *error,
                         const std::string &culprit);
  std::string c_argument(const Expr &e, std::string *type);
  std::string buffer(const std::string &host, const std::string &type,
                     const std::vector<std::array<std::string, 3>> &dims);
  std::string extern_bounds(const CallNode &call);
  std::string print_items(const CallNode &call, size_t first);
  std::string trace(const CallNode &call);
  std::string trace_access(const CallNode &call);
  std::string buffer_fact(const CallNode &call);

  // -- Text
  void line(const std::string &text) { out_ += std::string(2 * indent_, ' ') + text + "\n"; }
  void open(const std::string &text) {
    line(text);
    indent_++;
  }
  void close(const std::string &text = "}") {
    indent_--;
    line(text);
  }
  /// A constant of its own; its name.
  std::string keep(const std::string &type, const std::string &text);
  std::string fresh(const std::string &what);
  /// An identifier for a name of the loop IR, from here to the scope's end.
  std::string bind(const std::string &name);
  void push() { scopes_.emplace_back(); }
  void pop();
  /// Where the elements of a buffer begin, as a pointer to T.
  std::string elements(const std::string &buffer, Type t, bool is_const);
  std::string element(const std::string &buffer, Type t, const Expr &index);

  struct Scope {
    std::unordered_map<const ExprNode *, std::string> values;
    std::map<std::string, std::string> hidden;  // names bound here: what they were before, or ""
  };
  const Function &function_;
  const Filter &filter_;
  std::string out_;
  size_t indent_ = 1;
  int count_ = 0;
  std::vector<Scope> scopes_;
  std::map<std::string, std::string> names_;      // of variables and allocations
  std::map<std::string, std::string> arguments_;  // buffer arguments: the parameter's name
  std::map<std::string, std::string> declared_;   // C functions of the program: their declarations
  std::vector<Expr> kept_;                        // keys of what is remembered
};

/// "uint8_t": of a value. 16-bit floats are their bits.
std::string c_value_type(Type t);
/// Of an element: bool takes a byte, a handle 64 bits.
std::string c_element_type(Type t);
std::string c_string(const std::string &text);

}  // namespace polyhalite
