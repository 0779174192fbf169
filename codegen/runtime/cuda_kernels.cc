// Kernels: PTX is loaded once in a context, by the hash of its text, and launched.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/runtime/cuda_driver.h"
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_cuda.h"

namespace polyhalite::runtime::cuda {

namespace {

constexpr int kHopper = 90;  // the capability that code for sm_90a runs on
// Shared memory that a kernel may ask for without saying so beforehand.
constexpr int kPlainSharedBytes = 48 << 10;
// Modules that stay loaded; beyond them the one that was launched longest ago goes.
constexpr int kMostModules = 256;

struct LoadedKernel {
  Kernel kernel;
  int shared_bytes;  // that it may have
};

struct LoadedModule {
  Context context;
  uint64_t hash;
  Module module;
  uint64_t last_use;
  int count;
  LoadedModule *next;
  LoadedKernel kernels[1];  // `count` of them
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
LoadedModule *loaded = nullptr;
int loaded_count = 0;
uint64_t uses = 0;

LoadedModule *find(Context context, uint64_t hash) {
  for (LoadedModule *m = loaded; m; m = m->next) {
    if (m->hash == hash && m->context == context) return m;
  }
  return nullptr;
}

void unload(const Driver &d, LoadedModule **at) {
  LoadedModule *m = *at;
  *at = m->next;
  loaded_count--;
  d.unload_module(m->module);
  free(m);
}

void unload_oldest(const Driver &d, Context context) {
  LoadedModule **oldest = nullptr;
  for (LoadedModule **at = &loaded; *at; at = &(*at)->next) {
    if ((*at)->context != context) continue;
    if (!oldest || (*at)->last_use < (*oldest)->last_use) oldest = at;
  }
  if (!oldest) return;
  d.synchronize();  // its kernels may still run
  unload(d, oldest);
}

int capability_of(const Driver &d, char (&name)[64]) {
  Device device = 0;
  int major = 0, minor = 0;
  snprintf(name, sizeof name, "the GPU");
  if (d.device_of_context(&device) != 0) return 0;
  d.device_name(name, sizeof name, device);
  if (d.device_attribute(&major, kMajorCapability, device) != 0) return 0;
  if (d.device_attribute(&minor, kMinorCapability, device) != 0) return 0;
  return 10 * major + minor;
}

// The driver's own message on a text that it does not take is in `log`.
Result load_text(const Driver &d, const char *ptx, Module *module, char (&log)[512]) {
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  log[0] = 0;
  const Result result = d.load_module(module, ptx, 2, options, values);
  log[sizeof log - 1] = 0;
  return result;
}

// Loads what the card takes: the text for Hopper where it is one, else the portable one.
int load(void *user_context, const Driver &d, Context context, const polyhalite_cuda_module_t &code,
         LoadedModule **result) {
  constexpr int kFailed = polyhalite_error_code_device_run_failed;
  char name[64], log[512];
  const int capability = capability_of(d, name);
  if (capability < code.capability) {
    return fail(user_context, kFailed,
                "the kernels of '%s' do not run on %s: they need compute capability %d.%d, it has "
                "%d.%d; compile for a target with its cuda_capability",
                code.pipeline, name, code.capability / 10, code.capability % 10, capability / 10,
                capability % 10);
  }
  Module module = nullptr;
  Result status = kInvalidValue;
  if (code.sm_90a && capability == kHopper) status = load_text(d, code.sm_90a, &module, log);
  if (status != 0) status = load_text(d, code.portable, &module, log);
  if (status != 0) {
    return fail(user_context, kFailed,
                "the kernels of '%s' cannot be loaded: %s: %s; update the driver to one that knows "
                "this version of PTX",
                code.pipeline, ErrorName(d, status).text, log[0] ? log : "it says no more");
  }
  const auto count = static_cast<size_t>(code.kernel_count);
  auto *m =
      static_cast<LoadedModule *>(calloc(1, sizeof(LoadedModule) + count * sizeof(LoadedKernel)));
  if (!m) {
    d.unload_module(module);
    return polyhalite_error_out_of_memory(user_context, code.pipeline, "kernels",
                                          static_cast<int64_t>(count * sizeof(LoadedKernel)));
  }
  *m = {context, code.hash, module, 0, code.kernel_count, nullptr, {}};
  for (int i = 0; i < code.kernel_count; i++) {
    m->kernels[i] = {nullptr, kPlainSharedBytes};
    status = d.find_kernel(&m->kernels[i].kernel, module, code.kernels[i].symbol);
    if (status == 0) continue;
    d.unload_module(module);
    free(m);
    return fail(user_context, kFailed,
                "the kernel '%s' of '%s' is not in its module: %s; compile the pipeline anew",
                code.kernels[i].stage, code.pipeline, ErrorName(d, status).text);
  }
  if (loaded_count >= kMostModules) unload_oldest(d, context);
  m->next = loaded;
  loaded = m;
  loaded_count++;
  *result = m;
  return 0;
}

// The kernel, ready for so much shared memory.
int prepare(void *user_context, const Current &c, const polyhalite_cuda_module_t &code, int index,
            int shared_bytes, Kernel *kernel) {
  const Driver &d = *c.driver;
  LoadedModule *m = find(c.context, code.hash);
  if (!m) {
    if (const int error = load(user_context, d, c.context, code, &m)) return error;
  }
  m->last_use = ++uses;
  LoadedKernel &k = m->kernels[index];
  if (shared_bytes > k.shared_bytes) {
    const Result result = d.set_kernel_attribute(k.kernel, kDynamicSharedBytes, shared_bytes);
    if (result != 0) {
      return fail(user_context, polyhalite_error_code_device_run_failed,
                  "the kernel '%s' of '%s' cannot have %d bytes of shared memory: %s; make its "
                  "tiles smaller",
                  code.kernels[index].stage, code.pipeline, shared_bytes,
                  ErrorName(d, result).text);
    }
    k.shared_bytes = shared_bytes;
  }
  *kernel = k.kernel;
  return 0;
}

}  // namespace

void unload_modules(const Driver &d, Context context) {
  pthread_mutex_lock(&lock);
  for (LoadedModule **at = &loaded; *at;) {
    if ((*at)->context == context) {
      unload(d, at);
    } else {
      at = &(*at)->next;
    }
  }
  pthread_mutex_unlock(&lock);
}

}  // namespace polyhalite::runtime::cuda

using namespace polyhalite::runtime::cuda;  // NOLINT: all of this file
namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK int polyhalite_cuda_run(void *user_context, const polyhalite_cuda_module_t *module,
                                int32_t kernel, const int32_t *blocks, const int32_t *threads,
                                int32_t shared_bytes, void **args, int32_t buffers) {
  for (int i = 0; i < 3; i++) {
    if (blocks[i] <= 0 || threads[i] <= 0) return 0;
  }
  constexpr int kFailed = polyhalite_error_code_device_run_failed;
  const char *stage = module->kernels[kernel].stage;
  for (int i = 0; i < buffers; i++) {
    // The field with the address of device memory is the first one.
    const auto *b = static_cast<const polyhalite_buffer_t *>(args[i]);
    if (module->has_wide_indices || b->end_offset() - b->begin_offset() <= INT32_MAX) continue;
    return runtime::fail(user_context, polyhalite_error_code_buffer_extents_too_large,
                         "a buffer of the kernel '%s' of '%s' has %lld elements: its indices have "
                         "32 bits; compile for a target with large_buffers",
                         stage, module->pipeline,
                         static_cast<long long>(b->end_offset() - b->begin_offset()));
  }
  Current current(user_context);
  if (current.error != 0) return current.error;
  const Driver &d = *current.driver;
  Kernel found = nullptr;
  pthread_mutex_lock(&lock);
  const int error = prepare(user_context, current, *module, kernel, shared_bytes, &found);
  pthread_mutex_unlock(&lock);
  if (error != 0) return error;
  auto extent = [](int32_t n) { return static_cast<unsigned>(n); };
  Result result = d.launch(found, extent(blocks[0]), extent(blocks[1]), extent(blocks[2]),
                           extent(threads[0]), extent(threads[1]), extent(threads[2]),
                           extent(shared_bytes), current.stream, args, nullptr);
  if (result == kInvalidValue || result == kOutOfResources) {
    return runtime::fail(
        user_context, kFailed,
        "the kernel '%s' of '%s' cannot be launched with %d x %d x %d blocks of %d x %d x %d "
        "threads and %d bytes of shared memory: %s; make the grid or the tiles smaller",
        stage, module->pipeline, blocks[0], blocks[1], blocks[2], threads[0], threads[1],
        threads[2], shared_bytes, ErrorName(d, result).text);
  }
  if (result == 0) {
    note_launch(module->pipeline, stage);
    if (!is_debugging()) return 0;
    result = d.synchronize();
  }
  if (result == 0) return 0;
  if (is_lost(result)) note_loss();
  return runtime::fail(
      user_context, kFailed,
      "the kernel '%s' of '%s' failed: %s; nothing runs on this GPU until the program ends", stage,
      module->pipeline, ErrorName(d, result).text);
}

}  // extern "C"
