#include "codegen/llvm/object.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/optimize.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

std::string compile_with(const Function &f, const Target &target, CodeForm form,
                         const EmitOptions &options) {
  llvm::LLVMContext context;
  auto machine = make_machine(target);
  auto module = emit_module(context, f, target, *machine, options);
  optimize(*module, *machine);
  if (form == CodeForm::LlvmAssembly) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  const auto type = form == CodeForm::Object ? llvm::CodeGenFileType::ObjectFile
                                             : llvm::CodeGenFileType::AssemblyFile;
  const bool refused = machine->addPassesToEmitFile(passes, out, nullptr, type);
  internal_check(!refused, "LLVM cannot write this kind of file");
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace

std::string compile(const Function &f, const Target &target, CodeForm form) {
  return compile_with(f, target.without_feature(Target::JIT), form,
                      {target.has_feature(Target::UserContext), false, ""});
}

std::string compile_for_process(const Function &f, const Target &target, CodeForm form) {
  return compile_with(f, target.with_feature(Target::JIT), form,
                      {true, true, kProcessSymbolPrefix});
}

std::string make_archive(const std::vector<std::pair<std::string, std::string>> &members) {
  std::vector<llvm::NewArchiveMember> entries;
  for (const auto &[name, bytes] : members) {
    entries.emplace_back(llvm::MemoryBufferRef(bytes, name));
  }
  auto archive = llvm::writeArchiveToBuffer(entries, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, true, false);
  if (!archive) {
    internal_check(false, ("no archive: " + llvm::toString(archive.takeError())).c_str());
  }
  return (*archive)->getBuffer().str();
}

}  // namespace polyhalite
