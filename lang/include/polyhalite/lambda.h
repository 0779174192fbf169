// lambda: a Func without a name, from its arguments and its value.
#pragma once

#include <vector>

#include "polyhalite/func.h"

namespace polyhalite {

/// lambda(e): e may use implicit variables, as in lambda(f(_) + g(_)).
inline Func lambda(const Expr &e, Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Expr>{Var("_")}, here) = e;
  return f;
}
/// lambda(x, y, e) is f in f(x, y) = e.
inline Func lambda(const Var &x, const Expr &e, Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Var>{x}, here) = e;
  return f;
}
inline Func lambda(const Var &x, const Var &y, const Expr &e, Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Var>{x, y}, here) = e;
  return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e, Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Var>{x, y, z}, here) = e;
  return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e,
                   Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Var>{x, y, z, w}, here) = e;
  return f;
}
inline Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v,
                   const Expr &e, Here here = Here()) {
  Func f("lambda", here);
  f(std::vector<Var>{x, y, z, w, v}, here) = e;
  return f;
}

}  // namespace polyhalite
