#include "test/support/fake_cuda.h"

#include <cstdio>
#include <cstring>

#include "codegen/runtime/cuda_driver.h"
#include "lang/abi/polyhalite_cuda.h"
#include "lang/abi/polyhalite_runtime.h"

namespace polyhalite {

namespace {

namespace cuda = runtime::cuda;

FakeCuda *fake = nullptr;
constexpr int kInvalidContext = 201, kNotFound = 500, kIllegalAddress = 700;

struct FakeModule {
  std::string text;
};
struct FakeKernel {
  std::string name, ptx;
};
std::vector<FakeKernel *> made;  // handles live as long as the driver

// Contexts are the cards' numbers from 1.
std::vector<int64_t> current;

int cuInit(unsigned) { return fake->enter("cuInit"); }
int cuDeviceGetCount(int *count) {
  *count = fake->cards;
  return fake->enter("cuDeviceGetCount");
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal < fake->cards ? fake->enter("cuDeviceGet") : 101;
}
int cuDeviceGetName(char *name, int length, int) {
  strncpy(name, "a fake card", static_cast<size_t>(length));
  return fake->enter("cuDeviceGetName");
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == cuda::kMajorCapability ? fake->capability / 10 : fake->capability % 10;
  return fake->enter("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (const int result = fake->enter("cuDevicePrimaryCtxRetain")) return result;
  fake->retained_contexts++;
  *context = reinterpret_cast<void *>(int64_t{device} + 1);
  return 0;
}
int cuDevicePrimaryCtxRelease(int) {
  fake->retained_contexts--;
  return fake->enter("cuDevicePrimaryCtxRelease");
}
int cuCtxPushCurrent(void *context) {
  current.push_back(reinterpret_cast<int64_t>(context));
  fake->current_card = static_cast<int>(current.back()) - 1;
  return fake->enter("cuCtxPushCurrent");
}
int cuCtxPopCurrent(void **context) {
  if (current.empty()) return kInvalidContext;
  *context = reinterpret_cast<void *>(current.back());
  current.pop_back();
  return 0;
}
int cuCtxGetDevice(int *device) {
  if (current.empty()) return kInvalidContext;
  *device = static_cast<int>(current.back()) - 1;
  return 0;
}
int cuCtxSynchronize() { return fake->enter("cuCtxSynchronize"); }
int cuStreamSynchronize(void *) { return fake->enter("cuStreamSynchronize"); }

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  if (const int result = fake->enter("cuModuleLoadDataEx")) return result;
  const std::string text = static_cast<const char *>(image);
  const int result = fake->takes ? fake->takes(text) : 0;
  for (unsigned i = 0; i < count; i++) {
    if (result != 0 && options[i] == cuda::kErrorLog) {
      strcpy(static_cast<char *>(values[i]), "line 1: it is not to my taste");
    }
  }
  if (result != 0) return result;
  fake->loaded.push_back(text);
  fake->live_modules++;
  *module = new FakeModule{text};
  return 0;
}
int cuModuleUnload(void *module) {
  delete static_cast<FakeModule *>(module);
  fake->live_modules--;
  return fake->enter("cuModuleUnload");
}
int cuModuleGetFunction(void **kernel, void *module, const char *name) {
  if (static_cast<FakeModule *>(module)->text.find(name) == std::string::npos) return kNotFound;
  made.push_back(new FakeKernel{name, static_cast<FakeModule *>(module)->text});
  *kernel = made.back();
  return fake->enter("cuModuleGetFunction");
}
int cuFuncSetAttribute(void *kernel, int, int value) {
  fake->shared_limits.emplace_back(static_cast<FakeKernel *>(kernel)->name, value);
  return fake->enter("cuFuncSetAttribute");
}
int cuLaunchKernel(void *kernel, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty,
                   unsigned tz, unsigned shared_bytes, void *, void **args, void **) {
  if (const int result = fake->enter("cuLaunchKernel")) return result;
  auto n = [](unsigned v) { return static_cast<int>(v); };
  const FakeCuda::Launch launch = {static_cast<FakeKernel *>(kernel)->name,
                                   {n(bx), n(by), n(bz)},
                                   {n(tx), n(ty), n(tz)},
                                   n(shared_bytes)};
  if (fake->refuses(launch, static_cast<FakeKernel *>(kernel)->ptx)) return cuda::kInvalidValue;
  fake->launches.push_back(launch);
  if (fake->every_kernel) fake->every_kernel(launch, args);
  const auto at = fake->kernels.find(launch.kernel);
  if (at != fake->kernels.end()) at->second(launch, args);
  return fake->fault.empty() ? 0 : kIllegalAddress;
}

int cuMemAlloc(uint64_t *address, size_t bytes) {
  if (bytes == 0) return cuda::kInvalidValue;
  if (const int result = fake->enter("cuMemAlloc")) return result;
  *address = fake->allocate(bytes);
  return 0;
}
int cuMemFree(uint64_t address) {
  if (const int result = fake->enter("cuMemFree")) return result;
  return fake->release(address) ? 0 : cuda::kInvalidValue;
}
int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes, void *) {
  if (const int result = fake->enter("cuMemcpyHtoD")) return result;
  if (!fake->owns(to, bytes)) return cuda::kInvalidValue;
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, void *) {
  if (const int result = fake->enter("cuMemcpyDtoH")) return result;
  if (!fake->owns(from, bytes)) return cuda::kInvalidValue;
  memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync(uint64_t to, uint64_t from, size_t bytes, void *) {
  if (const int result = fake->enter("cuMemcpyDtoD")) return result;
  if (!fake->owns(to, bytes) || !fake->owns(from, bytes)) return cuda::kInvalidValue;
  memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return 0;
}
int cuMemcpy2DAsync(const cuda::Copy2D *c, void *) {
  if (const int result = fake->enter("cuMemcpy2D")) return result;
  for (size_t row = 0; row < c->height; row++) {
    const bool from_host = c->src_kind == cuda::kHostMemory;
    const bool to_host = c->dst_kind == cuda::kHostMemory;
    const uint64_t from =
        (from_host ? reinterpret_cast<uint64_t>(c->src_host) : c->src_device) + row * c->src_pitch;
    const uint64_t to =
        (to_host ? reinterpret_cast<uint64_t>(c->dst_host) : c->dst_device) + row * c->dst_pitch;
    if ((!from_host && !fake->owns(from, c->width_bytes)) ||
        (!to_host && !fake->owns(to, c->width_bytes))) {
      return cuda::kInvalidValue;
    }
    memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), c->width_bytes);
  }
  return 0;
}
int cuPointerGetAttribute(void *, int, uint64_t address) {
  return fake->owns(address, 1) ? fake->enter("cuPointerGetAttribute") : cuda::kInvalidValue;
}

