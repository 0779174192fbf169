#include "lang/interpret/c_call.h"

#include <dlfcn.h>

#include <cstring>

namespace polyhalite::interpreter {

bool CCall::add(Type t, const void *value) {
  if (t.is_float()) {
    if (t.bits() < 32 || used_floats_ == kFloats) return false;
    std::memcpy(&floats_[used_floats_++], value, static_cast<size_t>(t.bytes()));
    return true;
  }
  if (used_integers_ == kIntegers) return false;
  uint64_t bits = 0;
  std::memcpy(&bits, value, static_cast<size_t>(t.bytes()));
  const int unused = 64 - 8 * t.bytes();
  integers_[used_integers_++] =
      t.is_int() ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
  return true;
}

bool CCall::add_pointer(const void *p) {
  if (used_integers_ == kIntegers) return false;
  integers_[used_integers_++] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(p));
  return true;
}

void *exported_function(const std::string &name) {
  if (void *f = dlsym(RTLD_DEFAULT, name.c_str())) return f;
  user_error("the interpreter finds no function '" + name + "'",
             "it looks among the symbols that the program exports",
             "declare it extern \"C\", and link the program with -rdynamic");
}

void too_many_arguments(const std::string &name) {
  user_error(
      "the interpreter cannot call '" + name + "'",
      "it calls C functions of at most 6 integers and pointers and 8 floats of 32 or 64 bits", "");
}

}  // namespace polyhalite::interpreter
