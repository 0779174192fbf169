// NAME_metadata(): a constant halide_filter_metadata_t, in its layout.
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/emit_metadata.h"
#include "lang/abi/polyhalite_metadata.h"

namespace polyhalite {

namespace {

class MetadataWriter {
 public:
  MetadataWriter(ModuleState &state, const Filter &filter)
      : state_(state), filter_(filter), context_(state.context()) {}

  void write() {
    // { version, argument count, arguments, target, name }
    auto *data = llvm::ConstantStruct::getAnon(
        {i32(polyhalite_filter_metadata_version), i32(static_cast<int>(filter_.arguments.size())),
         arguments(), state_.string(filter_.target.to_string()), state_.string(filter_.name)});
    auto *global = constant(data, "metadata", 16);
    auto *type = llvm::FunctionType::get(pointer(), {}, false);
    llvm::Function *f =
        state_.make_function(filter_.metadata_symbol(), type, llvm::GlobalValue::ExternalLinkage);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "entry", f));
    builder.CreateRet(global);
  }

 private:
  llvm::PointerType *pointer() { return llvm::PointerType::get(context_, 0); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(pointer()); }
  llvm::Constant *i32(int64_t v) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), static_cast<uint64_t>(v));
  }
  llvm::Constant *i64(uint64_t v) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context_), v);
  }
  llvm::GlobalVariable *constant(llvm::Constant *data, const char *name, uint64_t align) {
    auto *global = new llvm::GlobalVariable(state_.module, data->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, data, name);
    global->setAlignment(llvm::Align(align));
    return global;
  }

  llvm::Constant *arguments() {
    if (filter_.arguments.empty()) return null();
    std::vector<llvm::Constant *> list;
    for (const FilterArgument &a : filter_.arguments) list.push_back(argument(a));
    return constant(
        llvm::ConstantArray::get(llvm::ArrayType::get(list[0]->getType(), list.size()), list),
        "arguments", 8);
  }

  llvm::Constant *argument(const FilterArgument &a) {
    const uint32_t type = uint32_t(a.type.code()) | uint32_t(a.type.bits()) << 8 | 1u << 16;
    return llvm::ConstantStruct::getAnon({state_.string(a.name), i32(a.kind), i32(a.dimensions),
                                          i32(type), scalar(a.default_value, a.type),
                                          scalar(a.min, a.type), scalar(a.max, a.type),
                                          scalar(a.estimate, a.type), estimates(a)});
  }

  // The value's bytes, as the union halide_scalar_value_t holds them; null where it is no constant.
  llvm::Constant *scalar(const Expr &e, Type t) {
    const auto bits = constant_bits(e, t);
    return bits ? constant(i64(*bits), "scalar", 8) : null();
  }

  llvm::Constant *estimates(const FilterArgument &a) {
    bool any = false;
    std::vector<llvm::Constant *> list;
    for (const Expr &e : a.bounds_estimates) {
      int64_t value = 0;
      const bool known = e.defined() && is_const_int(e, &value);
      any = any || known;
      list.push_back(known ? constant(i64(static_cast<uint64_t>(value)), "estimate", 8) : null());
    }
    if (!any) return null();
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(pointer(), list.size()), list),
                    "estimates", 8);
  }

  ModuleState &state_;
  const Filter &filter_;
  llvm::LLVMContext &context_;
};

}  // namespace

void emit_metadata(ModuleState &state, const Filter &filter) {
  MetadataWriter(state, filter).write();
}

}  // namespace polyhalite
