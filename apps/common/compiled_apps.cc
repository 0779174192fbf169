#include "apps/common/compiled_apps.h"

#include <map>

#include "polyhalite_runtime.h"

// Buffers of both systems have the same layout, so both are passed as untyped pointers here.
#define POLYHALITE_APP2(name)               \
  extern "C" int ph_##name(void *, void *); \
  extern "C" int halide_##name(void *, void *);
#define POLYHALITE_APP3(name)                       \
  extern "C" int ph_##name(void *, void *, void *); \
  extern "C" int halide_##name(void *, void *, void *);
POLYHALITE_APP2(blur_none)
POLYHALITE_APP2(blur_naive)
POLYHALITE_APP2(blur_good)
POLYHALITE_APP2(unsharp_none)
POLYHALITE_APP2(unsharp_naive)
POLYHALITE_APP2(unsharp_good)
POLYHALITE_APP2(harris_none)
POLYHALITE_APP2(harris_naive)
POLYHALITE_APP2(harris_good)
POLYHALITE_APP3(matmul_none)
POLYHALITE_APP3(matmul_naive)
POLYHALITE_APP3(matmul_good)
extern "C" int halide_set_num_threads(int);
extern "C" void halide_shutdown_thread_pool();

namespace polyhalite_apps {
namespace {

using Pipeline2 = int (*)(void *, void *);
using Pipeline3 = int (*)(void *, void *, void *);

// One of the two is set.
struct Entry {
  Pipeline2 two = nullptr;
  Pipeline3 three = nullptr;
  Entry(Pipeline2 f) : two(f) {}    // NOLINT
  Entry(Pipeline3 f) : three(f) {}  // NOLINT

  int operator()(const std::vector<void *> &a) const {
    return two ? two(a.at(0), a.at(1)) : three(a.at(0), a.at(1), a.at(2));
  }
};

#define POLYHALITE_ENTRY(app)                                                 \
  {#app "/none", SYSTEM(app##_none)}, {#app "/naive", SYSTEM(app##_naive)}, { \
    #app "/good", SYSTEM(app##_good)                                          \
  }
#define POLYHALITE_ENTRIES                                                      \
  {POLYHALITE_ENTRY(blur), POLYHALITE_ENTRY(unsharp), POLYHALITE_ENTRY(harris), \
   POLYHALITE_ENTRY(matmul)}

const std::map<std::string, Entry> &entries(System system) {
#define SYSTEM(name) ph_##name
  static const std::map<std::string, Entry> ours POLYHALITE_ENTRIES;
#undef SYSTEM
#if POLYHALITE_HAVE_HALIDE
#define SYSTEM(name) halide_##name
  static const std::map<std::string, Entry> theirs POLYHALITE_ENTRIES;
#undef SYSTEM
#else
  static const std::map<std::string, Entry> theirs;
#endif
  return system == System::Polyhalite ? ours : theirs;
}

}  // namespace

bool have_halide() { return POLYHALITE_HAVE_HALIDE; }

int run_compiled(System system, const std::string &app, const std::string &schedule,
                 const std::vector<void *> &arguments) {
  return entries(system).at(app + "/" + schedule)(arguments);
}

void set_threads(System system, int count) {
  if (system == System::Polyhalite) {
    polyhalite_set_num_threads(count);
    return;
  }
#if POLYHALITE_HAVE_HALIDE
  // Threads that exist go on working when the number shrinks.
  halide_shutdown_thread_pool();
  halide_set_num_threads(count);
#endif
}

}  // namespace polyhalite_apps
