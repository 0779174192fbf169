// The machine that code is made for.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polyhalite/choices.h"
#include "polyhalite/type.h"
#include "polyhalite_target_features.h"

struct polyhalite_device_interface_t;

namespace polyhalite {

/// "x86-64-linux-avx2-fma", "arm-64-linux", "host". Text form as in Halide: arch-bits-os, then
/// features in any order. Many targets can be named that no code is made for here; compiling for
/// one of them is a CompileError that says what there is.
struct Target {
  enum OS {
    OSUnknown = 0,
    Linux,
    Windows,
    OSX,
    Android,
    IOS,
    QuRT,
    NoOS,
    Fuchsia,
    WebAssemblyRuntime,
  } os = OSUnknown;
  enum Arch {
    ArchUnknown = 0,
    X86,
    ARM,
    Hexagon,
    POWERPC,
    WebAssembly,
    RISCV,
  } arch = ArchUnknown;
  /// 32 or 64; 0 where it is not known.
  int bits = 0;
  /// The width of a vector register where the machine leaves it open; 0 assumes none.
  int vector_bits = 0;
  /// The processor whose timing the code is tuned for.
  enum Processor {
    ProcessorGeneric = 0,
    K8,
    K8_SSE3,
    AMDFam10,
    BtVer1,
    BdVer1,
    BdVer2,
    BdVer3,
    BdVer4,
    BtVer2,
    ZnVer1,
    ZnVer2,
    ZnVer3,
    ZnVer4,
    ZnVer5,
  } processor_tune = ProcessorGeneric;
  enum Feature {
#define POLYHALITE_TARGET_FEATURE(c_name, name, word) name = polyhalite_target_feature_##c_name,
    POLYHALITE_TARGET_FEATURES(POLYHALITE_TARGET_FEATURE)
#undef POLYHALITE_TARGET_FEATURE
        HVX = HVX_128,
    FeatureEnd = polyhalite_target_feature_end
  };

  Target() = default;
  /// Parses; "" is get_host_target(). Throws CompileError that names the missing or unknown part
  /// and lists what is known.
  explicit Target(const std::string &text);
  explicit Target(const char *text) : Target(std::string(text)) {}
  /// CompileError for features of another architecture.
  Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});
  Target(OS os, Arch arch, int bits, Processor tune, const std::vector<Feature> &features = {},
         int vector_bits = 0);
  /// Whether the constructor would take it.
  static bool validate_target_string(const std::string &text);
  /// Whether architecture, bits or system is not known.
  bool has_unknowns() const;

  bool has_feature(Feature f) const { return f == FeatureEnd || features_[f]; }
  bool has_feature(polyhalite_target_feature_t f) const {
    return has_feature(static_cast<Feature>(f));
  }
  /// An instruction set brings those that it is built on.
  void set_feature(Feature f, bool value = true);
  void set_features(const std::vector<Feature> &list, bool value = true);
  Target with_feature(Feature f) const;
  Target without_feature(Feature f) const;
  bool features_any_of(const std::vector<Feature> &list) const;
  bool features_all_of(const std::vector<Feature> &list) const;
  const std::bitset<FeatureEnd> &get_features_bitset() const { return features_; }

  /// Whether the runtime of a GPU (CUDA, OpenCL, Metal, D3D12Compute, Vulkan, WebGPU) is on.
  bool has_gpu_feature() const;
  /// Whether values of the type can be computed on every device of the target, or on one.
  bool supports_type(const Type &t) const;
  bool supports_type(const Type &t, DeviceAPI device) const;
  bool supports_device_api(DeviceAPI api) const;
  /// One of the devices whose features are on; None without any.
  DeviceAPI get_required_device_api() const;
  /// The target of a runtime that serves code for both. False, and `result` as it was, where there
  /// is none.
  bool get_runtime_compatible_target(const Target &other, Target &result) const;
  /// Whether this library makes code for it.
  bool supported() const;
  /// The same, devices aside.
  bool is_machine_supported() const;

  bool has_large_buffers() const { return bits == 64 && has_feature(LargeBuffers); }
  /// In bytes.
  int64_t maximum_buffer_size() const { return has_large_buffers() ? INT64_MAX : INT32_MAX; }
  /// 10 times the version; without any feature that says more, 20, 10 and -1. (Code for CUDA is
  /// made for 80 then.)
  int get_cuda_capability_lower_bound() const;
  int get_vulkan_capability_lower_bound() const;
  int get_arm_v8_lower_bound() const;
  /// The width of a vector in the streaming mode of SME, by the feature SME_SVLn; 0 without any.
  int sme_streaming_vector_bits() const;
  /// SME_SVLn of this width; FeatureEnd where there is none.
  static Feature sme_svl_feature_from_bits(int bits);

  /// arch-bits-os, tune_PROCESSOR, features in alphabetical order, vector_bits_N.
  std::string to_string() const;
  static std::string feature_to_name(Feature f);
  /// FeatureEnd for an unknown word.
  static Feature feature_from_name(const std::string &name);
  bool operator==(const Target &o) const;
  bool operator!=(const Target &o) const { return !(*this == o); }

  /// Lanes of a full native vector of this type (natural_vector_size<float>() = 8 on AVX2), or of
  /// elements of this many bytes. CompileError where parts of the target are unknown.
  int natural_vector_size(const Type &t) const;
  int natural_vector_size(int bytes_per_lane) const;
  template <typename T>
  int natural_vector_size() const {
    return natural_vector_size(type_of<T>());
  }

 private:
  void check_features() const;
  std::bitset<FeatureEnd> features_;
};

/// Bytes that one buffer may have in pipelines whose target has not LargeBuffers; null, the
/// default, for no limit. Halide.h sets 2^31 - 1 for the whole process, as programs that include it
/// expect.
std::optional<int64_t> default_buffer_limit();
void set_default_buffer_limit(std::optional<int64_t> bytes);

/// The machine this runs on.
Target get_host_target();
/// PH_TARGET or HL_TARGET, else the host.
Target get_target_from_environment();
/// PH_JIT_TARGET or HL_JIT_TARGET, else the host; with the JIT feature. CompileError for another
/// architecture or system than this machine's.
Target get_jit_target_from_environment();

/// The runtime's functions for a device. Code is made for CUDA alone: of others, and where the
/// target has not the device, a CompileError that begins with `error_site`, or null where that is
/// null.
const polyhalite_device_interface_t *get_device_interface_for_device_api(
    DeviceAPI api, const Target &target = get_jit_target_from_environment(),
    const char *error_site = nullptr);
/// "CUDA", "Default_GPU"...
const char *device_api_name(DeviceAPI api);
/// The feature that brings the device; FeatureEnd for None, Host and Default_GPU.
Target::Feature target_feature_for_device_api(DeviceAPI api);
/// What Default_GPU means for the target; Host where it has no GPU.
DeviceAPI get_default_device_api_for_target(const Target &t);
/// Whether code for the target's device can run here: for CUDA, whether a card of its capability
/// and its driver are there.
bool host_supports_target_device(const Target &t);

}  // namespace polyhalite
