#include "codegen/llvm/emit_dispatch.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/compile_module.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/emit_metadata.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

class DispatchWriter {
 public:
  DispatchWriter(ModuleState &state, const std::vector<DispatchChoice> &choices)
      : state_(state), choices_(choices), builder_(state.context()) {}

  void write(llvm::Function *f) {
    auto *type = f->getFunctionType();
    llvm::LLVMContext &context = state_.context();
    auto *i32 = builder_.getInt32Ty();
    // Position of the choice plus one; 0: not chosen yet. Threads that choose at the same time
    // choose the same.
    auto *chosen =
        new llvm::GlobalVariable(state_.module, i32, false, llvm::GlobalValue::InternalLinkage,
                                 builder_.getInt32(0), "chosen");
    auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, f); };
    llvm::BasicBlock *entry = block("entry"), *choose = block("choose"), *call = block("call");
    builder_.SetInsertPoint(entry);
    llvm::LoadInst *before = builder_.CreateAlignedLoad(i32, chosen, llvm::Align(4));
    before->setAtomic(llvm::AtomicOrdering::Monotonic);
    builder_.CreateCondBr(builder_.CreateICmpEQ(before, builder_.getInt32(0)), choose, call);

    builder_.SetInsertPoint(choose);
    llvm::FunctionCallee can_use =
        state_.declare("polyhalite_can_use_target_features", i32, {i32, builder_.getPtrTy()});
    llvm::BasicBlock *decided = block("decided");
    llvm::PHINode *choice = nullptr;
    builder_.SetInsertPoint(decided);
    choice = builder_.CreatePHI(i32, static_cast<unsigned>(choices_.size()), "choice");
    builder_.SetInsertPoint(choose);
    for (size_t i = 0; i + 1 < choices_.size(); i++) {
      auto [words, count] = feature_words(choices_[i].target);
      llvm::Value *can = builder_.CreateCall(can_use, {builder_.getInt32(count), words});
      choice->addIncoming(builder_.getInt32(static_cast<uint32_t>(i + 1)),
                          builder_.GetInsertBlock());
      llvm::BasicBlock *next = block("next");
      builder_.CreateCondBr(builder_.CreateICmpNE(can, builder_.getInt32(0)), decided, next);
      builder_.SetInsertPoint(next);
    }
    choice->addIncoming(builder_.getInt32(static_cast<uint32_t>(choices_.size())),
                        builder_.GetInsertBlock());
    builder_.CreateBr(decided);

    builder_.SetInsertPoint(decided);
    builder_.CreateAlignedStore(choice, chosen, llvm::Align(4))
        ->setAtomic(llvm::AtomicOrdering::Monotonic);
    builder_.CreateBr(call);

    builder_.SetInsertPoint(call);
    llvm::PHINode *position = builder_.CreatePHI(i32, 2);
    position->addIncoming(before, entry);
    position->addIncoming(choice, decided);
    llvm::BasicBlock *last = block("last");
    llvm::SwitchInst *jump =
        builder_.CreateSwitch(position, last, static_cast<unsigned>(choices_.size()));
    for (size_t i = 0; i < choices_.size(); i++) {
      llvm::BasicBlock *here = i + 1 == choices_.size() ? last : block("first");
      if (here != last) jump->addCase(builder_.getInt32(static_cast<uint32_t>(i + 1)), here);
      builder_.SetInsertPoint(here);
      llvm::FunctionCallee callee = state_.module.getOrInsertFunction(choices_[i].symbol, type);
      llvm::cast<llvm::Function>(callee.getCallee())->setAttributes(f->getAttributes());
      std::vector<llvm::Value *> args;
      for (llvm::Argument &a : f->args()) args.push_back(&a);
      llvm::CallInst *result = builder_.CreateCall(callee, args);
      result->setAttributes(f->getAttributes().removeFnAttributes(context));
      builder_.CreateRet(result);
    }
  }

 private:
  // The features as words of 64 bits, without those that the machine has no part in.
  std::pair<llvm::Constant *, uint32_t> feature_words(const Target &target) {
    std::vector<uint64_t> words((Target::FeatureEnd + 63) / 64, 0);
    for (int f = 0; f < Target::FeatureEnd; f++) {
      const auto feature = static_cast<Target::Feature>(f);
      if (target.has_feature(feature)) words[f / 64] |= uint64_t{1} << (f % 64);
    }
    llvm::Constant *data = llvm::ConstantDataArray::get(state_.context(), words);
    auto *global = new llvm::GlobalVariable(state_.module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, "features");
    return {global, static_cast<uint32_t>(words.size())};
  }

  ModuleState &state_;
  const std::vector<DispatchChoice> &choices_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

std::string compile_dispatch(const Filter &filter, const std::vector<DispatchChoice> &choices,
                             CodeForm form) {
  Function signature;
  signature.name = filter.name;
  for (const FilterArgument &a : filter.arguments) {
    if (a.name == kUserContextName) continue;
    const bool is_buffer = a.kind != FilterArgument::InputScalar;
    signature.args.push_back(
        {a.name, is_buffer, a.kind == FilterArgument::OutputBuffer, a.type, a.dimensions});
  }
  signature.body = make_block({});
  // The dispatch itself must run on every machine.
  Target plain(filter.target.os, filter.target.arch, filter.target.bits);
  if (filter.target.has_feature(Target::UserContext)) plain.set_feature(Target::UserContext);
  return compile_module(plain, form, [&](llvm::LLVMContext &context, llvm::TargetMachine &machine) {
    EmitOptions options;
    options.user_context = filter.target.has_feature(Target::UserContext);
    options.filter = &filter;
    return emit_module(
        context, signature, plain, machine, options,
        [&](ModuleState &state, llvm::Function *f) { DispatchWriter(state, choices).write(f); });
  });
}

}  // namespace polyhalite
