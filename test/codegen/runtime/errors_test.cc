// Messages of the runtime. Those that compiled code provokes are pinned in llvm/jit_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "lang/abi/polyhalite_runtime.h"
#include "lang/abi/polyhalite_tiles.h"
#include "polyhalite/target.h"

namespace {

std::string last;

class RuntimeErrors : public testing::Test {
 protected:
  RuntimeErrors() {
    polyhalite_set_error_handler([](void *context, const char *message) {
      last = std::string(static_cast<const char *>(context)) + message;
    });
  }
  ~RuntimeErrors() override { polyhalite_set_error_handler(nullptr); }
  char context_[3] = "> ";
};

TEST_F(RuntimeErrors, assumption) {
  EXPECT_EQ(polyhalite_error_assumption(context_, "blur", "blur_y", 1,
                                        "a split of 'y' needs an extent of at least 32", 20, 32,
                                        polyhalite_error_code_access_out_of_bounds),
            polyhalite_error_code_access_out_of_bounds);
  EXPECT_EQ(
      last,
      "> blur: 'blur_y', dimension 1: a split of 'y' needs an extent of at least 32: found 20, "
      "needed 32; change the size of the output, or the schedule");
}

TEST_F(RuntimeErrors, explicit_bounds_too_small) {
  EXPECT_EQ(polyhalite_error_explicit_bounds_too_small(context_, "blur_y", "y", 4, 7, 2, 9),
            polyhalite_error_code_explicit_bounds_too_small);
  EXPECT_EQ(last,
            "> Bounds given for blur_y in y (from 4 to 7) do not cover required region (from 2 to "
            "9); give larger ones, or change the size of the output");
}

TEST_F(RuntimeErrors, device_dirty) {
  EXPECT_EQ(polyhalite_error_device_dirty_with_no_device_support(context_, "blur", "in"),
            polyhalite_error_code_device_dirty_with_no_device_support);
  EXPECT_EQ(last,
            "> blur: buffer 'in' was last written on a device (device_dirty is set), which this "
            "pipeline does not use; copy it to the host before the call");
}

TEST_F(RuntimeErrors, region_overflow) {
  EXPECT_EQ(polyhalite_error_region_overflow(context_, "blur", "in", 1, 5000000000),
            polyhalite_error_code_access_out_of_bounds);
  EXPECT_EQ(last,
            "> blur: what is needed of 'in' in dimension 1 may be 5000000000 from 0, and "
            "coordinates are 32-bit integers; pass other scalars, or compute less of the output");
  polyhalite_error_region_overflow(context_, "blur", "in", 1, POLYHALITE_REGION_BEYOND);
  EXPECT_EQ(last,
            "> blur: the scalars make what is needed of 'in' in dimension 1 no number, or one far "
            "beyond 32-bit integers; pass other scalars");
  polyhalite_error_region_overflow(context_, "blur", "r", -1, 5000000000);
  EXPECT_EQ(last,
            "> blur: the scalars make an end of loop 'r' no 32-bit integer; pass other scalars");
}

TEST_F(RuntimeErrors, buffer_too_large) {
  EXPECT_EQ(polyhalite_error_buffer_too_large(context_, "blur", "in", 5000000000, 2147483647),
            polyhalite_error_code_buffer_extents_too_large);
  EXPECT_EQ(
      last,
      "> blur: buffer 'in' has 5000000000 bytes, but at most 2147483647 can be addressed; pass "
      "a smaller buffer, or compile with large_buffers");
}

TEST_F(RuntimeErrors, out_of_memory) {
  EXPECT_EQ(polyhalite_error_out_of_memory(context_, "blur", "blur_x", 1 << 20),
            polyhalite_error_code_out_of_memory);
  EXPECT_EQ(
      last,
      "> blur: there is no memory for 'blur_x' (1048576 bytes); compute it at an inner loop so "
      "that less of it is stored, or use smaller outputs");
  polyhalite_error_out_of_memory(context_, "blur", "blur_x", INT64_MAX);
  EXPECT_EQ(last,
            "> blur: 'blur_x' has more bytes than are addressed; compute it at an inner loop so "
            "that less of it is stored, use smaller outputs, or compile with large_buffers");
}

// Where the host's target has tiles they are lent to this process.
TEST_F(RuntimeErrors, no_tiles) {
  if (polyhalite::get_host_target().has_feature(polyhalite::Target::AVX512_SapphireRapids)) {
    EXPECT_EQ(polyhalite_use_tiles(context_, "product"), 0);
    return;
  }
  EXPECT_EQ(polyhalite_use_tiles(context_, "product"), polyhalite_error_code_unimplemented);
  EXPECT_EQ(last,
            "> product: it multiplies matrices in tiles (AMX), which this processor does not have "
            "or the system does not lend; compile for a target without avx512_sapphirerapids");
}

TEST_F(RuntimeErrors, types_are_written_as_in_the_language) {
  polyhalite_error_bad_type(context_, "f", "in", 1 | 1 << 8 | 1 << 16, 0 | 64 << 8 | 4 << 16);
  EXPECT_EQ(
      last,
      "> f: buffer 'in' has elements of type bool, but the pipeline was compiled for int64x4; "
      "pass a buffer of int64x4");
}

TEST(RuntimePrint, goes_to_the_handler) {
  polyhalite_set_custom_print([](void *, const char *message) { last = message; });
  polyhalite_print(nullptr, "text");
  polyhalite_set_custom_print(nullptr);
  EXPECT_EQ(last, "text");
}

TEST(RuntimeErrorDeathTest, ends_the_program_where_nobody_handles_it) {
  EXPECT_DEATH(polyhalite_error(nullptr, "what went wrong"), "error: what went wrong");
}

}  // namespace
