// Which instruction sets this machine has: the choice among several compilations of a pipeline, and
// whether its tiles may be used.
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_errors.h"
#include "lang/abi/polyhalite_target_features.h"
#include "lang/abi/polyhalite_tiles.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace polyhalite::runtime {

namespace {

constexpr int kWords = (polyhalite_target_feature_end + 63) / 64;

struct Features {
  uint64_t words[kWords] = {};
  void set(polyhalite_target_feature_t f) { words[f / 64] |= uint64_t{1} << (f % 64); }
  bool has(polyhalite_target_feature_t f) const { return words[f / 64] >> (f % 64) & 1; }
};

// Features that say something of the processor; the others are choices of who compiles.
Features of_processors() {
  Features f;
#if defined(__x86_64__) || defined(__i386__)
  constexpr polyhalite_target_feature_t kAll[] = {polyhalite_target_feature_sse41,
                                                  polyhalite_target_feature_avx,
                                                  polyhalite_target_feature_avx2,
                                                  polyhalite_target_feature_avxvnni,
                                                  polyhalite_target_feature_fma,
                                                  polyhalite_target_feature_fma4,
                                                  polyhalite_target_feature_f16c,
                                                  polyhalite_target_feature_avx512,
                                                  polyhalite_target_feature_avx512_knl,
                                                  polyhalite_target_feature_avx512_skylake,
                                                  polyhalite_target_feature_avx512_cannonlake,
                                                  polyhalite_target_feature_avx512_zen4,
                                                  polyhalite_target_feature_avx512_zen5,
                                                  polyhalite_target_feature_avx512_sapphirerapids,
                                                  polyhalite_target_feature_avx10_1,
                                                  polyhalite_target_feature_x86_apx};
#else
  constexpr polyhalite_target_feature_t kAll[] = {
      polyhalite_target_feature_arm_dot_prod, polyhalite_target_feature_arm_fp16,
      polyhalite_target_feature_sve, polyhalite_target_feature_sve2};
#endif
  for (polyhalite_target_feature_t one : kAll) f.set(one);
  return f;
}

#if defined(__x86_64__) || defined(__i386__)
uint64_t enabled_state() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

// Linux gives a process the memory in which it saves tiles once it has asked:
// arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). Without that, tiles are illegal
// instructions.
bool lends_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kArchPrctl = 158, kRequest = 0x1023, kTileData = 18;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(kArchPrctl), "D"(kRequest), "S"(kTileData)
               : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

Features of_this_machine() {
  Features f;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return f;
  const uint32_t c1 = c;
  if (c1 & bit_SSE4_1) f.set(polyhalite_target_feature_sse41);
  // Registers count only where the system saves them.
  if (!(c1 & bit_OSXSAVE)) return f;
  const uint64_t state = enabled_state();
  if ((state & 6) != 6) return f;
  if (c1 & bit_AVX) f.set(polyhalite_target_feature_avx);
  if (c1 & bit_F16C) f.set(polyhalite_target_feature_f16c);
  if (c1 & bit_FMA) f.set(polyhalite_target_feature_fma);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_FMA4)) {
    f.set(polyhalite_target_feature_fma4);
  }
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return f;
  const uint32_t b7 = b, c7 = c, d7 = d;
  if (b7 & bit_AVX2) f.set(polyhalite_target_feature_avx2);
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 4))) {
    f.set(polyhalite_target_feature_avxvnni);
  }
  if ((state & 0xe6) != 0xe6) return f;
  constexpr uint32_t kBase = bit_AVX512F | bit_AVX512CD;
  constexpr uint32_t kKnights = kBase | bit_AVX512PF | bit_AVX512ER;
  constexpr uint32_t kSkylake = kBase | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ;
  constexpr uint32_t kCannonlake = kSkylake | bit_AVX512IFMA;
  if ((b7 & kBase) == kBase) f.set(polyhalite_target_feature_avx512);
  if ((b7 & kKnights) == kKnights) f.set(polyhalite_target_feature_avx512_knl);
  if ((b7 & kSkylake) == kSkylake) f.set(polyhalite_target_feature_avx512_skylake);
  const bool cannonlake = (b7 & kCannonlake) == kCannonlake && (c7 & bit_AVX512VBMI);
  if (cannonlake) f.set(polyhalite_target_feature_avx512_cannonlake);
  const bool bf16 = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & (1u << 5));
  if (cannonlake && bf16 && (c7 & bit_AVX512VNNI)) {
    f.set(polyhalite_target_feature_avx512_zen4);
    constexpr uint32_t kAmx = (1u << 22) | (1u << 24) | (1u << 25);
    constexpr uint64_t kTiles = uint64_t{3} << 17;
    if ((d7 & kAmx) == kAmx && (state & kTiles) == kTiles && lends_tiles()) {
      f.set(polyhalite_target_feature_avx512_sapphirerapids);
    }
  }
  return f;
}
#else
Features of_this_machine() { return Features(); }
#endif

using Handler = int (*)(int, const uint64_t *);
Handler handler = nullptr;

enum { kNotAsked, kLent, kRefused };
int tiles = kNotAsked;

}  // namespace

}  // namespace polyhalite::runtime

using namespace polyhalite::runtime;

extern "C" {

PH_WEAK int polyhalite_default_can_use_target_features(int count, const uint64_t *features) {
  const Features known = of_processors(), here = of_this_machine();
  for (int i = 0; i < count; i++) {
    const uint64_t wanted = features[i] & (i < kWords ? known.words[i] : 0);
    if (wanted & ~(i < kWords ? here.words[i] : 0)) return 0;
  }
  return 1;
}

PH_WEAK polyhalite_can_use_target_features_t
polyhalite_set_custom_can_use_target_features(polyhalite_can_use_target_features_t fresh) {
  Handler before = handler ? handler : polyhalite_default_can_use_target_features;
  handler = fresh;
  return before;
}

PH_WEAK int polyhalite_can_use_target_features(int count, const uint64_t *features) {
  return (handler ? handler : polyhalite_default_can_use_target_features)(count, features);
}

PH_WEAK int polyhalite_use_tiles(void *user_context, const char *pipeline) {
  int known = __atomic_load_n(&tiles, __ATOMIC_RELAXED);
  if (known == kNotAsked) {
    known =
        of_this_machine().has(polyhalite_target_feature_avx512_sapphirerapids) ? kLent : kRefused;
    __atomic_store_n(&tiles, known, __ATOMIC_RELAXED);
  }
  if (known == kLent) return 0;
  return fail(
      user_context, polyhalite_error_code_unimplemented,
      "%s: it multiplies matrices in tiles (AMX), which this processor does not have or the "
      "system does not lend; compile for a target without avx512_sapphirerapids",
      pipeline);
}

}  // extern "C"
