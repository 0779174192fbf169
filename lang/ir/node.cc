#include "lang/ir/node.h"

#include <cstring>
#include <functional>
#include <unordered_map>

#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

template <typename Node>
Expr wrap(std::shared_ptr<Node> n) {
  return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
}

Expr plain(Op op, Type t, std::vector<Expr> args) {
  return wrap(std::make_shared<ExprNode>(op, t, std::move(args)));
}

// Keeps the low `bits` of x, sign-extended.
int64_t wrap_signed(int64_t x, int bits) {
  if (bits >= 64) return x;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t u = static_cast<uint64_t>(x) & mask;
  if (u >> (bits - 1)) u |= ~mask;
  return static_cast<int64_t>(u);
}

uint64_t wrap_unsigned(uint64_t x, int bits) {
  return bits >= 64 ? x : x & ((uint64_t{1} << bits) - 1);
}

Expr int_imm(Type t, int64_t v) {
  auto n = std::make_shared<ImmNode>(Op::IntImm, t);
  n->i = wrap_signed(v, t.bits());
  return wrap(n);
}

Expr uint_imm(Type t, uint64_t v) {
  auto n = std::make_shared<ImmNode>(Op::UIntImm, t);
  n->u = wrap_unsigned(v, t.bits());
  return wrap(n);
}

}  // namespace

void ExprNode::measure_depth() {
  // Passes and destructors recurse; threads have stacks of 8 MiB, and sanitizers triple frames.
  constexpr int kMaxDepth = 4000;
  depth = 0;
  for (const Expr &a : args) {
    if (a.defined() && a->depth >= depth) depth = a->depth + 1;
  }
  if (depth <= kMaxDepth) return;
  user_error("an expression of more than " + std::to_string(kMaxDepth) + " levels",
             "each operation on top of another is a level, and so is the body of an inlined Func",
             "compute a part of it in a Func of its own with compute_root(), or use an RDom for a "
             "long sum");
}

LetNode::LetNode(std::string name, Expr value, Expr body)
    : ExprNode(Op::Let, body.type(), {value, body}), name(std::move(name)) {}

LoadNode::LoadNode(Type t, std::string buffer, Expr index, Expr mask)
    : ExprNode(Op::Load, t, {index}), buffer(std::move(buffer)) {
  if (mask.defined()) args.push_back(std::move(mask));
  measure_depth();
}

ShuffleNode::ShuffleNode(std::vector<Expr> parts, std::vector<int> picks)
    : ExprNode(Op::Shuffle, parts[0].type().with_lanes(static_cast<int>(picks.size())), parts),
      indices(std::move(picks)) {}

Type Expr::type() const {
  internal_check(defined(), "type() of an undefined Expr");
  return node_->type;
}

Expr::Expr(bool x) : Expr(uint_imm(Bool(), x)) {}
Expr::Expr(int8_t x) : Expr(int_imm(Int(8), x)) {}
Expr::Expr(int16_t x) : Expr(int_imm(Int(16), x)) {}
Expr::Expr(int32_t x) : Expr(int_imm(Int(32), x)) {}
Expr::Expr(int64_t x) : Expr(int_imm(Int(64), x)) {}
Expr::Expr(uint8_t x) : Expr(uint_imm(UInt(8), x)) {}
Expr::Expr(uint16_t x) : Expr(uint_imm(UInt(16), x)) {}
Expr::Expr(uint32_t x) : Expr(uint_imm(UInt(32), x)) {}
Expr::Expr(uint64_t x) : Expr(uint_imm(UInt(64), x)) {}
Expr::Expr(float16_t x) : Expr(make_float(Float(16), static_cast<float>(x))) {}
Expr::Expr(bfloat16_t x) : Expr(make_float(BFloat(16), static_cast<float>(x))) {}
Expr::Expr(float x) : Expr(make_float(Float(32), x)) {}
Expr::Expr(double x) : Expr(make_float(Float(64), x)) {}
Expr::Expr(const std::string &text) : Expr(make_string(text)) {}

