// What targets can do, and which of their features go together.
#include "polyhalite/target.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "lang/target_words.h"
#include "polyhalite/backend.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Each instruction set brings those that it is built on.
struct Implication {
  Target::Feature feature, implied;
};
constexpr Implication kImplied[] = {
    {Target::AVX512_SapphireRapids, Target::AVX512_Zen4},
    {Target::AVX512_SapphireRapids, Target::AVXVNNI},
    {Target::AVX512_Zen5, Target::AVX512_Zen4},
    {Target::AVX512_Zen5, Target::AVXVNNI},
    {Target::AVX512_Zen4, Target::AVX512_Cannonlake},
    {Target::AVX512_Cannonlake, Target::AVX512_Skylake},
    {Target::AVX512_Skylake, Target::AVX512},
    {Target::AVX512_KNL, Target::AVX512},
    {Target::AVX512, Target::AVX2},
    {Target::AVX512, Target::FMA},
    {Target::AVX512, Target::F16C},
    {Target::AVXVNNI, Target::AVX2},
    {Target::AVX2, Target::AVX},
    {Target::FMA, Target::AVX},
    {Target::FMA4, Target::AVX},
    {Target::F16C, Target::AVX},
    {Target::AVX, Target::SSE41},
    {Target::SVE2, Target::SVE},
};

struct Owner {
  Target::Feature feature;
  Target::Arch arch;
};
constexpr Owner kOwners[] = {
    {Target::SSE41, Target::X86},
    {Target::AVX, Target::X86},
    {Target::AVX2, Target::X86},
    {Target::AVXVNNI, Target::X86},
    {Target::FMA, Target::X86},
    {Target::FMA4, Target::X86},
    {Target::F16C, Target::X86},
    {Target::AVX512, Target::X86},
    {Target::AVX512_KNL, Target::X86},
    {Target::AVX512_Skylake, Target::X86},
    {Target::AVX512_Cannonlake, Target::X86},
    {Target::AVX512_Zen4, Target::X86},
    {Target::AVX512_Zen5, Target::X86},
    {Target::AVX512_SapphireRapids, Target::X86},
    {Target::AVX10_1, Target::X86},
    {Target::X86APX, Target::X86},
    {Target::ARMv7s, Target::ARM},
    {Target::NoNEON, Target::ARM},
    {Target::SVE, Target::ARM},
    {Target::SVE2, Target::ARM},
    {Target::SME2, Target::ARM},
    {Target::SME_SVL128, Target::ARM},
    {Target::SME_SVL256, Target::ARM},
    {Target::SME_SVL512, Target::ARM},
    {Target::SME_SVL1024, Target::ARM},
    {Target::SME_SVL2048, Target::ARM},
    {Target::ARMDotProd, Target::ARM},
    {Target::ARMFp16, Target::ARM},
    {Target::ARMv8a, Target::ARM},
    {Target::ARMv81a, Target::ARM},
    {Target::ARMv82a, Target::ARM},
    {Target::ARMv83a, Target::ARM},
    {Target::ARMv84a, Target::ARM},
    {Target::ARMv85a, Target::ARM},
    {Target::ARMv86a, Target::ARM},
    {Target::ARMv87a, Target::ARM},
    {Target::ARMv88a, Target::ARM},
    {Target::ARMv89a, Target::ARM},
    {Target::VSX, Target::POWERPC},
    {Target::POWER_ARCH_2_07, Target::POWERPC},
    {Target::RVV, Target::RISCV},
    {Target::WasmMvpOnly, Target::WebAssembly},
    {Target::WasmSimd128, Target::WebAssembly},
    {Target::WasmThreads, Target::WebAssembly},
    {Target::WasmBulkMemory, Target::WebAssembly},
};

struct DeviceFeature {
  DeviceAPI api;
  Target::Feature feature;
  bool is_gpu;
};
// In the order in which Default_GPU looks.
constexpr DeviceFeature kDevices[] = {
    {DeviceAPI::Metal, Target::Metal, true},
    {DeviceAPI::OpenCL, Target::OpenCL, true},
    {DeviceAPI::CUDA, Target::CUDA, true},
    {DeviceAPI::D3D12Compute, Target::D3D12Compute, true},
    {DeviceAPI::Vulkan, Target::Vulkan, true},
    {DeviceAPI::WebGPU, Target::WebGPU, true},
    {DeviceAPI::Hexagon, Target::HVX, false},
    {DeviceAPI::HexagonDma, Target::HexagonDma, false},
};

