#include "codegen/llvm/machine.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// LLVM compares the ends of all blocks that may have one in common, pair by pair: of many branches
// that differ by little this takes most of the time, and saves nothing but code.
void limit_tail_merging() {
  constexpr unsigned kMostBlocks = 12;
  auto &options = llvm::cl::getRegisteredOptions();
  const auto limit = options.find("tail-merge-threshold");
  if (limit != options.end()) static_cast<llvm::cl::opt<unsigned> *>(limit->second)->setValue(kMostBlocks);
}

void register_code_generators() {
  static std::once_flag once;
  std::call_once(once, [] {
    limit_tail_merging();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

struct Feature {
  Target::Feature feature;
  const char *llvm;
};

constexpr Feature kX86Features[] = {
    {Target::SSE41, "+sse4.1"},
    {Target::AVX, "+avx"},
    {Target::F16C, "+f16c"},
    {Target::FMA, "+fma"},
    {Target::AVX2, "+avx2"},
    {Target::AVX512, "+avx512f,+avx512cd"},
    {Target::AVX512_Skylake, "+avx512f,+avx512cd,+avx512vl,+avx512bw,+avx512dq"},
    {Target::AVX512_Cannonlake,
     "+avx512f,+avx512cd,+avx512vl,+avx512bw,+avx512dq,+avx512ifma,+avx512vbmi"},
    {Target::AVX512_SapphireRapids,
     "+avx512f,+avx512cd,+avx512vl,+avx512bw,+avx512dq,+avx512ifma,+avx512vbmi,+avx512vnni,"
     "+avx512bf16,+avx512fp16,+amx-tile,+amx-int8,+amx-bf16"},
    {Target::AVXVNNI, "+avxvnni"},
    {Target::FMA4, "+fma4"},
    {Target::AVX512_Zen4, "+avx512vnni,+avx512bf16,+avx512vbmi2,+avx512bitalg,+avx512vpopcntdq"},
};
constexpr Feature kArmFeatures[] = {
    {Target::ARMDotProd, "+dotprod"},
    {Target::ARMFp16, "+fullfp16"},
};

template <size_t N>
std::string feature_string(const Target &target, const Feature (&known)[N], std::string first) {
  for (const Feature &f : known) {
    if (!target.has_feature(f.feature)) continue;
    if (!first.empty()) first += ",";
    first += f.llvm;
  }
  return first;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const Target &target) {
  register_code_generators();
  std::string triple, cpu, features;
  if (target.arch == Target::X86 && target.bits == 64) {
    triple = "x86_64-unknown-linux-gnu";
    cpu = "x86-64";
    features = feature_string(target, kX86Features, "");
  } else if (target.arch == Target::ARM && target.bits == 64) {
    triple = "aarch64-unknown-linux-gnu";
    cpu = "generic";
    features = feature_string(target, kArmFeatures, "+neon");
  } else {
    user_error("there is no code generator for target '" + target.to_string() + "'",
               "code is made for 64-bit x86 and ARM",
               "use x86-64-linux or arm-64-linux, with features such as avx2-fma");
  }
  if (target.os != Target::Linux) {
    user_error("there is no code generator for target '" + target.to_string() + "'",
               "code is made for Linux", "use x86-64-linux or arm-64-linux");
  }
  std::string problem;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!found) {
    user_error("there is no code generator for target '" + target.to_string() + "'",
               "LLVM says: " + problem, "install an LLVM with this target");
  }
  const bool jit = target.has_feature(Target::JIT);
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Default, jit));
  internal_check(machine != nullptr, "LLVM made no target machine");
  return machine;
}

std::string tuning_processor(const Target &target) {
  return target.has_feature(Target::JIT) ? llvm::sys::getHostCPUName().str() : "generic";
}

}  // namespace polyhalite
