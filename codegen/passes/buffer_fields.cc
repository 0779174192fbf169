#include "codegen/passes/buffer_fields.h"

#include "lang/ir/intrinsics.h"

namespace polyhalite {

std::string buffer_field_name(const std::string &buffer, const char *what, size_t dimension) {
  return buffer + "." + what + "." + std::to_string(dimension);
}

Expr buffer_field(const std::string &buffer, const char *what, size_t dimension) {
  return make_variable(Int(32), VariableKind::BufferField,
                       buffer_field_name(buffer, what, dimension));
}

Expr buffer_fact(Type t, const char *intrinsic, const std::string &buffer) {
  return make_intrinsic(t, intrinsic, {make_string(buffer)});
}

}  // namespace polyhalite
