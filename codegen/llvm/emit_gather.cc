// Loads and stores whose lanes lie anywhere: lane after lane; masked ones by the machine's gathers
// and scatters; lookups in tables of bytes by permutations; elements that neighbours share once.
#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>
#include <utility>
#include <vector>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Lane l of an index is base + l * step + lanes[l] * scale. What all lanes have in common is one
// address, which loops share. `lanes` has any integer type, and is null for 0.
struct ScatteredIndex {
  Polynomial base;
  int64_t step = 0;
  Expr lanes;
  int64_t scale = 1;
};

class SplitIndex {
 public:
  explicit SplitIndex(const Definitions &definitions) : definitions_(definitions) {}

  ScatteredIndex operator()(const Expr &index) {
    take(index, 1);
    if (const Expr narrow = narrow_lanes(); narrow.defined()) {
      out_.lanes = narrow;
    } else {
      out_.lanes = lanes(index.type());
    }
    return std::move(out_);
  }

 private:
  void take(const Expr &e, int64_t sign) {
    const auto at = to_lane_address(e, definitions_);
    const auto stride = at ? at->stride.as_constant() : std::nullopt;
    if (stride) {
      out_.base.add(at->base, sign);
      out_.step += sign * *stride;
    } else if ((e->op == Op::Add || e->op == Op::Sub) && e.type().bits() == 64) {
      take(e->args[0], sign);
      take(e->args[1], e->op == Op::Sub ? -sign : sign);
    } else {
      (sign == 1 ? added_ : subtracted_).push_back(e);
    }
  }

  // A table's index alone, times a constant, stays as narrow as it is. Undefined for others.
  Expr narrow_lanes() {
    if (added_.size() != 1 || !subtracted_.empty()) return Expr();
    Expr wide = added_[0];
    int64_t scale = 1;
    for (int side = 0; wide->op == Op::Mul && side < 2; side++) {
      const Expr &factor = wide->args[side];
      if (factor->op != Op::Broadcast || !is_const_int(factor->args[0], &scale)) continue;
      wide = wide->args[1 - side];
      break;
    }
    if (wide->op != Op::Cast) return Expr();
    const Expr &narrow = wide->args[0];
    const Type from = narrow.type();
    if (!from.is_int_or_uint() || from.is_bool() || from.bits() > 32) return Expr();
    out_.scale = scale;
    return narrow;
  }

  Expr lanes(Type t) const {
    Expr all;
    for (const Expr &e : added_) all = all.defined() ? make_binary(Op::Add, all, e) : e;
    for (const Expr &e : subtracted_) {
      all = make_binary(Op::Sub, all.defined() ? all : make_zero(t), e);
    }
    return all;
  }

  const Definitions &definitions_;
  ScatteredIndex out_;
  std::vector<Expr> added_, subtracted_;  // what is neither uniform nor evenly spaced
};

Value *widened(llvm::IRBuilderBase &b, Value *v, Type t, llvm::Type *to) {
  return t.is_int() ? b.CreateSExt(v, to) : b.CreateZExt(v, to);
}

// Each lane as Int(64). Lanes of at most 32 bits leave the vector in pairs: to take a pair apart is
// quicker than to get another lane out.
std::vector<Value *> separated(llvm::IRBuilderBase &b, Value *lanes, Type t) {
  const auto n = static_cast<unsigned>(t.lanes());
  llvm::Type *wide = b.getInt64Ty();
  std::vector<Value *> out;
  if (t.bits() > 32 || n % 2 != 0) {
    for (unsigned i = 0; i < n; i++) {
      out.push_back(widened(b, b.CreateExtractElement(lanes, uint64_t{i}), t, wide));
    }
    return out;
  }
  lanes = widened(b, lanes, t, llvm::FixedVectorType::get(b.getInt32Ty(), n));
  Value *pairs = b.CreateBitCast(lanes, llvm::FixedVectorType::get(wide, n / 2));
  for (unsigned i = 0; i < n / 2; i++) {
    Value *pair = b.CreateExtractElement(pairs, uint64_t{i});
    out.push_back(widened(b, b.CreateTrunc(pair, b.getInt32Ty()), t, wide));
    out.push_back(t.is_int() ? b.CreateAShr(pair, 32) : b.CreateLShr(pair, 32));
  }
  return out;
}

}  // namespace

