// Questions of an algorithm or a schedule about the target that it is compiled for.
#pragma once

#include "polyhalite/expr.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Booleans, constant once a pipeline is compiled: select(target_arch_is(Target::ARM), a, b).
Expr target_arch_is(Target::Arch arch);
Expr target_os_is(Target::OS os);
Expr target_has_feature(Target::Feature feature);
/// Int(32).
Expr target_bits();
/// Int(32): f.vectorize(x, target_natural_vector_size(Float(32))).
Expr target_natural_vector_size(Type t);
template <typename T>
Expr target_natural_vector_size() {
  return target_natural_vector_size(type_of<T>());
}

}  // namespace polyhalite
