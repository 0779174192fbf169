#include "codegen/llvm/scale_factors.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/Pass.h>

#include <optional>
#include <string>
#include <vector>

namespace polyhalite {

using llvm::Value;

namespace {

// Wider products are several instructions, which are not shared so.
constexpr unsigned kBits = 32;

// v = of * by, lane by lane.
struct Scaling {
  Value *of;
  std::vector<int64_t> by;
};

unsigned lanes_of(const Value *v) {
  const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? vector->getNumElements() : 1;
}

// Lane i of a constant; none where it is open.
std::optional<int64_t> lane(llvm::Constant *c, unsigned i) {
  llvm::Constant *element = c->getType()->isVectorTy() ? c->getAggregateElement(i) : c;
  const auto *number = llvm::dyn_cast_or_null<llvm::ConstantInt>(element);
  return number ? std::optional(number->getSExtValue()) : std::nullopt;
}

std::optional<Scaling> scaling(Value *v) {
  auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(v);
  if (!operation) return std::nullopt;
  const bool shifts = operation->getOpcode() == llvm::Instruction::Shl;
  if (!shifts && operation->getOpcode() != llvm::Instruction::Mul) return std::nullopt;
  auto *constant = llvm::dyn_cast<llvm::Constant>(operation->getOperand(1));
  if (!constant || llvm::isa<llvm::Constant>(operation->getOperand(0))) return std::nullopt;
  Scaling s{operation->getOperand(0), {}};
  for (unsigned i = 0; i < lanes_of(v); i++) {
    const auto number = lane(constant, i);
    if (shifts && number && (*number < 0 || *number >= kBits)) return std::nullopt;
    s.by.push_back(!number ? 1 : shifts ? int64_t{1} << *number : *number);
  }
  return s;
}

// a*b where both are known at run time only.
llvm::BinaryOperator *product(Value *v) {
  auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(v);
  const bool multiplies = operation && operation->getOpcode() == llvm::Instruction::Mul &&
                          !llvm::isa<llvm::Constant>(operation->getOperand(0)) &&
                          !llvm::isa<llvm::Constant>(operation->getOperand(1));
  return multiplies ? operation : nullptr;
}

Value *opaque_multiple(llvm::IRBuilder<> &b, Value *number, int64_t by) {
  if (by == 1) return number;
  llvm::Type *i32 = b.getInt32Ty();
  const std::string text = "mul.lo.s32 $0, $1, " + std::to_string(static_cast<int32_t>(by)) + ";";
  auto *multiply = llvm::InlineAsm::get(llvm::FunctionType::get(i32, {i32}, false), text, "=r,r",
                                        /*hasSideEffects=*/false);
  llvm::CallInst *call = b.CreateCall(multiply, {b.CreateZExt(number, i32)});
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return b.CreateTrunc(call, number->getType());
}

Value *opaque(llvm::IRBuilder<> &b, const Scaling &s) {
  if (!s.of->getType()->isVectorTy()) return opaque_multiple(b, s.of, s.by[0]);
  Value *all = s.of;
  for (unsigned i = 0; i < s.by.size(); i++) {
    all = b.CreateInsertElement(
        all, opaque_multiple(b, b.CreateExtractElement(s.of, uint64_t{i}), s.by[i]), uint64_t{i});
  }
  return all;
}

// A factor that is no product itself; arguments are the same in all of a loop.
Value *scaled(llvm::IRBuilder<> &b, const Scaling &s) {
  llvm::BinaryOperator *p = product(s.of);
  if (!p) return opaque(b, s);
  Value *first = p->getOperand(0), *second = p->getOperand(1);
  if (product(first) || llvm::isa<llvm::Argument>(second)) std::swap(first, second);
  return b.CreateMul(scaled(b, {first, s.by}), second);
}

class ScaleFactors : public llvm::FunctionPass {
 public:
  ScaleFactors() : llvm::FunctionPass(id) {}

  llvm::StringRef getPassName() const override { return "Constants at factors of products"; }

  // Blocks stay as they are, and the selection asks about nothing else.
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }

  bool runOnFunction(llvm::Function &f) override {
    bool changed = false;
    // Operands first, but for those of phis.
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&f)) {
      for (llvm::Instruction &i : llvm::make_early_inc_range(*block)) changed |= visit(i);
    }
    return changed;
  }

 private:
  static bool visit(llvm::Instruction &i) {
    if (!i.getType()->isIntOrIntVectorTy() || i.getType()->getScalarSizeInBits() > kBits) {
      return false;
    }
    llvm::IRBuilder<> b(&i);
    if (const auto s = scaling(&i); s && product(s->of)) {
      i.replaceAllUsesWith(scaled(b, *s));
      i.eraseFromParent();
      return true;
    }
    if (!product(&i)) return false;
    bool changed = false;
    for (unsigned k = 0; k < 2; k++) {
      const auto s = scaling(i.getOperand(k));
      if (!s) continue;
      i.setOperand(k, opaque(b, *s));
      changed = true;
    }
    return changed;
  }

  static char id;
};

char ScaleFactors::id = 0;

}  // namespace

llvm::FunctionPass *make_scale_factors() { return new ScaleFactors(); }

}  // namespace polyhalite
