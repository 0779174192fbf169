// The host's side of kernels, compiled in process and run against a driver that the test plays.
#include <gtest/gtest.h>

#include "codegen/llvm/pipeline_run.h"
#include "lang/abi/polyhalite_cuda.h"
#include "test/support/fake_cuda.h"

namespace polyhalite::launch_test {
namespace {

class Launch : public testing::Test {
 protected:
  // The code of the function's run on these buffers and, in front of them, on k.
  int run(const std::string &text, int32_t k, const std::vector<RunBuffer *> &buffers) {
    Target target = get_host_target().with_feature(Target::CUDA);
    const JitCode code(parse_emittable(text), target);
    std::vector<void *> args;
    for (RunBuffer *b : buffers) {
      polyhalite_buffer_t *raw = &b->raw;
      if (!raw->host) b->prepare();
      args.push_back(raw);
    }
    args.insert(args.begin() + 1, &k);
    message.clear();
    return code.call(args, &message);
  }

  FakeCuda card;
  RunBuffer a{Float(32), {8}}, out{Float(32), {8}};
  std::string message;
};

template <typename T>
T *device(void *arg) {
  return reinterpret_cast<T *>(*static_cast<uint64_t *>(arg));
}

// g = a + k on the GPU, out = g*2 there, and out[0] += 1 on the host.
const char *const kText = R"(func f(a: input float32[1], k: int32, out: output float32[1]) {
  allocate g: float32[int64(out.extent.0)] mirrored
  copy_to_device a
  copy_to_device g
  kernel f.g threads (4, 1, 1) {
    for b in (0, (k + 3)/4) gpu_block {
      for t in (0, 4) gpu_thread {
        g[int64(b)*4i64 + int64(t)] = a[int64(b)*4i64 + int64(t)] + float32(k)
      }
    }
  }
  device_dirty g
  copy_to_device out
  kernel f.out threads (8, 1, 1) {
    for b in (0, 1) gpu_block {
      for t in (0, 8) gpu_thread {
        out[int64(t)] = g[int64(t)]*2.0f
      }
    }
  }
  device_dirty out
  copy_to_host g
  copy_to_host out
  host_dirty out
  out[0i64] = out[0i64] + g[0i64]
}
)";

TEST_F(Launch, KernelsGetTheirOperands) {
  for (int i = 0; i < 8; i++) a.as<float>()[i] = static_cast<float>(i);
  card.kernels["kernel_f_g"] = [](const FakeCuda::Launch &l, void **args) {
    EXPECT_EQ(l.blocks, (std::array<int, 3>{2, 1, 1}));
    EXPECT_EQ(l.threads, (std::array<int, 3>{4, 1, 1}));
    const float *from = device<float>(args[0]);
    float *g = device<float>(args[1]);
    for (int i = 0; i < 8; i++) {
      g[i] = from[i] + static_cast<float>(*static_cast<int32_t *>(args[2]));
    }
  };
  card.kernels["kernel_f_out"] = [](const FakeCuda::Launch &, void **args) {
    const float *g = device<float>(args[0]);
    float *to = device<float>(args[1]);
    for (int i = 0; i < 8; i++) to[i] = g[i] * 2;
  };
  ASSERT_EQ(run(kText, 7, {&a, &out}), 0) << message;
  ASSERT_EQ(card.launches.size(), 2u);
  EXPECT_EQ(card.loaded.size(), 1u);
  EXPECT_EQ(out.as<float>()[0], 21);
  EXPECT_EQ(out.as<float>()[7], 28);
  EXPECT_TRUE(out.raw.host_dirty());
  EXPECT_FALSE(out.raw.device_dirty());
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 1) << "a alone";
  EXPECT_EQ(card.called("cuMemcpyDtoH"), 2);
  EXPECT_EQ(card.live_blocks(), 2u) << "of a and out";
  // What is there already is not copied again; the temporary is made again.
  ASSERT_EQ(run(kText, 7, {&a, &out}), 0) << message;
  EXPECT_EQ(card.called("cuMemcpyHtoD"), 2) << "what the host added to out";
  EXPECT_EQ(card.loaded.size(), 1u) << "equal kernels are loaded once";
  polyhalite_device_free(nullptr, &a.raw);
  polyhalite_device_free(nullptr, &out.raw);
  EXPECT_EQ(card.live_blocks(), 0u);
}