// The address of each lane.
std::vector<Value *> FunctionEmitter::lane_pointers(const std::string &buffer, Type element,
                                                    const Expr &index) {
  const Definitions definitions = [this](const std::string &name) { return definition(name); };
  const ScatteredIndex at = SplitIndex(definitions)(index);
  llvm::Type *type = memory_type(context_, element.element_of());
  Value *base = address(buffer, element, at.base);
  std::vector<Value *> pointers(static_cast<size_t>(index.type().lanes()), base);
  if (at.lanes.defined()) {
    kept_.push_back(at.lanes);
    const std::vector<Value *> offsets = separated(builder_, emit(at.lanes), at.lanes.type());
    Value *scale = builder_.getInt64(static_cast<uint64_t>(at.scale));
    for (size_t i = 0; i < pointers.size(); i++) {
      Value *offset = at.scale == 1 ? offsets[i] : builder_.CreateMul(offsets[i], scale);
      pointers[i] = builder_.CreateGEP(type, pointers[i], offset);
    }
  }
  for (size_t i = 0; at.step != 0 && i < pointers.size(); i++) {
    const auto offset = static_cast<uint64_t>(at.step) * i;
    pointers[i] = builder_.CreateGEP(type, pointers[i], builder_.getInt64(offset));
  }
  return pointers;
}

// All of them in one vector.
Value *FunctionEmitter::pointer_vector(const std::string &buffer, Type element, const Expr &index) {
  const Definitions definitions = [this](const std::string &name) { return definition(name); };
  const ScatteredIndex at = SplitIndex(definitions)(index);
  const auto n = static_cast<unsigned>(index.type().lanes());
  llvm::Type *wide = llvm::FixedVectorType::get(builder_.getInt64Ty(), n);
  Value *offsets = llvm::Constant::getNullValue(wide);
  if (at.lanes.defined()) {
    kept_.push_back(at.lanes);
    offsets = widened(builder_, emit(at.lanes), at.lanes.type(), wide);
    if (at.scale != 1) {
      Value *scale = builder_.getInt64(static_cast<uint64_t>(at.scale));
      offsets = builder_.CreateMul(offsets, builder_.CreateVectorSplat(n, scale));
    }
  }
  if (at.step != 0) {
    std::vector<llvm::Constant *> steps;
    for (unsigned i = 0; i < n; i++) {
      steps.push_back(builder_.getInt64(static_cast<uint64_t>(at.step) * i));
    }
    offsets = builder_.CreateAdd(offsets, llvm::ConstantVector::get(steps));
  }
  return builder_.CreateGEP(memory_type(context_, element.element_of()),
                            address(buffer, element, at.base), offsets);
}

// A table of 256 bytes, of which each lane takes one by a byte: where the processor permutes the
// bytes of two registers, that is two such permutations and a choice. Null for other loads, and
// where the table may end earlier.
Value *FunctionEmitter::look_up_bytes(const LoadNode &load) {
  constexpr int kTable = 256, kRegister = 64;
  const Type t = load.type;
  if (t.bits() != 8 || t.is_bool() || t.lanes() < 8 || kernel_ ||
      !module_.target.has_feature(Target::AVX512_Cannonlake))
    return nullptr;
  const Definitions definitions = [this](const std::string &name) { return definition(name); };
  ScatteredIndex at = SplitIndex(definitions)(load.args[0]);
  if (at.step != 0 || !at.lanes.defined() || at.lanes.type().bits() != 8 || at.scale != 1) {
    return nullptr;
  }
  const bool is_signed = at.lanes.type().is_int();
  if (is_signed) at.base.add(Polynomial::constant(-128));
  const auto first = at.base.as_constant();
  if (!first || *first < 0 || *first + kTable > module_.known_elements(load.buffer)) return nullptr;
  auto *bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), kRegister);
  Value *quarters[kTable / kRegister];
  for (int q = 0; q < kTable / kRegister; q++) {
    const Polynomial begin = Polynomial::constant(*first + q * kRegister);
    auto *access = builder_.CreateAlignedLoad(bytes, address(load.buffer, t, begin),
                                              alignment(load.buffer, t, begin));
    module_.mark_access(access, load.buffer);
    quarters[q] = access;
  }
  kept_.push_back(at.lanes);
  Value *lanes = emit(at.lanes);
  std::vector<Value *> parts;
  for (int begin = 0; begin < t.lanes(); begin += kRegister) {
    std::vector<int> own;
    for (int i = begin; i < begin + kRegister; i++) own.push_back(i < t.lanes() ? i : -1);
    Value *index = builder_.CreateShuffleVector(lanes, own);
    // -128 is the table's first element where bytes have a sign.
    if (is_signed) index = builder_.CreateXor(index, llvm::ConstantInt::get(bytes, 0x80));
    const auto pick = [&](Value *low, Value *high) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                      {low, index, high});
    };
    Value *is_high = builder_.CreateICmpSLT(index, llvm::Constant::getNullValue(bytes));
    parts.push_back(builder_.CreateSelect(is_high, pick(quarters[2], quarters[3]),
                                          pick(quarters[0], quarters[1])));
  }
  Value *all = concatenate(parts);
  std::vector<int> wanted(static_cast<size_t>(t.lanes()));
  std::iota(wanted.begin(), wanted.end(), 0);
  return to_register(builder_.CreateShuffleVector(all, wanted), t);
}