struct Capability {
  Target::Feature feature;
  int version;  // times 10; of vectors, bits
};
constexpr Capability kCuda[] = {
    {Target::CUDACapability30, 30}, {Target::CUDACapability32, 32}, {Target::CUDACapability35, 35},
    {Target::CUDACapability50, 50}, {Target::CUDACapability61, 61}, {Target::CUDACapability70, 70},
    {Target::CUDACapability75, 75}, {Target::CUDACapability80, 80}, {Target::CUDACapability86, 86},
    {Target::CUDACapability89, 89}, {Target::CUDACapability90, 90},
};
constexpr Capability kVulkan[] = {
    {Target::VulkanV10, 10}, {Target::VulkanV12, 12}, {Target::VulkanV13, 13}};
constexpr Capability kArmV8[] = {
    {Target::ARMv8a, 80},  {Target::ARMv81a, 81}, {Target::ARMv82a, 82}, {Target::ARMv83a, 83},
    {Target::ARMv84a, 84}, {Target::ARMv85a, 85}, {Target::ARMv86a, 86}, {Target::ARMv87a, 87},
    {Target::ARMv88a, 88}, {Target::ARMv89a, 89},
};

constexpr Capability kStreamingVectors[] = {
    {Target::SME_SVL128, 128},   {Target::SME_SVL256, 256},   {Target::SME_SVL512, 512},
    {Target::SME_SVL1024, 1024}, {Target::SME_SVL2048, 2048},
};

// The least version whose feature is on.
template <size_t N>
int lower_bound(const Target &t, const Capability (&list)[N], int none) {
  for (const Capability &c : list) {
    if (t.has_feature(c.feature)) return c.version;
  }
  return none;
}

// Of two bounds, a runtime has to stay below the lesser; a bound that only one target states is
// none.
template <size_t N>
void set_common_capability(const Target &a, const Target &b, const Capability (&list)[N],
                           Target *result) {
  const int common = std::min(lower_bound(a, list, -1), lower_bound(b, list, -1));
  for (const Capability &c : list) result->set_feature(c.feature, c.version == common);
}

// What both parts of a program must agree on.
constexpr Target::Feature kEqualInRuntimes[] = {
    Target::Debug, Target::SoftFloatABI, Target::ASAN,
    Target::MSAN,  Target::TSAN,         Target::HexagonDma,
    Target::HVX,   Target::WasmThreads,  Target::SanitizerCoverage};

}  // namespace

std::optional<Target::Arch> architecture_of(Target::Feature f) {
  for (const Owner &o : kOwners) {
    if (o.feature == f) return o.arch;
  }
  return std::nullopt;
}

Target::Target(OS o, Arch a, int b, const std::vector<Feature> &features)
    : Target(o, a, b, ProcessorGeneric, features) {}

Target::Target(OS o, Arch a, int b, Processor tune, const std::vector<Feature> &features,
               int vector_width)
    : os(o), arch(a), bits(b), vector_bits(vector_width), processor_tune(tune) {
  for (Feature f : features) set_feature(f);
  check_features();
}

void Target::check_features() const {
  if (arch == ArchUnknown) return;
  for (const Owner &o : kOwners) {
    if (!has_feature(o.feature) || o.arch == arch) continue;
    user_error("the target '" + to_string() + "' has the feature " + feature_to_name(o.feature),
               "that is an instruction set of " + std::string(arch_word(o.arch)) + ", not of " +
                   arch_word(arch),
               "leave it out, or name the other architecture");
  }
}

bool Target::has_unknowns() const { return os == OSUnknown || arch == ArchUnknown || bits == 0; }

void Target::set_feature(Feature f, bool value) {
  if (f == FeatureEnd) return;
  if (f < 0 || f > FeatureEnd) feature_to_name(f);  // throws
  features_[f] = value;
  if (!value) return;
  for (const Implication &i : kImplied) {
    if (i.feature == f) set_feature(i.implied);
  }
}

