#include "test/fuzz/guarded_buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lang/ir/widen_float16.h"

namespace polyhalite::test {

namespace {

constexpr int kGuardBytes = 64;  // on each side

}  // namespace

GuardedBuffer::GuardedBuffer(Type t, const Extents &e) : dims_(e.min.size()) {
  int64_t stride = 1;
  for (size_t d = 0; d < dims_.size(); d++) {
    dims_[d] = {static_cast<int32_t>(e.min[d]), static_cast<int32_t>(e.extent[d]),
                static_cast<int32_t>(stride), 0};
    stride *= e.extent[d];
  }
  payload_ = stride * t.bytes();
  bytes_.assign(payload_ + 2 * kGuardBytes, 0xa5);
  raw_.type = t;
  raw_.dimensions = static_cast<int32_t>(dims_.size());
  raw_.dim = dims_.data();
  raw_.host = bytes_.data() + kGuardBytes;
}

void GuardedBuffer::fill(Type t, Dice &dice) {
  const int64_t n = payload_ / t.bytes();
  for (int64_t i = 0; i < n; i++) {
    const int v = dice.between(t.is_uint() || t.is_float() ? 0 : -60, t.is_bool() ? 1 : 60);
    uint8_t *p = raw_.host + i * t.bytes();
    if (t == Float(32)) {
      const float f = static_cast<float>(v) / 4;
      std::memcpy(p, &f, 4);
    } else if (is_float16(t)) {
      const auto f = static_cast<float>(v) / 4;
      const uint16_t bits = t.is_bfloat() ? detail::bfloat16_bits(f) : detail::float16_bits(f);
      std::memcpy(p, &bits, 2);
    } else if (t == Float(64)) {
      const double f = v / 8.0;
      std::memcpy(p, &f, 8);
    } else {
      const int64_t wide = v;
      std::memcpy(p, &wide, t.bytes());
    }
  }
}

void GuardedBuffer::copy_from(const GuardedBuffer &o) {
  const int64_t bytes = o.payload_ / std::max<int64_t>(o.elements(), 1);
  for (int64_t i = 0; i < o.elements(); i++) {
    int64_t rest = i, offset = 0;
    for (size_t d = 0; d < dims_.size(); d++) {
      const int64_t at = o.dims_[d].min + rest % o.dims_[d].extent;
      rest /= o.dims_[d].extent;
      offset += (at - dims_[d].min) * dims_[d].stride;
    }
    std::memcpy(raw_.host + offset * bytes, o.raw_.host + i * bytes, bytes);
  }
}

bool GuardedBuffer::guards_intact() const {
  for (int i = 0; i < kGuardBytes; i++) {
    if (bytes_[i] != 0xa5 || bytes_[bytes_.size() - 1 - i] != 0xa5) return false;
  }
  return true;
}

int64_t GuardedBuffer::difference(const GuardedBuffer &o) const {
  for (int64_t i = 0; i < payload_; i++) {
    if (raw_.host[i] != o.raw_.host[i]) return i;
  }
  return -1;
}

int64_t GuardedBuffer::large_difference(const GuardedBuffer &o, Type t) const {
  if (!t.is_float()) return difference(o);
  const double tolerance = t == Float(64)   ? 1e-12
                           : t == Float(32) ? 1e-5
                           : t.is_bfloat()  ? 1.0 / 128
                                            : 1.0 / 1024;
  auto number = [&](const uint8_t *at) -> double {
    if (is_float16(t)) {
      uint16_t bits;
      std::memcpy(&bits, at, 2);
      return t.is_bfloat() ? detail::bfloat16_value(bits) : detail::float16_value(bits);
    }
    float narrow;
    double wide;
    std::memcpy(&narrow, at, 4);
    if (t == Float(32)) return narrow;
    std::memcpy(&wide, at, 8);
    return wide;
  };
  for (int64_t i = 0; i < payload_; i += t.bytes()) {
    const double a = number(raw_.host + i), b = number(o.raw_.host + i);
    const bool equal = a == b || (std::isnan(a) && std::isnan(b));
    if (!equal && !(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)))) return i;
  }
  return -1;
}

std::string GuardedBuffer::hexadecimal(int64_t at, int bytes) const {
  constexpr const char *kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int i = bytes; i-- > 0;) {
    text += kDigits[raw_.host[at + i] >> 4];
    text += kDigits[raw_.host[at + i] & 15];
  }
  return text;
}

int64_t GuardedBuffer::elements() const {
  int64_t n = 1;
  for (const auto &d : dims_) n *= d.extent;
  return n;
}

}  // namespace polyhalite::test