Expr make_int(Type t, int64_t value) {
  const Type e = t.element_of();
  Expr r = e.is_int()     ? int_imm(e, value)
           : e.is_float() ? make_float(e, static_cast<double>(value))
                          : uint_imm(e, static_cast<uint64_t>(value));
  return t.is_vector() ? make_broadcast(r, t.lanes()) : r;
}

double round_to(Type t, double value) {
  if (t.bits() == 64) return value;
  const auto single = static_cast<float>(value);
  if (t.bits() == 32) return static_cast<double>(single);
  return t.is_bfloat() ? static_cast<double>(bfloat16_t(single))
                       : static_cast<double>(float16_t(single));
}

Expr make_float(Type t, double value) {
  auto n = std::make_shared<ImmNode>(Op::FloatImm, t.element_of());
  n->f = round_to(t, value);
  return t.is_vector() ? make_broadcast(wrap(n), t.lanes()) : wrap(n);
}

Expr make_string(std::string text) {
  auto n = std::make_shared<ImmNode>(Op::StringImm, Handle());
  n->s = std::move(text);
  return wrap(n);
}

Expr make_true(int lanes) { return make_int(Bool(lanes), 1); }
Expr make_false(int lanes) { return make_int(Bool(lanes), 0); }
Expr make_zero(Type t) { return make_int(t, 0); }
Expr make_one(Type t) { return make_int(t, 1); }

Expr make_variable(Type t, VariableKind kind, std::string name) {
  return wrap(std::make_shared<VariableNode>(t, kind, std::move(name)));
}

Expr pure_variable(std::string name) {
  return make_variable(Int(32), VariableKind::Pure, std::move(name));
}

Expr reduction_variable(std::string name) {
  return make_variable(Int(32), VariableKind::Reduction, std::move(name));
}

Expr make_binary(Op op, Expr a, Expr b) {
  internal_check(is_binary(op), "make_binary: not a binary operator");
  internal_check(a.type() == b.type(), "make_binary: operand types differ");
  const bool logic = op == Op::And || op == Op::Or;
  internal_check(!logic || a.type().element_of().is_bool(), "make_binary: && and || need Bool");
  const Type t = is_comparison(op) ? Bool(a.type().lanes()) : a.type();
  return plain(op, t, {std::move(a), std::move(b)});
}

Expr make_not(Expr a) {
  internal_check(a.type().element_of().is_bool(), "make_not: needs Bool");
  const Type t = a.type();
  return plain(Op::Not, t, {std::move(a)});
}

Expr make_select(Expr condition, Expr a, Expr b) {
  internal_check(a.type() == b.type(), "make_select: types differ");
  internal_check(condition.type().element_of().is_bool(), "make_select: condition is not Bool");
  const Type t = a.type();
  return plain(Op::Select, t, {std::move(condition), std::move(a), std::move(b)});
}

Expr make_cast(Type t, Expr a) {
  if (a.type() == t) return a;
  internal_check(a.type().lanes() == t.lanes(), "make_cast: lanes differ");
  return plain(Op::Cast, t, {std::move(a)});
}

Expr make_reinterpret(Type t, Expr a) {
  if (a.type() == t) return a;
  return plain(Op::Reinterpret, t, {std::move(a)});
}

Expr make_let(std::string name, Expr value, Expr body) {
  return wrap(std::make_shared<LetNode>(std::move(name), std::move(value), std::move(body)));
}

Expr make_intrinsic(Type t, std::string name, std::vector<Expr> args) {
  return wrap(std::make_shared<CallNode>(t, CallKind::Intrinsic, std::move(name), std::move(args)));
}

Expr make_math(Type t, std::string name, std::vector<Expr> args) {
  return wrap(std::make_shared<CallNode>(t, CallKind::Math, std::move(name), std::move(args)));
}

Expr make_func_call(Type t, std::string name, std::vector<Expr> args, int value_index) {
  auto n = std::make_shared<CallNode>(t, CallKind::Func, std::move(name), std::move(args));
  n->value_index = value_index;
  return wrap(n);
}

