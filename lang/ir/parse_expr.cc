#include <cstring>
#include <limits>
#include <string>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

struct BinaryOperator {
  const char *text;
  Op op;
  int level;  // binding strength
};

constexpr int kCompareLevel = 2, kStrongestLevel = 4;
constexpr BinaryOperator kOperators[] = {
    {"||", Op::Or, 0}, {"&&", Op::And, 1}, {"==", Op::Eq, 2}, {"!=", Op::Ne, 2}, {"<=", Op::Le, 2},
    {">=", Op::Ge, 2}, {"<", Op::Lt, 2},   {">", Op::Gt, 2},  {"+", Op::Add, 3}, {"-", Op::Sub, 3},
    {"*", Op::Mul, 4}, {"/", Op::Div, 4},  {"%", Op::Mod, 4},
};

// Deeper texts are refused, so that a hostile one cannot exhaust the stack.
constexpr int kMaxDepth = 500;

bool is_math_name(const std::string &word) {
  for (const char *name : math::kNames) {
    if (word == name) return true;
  }
  return false;
}

// Operands that an intrinsic or math function takes.
size_t operand_count(const std::string &word) {
  for (const char *two :
       {intrinsic::kAbsd, intrinsic::kShiftLeft, intrinsic::kShiftRight, intrinsic::kBitwiseAnd,
        intrinsic::kBitwiseOr, intrinsic::kBitwiseXor, intrinsic::kSaturatingAdd,
        intrinsic::kSaturatingSub, intrinsic::kHalvingAdd, intrinsic::kHalvingSub,
        intrinsic::kRoundingHalvingAdd, intrinsic::kRoundingShiftLeft,
        intrinsic::kRoundingShiftRight, intrinsic::kDivRoundToZero, intrinsic::kModRoundToZero,
        "atan2", "pow", "fast_pow"}) {
    if (word == two) return 2;
  }
  for (const char *three : {intrinsic::kFma, intrinsic::kMulShiftRight,
                            intrinsic::kRoundingMulShiftRight, intrinsic::kPromiseClamped}) {
    if (word == three) return 3;
  }
  return 1;
}

void check_operands(const BinaryOperator &op, Type left, Type right, const SourceLocation &where) {
  if (left != right) {
    user_error("the operands of " + in_quotes(op.text) + " have types " + left.to_string() +
                   " and " + right.to_string(),
               "operators take two operands of one type",
               "cast one, as in " + left.to_string() + "(...)", where);
  }
  const bool logic = op.op == Op::And || op.op == Op::Or;
  if (logic && !left.element_of().is_bool()) {
    user_error(in_quotes(op.text) + " needs bool operands, not " + left.to_string(), "", "", where);
  }
}

}  // namespace

Expr ExprParser::parse() {
  if (++depth_ > kMaxDepth) tokens_.fail("the expression is nested too deeply to read");
  Expr e = tokens_.at("let") ? parse_let() : parse_binary(0);
  depth_--;
  return e;
}

std::vector<Expr> ExprParser::parse_list(const char *close) {
  std::vector<Expr> items;
  if (tokens_.accept(close)) return items;
  do {
    items.push_back(parse());
  } while (tokens_.accept(","));
  tokens_.expect(close, "after the operands");
  return items;
}

Expr ExprParser::parse_let() {
  tokens_.expect("let", "here");
  const std::string name = tokens_.expect_name("a name after 'let'");
  tokens_.expect("=", "after the name of a let");
  Expr value = parse();
  tokens_.expect("in", "after the value of a let");
  lets_.emplace_back(name, value.type());
  Expr body = parse();
  lets_.pop_back();
  return make_let(name, value, body);
}

