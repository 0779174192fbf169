// The words of schedules for devices: which directives they add, and the messages at the call.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::device_schedule_test {
namespace {

std::string schedule_of(const Func &f) {
  std::string s;
  for (const Directive &d : freeze({f.function()}).directives) {
    s += directive_name(d.kind);
    if (d.stage > 0) s += "#" + std::to_string(d.stage);
    for (const std::string &l : d.loops) s += " " + l;
    if (d.device != DeviceAPI::Default_GPU) s += std::string(" on ") + device_api_name(d.device);
    s += "\n";
  }
  return s;
}

struct DeviceSchedule : testing::Test {
  Var x{"x"}, y{"y"}, z{"z"}, bx{"bx"}, by{"by"}, bz{"bz"}, tx{"tx"}, ty{"ty"}, tz{"tz"};
  Func f{"f"};
  void SetUp() override { f(x, y, z) = x + y + z; }
};

TEST_F(DeviceSchedule, TilesAreSplitsWithBlocksAndThreads) {
  f.gpu_tile(x, y, bx, by, tx, ty, 8, 4, TailStrategy::GuardWithIf, DeviceAPI::CUDA);
  EXPECT_EQ(schedule_of(f),
            "split x bx tx\n"
            "split y by ty\n"
            "reorder tx ty bx by\n"
            "gpu_blocks bx by on CUDA\n"
            "gpu_threads tx ty on CUDA\n");
}

TEST_F(DeviceSchedule, ShortTilesKeepTheOuterNames) {
  f.gpu_tile(x, y, z, tx, ty, tz, 8, 4, 2);
  EXPECT_EQ(schedule_of(f),
            "split x x tx\n"
            "split y y ty\n"
            "split z z tz\n"
            "reorder tx ty tz x y z\n"
            "gpu_blocks x y z\n"
            "gpu_threads tx ty tz\n");
}

TEST_F(DeviceSchedule, OneDimensionalTilesAndSingleWords) {
  f.gpu_tile(x, tx, 16).gpu_blocks(y, z);
  EXPECT_EQ(schedule_of(f), "split x x tx\ngpu_blocks x\ngpu_threads tx\ngpu_blocks y z\n");
}

TEST_F(DeviceSchedule, StagesAndFuncsHaveThem) {
  RDom r(0, 10, "r");
  f(x, y, r) += r;
  f.update().gpu(x, y, DeviceAPI::OpenCL).gpu_lanes(y);
  f.gpu_single_thread().hexagon().hexagon(y).copy_to_device(DeviceAPI::Metal).copy_to_host();
  EXPECT_EQ(schedule_of(f),
            "gpu_blocks#1 x on OpenCL\n"
            "gpu_threads#1 y on OpenCL\n"
            "gpu_lanes#1 y\n"
            "gpu_single_thread\n"
            "hexagon\n"
            "hexagon y\n"
            "copy_to_device on Metal\n"
            "copy_to_host\n");
}

TEST_F(DeviceSchedule, UndefinedFuncsAndDevicesAreNamed) {
  Func g("g");
  EXPECT_EQ(message_of([&] { g.gpu_blocks(x); }),
            at(__LINE__ - 1) +
                "error: cannot gpu_blocks 'g'\n"
                "  why: the Func is undefined, so it has no loops\n"
                "  fix: define the Func before its schedule");
  EXPECT_EQ(message_of([&] { f.gpu_threads(x, static_cast<DeviceAPI>(99)); }),
            at(__LINE__ - 1) +
                "error: cannot gpu_threads 'f': there is no device of number 99\n"
                "  why: devices are the enumerators of DeviceAPI\n"
                "  fix: use DeviceAPI::Default_GPU");
}

}  // namespace
}  // namespace polyhalite::device_schedule_test
