// What a Buffer of the language points to.
#pragma once

#include <string>
#include <vector>

#include "polyhalite/runtime_buffer.h"
#include "polyhalite/type.h"

namespace polyhalite {

struct BufferContents {
  std::string name;
  runtime::Buffer<> buf;

  Type type() const { return Type(buf.type()); }
  polyhalite_buffer_t &raw() { return *buf.raw_buffer(); }
  const polyhalite_buffer_t &raw() const { return *buf.raw_buffer(); }
  int dimensions() const { return buf.dimensions(); }
  std::vector<polyhalite_dimension_t> dims() const {
    return {raw().dim, raw().dim + raw().dimensions};
  }
};

}  // namespace polyhalite
