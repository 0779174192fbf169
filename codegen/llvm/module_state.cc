#include "codegen/llvm/module_state.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

#include "codegen/llvm/types.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

void add_allocations(const Stmt &s, std::set<std::string> &names) {
  if (s->kind == StmtKind::Allocate) names.insert(s->name);
  for (const Stmt &child : s->body) add_allocations(child, names);
}

void add_known_sizes(const Stmt &s, std::map<std::string, int64_t> *elements) {
  int64_t known = 0;
  if (s->kind == StmtKind::Allocate && is_const_int(s->args[0], &known))
    (*elements)[s->name] = known;
  for (const Stmt &child : s->body) add_known_sizes(child, elements);
}

// Elements between the lowest and the highest address of a buffer, and where `host` is in it.
struct Span {
  int64_t elements = 1, host = 0;
};

Span span_of(const polyhalite_buffer_t &raw) {
  Span s;
  for (int d = 0; d < raw.dimensions; d++) {
    if (raw.dim[d].extent <= 0) return {0, 0};
    const int64_t last = int64_t{raw.dim[d].extent - 1} * raw.dim[d].stride;
    s.elements += last < 0 ? -last : last;
    if (last < 0) s.host -= last;
  }
  return s;
}

}  // namespace

std::set<std::string> buffer_names(const Function &f) {
  std::set<std::string> names;
  for (const FunctionArgument &a : f.args) {
    if (a.is_buffer) names.insert(a.name);
  }
  for (const auto &c : f.constants) names.insert(c->name);
  add_allocations(f.body, names);
  return names;
}

ModuleState::ModuleState(llvm::Module &module, const Function &function, const Target &target,
                         const EmitOptions &options)
    : module(module),
      function(function),
      target(target),
      options(options),
      profile(function, target),
      abi(module) {
  add_known_sizes(function.body, &known_elements_);
  for (const auto &c : function.constants) {
    const Span span = span_of(c->raw());
    if (span.host == 0) known_elements_[c->name] = span.elements;
  }
  llvm::MDBuilder metadata(module.getContext());
  llvm::MDNode *domain = metadata.createAliasScopeDomain(function.name);
  const std::set<std::string> names = buffer_names(function);
  std::vector<llvm::Metadata *> all;
  std::vector<std::string> order(names.begin(), names.end());
  for (const std::string &name : order) {
    all.push_back(metadata.createAliasScope(name, domain));
  }
  for (size_t i = 0; i < order.size(); i++) {
    std::vector<llvm::Metadata *> others = all;
    others.erase(others.begin() + static_cast<int64_t>(i));
    alias_scopes_[order[i]] = {llvm::MDNode::get(context(), all[i]),
                               llvm::MDNode::get(context(), others)};
  }
}

int64_t ModuleState::known_elements(const std::string &buffer) const {
  const auto at = known_elements_.find(buffer);
  return at == known_elements_.end() ? 0 : at->second;
}

llvm::FunctionCallee ModuleState::declare(const std::string &name, llvm::Type *result,
                                          llvm::ArrayRef<llvm::Type *> args) {
  auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, args, false));
  if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) f->setDoesNotThrow();
  return callee;
}

llvm::Constant *ModuleState::string(const std::string &text) {
  llvm::Constant *&known = strings_[text];
  if (known) return known;
  llvm::Constant *bytes = llvm::ConstantDataArray::getString(context(), text);
  auto *global = new llvm::GlobalVariable(module, bytes->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, bytes, "text");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  // Programs see addresses of texts as handles, whose low bits some use.
  global->setAlignment(llvm::Align(8));
  return known = global;
}

namespace {

// Equal texts have equal numbers: their module is loaded once.
uint64_t hash_of(const std::string &text) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return hash;
}

}  // namespace

