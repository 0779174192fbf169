// Calls of the program's C functions in expressions.
#include <cstring>

#include "lang/interpret/c_call.h"
#include "lang/interpret/program.h"
#include "lang/ir/cxx_symbol.h"

namespace polyhalite::interpreter {

Register *add_extern(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  std::vector<Type> types;
  for (const Expr &a : c.args) types.push_back(a.type());
  void *f = exported_function(extern_symbol(c.name, types, 8 * sizeof(void *)));
  CCall probe;
  bool fits = !c.type.is_float() || c.type.bits() >= 32;
  for (Register *a : args) fits = fits && probe.add(a->type, a->bytes.get());
  if (!fits) too_many_arguments(c.name);
  Register *r = p.add_register(c.type);
  return p.add_step(r, args, [=](int n) {
    for (int lane = 0; lane < n; lane++) {
      CCall call;
      for (Register *a : args) call.add(a->type, a->bytes.get() + lane * a->type.bytes());
      uint8_t *out = r->bytes.get() + lane * r->type.bytes();
      if (r->type.is_float()) {
        const double value = call.call<double>(f);
        std::memcpy(out, &value, static_cast<size_t>(r->type.bytes()));
      } else {
        const int64_t value = call.call<int64_t>(f);
        std::memcpy(out, &value, static_cast<size_t>(r->type.bytes()));
      }
    }
  });
}

}  // namespace polyhalite::interpreter
