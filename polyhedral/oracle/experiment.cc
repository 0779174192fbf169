#include "polyhedral/oracle/experiment.h"

#include <cstring>

#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite::oracle {

namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdull;
  h ^= h >> 32;
  return h * 0xc4ceb9fe1a85ec53ull + 0x9e3779b97f4a7c15ull;
}

uint64_t hash_name(const std::string &s) {
  uint64_t h = s.size();
  for (char c : s) h = mix(h, static_cast<unsigned char>(c));
  return h;
}

Value load(const BufferContents &b, const Coordinates &at) {
  int64_t index = 0;
  for (size_t d = 0; d < at.size(); d++) {
    const polyhalite_dimension_t &dim = b.raw().dim[d];
    if (at[d] < dim.min || at[d] >= dim.min + dim.extent) return {};
    index += (at[d] - dim.min) * dim.stride;
  }
  const Type t = b.type();
  const uint8_t *p = b.raw().host + index * t.bytes();
  Value v;
  if (t.is_float() && t.bits() == 32) {
    float f;
    std::memcpy(&f, p, sizeof f);
    v.f = f;
  } else if (t.is_float()) {
    std::memcpy(&v.f, p, sizeof v.f);
  } else {
    std::memcpy(&v.i, p, t.bytes());  // little-endian
  }
  return normalize(t, v);
}

}  // namespace

std::optional<Value> Data::constant(const VariableNode &v) const {
  if (v.kind == VariableKind::Param) {
    auto it = experiment_.params.find(v.name);
    const double x = it == experiment_.params.end() ? 3 : it->second;
    return normalize(v.type, {static_cast<int64_t>(x), x});
  }
  if (v.kind != VariableKind::BufferField) return std::nullopt;
  // NAME.FIELD.DIMENSION
  const size_t last = v.name.rfind('.'), middle = v.name.rfind('.', last - 1);
  const std::string name = v.name.substr(0, middle);
  const std::string field = v.name.substr(middle + 1, last - middle - 1);
  const size_t dimension = std::stoul(v.name.substr(last + 1));
  if (v.image) {
    const polyhalite_dimension_t &d = v.image->raw().dim[dimension];
    return Value{field == "min" ? d.min : field == "extent" ? d.extent : d.stride, 0};
  }
  auto it = experiment_.buffers.find(name);
  internal_check(it != experiment_.buffers.end() && dimension < it->second.size(),
                 "the experiment gives every buffer whose fields are used");
  const Extent &e = it->second[dimension];
  if (field == "min") return Value{e.min, 0};
  if (field == "extent") return Value{e.extent, 0};
  int64_t stride = 1;
  for (size_t d = 0; d < dimension; d++) stride *= it->second[d].extent;
  return Value{stride, 0};
}

Value Data::image(const CallNode &call, const Coordinates &at) const {
  if (call.image) return load(*call.image, at);
  uint64_t h = mix(experiment_.seed + 1, hash_name(call.name));
  for (int64_t c : at) h = mix(h, static_cast<uint64_t>(c));
  const Type t = call.type;
  if (t.is_float()) return normalize(t, {0, static_cast<double>(h % 64) / 4 - 8});
  if (t.bits() <= 8) {
    // Small values make clamped subscripts differ, large ones make them meet.
    const bool small = experiment_.seed % 2;
    return normalize(t, {static_cast<int64_t>(small ? (h >> 8) % 8 : h >> 8), 0});
  }
  return normalize(t, {static_cast<int64_t>((h >> 8) % 40) - (t.is_int() ? 20 : 0), 0});
}

}  // namespace polyhalite::oracle