// Lanes (a + l)/d, of which d neighbours have one element, or two where a is no multiple of d. Lane
// d*k + j is element (a + j)/d + k: for each j a dense piece, and lanes taken from them in turn.
// Null for other loads.
Value *FunctionEmitter::load_shared(const LoadNode &load) {
  const Type t = load.type;
  const Definitions definitions = [this](const std::string &name) { return definition(name); };
  const ScatteredIndex at = SplitIndex(definitions)(load.args[0]);
  if (at.step != 0 || !at.lanes.defined() || at.lanes->op != Op::Div || at.scale != 1) {
    return nullptr;
  }
  const Expr &dividend = at.lanes->args[0], &divisor = at.lanes->args[1];
  int64_t d;
  // Narrower integers may wrap around between two lanes.
  if (dividend->op != Op::Ramp || !dividend.type().is_affine() || !is_one(dividend->args[1]) ||
      divisor->op != Op::Broadcast || !is_const_int(divisor->args[0], &d) || d < 2 ||
      t.lanes() % d != 0 || t.lanes() / d < 2) {
    return nullptr;
  }
  const auto parts = static_cast<int>(d);
  const int length = t.lanes() / parts;
  const LoadNode piece(t.with_lanes(length), load.buffer, load.args[0]);
  const Type index = divisor->args[0].type();
  std::vector<Value *> pieces;
  for (int j = 0; j < parts; j++) {
    const Expr first = make_binary(Op::Add, dividend->args[0], make_int(index, j));
    const Expr element = make_cast(Int(64), make_binary(Op::Div, first, divisor->args[0]));
    kept_.push_back(element);
    LaneAddress begin{at.base, Polynomial::constant(1)};
    begin.base.add(Polynomial::atom(element));
    pieces.push_back(load_dense(piece, begin, nullptr));
  }
  std::vector<int> order;
  for (int k = 0; k < length; k++) {
    for (int j = 0; j < parts; j++) order.push_back(j * length + k);
  }
  return permuted(concatenate(pieces), order);
}

Value *FunctionEmitter::gather(const LoadNode &load, Value *mask) {
  const Type t = load.type;
  if (Value *bytes = mask ? nullptr : look_up_bytes(load)) return bytes;
  if (Value *shared = mask ? nullptr : load_shared(load)) return shared;
  const llvm::Align align(static_cast<uint64_t>(t.bytes()));
  if (mask) {
    llvm::Type *type = memory_type(context_, t);
    auto *access = builder_.CreateMaskedGather(type, pointer_vector(load.buffer, t, load.args[0]),
                                               align, mask, llvm::Constant::getNullValue(type));
    module_.mark_access(access, load.buffer);
    return to_register(access, t);
  }
  std::vector<Value *> lanes;
  for (Value *pointer : lane_pointers(load.buffer, t, load.args[0])) {
    auto *element =
        builder_.CreateAlignedLoad(memory_type(context_, t.element_of()), pointer, align);
    module_.mark_access(element, load.buffer);
    lanes.push_back(element);
  }
  return to_register(concatenate(lanes), t);
}

void FunctionEmitter::scatter(const std::string &buffer, Type t, const Expr &index, Value *value,
                              Value *mask) {
  const llvm::Align align(static_cast<uint64_t>(t.bytes()));
  if (mask) {
    auto *access =
        builder_.CreateMaskedScatter(value, pointer_vector(buffer, t, index), align, mask);
    module_.mark_access(access, buffer);
    return;
  }
  uint64_t lane = 0;
  for (Value *pointer : lane_pointers(buffer, t, index)) {
    auto *access =
        builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane++), pointer, align);
    module_.mark_access(access, buffer);
  }
}

}  // namespace polyhalite