// Operators that bind as strongly as `weakest` or stronger.
Expr ExprParser::parse_binary(int weakest) {
  Expr left = parse_unary();
  int strongest = kStrongestLevel;
  for (;;) {
    const BinaryOperator *found = nullptr;
    for (const BinaryOperator &candidate : kOperators) {
      if (tokens_.at(candidate.text)) found = &candidate;
    }
    if (!found || found->level < weakest || found->level > strongest) return left;
    const SourceLocation where = tokens_.where();
    tokens_.next();
    const Expr right = parse_binary(found->level + 1);
    check_operands(*found, left.type(), right.type(), where);
    left = make_binary(found->op, left, right);
    // Comparisons do not chain.
    if (found->level == kCompareLevel) strongest = kCompareLevel - 1;
  }
}

Expr ExprParser::parse_unary() {
  if (!tokens_.accept("!")) return parse_primary();
  if (++depth_ > kMaxDepth) tokens_.fail("the expression is nested too deeply to read");
  Expr e = parse_unary();
  depth_--;
  if (!e.type().element_of().is_bool()) {
    tokens_.fail_behind("'!' needs a bool operand, not " + e.type().to_string());
  }
  return make_not(e);
}

Expr ExprParser::parse_number(bool negative) {
  const Token t = tokens_.peek();
  if (t.kind == Token::Float) {
    tokens_.next();
    return make_float(t.type, negative ? -t.real : t.real);
  }
  const uint64_t limit = t.type.is_int()       ? (uint64_t{1} << (t.type.bits() - 1)) - !negative
                         : t.type.bits() == 64 ? ~uint64_t{0}
                                               : (uint64_t{1} << t.type.bits()) - 1;
  if (t.integer > limit || (negative && t.type.is_uint() && t.integer != 0)) {
    tokens_.fail("the number " + std::string(negative ? "-" : "") + t.text + " does not fit " +
                 t.type.to_string());
  }
  tokens_.next();
  const uint64_t value = negative ? 0 - t.integer : t.integer;
  return make_int(t.type, static_cast<int64_t>(value));
}

Expr ExprParser::parse_primary() {
  const Token t = tokens_.peek();
  switch (t.kind) {
    case Token::Int:
    case Token::Float:
      return parse_number(false);
    case Token::String:
      return make_string(tokens_.next().text);
    case Token::Name: {
      tokens_.next();
      if (!t.quoted && is_expression_word(t.text)) return parse_word(t.text);
      return parse_call(t.text);
    }
    default:
      break;
  }
  if (tokens_.accept("(")) {
    Expr e = parse();
    tokens_.expect(")", "to close '('");
    return e;
  }
  if (tokens_.at("-")) {
    const Token &number = tokens_.peek(1);
    if (number.kind == Token::Int || number.kind == Token::Float) {
      tokens_.next();
      return parse_number(true);
    }
    if (number.kind == Token::Name && number.text.rfind("inf", 0) == 0) {
      tokens_.next();
      Expr e = parse_word(tokens_.next().text);
      return make_float(e.type(), -std::numeric_limits<double>::infinity());
    }
    tokens_.fail("'-' stands before something that is no number", "",
                 "write 0 - x for the negative of an expression");
  }
  tokens_.fail("expected an expression, found " + tokens_.describe_next());
}

Type ExprParser::parse_type_argument(const char *word) {
  tokens_.expect("<", (std::string("after ") + word).c_str());
  const Type t = parse_type(tokens_.peek().text);
  if (t.bits() == 0) tokens_.fail("expected a type, found " + tokens_.describe_next());
  tokens_.next();
  tokens_.expect(">", "after the type");
  tokens_.expect("(", "after the type");
  return t;
}

std::vector<Expr> ExprParser::parse_arguments(size_t count, const std::string &word) {
  tokens_.expect("(", ("after " + in_quotes(word)).c_str());
  std::vector<Expr> args = parse_list(")");
  if (args.size() != count) {
    tokens_.fail_behind(in_quotes(word) + " takes " + std::to_string(count) + " operands, not " +
                        std::to_string(args.size()));
  }
  return args;
}

Expr ExprParser::parse_typed_call(CallKind kind) {
  const Type t = parse_type_argument("the kind of call");
  const std::string name = tokens_.expect_name("the name of the function");
  std::vector<Expr> args;
  if (tokens_.accept(",")) {
    args = parse_list(")");
  } else {
    tokens_.expect(")", "after the name of the function");
  }
  return Expr(std::make_shared<CallNode>(t, kind, name, std::move(args)));
}

