#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

// Binding strengths: an operand that binds weaker than its place needs parentheses.
enum Level : int { kLet = 0, kOr, kAnd, kCompare, kSum, kProduct, kUnary, kPrimary };

int level_of(const Expr &e) {
  switch (e->op) {
    case Op::Let:
      return kLet;
    case Op::Or:
      return kOr;
    case Op::And:
      return kAnd;
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      return kCompare;
    case Op::Add:
    case Op::Sub:
      return kSum;
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
      return kProduct;
    case Op::Not:
      return kUnary;
    default:
      return kPrimary;
  }
}

const char *float_suffix(Type t) {
  if (t.code() == Type::BFloat) return "bf16";
  return t.bits() == 16 ? "f16" : t.bits() == 32 ? "f" : "";
}

uint64_t bits_of(double v) {
  uint64_t u;
  std::memcpy(&u, &v, sizeof u);
  return u;
}

class Printer {
 public:
  Printer(std::ostream &os, const std::set<std::string> *shadowed) : os_(os), shadowed_(shadowed) {}

  void print(const Expr &e, int level = kLet) {
    const bool parentheses = level_of(e) < level;
    if (parentheses) os_ << '(';
    print_bare(e);
    if (parentheses) os_ << ')';
  }

 private:
  void print_bare(const Expr &e) {
    switch (e->op) {
      case Op::IntImm:
      case Op::UIntImm:
        print_integer(e);
        break;
      case Op::FloatImm:
        print_float(e);
        break;
      case Op::StringImm:
        os_ << quote_string(as_imm(e)->s);
        break;
      case Op::Variable:
        print_variable(*as_variable(e));
        break;
      case Op::Cast:
        os_ << e->type.to_string();
        print_list(e->args);
        break;
      case Op::Reinterpret:
        os_ << "reinterpret<" << e->type.to_string() << '>';
        print_list(e->args);
        break;
      case Op::Min:
      case Op::Max:
      case Op::Select:
        os_ << op_name(e->op);
        print_list(e->args);
        break;
      case Op::Not:
        os_ << '!';
        print(e->args[0], kUnary);
        break;
      case Op::Call:
        print_call(e);
        break;
      case Op::Let:
        os_ << "let " << quote_name(as_let(e)->name) << " = ";
        print(e->args[0], kOr);
        os_ << " in ";
        print(e->args[1], kLet);
        break;
      case Op::Ramp:
        os_ << "ramp(";
        print(e->args[0]);
        os_ << ", ";
        print(e->args[1]);
        os_ << ", " << e->type.lanes() / e->args[0].type().lanes() << ')';
        break;
      case Op::Broadcast:
        os_ << "broadcast(";
        print(e->args[0]);
        os_ << ", " << e->type.lanes() / e->args[0].type().lanes() << ')';
        break;
      case Op::Load:
        os_ << quote_name(as_load(e)->buffer) << '[';
        print(e->args[0]);
        if (e->args.size() > 1) {
          os_ << " if ";
          print(e->args[1]);
        }
        os_ << ']';
        break;
      case Op::Shuffle:
        print_shuffle(e);
        break;
      default:
        print_operator(e);
        break;
    }
  }

  void print_operator(const Expr &e) {
    const int level = level_of(e);
    // Comparisons do not chain; the rest associates to the left.
    print(e->args[0], level == kCompare ? level + 1 : level);
    const bool tight = level == kProduct;
    os_ << (tight ? "" : " ") << op_name(e->op) << (tight ? "" : " ");
    print(e->args[1], level + 1);
  }

  void print_integer(const Expr &e) {
    const Type t = e->type;
    if (t.is_bool()) {
      os_ << (as_imm(e)->u ? "true" : "false");
    } else if (t.is_int()) {
      os_ << as_imm(e)->i;
      if (t.bits() != 32) os_ << 'i' << t.bits();
    } else {
      os_ << as_imm(e)->u << 'u' << t.bits();
    }
  }

