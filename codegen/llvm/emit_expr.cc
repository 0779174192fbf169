// Expressions: each node is emitted once per scope; Int(32) scalars can be asked for in 64 bits.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/ir/widen_float16.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

llvm::CmpInst::Predicate predicate(Op op, Type operand) {
  using P = llvm::CmpInst;
  if (operand.is_float()) {
    switch (op) {
      case Op::Eq:
        return P::FCMP_OEQ;
      case Op::Ne:
        return P::FCMP_UNE;
      case Op::Lt:
        return P::FCMP_OLT;
      case Op::Le:
        return P::FCMP_OLE;
      case Op::Gt:
        return P::FCMP_OGT;
      default:
        return P::FCMP_OGE;
    }
  }
  const bool is_signed = operand.is_int();
  switch (op) {
    case Op::Eq:
      return P::ICMP_EQ;
    case Op::Ne:
      return P::ICMP_NE;
    case Op::Lt:
      return is_signed ? P::ICMP_SLT : P::ICMP_ULT;
    case Op::Le:
      return is_signed ? P::ICMP_SLE : P::ICMP_ULE;
    case Op::Gt:
      return is_signed ? P::ICMP_SGT : P::ICMP_UGT;
    default:
      return is_signed ? P::ICMP_SGE : P::ICMP_UGE;
  }
}

bool is_index_scalar(Type t) { return t.is_affine() && t.is_scalar(); }

}  // namespace

bool FunctionEmitter::reads_memory(const Expr &e) {
  auto at = reads_memory_.find(e.get());
  if (at != reads_memory_.end()) return at->second;
  const CallNode *call = as_call(e);
  bool reads = e->op == Op::Load || (call && acts(*call));
  for (const Expr &arg : e->args) reads = reads_memory(arg) || reads;
  return reads_memory_[e.get()] = reads;
}

bool FunctionEmitter::is_any_number(const Expr &e) {
  const auto at = any_number_.find(e.get());
  if (at != any_number_.end()) return at->second;
  const VariableNode *v = as_variable(e);
  const CallNode *call = as_call(e);
  bool any = e->op == Op::Load || (call && call->kind != CallKind::Intrinsic);
  any = any || (v && is_any_scalar(*v));
  if (const Binding *b = v ? scopes_.find(v->name) : nullptr; b && b->definition.defined())
    any = any || is_any_number(b->definition);
  for (const Expr &arg : e->args) any = is_any_number(arg) || any;
  return any_number_[e.get()] = any;
}

int FunctionEmitter::depth_of(const Expr &e) {
  if (reads_memory(e)) return depth_;
  int depth = 0;
  for (const std::string &name : free_variables(e)) {
    if (const Binding *b = scopes_.find(name)) depth = std::max(depth, b->depth);
  }
  return depth;
}

Value *FunctionEmitter::emit(const Expr &e) {
  const Scopes::NodeKey key{e.get(), strict_, false};
  if (Value *known = scopes_.known(key)) return known;
  Value *value = emit_new(e);
  scopes_.remember(key, value, reads_memory(e));
  return value;
}

Value *FunctionEmitter::emit_wide(const Expr &e) {
  if (e.type().bits() == 64) return emit(e);
  const Scopes::NodeKey key{e.get(), strict_, true};
  if (Value *known = scopes_.known(key)) return known;
  Value *value = emit_wide_new(e);
  scopes_.remember(key, value, reads_memory(e));
  return value;
}

