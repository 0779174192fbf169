#include "apps/common/compiled_apps.h"

#include <map>

#include "polyhalite_runtime.h"

// Lines POLYHALITE_APP(name), one per application; see app_list.h.
// Buffers of both systems have the same layout, so all arguments are untyped pointers here.
#define POLYHALITE_APP(name)                      \
  extern "C" int ph_##name##_none_argv(void **);  \
  extern "C" int ph_##name##_naive_argv(void **); \
  extern "C" int ph_##name##_good_argv(void **);  \
  extern "C" int halide_##name##_good_argv(void **);
#include "apps/common/app_list.h"
#undef POLYHALITE_APP
extern "C" int halide_set_num_threads(int);
extern "C" void halide_shutdown_thread_pool();

namespace polyhalite_apps {
namespace {

using Compiled = int (*)(void **);

const std::map<std::string, Compiled> &entries(System system) {
  static const std::map<std::string, Compiled> ours = {
#define POLYHALITE_APP(name)                                                        \
  {#name "/none", ph_##name##_none_argv}, {#name "/naive", ph_##name##_naive_argv}, \
      {#name "/good", ph_##name##_good_argv},
#include "apps/common/app_list.h"
#undef POLYHALITE_APP
  };
  static const std::map<std::string, Compiled> theirs = {
#if POLYHALITE_HAVE_HALIDE
#define POLYHALITE_APP(name) {#name "/good", halide_##name##_good_argv},
#include "apps/common/app_list.h"
#undef POLYHALITE_APP
#endif
  };
  return system == System::Polyhalite ? ours : theirs;
}

}  // namespace

bool have_halide() { return POLYHALITE_HAVE_HALIDE; }

std::vector<std::string> app_names() {
  return {
#define POLYHALITE_APP(name) #name,
#include "apps/common/app_list.h"
#undef POLYHALITE_APP
  };
}

int run_compiled(System system, const std::string &app, const std::string &schedule,
                 std::vector<void *> arguments) {
  return entries(system).at(app + "/" + schedule)(arguments.data());
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
