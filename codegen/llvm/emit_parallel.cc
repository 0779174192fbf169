// Parallel loops and forks: the body becomes a task function, what it uses a closure.
//
//   parallel for y in [a, a+n) { ... k, rows ... }
//     ->  closure = {k, rows};  polyhalite_do_par_for_ranges(context, range, a, n, closure)
//         int range(context, first, count, closure) {
//           k, rows = closure;  for y in [first, first+count) { ... }
//         }
//
//   fork f (s = 0) { A } and { B }
//     ->  s = semaphore(0);  polyhalite_do_fork(context, task_a, task_b, closure, {s}, 1)
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Every name of a variable and of a buffer that a statement mentions.
struct Names {
  std::set<std::string> variables, buffers, facts;

  void add(const Stmt &s) {
    for (const Expr &arg : s->args) {
      for_each_node(arg, [this](const Expr &e) {
        if (const VariableNode *v = as_variable(e)) variables.insert(v->name);
        if (const LoadNode *load = as_load(e)) buffers.insert(load->buffer);
        const CallNode *call = as_call(e);
        if (call && call->kind == CallKind::Intrinsic && !call->args.empty()) {
          if (call->args[0]->op == Op::StringImm) facts.insert(as_imm(call->args[0])->s);
        }
      });
    }
    const bool waits = s->kind == StmtKind::Acquire || s->kind == StmtKind::Release;
    if (s->kind == StmtKind::Store || waits) buffers.insert(s->name);
    buffers.insert(s->buffers.begin(), s->buffers.end());
    if (s->kind == StmtKind::Transfer) facts.insert(s->name);
    for (const Stmt &child : s->body) add(child);
    if (s->kind == StmtKind::Kernel) {
      for (const KernelBuffer &b : kernel_operands(s).buffers) facts.insert(b.name);
    }
  }
};

}  // namespace

std::vector<FunctionEmitter::Capture> FunctionEmitter::captures_of(
    const std::vector<Stmt> &bodies) {
  Names names;
  for (const Stmt &body : bodies) names.add(body);
  std::vector<Capture> captures;
  for (const std::string &name : names.variables) {
    const Binding *b = scopes_.find(name);
    if (!b) continue;
    if (b->wide) {
      captures.push_back({name, Capture::Wide, b->wide, b->value->getType()});
    } else {
      captures.push_back({name, Capture::Variable, b->value, nullptr});
    }
  }
  for (const std::string &name : names.buffers) {
    auto at = pointers_.find(name);
    if (at == pointers_.end()) continue;
    if (llvm::isa<llvm::Constant>(at->second)) continue;
    captures.push_back({name, Capture::Pointer, at->second, nullptr});
  }
  for (const std::string &name : names.facts) {
    auto at = arguments_.find(name);
    if (at != arguments_.end()) captures.push_back({name, Capture::Argument, at->second, nullptr});
  }
  if (profile_) captures.push_back({"profile", Capture::Profile, profiled_instance(), nullptr});
  return captures;
}

llvm::StructType *FunctionEmitter::closure_type(const std::vector<Capture> &captures) {
  std::vector<llvm::Type *> types;
  for (const Capture &c : captures) types.push_back(c.value->getType());
  return llvm::StructType::get(context_, types);
}

Value *FunctionEmitter::store_captures(const std::string &name,
                                       const std::vector<Capture> &captures,
                                       llvm::StructType *closure) {
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *storage = entry.CreateAlloca(closure, nullptr, name + ".closure");
  for (size_t i = 0; i < captures.size(); i++) {
    builder_.CreateStore(captures[i].value,
                         builder_.CreateStructGEP(closure, storage, static_cast<unsigned>(i)));
  }
  return storage;
}

llvm::Function *FunctionEmitter::make_range(const StmtNode &loop,
                                            const std::vector<Capture> &captures,
                                            llvm::StructType *closure) {
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  auto *type = llvm::FunctionType::get(i32, {pointer, i32, i32, pointer}, false);
  llvm::Function *range = module_.make_function(module_.function.name + "." + loop.name, type,
                                                llvm::GlobalValue::InternalLinkage);
  FunctionEmitter emitter(module_, range);
  emitter.own_storage_ = own_storage_;
  emitter.billed_ = billed_;
  emitter.emit_task(captures, closure, range->getArg(3), [&] {
    llvm::IRBuilder<> &builder = emitter.builder_;
    Value *first = builder.CreateSExt(range->getArg(1), builder.getInt64Ty());
    Value *count = builder.CreateSExt(range->getArg(2), builder.getInt64Ty());
    emitter.emit_turns(loop, first, builder.CreateNSWAdd(first, count));
  });
  return range;
}

llvm::Function *FunctionEmitter::make_task(const std::string &name, const Stmt &body,
                                           const std::vector<Capture> &captures,
                                           llvm::StructType *closure) {
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  auto *type = llvm::FunctionType::get(i32, {pointer, i32, pointer}, false);
  llvm::Function *task = module_.make_function(module_.function.name + "." + name, type,
                                               llvm::GlobalValue::InternalLinkage);
  FunctionEmitter emitter(module_, task);
  emitter.own_storage_ = own_storage_;
  emitter.billed_ = billed_;
  emitter.emit_task(captures, closure, task->getArg(2), [&] { emitter.emit_stmt(body); });
  return task;
}