Expr ExprParser::parse_shuffle() {
  tokens_.expect("(", "after 'shuffle'");
  tokens_.expect("{", "before the vectors of a shuffle");
  std::vector<Expr> parts = parse_list("}");
  tokens_.expect(",", "after the vectors of a shuffle");
  tokens_.expect("{", "before the lanes of a shuffle");
  std::vector<int> lanes;
  int available = 0;
  if (parts.empty()) tokens_.fail_behind("a shuffle needs a vector to pick from");
  for (const Expr &p : parts) {
    available += p.type().lanes();
    if (p.type().element_of() != parts[0].type().element_of()) {
      tokens_.fail_behind("the vectors of a shuffle differ in type");
    }
  }
  do {
    const int64_t lane = tokens_.expect_integer("a lane");
    if (lane < 0 || lane >= available) {
      tokens_.fail_behind("a shuffle picks lane " + std::to_string(lane) + " of " +
                          std::to_string(available));
    }
    lanes.push_back(static_cast<int>(lane));
  } while (tokens_.accept(","));
  tokens_.expect("}", "after the lanes of a shuffle");
  tokens_.expect(")", "to close 'shuffle('");
  return Expr(std::make_shared<ShuffleNode>(std::move(parts), std::move(lanes)));
}

// Words of the grammar; `word` has been read.
Expr ExprParser::parse_word(const std::string &word) {
  if (word == "true" || word == "false") return Expr(word == "true");
  const Type type = parse_type(word);
  if (type.bits() != 0) {
    Expr a = parse_arguments(1, word)[0];
    if (a.type().lanes() != type.lanes()) {
      tokens_.fail_behind("a cast to " + word + " of a value with type " + a.type().to_string(),
                          "a cast keeps the number of lanes");
    }
    if (a.type() == type) return Expr(std::make_shared<ExprNode>(Op::Cast, type, std::vector{a}));
    return make_cast(type, a);
  }
  if (word.rfind("inf", 0) == 0 || word.rfind("nan", 0) == 0) {
    const std::string suffix = word.substr(3);
    const Type t = suffix.empty()    ? Float(64)
                   : suffix == "f"   ? Float(32)
                   : suffix == "f16" ? Float(16)
                                     : Type(Type::BFloat, 16);
    if (word[0] == 'i') return make_float(t, std::numeric_limits<double>::infinity());
    double value = std::numeric_limits<double>::quiet_NaN();
    if (tokens_.accept("(")) {
      const int64_t bits = tokens_.expect_integer("the bits of a nan");
      std::memcpy(&value, &bits, sizeof value);
      tokens_.expect(")", "after the bits of a nan");
    }
    return make_float(t, value);
  }
  if (word == "min" || word == "max") {
    const std::vector<Expr> a = parse_arguments(2, word);
    if (a[0].type() != a[1].type()) {
      tokens_.fail_behind("the operands of " + in_quotes(word) + " have types " +
                          a[0].type().to_string() + " and " + a[1].type().to_string());
    }
    return make_binary(word == "min" ? Op::Min : Op::Max, a[0], a[1]);
  }
  if (word == "select") {
    const std::vector<Expr> a = parse_arguments(3, word);
    if (!a[0].type().element_of().is_bool() || a[1].type() != a[2].type()) {
      tokens_.fail_behind("select of (" + a[0].type().to_string() + ", " + a[1].type().to_string() +
                              ", " + a[2].type().to_string() + ")",
                          "it takes a bool and two values of one type");
    }
    return make_select(a[0], a[1], a[2]);
  }
  if (word == "let") {
    tokens_.fail_behind("a let inside an operand needs parentheses around it");
  }
  if (word == "ramp" || word == "broadcast") {
    const size_t values = word == "ramp" ? 2 : 1;
    const std::vector<Expr> a = parse_arguments(values + 1, word);
    int64_t lanes = 0;
    if (!is_const_int(a[values], &lanes) || lanes < 1 || lanes > 65535) {
      tokens_.fail_behind("the lanes of " + in_quotes(word) + " are no constant of at least 1");
    }
    if (values == 1) return make_broadcast(a[0], static_cast<int>(lanes));
    if (a[0].type() != a[1].type()) {
      tokens_.fail_behind("base and stride of a ramp have types " + a[0].type().to_string() +
                          " and " + a[1].type().to_string());
    }
    return make_ramp(a[0], a[1], static_cast<int>(lanes));
  }
  if (word == "shuffle") return parse_shuffle();
  if (word == "reinterpret") {
    const Type t = parse_type_argument("'reinterpret'");
    std::vector<Expr> a = parse_list(")");
    if (a.size() != 1 || a[0].type().bits() * a[0].type().lanes() != t.bits() * t.lanes()) {
      tokens_.fail_behind("reinterpret<" + t.to_string() + "> takes one value of as many bits");
    }
    return make_reinterpret(t, a[0]);
  }
  if (word == "extern") return parse_typed_call(CallKind::Extern);
  if (word == "pure_extern") return parse_typed_call(CallKind::PureExtern);
  if (word == "intrinsic") return parse_typed_call(CallKind::Intrinsic);
  if (word == "math") return parse_typed_call(CallKind::Math);
  if (word == "param") {
    const std::string name = tokens_.expect_name("a parameter after 'param'");
    Expr e = names_.param ? names_.param(name) : Expr();
    if (!e.defined()) tokens_.fail_behind("unknown parameter " + in_quotes(name));
    return e;
  }
  if (word == "over" || word == "where") {
    tokens_.fail_behind("expected an expression, found " + in_quotes(word));
  }
  const CallKind kind = is_math_name(word) ? CallKind::Math : CallKind::Intrinsic;
  std::vector<Expr> args = parse_arguments(operand_count(word), word);
  const Type t = implied_call_type(kind, word, args);
  return Expr(std::make_shared<CallNode>(t, kind, word, std::move(args)));
}