std::vector<Expr> make_func_calls(const std::vector<Type> &types, const std::string &name,
                                  const std::vector<Expr> &args) {
  std::vector<Expr> values;
  for (const Type &t : types) {
    values.push_back(make_func_call(t, name, args, static_cast<int>(values.size())));
  }
  return values;
}

Expr make_ramp(Expr base, Expr stride, int lanes) {
  internal_check(base.type() == stride.type(), "make_ramp: types differ");
  const Type t = base.type().with_lanes(base.type().lanes() * lanes);
  return plain(Op::Ramp, t, {std::move(base), std::move(stride)});
}

Expr make_broadcast(Expr value, int lanes) {
  const Type t = value.type().with_lanes(value.type().lanes() * lanes);
  return plain(Op::Broadcast, t, {std::move(value)});
}

Expr make_load(Type t, std::string buffer, Expr index, Expr mask) {
  return wrap(std::make_shared<LoadNode>(t, std::move(buffer), std::move(index), std::move(mask)));
}

Expr with_args(const Expr &e, std::vector<Expr> args) {
  switch (e->op) {
    case Op::Call: {
      auto n = std::make_shared<CallNode>(static_cast<const CallNode &>(*e));
      n->args = std::move(args);
      n->measure_depth();
      return wrap(n);
    }
    case Op::Let: {
      auto n = std::make_shared<LetNode>(static_cast<const LetNode &>(*e));
      n->args = std::move(args);
      n->type = n->args[1].type();
      n->measure_depth();
      return wrap(n);
    }
    case Op::Load: {
      auto n = std::make_shared<LoadNode>(static_cast<const LoadNode &>(*e));
      n->args = std::move(args);
      n->measure_depth();
      return wrap(n);
    }
    case Op::Shuffle:
      return wrap(std::make_shared<ShuffleNode>(std::move(args),
                                                static_cast<const ShuffleNode &>(*e).indices));
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
    case Op::StringImm:
    case Op::Variable:
      return e;
    default:
      return plain(e->op, e->type, std::move(args));
  }
}

const ImmNode *as_imm(const Expr &e) {
  return e.defined() && e->op <= Op::StringImm ? static_cast<const ImmNode *>(e.get()) : nullptr;
}
const VariableNode *as_variable(const Expr &e) {
  return e.defined() && e->op == Op::Variable ? static_cast<const VariableNode *>(e.get())
                                              : nullptr;
}
const CallNode *as_call(const Expr &e) {
  return e.defined() && e->op == Op::Call ? static_cast<const CallNode *>(e.get()) : nullptr;
}
bool is_extern(const CallNode &c) {
  return c.kind == CallKind::Extern || c.kind == CallKind::PureExtern;
}

const CallNode *as_intrinsic(const Expr &e, const char *name) {
  const CallNode *c = as_call(e);
  return c && c->kind == CallKind::Intrinsic && c->name == name ? c : nullptr;
}
const LetNode *as_let(const Expr &e) {
  return e.defined() && e->op == Op::Let ? static_cast<const LetNode *>(e.get()) : nullptr;
}
const LoadNode *as_load(const Expr &e) {
  return e.defined() && e->op == Op::Load ? static_cast<const LoadNode *>(e.get()) : nullptr;
}
const ShuffleNode *as_shuffle(const Expr &e) {
  return e.defined() && e->op == Op::Shuffle ? static_cast<const ShuffleNode *>(e.get()) : nullptr;
}

bool is_const_int(const Expr &e, int64_t *value) {
  if (!e.defined()) return false;
  if (e->op == Op::Broadcast) return is_const_int(e->args[0], value);
  if (e->op != Op::IntImm && e->op != Op::UIntImm) return false;
  const ImmNode *n = as_imm(e);
  if (value) *value = e->op == Op::IntImm ? n->i : static_cast<int64_t>(n->u);
  return true;
}

