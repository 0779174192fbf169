// simplify_stmts: statements whose effect is known beforehand become what they do.
//
//   for x in (0, 1) {S}        ->  S with x = 0        let t = a + 1 {S}   ->  S with t = a + 1
//   if true {S} else {T}       ->  S                   for x in (0, 0) {S} ->
//   if x < n {if x < n {S}}    ->  if x < n {S}        let unused = e {S}  ->  S
//   let t = a + min(b, c) {S}  ->  let t = min(b, c) {S with t = a + t}
//   for x in (a, 4) vector {S} ->  for x in (0, 4) vector {S with x = a + x}, unrolled alike
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Simplifies every expression under the bounds of loops and symbols around it and under the
/// conditions of Ifs around it; works at both levels.
Function simplify_stmts(const Function &f);
Stmt simplify_stmts(const Stmt &s);

}  // namespace polyhalite
