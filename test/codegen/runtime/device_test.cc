// Buffers without a device: copies between host memories, and what fails.
#include "lang/abi/polyhalite_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "lang/abi/polyhalite_float16.h"
#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/runtime_buffer.h"

namespace polyhalite::device_test {
namespace {

std::string told;
void keep(void *, const char *message) { told = message; }

class HostOnly : public testing::Test {
 protected:
  HostOnly() : before_(polyhalite_set_error_handler(keep)) { told.clear(); }
  ~HostOnly() override { polyhalite_set_error_handler(before_); }

 private:
  polyhalite_error_handler_t before_;
};

TEST_F(HostOnly, CopiesWhatTheDestinationHas) {
  runtime::Buffer<int16_t, 2> src(6, 5), dst(3, 2);
  src.for_each_element([&](int x, int y) { src(x, y) = static_cast<int16_t>(10 * x + y); });
  dst.set_min({2, 1});
  dst.fill(0);
  EXPECT_EQ(polyhalite_buffer_copy(nullptr, src.raw_buffer(), nullptr, dst.raw_buffer()), 0);
  dst.for_each_element([&](int x, int y) { EXPECT_EQ(dst(x, y), 10 * x + y); });
  dst.transpose(0, 1);
  dst.set_min({0, 3});
  EXPECT_EQ(polyhalite_buffer_copy(nullptr, src.raw_buffer(), nullptr, dst.raw_buffer()),
            polyhalite_error_code_device_buffer_copy_failed);
  EXPECT_NE(told.find("beyond its own bounds"), std::string::npos);
}

TEST_F(HostOnly, WhatNeedsADeviceFails) {
  runtime::Buffer<float, 1> b(4);
  EXPECT_EQ(polyhalite_copy_to_host(nullptr, b.raw_buffer()), 0);
  EXPECT_EQ(polyhalite_device_free(nullptr, b.raw_buffer()), 0);
  EXPECT_EQ(told, "");
  EXPECT_EQ(polyhalite_copy_to_device(nullptr, b.raw_buffer(), nullptr),
            polyhalite_error_code_no_device_interface);
  EXPECT_EQ(polyhalite_device_malloc(nullptr, b.raw_buffer(), nullptr),
            polyhalite_error_code_no_device_interface);
  EXPECT_NE(told.find("not available"), std::string::npos);
}

int released = 0, release_result = 0;
int release_unused(void *) {
  released++;
  return release_result;
}

TEST_F(HostOnly, KeptMemoryIsGivenBackWhenNoLongerReused) {
  static polyhalite_device_allocation_pool pool = {release_unused, nullptr};
  polyhalite_register_device_allocation_pool(&pool);
  EXPECT_FALSE(polyhalite_can_reuse_device_allocations(nullptr));
  EXPECT_EQ(polyhalite_reuse_device_allocations(nullptr, true), 0);
  EXPECT_TRUE(polyhalite_can_reuse_device_allocations(nullptr));
  EXPECT_EQ(released, 0);
  release_result = -3;
  EXPECT_EQ(polyhalite_reuse_device_allocations(nullptr, false), -3);
  EXPECT_EQ(released, 1);
  release_result = 0;
  EXPECT_FALSE(polyhalite_can_reuse_device_allocations(nullptr));
}

TEST_F(HostOnly, TheDeviceIsTheLastUnlessOneIsNamed) {
  unsetenv("PH_GPU_DEVICE");
  unsetenv("HL_GPU_DEVICE");
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), -1);
  setenv("HL_GPU_DEVICE", "2", 1);
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), 2);
  polyhalite_set_gpu_device(1);
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), 1);
  polyhalite_set_gpu_device(-1);
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), -1);
  polyhalite_set_gpu_device(-2);
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), 2);
  unsetenv("HL_GPU_DEVICE");
  EXPECT_EQ(polyhalite_get_gpu_device(nullptr), -1);
  EXPECT_EQ(polyhalite_device_sync_global(nullptr, nullptr),
            polyhalite_error_code_no_device_interface);
}

TEST(Float16Bits, AreExact) {
  const std::pair<uint16_t, float> numbers[] = {{0x0000, 0.0f},
                                                {0x3c00, 1.0f},
                                                {0xc000, -2.0f},
                                                {0x7bff, 65504.0f},
                                                {0x0400, 0x1p-14f},
                                                {0x0001, 0x1p-24f},
                                                {0x83ff, -1023 * 0x1p-24f},
                                                {0x3555, 0.33325195f}};
  for (const auto &[bits, value] : numbers) {
    EXPECT_EQ(polyhalite_float16_bits_to_float(bits), value) << bits;
    EXPECT_EQ(polyhalite_float16_bits_to_double(bits), static_cast<double>(value));
  }
  EXPECT_TRUE(std::signbit(polyhalite_float16_bits_to_float(0x8000)));
  EXPECT_TRUE(std::isinf(polyhalite_float16_bits_to_float(0x7c00)));
  EXPECT_TRUE(std::isnan(polyhalite_float16_bits_to_float(0x7e00)));
}

}  // namespace
}  // namespace polyhalite::device_test
