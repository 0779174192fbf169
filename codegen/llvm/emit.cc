#include "codegen/llvm/emit.h"

#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/emit_metadata.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Does the function compute vectors that are wider than what the stack is aligned to?
bool has_wide_vectors(const llvm::Function &function) {
  constexpr uint64_t kStackBits = 128;
  for (const llvm::BasicBlock &block : function) {
    for (const llvm::Instruction &one : block) {
      const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(one.getType());
      if (type && type->getNumElements() * type->getScalarSizeInBits() > kStackBits) return true;
    }
  }
  return false;
}

llvm::FunctionType *pipeline_type(ModuleState &state) {
  llvm::LLVMContext &context = state.context();
  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  std::vector<llvm::Type *> args;
  if (state.options.user_context) args.push_back(pointer);
  for (const FunctionArgument &a : state.function.args) {
    args.push_back(a.is_buffer ? pointer : register_type(context, a.type));
  }
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), args, false);
}

// The C ABI extends narrow integers to 32 bits in the caller.
void add_extensions(ModuleState &state, llvm::Function *f) {
  unsigned position = state.options.user_context ? 1 : 0;
  for (const FunctionArgument &a : state.function.args) {
    if (!a.is_buffer && a.type.is_int_or_uint() && a.type.bits() < 32) {
      f->addParamAttr(position, a.type.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
    position++;
  }
}

std::string argv_name(const ModuleState &state) {
  const EmitOptions &o = state.options;
  return o.filter ? o.filter->argv_symbol() : o.symbol_prefix + state.function.name + "_argv";
}

void emit_argv(ModuleState &state, llvm::Function *pipeline) {
  llvm::LLVMContext &context = state.context();
  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer}, false);
  llvm::Function *f =
      state.make_function(argv_name(state), type, llvm::GlobalValue::ExternalLinkage);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", f));
  std::vector<llvm::Value *> args;
  auto next = [&]() -> llvm::Value * {
    return builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, f->getArg(0), args.size()));
  };
  if (state.options.user_context) args.push_back(builder.CreateLoad(pointer, next()));
  for (const FunctionArgument &a : state.function.args) {
    llvm::Value *value = next();
    if (!a.is_buffer) {
      // C's bool takes a byte, and its pointers what the machine's take.
      llvm::Type *type = register_type(context, a.type.is_bool() ? UInt(8) : a.type);
      value = builder.CreateLoad(type, value);
      if (a.type.is_bool()) value = builder.CreateIsNotNull(value);
    }
    args.push_back(value);
  }
  llvm::CallInst *call = builder.CreateCall(pipeline, args);
  call->setAttributes(pipeline->getAttributes().removeFnAttributes(context));
  builder.CreateRet(call);
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext &context, const Function &f,
                                          const Target &target, llvm::TargetMachine &machine,
                                          const EmitOptions &options, const BodyWriter &body) {
  auto module = std::make_unique<llvm::Module>(f.name, context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  ModuleState state(*module, f, target, options);
  if (has_kernels(f)) state.device_code = compile_kernels(f, target);
  llvm::Function *pipeline = state.make_function(
      options.filter ? options.filter->symbol() : options.symbol_prefix + f.name,
      pipeline_type(state), llvm::GlobalValue::ExternalLinkage);
  add_extensions(state, pipeline);
  if (const auto second = options.filter ? options.filter->symbol_for_stages() : std::nullopt) {
    llvm::GlobalAlias::create(llvm::GlobalValue::WeakAnyLinkage, *second, pipeline);
  }
  if (body) {
    body(state, pipeline);
  } else {
    FunctionEmitter(state, pipeline).emit_pipeline();
  }
  emit_argv(state, pipeline);
  if (options.filter) emit_metadata(state, *options.filter);
  for (llvm::Function &function : *module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("tune-cpu", tuning_processor(target));
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (target.arch == Target::X86 && target.has_feature(Target::AVX512)) {
      function.addFnAttr("prefer-vector-width", "512");
    }
    // LLVM aligns no stack once it gives out registers: vectors that it spills would then lie
    // across lines of the cache, at half the speed.
    if (target.arch == Target::X86 && has_wide_vectors(function)) {
      function.addFnAttr("stackrealign");
    }
  }
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*module, &out)) {
    internal_check(false, ("emitted LLVM IR is broken: " + out.str()).c_str());
  }
  return module;
}

}  // namespace polyhalite