  void print_float(const Expr &e) {
    const double v = as_imm(e)->f;
    const char *suffix = float_suffix(e->type);
    if (std::isnan(v)) {
      os_ << "nan" << suffix;
      if (bits_of(v) != bits_of(std::numeric_limits<double>::quiet_NaN())) {
        os_ << '(' << bits_of(v) << "u64)";
      }
      return;
    }
    if (std::isinf(v)) {
      os_ << (v < 0 ? "-inf" : "inf") << suffix;
      return;
    }
    char text[64];
    const auto end = e->type.bits() == 32
                         ? std::to_chars(text, text + sizeof text, static_cast<float>(v))
                         : std::to_chars(text, text + sizeof text, v);
    std::string s(text, end.ptr);
    if (s.find_first_of(".e") == std::string::npos) s += ".0";
    os_ << s << suffix;
  }

  void print_variable(const VariableNode &v) {
    if (v.kind == VariableKind::Param && shadowed_ && shadowed_->count(v.name)) os_ << "param ";
    os_ << quote_name(v.name);
  }

  void print_call(const Expr &e) {
    const CallNode &c = *as_call(e);
    if (c.kind == CallKind::Func || c.kind == CallKind::Image) {
      os_ << quote_name(c.name);
      print_list(c.args);
      if (c.value_index != 0) os_ << '.' << c.value_index;
      return;
    }
    const bool implied = !is_extern(c) && is_expression_word(c.name) &&
                         implied_call_type(c.kind, c.name, c.args) == c.type;
    if (implied) {
      os_ << c.name;
      print_list(c.args);
      return;
    }
    os_ << (c.kind == CallKind::Extern       ? "extern"
            : c.kind == CallKind::PureExtern ? "pure_extern"
            : c.kind == CallKind::Intrinsic  ? "intrinsic"
                                             : "math")
        << '<' << c.type.to_string() << ">(" << quote_name(c.name);
    for (const Expr &a : c.args) {
      os_ << ", ";
      print(a);
    }
    os_ << ')';
  }

  void print_shuffle(const Expr &e) {
    os_ << "shuffle({";
    print_items(e->args);
    os_ << "}, {";
    const char *separator = "";
    for (const int i : as_shuffle(e)->indices) {
      os_ << separator << i;
      separator = ", ";
    }
    os_ << "})";
  }

  void print_list(const std::vector<Expr> &items) {
    os_ << '(';
    print_items(items);
    os_ << ')';
  }

  void print_items(const std::vector<Expr> &items) {
    const char *separator = "";
    for (const Expr &a : items) {
      os_ << separator;
      print(a);
      separator = ", ";
    }
  }

  std::ostream &os_;
  const std::set<std::string> *shadowed_;
};

}  // namespace

void print_expr(std::ostream &os, const Expr &e, const std::set<std::string> *shadowed) {
  Printer(os, shadowed).print(e);
}

std::string to_text(const Expr &e) {
  std::ostringstream os;
  print_expr(os, e);
  return os.str();
}

Type implied_call_type(CallKind kind, const std::string &name, const std::vector<Expr> &args) {
  if (kind == CallKind::Intrinsic) {
    if (name == intrinsic::kBufferIsNull || name == intrinsic::kBufferHostIsNull ||
        name == intrinsic::kBufferDimIsNull || name == intrinsic::kBufferIsQuery ||
        name == intrinsic::kBufferDeviceDirty) {
      return Bool();
    }
    if (name == intrinsic::kBufferType) return UInt(32);
    if (name == intrinsic::kBufferDimensions) return Int(32);
  }
  if (args.empty()) return Type();
  const Type t = args[0].type();
  if (kind == CallKind::Intrinsic && (name == intrinsic::kAbs || name == intrinsic::kAbsd)) {
    return t.is_int() ? t.with_code(Type::UInt) : t;
  }
  return t;
}

}  // namespace polyhalite