void FunctionEmitter::emit_parallel_for(const StmtNode &loop) {
  if (straight_line_) load_fields();
  const std::vector<Capture> captures = captures_of({loop.body[0]});
  llvm::StructType *closure = closure_type(captures);
  Value *storage = store_captures(loop.name, captures, closure);
  llvm::Function *range = make_range(loop, captures, closure);
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::FunctionCallee run =
      module_.declare("polyhalite_do_par_for_ranges", i32, {pointer, pointer, i32, i32, pointer});
  Value *first = emit(loop.args[0]), *count = emit(loop.args[1]);
  suspend_profile();
  Value *code = builder_.CreateCall(run, {user_context_, range, first, count, storage});
  resume_profile();
  scopes_.memory_changed();
  return_if_nonzero(code);
}

void FunctionEmitter::emit_fork(const StmtNode &fork) {
  if (straight_line_) load_fields();
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  const auto count = static_cast<unsigned>(fork.semaphores.size());
  auto *semaphore = llvm::ArrayType::get(builder_.getInt64Ty(), 2);
  llvm::FunctionCallee init =
      module_.declare("polyhalite_semaphore_init", builder_.getVoidTy(), {pointer, i32});
  llvm::IRBuilder<> entry = entry_builder();
  auto *list_type = llvm::ArrayType::get(pointer, count);
  Value *list = entry.CreateAlloca(list_type, nullptr, fork.name + ".semaphores");
  for (unsigned i = 0; i < count; i++) {
    Value *s = entry.CreateAlloca(semaphore, nullptr, fork.semaphores[i]);
    builder_.CreateCall(init, {s, emit(fork.args[i])});
    builder_.CreateStore(s, builder_.CreateConstInBoundsGEP2_32(list_type, list, 0, i));
    pointers_[fork.semaphores[i]] = s;
  }
  const std::vector<Capture> captures = captures_of(fork.body);
  llvm::StructType *closure = closure_type(captures);
  Value *storage = store_captures(fork.name, captures, closure);
  llvm::Function *producer = make_task(fork.name + ".producer", fork.body[0], captures, closure);
  llvm::Function *consumer = make_task(fork.name + ".consumer", fork.body[1], captures, closure);
  for (const std::string &name : fork.semaphores) pointers_.erase(name);
  llvm::FunctionCallee run = module_.declare("polyhalite_do_fork", i32,
                                             {pointer, pointer, pointer, pointer, pointer, i32});
  suspend_profile();
  Value *code = builder_.CreateCall(
      run, {user_context_, producer, consumer, storage, list, builder_.getInt32(count)});
  resume_profile();
  scopes_.memory_changed();
  return_if_nonzero(code);
}

void FunctionEmitter::emit_acquire(const StmtNode &s) {
  llvm::FunctionCallee acquire =
      module_.declare("polyhalite_semaphore_acquire", builder_.getInt32Ty(), {builder_.getPtrTy()});
  suspend_profile();
  Value *code = builder_.CreateCall(acquire, {pointers_.at(s.name)});
  resume_profile();
  scopes_.memory_changed();
  return_if_nonzero(code);
}

void FunctionEmitter::emit_release(const StmtNode &s) {
  llvm::FunctionCallee release =
      module_.declare("polyhalite_semaphore_release", builder_.getVoidTy(), {builder_.getPtrTy()});
  builder_.CreateCall(release, {pointers_.at(s.name)});
  scopes_.memory_changed();
}

void FunctionEmitter::emit_task(const std::vector<Capture> &captures, llvm::StructType *closure,
                                Value *storage, const std::function<void()> &emit_body) {
  user_context_ = function_->getArg(0);
  is_task_ = true;
  fields_loaded_ = true;
  straight_line_ = false;
  for (size_t i = 0; i < captures.size(); i++) {
    const Capture &c = captures[i];
    Value *value = builder_.CreateLoad(
        c.value->getType(), builder_.CreateStructGEP(closure, storage, static_cast<unsigned>(i)),
        c.name);
    switch (c.kind) {
      case Capture::Pointer:
        pointers_[c.name] = value;
        break;
      case Capture::Argument:
        arguments_[c.name] = value;
        break;
      case Capture::Profile:
        begin_task_profile(value);
        break;
      case Capture::Variable:
        scopes_.bind(c.name, {value, nullptr, depth_, Expr()});
        break;
      case Capture::Wide:
        scopes_.bind(c.name, {builder_.CreateTrunc(value, c.narrow), value, depth_, Expr()});
        break;
    }
  }
  depth_++;
  emit_body();
  end_profile();
  builder_.CreateRet(builder_.getInt32(0));
  release_slots();
  release_constants();
}

}  // namespace polyhalite
