// Pipelines with kernels through the public interface: compiled in process, their host code run
// against a driver that the test plays, their kernels by the oracle; and linked into programs.
#include <gtest/gtest.h>

#include <utility>

#include "lang/abi/polyhalite_cuda.h"
#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/support/fake_cuda.h"
#include "test/support/played_kernels.h"
#include "test/support/program.h"
#include "test/support/ptxas.h"

namespace polyhalite::gpu_test {
namespace {

class Gpu : public testing::Test {
 protected:
  // Values of f on the played GPU.
  template <typename T>
  Buffer<T> on_gpu(Func f, const std::vector<int> &sizes) {
    play(f);
    return f.realize(sizes, target);
  }

  void play(Func f) {
    play_kernels(freeze({f.function()}), target, {ParallelOrder::Shuffled, 3, {}}, card);
  }

  FakeCuda card;
  const Target target = get_host_target().with_feature(Target::CUDA);
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
};

Buffer<float> picture(int w, int h) {
  Buffer<float> b({w, h}, "picture");
  uint32_t state = 1;
  b.for_each_element([&](int i, int j) {
    state = state * 1664525u + 1013904223u;
    b(i, j) = static_cast<float>(state >> 20) / 16.0f;
  });
  return b;
}

TEST_F(Gpu, ABlurInTilesOfBlockMemory) {
  Buffer<float> image = picture(40, 30);
  Func in("in"), bx("bx"), by("by");
  in(x, y) = image(clamp(x, 0, 39), clamp(y, 0, 29));
  bx(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
  by(x, y) = bx(x, y - 1) + bx(x, y) + bx(x, y + 1);
  by.gpu_tile(x, y, xi, yi, 16, 4);
  bx.compute_at(by, x).gpu_threads(x, y);
  Buffer<float> found = on_gpu<float>(by, {40, 30});
  found.for_each_element([&](int i, int j) {
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++) {
      float row = 0;
      for (int dx = -1; dx <= 1; dx++) {
        row += image(std::clamp(i + dx, 0, 39), std::clamp(j + dy, 0, 29));
      }
      sum += row;
    }
    EXPECT_EQ(found(i, j), sum) << i << ", " << j;
  });
  EXPECT_EQ(card.launches.size(), 1u);
  EXPECT_FALSE(found.device_dirty());
}

TEST_F(Gpu, StagesOnBothSides) {
  Buffer<float> image = picture(20, 10);
  Func a("a"), b("b"), c("c");
  a(x, y) = image(x, y) * 2.0f;
  b(x, y) = a(x, y) + 1.0f;
  c(x, y) = b(x, y) * b(x, y);
  a.compute_root();
  b.compute_root().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  {
    Buffer<float> found = on_gpu<float>(c, {20, 10});
    found.for_each_element([&](int i, int j) {
      const float v = image(i, j) * 2 + 1;
      EXPECT_EQ(found(i, j), v * v);
    });
  }
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 1);
  EXPECT_EQ(card.called("cuMemcpyDtoH"), 1);
  EXPECT_EQ(card.live_blocks(), 0u) << "nobody holds device memory any more";
}

// What the host never touches has memory on the card alone: also in a loop on the host, and where
// the output is the host's.
TEST_F(Gpu, AFuncBetweenTwoKernels) {
  Buffer<float> image = picture(20, 10);
  Func a("a"), b("b"), c("c");
  a(x, y) = image(x, y) * 2.0f;
  b(x, y) = a(x, y) + a(19 - x, y);
  c(x, y) = b(x, y) * b(x, 9 - y);
  a.compute_root().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  b.compute_root().gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
  c.gpu_tile(x, y, xi, yi, 4, 4);
  {
    Buffer<float> found = on_gpu<float>(c, {20, 10});
    found.for_each_element([&](int i, int j) {
      auto sum = [&](int row) { return image(i, row) * 2 + image(19 - i, row) * 2; };
      EXPECT_EQ(found(i, j), sum(j) * sum(9 - j)) << i << ", " << j;
    });
  }
  EXPECT_EQ(card.fault, "");
  EXPECT_EQ(card.launches.size(), 3u);
  EXPECT_EQ(card.called("cuMemAlloc"), 4) << "the image, a, b and the output";
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 1);
  EXPECT_EQ(card.called("cuMemcpyDtoH"), 1);
  EXPECT_EQ(card.live_blocks(), 0u);
}

