// Calls of the program's C functions, found among the symbols that it exports.
#include <dlfcn.h>

#include <cstring>

#include "lang/interpret/program.h"

namespace polyhalite::interpreter {

namespace {

constexpr size_t kIntegers = 6, kFloats = 8;

// The calling conventions of x86-64 and AArch64 pass integers and floats in registers of their own,
// in order, so that a call that fills all of them reaches a function of any signature that needs no
// stack. A float32 is the low half of its register.
struct Registers {
  int64_t integers[kIntegers] = {};
  double floats[kFloats] = {};

  template <typename R>
  R call(void *f) const {
    const int64_t *i = integers;
    const double *x = floats;
    using Function = R (*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double,
                           double, double, double, double, double, double);
    return reinterpret_cast<Function>(f)(i[0], i[1], i[2], i[3], i[4], i[5], x[0], x[1], x[2], x[3],
                                         x[4], x[5], x[6], x[7]);
  }
};

int64_t extended(Type t, const uint8_t *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(t.bytes()));
  const int unused = 64 - 8 * t.bytes();
  return t.is_int() ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

}  // namespace

Register *add_extern(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  size_t integers = 0, floats = 0;
  bool known = c.type.bits() >= 32 || !c.type.is_float();
  for (const Register *a : args) {
    a->type.is_float() ? floats++ : integers++;
    known = known && (a->type.bits() >= 32 || !a->type.is_float());
  }
  if (!known || integers > kIntegers || floats > kFloats) {
    user_error("the interpreter cannot call '" + c.name + "'",
               "it calls C functions of at most 6 integers and 8 floats of 32 or 64 bits", "");
  }
  void *f = dlsym(RTLD_DEFAULT, c.name.c_str());
  if (!f) {
    user_error("the interpreter finds no function '" + c.name + "'",
               "it looks among the symbols that the program exports",
               "declare it extern \"C\", and link the program with -rdynamic");
  }
  Register *r = p.add_register(c.type);
  return p.add_step(r, args, [=](int n) {
    for (int lane = 0; lane < n; lane++) {
      Registers all;
      size_t next_integer = 0, next_float = 0;
      for (Register *a : args) {
        const uint8_t *bytes = a->bytes.get() + lane * a->type.bytes();
        if (a->type.is_float()) {
          std::memcpy(&all.floats[next_float++], bytes, static_cast<size_t>(a->type.bytes()));
        } else {
          all.integers[next_integer++] = extended(a->type, bytes);
        }
      }
      uint8_t *out = r->bytes.get() + lane * r->type.bytes();
      if (r->type.is_float()) {
        const double value = all.call<double>(f);
        std::memcpy(out, &value, static_cast<size_t>(r->type.bytes()));
      } else {
        const int64_t value = all.call<int64_t>(f);
        std::memcpy(out, &value, static_cast<size_t>(r->type.bytes()));
      }
    }
  });
}

}  // namespace polyhalite::interpreter
