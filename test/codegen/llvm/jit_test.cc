// Code in this process: errors, memory, threads.
#include "codegen/llvm/jit.h"

#include <atomic>
#include <cstdlib>
#include <thread>

#include "codegen/llvm/pipeline_run.h"

namespace polyhalite::jit_test {
namespace {

constexpr const char *kChecked =
    R"(func blur(input: input uint8[1], k: int32, output: output uint8[1]) {
  assert !buffer_is_null("input") else extern<int32>(polyhalite_error_buffer_is_null, "blur", "input")
  assert buffer_type("input") == 67585u32 else extern<int32>(polyhalite_error_bad_type, "blur", "input", buffer_type("input"), 67585u32)
  assert buffer_dimensions("input") == 1 else extern<int32>(polyhalite_error_bad_dimensions, "blur", "input", buffer_dimensions("input"), 1)
  assert !buffer_host_is_null("input") else extern<int32>(polyhalite_error_host_is_null, "blur", "input")
  assert input.stride.0 == 1 else extern<int32>(polyhalite_error_constraint_violated, "blur", "input", 0, "stride", input.stride.0, 1)
  assert output.extent.0 + k <= input.extent.0 else extern<int32>(polyhalite_error_access_out_of_bounds, "blur", "input", 0, k, output.extent.0 + k - 1, input.min.0, input.min.0 + input.extent.0 - 1)
  for x in (0, output.extent.0) {
    output[int64(x)] = input[int64(x + k)]
  }
}
)";

class EntryChecks : public testing::Test {
 protected:
  EntryChecks() {
    input_.prepare();
    output_.prepare();
  }

  // The message of a call that must fail with `code`.
  std::string message(int code, polyhalite_buffer_t *input, int k = 0) {
    std::string text;
    EXPECT_EQ(jit_.call({input, &k, &output_.raw}, &text), code);
    return text;
  }

  RunBuffer input_{UInt(8), {640}}, output_{UInt(8), {640}};
  JitCode jit_{parse_emittable(kChecked), get_host_target()};
};

TEST_F(EntryChecks, pass) {
  int k = 0;
  std::string text;
  EXPECT_EQ(jit_.call({&input_.raw, &k, &output_.raw}, &text), 0);
  EXPECT_EQ(text, "");
}

TEST_F(EntryChecks, null_buffer) {
  EXPECT_EQ(message(polyhalite_error_code_buffer_argument_is_null, nullptr),
            "blur: buffer 'input' is null; pass a pointer to a polyhalite_buffer_t");
}

TEST_F(EntryChecks, buffer_without_memory) {
  input_.raw.host = nullptr;
  EXPECT_EQ(message(polyhalite_error_code_host_is_null, &input_.raw),
            "blur: buffer 'input' has no memory (host is null); allocate it before the call");
}

TEST_F(EntryChecks, wrong_type) {
  input_.raw.type = {polyhalite_type_float, 32, 1};
  EXPECT_EQ(message(polyhalite_error_code_bad_type, &input_.raw),
            "blur: buffer 'input' has elements of type float32, but the pipeline was compiled for "
            "uint8; pass a buffer of uint8");
}

TEST_F(EntryChecks, wrong_number_of_dimensions) {
  input_.raw.dimensions = 3;
  EXPECT_EQ(message(polyhalite_error_code_bad_dimensions, &input_.raw),
            "blur: buffer 'input' has 3 dimensions, but the pipeline was compiled for 1; pass a "
            "buffer with 1");
}

TEST_F(EntryChecks, wrong_stride) {
  input_.dims[0].stride = 3;
  EXPECT_EQ(message(polyhalite_error_code_constraint_violated, &input_.raw),
            "blur: the stride of dimension 0 of buffer 'input' is 3, but the pipeline was compiled "
            "for 1; pass such a buffer, or lift the constraint of an input with dim(0).set_stride");
}

TEST_F(EntryChecks, access_out_of_bounds) {
  EXPECT_EQ(message(polyhalite_error_code_access_out_of_bounds, &input_.raw, 1),
            "blur: buffer 'input' is accessed at 1 to 640 in dimension 0, but has only 0 to 639; "
            "pass a larger buffer, compute less of the output, or give the access a boundary "
            "condition");
}

