// Targets as text.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/target.h"

namespace polyhalite::target_test {
namespace {

TEST(Target, TextIsSortedAndImpliedFeaturesAreAdded) {
  EXPECT_EQ(Target("x86-64-linux-fma-avx2-f16c").to_string(),
            "x86-64-linux-avx-avx2-f16c-fma-sse41");
  EXPECT_EQ(Target("arm-64-linux").to_string(), "arm-64-linux");
}

TEST(Target, HostTakesMoreFeatures) {
  const Target t("host-no_asserts");
  EXPECT_TRUE(t.has_feature(Target::NoAsserts));
  EXPECT_EQ(t.without_feature(Target::NoAsserts), get_host_target());
  EXPECT_EQ(Target(t.to_string()), t);
}

TEST(Target, VectorSizesFollowTheInstructionSet) {
  EXPECT_EQ(Target("x86-64-linux").natural_vector_size<float>(), 4);
  EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<float>(), 8);
  EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<uint8_t>(), 16);
  EXPECT_EQ(Target("x86-64-linux-avx2").natural_vector_size<uint8_t>(), 32);
  EXPECT_EQ(Target("x86-64-linux-avx512_skylake").natural_vector_size<float>(), 16);
  EXPECT_EQ(Target("arm-64-linux").natural_vector_size<uint16_t>(), 8);
}

TEST(Target, FloatsHaveWideVectorsBeforeIntegers) {
  const Target avx("x86-64-linux-avx");
  EXPECT_EQ(avx.natural_vector_size(Float(32)), 8);
  EXPECT_EQ(avx.natural_vector_size(Int(32)), 4);
  EXPECT_EQ(Target("arm-64-linux-sve2-vector_bits_256").natural_vector_size<float>(), 8);
}

// The list of known words is long; only its first ones are compared.
std::string message_of_target(const std::string &text) {
  const std::string message = message_of([&] { Target(text).to_string(); });
  const size_t list = message.find(" host; x86, arm, hexagon,");
  EXPECT_NE(list, std::string::npos) << message;
  return message.substr(0, list);
}

std::string message_about(const std::string &text, const std::string &why) {
  return "error: cannot read the target '" + text + "'\n  why: " + why +
         "\n  fix: write arch-bits-os and then features, as in x86-64-linux-avx2-fma, or host; the "
         "known words are:";
}

TEST(Target, UnreadableWordsAreNamed) {
  const char *const cases[][2] = {
      {"x86-64-linux-avx3", "'avx3' is no known word"},
      {"x86-23", "'23' is no known word"},
      {"x86-0-linux", "'0' is no known word"},
      {"x86-64-linux-vector_bits_", "'vector_bits_' is no known word"},
      {"x86", "it does not say 32 or 64 bits"},
      {"64-linux", "it names no architecture"},
      {"no_asserts", "it names no architecture"},
      {"x86-64", "it names no operating system"},
      {"x86-arm-64", "'arm' names a second architecture"},
      {"x86-64-32", "'32' gives the bits a second time"},
      {"x86-64-linux-osx", "'osx' names a second operating system"},
      {"host-tune_k8-tune_znver2", "'tune_znver2' names a second processor"},
      {"avx-host", "'host' must be the first word"},
  };
  for (const auto &c : cases) EXPECT_EQ(message_of_target(c[0]), message_about(c[0], c[1]));
  for (const auto &c : cases) EXPECT_FALSE(Target::validate_target_string(c[0]));
  EXPECT_FALSE(Target::validate_target_string(Target().to_string()));
}

TEST(Target, TheEmptyTextIsThisMachine) {
  EXPECT_EQ(Target(""), get_host_target());
  EXPECT_EQ(Target("arm-32-linux").to_string(), "arm-32-linux");
}

TEST(Target, AnUnknownMachineHasNoVectors) {
  EXPECT_EQ(message_of([] { Target().natural_vector_size<float>(); }),
            "error: natural_vector_size() of the target 'arch_unknown-0-os_unknown'\n"
            "  why: vectors are as wide as the machine makes them, and parts of it are unknown\n"
            "  fix: name architecture, bits and system, as in Target(\"x86-64-linux\")");
}

TEST(Target, DeviceInterfacesAreNotAvailable) {
  const Target host("x86-64-linux");
  EXPECT_EQ(get_device_interface_for_device_api(DeviceAPI::CUDA, host), nullptr);
  const auto message = [&](DeviceAPI api, const Target &t) {
    return message_of([&] { get_device_interface_for_device_api(api, t, "upload"); });
  };
  EXPECT_EQ(message(DeviceAPI::CUDA, host),
            "error: upload: the device CUDA is not available\n"
            "  why: the target 'x86-64-linux' does not have it\n"
            "  fix: add its feature to the target, or leave the data on the host");
  EXPECT_EQ(message(DeviceAPI::Default_GPU, host.with_feature(Target::Metal)),
            "error: upload: the device Default_GPU is not available\n"
            "  why: this version makes code for CUDA alone\n"
            "  fix: leave the data on the host");
  EXPECT_EQ(message(DeviceAPI::Host, host),
            "error: upload: DeviceAPI::Host has no device interface\n"
            "  why: it stands for the processor itself\n"
            "  fix: name a device, such as CUDA");
  EXPECT_EQ(message(static_cast<DeviceAPI>(-1), host),
            "error: upload: there is no device of number -1\n"
            "  why: devices are the enumerators of DeviceAPI\n"
            "  fix: use DeviceAPI::Host");
}

