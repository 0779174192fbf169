#include "codegen/llvm/machine.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Addresses of block memory have 32 bits.
void shorten_block_addresses() {
  auto &options = llvm::cl::getRegisteredOptions();
  const auto short_pointers = options.find("nvptx-short-ptr");
  if (short_pointers != options.end())
    static_cast<llvm::cl::opt<bool> *>(short_pointers->second)->setValue(true);
}

// LLVM compares the ends of all blocks that may have one in common, pair by pair: of many branches
// that differ by little this takes most of the time, and saves nothing but code.
void limit_tail_merging() {
  constexpr unsigned kMostBlocks = 12;
  auto &options = llvm::cl::getRegisteredOptions();
  const auto limit = options.find("tail-merge-threshold");
  if (limit != options.end())
    static_cast<llvm::cl::opt<unsigned> *>(limit->second)->setValue(kMostBlocks);
}

void register_code_generators() {
  static std::once_flag once;
  std::call_once(once, [] {
    limit_tail_merging();
    shorten_block_addresses();
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
    LLVMInitializeARMTargetInfo();
    LLVMInitializeARMTarget();
    LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter();
    LLVMInitializeARMAsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

struct Feature {
  Target::Feature feature;
  const char *llvm;
};

// LLVM makes two instructions of one dot product where that is sooner done; sums of a tile wait for
// none, and one takes half the time.
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
     "+avx512bf16,+avx512fp16,+amx-tile,+amx-int8,+amx-bf16,+fast-dpwssd"},
    {Target::AVXVNNI, "+avxvnni"},
    {Target::FMA4, "+fma4"},
    {Target::AVX512_Zen4,
     "+avx512vnni,+avx512bf16,+avx512vbmi2,+avx512bitalg,+avx512vpopcntdq,"
     "+fast-dpwssd"},
};
constexpr Feature kArm64Features[] = {
    {Target::ARMDotProd, "+dotprod"}, {Target::ARMFp16, "+fullfp16"}, {Target::ARMv8a, "+v8a"},
    {Target::ARMv81a, "+v8.1a"},      {Target::ARMv82a, "+v8.2a"},    {Target::ARMv83a, "+v8.3a"},
    {Target::ARMv84a, "+v8.4a"},      {Target::ARMv85a, "+v8.5a"},    {Target::ARMv86a, "+v8.6a"},
    {Target::ARMv87a, "+v8.7a"},      {Target::ARMv88a, "+v8.8a"},    {Target::ARMv89a, "+v8.9a"},
};
constexpr Feature kArm32Features[] = {
    {Target::ARMv7s, "+vfp4"},
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

bool is_arm32(const Target &t) { return t.arch == Target::ARM && t.bits == 32; }

const char *processor_of(const Target &t) {
  if (t.arch == Target::X86) return t.bits == 32 ? "i686" : "x86_64";
  const bool apple = t.os == Target::OSX || t.os == Target::IOS;
  if (t.bits == 64) return apple ? "arm64" : "aarch64";
  if (t.os == Target::Windows) return "thumbv7";
  return t.has_feature(Target::ARMv7s) ? "armv7s" : "armv7";
}

// Vendor, system, and conventions of calls.
const char *system_of(const Target &t) {
  const bool soft = t.has_feature(Target::SoftFloatABI);
  switch (t.os) {
    case Target::Linux:
      return !is_arm32(t) ? "unknown-linux-gnu"
             : soft       ? "unknown-linux-gnueabi"
                          : "unknown-linux-gnueabihf";
    case Target::Android:
      return is_arm32(t) ? "unknown-linux-androideabi" : "unknown-linux-android";
    case Target::Windows:
      return "pc-windows-msvc";
    case Target::OSX:
      return "apple-macosx";
    case Target::IOS:
      return "apple-ios";
    case Target::Fuchsia:
      return "unknown-fuchsia";
    default:  // none
      return !is_arm32(t) ? "unknown-none-elf" : soft ? "none-unknown-eabi" : "none-unknown-eabihf";
  }
}

// The oldest processors that the instructions run on. Those of 32 bits have SSE2 and NEON.
struct Processor {
  std::string name, features;
};
Processor baseline_of(const Target &t) {
  if (t.arch == Target::X86) {
    return {t.bits == 32 ? "pentium4" : "x86-64", feature_string(t, kX86Features, "")};
  }
  if (t.bits == 64) return {"generic", feature_string(t, kArm64Features, "+neon")};
  return {"generic", feature_string(t, kArm32Features,
                                    t.has_feature(Target::NoNEON) ? "+vfp3,-neon" : "+neon")};
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const Target &target) {
  register_code_generators();
  if (!target.is_machine_supported()) {
    user_error("there is no code generator for target '" + target.to_string() + "'",
               "code is made for x86 and ARM with 32 and 64 bits, and for linux, android, windows, "
               "osx, ios, fuchsia and noos",
               "use such as x86-64-linux-avx2-fma or arm-32-android");
  }
  const std::string triple = std::string(processor_of(target)) + "-" + system_of(target);
  const Processor processor = baseline_of(target);
  llvm::TargetOptions settings;
  settings.MCOptions.AsmVerbose = true;  // comments name the loops that blocks are of
  if (target.has_feature(Target::SoftFloatABI)) settings.FloatABIType = llvm::FloatABI::Soft;
  std::string problem;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!found) {
    user_error("there is no code generator for target '" + target.to_string() + "'",
               "LLVM says: " + problem, "install an LLVM with this target");
  }
  // LLVM's default in process is the large code model, where a constant in memory takes another
  // instruction, and a register for its address. The JIT's linker lays an object's code and data
  // side by side, and reaches functions that are far by tables.
  const bool jit = target.has_feature(Target::JIT);
  std::optional<llvm::CodeModel::Model> code_model;
  if (jit) code_model = llvm::CodeModel::Small;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple, processor.name, processor.features, settings, llvm::Reloc::PIC_, code_model,
      llvm::CodeGenOptLevel::Default, jit));
  internal_check(machine != nullptr, "LLVM made no target machine");
  return machine;
}