int cuGetErrorName(int code, const char **name) {
  *name = code == cuda::kOutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == kIllegalAddress       ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == cuda::kOutOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
          : code == kNotFound             ? "CUDA_ERROR_NOT_FOUND"
                                          : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == cuda::kOutOfMemory                        ? "out of memory"
          : code == kIllegalAddress && !fake->fault.empty() ? fake->fault.c_str()
                                                            : "as the fake driver was told";
  return 0;
}

void *load_library(const char *name) {
  return std::string(name) == "libcuda.so.1" ? &fake : nullptr;
}

void *find_symbol(void *, const char *name) {
#define PH_FAKE(function) {#function, reinterpret_cast<void *>(&function)}
  static const std::map<std::string, void *> kFunctions = {
      PH_FAKE(cuInit),
      PH_FAKE(cuDeviceGetCount),
      PH_FAKE(cuDeviceGet),
      PH_FAKE(cuDeviceGetName),
      PH_FAKE(cuDeviceGetAttribute),
      PH_FAKE(cuDevicePrimaryCtxRetain),
      {"cuDevicePrimaryCtxRelease_v2", reinterpret_cast<void *>(&cuDevicePrimaryCtxRelease)},
      {"cuCtxPushCurrent_v2", reinterpret_cast<void *>(&cuCtxPushCurrent)},
      {"cuCtxPopCurrent_v2", reinterpret_cast<void *>(&cuCtxPopCurrent)},
      PH_FAKE(cuCtxGetDevice),
      PH_FAKE(cuCtxSynchronize),
      PH_FAKE(cuStreamSynchronize),
      PH_FAKE(cuModuleLoadDataEx),
      PH_FAKE(cuModuleUnload),
      PH_FAKE(cuModuleGetFunction),
      PH_FAKE(cuFuncSetAttribute),
      PH_FAKE(cuLaunchKernel),
      {"cuMemAlloc_v2", reinterpret_cast<void *>(&cuMemAlloc)},
      {"cuMemFree_v2", reinterpret_cast<void *>(&cuMemFree)},
      {"cuMemcpyHtoDAsync_v2", reinterpret_cast<void *>(&cuMemcpyHtoDAsync)},
      {"cuMemcpyDtoHAsync_v2", reinterpret_cast<void *>(&cuMemcpyDtoHAsync)},
      {"cuMemcpyDtoDAsync_v2", reinterpret_cast<void *>(&cuMemcpyDtoDAsync)},
      {"cuMemcpy2DAsync_v2", reinterpret_cast<void *>(&cuMemcpy2DAsync)},
      PH_FAKE(cuPointerGetAttribute),
      PH_FAKE(cuGetErrorName),
      PH_FAKE(cuGetErrorString),
  };
#undef PH_FAKE
  const auto at = kFunctions.find(name);
  return at == kFunctions.end() ? nullptr : at->second;
}

}  // namespace

