// Derivatives: Funcs that compute how an output changes with the Funcs, images and Params that it
// is made of (reverse-mode differentiation).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "polyhalite/func.h"
#include "polyhalite/param.h"

namespace polyhalite {

/// The adjoints that propagate_adjoints() made: for d = propagate_adjoints(loss), d(f)(x, y) is the
/// derivative of loss by f(x, y). They are Funcs like others, to be called and scheduled.
class Derivative {
 public:
  /// The name of a Func, image or Param, and a stage: -1 for the pure definition, k for update k.
  using Key = std::pair<std::string, int>;
  explicit Derivative(std::map<Key, Func> adjoints) : adjoints_(std::move(adjoints)) {}

  /// By the value that f has after its pure definition, or after the given update. Here and below,
  /// an undefined Func where the output does not depend on it.
  Func operator()(const Func &f, int update = -1) const;
  Func operator()(const ImageParam &image) const { return (*this)(image.name()); }
  template <typename T, int D>
  Func operator()(const Buffer<T, D> &image) const {
    return (*this)(image.name());
  }
  /// A Func of no arguments.
  template <typename T>
  Func operator()(const Param<T> &p) const {
    return (*this)(p.name());
  }
  Func operator()(const std::string &name) const;

 private:
  std::map<Key, Func> adjoints_;
};

/// Derivatives of the sum over `output_bounds` of adjoint(...) * output(...). Only floats have
/// derivatives. CompileError where the output depends on an extern stage, on a Func of several
/// values or on a function without derivative; where a Func is read at an index without bounds, or
/// an update overwrites cells in a way that cannot be run backwards: a cell that several iterations
/// of its RDom write must be added to, and an update that reads other cells of its Func must read
/// what earlier iterations wrote.
Derivative propagate_adjoints(const Func &output, const Func &adjoint, const Region &output_bounds,
                              Here here = Here());
/// The same, over the bounds of the buffer.
Derivative propagate_adjoints(const Func &output, const Buffer<float> &adjoint, Here here = Here());
/// Of an output without dimensions, with adjoint 1.
Derivative propagate_adjoints(const Func &output, Here here = Here());

}  // namespace polyhalite