std::unique_ptr<llvm::TargetMachine> make_device_machine(int capability, bool is_specific) {
  register_code_generators();
  const std::string triple = "nvptx64-nvidia-cuda";
  const std::string processor = "sm_" + std::to_string(capability) + (is_specific ? "a" : "");
  std::string problem;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!found) {
    user_error("there is no code generator for GPUs", "LLVM says: " + problem,
               "install an LLVM with the target NVPTX");
  }
  // PTX 8.3 has all that is used; drivers from CUDA 12.3 on know it.
  std::string features = "+ptx83";
  // Of capability 9.0 LLVM would use sums of two 16-bit integers at once. Where one of the two is
  // not wanted, NVIDIA's assembler adds (12.4 to 13.0, not 13.5) 0 in place of a constant.
  constexpr int kFirstWithPairs = 90;
  if (capability >= kFirstWithPairs) features += ",-" + processor + ",+sm_89";
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, processor, features, llvm::TargetOptions(), std::nullopt,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  internal_check(machine != nullptr, "LLVM made no target machine");
  return machine;
}

// LLVM's generic x86 has no timing to schedule by: sums of tiles that fit the registers exactly
// went to the stack (1024 cubed in f32 on a Zen 3: 40 GFLOP/s in place of 80).
std::string tuning_processor(const Target &target) {
  if (target.has_feature(Target::JIT)) return llvm::sys::getHostCPUName().str();
  if (target.arch != Target::X86) return "generic";
  constexpr const char *kTuned[] = {"",       "k8",     "k8-sse3", "amdfam10", "btver1",
                                    "bdver1", "bdver2", "bdver3",  "bdver4",   "btver2",
                                    "znver1", "znver2", "znver3",  "znver4",   "znver5"};
  static_assert(std::size(kTuned) == Target::ZnVer5 + 1);
  if (target.processor_tune != Target::ProcessorGeneric) return kTuned[target.processor_tune];
  constexpr std::pair<Target::Feature, const char *> kFirstWith[] = {
      {Target::AVX512_SapphireRapids, "sapphirerapids"},
      {Target::AVX512_Zen4, "znver4"},
      {Target::AVX512_Cannonlake, "icelake-server"},
      {Target::AVX512_Skylake, "skylake-avx512"},
      {Target::AVX512, "skylake-avx512"},
      {Target::AVX2, "haswell"},
      {Target::AVX, "sandybridge"}};
  for (const auto &[feature, name] : kFirstWith) {
    if (target.has_feature(feature)) return name;
  }
  return "generic";
}

}  // namespace polyhalite
