// The runtime for NVIDIA's GPUs against a driver that the test plays: copies only where the other
// side is newer, what is loaded and launched, what is said of failures, nothing left behind.
#include "lang/abi/polyhalite_cuda.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/runtime_buffer.h"
#include "test/support/fake_cuda.h"

namespace polyhalite::cuda_test {
namespace {

std::string told;
void keep(void *, const char *message) { told = message; }

const polyhalite_device_interface_t *gpu() { return polyhalite_cuda_device_interface(); }

class Cuda : public testing::Test {
 protected:
  Cuda() : before_(polyhalite_set_error_handler(keep)) { told.clear(); }
  ~Cuda() override {
    card.reset();
    polyhalite_set_error_handler(before_);
  }

  std::unique_ptr<FakeCuda> card = std::make_unique<FakeCuda>();

 private:
  polyhalite_error_handler_t before_;
};

const polyhalite_cuda_kernel_t kKernels[] = {{"kernel_a", "a"}, {"kernel_b", "b"}};
const polyhalite_cuda_module_t kModule = {
    "blur", "portable kernel_a kernel_b", "hopper kernel_a kernel_b", kKernels, 17, 80, 2, 0, 0};

int run(int kernel, std::array<int32_t, 3> blocks, int shared_bytes = 0, void **args = nullptr,
        const polyhalite_cuda_module_t &module = kModule) {
  const int32_t threads[] = {32, 4, 1};
  return polyhalite_cuda_run(nullptr, &module, kernel, blocks.data(), threads, shared_bytes, args,
                             0);
}

TEST_F(Cuda, ADriverThatIsNotThereIsAnError) {
  card.reset();
  polyhalite_set_custom_load_library([](const char *) -> void * { return nullptr; });
  runtime::Buffer<float, 1> b(4);
  EXPECT_EQ(b.device_malloc(gpu()), polyhalite_error_code_gpu_device_error);
  EXPECT_EQ(told,
            "the GPU is not available: there is no libcuda.so.1; install NVIDIA's driver on a "
            "machine with its card, or compile for a target without cuda");
  EXPECT_EQ(run(0, {1, 1, 1}), polyhalite_error_code_gpu_device_error);
  EXPECT_FALSE(b.has_device_allocation());
  // Asking what a card can do is how programs find out whether there is one.
  told.clear();
  int major = -1, minor = -1;
  EXPECT_EQ(gpu()->compute_capability(nullptr, &major, &minor), 0);
  EXPECT_EQ(std::make_pair(major, minor), std::make_pair(0, 0));
  EXPECT_EQ(told, "");
  polyhalite_set_custom_load_library(nullptr);
}

TEST_F(Cuda, ADriverWithoutCardsIsAnError) {
  card.reset();
  card = std::make_unique<FakeCuda>(0);
  EXPECT_EQ(run(0, {1, 1, 1}), polyhalite_error_code_gpu_device_error);
  EXPECT_EQ(told.substr(0, 57), "the GPU is not available: the driver sees no card; instal");
}

TEST_F(Cuda, CopiesGoWhereTheOtherSideIsNewer) {
  runtime::Buffer<int32_t, 2> b(6, 5);
  std::iota(b.begin(), b.end(), 0);
  EXPECT_EQ(polyhalite_copy_to_device(nullptr, b.raw_buffer(), gpu()), 0);
  EXPECT_EQ(card->called("cuMemAlloc"), 1);
  EXPECT_EQ(card->called("cuMemcpyHtoD"), 0) << "nobody said that the host wrote";
  b.set_host_dirty();
  EXPECT_EQ(b.copy_to_device(gpu()), 0);
  EXPECT_EQ(b.copy_to_device(gpu()), 0);
  EXPECT_EQ(card->called("cuMemcpyHtoD"), 1);
  EXPECT_FALSE(b.host_dirty());
  b.fill(-1);
  b.set_host_dirty(false);
  EXPECT_EQ(b.copy_to_host(), 0);
  EXPECT_EQ(std::as_const(b)(5, 4), -1) << "the device wrote nothing";
  b.set_device_dirty();
  EXPECT_EQ(b.copy_to_host(), 0);
  EXPECT_EQ(b.copy_to_host(), 0);
  EXPECT_EQ(card->called("cuMemcpyDtoH"), 1);
  EXPECT_FALSE(b.device_dirty());
  EXPECT_EQ(b(5, 4), 29);
  EXPECT_EQ(b.device_free(), 0);
  EXPECT_EQ(card->live_blocks(), 0u);
  EXPECT_EQ(told, "");
}

TEST_F(Cuda, BothSidesDirtyIsAnError) {
  runtime::Buffer<int32_t, 1> b(6);
  b.set_host_dirty();
  ASSERT_EQ(b.copy_to_device(gpu()), 0);
  b.raw_buffer()->set_host_dirty();
  b.raw_buffer()->set_device_dirty();
  EXPECT_EQ(polyhalite_copy_to_host(nullptr, b.raw_buffer()),
            polyhalite_error_code_host_and_device_dirty);
  EXPECT_EQ(polyhalite_copy_to_device(nullptr, b.raw_buffer(), gpu()),
            polyhalite_error_code_host_and_device_dirty);
  EXPECT_EQ(told,
            "a buffer is copied between host and GPU: both have elements that the other has not "
            "seen; copy before writing on the other side");
}

TEST_F(Cuda, ACropCopiesItsOwnElements) {
  runtime::Buffer<int16_t, 3> whole(7, 6, 4);
  std::iota(whole.begin(), whole.end(), int16_t{0});
  whole.set_host_dirty();
  ASSERT_EQ(whole.copy_to_device(gpu()), 0);
  runtime::Buffer<int16_t, 3> part = whole.cropped(0, 2, 3).cropped(1, 1, 4);
  EXPECT_EQ(part.raw_buffer()->device, whole.raw_buffer()->device + 2 * (2 + 1 * 7));
  part.fill(-5);
  whole.set_host_dirty(false);
  part.raw_buffer()->set_host_dirty();
  ASSERT_EQ(part.copy_to_device(gpu()), 0);
  whole.fill(0);
  whole.set_host_dirty(false);
  whole.set_device_dirty();
  ASSERT_EQ(whole.copy_to_host(), 0);
  whole.for_each_element([&](int x, int y, int z) {
    const bool inside = x >= 2 && x < 5 && y >= 1 && y < 5;
    EXPECT_EQ(whole(x, y, z), inside ? -5 : x + 7 * y + 42 * z) << x << " " << y << " " << z;
  });
  runtime::Buffer<int16_t, 2> slice = whole.sliced(2, 3);
  EXPECT_EQ(slice.raw_buffer()->device, whole.raw_buffer()->device + 2 * 3 * 42);
  EXPECT_EQ(told, "");
}

TEST_F(Cuda, RowsMayLieBackwards) {
  std::vector<int32_t> memory(12);
  std::iota(memory.begin(), memory.end(), 0);
  polyhalite_dimension_t dims[] = {{0, 4, 1}, {0, 3, -4}};
  runtime::Buffer<int32_t, 2> b(memory.data() + 8, 2, dims);
  b.set_host_dirty();
  ASSERT_EQ(b.copy_to_device(gpu()), 0) << told;
  std::fill(memory.begin(), memory.end(), 0);
  b.set_device_dirty();
  ASSERT_EQ(b.copy_to_host(), 0) << told;
  EXPECT_EQ(b(1, 0), 9);
  EXPECT_EQ(b(1, 2), 1);
  EXPECT_EQ(b.device_free(), 0) << told;
  EXPECT_EQ(card->live_blocks(), 0u);
}

TEST_F(Cuda, CopiesOfBuffersMayReorderDimensions) {
  runtime::Buffer<int32_t, 2> src(5, 4), dst(4, 3);
  std::iota(src.begin(), src.end(), 0);
  src.set_host_dirty();
  ASSERT_EQ(src.copy_to_device(gpu()), 0);
  src.set_device_dirty();
  dst.transpose(0, 1);  // (3, 4), columns dense
  dst.set_min({1, 0});
  ASSERT_EQ(polyhalite_buffer_copy(nullptr, src.raw_buffer(), gpu(), dst.raw_buffer()), 0) << told;
  EXPECT_TRUE(dst.device_dirty());
  ASSERT_EQ(dst.copy_to_host(), 0);
  dst.for_each_element([&](int x, int y) { EXPECT_EQ(dst(x, y), x + 5 * y); });
  // From the device to the host, and from the host to the device.
  runtime::Buffer<int32_t, 2> host(5, 4), back(5, 4);
  ASSERT_EQ(polyhalite_buffer_copy(nullptr, src.raw_buffer(), nullptr, host.raw_buffer()), 0);
  EXPECT_EQ(host(4, 3), 19);
  EXPECT_TRUE(host.host_dirty());
  ASSERT_EQ(polyhalite_buffer_copy(nullptr, host.raw_buffer(), gpu(), back.raw_buffer()), 0);
  ASSERT_EQ(back.copy_to_host(), 0);
  EXPECT_EQ(back(4, 3), 19);
  dst.set_min({3, 0});
  EXPECT_EQ(polyhalite_buffer_copy(nullptr, src.raw_buffer(), gpu(), dst.raw_buffer()),
            polyhalite_error_code_device_buffer_copy_failed);
}

// From each side to each side, by the runtime's function and by the interface's own; the
// destination has memory on both sides and had newer elements on the other one.
TEST_F(Cuda, CopiesGoBetweenAllSides) {
  for (const bool from_device : {false, true}) {
    for (const bool to_device : {false, true}) {
      for (const bool by_interface : {false, true}) {
        SCOPED_TRACE(testing::Message() << from_device << to_device << by_interface);
        runtime::Buffer<int32_t, 1> src(8), dst(5);
        dst.set_min({2});
        for (runtime::Buffer<int32_t, 1> *b : {&src, &dst}) {
          b->fill(-1);
          b->set_host_dirty();
          ASSERT_EQ(b->copy_to_device(gpu()), 0);
        }
        std::iota(src.begin(), src.end(), 0);
        src.set_host_dirty();
        if (from_device) {
          // The device has 0 to 7, the host old ones.
          ASSERT_EQ(src.copy_to_device(gpu()), 0);
          src.fill(-2);
          src.set_host_dirty(false);
          src.set_device_dirty();
        }
        dst.set_host_dirty(to_device);
        dst.set_device_dirty(!to_device);
        const polyhalite_device_interface_t *to = to_device ? gpu() : nullptr;
        auto *copy = by_interface ? gpu()->buffer_copy : polyhalite_buffer_copy;
        ASSERT_EQ(copy(nullptr, src.raw_buffer(), to, dst.raw_buffer()), 0) << told;
        EXPECT_EQ(dst.device_dirty(), to_device);
        EXPECT_EQ(dst.host_dirty(), !to_device);
        if (!to_device) {
          // What the host has is what the device gets next.
          EXPECT_EQ(std::as_const(dst)(6), 6);
          ASSERT_EQ(dst.copy_to_device(gpu()), 0);
          dst.fill(0);
          dst.set_host_dirty(false);
          dst.set_device_dirty();
        }
        ASSERT_EQ(dst.copy_to_host(), 0) << told;
        for (int i = 2; i < 7; i++) EXPECT_EQ(std::as_const(dst)(i), i);
      }
    }
  }
  EXPECT_EQ(card->live_blocks(), 0u);
}

TEST_F(Cuda, CopiesWithoutMemoryAreErrors) {
  for (const bool by_interface : {false, true}) {
    auto *copy = by_interface ? gpu()->buffer_copy : polyhalite_buffer_copy;
    runtime::Buffer<int32_t, 1> full(4), empty(nullptr, 4), nothing(nullptr, 4);
    full.fill(1);
    EXPECT_EQ(copy(nullptr, full.raw_buffer(), nullptr, empty.raw_buffer()),
              polyhalite_error_code_host_is_null);
    EXPECT_EQ(told,
              "a buffer is copied to the host: the destination has no memory there; allocate some");
    EXPECT_FALSE(empty.host_dirty());
    EXPECT_EQ(copy(nullptr, nothing.raw_buffer(), gpu(), full.raw_buffer()),
              polyhalite_error_code_host_is_null);
    EXPECT_EQ(told,
              "a buffer is copied: where its elements are newest, the source has no memory; "
              "allocate and fill it first");
    // A destination beyond the source.
    runtime::Buffer<int32_t, 1> beyond(4);
    beyond.set_min({1});
    EXPECT_EQ(copy(nullptr, full.raw_buffer(), nullptr, beyond.raw_buffer()),
              polyhalite_error_code_device_buffer_copy_failed);
  }
}

TEST_F(Cuda, MemoryOfOthersIsWrapped) {
  const uint64_t others = card->allocate(64);
  runtime::Buffer<int32_t, 1> b(16);
  EXPECT_EQ(b.device_wrap_native(gpu(), others), 0);
  EXPECT_EQ(polyhalite_cuda_get_device_ptr(nullptr, b.raw_buffer()), others);
  b.fill(3);
  b.set_host_dirty();
  EXPECT_EQ(b.copy_to_device(gpu()), 0);
  EXPECT_EQ(polyhalite_cuda_wrap_device_ptr(nullptr, b.raw_buffer(), others),
            polyhalite_error_code_device_wrap_native_failed);
  EXPECT_EQ(polyhalite_device_free(nullptr, b.raw_buffer()),
            polyhalite_error_code_device_free_failed);
  EXPECT_EQ(told,
            "a buffer's memory on the GPU is freed: it was not allocated for it; detach memory "
            "that was wrapped, and free a crop with its whole buffer");
  EXPECT_EQ(card->live_blocks(), 1u);
  runtime::Buffer<int32_t, 1> other(16);
  EXPECT_EQ(other.device_wrap_native(gpu(), others), 0);
  EXPECT_EQ(other.device_detach_native(), 0);
  EXPECT_EQ(polyhalite_cuda_wrap_device_ptr(nullptr, other.raw_buffer(), 64),
            polyhalite_error_code_device_wrap_native_failed);
  EXPECT_EQ(told,
            "a buffer wraps memory of the GPU: CUDA_ERROR_INVALID_VALUE (as the fake driver was "
            "told) for the address 0x40; give one that cuMemAlloc returned");
  EXPECT_TRUE(card->release(others));
}

TEST_F(Cuda, MemoryIsKeptForOthersWhereThatIsWanted) {
  EXPECT_EQ(polyhalite_reuse_device_allocations(nullptr, true), 0);
  {
    runtime::Buffer<float, 1> a(1000);
    EXPECT_EQ(a.device_malloc(gpu()), 0);
  }
  EXPECT_EQ(card->live_blocks(), 1u);
  runtime::Buffer<float, 1> b(990), large(5000);
  EXPECT_EQ(b.device_malloc(gpu()), 0);
  EXPECT_EQ(card->called("cuMemAlloc"), 1);
  EXPECT_EQ(large.device_malloc(gpu()), 0);
  EXPECT_EQ(card->called("cuMemAlloc"), 2);
  EXPECT_EQ(b.device_free(), 0);
  EXPECT_EQ(card->live_blocks(), 2u);
  EXPECT_EQ(polyhalite_reuse_device_allocations(nullptr, false), 0);
  EXPECT_EQ(card->live_blocks(), 1u);
  EXPECT_EQ(large.device_free(), 0);
  EXPECT_EQ(card->live_blocks(), 0u);
}

TEST_F(Cuda, NoMoreMemoryIsAnError) {
  card->failures["cuMemAlloc"] = 2;
  runtime::Buffer<float, 1> b(1000);
  EXPECT_EQ(b.device_malloc(gpu()), polyhalite_error_code_device_malloc_failed);
  EXPECT_EQ(told,
            "cannot allocate 4000 bytes on the GPU: CUDA_ERROR_OUT_OF_MEMORY (out of memory); free "
            "buffers on the GPU, or work on parts");
}

TEST_F(Cuda, HostAndDeviceMemoryTogether) {
  runtime::Buffer<float, 1> b(nullptr, 100);
  EXPECT_EQ(b.device_and_host_malloc(gpu()), 0);
  EXPECT_NE(b.data(), nullptr);
  EXPECT_EQ(card->live_blocks(), 1u);
  EXPECT_EQ(gpu()->device_and_host_free(nullptr, b.raw_buffer()), 0);
  EXPECT_EQ(b.data(), nullptr);
  EXPECT_EQ(card->live_blocks(), 0u);
}

TEST_F(Cuda, KernelsAreLoadedOnceAndLaunched) {
  int n = 5, sum = 0;
  void *args[] = {&n};
  card->kernels["kernel_b"] = [&](const FakeCuda::Launch &, void **a) {
    sum += *static_cast<int *>(a[0]);
  };
  EXPECT_EQ(run(1, {7, 2, 1}, 1024, args), 0);
  EXPECT_EQ(run(1, {7, 2, 1}, 1024, args), 0);
  EXPECT_EQ(run(0, {0, 2, 1}), 0) << "no blocks, no launch";
  EXPECT_EQ(sum, 10);
  ASSERT_EQ(card->launches.size(), 2u);
  EXPECT_EQ(card->launches[0].kernel, "kernel_b");
  EXPECT_EQ(card->launches[0].blocks, (std::array<int, 3>{7, 2, 1}));
  EXPECT_EQ(card->launches[0].threads, (std::array<int, 3>{32, 4, 1}));
  EXPECT_EQ(card->launches[0].shared_bytes, 1024);
  EXPECT_EQ(card->loaded, (std::vector<std::string>{"hopper kernel_a kernel_b"}));
  EXPECT_EQ(card->called("cuCtxSynchronize"), 0);
  polyhalite_device_release(nullptr, gpu());
  EXPECT_EQ(card->live_modules, 0);
  EXPECT_EQ(card->retained_contexts, 0);
}

TEST_F(Cuda, TheTextIsTheCards) {
  // One for Hopper that its driver does not take, and cards of other capabilities.
  card->takes = [](const std::string &ptx) { return ptx[0] == 'h' ? 218 : 0; };
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(card->loaded, (std::vector<std::string>{"portable kernel_a kernel_b"}));
  card.reset();
  card = std::make_unique<FakeCuda>(1, 89);
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(card->loaded, (std::vector<std::string>{"portable kernel_a kernel_b"}));
  card.reset();
  card = std::make_unique<FakeCuda>(1, 75);
  EXPECT_EQ(run(0, {1, 1, 1}), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernels of 'blur' do not run on a fake card: they need compute capability 8.0, it "
            "has 7.5; compile for a target with its cuda_capability");
}

TEST_F(Cuda, TextsThatTheDriverRefusesAreReported) {
  card->takes = [](const std::string &) { return 1; };
  EXPECT_EQ(run(0, {1, 1, 1}), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernels of 'blur' cannot be loaded: CUDA_ERROR_INVALID_VALUE (as the fake driver "
            "was told): line 1: it is not to my taste; update the driver to one that knows this "
            "version of PTX");
  card->takes = nullptr;
  polyhalite_cuda_module_t other = kModule;
  other.portable = other.sm_90a = "kernel_a alone";
  EXPECT_EQ(run(1, {1, 1, 1}, 0, nullptr, other), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernel 'b' of 'blur' is not in its module: CUDA_ERROR_NOT_FOUND (as the fake "
            "driver was told); compile the pipeline anew");
  EXPECT_EQ(card->live_modules, 0);
}

TEST_F(Cuda, SharedMemoryBeyond48KiBIsAskedForOnce) {
  EXPECT_EQ(run(0, {1, 1, 1}, 48 << 10), 0);
  EXPECT_TRUE(card->shared_limits.empty());
  EXPECT_EQ(run(0, {1, 1, 1}, 100 << 10), 0);
  EXPECT_EQ(run(0, {1, 1, 1}, 60 << 10), 0);
  EXPECT_EQ(card->shared_limits,
            (std::vector<std::pair<std::string, int>>{{"kernel_a", 100 << 10}}));
  card->failures["cuFuncSetAttribute"] = 1;
  EXPECT_EQ(run(1, {1, 1, 1}, 100 << 10), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernel 'b' of 'blur' cannot have 102400 bytes of shared memory: "
            "CUDA_ERROR_INVALID_VALUE (as the fake driver was told); make its tiles smaller");
}

TEST_F(Cuda, LaunchesThatFailNameTheirKernel) {
  card->failures["cuLaunchKernel"] = 701;
  EXPECT_EQ(run(1, {5, 6, 7}, 64), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernel 'b' of 'blur' cannot be launched with 5 x 6 x 7 blocks of 32 x 4 x 1 "
            "threads and 64 bytes of shared memory: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (as the "
            "fake driver was told); make the grid or the tiles smaller");
}

TEST_F(Cuda, KernelsThatFailAreNamedBySomeLaterCall) {
  runtime::Buffer<float, 1> b(10);
  b.set_host_dirty();
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  card->failures["cuMemAlloc"] = 700;
  EXPECT_EQ(b.copy_to_device(gpu()), polyhalite_error_code_device_malloc_failed);
  EXPECT_EQ(told,
            "cannot allocate 40 bytes on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS (as the fake driver "
            "was told), left by a kernel that was launched before, the last of them for 'a' of "
            "'blur'; run with PH_DEBUG_CUDA=1 to learn which one it was");
  setenv("PH_DEBUG_CUDA", "1", 1);
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(card->called("cuCtxSynchronize"), 1);
  card->failures["cuCtxSynchronize"] = 700;
  EXPECT_EQ(run(1, {1, 1, 1}), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(told,
            "the kernel 'b' of 'blur' failed: CUDA_ERROR_ILLEGAL_ADDRESS (as the fake driver was "
            "told); nothing runs on this GPU until the program ends");
  unsetenv("PH_DEBUG_CUDA");
}

TEST_F(Cuda, ALostCardIsReportedOnce) {
  runtime::Buffer<float, 1> a(10), b(10), c(10);
  for (runtime::Buffer<float, 1> *buffer : {&a, &b, &c}) {
    ASSERT_EQ(buffer->device_malloc(gpu()), 0);
  }
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  card->failures["cuMemFree"] = 700;
  EXPECT_EQ(a.device_free(), polyhalite_error_code_device_free_failed);
  EXPECT_EQ(told.substr(0, 54), "cannot free memory on the GPU: CUDA_ERROR_ILLEGAL_ADDR") << told;
  told.clear();
  // Its memory is gone, and so are buffers.
  EXPECT_EQ(b.device_free(), 0);
  EXPECT_EQ(told, "");
  EXPECT_FALSE(b.has_device_allocation());
  // Other failures are still told.
  card->failures["cuMemFree"] = 1;
  EXPECT_EQ(c.device_free(), polyhalite_error_code_device_free_failed);
  EXPECT_NE(told, "");
}

TEST_F(Cuda, IndicesHave32BitsUnlessAskedFor) {
  polyhalite_dimension_t dims[] = {{0, 1 << 20, 1}, {0, 4096, 1 << 20}};
  polyhalite_buffer_t b = {};
  b.type = {polyhalite_type_uint, 8, 1};
  b.dimensions = 2;
  b.dim = dims;
  void *args[] = {&b};
  const int32_t one[] = {1, 1, 1};
  EXPECT_EQ(polyhalite_cuda_run(nullptr, &kModule, 0, one, one, 0, args, 1),
            polyhalite_error_code_buffer_extents_too_large);
  EXPECT_EQ(told,
            "a buffer of the kernel 'a' of 'blur' has 4294967296 elements: its indices have 32 "
            "bits; compile for a target with large_buffers");
  polyhalite_cuda_module_t wide = kModule;
  wide.has_wide_indices = 1;
  EXPECT_EQ(polyhalite_cuda_run(nullptr, &wide, 0, one, one, 0, args, 1), 0);
}

TEST_F(Cuda, TheCardIsTheLastUnlessOneIsNamed) {
  card.reset();
  card = std::make_unique<FakeCuda>(3);
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(card->current_card, 2);
  polyhalite_set_gpu_device(1);
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(card->current_card, 1);
  EXPECT_EQ(card->retained_contexts, 2);
  polyhalite_set_gpu_device(3);
  EXPECT_EQ(run(0, {1, 1, 1}), polyhalite_error_code_gpu_device_error);
  EXPECT_EQ(told,
            "the GPU of number 3 is asked for: this machine has 3, counted from 0; name one of "
            "them with polyhalite_set_gpu_device or PH_GPU_DEVICE");
}

TEST_F(Cuda, ProgramsBringTheirOwnContexts) {
  static int acquired = 0, released = 0;
  acquired = released = 0;
  polyhalite_set_cuda_acquire_context([](void *, void **context, bool) {
    acquired++;
    *context = reinterpret_cast<void *>(int64_t{1});
    return 0;
  });
  polyhalite_set_cuda_release_context([](void *) {
    released++;
    return 0;
  });
  EXPECT_EQ(run(0, {1, 1, 1}), 0);
  EXPECT_EQ(acquired, 1);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(card->retained_contexts, 0);
  polyhalite_set_cuda_acquire_context(nullptr);
  polyhalite_set_cuda_release_context(nullptr);
}

TEST_F(Cuda, CapabilityIsAsked) {
  int major = 0, minor = 0;
  EXPECT_EQ(gpu()->compute_capability(nullptr, &major, &minor), 0);
  EXPECT_EQ(10 * major + minor, 90);
  EXPECT_EQ(gpu()->device_sync(nullptr, nullptr), 0);
  card->failures["cuCtxSynchronize"] = 1;
  EXPECT_EQ(polyhalite_device_sync_global(nullptr, gpu()),
            polyhalite_error_code_device_sync_failed);
}

}  // namespace
}  // namespace polyhalite::cuda_test