llvm::Constant *ModuleState::kernel_module() {
  if (kernel_module_) return kernel_module_;
  llvm::LLVMContext &c = context();
  auto *pointer = llvm::PointerType::get(c, 0);
  auto *i32 = llvm::Type::getInt32Ty(c), *i64 = llvm::Type::getInt64Ty(c);
  auto *kernel_type = llvm::StructType::get(c, {pointer, pointer});
  std::string identity = device_code.portable + device_code.sm_90a;
  std::vector<llvm::Constant *> kernels;
  for (const DeviceKernel &k : device_code.kernels) {
    identity += "\n" + k.symbol;
    kernels.push_back(llvm::ConstantStruct::get(kernel_type, {string(k.symbol), string(k.stage)}));
  }
  auto make = [&](llvm::Constant *value, const char *name) {
    return new llvm::GlobalVariable(module, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
  };
  llvm::Constant *list =
      make(llvm::ConstantArray::get(llvm::ArrayType::get(kernel_type, kernels.size()), kernels),
           "kernels");
  auto number = [](llvm::Type *type, uint64_t n) { return llvm::ConstantInt::get(type, n); };
  llvm::Constant *none = llvm::ConstantPointerNull::get(pointer);
  const bool wide = target.has_feature(Target::LargeBuffers);
  // As polyhalite_cuda_module_t.
  auto *type =
      llvm::StructType::get(c, {pointer, pointer, pointer, pointer, i64, i32, i32, i32, i32});
  return kernel_module_ = make(
             llvm::ConstantStruct::get(
                 type, {string(function.name), string(device_code.portable),
                        device_code.sm_90a.empty() ? none : string(device_code.sm_90a), list,
                        number(i64, hash_of(identity)),
                        number(i32, static_cast<uint64_t>(device_code.capability)),
                        number(i32, kernels.size()), number(i32, wide ? 1 : 0), number(i32, 0)}),
             "kernel_module");
}

llvm::Constant *ModuleState::constant_data(const std::string &buffer) {
  llvm::Constant *&known = constants_[buffer];
  if (known) return known;
  for (const auto &c : function.constants) {
    if (c->name != buffer) continue;
    auto *address_type = llvm::Type::getInt64Ty(context());
    auto *pointer = llvm::PointerType::get(context(), 0);
    if (options.constants_by_address) {
      auto *address =
          llvm::ConstantInt::get(address_type, reinterpret_cast<uintptr_t>(c->raw().host));
      return known = llvm::ConstantExpr::getIntToPtr(address, pointer);
    }
    const Span span = span_of(c->raw());
    const int bytes = c->type().bytes();
    const auto *first = reinterpret_cast<const char *>(c->raw().host) - span.host * bytes;
    llvm::Constant *data = llvm::ConstantDataArray::getRaw(
        llvm::StringRef(first, static_cast<size_t>(span.elements * bytes)),
        static_cast<uint64_t>(span.elements * bytes), llvm::Type::getInt8Ty(context()));
    auto *global = new llvm::GlobalVariable(module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, buffer);
    global->setAlignment(llvm::Align(64));
    return known = llvm::ConstantExpr::getGetElementPtr(
               llvm::Type::getInt8Ty(context()), global,
               llvm::ConstantInt::get(address_type, static_cast<uint64_t>(span.host * bytes)));
  }
  return nullptr;
}

llvm::GlobalVariable *ModuleState::zeros() {
  if (zeros_) return zeros_;
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), 64);
  auto *global = new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantAggregateZero::get(type), "zeros");
  global->setAlignment(llvm::Align(64));
  return zeros_ = global;
}

void ModuleState::mark_access(llvm::Instruction *access, const std::string &buffer) {
  auto at = alias_scopes_.find(buffer);
  if (at == alias_scopes_.end()) return;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, at->second.self);
  access->setMetadata(llvm::LLVMContext::MD_noalias, at->second.others);
}

llvm::Function *ModuleState::make_function(const std::string &name, llvm::FunctionType *type,
                                           llvm::GlobalValue::LinkageTypes linkage) {
  auto *f = llvm::Function::Create(type, linkage, name, module);
  f->setDoesNotThrow();
  return f;
}

}  // namespace polyhalite