TEST_F(Launch, NothingIsLeftBehindByAFailure) {
  card.failures["cuLaunchKernel"] = 1;
  EXPECT_EQ(run(kText, 7, {&a, &out}), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(message,
            "the kernel 'f.g' of 'f' cannot be launched with 2 x 1 x 1 blocks of 4 x 1 x 1 threads "
            "and 0 bytes of shared memory: CUDA_ERROR_INVALID_VALUE (as the fake driver was told); "
            "make the grid or the tiles smaller");
  EXPECT_EQ(card.live_blocks(), 1u) << "of a, which its owner frees";
  polyhalite_device_free(nullptr, &a.raw);
  card.failures = {{"cuMemAlloc", 2}};
  EXPECT_EQ(run(kText, 7, {&a, &out}), polyhalite_error_code_device_malloc_failed);
  EXPECT_EQ(card.live_blocks(), 0u);
}

// g is the device's alone.
std::string with_device_memory() {
  std::string text = kText;
  text.replace(text.find("mirrored"), 8, "device");
  for (const char *line : {"  copy_to_device g\n", "  device_dirty g\n", "  copy_to_host g\n",
                           "  out[0i64] = out[0i64] + g[0i64]\n"}) {
    text.erase(text.find(line), std::string(line).size());
  }
  return text;
}

TEST_F(Launch, WhatTheDeviceAloneHasIsAllocatedThere) {
  const std::string text = with_device_memory();
  uint64_t g = 0;
  card.kernels["kernel_f_g"] = [&](const FakeCuda::Launch &, void **args) {
    g = *static_cast<uint64_t *>(args[1]);
    EXPECT_TRUE(card.owns(g, 32));
  };
  card.kernels["kernel_f_out"] = [&](const FakeCuda::Launch &, void **args) {
    EXPECT_EQ(*static_cast<uint64_t *>(args[0]), g);
  };
  ASSERT_EQ(run(text, 7, {&a, &out}), 0) << message;
  ASSERT_EQ(card.launches.size(), 2u);
  EXPECT_EQ(card.called("cuMemAlloc"), 3);
  EXPECT_EQ(card.live_blocks(), 2u) << "of a and out";
  polyhalite_device_free(nullptr, &a.raw);
  polyhalite_device_free(nullptr, &out.raw);
  // Nothing is left behind where there is no memory, and where a launch fails.
  card.failures = {{"cuMemAlloc", 2}};
  EXPECT_EQ(run(text, 7, {&a, &out}), polyhalite_error_code_device_malloc_failed);
  EXPECT_EQ(message.substr(0, 37), "cannot allocate 32 bytes on the GPU: ") << message;
  EXPECT_EQ(card.live_blocks(), 0u);
  card.failures = {{"cuLaunchKernel", 1}};
  EXPECT_EQ(run(text, 7, {&a, &out}), polyhalite_error_code_device_run_failed);
  EXPECT_EQ(card.live_blocks(), 1u) << "of a, which its owner frees";
  polyhalite_device_free(nullptr, &a.raw);
}

TEST_F(Launch, ConstantsAreBroughtAlong) {
  const std::string text = R"(func f(a: input float32[1], k: int32, out: output float32[1]) {
  constant c: float32[(0, 4, 1)] = {1.0f, 2.0f, 3.0f, 4.0f}
  copy_to_device c
  copy_to_device out
  kernel f threads (4, 1, 1) {
    for b in (0, 1) gpu_block {
      for t in (0, 4) gpu_thread {
        out[int64(t)] = c[int64(t)]
      }
    }
  }
  device_dirty out
  copy_to_host out
}
)";
  card.kernels["kernel_f"] = [](const FakeCuda::Launch &, void **args) {
    std::copy_n(device<float>(args[0]), 4, device<float>(args[1]));
  };
  ASSERT_EQ(run(text, 0, {&a, &out}), 0) << message;
  EXPECT_EQ(out.as<float>()[3], 4);
  EXPECT_EQ(card.live_blocks(), 1u) << "the constant's memory is given back";
  polyhalite_device_free(nullptr, &out.raw);
}

TEST_F(Launch, AlignedOperandsGetTheirKernel) {
  const std::string text = R"(func f(a: input float32[1], k: int32, out: output float32[1]) {
  copy_to_device a
  copy_to_device out
  kernel f threads (1, 1, 1) {
    for b in (0, 1) gpu_block {
      for t in (0, 1) gpu_thread {
        out[ramp(0i64, 1i64, 4)] = a[ramp(int64(k) - int64(a.min.0), 1i64, 4)]
      }
    }
  }
  device_dirty out
}
)";
  ASSERT_EQ(run(text, 0, {&a, &out}), 0) << message;
  a.dims[0].min = 2;
  ASSERT_EQ(run(text, 0, {&a, &out}), 0) << message;
  ASSERT_EQ(card.launches.size(), 2u);
  EXPECT_EQ(card.launches[0].kernel, "kernel_f_aligned");
  EXPECT_EQ(card.launches[1].kernel, "kernel_f");
  polyhalite_device_free(nullptr, &a.raw);
  polyhalite_device_free(nullptr, &out.raw);
}

TEST_F(Launch, KernelsMayStandInParallelLoops) {
  const std::string text = R"(func f(a: input float32[1], k: int32, out: output float32[1]) {
  copy_to_device a
  copy_to_device out
  for i in (0, 2) parallel {
    kernel f threads (4, 1, 1) {
      for b in (0, 1) gpu_block {
        for t in (0, 4) gpu_thread {
          out[int64(i)*4i64 + int64(t)] = a[int64(i)*4i64 + int64(t)]
        }
      }
    }
  }
  device_dirty out
  copy_to_host out
}
)";
  polyhalite_set_num_threads(1);  // the played driver knows one thread
  card.kernels["kernel_f"] = [](const FakeCuda::Launch &, void **args) {
    const int i = *static_cast<int32_t *>(args[2]);
    std::copy_n(device<float>(args[0]) + 4 * i, 4, device<float>(args[1]) + 4 * i);
  };
  a.as<float>()[5] = 3;
  ASSERT_EQ(run(text, 0, {&a, &out}), 0) << message;
  polyhalite_set_num_threads(0);
  EXPECT_EQ(out.as<float>()[5], 3);
  EXPECT_EQ(card.launches.size(), 2u);
  polyhalite_device_free(nullptr, &a.raw);
  polyhalite_device_free(nullptr, &out.raw);
}

}  // namespace
}  // namespace polyhalite::launch_test
