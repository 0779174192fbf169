// The storage behind Buffer<T>: a polyhalite_buffer_t, its dimensions, and who keeps the bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/type.h"

namespace polyhalite {

struct BufferContents {
  std::string name;
  polyhalite_buffer_t raw{};                   // raw.dim points into `dims`
  std::vector<polyhalite_dimension_t> dims;
  std::shared_ptr<void> owner;                 // keeps the bytes alive; null where the user does

  Type type() const {
    return Type(static_cast<Type::Code>(raw.type.code), raw.type.bits, 1);
  }
};

}  // namespace polyhalite