Value *FunctionEmitter::emit_wide_new(const Expr &e) {
  switch (e->op) {
    case Op::IntImm:
      return builder_.getInt64(static_cast<uint64_t>(as_imm(e)->i));
    case Op::Variable: {
      const Binding *b = scopes_.find(as_variable(e)->name);
      if (b && b->wide) return b->wide;
      break;
    }
    case Op::Add:
      return builder_.CreateNSWAdd(emit_wide(e->args[0]), emit_wide(e->args[1]));
    case Op::Sub:
      return builder_.CreateNSWSub(emit_wide(e->args[0]), emit_wide(e->args[1]));
    case Op::Mul:
      return builder_.CreateNSWMul(emit_wide(e->args[0]), emit_wide(e->args[1]));
    case Op::Min:
    case Op::Max:
      return builder_.CreateBinaryIntrinsic(
          e->op == Op::Min ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, emit_wide(e->args[0]),
          emit_wide(e->args[1]));
    case Op::Select:
      return builder_.CreateSelect(emit(e->args[0]), emit_wide(e->args[1]), emit_wide(e->args[2]));
    case Op::Let:
      return emit_let(*as_let(e), true);
    default:
      if (as_intrinsic(e, intrinsic::kLikely)) return emit_wide(e->args[0]);
      break;
  }
  return builder_.CreateSExt(emit(e), builder_.getInt64Ty());
}

Value *FunctionEmitter::emit_new(const Expr &e) {
  const auto &args = e->args;
  switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
      return scalar_constant(context_, *as_imm(e));
    case Op::StringImm:
      return module_.string(as_imm(e)->s);
    case Op::Variable:
      return emit_variable(*as_variable(e));
    case Op::Cast:
      return emit_cast(e);
    case Op::Reinterpret:
      return emit_reinterpret(e);
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
      return emit_arithmetic(e);
    case Op::Div:
    case Op::Mod:
      return emit_division(e);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      return emit_comparison(e);
    case Op::And:
      return builder_.CreateAnd(emit(args[0]), emit(args[1]));
    case Op::Or:
      return builder_.CreateOr(emit(args[0]), emit(args[1]));
    case Op::Not:
      return builder_.CreateNot(emit(args[0]));
    case Op::Select:
      return builder_.CreateSelect(emit(args[0]), emit(args[1]), emit(args[2]));
    case Op::Call:
      return emit_call(*as_call(e));
    case Op::Let:
      return emit_let(*as_let(e), false);
    case Op::Ramp:
      return emit_ramp(e);
    case Op::Broadcast: {
      Value *value = emit(args[0]);
      if (args[0].type().is_scalar()) return splat(value, e.type().lanes());
      return concatenate(std::vector<Value *>(
          static_cast<size_t>(e.type().lanes() / args[0].type().lanes()), value));
    }
    case Op::Load:
      return emit_load(e);
    case Op::Shuffle:
      return emit_shuffle(*as_shuffle(e));
  }
  internal_check(false, "an expression without an op");
  return nullptr;
}

Value *FunctionEmitter::emit_variable(const VariableNode &v) {
  if (v.kind == VariableKind::BufferField) {
    if (v.image) {
      // A constant buffer's fields are constants: "NAME.min.0".
      const size_t at = v.name.rfind('.');
      const polyhalite_dimension_t dim = v.image->dims().at(std::stoul(v.name.substr(at + 1)));
      const std::string field = v.name.substr(0, at);
      const bool is_min = field.ends_with(".min"), is_extent = field.ends_with(".extent");
      return builder_.getInt32(static_cast<uint32_t>(is_min      ? dim.min
                                                     : is_extent ? dim.extent
                                                                 : dim.stride));
    }
    if (straight_line_ && !fields_loaded_) load_field(v.name);
  }
  const Binding *b = scopes_.find(v.name);
  if (!b) internal_check(false, ("'" + v.name + "' is not bound where it is used").c_str());
  return b->value;
}

