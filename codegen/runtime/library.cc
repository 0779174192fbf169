// Shared libraries that are loaded at run time, through functions that programs may replace.
#include <dlfcn.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

polyhalite_get_symbol_t symbol_handler = nullptr;
polyhalite_load_library_t library_handler = nullptr;
polyhalite_get_library_symbol_t library_symbol_handler = nullptr;

template <typename Handler>
Handler exchange(Handler *at, Handler handler) {
  return __atomic_exchange_n(at, handler, __ATOMIC_ACQ_REL);
}

template <typename Handler>
Handler current(Handler *at, Handler otherwise) {
  Handler handler = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  return handler ? handler : otherwise;
}

}  // namespace

}  // namespace polyhalite::runtime

using namespace polyhalite::runtime;  // NOLINT: all of this file

extern "C" {

PH_WEAK void *polyhalite_default_get_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

PH_WEAK void *polyhalite_default_load_library(const char *name) {
  return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

PH_WEAK void *polyhalite_default_get_library_symbol(void *library, const char *name) {
  return dlsym(library, name);
}

PH_WEAK void *polyhalite_get_symbol(const char *name) {
  return current(&symbol_handler, polyhalite_default_get_symbol)(name);
}

PH_WEAK void *polyhalite_load_library(const char *name) {
  return current(&library_handler, polyhalite_default_load_library)(name);
}

PH_WEAK void *polyhalite_get_library_symbol(void *library, const char *name) {
  return current(&library_symbol_handler, polyhalite_default_get_library_symbol)(library, name);
}

PH_WEAK polyhalite_get_symbol_t polyhalite_set_custom_get_symbol(polyhalite_get_symbol_t handler) {
  return exchange(&symbol_handler, handler);
}

PH_WEAK polyhalite_load_library_t
polyhalite_set_custom_load_library(polyhalite_load_library_t handler) {
  return exchange(&library_handler, handler);
}

PH_WEAK polyhalite_get_library_symbol_t
polyhalite_set_custom_get_library_symbol(polyhalite_get_library_symbol_t handler) {
  return exchange(&library_symbol_handler, handler);
}

}  // extern "C"
