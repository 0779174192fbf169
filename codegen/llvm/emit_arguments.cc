// The pipeline's own function: scalar and buffer arguments, and the fields of the latter.
#include <cstddef>

#include "codegen/ir/visit.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_buffer.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr uint64_t kConstantAlignment = 64;

}  // namespace

FunctionEmitter::FunctionEmitter(ModuleState &module, llvm::Function *f)
    : module_(module), context_(module.context()), function_(f), builder_(context_) {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", f));
  strict_ = module_.target.has_feature(Target::StrictFloat);
  user_context_ = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  for (const auto &c : module_.function.constants) {
    if (!module_.options.constants_by_address) own_storage_[c->name] = kConstantAlignment;
  }
}

void FunctionEmitter::emit_pipeline() {
  bind_arguments();
  ask_for_tiles();
  emit_stmt(module_.function.body);
  builder_.CreateRet(builder_.getInt32(0));
  release_slots();
  release_constants();
}

void FunctionEmitter::bind_arguments() {
  unsigned position = 0;
  if (module_.options.user_context) {
    user_context_ = function_->getArg(position++);
    user_context_->setName("user_context");
  }
  for (const FunctionArgument &a : module_.function.args) {
    Value *value = function_->getArg(position++);
    value->setName(a.name);
    if (a.is_buffer) {
      arguments_[a.name] = value;
      continue;
    }
    Binding b;
    b.value = value;
    if (a.type.is_affine()) b.wide = builder_.CreateSExt(value, builder_.getInt64Ty());
    scopes_.bind(a.name, b);
  }
}

// Fields that a check names are loaded in front of it, where they are compared with what is in
// memory: a small pipeline takes as long as its checks. The others stand before the first statement
// that is no check, in code that every later statement has passed.
void FunctionEmitter::load_fields() {
  if (fields_loaded_) return;
  fields_loaded_ = true;
  const auto &layout = module_.abi.buffer;
  for (const FunctionArgument &a : module_.function.args) {
    if (!a.is_buffer) continue;
    pointers_[a.name] = load_from_buffer(a.name, builder_.getPtrTy(), layout.host);
    for (int d = 0; d < a.dimensions; d++) {
      for (const char *field : {"min", "extent", "stride"})
        load_field(a.name + "." + field + "." + std::to_string(d));
    }
  }
}

// "BUFFER.min.0", once.
void FunctionEmitter::load_field(const std::string &name) {
  if (scopes_.find(name)) return;
  Value *value = field_value(name);
  value->setName(name);
  scopes_.bind_outermost(name,
                         {value, builder_.CreateSExt(value, builder_.getInt64Ty()), 0, Expr()});
}

Value *FunctionEmitter::field_value(const std::string &name) {
  const size_t at = name.rfind('.'), before = name.rfind('.', at - 1);
  const std::string field = name.substr(before + 1, at - before - 1);
  const size_t offset = field == "min"      ? offsetof(polyhalite_dimension_t, min)
                        : field == "extent" ? offsetof(polyhalite_dimension_t, extent)
                                            : offsetof(polyhalite_dimension_t, stride);
  Value *dims =
      load_from_buffer(name.substr(0, before), builder_.getPtrTy(), module_.abi.buffer.dim);
  const size_t d = std::stoul(name.substr(at + 1));
  return builder_.CreateAlignedLoad(
      builder_.getInt32Ty(),
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), dims,
                                          d * sizeof(polyhalite_dimension_t) + offset),
      llvm::Align(alignof(int32_t)));
}

Value *FunctionEmitter::load_from_buffer(const std::string &buffer, llvm::Type *type,
                                         uint64_t offset) {
  return builder_.CreateAlignedLoad(
      type,
      builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), arguments_.at(buffer), offset),
      llvm::Align(module_.abi.pointer_bytes));
}

void FunctionEmitter::load_fields_for(const Stmt &s) {
  bool is_check = true;
  std::vector<std::string> fields;
  const auto look = [&](const Stmt &part) {
    switch (part->kind) {
      case StmtKind::For:
      case StmtKind::Store:
      case StmtKind::Fork:
      case StmtKind::Memoize:
      case StmtKind::Atomic:
      case StmtKind::Kernel:
        is_check = false;
        break;
      default:
        break;
    }
    for (const Expr &arg : part->args) {
      for_each_node(arg, [&](const Expr &e) {
        const VariableNode *v = as_variable(e);
        if (v && v->kind == VariableKind::BufferField && !v->image) fields.push_back(v->name);
        is_check = is_check && e->op != Op::Load;
      });
    }
  };
  // Containers are asked statement by statement; loops and conditions as a whole, since what they
  // contain does not dominate what follows.
  switch (s->kind) {
    case StmtKind::Block:
    case StmtKind::Produce:
    case StmtKind::Profile:
      return;
    case StmtKind::If:
      for_each_stmt(s, look);
      break;
    default:
      look(s);
      break;
  }
  if (!is_check) return load_fields();
  for (const std::string &name : fields) load_field(name);
}

Value *FunctionEmitter::emit_buffer_fact(const CallNode &call) {
  const std::string &name = call.name;
  const ImmNode *buffer = call.args.empty() ? nullptr : as_imm(call.args[0]);
  auto at = buffer ? arguments_.find(buffer->s) : arguments_.end();
  if (at == arguments_.end()) {
    internal_check(false, ("intrinsic '" + name + "' has no meaning in flat loop IR").c_str());
  }
  Value *pointer = at->second;
  const auto &fields = module_.abi.buffer;
  auto field = [&](llvm::Type *type, uint64_t offset, uint64_t align) {
    return builder_.CreateAlignedLoad(
        type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer, offset),
        llvm::Align(align));
  };
  if (name == intrinsic::kBufferIsNull) return builder_.CreateIsNull(pointer);
  if (name == intrinsic::kBufferPointer) return pointer;
  auto pointer_at = [&](uint64_t offset) {
    return field(builder_.getPtrTy(), offset, module_.abi.pointer_bytes);
  };
  if (name == intrinsic::kBufferHost) {
    return builder_.CreatePtrToInt(pointer_at(fields.host), builder_.getInt64Ty());
  }
  if (name == intrinsic::kBufferHostIsNull) return builder_.CreateIsNull(pointer_at(fields.host));
  if (name == intrinsic::kBufferIsQuery) {
    return builder_.CreateAnd(
        builder_.CreateIsNull(pointer_at(fields.host)),
        builder_.CreateIsNull(field(builder_.getInt64Ty(), 0, 8)));  // its device comes first
  }
  if (name == intrinsic::kBufferDeviceDirty) {
    return builder_.CreateIsNotNull(
        builder_.CreateAnd(field(builder_.getInt64Ty(), fields.flags, 8),
                           builder_.getInt64(polyhalite_buffer_flag_device_dirty)));
  }
  if (name == intrinsic::kBufferDimIsNull) return builder_.CreateIsNull(pointer_at(fields.dim));
  // code | bits << 8 | lanes << 16 is the type's bytes read as one number.
  if (name == intrinsic::kBufferType) {
    return field(builder_.getInt32Ty(), fields.type, 4);
  }
  internal_check(name == intrinsic::kBufferDimensions, "an intrinsic that emission does not know");
  return field(builder_.getInt32Ty(), fields.dimensions, 4);
}

}  // namespace polyhalite
