// The machine that code is made for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace polyhalite {

/// "x86-64-linux-avx2-fma", "arm-64-linux", "host". Text form as in Halide: arch-bits-os, then
/// features in any order.
struct Target {
  enum OS { OSUnknown = 0, Linux } os = OSUnknown;
  enum Arch { ArchUnknown = 0, X86, ARM } arch = ArchUnknown;
  int bits = 0;
  enum Feature {
    JIT = 0, Debug, NoAsserts, NoBoundsQuery, NoRuntime, UserContext, LargeBuffers, StrictFloat,
    SSE41, AVX, F16C, FMA, AVX2, AVX512, AVX512_Skylake, AVX512_Cannonlake, AVX512_SapphireRapids,
    ARMDotProd, ARMFp16,
    FeatureEnd
  };

  Target() = default;
  /// Parses; throws CompileError that names the unknown part and lists what is known.
  explicit Target(const std::string &text);
  Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});

  bool has_feature(Feature f) const { return (features_ >> f) & 1; }
  void set_feature(Feature f, bool value = true);
  Target with_feature(Feature f) const;
  Target without_feature(Feature f) const;
  std::string to_string() const;
  bool operator==(const Target &o) const;
  bool operator!=(const Target &o) const { return !(*this == o); }

  /// Lanes of a full native vector of this element size (natural_vector_size<float>() = 8 on AVX2).
  int natural_vector_size(int bytes_per_lane) const;
  template <typename T>
  int natural_vector_size() const {
    return natural_vector_size(static_cast<int>(sizeof(T)));
  }

 private:
  unsigned long long features_ = 0;
};

/// Bytes that one buffer may have in pipelines whose target has not LargeBuffers; null, the default,
/// for no limit. Halide.h sets 2^31 - 1 for the whole process, as programs that include it expect.
std::optional<int64_t> default_buffer_limit();
void set_default_buffer_limit(std::optional<int64_t> bytes);

/// The machine this runs on.
Target get_host_target();
/// PH_TARGET or HL_TARGET, else the host.
Target get_target_from_environment();
/// PH_JIT_TARGET or HL_JIT_TARGET, else the host; with the JIT feature.
Target get_jit_target_from_environment();

}  // namespace polyhalite