// Kernels in a loop of the host, whose producers' memory stands outside of the loop.
TEST_F(Gpu, MemoryOutsideOfALoopAroundKernels) {
  for (const bool hoisted : {false, true}) {
    SCOPED_TRACE(hoisted);
    card.kernels.clear();
    Buffer<float> image = picture(20, 14);
    Func a("a"), b("b");
    Var yo("yo");
    a(x, y) = image(x, y) * 2.0f;
    b(x, y) = a(x, y) + a(x, y + 2);
    b.split(y, yo, y, 4, TailStrategy::GuardWithIf)
        .split(x, x, xi, 8, TailStrategy::GuardWithIf)
        .reorder(xi, y, x, yo)
        .gpu_blocks(x)
        .gpu_threads(xi, y);
    a.compute_at(b, yo).gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    hoisted ? a.hoist_storage_root() : a.store_root();
    Buffer<float> found = on_gpu<float>(b, {20, 12});
    found.for_each_element([&](int i, int j) {
      EXPECT_EQ(found(i, j), image(i, j) * 2 + image(i, j + 2) * 2) << i << ", " << j;
    });
  }
  EXPECT_EQ(card.fault, "");
}

// What is kept is the host's: the second run takes it from there, and launches one kernel.
TEST_F(Gpu, AMemoizedFuncOfAKernel) {
  Func a("a"), b("b");
  a(x, y) = x * 2 + y;
  b(x, y) = a(x, y) + 1;
  a.compute_root().memoize().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  b.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  play(b);
  for (const size_t launches : {2u, 3u}) {
    Buffer<int> found = b.realize({20, 10}, target);
    EXPECT_EQ(card.launches.size(), launches);
    found.for_each_element([&](int i, int j) { EXPECT_EQ(found(i, j), i * 2 + j + 1); });
  }
  EXPECT_EQ(card.fault, "");
  EXPECT_EQ(card.live_blocks(), 0u);
}

// The played card is as strict as a real one.
TEST_F(Gpu, KernelsHaveNoMemoryButTheCards) {
  Buffer<float> image = picture(20, 10);
  Func f("f");
  f(x, y) = image(x, y) * 2.0f;
  f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  play(f);
  const auto played = card.kernels.at("kernel_f_s0");
  card.kernels["kernel_f_s0"] = [&](const FakeCuda::Launch &l, void **args) {
    polyhalite_buffer_t nowhere = *static_cast<polyhalite_buffer_t *>(args[0]);
    nowhere.device = 0;
    args[0] = &nowhere;
    played(l, args);
  };
  try {
    f.realize({20, 10}, target);
    FAIL();
  } catch (const RuntimeError &e) {
    EXPECT_NE(std::string(e.what()).find("CUDA_ERROR_ILLEGAL_ADDRESS (kernel 'f.s0': "),
              std::string::npos)
        << e.what();
  }
  // Buffers give back what they have.
  const std::string fault = std::exchange(card.fault, "");
  EXPECT_EQ(fault, "kernel 'f.s0': error: the 800 bytes of 'f' are not in memory of the card");
}

TEST_F(Gpu, InputsStayOnTheDevice) {
  ImageParam in(Float(32), 1, "in");
  Param<float> gain("gain");
  Func f("f");
  f(x) = in(x)*gain;
  f.gpu_tile(x, xi, 8);
  Buffer<float> input({32}, "input");
  input.fill(3);
  in.set(input);
  gain.set(2);
  play(f);
  for (int i = 0; i < 2; i++) {
    Buffer<float> found = f.realize({32}, target);
    EXPECT_EQ(found(31), 6);
  }
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 1) << "once for both runs";
  input.fill(4);
  input.set_host_dirty();
  Buffer<float> found = f.realize({32}, target);
  EXPECT_EQ(found(31), 8);
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 2);
}

TEST_F(Gpu, OutputsOfTheCallerAreCopiedWhenAskedFor) {
  Func f("f");
  f(x) = x * 3;
  f.gpu_tile(x, xi, 8);
  play(f);
  Buffer<int> out({16}, "out");
  out.fill(0);
  out.set_host_dirty(false);
  f.realize(out, target);
  EXPECT_TRUE(out.device_dirty());
  EXPECT_EQ(card.called("cuMemcpyDtoH"), 0);
  out.copy_to_host();
  EXPECT_EQ(out(15), 45);
  out.device_free();
  EXPECT_EQ(card.live_blocks(), 0u);
}

TEST_F(Gpu, FailuresAreThrown) {
  Func f("f");
  f(x) = x;
  f.gpu_tile(x, xi, 8);
  card.failures["cuMemAlloc"] = 2;
  try {
    f.realize({16}, target);
    FAIL();
  } catch (const RuntimeError &e) {
    EXPECT_NE(std::string(e.what()).find("cannot allocate 64 bytes on the GPU"), std::string::npos)
        << e.what();
  }
  Buffer<float> b({16}, "b");
  EXPECT_THROW(b.device_malloc(target), RuntimeError);
}

