// The printed form of expressions, and its parser: parse(print(e)) is equal to e wherever the names
// mean the same.
//
//   x*3 + uint8(y)          operators with C's precedence, comparisons never chained
//   f(x, y)  f(x).1         a call of a Func or an image; value 1 of a Func with several
//   abs(x)  sqrt(x)         intrinsics and math functions; intrinsic<T>(name, x...) and
//                           math<T>(name, x...) where the type does not follow from the operands
//   extern<int32>(name, x)  a function of the user
//   reinterpret<uint32>(x)  let t = x in t*t
//   ramp(b, s, 8)  broadcast(x, 8)  shuffle({a, b}, {0, 9})
//   buf[i]  buf[i if mask]  a load
//   param n                 a scalar parameter where a variable has its name
#pragma once

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/lexer.h"
#include "lang/ir/node.h"

namespace polyhalite {

/// Prints on one line. Parameters named in `shadowed` get the word "param".
void print_expr(std::ostream &os, const Expr &e, const std::set<std::string> *shadowed = nullptr);
std::string to_text(const Expr &e);

/// What names mean to a parser. An undefined Expr, or a Type of no bits, says "unknown".
struct NameResolver {
  std::function<Expr(const std::string &name)> variable;
  std::function<Expr(const std::string &name)> param;  // of "param NAME"
  /// name(args).value_index: a Func or an image. Unset: no calls are known.
  std::function<Expr(const std::string &name, std::vector<Expr> args, int value_index)> call;
  /// The element type of a buffer that loads name. Unset: no loads are known.
  std::function<Type(const std::string &name)> buffer;
};

/// Parses expressions from a stream that others parse too.
class ExprParser {
 public:
  ExprParser(TokenStream &tokens, NameResolver names) : tokens_(tokens), names_(std::move(names)) {}
  /// One expression; the stream stands behind it afterwards.
  Expr parse();
  /// e, e, ... up to and with `close`, whose opening has been read.
  std::vector<Expr> parse_list(const char *close);

 private:
  Expr parse_binary(int weakest);
  Expr parse_unary();
  Expr parse_primary();
  Expr parse_number(bool negative);
  Expr parse_let();
  Expr parse_word(const std::string &word);
  Expr parse_call(const std::string &name);
  Expr parse_typed_call(CallKind kind);
  Expr parse_shuffle();
  Type parse_type_argument(const char *word);
  std::vector<Expr> parse_arguments(size_t count, const std::string &word);

  TokenStream &tokens_;
  NameResolver names_;
  std::vector<std::pair<std::string, Type>> lets_;
  int depth_ = 0;
};

/// A whole text that is one expression. Throws CompileError at SOURCE:LINE.
Expr parse_expr(const std::string &text, const NameResolver &names,
                const std::string &source = "expression");

/// The type of an intrinsic or math call as its operands imply it; no bits where they do not.
Type implied_call_type(CallKind kind, const std::string &name, const std::vector<Expr> &args);

}  // namespace polyhalite
