#include "codegen/runtime/cuda_driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_cuda.h"

namespace polyhalite::runtime::cuda {

namespace {

constexpr const char *kLibrary = "libcuda.so.1";
// The newest version of the driver's interface that a function's own version is asked for; the
// prototypes above are those of CUDA 11.4.
constexpr int kInterfaceVersion = 11040;
constexpr int kMostDevices = 64;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Driver functions = {};
bool ready = false;
Context primary[kMostDevices] = {};
bool retained[kMostDevices] = {};

polyhalite_cuda_acquire_context_t acquire_handler = nullptr;
polyhalite_cuda_release_context_t release_handler = nullptr;
polyhalite_cuda_get_stream_t stream_handler = nullptr;

bool lost = false;

// Of the kernel that was launched last; code of this process may be gone when it is named.
char last_pipeline[96] = "", last_stage[96] = "";

class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock); }
  ~Locked() { pthread_mutex_unlock(&lock); }
};

int no_driver(void *user_context, const char *why) {
  return fail(user_context, polyhalite_error_code_gpu_device_error,
              "the GPU is not available: %s; install NVIDIA's driver on a machine with its card, "
              "or compile for a target without cuda",
              why);
}

// The first name that is missing, or null.
const char *find_functions(void *library) {
  using GetProcAddress = Result (*)(const char *, void **, int, uint64_t);
  auto ask =
      reinterpret_cast<GetProcAddress>(polyhalite_get_library_symbol(library, "cuGetProcAddress"));
  auto find = [&](const char *name, const char *symbol) {
    void *found = nullptr;
    if (!ask || ask(name, &found, kInterfaceVersion, 0) != 0) found = nullptr;
    return found ? found : polyhalite_get_library_symbol(library, symbol);
  };
#define PH_CUDA_FIND(member, name, symbol, arguments)                                  \
  functions.member = reinterpret_cast<decltype(functions.member)>(find(name, symbol)); \
  if (!functions.member) return name;
  PH_CUDA_FUNCTIONS(PH_CUDA_FIND)
#undef PH_CUDA_FIND
  return nullptr;
}

// Null, or why there is no driver.
const char *load(char (&why)[256]) {
  void *library = polyhalite_load_library(kLibrary);
  if (!library) {
    snprintf(why, sizeof why, "there is no %s", kLibrary);
    return why;
  }
  if (const char *missing = find_functions(library)) {
    snprintf(why, sizeof why, "the driver has no function %s", missing);
    return why;
  }
  int count = 0;
  Result result = functions.init(0);
  if (result == 0) result = functions.device_count(&count);
  if (result != 0) {
    snprintf(why, sizeof why, "the driver does not start, %s", ErrorName(functions, result).text);
    return why;
  }
  if (count > 0) return nullptr;
  snprintf(why, sizeof why, "the driver sees no card");
  return why;
}

// Null, or why nothing can run on a card.
const char *make_ready(char (&why)[256]) {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return nullptr;
  Locked locked;
  if (ready) return nullptr;
  // A driver that is not there now may be there later: libraries stay loaded, cards come back.
  if (load(why)) return why;
  __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
  return nullptr;
}

}  // namespace

bool has_driver() {
  char why[256];
  return !make_ready(why);
}

const Driver *driver(void *user_context) {
  char why[256];
  if (!make_ready(why)) return &functions;
  no_driver(user_context, why);
  return nullptr;
}

ErrorName::ErrorName(const Driver &d, Result code) {
  const char *name = nullptr, *meaning = nullptr;
  if (d.error_name(code, &name) != 0 || !name) name = "an unknown error";
  if (d.error_text(code, &meaning) != 0 || !meaning) meaning = "no description";
  snprintf(text, sizeof text, "%s (%s)", name, meaning);
}

Current::Current(void *user_context) : user_context_(user_context) {
  const Driver *d = runtime::cuda::driver(user_context);
  if (!d) {
    error = polyhalite_error_code_gpu_device_error;
    return;
  }
  error = polyhalite_cuda_acquire_context(user_context, &context, true);
  if (error != 0) return;
  acquired_ = true;
  Result result = d->push_context(context);
  if (result != 0) {
    error = fail_call(user_context, *d, polyhalite_error_code_gpu_device_error, result,
                      "make the context of the GPU current");
    return;
  }
  driver = d;
  error = polyhalite_cuda_get_stream(user_context, context, &stream);
}

Current::~Current() {
  Context before = nullptr;
  if (driver) driver->pop_context(&before);
  if (acquired_) polyhalite_cuda_release_context(user_context_);
}

