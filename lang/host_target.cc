// What the machine that runs this can do, and which target the environment asks for.
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstdlib>

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "lang/target_words.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// The target that one of the two variables names, else this machine.
Target target_of(const char *first, const char *second) {
  for (const char *name : {first, second}) {
    const char *value = std::getenv(name);
    if (!value || !*value) continue;
    try {
      return Target(value);
    } catch (const CompileError &e) {
      Diagnostic d = e.diagnostic();
      d.what += std::string(" of the environment variable ") + name;
      throw CompileError(d);
    }
  }
  return get_host_target();
}

#if defined(__x86_64__)
// The vector registers that the operating system saves: bits of XCR0.
unsigned saved_registers() {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// AMD's families 17h, 19h and 1Ah. Of 19h models 00h to 0Fh and 20h to 5Fh are Zen 3.
Target::Processor processor() {
  unsigned a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx ||
      d != signature_AMD_edx || !__get_cpuid(1, &a, &b, &c, &d))
    return Target::ProcessorGeneric;
  const unsigned family = ((a >> 8) & 0xf) + ((a >> 20) & 0xff);
  const unsigned model = ((a >> 4) & 0xf) | ((a >> 12) & 0xf0);
  switch (family) {
    case 0x17:
      return model < 0x30 ? Target::ZnVer1 : Target::ZnVer2;
    case 0x19:
      return model < 0x10 || (model >= 0x20 && model < 0x60) ? Target::ZnVer3 : Target::ZnVer4;
    case 0x1a:
      return Target::ZnVer5;
    default:
      return Target::ProcessorGeneric;
  }
}

// Linux gives a process the memory in which it saves tiles once it has asked: ARCH_REQ_XCOMP_PERM
// of XFEATURE_XTILEDATA.
bool lends_tiles() { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }
#endif

}  // namespace

#if defined(__x86_64__)
void detect_features(Target *t) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return;
  const unsigned leaf1 = c;
  if (leaf1 & bit_SSE4_1) t->set_feature(Target::SSE41);
  if (!(leaf1 & bit_OSXSAVE) || !(leaf1 & bit_AVX)) return;
  const unsigned saved = saved_registers();
  if ((saved & 0x6) != 0x6) return;
  t->set_feature(Target::AVX);
  if (leaf1 & bit_FMA) t->set_feature(Target::FMA);
  if (leaf1 & bit_F16C) t->set_feature(Target::F16C);
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
  if (b & bit_AVX2) t->set_feature(Target::AVX2);
  if ((saved & 0xe0) != 0xe0) return;
  if (!(b & bit_AVX512F) || !(b & bit_AVX512CD)) return;
  t->set_feature(Target::AVX512);
  if (!(b & bit_AVX512VL) || !(b & bit_AVX512BW) || !(b & bit_AVX512DQ)) return;
  t->set_feature(Target::AVX512_Skylake);
  if (!(b & bit_AVX512IFMA) || !(c & bit_AVX512VBMI)) return;
  t->set_feature(Target::AVX512_Cannonlake);
  const bool vnni = c & bit_AVX512VNNI;
  unsigned a1, b1, c1, d1;
  if (!__get_cpuid_count(7, 1, &a1, &b1, &c1, &d1)) return;
  const bool bf16 = a1 & (1u << 5);
  constexpr unsigned kAmx = (1u << 22) | (1u << 24) | (1u << 25);
  const bool amx = (d & kAmx) == kAmx && (saved & 0x60000) == 0x60000;
  if (vnni && bf16) t->set_feature(Target::AVX512_Zen4);
  if (vnni && bf16 && amx && lends_tiles()) t->set_feature(Target::AVX512_SapphireRapids);
}
#elif defined(__aarch64__)
void detect_features(Target *t) {
  const unsigned long capabilities = getauxval(AT_HWCAP);
  if (capabilities & (1ul << 20)) t->set_feature(Target::ARMDotProd);
  if (capabilities & (1ul << 10)) t->set_feature(Target::ARMFp16);
}
#else
#error "the host must be x86-64 or AArch64"
#endif

Target get_host_target() {
#if defined(__x86_64__)
  Target t(Target::Linux, Target::X86, 64, processor(), {});
#else
  Target t(Target::Linux, Target::ARM, 64);
#endif
  detect_features(&t);
  return t;
}

Target get_target_from_environment() { return target_of("PH_TARGET", "HL_TARGET"); }

Target get_jit_target_from_environment() {
  const Target t = target_of("PH_JIT_TARGET", "HL_JIT_TARGET").with_feature(Target::JIT);
  const Target host = get_host_target();
  if (t.arch != host.arch || t.bits != host.bits || t.os != host.os) {
    user_error("the environment asks to run code for '" + t.to_string() + "' in this process",
               "this machine is '" + host.to_string() + "'",
               "let HL_JIT_TARGET begin with 'host', or leave it out");
  }
  return t;
}

}  // namespace polyhalite