Value *FunctionEmitter::emit_cast(const Expr &e) {
  const Expr &from = e->args[0];
  const Type a = from.type(), t = e.type();
  if (is_index_scalar(a) && is_index_scalar(t) && t.bits() > a.bits()) return emit_wide(from);
  if (Value *average = emit_average(e)) return average;
  if (Value *rounded = emit_rounded(e)) return rounded;
  Value *value = emit(from);
  llvm::Type *to = register_type(context_, t);
  if (t.is_handle() || a.is_handle()) return builder_.CreateBitOrPointerCast(value, to);
  if (t.is_bool()) {
    llvm::Value *zero = llvm::Constant::getNullValue(value->getType());
    return a.is_float() ? builder_.CreateFCmpUNE(value, zero) : builder_.CreateICmpNE(value, zero);
  }
  if (t.is_float()) {
    if (is_float16(t)) return float16_of(value, t);
    if (is_float16(a)) return float32_of(value, a);
    if (a.is_float()) return builder_.CreateFPCast(value, to);
    return a.is_int() ? builder_.CreateSIToFP(value, to) : builder_.CreateUIToFP(value, to);
  }
  if (a.is_float()) {
    // Narrow integers wrap, as they do in arithmetic.
    if (t.bits() < 32) {
      Value *whole = builder_.CreateFPToSI(
          value, register_type(context_, t.with_code(Type::Int).with_bits(32)));
      return builder_.CreateTrunc(whole, to);
    }
    return t.is_int() ? builder_.CreateFPToSI(value, to) : builder_.CreateFPToUI(value, to);
  }
  return builder_.CreateIntCast(value, to, a.is_int());
}

// The mean of two unsigned vectors, rounded down or up, without the wider type: LLVM takes the
// division out of selects between two means, and then knows neither as the machine's instruction.
//
//   uint8((uint16(a) + uint16(b) + 1)/2)  ->  (a | b) - ((a ^ b) >> 1)
//   uint8((uint16(a) + uint16(b))/2)      ->  (a & b) + ((a ^ b) >> 1)
Value *FunctionEmitter::emit_average(const Expr &e) {
  const Type t = e.type();
  const Expr &half = e->args[0];
  int64_t two = 0, one = 0;
  if (!t.is_uint() || !t.is_vector() || half->op != Op::Div || !half.type().is_uint() ||
      half.type().bits() != 2 * t.bits() || !is_const_int(half->args[1], &two) || two != 2) {
    return nullptr;
  }
  Expr sum = half->args[0];
  const bool up = sum->op == Op::Add && is_const_int(sum->args[1], &one) && one == 1;
  if (up) sum = sum->args[0];
  auto widens = [&](const Expr &w) { return w->op == Op::Cast && w->args[0].type() == t; };
  if (sum->op != Op::Add || !widens(sum->args[0]) || !widens(sum->args[1])) return nullptr;
  Value *a = emit(sum->args[0]->args[0]), *b = emit(sum->args[1]->args[0]);
  Value *rest = builder_.CreateLShr(builder_.CreateXor(a, b), 1);
  return up ? builder_.CreateSub(builder_.CreateOr(a, b), rest)
            : builder_.CreateAdd(builder_.CreateAnd(a, b), rest);
}

// int32(round(x)) of vectors is one instruction of x86; narrow integers wrap.
Value *FunctionEmitter::emit_rounded(const Expr &e) {
  const Type t = e.type();
  const CallNode *round = as_call(e->args[0]);
  if (kernel_ || module_.target.arch != Target::X86 || !t.is_int_or_uint() || t.is_bool() ||
      t.lanes() % 4 != 0 || !round || round->name != "round" ||
      round->type.element_of() != Float(32))
    return nullptr;
  if (t.bits() > 32 || (t.bits() == 32 && t.is_uint())) return nullptr;
  llvm::Type *whole = register_type(context_, t.with_code(Type::Int).with_bits(32));
  Value *x = emit(round->args[0]);
  Value *steps = builder_.CreateIntrinsic(llvm::Intrinsic::lrint, {whole, x->getType()}, {x});
  return builder_.CreateTrunc(steps, register_type(context_, t));
}