TEST(Target, EveryFeatureHasAWordThatReadsBack) {
  for (int i = 0; i < Target::FeatureEnd; i++) {
    const auto f = static_cast<Target::Feature>(i);
    const std::string word = Target::feature_to_name(f);
    EXPECT_EQ(Target::feature_from_name(word), f) << word;
    Target t;
    t.set_feature(f);
    t.arch = Target::ArchUnknown;
    EXPECT_TRUE(t.has_feature(f));
    EXPECT_NE(t.to_string().find(word), std::string::npos) << t.to_string();
  }
  EXPECT_EQ(Target::feature_from_name("hvx"), Target::HVX_128);
  EXPECT_EQ(Target::feature_from_name("mmx"), Target::FeatureEnd);
  // The numbers are part of the binary interface.
  EXPECT_EQ(static_cast<int>(Target::JIT), 0);
  EXPECT_EQ(static_cast<int>(Target::CUDA), 16);
  EXPECT_EQ(static_cast<int>(Target::FeatureEnd), 111);
}

TEST(Target, ForeignSystemsAndDevicesHaveText) {
  const Target t(Target::Android, Target::ARM, 32,
                 {Target::Debug, Target::OpenCL, Target::JIT, Target::CUDA});
  EXPECT_EQ(t.to_string(), "arm-32-android-cuda-debug-jit-opencl");
  EXPECT_EQ(Target(t.to_string()), t);
  EXPECT_EQ(Target("hexagon-32-qurt-hvx_v66-hvx_128").to_string(),
            "hexagon-32-qurt-hvx_128-hvx_v66");
  EXPECT_EQ(Target("x86-64-windows-trace_all-tune_znver3").to_string(),
            "x86-64-windows-tune_znver3-trace_all");
  EXPECT_EQ(Target("arm-64-osx-vector_bits_512-sve2").to_string(),
            "arm-64-osx-sve-sve2-vector_bits_512");
}

TEST(Target, InstructionsOfAnotherArchitectureAreRefused) {
  EXPECT_EQ(message_of([] { Target(Target::Linux, Target::ARM, 64, {Target::SSE41}); }),
            "error: the target 'arm-64-linux-sse41' has the feature sse41\n"
            "  why: that is an instruction set of x86, not of arm\n"
            "  fix: leave it out, or name the other architecture");
  EXPECT_FALSE(Target::validate_target_string("x86-64-linux-sve"));
}

TEST(Target, DevicesAreKnownByTheirFeatures) {
  const Target cpu("x86-64-linux"), cuda("x86-64-linux-cuda-cuda_capability_61");
  EXPECT_FALSE(cpu.has_gpu_feature());
  EXPECT_TRUE(cuda.has_gpu_feature());
  EXPECT_EQ(get_default_device_api_for_target(cpu), DeviceAPI::Host);
  EXPECT_EQ(get_default_device_api_for_target(cuda), DeviceAPI::CUDA);
  EXPECT_EQ(cuda.get_required_device_api(), DeviceAPI::CUDA);
  EXPECT_EQ(cuda.get_cuda_capability_lower_bound(), 61);
  EXPECT_TRUE(cuda.supports_device_api(DeviceAPI::Default_GPU));
  EXPECT_FALSE(cuda.supports_device_api(DeviceAPI::Metal));
  EXPECT_TRUE(host_supports_target_device(cpu));
  EXPECT_FALSE(host_supports_target_device(cpu.with_feature(Target::Metal)));
  EXPECT_TRUE(cpu.supported());
  EXPECT_TRUE(cuda.supported());
  EXPECT_FALSE(cpu.with_feature(Target::Metal).supported());
  EXPECT_EQ(Target("x86-64-linux-cuda-cuda_capability_90-sm_90a").get_cuda_capability_lower_bound(),
            90);
  EXPECT_FALSE(cpu.with_feature(Target::Metal).supports_type(Float(64)));
  EXPECT_TRUE(cuda.supports_type(Float(64)));
}

TEST(Target, ARuntimeForTwoTargetsHasWhatBothCanRun) {
  const Target a("x86-64-linux-avx2-fma-cuda-cuda_capability_50"), b("x86-64-linux-avx-metal");
  Target both;
  ASSERT_TRUE(a.get_runtime_compatible_target(b, both));
  EXPECT_EQ(both.to_string(), "x86-64-linux-avx-cuda-metal-sse41");
  const Target before = both;
  EXPECT_FALSE(a.get_runtime_compatible_target(Target("arm-64-linux"), both));
  EXPECT_FALSE(a.get_runtime_compatible_target(a.with_feature(Target::ASAN), both));
  EXPECT_EQ(both, before);
}

TEST(Target, VectorsOfTheStreamingModeHaveAWidthOfTheirOwn) {
  const Target t("arm-64-linux-sme2-sme_svl512");
  EXPECT_EQ(t.sme_streaming_vector_bits(), 512);
  EXPECT_EQ(t.to_string(), "arm-64-linux-sme2-sme_svl512");
  EXPECT_EQ(Target("arm-64-linux-sme2").sme_streaming_vector_bits(), 0);
  EXPECT_EQ(Target::sme_svl_feature_from_bits(2048), Target::SME_SVL2048);
  EXPECT_EQ(Target::sme_svl_feature_from_bits(100), Target::FeatureEnd);
}

TEST(Target, LargeBuffersNeed64Bits) {
  EXPECT_EQ(Target("x86-64-linux").maximum_buffer_size(), INT32_MAX);
  EXPECT_EQ(Target("x86-64-linux-large_buffers").maximum_buffer_size(), INT64_MAX);
  EXPECT_EQ(Target("x86-32-linux-large_buffers").maximum_buffer_size(), INT32_MAX);
}

}  // namespace
}  // namespace polyhalite::target_test
