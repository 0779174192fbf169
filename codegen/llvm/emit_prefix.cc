// Stores of the first lanes of a vector, where masks are slow.
//
// One of AVX2's stores under a mask takes a Zen 3 4.0 ns, a plain one 0.4; with an addition and a
// load of the same place around it 9.5. Whole vectors are stored as such, ends of rows in parts of
// half the lanes each:
//
//   f[ramp(x, 1, 8)] = v if ramp(x, 1, 8) < n
//     ->   if n - x >= 8 { 8 lanes } else { 4 if bit 2 of n - x; 2 if bit 1; 1 if bit 0 }
#include "codegen/llvm/function_emitter.h"
#include "polyhalite/operators.h"

namespace polyhalite {

using llvm::Value;

std::optional<Expr> FunctionEmitter::first_lanes(const Expr &mask) const {
  const Target &target = module_.target;
  // Of longer vectors the processor has other masks.
  constexpr int kVector = 8;
  if (kernel_ || target.arch != Target::X86 || !target.has_feature(Target::AVX2) ||
      target.natural_vector_size(Float(32)) != kVector)
    return std::nullopt;
  if (mask->op != Op::Lt && mask->op != Op::Le) return std::nullopt;
  const Expr &ramp = mask->args[0], &bound = mask->args[1];
  if (ramp->op != Op::Ramp || bound->op != Op::Broadcast || !is_one(ramp->args[1]))
    return std::nullopt;
  if (ramp.type().element_of() != Int(32)) return std::nullopt;
  // 32 bits do not hold every difference.
  const Expr count = cast<int64_t>(bound->args[0]) - cast<int64_t>(ramp->args[0]);
  return mask->op == Op::Lt ? count : count + cast<int64_t>(1);
}

bool FunctionEmitter::stores_first_lanes(Type t) {
  const int lanes = t.lanes();
  return t.bits() >= 32 && lanes > 1 && (lanes & (lanes - 1)) == 0;
}

void FunctionEmitter::store_first_lanes(Value *value, Type t, Value *pointer, llvm::Align align,
                                        Value *count, const std::string &buffer) {
  llvm::Type *element = memory_type(context_, t.element_of());
  llvm::BasicBlock *whole = block("whole"), *end = block("end"), *after = block("stored");
  const auto lanes = static_cast<uint64_t>(t.lanes());
  Value *all = builder_.getInt64(lanes);
  builder_.CreateCondBr(builder_.CreateICmpSGE(count, all), whole, end);
  builder_.SetInsertPoint(whole);
  module_.mark_access(builder_.CreateAlignedStore(value, pointer, align), buffer);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(end);
  Value *left = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, builder_.getInt64(0));
  const llvm::Align least(static_cast<uint64_t>(t.bytes()));
  for (uint64_t half = lanes / 2; half >= 1; half /= 2) {
    // The lanes that are left, twice as many as this part has, and where they go.
    std::vector<int> low, high;
    for (uint64_t lane = 0; lane < half; lane++) {
      low.push_back(static_cast<int>(lane));
      high.push_back(static_cast<int>(lane + half));
    }
    Value *part = builder_.CreateShuffleVector(value, low);
    Value *next = builder_.CreateShuffleVector(value, high);
    Value *asked = builder_.CreateICmpNE(builder_.CreateAnd(left, builder_.getInt64(half)),
                                         builder_.getInt64(0));
    llvm::BasicBlock *write = block("part"), *behind = block("parts"),
                     *here = builder_.GetInsertBlock();
    builder_.CreateCondBr(asked, write, behind);
    builder_.SetInsertPoint(write);
    if (half == 1) {
      Value *lane = builder_.CreateExtractElement(part, uint64_t{0});
      module_.mark_access(builder_.CreateAlignedStore(lane, pointer, least), buffer);
    } else {
      module_.mark_access(builder_.CreateAlignedStore(part, pointer, least), buffer);
    }
    Value *further = builder_.CreateConstInBoundsGEP1_64(element, pointer, half);
    builder_.CreateBr(behind);
    builder_.SetInsertPoint(behind);
    if (half == 1) break;
    llvm::PHINode *lanes_left = builder_.CreatePHI(part->getType(), 2);
    lanes_left->addIncoming(part, here);
    lanes_left->addIncoming(next, write);
    llvm::PHINode *place = builder_.CreatePHI(pointer->getType(), 2);
    place->addIncoming(pointer, here);
    place->addIncoming(further, write);
    value = lanes_left;
    pointer = place;
  }
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

}  // namespace polyhalite
