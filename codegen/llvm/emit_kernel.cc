// The inside of kernels: blocks, phases of threads, barriers, what threads share.
//
//   kernel k threads (32, 8, 1) {              void k(ptr addrspace(1) in, ..., i32 n, ...)
//     for bx in (0, n) gpu_block {             bx = ctaid.x
//       allocate t: float32[340] block         t = the kernel's block memory + offset
//       for ty in (0, 8) gpu_thread {          if (tid.x < 30) { ty = tid.y, tx = tid.x
//         for tx in (0, 30) gpu_thread { A }     A }
//       }
//       barrier                                bar.sync 0
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/ir/visit.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr llvm::Intrinsic::ID kBlockNumber[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
constexpr llvm::Intrinsic::ID kThreadNumber[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                                 llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                                 llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr uint64_t kMostBlocks[] = {INT32_MAX, 65535, 65535};
constexpr uint64_t kMostThreadsAlong[] = {kMostThreads, kMostThreads, kMostThreadsAlongZ};
constexpr unsigned kBlockSpace = 3;
constexpr uint64_t kBlockMemoryAlignment = 128, kVectorAlignment = 16;
// So that any swizzle of the copy engine fits.
constexpr uint64_t kArenaAlignment = 1024;

Value *read_number(llvm::IRBuilder<> &b, llvm::Intrinsic::ID id, uint64_t end) {
  llvm::CallInst *call = b.CreateIntrinsic(id, {}, {});
  call->setMetadata(
      llvm::LLVMContext::MD_range,
      llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, end)));
  return call;
}

// Up to 48 KiB of memory can stand in the module; beyond them the launch says how much there is.
llvm::GlobalVariable *block_memory(llvm::Module &module, const std::string &kernel, int64_t bytes) {
  const bool is_static = bytes <= kMostStaticBlockBytes;
  const std::string name = is_static ? kernel + "_block_memory" : "dynamic_block_memory";
  if (llvm::GlobalVariable *known = module.getNamedGlobal(name)) return known;
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()),
                                    is_static ? static_cast<uint64_t>(bytes) : 0);
  auto *memory = new llvm::GlobalVariable(
      module, type, false,
      is_static ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage,
      is_static ? llvm::UndefValue::get(type) : nullptr, name, nullptr,
      llvm::GlobalValue::NotThreadLocal, kBlockSpace);
  memory->setAlignment(llvm::Align(kArenaAlignment));
  return memory;
}

}  // namespace

void FunctionEmitter::emit_kernel(const Stmt &kernel, const KernelOperands &operands,
                                  const AlignedOperands &aligned) {
  for (const std::string &buffer : aligned.buffers) own_storage_[buffer] = kVectorAlignment;
  multiples_ = aligned.fields;
  kernel_ = std::make_unique<KernelState>();
  kernel_->kernel = kernel;
  fields_loaded_ = true;
  straight_line_ = false;
  unsigned position = 0;
  for (const KernelBuffer &b : operands.buffers) {
    llvm::Argument *pointer = function_->getArg(position++);
    pointer->setName(b.name);
    // What another thread writes is not this function's alone, whatever a barrier's call may do.
    if (!b.is_written) {
      pointer->addAttr(llvm::Attribute::NoAlias);
      pointer->addAttr(llvm::Attribute::ReadOnly);
    }
    pointers_[b.name] = pointer;
  }
  for (const Expr &e : operands.scalars) {
    Value *value = function_->getArg(position++);
    const std::string &name = as_variable(e)->name;
    value->setName(name);
    const Type t = e.type();
    Binding b;
    b.value = t.is_bool() ? builder_.CreateIsNotNull(value) : value;
    if (t.is_affine()) b.wide = builder_.CreateSExt(value, builder_.getInt64Ty());
    scopes_.bind(name, b);
  }
  if (const int64_t bytes = block_bytes(kernel)) {
    kernel_->block_memory = block_memory(module_.module, function_->getName().str(), bytes);
  }
  emit_blocks(kernel);
  builder_.CreateRetVoid();
}

void FunctionEmitter::emit_blocks(const Stmt &kernel) {
  const Nest blocks = block_nest(kernel);
  for (size_t d = blocks.loops.size(); d-- > 0;) {
    Value *number = read_number(builder_, kBlockNumber[d], kMostBlocks[d]);
    depth_++;
    scopes_.bind(blocks.loops[d]->name,
                 {number, builder_.CreateSExt(number, builder_.getInt64Ty()), depth_, Expr()});
  }
  emit_stmt(blocks.body);
}

