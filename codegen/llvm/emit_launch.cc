// The host's side of kernels: launches, and buffers that have memory on the device too.
//
//   kernel k threads (32, 8, 1) {...}   ->  polyhalite_cuda_run(context, kernels, number, {blocks},
//                                                               {32, 8, 1}, bytes, {in, out, &n},
//                                                               2)
//   allocate t: float32[n] mirrored     ->  t = malloc; t's polyhalite_buffer_t in the frame
//   allocate t: float32[n] device       ->  that, and polyhalite_device_malloc(context, t, cuda)
//   copy_to_device t                    ->  polyhalite_copy_to_device(context, t, cuda)
//   host_dirty t                        ->  t.flags |= host_dirty
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_buffer.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

uint32_t coded_type(Type t) {
  return static_cast<uint32_t>(t.code()) | static_cast<uint32_t>(t.bits()) << 8 | 1u << 16;
}

bool is_input(const Function &f, const std::string &buffer) {
  for (const FunctionArgument &a : f.args) {
    if (a.is_buffer && a.name == buffer) return !a.is_output;
  }
  return false;
}

}  // namespace

Value *FunctionEmitter::make_descriptor(const std::string &name, Type t, Value *host,
                                        uint64_t flags,
                                        const std::vector<std::array<Value *, 3>> &dims) {
  Value *descriptor = emit_buffer(host, builder_.getInt32(coded_type(t)), dims);
  descriptor->setName(name + ".buffer");
  if (flags) set_dirty(descriptor, flags);
  return descriptor;
}

Value *FunctionEmitter::descriptor_of(const std::string &buffer) {
  const auto argument = arguments_.find(buffer);
  if (argument != arguments_.end()) return argument->second;
  if (const auto known = constant_descriptors_.find(buffer); known != constant_descriptors_.end()) {
    return known->second;
  }
  for (const auto &c : module_.function.constants) {
    if (c->name != buffer) continue;
    // At the function's beginning, so that it is there wherever a kernel needs it.
    llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.restoreIP(entry_builder().saveIP());
    std::vector<std::array<Value *, 3>> dims;
    for (const polyhalite_dimension_t &d : c->dims()) {
      auto number = [&](int32_t n) { return builder_.getInt32(static_cast<uint32_t>(n)); };
      dims.push_back({number(d.min), number(d.extent), number(d.stride)});
    }
    return constant_descriptors_[buffer] =
               make_descriptor(buffer, c->type(), module_.constant_data(buffer),
                               polyhalite_buffer_flag_host_dirty, dims);
  }
  internal_check(false, ("'" + buffer + "' has no memory on a device").c_str());
  return nullptr;
}

void FunctionEmitter::set_dirty(Value *descriptor, uint64_t flag) {
  Value *flags = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), descriptor,
                                                     module_.abi.buffer.flags);
  Value *now = builder_.CreateAlignedLoad(builder_.getInt64Ty(), flags, llvm::Align(4));
  builder_.CreateAlignedStore(builder_.CreateOr(now, builder_.getInt64(flag)), flags,
                              llvm::Align(4));
}

void FunctionEmitter::emit_transfer(const StmtNode &s) {
  Value *buffer = descriptor_of(s.name);
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  switch (s.transfer) {
    case Transfer::DeviceDirty:
      return set_dirty(buffer, polyhalite_buffer_flag_device_dirty);
    case Transfer::HostDirty:
      return set_dirty(buffer, polyhalite_buffer_flag_host_dirty);
    case Transfer::ToHost: {
      llvm::FunctionCallee copy =
          module_.declare("polyhalite_copy_to_host", i32, {pointer, pointer});
      return_if_nonzero(builder_.CreateCall(copy, {user_context_, buffer}));
      break;
    }
    case Transfer::ToDevice: {
      if (is_input(module_.function, s.name)) {
        // An input that never was on the device has its elements on the host, whatever is noted.
        Value *device = builder_.CreateAlignedLoad(builder_.getInt64Ty(), buffer, llvm::Align(4));
        llvm::BasicBlock *fresh = block("first_copy"), *copy = block("copy");
        builder_.CreateCondBr(builder_.CreateIsNull(device), fresh, copy);
        builder_.SetInsertPoint(fresh);
        set_dirty(buffer, polyhalite_buffer_flag_host_dirty);
        builder_.CreateBr(copy);
        builder_.SetInsertPoint(copy);
      }
      return_if_nonzero(call_with_device("polyhalite_copy_to_device", buffer));
      break;
    }
  }
  scopes_.memory_changed();
}

Value *FunctionEmitter::call_with_device(const char *function, Value *descriptor) {
  llvm::Type *pointer = builder_.getPtrTy();
  Value *device =
      builder_.CreateCall(module_.declare("polyhalite_cuda_device_interface", pointer, {}));
  llvm::FunctionCallee callee =
      module_.declare(function, builder_.getInt32Ty(), {pointer, pointer, pointer});
  return builder_.CreateCall(callee, {user_context_, descriptor, device});
}

