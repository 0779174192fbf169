#include "codegen/llvm/object.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/compile_module.h"
#include "codegen/llvm/constant_operands.h"
#include "codegen/llvm/cover.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/optimize.h"
#include "polyhalite/cancellation.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

std::string compile_with(const Function &f, const Target &target, CodeForm form,
                         const EmitOptions &options) {
  return compile_module(target, form,
                        [&](llvm::LLVMContext &context, llvm::TargetMachine &machine) {
                          return emit_module(context, f, target, machine, options);
                        });
}

}  // namespace

std::string compile_module(const Target &target, CodeForm form, const ModuleMaker &make) {
  llvm::LLVMContext context;
  auto machine = make_machine(target);
  auto module = make(context, *machine);
  check_cancelled();
  optimize(*module, *machine);
  // In process there is no fuzzer that it could tell.
  if (target.has_feature(Target::SanitizerCoverage) && !target.has_feature(Target::JIT)) {
    cover(*module);
  }
  check_cancelled();
  if (form == CodeForm::LlvmAssembly) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (form == CodeForm::Bitcode) {
    llvm::WriteBitcodeToFile(*module, out);
    return std::string(bytes.data(), bytes.size());
  }
  constants_to_memory(*module, *machine);
  llvm::legacy::PassManager passes;
  const auto type = form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile
                                             : llvm::CodeGenFileType::AssemblyFile;
  const bool refused = machine->addPassesToEmitFile(passes, out, nullptr, type);
  internal_check(!refused, "LLVM cannot write this kind of file");
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

std::string compile(const Function &f, const Filter &filter, CodeForm form) {
  EmitOptions options;
  options.user_context = filter.target.has_feature(Target::UserContext);
  options.filter = &filter;
  return compile_with(f, filter.target, form, options);
}

std::string compile_for_process(const Function &f, const Target &target, CodeForm form) {
  return compile_with(f, target.with_feature(Target::JIT), form,
                      {true, true, kProcessSymbolPrefix, nullptr});
}

std::string make_archive(const std::vector<std::pair<std::string, std::string>> &members,
                         Target::OS system) {
  using llvm::object::Archive;
  const bool windows = system == Target::Windows;
  const bool apple = system == Target::OSX || system == Target::IOS;
  std::vector<std::string> names;
  for (const auto &[name, bytes] : members) names.push_back(name + (windows ? ".obj" : ".o"));
  std::vector<llvm::NewArchiveMember> entries;
  for (size_t i = 0; i < members.size(); i++) {
    entries.emplace_back(llvm::MemoryBufferRef(members[i].second, names[i]));
  }
  const auto kind = windows ? Archive::K_COFF : apple ? Archive::K_DARWIN : Archive::K_GNU;
  auto archive =
      llvm::writeArchiveToBuffer(entries, llvm::SymtabWritingMode::NormalSymtab, kind, true, false);
  if (!archive) {
    internal_check(false, ("no archive: " + llvm::toString(archive.takeError())).c_str());
  }
  return (*archive)->getBuffer().str();
}

}  // namespace polyhalite
