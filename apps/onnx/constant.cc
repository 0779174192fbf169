#include "apps/onnx/constant.h"

#include <cstring>
#include <string_view>

#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

struct TypeRow {
  ElementType element;
  const char *name;
  Type type;
};

const std::vector<TypeRow> &type_rows() {
  static const std::vector<TypeRow> rows = {
      {ElementType::Float32, "float32", Float(32)},
      {ElementType::UInt8, "uint8", UInt(8)},
      {ElementType::Int8, "int8", Int(8)},
      {ElementType::UInt16, "uint16", UInt(16)},
      {ElementType::Int16, "int16", Int(16)},
      {ElementType::Int32, "int32", Int(32)},
      {ElementType::Int64, "int64", Int(64)},
      {ElementType::Bool, "bool", Bool()},
      {ElementType::Float16, "float16", Float(16)},
      {ElementType::Float64, "float64", Float(64)},
      {ElementType::UInt32, "uint32", UInt(32)},
      {ElementType::UInt64, "uint64", UInt(64)},
      {ElementType::BFloat16, "bfloat16", BFloat(16)},
      {ElementType::Float8E4M3FN, "float8e4m3fn", UInt(8)},
      {ElementType::Float8E4M3FNUZ, "float8e4m3fnuz", UInt(8)},
      {ElementType::Float8E5M2, "float8e5m2", UInt(8)},
      {ElementType::Float8E5M2FNUZ, "float8e5m2fnuz", UInt(8)},
      {ElementType::UInt4, "uint4", UInt(8)},
      {ElementType::Int4, "int4", Int(8)},
      {ElementType::Float4E2M1, "float4e2m1", UInt(8)},
      {ElementType::Float8E8M0, "float8e8m0", UInt(8)},
      {ElementType::UInt2, "uint2", UInt(8)},
      {ElementType::Int2, "int2", Int(8)},
      {ElementType::Float6E2M3, "float6e2m3", UInt(8)},
      {ElementType::Float6E3M2, "float6e3m2", UInt(8)}};
  return rows;
}

template <typename T>
double load(const uint8_t *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<double>(v);
}

}  // namespace

std::string element_name(ElementType t) {
  for (const TypeRow &r : type_rows()) {
    if (r.element == t) return r.name;
  }
  if (t == ElementType::String) return "string";
  if (t == ElementType::Undefined) return "undefined";
  return "type " + std::to_string(static_cast<int>(t));
}

std::optional<Type> language_type(ElementType t) {
  for (const TypeRow &r : type_rows()) {
    if (r.element == t) return r.type;
  }
  return std::nullopt;
}

bool is_narrow(ElementType t) {
  return t >= ElementType::Float8E4M3FN && t <= ElementType::Float6E3M2;
}

bool is_narrow_integer(ElementType t) {
  return t == ElementType::Int4 || t == ElementType::UInt4 || t == ElementType::Int2 ||
         t == ElementType::UInt2;
}

int element_bits(ElementType t) {
  switch (t) {
    case ElementType::UInt4:
    case ElementType::Int4:
    case ElementType::Float4E2M1:
      return 4;
    case ElementType::UInt2:
    case ElementType::Int2:
      return 2;
    case ElementType::Float6E2M3:
    case ElementType::Float6E3M2:
      return 6;
    default: {
      const auto type = language_type(t);
      return type ? 8 * type->bytes() : 0;
    }
  }
}

ElementType element_type(Type t) {
  for (const TypeRow &r : type_rows()) {
    if (r.type == t) return r.element;
  }
  return ElementType::Undefined;
}

