// Mathematical functions: LLVM's intrinsics, own code for float32, else the C library lane by lane.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "codegen/llvm/vector_math.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Mathematical functions that LLVM knows as intrinsics and lowers to instructions.
llvm::Intrinsic::ID math_intrinsic(const std::string &name) {
  static const std::map<std::string, llvm::Intrinsic::ID> kKnown = {
      {"sqrt", llvm::Intrinsic::sqrt},   {"floor", llvm::Intrinsic::floor},
      {"ceil", llvm::Intrinsic::ceil},   {"round", llvm::Intrinsic::roundeven},
      {"trunc", llvm::Intrinsic::trunc},
  };
  auto at = kKnown.find(name);
  return at == kKnown.end() ? llvm::Intrinsic::not_intrinsic : at->second;
}

// Names of the C library's functions stand for others' less exact ones.
std::string library_name(const std::string &name) {
  return name.starts_with("fast_") ? name.substr(5) : name;
}

}  // namespace

Value *FunctionEmitter::emit_math(const CallNode &call) {
  std::vector<Value *> args;
  for (const Expr &arg : call.args) args.push_back(emit(arg));
  if (auto id = math_intrinsic(call.name)) return builder_.CreateUnaryIntrinsic(id, args[0]);
  if (call.type.element_of() != Float(32)) return emit_library_math(call, args);
  llvm::FastMathFlags flags;
  flags.setAllowContract(!strict_);
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.setFastMathFlags(flags);
  Value *inside = nullptr;
  Value *value = VectorMath(builder_).emit(call.name, args, &inside);
  if (!value) return emit_library_math(call, args);
  if (!inside) return value;
  // Operands beyond the reach of the own code are rare.
  Value *all = call.type.is_scalar() ? inside : builder_.CreateAndReduce(inside);
  llvm::BasicBlock *here = builder_.GetInsertBlock();
  llvm::BasicBlock *library = block("beyond"), *after = block("within");
  builder_.CreateCondBr(all, after, library,
                        llvm::MDBuilder(context_).createBranchWeights(1 << 20, 1));
  builder_.SetInsertPoint(library);
  Value *other = emit_library_math(call, args);
  builder_.CreateBr(after);
  library = builder_.GetInsertBlock();
  builder_.SetInsertPoint(after);
  llvm::PHINode *result = builder_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, here);
  result->addIncoming(other, library);
  return result;
}

Value *FunctionEmitter::emit_library_math(const CallNode &call, const std::vector<Value *> &args) {
  const Type element = call.type.element_of();
  llvm::Type *scalar = register_type(context_, element);
  llvm::FunctionCallee callee =
      module_.declare(library_name(call.name) + (element.bits() == 32 ? "f" : ""), scalar,
                      std::vector<llvm::Type *>(args.size(), scalar));
  if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    f->setDoesNotAccessMemory();
    f->addFnAttr(llvm::Attribute::WillReturn);
  }
  if (call.type.is_scalar()) return builder_.CreateCall(callee, args);
  std::vector<Value *> lanes;
  for (int lane = 0; lane < call.type.lanes(); lane++) {
    std::vector<Value *> scalars;
    for (Value *arg : args) {
      scalars.push_back(builder_.CreateExtractElement(arg, static_cast<uint64_t>(lane)));
    }
    lanes.push_back(builder_.CreateCall(callee, scalars));
  }
  return concatenate(lanes);
}

}  // namespace polyhalite