bool is_const_float(const Expr &e, double *value) {
  if (!e.defined()) return false;
  if (e->op == Op::Broadcast) return is_const_float(e->args[0], value);
  if (e->op != Op::FloatImm) return false;
  if (value) *value = as_imm(e)->f;
  return true;
}

bool is_const(const Expr &e) { return is_const_int(e) || is_const_float(e); }

bool is_zero(const Expr &e) {
  int64_t i;
  double f;
  return (is_const_int(e, &i) && i == 0) || (is_const_float(e, &f) && f == 0);
}
bool is_one(const Expr &e) {
  int64_t i;
  double f;
  return (is_const_int(e, &i) && i == 1) || (is_const_float(e, &f) && f == 1);
}
bool is_true(const Expr &e) {
  int64_t i;
  return e.defined() && e.type().element_of().is_bool() && is_const_int(e, &i) && i == 1;
}
bool is_false(const Expr &e) {
  int64_t i;
  return e.defined() && e.type().element_of().is_bool() && is_const_int(e, &i) && i == 0;
}

bool is_comparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }
bool is_binary(Op op) { return op >= Op::Add && op <= Op::Or; }

const char *op_name(Op op) {
  switch (op) {
    case Op::Add:
      return "+";
    case Op::Sub:
      return "-";
    case Op::Mul:
      return "*";
    case Op::Div:
      return "/";
    case Op::Mod:
      return "%";
    case Op::Min:
      return "min";
    case Op::Max:
      return "max";
    case Op::Eq:
      return "==";
    case Op::Ne:
      return "!=";
    case Op::Lt:
      return "<";
    case Op::Le:
      return "<=";
    case Op::Gt:
      return ">";
    case Op::Ge:
      return ">=";
    case Op::And:
      return "&&";
    case Op::Or:
      return "||";
    case Op::Not:
      return "!";
    case Op::Select:
      return "select";
    case Op::Ramp:
      return "ramp";
    case Op::Broadcast:
      return "broadcast";
    case Op::Shuffle:
      return "shuffle";
    case Op::Reinterpret:
      return "reinterpret";
    default:
      return "?";
  }
}