void FunctionEmitter::emit_on_device(const StmtNode &s) {
  llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty();
  Value *bytes = size_in_bytes(s);
  // Dimensions count in 32 bits: larger ones are no memory of this kind.
  const uint64_t most = INT32_MAX * static_cast<uint64_t>(s.type.bytes());
  llvm::BasicBlock *fail = block("too_large"), *fine = block("fits");
  builder_.CreateCondBr(builder_.CreateICmpUGT(bytes, builder_.getInt64(most)), fail, fine);
  builder_.SetInsertPoint(fail);
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::FunctionCallee report = module_.declare("polyhalite_error_buffer_allocation_too_large", i32,
                                                {pointer, pointer, pointer, i64, i64});
  return_code(
      builder_.CreateCall(report, {user_context_, module_.string(module_.function.name),
                                   module_.string(s.name), bytes, builder_.getInt64(most)}));
  builder_.SetInsertPoint(fine);
  const bool mirrored = s.home == Home::Mirrored;
  Value *host = mirrored
                    ? emit_malloc(s, bytes)
                    : static_cast<Value *>(llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  if (mirrored) {
    own_storage_[s.name] = 32;  // what programs' own allocators give at least
    live_heap_.push_back({s.name, host});
    pointers_[s.name] = host;
  }
  Value *elements =
      builder_.CreateTrunc(builder_.CreateUDiv(bytes, builder_.getInt64(s.type.bytes())), i32);
  Value *descriptor = make_descriptor(s.name, s.type, host, 0,
                                      {{builder_.getInt32(0), elements, builder_.getInt32(1)}});
  // Mirrored memory is made by the first copy_to_device; nothing else would make that which the
  // device alone has.
  if (!mirrored) return_if_nonzero(call_with_device("polyhalite_device_malloc", descriptor));
  arguments_[s.name] = descriptor;
  live_heap_.push_back({s.name, descriptor, true});
  scopes_.push();
  emit_stmt(s.body[0]);
  scopes_.pop();
  live_heap_.pop_back();
  arguments_.erase(s.name);
  free_on_device(descriptor);
  if (!mirrored) return;
  pointers_.erase(s.name);
  live_heap_.pop_back();
  bill_memory("memory_free", s.name, bytes);
  emit_free(host);
}

void FunctionEmitter::free_on_device(Value *descriptor) {
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::FunctionCallee free =
      module_.declare("polyhalite_device_free", builder_.getInt32Ty(), {pointer, pointer});
  builder_.CreateCall(free, {user_context_, descriptor});
}

void FunctionEmitter::release_constants() {
  if (constant_descriptors_.empty()) return;
  for (llvm::BasicBlock &b : *function_) {
    auto *ret = llvm::dyn_cast<llvm::ReturnInst>(b.getTerminator());
    if (!ret) continue;
    builder_.SetInsertPoint(ret);
    for (const auto &[name, descriptor] : constant_descriptors_) free_on_device(descriptor);
  }
}

void FunctionEmitter::emit_launch(const Stmt &kernel) {
  const int number = module_.device_code.numbers.at(kernel.get());
  const KernelOperands operands = kernel_operands(kernel);
  const Nest nest = block_nest(kernel);
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::IRBuilder<> entry = entry_builder();
  auto *three = llvm::ArrayType::get(i32, 3);
  const size_t count = operands.buffers.size() + operands.scalars.size();
  auto *list_type = llvm::ArrayType::get(pointer, count);
  Value *blocks = entry.CreateAlloca(three, nullptr, kernel->name + ".blocks");
  Value *threads = entry.CreateAlloca(three, nullptr, kernel->name + ".threads");
  Value *list = entry.CreateAlloca(list_type, nullptr, kernel->name + ".args");
  for (unsigned d = 0; d < 3; d++) {
    Value *n = d < nest.loops.size() ? emit(nest.loops[d]->args[1])
                                     : static_cast<Value *>(builder_.getInt32(1));
    builder_.CreateStore(n, builder_.CreateConstInBoundsGEP2_32(three, blocks, 0, d));
    builder_.CreateStore(emit(kernel->args[d]),
                         builder_.CreateConstInBoundsGEP2_32(three, threads, 0, d));
  }
  unsigned position = 0;
  auto pass = [&](Value *address) {
    builder_.CreateStore(address,
                         builder_.CreateConstInBoundsGEP2_32(list_type, list, 0, position++));
  };
  for (const KernelBuffer &b : operands.buffers) pass(descriptor_of(b.name));
  for (const Expr &e : operands.scalars) {
    Value *value = to_memory(emit(e), e.type());
    Value *slot = entry_builder().CreateAlloca(value->getType(), nullptr, as_variable(e)->name);
    builder_.CreateStore(value, slot);
    pass(slot);
  }
  const DeviceKernel &compiled = module_.device_code.kernels[static_cast<size_t>(number)];
  const int64_t bytes = compiled.dynamic_bytes;
  Value *chosen = builder_.getInt32(static_cast<uint32_t>(number));
  if (compiled.aligned >= 0) {
    Value *aligned = builder_.getTrue();
    auto require_multiple = [&](Value *v, int64_t of) {
      Value *rest = builder_.CreateAnd(v, static_cast<uint64_t>(of - 1));
      aligned = builder_.CreateAnd(aligned, builder_.CreateIsNull(rest));
    };
    const AlignedOperands wanted = aligned_operands(kernel, operands);
    for (const std::string &b : wanted.buffers) {
      require_multiple(
          builder_.CreateAlignedLoad(builder_.getInt64Ty(), descriptor_of(b), llvm::Align(4)), 16);
    }
    for (const Expr &e : operands.scalars) {
      const auto field = wanted.fields.find(as_variable(e)->name);
      if (field != wanted.fields.end()) require_multiple(emit(e), field->second);
    }
    chosen = builder_.CreateSelect(
        aligned, builder_.getInt32(static_cast<uint32_t>(compiled.aligned)), chosen);
  }
  llvm::FunctionCallee run = module_.declare(
      "polyhalite_cuda_run", i32, {pointer, pointer, i32, pointer, pointer, i32, pointer, i32});
  return_if_nonzero(builder_.CreateCall(
      run, {user_context_, module_.kernel_module(), chosen, blocks, threads,
            builder_.getInt32(static_cast<uint32_t>(bytes)), list,
            builder_.getInt32(static_cast<uint32_t>(operands.buffers.size()))}));
  scopes_.memory_changed();
}

}  // namespace polyhalite