std::vector<float> floats_of(const Constant &c) {
  std::vector<float> values(static_cast<size_t>(c.elements()));
  if (c.type() == ElementType::Float32 && !c.is_splat() && !values.empty()) {
    std::memcpy(values.data(), c.data(), c.bytes());
    return values;
  }
  for (size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<float>(c.number(static_cast<int64_t>(i)));
  return values;
}

void append_number(std::vector<uint8_t> *bytes, ElementType type, double value) {
  auto append = [&](auto v) {
    const auto *p = reinterpret_cast<const uint8_t *>(&v);
    bytes->insert(bytes->end(), p, p + sizeof v);
  };
  switch (type) {
    case ElementType::Float64:
      return append(value);
    case ElementType::Float16:
      return append(float16_t(static_cast<float>(value)));
    case ElementType::BFloat16:
      return append(bfloat16_t(static_cast<float>(value)));
    case ElementType::Float32:
      return append(static_cast<float>(value));
    case ElementType::Int64:
      return append(static_cast<int64_t>(value));
    case ElementType::UInt64:
      return append(static_cast<uint64_t>(value));
    case ElementType::Int32:
      return append(static_cast<int32_t>(value));
    case ElementType::UInt32:
      return append(static_cast<uint32_t>(value));
    case ElementType::Int16:
      return append(static_cast<int16_t>(value));
    case ElementType::UInt16:
      return append(static_cast<uint16_t>(value));
    case ElementType::Int8:
      return append(static_cast<int8_t>(value));
    default:
      return append(static_cast<uint8_t>(value));
  }
}

Constant Constant::of_bytes(ElementType type, std::vector<int64_t> shape,
                            std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  const uint8_t *data = owner->data();
  return Constant(type, std::move(shape), owner, data);
}

Constant Constant::splat(ElementType type, std::vector<int64_t> shape, const void *element) {
  const auto *p = static_cast<const uint8_t *>(element);
  Constant c = of_bytes(type, std::move(shape), {p, p + language_type(type)->bytes()});
  c.splat_ = true;
  return c;
}

Constant Constant::integers(const std::vector<int64_t> &values) {
  std::vector<uint8_t> bytes(values.size() * 8);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return of_bytes(ElementType::Int64, {static_cast<int64_t>(values.size())}, std::move(bytes));
}
Constant Constant::reals(std::vector<int64_t> shape, const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return of_bytes(ElementType::Float32, std::move(shape), std::move(bytes));
}
Constant Constant::integer(int64_t value) { return integers({value}).reshaped({}); }
Constant Constant::real(float value) { return splat(ElementType::Float32, {}, &value); }

int64_t Constant::elements() const {
  int64_t n = 1;
  for (int64_t d : shape_) n *= d;
  return n;
}

int Constant::element_bytes() const {
  const auto t = language_type(type_);
  return t ? t->bytes() : 0;
}

bool Constant::is_aligned() const {
  return reinterpret_cast<uintptr_t>(data_) % static_cast<uintptr_t>(element_bytes()) == 0;
}

double Constant::number(int64_t i) const {
  const uint8_t *p = at(i);
  switch (type_) {
    case ElementType::Float32:
      return load<float>(p);
    case ElementType::Float64:
      return load<double>(p);
    case ElementType::Float16: {
      float16_t v;
      std::memcpy(&v, p, 2);
      return static_cast<double>(static_cast<float>(v));
    }
    case ElementType::BFloat16: {
      bfloat16_t v;
      std::memcpy(&v, p, 2);
      return static_cast<double>(static_cast<float>(v));
    }
    default:
      return static_cast<double>(integer_at(i));
  }
}

int64_t Constant::integer_at(int64_t i) const {
  const uint8_t *p = at(i);
  auto as = [&](auto v) {
    std::memcpy(&v, p, sizeof v);
    return static_cast<int64_t>(v);
  };
  if (is_narrow(type_)) {
    return language_type(type_)->is_int() ? as(int8_t{}) : as(uint8_t{});
  }
  switch (type_) {
    case ElementType::Int8:
      return as(int8_t{});
    case ElementType::UInt8:
    case ElementType::Bool:
      return as(uint8_t{});
    case ElementType::Int16:
      return as(int16_t{});
    case ElementType::UInt16:
      return as(uint16_t{});
    case ElementType::Int32:
      return as(int32_t{});
    case ElementType::UInt32:
      return as(uint32_t{});
    case ElementType::Int64:
      return as(int64_t{});
    case ElementType::UInt64:
      return as(uint64_t{});
    default:
      return static_cast<int64_t>(number(i));
  }
}

namespace {

template <size_t size>
void copy_elements(uint8_t *to, const uint8_t *from, int64_t count, int64_t step) {
  for (int64_t i = 0; i < count; i++) std::memcpy(to + i * size, from + i * step * size, size);
}

// Elements that stand `step` elements apart, side by side.
void copy_row(uint8_t *to, const uint8_t *from, int64_t count, int64_t step, size_t size) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * size);
  } else if (size == 1) {
    copy_elements<1>(to, from, count, step);
  } else if (size == 2) {
    copy_elements<2>(to, from, count, step);
  } else if (size == 4) {
    copy_elements<4>(to, from, count, step);
  } else {
    internal_check(size == 8, "elements have up to 8 bytes");
    copy_elements<8>(to, from, count, step);
  }
}

}  // namespace