Value *FunctionEmitter::emit_arithmetic(const Expr &e) {
  Value *a = emit(e->args[0]), *b = emit(e->args[1]);
  const Type t = e.type();
  if (is_float16(t)) {
    // Only where the machine computes with them; see passes/widen_float16.h.
    a = as_half(a);
    b = as_half(b);
  }
  if (e->op == Op::Min || e->op == Op::Max) {
    const bool is_min = e->op == Op::Min;
    if (t.is_float()) {
      // The order of operands is that of minps and maxps: b where either is no number.
      Value *first = is_min ? builder_.CreateFCmpOLT(a, b) : builder_.CreateFCmpOGT(a, b);
      return builder_.CreateSelect(first, a, b);
    }
    const auto smaller = t.is_int() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    const auto larger = t.is_int() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
    return builder_.CreateBinaryIntrinsic(is_min ? smaller : larger, a, b);
  }
  if (t.is_float()) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(!strict_);
    llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
    builder_.setFastMathFlags(flags);
    Value *r = e->op == Op::Add   ? builder_.CreateFAdd(a, b)
               : e->op == Op::Sub ? builder_.CreateFSub(a, b)
                                  : builder_.CreateFMul(a, b);
    return is_float16(t) ? builder_.CreateBitCast(r, register_type(context_, t)) : r;
  }
  // Sums of coordinates do not overflow. Those of other numbers may be in another order than the
  // program's, whose own do not.
  const bool no_overflow = t.is_affine() && !is_any_number(e);
  if (e->op == Op::Add) return builder_.CreateAdd(a, b, "", false, no_overflow);
  if (e->op == Op::Sub) return builder_.CreateSub(a, b, "", false, no_overflow);
  return builder_.CreateMul(a, b, "", false, no_overflow);
}

Value *FunctionEmitter::emit_comparison(const Expr &e) {
  return builder_.CreateCmp(predicate(e->op, e->args[0].type()), emit(e->args[0]),
                            emit(e->args[1]));
}

void FunctionEmitter::bind_symbol(const std::string &name, const Expr &value) {
  Binding b;
  b.value = emit(value);
  if (is_index_scalar(value.type())) b.wide = emit_wide(value);
  b.depth = depth_of(value);
  b.definition = value;
  scopes_.push();
  scopes_.bind(name, std::move(b));
}

Value *FunctionEmitter::emit_let(const LetNode &let, bool wide) {
  bind_symbol(let.name, let.args[0]);
  Value *value = wide ? emit_wide(let.args[1]) : emit(let.args[1]);
  scopes_.pop();
  return value;
}

Value *FunctionEmitter::splat(Value *scalar, int lanes) {
  return lanes == 1 ? scalar : builder_.CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

Value *FunctionEmitter::emit_ramp(const Expr &e) {
  const Expr &base = e->args[0], &step = e->args[1];
  Value *first = emit(base), *stride = emit(step);
  const Type element = e.type().element_of();
  const bool no_overflow = element.is_affine();
  auto advanced = [&](Value *start, Value *by, Value *count) {
    if (element.is_float()) return builder_.CreateFAdd(start, builder_.CreateFMul(count, by));
    Value *offset = builder_.CreateMul(count, by, "", false, no_overflow);
    return builder_.CreateAdd(start, offset, "", false, no_overflow);
  };
  const int lanes = e.type().lanes() / base.type().lanes();
  auto count = [&](int i) {
    return element.is_float()
               ? llvm::ConstantFP::get(register_type(context_, element), i)
               : llvm::ConstantInt::get(register_type(context_, element), static_cast<uint64_t>(i));
  };
  if (base.type().is_scalar()) {
    std::vector<llvm::Constant *> counts;
    for (int i = 0; i < lanes; i++) counts.push_back(count(i));
    return advanced(splat(first, lanes), splat(stride, lanes), llvm::ConstantVector::get(counts));
  }
  std::vector<Value *> parts;
  for (int i = 0; i < lanes; i++) {
    parts.push_back(advanced(first, stride, splat(count(i), base.type().lanes())));
  }
  return concatenate(parts);
}

}  // namespace polyhalite
