// References that keep nothing alive, where the referred owns the referrer.
#pragma once

#include <memory>

namespace polyhalite {

struct ParameterContents;

template <typename T>
std::shared_ptr<T> unowned(const std::shared_ptr<T> &p) {
  return std::shared_ptr<T>(std::shared_ptr<T>(), p.get());
}

/// Limits and constraints that speak of the parameter they belong to (a stride that follows from an
/// extent) no longer own it; else it would live for ever.
void disown_itself(ParameterContents &p);

}  // namespace polyhalite