int fail_call(void *user_context, const Driver &d, int code, Result result, const char *doing) {
  const ErrorName name(d, result);
  char pipeline[sizeof last_pipeline], stage[sizeof last_stage];
  {
    Locked locked;
    snprintf(pipeline, sizeof pipeline, "%s", last_pipeline);
    snprintf(stage, sizeof stage, "%s", last_stage);
  }
  if (result == kOutOfMemory) {
    return fail(user_context, code, "cannot %s: %s; free buffers on the GPU, or work on parts",
                doing, name.text);
  }
  if (is_lost(result)) note_loss();
  if (is_lost(result) && pipeline[0]) {
    return fail(user_context, code,
                "cannot %s: %s, left by a kernel that was launched before, the last of them for "
                "'%s' of '%s'; run with PH_DEBUG_CUDA=1 to learn which one it was",
                doing, name.text, stage, pipeline);
  }
  return fail(user_context, code, "cannot %s: %s; run with PH_DEBUG_CUDA=1 to wait for each kernel",
              doing, name.text);
}

bool is_lost(Result result) { return result >= 700 && result != kOutOfResources; }

void note_loss() { __atomic_store_n(&lost, true, __ATOMIC_RELEASE); }

bool is_known_lost() { return __atomic_load_n(&lost, __ATOMIC_ACQUIRE); }

void note_launch(const char *pipeline, const char *stage) {
  Locked locked;
  snprintf(last_pipeline, sizeof last_pipeline, "%s", pipeline);
  snprintf(last_stage, sizeof last_stage, "%s", stage);
}

bool is_debugging() {
  const char *wish = getenv("PH_DEBUG_CUDA");
  return wish && *wish && *wish != '0';
}

}  // namespace polyhalite::runtime::cuda

using namespace polyhalite::runtime::cuda;  // NOLINT: all of this file
namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK polyhalite_cuda_acquire_context_t
polyhalite_set_cuda_acquire_context(polyhalite_cuda_acquire_context_t handler) {
  return __atomic_exchange_n(&acquire_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK polyhalite_cuda_release_context_t
polyhalite_set_cuda_release_context(polyhalite_cuda_release_context_t handler) {
  return __atomic_exchange_n(&release_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK polyhalite_cuda_get_stream_t
polyhalite_set_cuda_get_stream(polyhalite_cuda_get_stream_t handler) {
  return __atomic_exchange_n(&stream_handler, handler, __ATOMIC_ACQ_REL);
}

// The primary context, which other libraries of the program share.
PH_WEAK int polyhalite_cuda_acquire_context(void *user_context, void **context, bool create) {
  if (auto handler = __atomic_load_n(&acquire_handler, __ATOMIC_ACQUIRE)) {
    return handler(user_context, context, create);
  }
  const Driver *d = driver(user_context);
  if (!d) return polyhalite_error_code_gpu_device_error;
  int count = 0, chosen = polyhalite_get_gpu_device(user_context);
  Device device = 0;
  Result result = d->device_count(&count);
  if (count > kMostDevices) count = kMostDevices;
  if (result == 0 && chosen >= count) {
    return runtime::fail(user_context, polyhalite_error_code_gpu_device_error,
                         "the GPU of number %d is asked for: this machine has %d, counted from 0; "
                         "name one of them with polyhalite_set_gpu_device or PH_GPU_DEVICE",
                         chosen, count);
  }
  if (chosen < 0) chosen = count - 1;
  {
    Locked locked;
    if (!retained[chosen] && create) {
      if (result == 0) result = d->get_device(&device, chosen);
      if (result == 0) result = d->retain_context(&primary[chosen], device);
      retained[chosen] = result == 0;
    }
    *context = retained[chosen] ? primary[chosen] : nullptr;
  }
  if (result == 0) return 0;
  return fail_call(user_context, *d, polyhalite_error_code_gpu_device_error, result,
                   "make a context on the GPU");
}

PH_WEAK int polyhalite_cuda_release_context(void *user_context) {
  auto handler = __atomic_load_n(&release_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context) : 0;
}

PH_WEAK int polyhalite_cuda_get_stream(void *user_context, void *context, void **stream) {
  if (auto handler = __atomic_load_n(&stream_handler, __ATOMIC_ACQUIRE)) {
    return handler(user_context, context, stream);
  }
  *stream = nullptr;
  return 0;
}

}  // extern "C"

namespace polyhalite::runtime::cuda {

void release_driver() {
  if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return;
  for (int i = 0; i < kMostDevices; i++) {
    Context context = nullptr, before = nullptr;
    Device device = 0;
    {
      Locked locked;
      if (!retained[i]) continue;
      context = primary[i];
      retained[i] = false;
    }
    if (functions.push_context(context) == 0) {
      functions.synchronize();
      unload_modules(functions, context);
      functions.pop_context(&before);
    }
    if (functions.get_device(&device, i) == 0) functions.release_context(device);
  }
  __atomic_store_n(&lost, false, __ATOMIC_RELEASE);
  __atomic_store_n(&ready, false, __ATOMIC_RELEASE);
}

}  // namespace polyhalite::runtime::cuda
