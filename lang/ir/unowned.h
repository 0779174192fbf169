// References that keep nothing alive, where the referred owns the referrer.
#pragma once

#include <memory>

#include "polyhalite/expr.h"

namespace polyhalite {

struct ParameterContents;

template <typename T>
std::shared_ptr<T> unowned(const std::shared_ptr<T> &p) {
  return std::shared_ptr<T>(std::shared_ptr<T>(), p.get());
}

/// Limits and constraints that speak of the parameter they belong to (a stride that follows from an
/// extent), or of one that owns it (two images of one size), own it no longer; else both would live
/// for ever.
void disown_itself(ParameterContents &p);

/// A limit or constraint of `p` that owns all that it names, for whoever asks for it. CompileError
/// where that is no more.
Expr owning(const ParameterContents &p, const Expr &e);

}  // namespace polyhalite