TEST(Jit, threads_call_at_once_and_keep_their_messages_apart) {
  const JitCode jit(parse_emittable(kChecked), get_host_target());
  std::atomic<int> wrong = 0;
  auto work = [&](int k) {
    RunBuffer input(UInt(8), {640}), output(UInt(8), {640});
    input.prepare();
    output.prepare();
    const std::string expected = "accessed at " + std::to_string(k) + " to ";
    for (int i = 0; i < 200; i++) {
      std::string text;
      const int code = jit.call({&input.raw, &k, &output.raw}, &text);
      const bool good = k == 0 ? code == 0 && text.empty()
                               : code == polyhalite_error_code_access_out_of_bounds &&
                                     text.find(expected) != std::string::npos;
      if (!good) wrong++;
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 6; k++) threads.emplace_back(work, k);
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Blocks that a pipeline holds.
std::atomic<int> live_blocks = 0;
std::atomic<int> blocks_left = 0;

void *counting_malloc(void *, size_t bytes) {
  if (blocks_left.fetch_sub(1) <= 0) return nullptr;
  live_blocks++;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void counting_free(void *, void *p) {
  live_blocks--;
  free(p);
}

class Memory : public testing::Test {
 protected:
  Memory() {
    polyhalite_set_custom_malloc(counting_malloc);
    polyhalite_set_custom_free(counting_free);
    live_blocks = 0;
  }
  ~Memory() override {
    polyhalite_set_custom_malloc(nullptr);
    polyhalite_set_custom_free(nullptr);
  }
};

TEST_F(Memory, runs_out_and_is_given_back) {
  // The check inside the loop stands for whatever fails there.
  const JitCode jit(parse_function(R"(func f(out: output float32[1]) {
  allocate a: float32[100i64]
  for y in (0, 8) parallel {
    allocate b: float32[int64(out.extent.0)*100i64]
    b[0i64] = 1.0f
    allocate c: float32[20i64]
    c[0i64] = b[0i64]
    assert y < 4 || out.extent.0 < 64 else extern<int32>(polyhalite_error_host_is_null, "f", "out")
    a[int64(y)] = c[0i64]
  }
  for x in (0, 8) {
    out[int64(x)] = a[int64(x)]
  }
}
)"),
                    get_host_target());
  RunBuffer out(Float(32), {64});
  std::string text;
  blocks_left = 2;
  EXPECT_EQ(jit.call({out.prepare()}, &text), polyhalite_error_code_out_of_memory);
  const bool b_or_c = text.find("f: there is no memory for 'c' (80 bytes)") == 0 ||
                      text.find("f: there is no memory for 'b' (25600 bytes)") == 0;
  EXPECT_TRUE(b_or_c) << text;
  EXPECT_EQ(live_blocks, 0);

  blocks_left = 1000;
  EXPECT_EQ(jit.call({out.prepare()}, &text), polyhalite_error_code_host_is_null);
  EXPECT_EQ(live_blocks, 0);

  out.dims[0].extent = 63;
  EXPECT_EQ(jit.call({out.prepare()}, &text), 0);
  EXPECT_EQ(live_blocks, 0);
  EXPECT_EQ(out.as<float>()[7], 1.0f);
}

// Without a word, and where the stack was asked for.
TEST_F(Memory, small_rows_of_tasks_lie_in_their_frames) {
  for (const std::string home : {"", " shared"}) {
    const JitCode jit(parse_function(R"(func f(out: output float32[1]) {
  for y in (0, 8) parallel {
    allocate b: float32[int64(out.extent.0)*16i64])" +
                                     home + R"(
    for x in (0, out.extent.0) {
      b[int64(x)*16i64] = float32(y)
    }
    allocate c: float32[int64(out.extent.0)] heap
    c[0i64] = b[int64(out.extent.0)*16i64 - 16i64]
    assert y < 7 || out.extent.0 != 63 else extern<int32>(polyhalite_error_host_is_null, "f", "out")
    out[int64(y)] = c[0i64]
  }
}
)"),
                      get_host_target());
    // 64 rows of 16 floats are the largest that a frame has.
    for (const auto &[extent, asked] : {std::pair{64, 8}, std::pair{65, 16}}) {
      RunBuffer out(Float(32), {extent});
      std::string text;
      blocks_left = 1000;
      ASSERT_EQ(jit.call({out.prepare()}, &text), 0) << text;
      EXPECT_EQ(1000 - blocks_left, asked);
      EXPECT_EQ(live_blocks, 0);
      EXPECT_EQ(out.as<float>()[7], 7.0f);
    }
    // On the way out of a failing task, too.
    RunBuffer out(Float(32), {63});
    std::string text;
    EXPECT_EQ(jit.call({out.prepare()}, &text), polyhalite_error_code_host_is_null);
    EXPECT_EQ(live_blocks, 0);
  }
}

TEST_F(Memory, regions_of_negative_size_are_empty) {
  const JitCode jit(parse_emittable(R"(func f(out: output float32[1]) {
  allocate a: float32[int64(out.extent.0) - 100i64]
  for x in (0, out.extent.0 - 100) {
    a[int64(x)] = 1.0f
  }
}
)"),
                    get_host_target());
  RunBuffer out(Float(32), {8});
  blocks_left = 1;
  std::string text;
  EXPECT_EQ(jit.call({out.prepare()}, &text), 0) << text;
}

}  // namespace
}  // namespace polyhalite::jit_test
