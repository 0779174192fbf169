#include "codegen/llvm/abi_layout.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

namespace polyhalite {

namespace {

// One struct: 'p' a pointer, 'l' 64 bits, 'i' 32 bits, field after field.
class Struct {
 public:
  Struct(const llvm::Module &module, const char *fields) {
    llvm::LLVMContext &context = module.getContext();
    std::vector<llvm::Type *> types;
    for (const char *f = fields; *f; f++) {
      types.push_back(*f == 'p'   ? static_cast<llvm::Type *>(llvm::PointerType::get(context, 0))
                      : *f == 'l' ? llvm::Type::getInt64Ty(context)
                                  : llvm::Type::getInt32Ty(context));
    }
    layout_ = module.getDataLayout().getStructLayout(llvm::StructType::get(context, types));
  }
  uint64_t at(unsigned field) const { return layout_->getElementOffset(field).getFixedValue(); }
  uint64_t bytes() const { return layout_->getSizeInBytes().getFixedValue(); }

 private:
  const llvm::StructLayout *layout_;
};

}  // namespace

AbiLayout::AbiLayout(const llvm::Module &module)
    : size_type(module.getDataLayout().getIntPtrType(module.getContext())),
      pointer_bytes(module.getDataLayout().getPointerSize()) {
  // device, interface, host, flags, type, dimensions, dim, padding
  const Struct b(module, "lppliipp");
  buffer = {b.at(2), b.at(3), b.at(4), b.at(5), b.at(6), b.bytes()};
  // current, instance, spare, counted, since
  const Struct thread(module, "ppiil");
  profiler_thread = {thread.at(1), thread.bytes()};
  // seven numbers, next, prev_next, pipeline_stats, funcs, six counters
  profiler_instance_bytes = Struct(module, "lllllllppppiiiiii").bytes();
  // seven numbers, name, num_allocs, entries, cycles
  profiler_func_stats_bytes = Struct(module, "lllllllpill").bytes();
}

}  // namespace polyhalite