std::vector<uint8_t> Constant::packed(const std::vector<int> &order) const {
  const size_t size = static_cast<size_t>(element_bytes());
  std::vector<uint8_t> out(bytes());
  if (out.empty()) return out;
  bool plain = true;
  for (size_t k = 0; k < order.size(); k++) plain = plain && order[k] == static_cast<int>(k);
  if (plain && !splat_) {
    std::memcpy(out.data(), data_, out.size());
    return out;
  }
  const size_t rank = shape_.size();
  std::vector<int64_t> strides(rank, 1), extents, steps;
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * shape_[d];
  for (size_t k = 0; k < rank; k++) {
    const size_t d = order.empty() ? k : static_cast<size_t>(order[k]);
    const int64_t step = splat_ ? 0 : strides[d];
    // What lies in one piece is one dimension.
    if (!steps.empty() && steps.back() == step * shape_[d]) {
      extents.back() *= shape_[d];
      steps.back() = step;
    } else {
      extents.push_back(shape_[d]);
      steps.push_back(step);
    }
  }
  if (extents.empty()) {
    extents.push_back(1);
    steps.push_back(1);
  }
  const int64_t length = extents.back(), step = steps.back();
  std::vector<int64_t> at(extents.size() - 1);
  int64_t from = 0;
  for (size_t to = 0; to < out.size(); to += static_cast<size_t>(length) * size) {
    copy_row(out.data() + to, data_ + static_cast<size_t>(from) * size, length, step, size);
    for (size_t k = at.size(); k-- > 0;) {
      from += steps[k];
      if (++at[k] < extents[k]) break;
      from -= steps[k] * extents[k];
      at[k] = 0;
    }
  }
  return out;
}

Constant Constant::reshaped(std::vector<int64_t> shape) const {
  Constant c = *this;
  c.shape_ = std::move(shape);
  return c;
}

Constant Constant::part(size_t axis, int64_t begin, int64_t count) const {
  Constant c = *this;
  c.shape_[axis] = count;
  if (splat_) return c;
  int64_t pieces = 1, step = element_bytes();
  for (size_t d = 0; d < axis; d++) pieces *= shape_[d];
  for (size_t d = axis + 1; d < shape_.size(); d++) step *= shape_[d];
  const uint8_t *first = data_ + begin * step;
  if (pieces == 1) {
    c.data_ = first;
    return c;
  }
  std::vector<uint8_t> bytes;
  bytes.reserve(c.bytes());
  for (int64_t i = 0; i < pieces; i++, first += shape_[axis] * step)
    bytes.insert(bytes.end(), first, first + count * step);
  return of_bytes(type_, c.shape_, std::move(bytes));
}

bool Constant::same(const Constant &o) const {
  if (type_ != o.type_ || shape_ != o.shape_ || splat_ != o.splat_) return false;
  const size_t n = splat_ ? static_cast<size_t>(element_bytes()) : bytes();
  return n == 0 || data_ == o.data_ || std::memcmp(data_, o.data_, n) == 0;
}

uint64_t Constant::hash() const {
  uint64_t h = static_cast<uint64_t>(type_) * 1315423911u + (splat_ ? 7 : 0);
  for (int64_t d : shape_) h = h * 1099511628211u + static_cast<uint64_t>(d);
  const size_t n = std::min<size_t>(splat_ ? static_cast<size_t>(element_bytes()) : bytes(), 4096);
  return h ^ std::hash<std::string_view>()({reinterpret_cast<const char *>(data_), n});
}

}  // namespace polyhalite::onnx
