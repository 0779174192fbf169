// Mathematical functions: LLVM's intrinsics, own code for float32, else the C library lane by lane.
#include "codegen/llvm/device_math.h"
#include "codegen/llvm/double_math.h"
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

bool multiplies_and_adds_at_once(const Target &t) {
  if (t.arch == Target::ARM) return t.bits == 64 || t.has_feature(Target::ARMv7s);
  return t.has_feature(Target::FMA) || t.has_feature(Target::FMA4);
}

// exp(promise_clamped(x, low, high)) of a promise that x <= 0.
bool is_exp_of_nonpositive(const CallNode &call) {
  const CallNode *promise =
      call.name == "exp" ? as_intrinsic(call.args[0], intrinsic::kPromiseClamped) : nullptr;
  double high = 0;
  return promise && is_const_float(promise->args[2], &high) && high <= 0;
}

}  // namespace

Value *FunctionEmitter::emit_math(const CallNode &call) {
  std::vector<Value *> args;
  for (const Expr &arg : call.args) args.push_back(emit(arg));
  if (auto id = math_intrinsic(call.name)) return builder_.CreateUnaryIntrinsic(id, args[0]);
  if (call.type.element_of() != Float(32)) return emit_library_math(call, args);
  if (Value *value = kernel_ ? emit_approximation(call, args) : nullptr) return value;
  Value *inside = nullptr;
  const bool fused = kernel_ || multiplies_and_adds_at_once(module_.target);
  const bool scales = !kernel_ && module_.target.arch == Target::X86 &&
                      module_.target.has_feature(Target::AVX512_Skylake);
  const std::string name = is_exp_of_nonpositive(call) ? "exp_of_nonpositive" : call.name;
  Value *value = VectorMath(builder_, fused, scales, !kernel_).emit(name, args, &inside);
  if (!value) return emit_library_math(call, args);
  if (!inside) return value;
  // Operands beyond the reach of the own code are rare.
  Value *all = call.type.is_scalar() ? inside : builder_.CreateAndReduce(inside);
  llvm::BasicBlock *here = builder_.GetInsertBlock();
  llvm::BasicBlock *library = block("beyond"), *after = block("within");
  builder_.CreateCondBr(all, after, library,
                        llvm::MDBuilder(context_).createBranchWeights(1 << 20, 1));
  builder_.SetInsertPoint(library);
  // Lanes that are within reach keep their own values: no lane's result depends on the others.
  Value *other = builder_.CreateSelect(inside, value, emit_library_math(call, args));
  builder_.CreateBr(after);
  library = builder_.GetInsertBlock();
  builder_.SetInsertPoint(after);
  llvm::PHINode *result = builder_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, here);
  result->addIncoming(other, library);
  return result;
}

Value *FunctionEmitter::emit_library_math(const CallNode &call, const std::vector<Value *> &args) {
  if (kernel_) return emit_device_math(call, args);
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

// The fast_ functions, by the instructions of the special units.
Value *FunctionEmitter::emit_approximation(const CallNode &call, const std::vector<Value *> &args) {
  constexpr double kLog2E = 1.44269504088896341, kLn2 = 0.69314718055994531;
  if (!call.name.starts_with("fast_")) return nullptr;
  auto times = [&](Value *a, double b) {
    return builder_.CreateFMul(a, llvm::ConstantFP::get(a->getType(), b));
  };
  auto unit = [&](const char *name, Value *x) -> Value * {
    const Instruction &i = *find_instruction(name);
    if (call.type.is_scalar()) return emit_gpu_instruction(i, {{}, {x}})[0];
    std::vector<Value *> lanes;
    for (int lane = 0; lane < call.type.lanes(); lane++) {
      Value *scalar = builder_.CreateExtractElement(x, static_cast<uint64_t>(lane));
      lanes.push_back(emit_gpu_instruction(i, {{}, {scalar}})[0]);
    }
    return concatenate(lanes);
  };
  if (call.name == "fast_exp") return unit("ex2_approx", times(args[0], kLog2E));
  if (call.name == "fast_log") return times(unit("lg2_approx", args[0]), kLn2);
  if (call.name == "fast_sin") return unit("sin_approx", args[0]);
  if (call.name == "fast_cos") return unit("cos_approx", args[0]);
  if (call.name == "fast_inverse") return unit("rcp_approx", args[0]);
  if (call.name == "fast_inverse_sqrt") return unit("rsqrt_approx", args[0]);
  return nullptr;
}

Value *FunctionEmitter::emit_device_math(const CallNode &call, const std::vector<Value *> &args) {
  if (call.type.element_of() == Float(32)) {
    if (Value *value = DeviceMath(builder_).emit_rest(call.name, args)) return value;
  }
  if (call.type.element_of() == Float(64)) {
    const std::string name = library_name(call.name);
    if (Value *value = DoubleMath(builder_).emit_double(name, args)) return value;
  }
  user_error("the kernel '" + kernel_->kernel->name + "' calls " + call.name + " of " +
                 call.type.element_of().to_string(),
             "there is no code for it on a GPU, which has no C library",
             "compute it in float32 or float64, or keep the stage on the host");
}

}  // namespace polyhalite
