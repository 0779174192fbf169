#include "polyhalite/target.h"

#include <atomic>
#include <cstdlib>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// In alphabetical order, which is the order of to_string.
struct FeatureName {
  const char *name;
  Target::Feature feature;
};
constexpr FeatureName kFeatureNames[] = {
    {"arm_dot_prod", Target::ARMDotProd},
    {"arm_fp16", Target::ARMFp16},
    {"avx", Target::AVX},
    {"avx2", Target::AVX2},
    {"avx512", Target::AVX512},
    {"avx512_cannonlake", Target::AVX512_Cannonlake},
    {"avx512_sapphirerapids", Target::AVX512_SapphireRapids},
    {"avx512_skylake", Target::AVX512_Skylake},
    {"debug", Target::Debug},
    {"f16c", Target::F16C},
    {"fma", Target::FMA},
    {"jit", Target::JIT},
    {"large_buffers", Target::LargeBuffers},
    {"no_asserts", Target::NoAsserts},
    {"no_bounds_query", Target::NoBoundsQuery},
    {"no_runtime", Target::NoRuntime},
    {"sse41", Target::SSE41},
    {"strict_float", Target::StrictFloat},
    {"user_context", Target::UserContext},
};
static_assert(sizeof(kFeatureNames) / sizeof(kFeatureNames[0]) == Target::FeatureEnd);

// Each instruction set brings those that it is built on.
struct Implication {
  Target::Feature feature, implied;
};
constexpr Implication kImplied[] = {
    {Target::AVX512_SapphireRapids, Target::AVX512_Cannonlake},
    {Target::AVX512_Cannonlake, Target::AVX512_Skylake},
    {Target::AVX512_Skylake, Target::AVX512},
    {Target::AVX512, Target::AVX2},
    {Target::AVX512, Target::FMA},
    {Target::AVX512, Target::F16C},
    {Target::AVX2, Target::AVX},
    {Target::FMA, Target::AVX},
    {Target::F16C, Target::AVX},
    {Target::AVX, Target::SSE41},
};

std::string known_words() {
  std::string s = "host; x86, arm; 32, 64; linux;";
  const char *separator = " ";
  for (const FeatureName &f : kFeatureNames) {
    s += separator;
    s += f.name;
    separator = ", ";
  }
  return s;
}

std::vector<std::string> split_words(const std::string &text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

[[noreturn]] void bad_target(const std::string &text, const std::string &why) {
  user_error(
      "cannot read the target '" + text + "'", why,
      "write arch-bits-os and then features, as in x86-64-linux-avx2-fma, or host; the known "
      "words are: " +
          known_words());
}

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
  const bool amx = (d & (1u << 24)) && (d & (1u << 25)) && (saved & 0x60000) == 0x60000;
  if (vnni && bf16 && amx) t->set_feature(Target::AVX512_SapphireRapids);
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

}  // namespace

Target::Target(OS o, Arch a, int b, const std::vector<Feature> &features)
    : os(o), arch(a), bits(b) {
  for (Feature f : features) set_feature(f);
}

Target::Target(const std::string &text) {
  bool is_host = false;
  for (const std::string &word : split_words(text)) {
    if (word == "host") {
      if (is_host || arch != ArchUnknown || bits || os != OSUnknown || features_) {
        bad_target(text, "'host' must be the first word");
      }
      is_host = true;
      *this = get_host_target();
    } else if (word == "x86" || word == "arm") {
      if (arch != ArchUnknown) bad_target(text, "'" + word + "' names a second architecture");
      arch = word == "x86" ? X86 : ARM;
    } else if (word == "32" || word == "64") {
      if (bits) bad_target(text, "'" + word + "' gives the bits a second time");
      bits = word == "32" ? 32 : 64;
    } else if (word == "linux") {
      if (os != OSUnknown) bad_target(text, "'linux' names a second operating system");
      os = Linux;
    } else {
      bool known = false;
      for (const FeatureName &f : kFeatureNames) {
        if (word == f.name) {
          set_feature(f.feature);
          known = true;
        }
      }
      if (!known) bad_target(text, "'" + word + "' is no known word");
    }
  }
  if (arch == ArchUnknown) bad_target(text, "it names no architecture");
  if (bits == 0) bad_target(text, "it does not say 32 or 64 bits");
  if (os == OSUnknown) bad_target(text, "it names no operating system");
  if (bits != 64) bad_target(text, "only 64-bit machines are supported");
}

void Target::set_feature(Feature f, bool value) {
  if (value) {
    features_ |= 1ull << f;
    for (const Implication &i : kImplied) {
      if (i.feature == f) set_feature(i.implied);
    }
  } else {
    features_ &= ~(1ull << f);
  }
}

Target Target::with_feature(Feature f) const {
  Target t = *this;
  t.set_feature(f);
  return t;
}

Target Target::without_feature(Feature f) const {
  Target t = *this;
  t.set_feature(f, false);
  return t;
}

std::string Target::to_string() const {
  std::string s = arch == X86 ? "x86" : arch == ARM ? "arm" : "arch_unknown";
  s += "-" + std::to_string(bits) + (os == Linux ? "-linux" : "-os_unknown");
  for (const FeatureName &f : kFeatureNames) {
    if (has_feature(f.feature)) s += std::string("-") + f.name;
  }
  return s;
}

bool Target::operator==(const Target &o) const {
  return os == o.os && arch == o.arch && bits == o.bits && features_ == o.features_;
}

int Target::natural_vector_size(int bytes_per_lane) const {
  int bytes = 16;
  if (arch == X86) {
    if (has_feature(AVX512_Skylake)) {
      bytes = 64;
    } else if (has_feature(AVX512)) {
      bytes = bytes_per_lane >= 4 ? 64 : 32;
    } else if (has_feature(AVX2)) {
      bytes = 32;
    } else if (has_feature(AVX)) {
      bytes = bytes_per_lane >= 4 ? 32 : 16;
    }
  }
  return bytes / bytes_per_lane;
}

namespace {

std::atomic<int64_t> buffer_limit{-1};

}  // namespace

std::optional<int64_t> default_buffer_limit() {
  const int64_t bytes = buffer_limit;
  return bytes < 0 ? std::nullopt : std::optional(bytes);
}

void set_default_buffer_limit(std::optional<int64_t> bytes) { buffer_limit = bytes.value_or(-1); }

Target get_host_target() {
#if defined(__x86_64__)
  Target t(Target::Linux, Target::X86, 64);
#else
  Target t(Target::Linux, Target::ARM, 64);
#endif
  detect_features(&t);
  return t;
}

Target get_target_from_environment() { return target_of("PH_TARGET", "HL_TARGET"); }

Target get_jit_target_from_environment() {
  return target_of("PH_JIT_TARGET", "HL_JIT_TARGET").with_feature(Target::JIT);
}

}  // namespace polyhalite