void Target::set_features(const std::vector<Feature> &list, bool value) {
  for (Feature f : list) set_feature(f, value);
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

bool Target::features_any_of(const std::vector<Feature> &list) const {
  return std::any_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

bool Target::features_all_of(const std::vector<Feature> &list) const {
  return std::all_of(list.begin(), list.end(), [&](Feature f) { return has_feature(f); });
}

bool Target::operator==(const Target &o) const {
  return os == o.os && arch == o.arch && bits == o.bits && processor_tune == o.processor_tune &&
         vector_bits == o.vector_bits && features_ == o.features_;
}

bool Target::has_gpu_feature() const {
  return get_default_device_api_for_target(*this) != DeviceAPI::Host;
}

bool Target::supports_device_api(DeviceAPI api) const {
  switch (api) {
    case DeviceAPI::None:
    case DeviceAPI::Host:
      return true;
    case DeviceAPI::Default_GPU:
      return has_gpu_feature();
    default:
      return has_feature(target_feature_for_device_api(api));
  }
}

DeviceAPI Target::get_required_device_api() const {
  for (const DeviceFeature &d : kDevices) {
    if (has_feature(d.feature)) return d.api;
  }
  return DeviceAPI::None;
}

bool Target::supports_type(const Type &t) const {
  return std::all_of(std::begin(kDevices), std::end(kDevices), [&](const DeviceFeature &d) {
    return !has_feature(d.feature) || supports_type(t, d.api);
  });
}

bool Target::supports_type(const Type &t, DeviceAPI device) const {
  if (device == DeviceAPI::Default_GPU) device = get_default_device_api_for_target(*this);
  const bool half = t.is_float() && t.bits() == 16;
  const bool wide = t.bits() == 64;
  switch (device) {
    case DeviceAPI::Metal:
    case DeviceAPI::D3D12Compute:
    case DeviceAPI::WebGPU:
      return !wide;
    case DeviceAPI::Hexagon:
      return !(wide && t.is_float());
    case DeviceAPI::OpenCL:
      if (half) return has_feature(CLHalf);
      return !(wide && t.is_float()) || has_feature(CLDoubles);
    case DeviceAPI::Vulkan:
      if (t.is_float())
        return wide ? has_feature(VulkanFloat64) : !half || has_feature(VulkanFloat16);
      if (t.bits() == 8) return has_feature(VulkanInt8);
      if (t.bits() == 16) return has_feature(VulkanInt16);
      return !wide || has_feature(VulkanInt64);
    default:
      return true;
  }
}

bool Target::get_runtime_compatible_target(const Target &other, Target &result) const {
  if (arch != other.arch || bits != other.bits || os != other.os) return false;
  for (Feature f : kEqualInRuntimes) {
    if (has_feature(f) != other.has_feature(f)) return false;
  }
  Target common(os, arch, bits);
  for (Feature f : kEqualInRuntimes) common.set_feature(f, has_feature(f));
  // Instructions that both machines have, devices that either uses.
  for (const Owner &o : kOwners) {
    if (has_feature(o.feature) && other.has_feature(o.feature)) common.set_feature(o.feature);
  }
  for (const DeviceFeature &d : kDevices) {
    if (has_feature(d.feature) || other.has_feature(d.feature)) common.set_feature(d.feature);
  }
  set_common_capability(*this, other, kCuda, &common);
  set_common_capability(*this, other, kVulkan, &common);
  set_common_capability(*this, other, kArmV8, &common);
  result = common;
  return true;
}

bool Target::is_machine_supported() const {
  if (arch != X86 && arch != ARM) return false;
  if (bits != 32 && bits != 64) return false;
  switch (os) {
    case Linux:
    case Android:
    case Windows:
    case IOS:
    case Fuchsia:
    case NoOS:
      return true;
    case OSX:
      return arch == X86 || bits == 64;
    default:
      return false;
  }
}

bool Target::supported() const {
  const DeviceAPI device = get_required_device_api();
  return is_machine_supported() && (device == DeviceAPI::None || device == DeviceAPI::CUDA);
}

int Target::get_cuda_capability_lower_bound() const {
  return has_feature(CUDA) ? lower_bound(*this, kCuda, 20) : -1;
}

int Target::get_vulkan_capability_lower_bound() const {
  return has_feature(Vulkan) ? lower_bound(*this, kVulkan, 10) : -1;
}

int Target::get_arm_v8_lower_bound() const { return lower_bound(*this, kArmV8, -1); }

int Target::sme_streaming_vector_bits() const { return lower_bound(*this, kStreamingVectors, 0); }

Target::Feature Target::sme_svl_feature_from_bits(int bits) {
  for (const Capability &c : kStreamingVectors) {
    if (c.version == bits) return c.feature;
  }
  return FeatureEnd;
}

int Target::natural_vector_size(const Type &t) const {
  if (t.bytes() == 0) {
    user_error("natural_vector_size() of a type without bits", "it has no size in memory",
               "give a type such as Float(32)");
  }
  // Floats have wide vectors from AVX on, integers from AVX2 on.
  if (arch == X86 && has_feature(AVX) && !has_feature(AVX2) && !t.is_float()) return 16 / t.bytes();
  return natural_vector_size(t.bytes());
}

int Target::natural_vector_size(int bytes_per_lane) const {
  if (has_unknowns()) {
    user_error("natural_vector_size() of the target '" + to_string() + "'",
               "vectors are as wide as the machine makes them, and parts of it are unknown",
               "name architecture, bits and system, as in Target(\"x86-64-linux\")");
  }
  int bytes = 16;
  if (vector_bits) {
    bytes = vector_bits / 8;
  } else if (arch == X86) {
    if (has_feature(AVX512_Skylake)) {
      bytes = 64;
    } else if (has_feature(AVX512)) {
      bytes = bytes_per_lane >= 4 ? 64 : 32;
    } else if (has_feature(AVX2)) {
      bytes = 32;
    } else if (has_feature(AVX)) {
      bytes = bytes_per_lane >= 4 ? 32 : 16;
    }
  } else if (arch == Hexagon) {
    bytes = has_feature(HVX) ? 128 : bytes_per_lane;
  } else if (arch == WebAssembly && !has_feature(WasmSimd128)) {
    bytes = bytes_per_lane;
  } else if (arch == RISCV) {
    bytes = bytes_per_lane;
  }
  return std::max(1, bytes / bytes_per_lane);
}

namespace {

std::atomic<int64_t> buffer_limit{-1};

}  // namespace

std::optional<int64_t> default_buffer_limit() {
  const int64_t bytes = buffer_limit;
  return bytes < 0 ? std::nullopt : std::optional(bytes);
}

void set_default_buffer_limit(std::optional<int64_t> bytes) { buffer_limit = bytes.value_or(-1); }

Target::Feature target_feature_for_device_api(DeviceAPI api) {
  for (const DeviceFeature &d : kDevices) {
    if (d.api == api) return d.feature;
  }
  return Target::FeatureEnd;
}

DeviceAPI get_default_device_api_for_target(const Target &t) {
  for (const DeviceFeature &d : kDevices) {
    if (d.is_gpu && t.has_feature(d.feature)) return d.api;
  }
  return DeviceAPI::Host;
}

const char *device_api_name(DeviceAPI api) {
  static constexpr const char *kNames[] = {"None",         "Host",   "Default_GPU", "CUDA",
                                           "OpenCL",       "Metal",  "Hexagon",     "HexagonDma",
                                           "D3D12Compute", "Vulkan", "WebGPU"};
  static_assert(std::size(kNames) == std::size(all_device_apis));
  const auto i = static_cast<size_t>(api);
  return i < std::size(kNames) ? kNames[i] : nullptr;
}

const polyhalite_device_interface_t *get_device_interface_for_device_api(DeviceAPI api,
                                                                         const Target &target,
                                                                         const char *error_site) {
  const DeviceAPI meant =
      api == DeviceAPI::Default_GPU ? get_default_device_api_for_target(target) : api;
  if (meant == DeviceAPI::CUDA && target.has_feature(Target::CUDA)) {
    return backend().device_interface(meant);
  }
  if (!error_site) return nullptr;
  const std::string site = std::string(error_site) + ": ";
  const char *name = device_api_name(api);
  if (!name) {
    user_error(site + "there is no device of number " + std::to_string(static_cast<int>(api)),
               "devices are the enumerators of DeviceAPI", "use DeviceAPI::Host");
  }
  if (api == DeviceAPI::None || api == DeviceAPI::Host) {
    user_error(site + "DeviceAPI::" + name + " has no device interface",
               "it stands for the processor itself", "name a device, such as CUDA");
  }
  if (!target.supports_device_api(api)) {
    user_error(site + "the device " + name + " is not available",
               "the target '" + target.to_string() + "' does not have it",
               "add its feature to the target, or leave the data on the host");
  }
  user_error(site + "the device " + name + " is not available",
             "this version makes code for CUDA alone", "leave the data on the host");
}

bool host_supports_target_device(const Target &t) {
  const DeviceAPI device = t.get_required_device_api();
  return device == DeviceAPI::None ||
         (device == DeviceAPI::CUDA &&
          backend().device_capability(device) >= t.get_cuda_capability_lower_bound());
}

}  // namespace polyhalite