namespace {

int three_way(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }
int three_way_signed(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

int compare_type(Type a, Type b) {
  if (int c = three_way(a.code(), b.code())) return c;
  if (int c = three_way(a.bits(), b.bits())) return c;
  return three_way(a.lanes(), b.lanes());
}

int compare_payload(const Expr &a, const Expr &b) {
  switch (a->op) {
    case Op::IntImm:
      return three_way_signed(as_imm(a)->i, as_imm(b)->i);
    case Op::UIntImm:
      return three_way(as_imm(a)->u, as_imm(b)->u);
    case Op::FloatImm: {
      uint64_t x, y;
      std::memcpy(&x, &as_imm(a)->f, 8);
      std::memcpy(&y, &as_imm(b)->f, 8);
      return three_way(x, y);
    }
    case Op::StringImm:
      return as_imm(a)->s.compare(as_imm(b)->s);
    case Op::Variable: {
      const auto *x = as_variable(a), *y = as_variable(b);
      if (int c = three_way(uint64_t(x->kind), uint64_t(y->kind))) return c;
      return x->name.compare(y->name);
    }
    case Op::Call: {
      const auto *x = as_call(a), *y = as_call(b);
      if (int c = three_way(uint64_t(x->kind), uint64_t(y->kind))) return c;
      if (int c = x->name.compare(y->name)) return c;
      if (int c = three_way_signed(x->value_index, y->value_index)) return c;
      return x->func == y->func && x->param == y->param && x->image == y->image ? 0
             : std::less<>()(static_cast<const void *>(x->func.get()), y->func.get()) ||
                     std::less<>()(static_cast<const void *>(x->param.get()), y->param.get()) ||
                     std::less<>()(static_cast<const void *>(x->image.get()), y->image.get())
                 ? -1
                 : 1;
    }
    case Op::Let:
      return static_cast<const LetNode &>(*a).name.compare(static_cast<const LetNode &>(*b).name);
    case Op::Load:
      return as_load(a)->buffer.compare(as_load(b)->buffer);
    case Op::Shuffle: {
      const auto &x = as_shuffle(a)->indices, &y = as_shuffle(b)->indices;
      return x == y ? 0 : x < y ? -1 : 1;
    }
    default:
      return 0;
  }
}

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

uint64_t hash_text(const std::string &s) {
  uint64_t h = 1469598103934665603ull;
  for (unsigned char c : s) h = (h ^ c) * 1099511628211ull;
  return h;
}

uint64_t hash_node(const Expr &e, std::unordered_map<const ExprNode *, uint64_t> &memo) {
  auto it = memo.find(e.get());
  if (it != memo.end()) return it->second;
  uint64_t h =
      mix(uint64_t(e->op) * 977 + e->type.bits() * 31 + uint64_t(e->type.code()), e->type.lanes());
  switch (e->op) {
    case Op::IntImm:
      h = mix(h, uint64_t(as_imm(e)->i));
      break;
    case Op::UIntImm:
      h = mix(h, as_imm(e)->u);
      break;
    case Op::FloatImm: {
      uint64_t x;
      std::memcpy(&x, &as_imm(e)->f, 8);
      h = mix(h, x);
      break;
    }
    case Op::StringImm:
      h = mix(h, hash_text(as_imm(e)->s));
      break;
    case Op::Variable:
      h = mix(h, hash_text(as_variable(e)->name));
      break;
    case Op::Call:
      h = mix(mix(h, hash_text(as_call(e)->name)), uint64_t(as_call(e)->value_index));
      break;
    case Op::Let:
      h = mix(h, hash_text(static_cast<const LetNode &>(*e).name));
      break;
    case Op::Load:
      h = mix(h, hash_text(as_load(e)->buffer));
      break;
    case Op::Shuffle:
      for (int i : as_shuffle(e)->indices) h = mix(h, uint64_t(i));
      break;
    default:
      break;
  }
  for (const Expr &a : e->args) h = mix(h, hash_node(a, memo));
  memo[e.get()] = h;
  return h;
}

}  // namespace

int compare(const Expr &a, const Expr &b) {
  if (a.same_as(b)) return 0;
  if (!a.defined() || !b.defined()) return a.defined() ? 1 : -1;
  if (int c = three_way(uint64_t(a->op), uint64_t(b->op))) return c;
  if (int c = compare_type(a->type, b->type)) return c;
  if (int c = compare_payload(a, b)) return c;
  if (int c = three_way(a->args.size(), b->args.size())) return c;
  for (size_t i = 0; i < a->args.size(); i++) {
    if (int c = compare(a->args[i], b->args[i])) return c;
  }
  return 0;
}

bool equal(const Expr &a, const Expr &b) { return compare(a, b) == 0; }

bool acts(const CallNode &c) {
  if (c.kind == CallKind::Extern) return true;
  if (c.kind != CallKind::Intrinsic) return false;
  for (const char *name :
       {intrinsic::kPrint, intrinsic::kRequire, intrinsic::kTrace, intrinsic::kTraceAccess}) {
    if (c.name == name) return true;
  }
  return false;
}

Expr wrapped_value(const Expr &e) {
  const CallNode *c = as_call(e);
  if (!c || c->kind != CallKind::Intrinsic) return Expr();
  for (const char *name :
       {intrinsic::kLikely, intrinsic::kLikelyIfInnermost, intrinsic::kStrictFloat,
        intrinsic::kMemoizeTag, intrinsic::kTraceAccess, intrinsic::kStream}) {
    if (c->name == name) return c->args[0];
  }
  const bool second = c->name == intrinsic::kPrint || c->name == intrinsic::kRequire;
  return second ? c->args[1] : Expr();
}

uint64_t structural_hash(const Expr &e) {
  std::unordered_map<const ExprNode *, uint64_t> memo;
  return hash_node(e, memo);
}

}  // namespace polyhalite