// A name: a variable, or what a bracket makes of it; `name` has been read.
Expr ExprParser::parse_call(const std::string &name) {
  if (tokens_.accept("[")) {
    const Type element = names_.buffer ? names_.buffer(name) : Type();
    if (element.bits() == 0) tokens_.fail_behind("unknown buffer " + in_quotes(name));
    Expr index = parse();
    if (!index.type().is_int_or_uint()) {
      tokens_.fail_behind("the index of a load has type " + index.type().to_string());
    }
    Expr mask;
    if (tokens_.accept("if")) {
      mask = parse();
      if (mask.type() != Bool(index.type().lanes())) {
        tokens_.fail_behind("the mask of a load has type " + mask.type().to_string() + ", not " +
                            Bool(index.type().lanes()).to_string());
      }
    }
    tokens_.expect("]", "after the index of a load");
    return make_load(element.with_lanes(index.type().lanes()), name, index, mask);
  }
  if (!tokens_.at("(")) {
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) {
      if (let->first == name) return make_variable(let->second, VariableKind::Symbol, name);
    }
    Expr e = names_.variable ? names_.variable(name) : Expr();
    if (!e.defined()) tokens_.fail_behind("unknown name " + in_quotes(name));
    return e;
  }
  tokens_.next();
  std::vector<Expr> args = parse_list(")");
  int64_t value_index = 0;
  if (tokens_.accept(".")) value_index = tokens_.expect_integer("the number of a value");
  Expr e = names_.call ? names_.call(name, std::move(args), static_cast<int>(value_index)) : Expr();
  if (!e.defined()) tokens_.fail_behind("unknown function " + in_quotes(name));
  return e;
}

Expr parse_expr(const std::string &text, const NameResolver &names, const std::string &source) {
  TokenStream tokens(text, source);
  Expr e = ExprParser(tokens, names).parse();
  if (!tokens.at_end()) tokens.fail("expected the end, found " + tokens.describe_next());
  return e;
}

}  // namespace polyhalite
