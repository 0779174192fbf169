// Uses of the language that are refused where they stand or at the freeze.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::refused_uses_test {
namespace {

struct RefusedUses : testing::Test {
  Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"};
  Func f{"f"};
};

TEST_F(RefusedUses, TilesWithATailForEachDimension) {
  f(x, y) = x + y;
  f.tile({x, y}, {xo, yo}, {xi, yi}, {8, 4}, {TailStrategy::GuardWithIf, TailStrategy::RoundUp});
  const auto directives = freeze({f.function()}).directives;
  ASSERT_EQ(directives.size(), 3u);
  EXPECT_EQ(directives[0].tail, TailStrategy::GuardWithIf);
  EXPECT_EQ(directives[1].tail, TailStrategy::RoundUp);
  EXPECT_EQ(directives[2].loops, (std::vector<std::string>{"xi", "yi", "xo", "yo"}));
  EXPECT_EQ(message_of([&] {
              f.tile({xo, yo}, {x, y}, {x, y}, {8, 4},
                     {TailStrategy::Auto, TailStrategy::Auto, TailStrategy::Auto});
            }),
            at(__LINE__ - 4) +
                "error: cannot tile 'f': 2 loops, 2 outer and 2 inner names, 2 factors, 3 tails\n"
                "  why: each tiled loop has one of each\n"
                "  fix: give lists of the same length");
}

TEST_F(RefusedUses, ExternStagesOfDevices) {
  EXPECT_EQ(message_of([&] {
              f.define_extern("shade", {}, Int(32), 1, NameMangling::Default, DeviceAPI::OpenCL);
            }),
            at(__LINE__ - 3) +
                "error: extern stage 'f' on OpenCL: it is not available\n"
                "  why: code is made for the processor only\n"
                "  fix: leave the device out");
  f.define_extern("shade", {}, Int(32), 1, NameMangling::Default, DeviceAPI::Host);
  EXPECT_TRUE(f.is_extern());
}

TEST_F(RefusedUses, LerpOfTwoTypes) {
  EXPECT_EQ(message_of([] { lerp(cast<uint16_t>(0), cast<uint8_t>(42), 0.5f); }),
            "error: 'lerp' of a uint16 and a uint8\n"
            "  why: both ends have one type, which is the result's\n"
            "  fix: cast one of them");
  EXPECT_EQ(lerp(cast<uint16_t>(3), 42, 0.5f).type(), UInt(16));
}

TEST_F(RefusedUses, BoundsOfASecondOutputBuffer) {
  f(x) = Tuple(x, 2 * x);
  f.output_buffers()[0].dim(0).set_min(4);
  EXPECT_EQ(freeze({f.function()}).algorithm.outputs.size(), 1u);
  f.output_buffers()[1].dim(0).set_min(4);
  const std::string message = message_of([&] { freeze({f.function()}); });
  EXPECT_EQ(message.substr(message.find("error:")),
            "error: the min or extent of value 1 of output 'f' is fixed\n"
            "  why: the buffers of all values have the bounds of the first\n"
            "  fix: fix those of output_buffers()[0]");
}

TEST_F(RefusedUses, BuffersWithNewerValuesOnADevice) {
  Buffer<float> image({4}, "image");
  f(x) = image(x);
  image.set_device_dirty(true);
  EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
            "error: the Buffer 'image' has newer values on a device\n"
            "  why: code is made for the processor, which reads the host's copy\n"
            "  fix: call copy_to_host() first");
}

TEST_F(RefusedUses, CopiesToDevices) {
  Buffer<float> image({4}, "image");
  EXPECT_EQ(message_of([&] { image.copy_to_device(DeviceAPI::CUDA, Target("x86-64-linux")); }),
            "error: Buffer::copy_to_device: the device CUDA is not available\n"
            "  why: the target 'x86-64-linux' does not have it\n"
            "  fix: add its feature to the target, or leave the data on the host");
}

}  // namespace
}  // namespace polyhalite::refused_uses_test