TEST_F(Gpu, CardsOfATargetAreLookedFor) {
  EXPECT_TRUE(host_supports_target_device(target.with_feature(Target::CUDACapability80)));
  EXPECT_EQ(get_device_interface_for_device_api(DeviceAPI::CUDA, target),
            polyhalite_cuda_device_interface());
}

TEST(GpuWithoutADriver, IsARuntimeError) {
  polyhalite_set_custom_load_library([](const char *) -> void * { return nullptr; });
  const Target target = get_host_target().with_feature(Target::CUDA);
  EXPECT_FALSE(host_supports_target_device(target));
  Var x("x"), xi("xi");
  Func f("f");
  f(x) = x;
  f.gpu_tile(x, xi, 8);
  try {
    f.realize({16}, target);
    FAIL();
  } catch (const RuntimeError &e) {
    EXPECT_NE(
        std::string(e.what()).find(
            "the GPU is not available: there is no libcuda.so.1; install NVIDIA's driver on a "
            "machine with its card, or compile for a target without cuda"),
        std::string::npos)
        << e.what();
  }
  polyhalite_set_custom_load_library(nullptr);
}

// Built here, where no CUDA is needed; where there is no card, the library says so.
TEST(GpuAheadOfTime, LibrariesLinkWithoutCuda) {
  const test::TemporaryFolder folder;
  Var x("x"), xi("xi");
  Func f("scaled");
  ImageParam in(Int(32), 1, "in");
  f(x) = in(x) * 3;
  f.gpu_tile(x, xi, 8);
  const Target target = get_host_target().with_feature(Target::CUDA);
  f.compile_to_static_library(folder.path("scaled"), {in}, "scaled", target);
  write_file(folder.path("main.cc"), R"(
#include <cstdio>
#include "polyhalite_runtime.h"
#include "scaled.h"
void told(void *, const char *message) { std::printf("%s", message); }
int main() {
  polyhalite_set_error_handler(told);
  polyhalite_set_custom_load_library([](const char *) -> void * { return nullptr; });
  int from[16] = {}, to[16] = {};
  polyhalite_dimension_t from_dim = {0, 16, 1, 0}, to_dim = {0, 16, 1, 0};
  polyhalite_buffer_t a{}, b{};
  a.host = (uint8_t *)from; b.host = (uint8_t *)to;
  a.type = b.type = polyhalite_type_of<int>(); a.type.lanes = b.type.lanes = 1;
  a.dimensions = b.dimensions = 1; a.dim = &from_dim; b.dim = &to_dim;
  return scaled(&a, &b) == polyhalite_error_code_gpu_device_error ? 0 : 1;
}
)",
             "the test's program");
  const auto built = folder.run("c++ -std=c++17 -I. -I" POLYHALITE_TEST_DIR
                                "/../../lang/abi main.cc scaled.a -lpthread -ldl -o main" +
                                std::string(test::kSanitizers));
  ASSERT_EQ(built.second, 0) << built.first;
  const auto [text, status] = folder.run("./main");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text.substr(0, 28), "the GPU is not available: th");
}

TEST(GpuAheadOfTime, PtxIsAnOutput) {
  Var x("x"), xi("xi");
  Func f("scaled");
  ImageParam in(Float(32), 1, "in");
  f(x) = in(x) * 3.0f;
  f.gpu_tile(x, xi, 64);
  const FrozenPipeline frozen = freeze({f.function()}, {in.parameter().contents()});
  const Target target("x86-64-linux-cuda-cuda_capability_80");
  const std::string ptx = backend().emit_text(frozen, "scaled", target, Emit::ptx);
  EXPECT_NE(ptx.find(".visible .entry kernel_"), std::string::npos) << ptx;
  EXPECT_NE(backend()
                .emit_text(frozen, "scaled", target.with_feature(Target::SM90a), Emit::ptx)
                .find(".target sm_90a"),
            std::string::npos);
  try {
    backend().emit_text(frozen, "scaled", target, Emit::c_source);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_STREQ(e.what(),
                 "error: there is no C source of a pipeline with kernels\n"
                 "  why: some stage runs on a GPU, whose code is PTX\n"
                 "  fix: emit an object or ptx, or keep all stages on the host");
  }
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
  EXPECT_TRUE(assemble(ptx, "sm_80").is_assembled);
}

}  // namespace
}  // namespace polyhalite::gpu_test