// Threads beyond the phase's extents go round it.
void FunctionEmitter::emit_phase(const Nest &nest) {
  internal_check(kernel_ != nullptr, "threads outside of a kernel");
  Value *inside = nullptr;
  Value *numbers[3] = {};
  for (size_t d = 0; d < 3; d++) {
    const Expr &threads = kernel_->kernel->args[d];
    numbers[d] = is_one(threads) ? static_cast<Value *>(builder_.getInt32(0))
                                 : read_number(builder_, kThreadNumber[d], kMostThreadsAlong[d]);
    Value *takes_part = nullptr;
    if (d >= nest.loops.size()) {
      if (is_one(threads)) continue;
      takes_part = builder_.CreateICmpEQ(numbers[d], builder_.getInt32(0));
    } else if (!equal(nest.loops[d]->args[1], threads)) {
      takes_part = builder_.CreateICmpSLT(numbers[d], emit(nest.loops[d]->args[1]));
    }
    if (takes_part) inside = inside ? builder_.CreateAnd(inside, takes_part) : takes_part;
  }
  llvm::BasicBlock *after = nullptr;
  if (inside) {
    llvm::BasicBlock *body = block("phase");
    after = block("after_phase");
    builder_.CreateCondBr(inside, body, after);
    builder_.SetInsertPoint(body);
  }
  const int outside = depth_;
  scopes_.memory_changed();
  scopes_.push();
  for (size_t d = nest.loops.size(); d-- > 0;) {
    depth_++;
    scopes_.bind(
        nest.loops[d]->name,
        {numbers[d], builder_.CreateSExt(numbers[d], builder_.getInt64Ty()), depth_, Expr()});
  }
  emit_stmt(nest.body);
  scopes_.pop();
  scopes_.memory_changed();
  depth_ = outside;
  if (!inside) return;
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_barrier() {
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
  scopes_.memory_changed();
}

void FunctionEmitter::emit_in_block_memory(const StmtNode &s) {
  int64_t elements = 0;
  internal_check(kernel_ && is_const_int(s.args[0], &elements),
                 "what the threads of a block share has a constant size");
  const uint64_t bytes = static_cast<uint64_t>(elements) * static_cast<uint64_t>(s.type.bytes());
  own_storage_[s.name] = kBlockMemoryAlignment;
  pointers_[s.name] = builder_.CreateConstInBoundsGEP1_64(
      builder_.getInt8Ty(), kernel_->block_memory, static_cast<uint64_t>(kernel_->used_bytes));
  // Never used twice: threads of one phase may still read what others of the next write.
  kernel_->used_bytes += static_cast<int64_t>((bytes + kBlockMemoryAlignment - 1) /
                                              kBlockMemoryAlignment * kBlockMemoryAlignment);
  scopes_.push();
  emit_stmt(s.body[0]);
  scopes_.pop();
  pointers_.erase(s.name);
}

Value *FunctionEmitter::narrow_address(const std::string &buffer, Type element,
                                       const Polynomial &p) {
  const auto [by_depth, constant, depends_on_memory] = terms_of(p);
  llvm::Type *i32 = builder_.getInt32Ty();
  // The sum of terms is no buffer's own: another one with the same shape uses it too. It may wrap
  // on the way; what it ends at fits.
  PointerKey key{"", {}};
  Value *offset = nullptr;
  for (const auto &[depth, terms] : by_depth) {
    key.terms.insert(key.terms.end(), terms.begin(), terms.end());
    Value *known = depends_on_memory ? nullptr : scopes_.known_pointer(key);
    if (known) {
      offset = known;
      continue;
    }
    for (const auto &[monomial, coefficient] : terms) {
      Value *term = nullptr;
      for (const Expr &atom : monomial) {
        Value *factor = builder_.CreateTrunc(emit(atom), i32);
        term = term ? builder_.CreateMul(term, factor) : factor;
      }
      if (coefficient != 1) {
        term = builder_.CreateMul(term, llvm::ConstantInt::getSigned(i32, coefficient));
      }
      offset = offset ? builder_.CreateAdd(offset, term) : term;
    }
    if (!depends_on_memory) scopes_.remember_pointer(key, offset);
  }
  llvm::Type *step = memory_type(context_, element.element_of());
  Value *pointer = base_pointer(buffer);
  if (offset) pointer = builder_.CreateGEP(step, pointer, offset);
  if (constant == 0) return pointer;
  return builder_.CreateGEP(step, pointer, llvm::ConstantInt::getSigned(i32, constant));
}

// cell = f(cell), whatever f is:
//
//   old = cell;  do { new = f(old); seen = cas(cell, old, new); same = seen == old; old = seen }
//   while (!same)
void FunctionEmitter::emit_kernel_atomic(const Stmt &update) {
  if (update->kind == StmtKind::Let) {
    bind_symbol(update->name, update->args[0]);
    emit_kernel_atomic(update->body[0]);
    scopes_.pop();
    return;
  }
  bool one_cell = update->kind == StmtKind::Store && update->args.size() == 2 &&
                  update->args[1].type().is_scalar();
  std::vector<Expr> reads;
  if (one_cell) {
    for_each_node(update->args[1], [&](const Expr &e) {
      const LoadNode *load = as_load(e);
      if (!load || load->buffer != update->name) return;
      one_cell = one_cell && load->args.size() == 1 && equal(load->args[0], update->args[0]);
      reads.push_back(e);
    });
  }
  if (!one_cell) {
    user_error(
        "the kernel '" + kernel_->kernel->name + "' has an atomic update that it cannot make",
        "on a GPU an atomic update writes one cell, from this cell and other buffers",
        "make it on the host, or give each thread cells of its own");
  }
  const Type t = update->args[1].type();
  Value *cell = scalar_address(update->name, t, update->args[0]);
  llvm::Type *stored = memory_type(context_, t);
  llvm::Type *bits = builder_.getIntNTy(static_cast<unsigned>(8 * t.bytes()));
  Value *first = builder_.CreateBitCast(builder_.CreateLoad(stored, cell), bits);
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *again = block("update"), *after = block("updated");
  builder_.CreateBr(again);
  builder_.SetInsertPoint(again);
  llvm::PHINode *old = builder_.CreatePHI(bits, 2, "old");
  old->addIncoming(first, before);
  scopes_.memory_changed();
  scopes_.push();
  Value *old_value = to_register(builder_.CreateBitCast(old, stored), t);
  for (const Expr &e : reads) scopes_.remember({e.get(), strict_, false}, old_value, true);
  Value *value = to_memory(emit(update->args[1]), t);
  scopes_.pop();
  Value *seen = builder_.CreateAtomicCmpXchg(
      cell, old, builder_.CreateBitCast(value, bits), llvm::MaybeAlign(t.bytes()),
      llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
  old->addIncoming(builder_.CreateExtractValue(seen, 0), builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateExtractValue(seen, 1), after, again);
  builder_.SetInsertPoint(after);
  scopes_.memory_changed();
}

}  // namespace polyhalite
