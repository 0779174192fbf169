// What the functions of one module share: the pipeline, its arguments' order, alias scopes,
// strings.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>

#include "codegen/ir/stmt.h"
#include "codegen/llvm/abi_layout.h"
#include "codegen/llvm/device_code.h"
#include "codegen/llvm/filter.h"
#include "codegen/llvm/profile_table.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct EmitOptions {
  /// The first argument is a user context, handed to every call of the runtime.
  bool user_context = false;
  /// Constant buffers are used where they lie in this process, not embedded.
  bool constants_by_address = false;
  /// Before the function's name, where `filter` gives no names.
  std::string symbol_prefix;
  /// For files: gives the names of the C functions, and the metadata; else null.
  const Filter *filter = nullptr;
};

class ModuleState {
 public:
  ModuleState(llvm::Module &module, const Function &function, const Target &target,
              const EmitOptions &options);

  llvm::LLVMContext &context() { return module.getContext(); }

  llvm::Module &module;
  const Function &function;
  const Target &target;
  const EmitOptions options;
  const ProfileTable profile;
  const AbiLayout abi;
  /// The function's kernels; nothing while those themselves are emitted.
  DeviceCode device_code;
  /// The polyhalite_cuda_module_t with them.
  llvm::Constant *kernel_module();

  /// An external function, declared on first use.
  llvm::FunctionCallee declare(const std::string &name, llvm::Type *result,
                               llvm::ArrayRef<llvm::Type *> args);
  /// A zero-terminated string constant.
  llvm::Constant *string(const std::string &text);
  /// The bytes of a constant buffer; null where there is none of this name.
  llvm::Constant *constant_data(const std::string &buffer);
  /// Elements that an allocation or a dense constant buffer has for certain; 0 where that is not
  /// known.
  int64_t known_elements(const std::string &buffer) const;
  /// 64 bytes of zeros, aligned to 64.
  llvm::GlobalVariable *zeros();
  /// Marks an access of `buffer`: it does not touch what other names stand for. Inputs may overlap
  /// each other, because nothing writes them.
  void mark_access(llvm::Instruction *access, const std::string &buffer);
  /// A new internal function of the module with the pipeline's attributes.
  llvm::Function *make_function(const std::string &name, llvm::FunctionType *type,
                                llvm::GlobalValue::LinkageTypes linkage);

 private:
  struct AliasScope {
    llvm::MDNode *self = nullptr, *others = nullptr;
  };
  std::map<std::string, AliasScope> alias_scopes_;
  std::map<std::string, int64_t> known_elements_;
  std::map<std::string, llvm::Constant *> strings_;
  std::map<std::string, llvm::Constant *> constants_;
  llvm::Constant *kernel_module_ = nullptr;
  llvm::GlobalVariable *zeros_ = nullptr;
};

/// Every buffer that the statement allocates or that is an argument or constant of the function.
std::set<std::string> buffer_names(const Function &f);

}  // namespace polyhalite
