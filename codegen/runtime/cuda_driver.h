// The functions of NVIDIA's driver, found when the first call needs them: programs link and run
// without it. Names and numbers are those of the driver's C interface; its headers are not needed.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace polyhalite::runtime::cuda {

using Result = int;  // 0: success
using Device = int;
using Context = void *;
using Stream = void *;
using Module = void *;
using Kernel = void *;
using Address = uint64_t;

/// cuMemcpy2D's description of a copy.
struct Copy2D {
  size_t src_x, src_y;
  int src_kind;
  const void *src_host;
  Address src_device;
  void *src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  int dst_kind;
  void *dst_host;
  Address dst_device;
  void *dst_array;
  size_t dst_pitch;
  size_t width_bytes, height;
};
inline constexpr int kHostMemory = 1, kDeviceMemory = 2;

inline constexpr Result kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201,
                        kOutOfResources = 701;
inline constexpr int kMajorCapability = 75, kMinorCapability = 76;  // attributes of devices
inline constexpr int kDynamicSharedBytes = 8;                       // of kernels
inline constexpr int kErrorLog = 5, kErrorLogBytes = 6;             // options of modules
inline constexpr int kContextOfPointer = 1;                         // of addresses

// FUNCTION(member, name in the driver, symbol with its version, arguments)
#define PH_CUDA_FUNCTIONS(FUNCTION)                                                               \
  FUNCTION(init, "cuInit", "cuInit", (unsigned flags))                                            \
  FUNCTION(device_count, "cuDeviceGetCount", "cuDeviceGetCount", (int *count))                    \
  FUNCTION(get_device, "cuDeviceGet", "cuDeviceGet", (Device * device, int ordinal))              \
  FUNCTION(device_name, "cuDeviceGetName", "cuDeviceGetName",                                     \
           (char *name, int length, Device device))                                               \
  FUNCTION(device_attribute, "cuDeviceGetAttribute", "cuDeviceGetAttribute",                      \
           (int *value, int attribute, Device device))                                            \
  FUNCTION(retain_context, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain",                \
           (Context * context, Device device))                                                    \
  FUNCTION(release_context, "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2",          \
           (Device device))                                                                       \
  FUNCTION(push_context, "cuCtxPushCurrent", "cuCtxPushCurrent_v2", (Context context))            \
  FUNCTION(pop_context, "cuCtxPopCurrent", "cuCtxPopCurrent_v2", (Context * context))             \
  FUNCTION(device_of_context, "cuCtxGetDevice", "cuCtxGetDevice", (Device * device))              \
  FUNCTION(synchronize, "cuCtxSynchronize", "cuCtxSynchronize", ())                               \
  FUNCTION(synchronize_stream, "cuStreamSynchronize", "cuStreamSynchronize", (Stream stream))     \
  FUNCTION(load_module, "cuModuleLoadDataEx", "cuModuleLoadDataEx",                               \
           (Module * module, const void *image, unsigned count, int *options, void **values))     \
  FUNCTION(unload_module, "cuModuleUnload", "cuModuleUnload", (Module module))                    \
  FUNCTION(find_kernel, "cuModuleGetFunction", "cuModuleGetFunction",                             \
           (Kernel * kernel, Module module, const char *name))                                    \
  FUNCTION(set_kernel_attribute, "cuFuncSetAttribute", "cuFuncSetAttribute",                      \
           (Kernel kernel, int attribute, int value))                                             \
  FUNCTION(launch, "cuLaunchKernel", "cuLaunchKernel",                                            \
           (Kernel kernel, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,               \
            unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes,    \
            Stream stream, void **args, void **extra))                                            \
  FUNCTION(allocate, "cuMemAlloc", "cuMemAlloc_v2", (Address * address, size_t bytes))            \
  FUNCTION(free, "cuMemFree", "cuMemFree_v2", (Address address))                                  \
  FUNCTION(to_device, "cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2",                                \
           (Address to, const void *from, size_t bytes, Stream stream))                           \
  FUNCTION(to_host, "cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2",                                  \
           (void *to, Address from, size_t bytes, Stream stream))                                 \
  FUNCTION(on_device, "cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2",                                \
           (Address to, Address from, size_t bytes, Stream stream))                               \
  FUNCTION(copy_2d, "cuMemcpy2DAsync", "cuMemcpy2DAsync_v2", (const Copy2D *copy, Stream stream)) \
  FUNCTION(pointer_attribute, "cuPointerGetAttribute", "cuPointerGetAttribute",                   \
           (void *value, int attribute, Address address))                                         \
  FUNCTION(error_name, "cuGetErrorName", "cuGetErrorName", (Result code, const char **name))      \
  FUNCTION(error_text, "cuGetErrorString", "cuGetErrorString", (Result code, const char **text))

struct Driver {
#define PH_CUDA_MEMBER(member, name, symbol, arguments) Result(*member) arguments;
  PH_CUDA_FUNCTIONS(PH_CUDA_MEMBER)
#undef PH_CUDA_MEMBER
};

/// Is there a driver, and a card? Nobody is told where not.
bool has_driver();
/// Null where there is no driver or no card; `user_context` has been told why.
const Driver *driver(void *user_context);

/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
struct ErrorName {
  char text[160];
  ErrorName(const Driver &d, Result code);
};

/// The context that calls of a user context work in is current on this thread while this lives.
class Current {
 public:
  explicit Current(void *user_context);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

  /// Of the driver; null where it, a card or a context is missing, which has been reported.
  const Driver *driver = nullptr;
  Context context = nullptr;
  Stream stream = nullptr;
  /// What a call then returns.
  int error = 0;

 private:
  void *const user_context_;
  bool acquired_ = false;
};

/// Reports a call of the driver that failed; returns `code`. The failure may be that of a kernel
/// which was launched before: the next call meets it, whichever that is.
int fail_call(void *user_context, const Driver &d, int code, Result result, const char *doing);

/// From 700 on the driver speaks of what kernels did: the context is lost then, with all memory.
bool is_lost(Result result);
/// The loss has been, or is now, reported: it is told once, not again for each buffer that goes.
void note_loss();
bool is_known_lost();

/// The kernel that was launched last, for messages.
void note_launch(const char *pipeline, const char *stage);

/// Of PH_DEBUG_CUDA: kernels are waited for.
bool is_debugging();

/// Gives contexts back, with what is loaded in them; the driver is looked for again when it is
/// needed next.
void release_driver();
/// Unloads what is loaded in the context, which is current. cuda_kernels.cc
void unload_modules(const Driver &d, Context context);

}  // namespace polyhalite::runtime::cuda
