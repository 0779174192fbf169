// Parallel loops: the body becomes a task function, what it uses a closure.
//
//   parallel for y in [a, a+n) { ... k, rows ... }
//     ->  closure = {k, rows};  polyhalite_do_par_for(context, task, a, n, closure)
//         int task(context, y, closure) { k, rows = closure; ... }
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
    if (s->kind == StmtKind::Store) buffers.insert(s->name);
    for (const Stmt &child : s->body) add(child);
  }
};

}  // namespace

std::vector<FunctionEmitter::Capture> FunctionEmitter::captures_of(const StmtNode &loop) {
  Names names;
  names.add(loop.body[0]);
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
  return captures;
}

void FunctionEmitter::emit_parallel_for(const StmtNode &loop) {
  if (straight_line_) load_fields();
  const std::vector<Capture> captures = captures_of(loop);
  std::vector<llvm::Type *> types;
  for (const Capture &c : captures) types.push_back(c.value->getType());
  llvm::StructType *closure = llvm::StructType::get(context_, types);

  llvm::IRBuilder<> entry(entry_position());
  llvm::AllocaInst *storage = entry.CreateAlloca(closure, nullptr, loop.name + ".closure");
  for (size_t i = 0; i < captures.size(); i++) {
    builder_.CreateStore(captures[i].value,
                         builder_.CreateStructGEP(closure, storage, static_cast<unsigned>(i)));
  }
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  auto *task_type = llvm::FunctionType::get(i32, {pointer, i32, pointer}, false);
  llvm::Function *task = module_.make_function(module_.function.name + "." + loop.name, task_type,
                                               llvm::GlobalValue::InternalLinkage);
  FunctionEmitter body(module_, task);
  body.own_storage_ = own_storage_;
  body.emit_task(loop, captures, closure);

  llvm::FunctionCallee run =
      module_.declare("polyhalite_do_par_for", i32, {pointer, pointer, i32, i32, pointer});
  Value *code = builder_.CreateCall(
      run, {user_context_, task, emit(loop.args[0]), emit(loop.args[1]), storage});
  scopes_.memory_changed();
  return_if_nonzero(code);
}

void FunctionEmitter::emit_task(const StmtNode &loop, const std::vector<Capture> &captures,
                                llvm::StructType *closure) {
  user_context_ = function_->getArg(0);
  Value *index = function_->getArg(1), *storage = function_->getArg(2);
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
      case Capture::Variable:
        scopes_.bind(c.name, {value, nullptr, depth_, Expr()});
        break;
      case Capture::Wide:
        scopes_.bind(c.name, {builder_.CreateTrunc(value, c.narrow), value, depth_, Expr()});
        break;
    }
  }
  depth_++;
  scopes_.bind(loop.name,
               {index, builder_.CreateSExt(index, builder_.getInt64Ty()), depth_, Expr()});
  emit_stmt(loop.body[0]);
  builder_.CreateRet(builder_.getInt32(0));
}

}  // namespace polyhalite