FakeCuda::FakeCuda(int n, int c) : cards(n), capability(c) {
  fake = this;
  current.clear();
  polyhalite_set_custom_load_library(load_library);
  polyhalite_set_custom_get_library_symbol(find_symbol);
}

FakeCuda::~FakeCuda() {
  failures.clear();
  fault.clear();
  polyhalite_device_release(nullptr, polyhalite_cuda_device_interface());
  polyhalite_set_custom_load_library(nullptr);
  polyhalite_set_custom_get_library_symbol(nullptr);
  polyhalite_set_gpu_device(-2);
  for (FakeKernel *k : made) delete k;
  made.clear();
  fake = nullptr;
}

int FakeCuda::called(const std::string &name) const {
  const auto at = calls.find(name);
  return at == calls.end() ? 0 : at->second;
}

int FakeCuda::enter(const char *name) {
  calls[name]++;
  // Devices and contexts are still there.
  const bool works =
      std::string(name).starts_with("cuDevice") || std::string(name) == "cuCtxPushCurrent";
  if (!fault.empty() && !works) return kIllegalAddress;
  const auto at = failures.find(name);
  return at == failures.end() ? 0 : at->second;
}

uint64_t FakeCuda::allocate(size_t bytes) {
  // As the driver's, it begins at multiples of 256 bytes.
  constexpr uint64_t kAlignment = 256;
  // Small numbers of each type, which no arithmetic takes out of its range: threads of no use may
  // read what nobody wrote.
  std::vector<uint8_t> block(bytes + kAlignment, 0x01);
  const auto address =
      (reinterpret_cast<uint64_t>(block.data()) + kAlignment - 1) / kAlignment * kAlignment;
  memory_.emplace(address, std::make_pair(bytes, std::move(block)));
  return address;
}

bool FakeCuda::release(uint64_t address) { return memory_.erase(address) > 0; }

bool FakeCuda::owns(uint64_t address, size_t bytes) const {
  auto at = memory_.upper_bound(address);
  if (at == memory_.begin()) return false;
  --at;
  return address + bytes <= at->first + at->second.first;
}

bool FakeCuda::refuses(const Launch &launch, const std::string &ptx) const {
  constexpr int64_t kMostBlocks[] = {INT32_MAX, 65535, 65535}, kMostAlong[] = {1024, 1024, 64};
  int64_t most = 1024, threads = 1;
  for (size_t d = 0; d < 3; d++) {
    if (launch.blocks[d] < 1 || launch.blocks[d] > kMostBlocks[d]) return true;
    if (launch.threads[d] < 1 || launch.threads[d] > kMostAlong[d]) return true;
    threads *= launch.threads[d];
  }
  // A kernel's own limit is a product too: the extents along x, y and z are not held one by one.
  const size_t entry = ptx.find(".entry " + launch.kernel + "(");
  if (entry != std::string::npos) {
    const size_t limit = ptx.find(".maxntid ", entry), body = ptx.find('{', entry);
    long x = 0, y = 0, z = 0;
    if (limit < body && sscanf(ptx.c_str() + limit, ".maxntid %ld, %ld, %ld", &x, &y, &z) == 3) {
      most = x * y * z;
    }
  }
  return threads > most;
}

std::vector<uint8_t> FakeCuda::contents(uint64_t address) const {
  const auto at = memory_.find(address);
  if (at == memory_.end()) return {};
  const auto *first = reinterpret_cast<const uint8_t *>(address);
  return std::vector<uint8_t>(first, first + at->second.first);
}

}  // namespace polyhalite
