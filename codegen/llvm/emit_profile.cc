// Profiles: the code says what it works for, and the runtime's profiler looks there.
//
//   profile { produce f { ... } }
//     ->  polyhalite_profiler_instance_start(..., &thread)
//         *thread.current = number of f;  ...;  *thread.current = overhead
//         polyhalite_profiler_instance_end(&thread)
// Of the threads that work on a call, one at a time has `current` lead to what is sampled.
#include <cstddef>

#include "codegen/llvm/function_emitter.h"
#include "lang/abi/polyhalite_profiler.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

Value *FunctionEmitter::frame_bytes(size_t bytes, const char *name) {
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *a =
      entry.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes), nullptr, name);
  a->setAlignment(llvm::Align(8));
  return a;
}

Value *FunctionEmitter::call_profiler(const char *name, llvm::Type *result,
                                      const std::vector<Value *> &args) {
  std::vector<llvm::Type *> types;
  for (Value *a : args) types.push_back(a->getType());
  return builder_.CreateCall(
      module_.declare(std::string("polyhalite_profiler_") + name, result, types), args);
}

Value *FunctionEmitter::profile_infos() {
  llvm::Type *pointer = builder_.getPtrTy(), *i64 = builder_.getInt64Ty();
  auto *info = llvm::StructType::get(context_, {pointer, i64});
  std::vector<llvm::Constant *> infos;
  for (const ProfileTable::Entry &e : module_.profile.entries) {
    infos.push_back(llvm::ConstantStruct::get(
        info,
        {module_.string(e.name), llvm::ConstantInt::get(i64, static_cast<uint64_t>(e.stack))}));
  }
  auto *type = llvm::ArrayType::get(info, infos.size());
  return new llvm::GlobalVariable(module_.module, type, true, llvm::GlobalValue::PrivateLinkage,
                                  llvm::ConstantArray::get(type, infos), "profile");
}

void FunctionEmitter::emit_profile(const StmtNode &s) {
  const ProfileTable &table = module_.profile;
  if (!table.options) return emit_stmt(s.body[0]);
  auto number = [&](size_t n) { return builder_.getInt32(static_cast<uint32_t>(n)); };
  const AbiLayout &abi = module_.abi;
  Value *instance = frame_bytes(abi.profiler_instance_bytes, "profile.call");
  Value *funcs = frame_bytes(abi.profiler_func_stats_bytes * table.entries.size(), "profile.funcs");
  Value *thread = frame_bytes(abi.profiler_thread.bytes, "profile.thread");
  Value *code = call_profiler("instance_start", builder_.getInt32Ty(),
                              {user_context_, module_.string(module_.function.name),
                               number(static_cast<size_t>(table.options)), profile_infos(),
                               number(table.entries.size()), instance, funcs, thread});
  return_if_nonzero(code);
  profile_ = thread;
  profile_end_ = "instance_end";
  billed_ = POLYHALITE_PROFILE_OVERHEAD;
  emit_stmt(s.body[0]);
  end_profile();
  profile_ = nullptr;
}

void FunctionEmitter::end_profile() {
  if (profile_) call_profiler(profile_end_, builder_.getVoidTy(), {profile_});
}

void FunctionEmitter::emit_produce(const StmtNode &s) {
  if (!profile_) return emit_stmt(s.body[0]);
  const int outer = billed_;
  billed_ = module_.profile.number_of(s.name);
  bill(billed_, true);
  emit_stmt(s.body[0]);
  billed_ = outer;
  bill(billed_);
}

void FunctionEmitter::bill(int entry, bool enters) {
  if (!profile_) return;
  Value *number = builder_.getInt32(static_cast<uint32_t>(entry));
  if (module_.profile.options & POLYHALITE_PROFILE_COUNTS) {
    call_profiler("count", builder_.getVoidTy(), {profile_, number, builder_.getInt32(enters)});
  }
  if (module_.profile.options & POLYHALITE_PROFILE_SAMPLES) {
    static_assert(offsetof(polyhalite_profiler_thread, current) == 0);
    Value *current = builder_.CreateLoad(builder_.getPtrTy(), profile_);
    builder_.CreateAlignedStore(number, current, llvm::Align(4))
        ->setAtomic(llvm::AtomicOrdering::Monotonic);
  }
}

void FunctionEmitter::begin_task_profile(Value *instance) {
  profile_ = frame_bytes(module_.abi.profiler_thread.bytes, "profile.thread");
  profile_end_ = "task_end";
  call_profiler(
      "task_begin", builder_.getVoidTy(),
      {profile_, instance, builder_.getInt32(static_cast<uint32_t>(module_.profile.options)),
       builder_.getInt32(static_cast<uint32_t>(billed_))});
}

Value *FunctionEmitter::profiled_instance() {
  return builder_.CreateLoad(builder_.getPtrTy(), builder_.CreateConstInBoundsGEP1_64(
                                                      builder_.getInt8Ty(), profile_,
                                                      module_.abi.profiler_thread.instance));
}

void FunctionEmitter::suspend_profile() {
  if (profile_) call_profiler("suspend", builder_.getVoidTy(), {profile_});
}

void FunctionEmitter::resume_profile() {
  if (!profile_) return;
  call_profiler("resume", builder_.getVoidTy(),
                {profile_, builder_.getInt32(static_cast<uint32_t>(billed_))});
}

void FunctionEmitter::bill_memory(const char *event, const std::string &buffer, Value *bytes) {
  if (!profile_) return;
  const auto entry = static_cast<uint32_t>(module_.profile.number_of(buffer));
  call_profiler(event, builder_.getVoidTy(), {profile_, builder_.getInt32(entry), bytes});
}

}  // namespace polyhalite
