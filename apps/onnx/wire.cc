#include "apps/onnx/wire.h"

#include <cstring>

#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {
constexpr int kMostNesting = 100;
}

void WireReader::fail(const std::string &why) const {
  const size_t where = base_ + static_cast<size_t>(at_ - start_);
  user_error("'" + *file_ + "' is no ONNX model: byte " + std::to_string(where), why,
             "give a whole model file");
}

const uint8_t *WireReader::take(size_t n) {
  if (static_cast<size_t>(end_ - at_) < n) {
    fail("a value of " + std::to_string(n) + " bytes is cut off after " +
         std::to_string(end_ - at_));
  }
  const uint8_t *p = at_;
  at_ += n;
  return p;
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = *take(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (!(byte & 128)) return value;
  }
  fail("a number has more than 64 bits");
}

bool WireReader::next() {
  if (at_ == end_) return false;
  const uint64_t tag = varint();
  field_ = static_cast<int>(tag >> 3);
  form_ = static_cast<int>(tag & 7);
  if (field_ == 0 || tag >> 32 != 0) fail("a field has the number " + std::to_string(tag >> 3));
  if (form_ != Varint && form_ != Fixed64 && form_ != Length && form_ != Fixed32) {
    fail("field " + std::to_string(field_) + " has the unknown form " + std::to_string(form_));
  }
  return true;
}

void WireReader::require(Form form) const {
  if (form_ == form) return;
  fail("field " + std::to_string(field_) + " has form " + std::to_string(form_) + ", not " +
       std::to_string(form));
}

int64_t WireReader::integer() {
  require(Varint);
  return static_cast<int64_t>(varint());
}

float WireReader::real32() {
  require(Fixed32);
  float value = 0;
  std::memcpy(&value, take(4), 4);
  return value;
}

double WireReader::real64() {
  require(Fixed64);
  double value = 0;
  std::memcpy(&value, take(8), 8);
  return value;
}

std::string_view WireReader::bytes() {
  require(Length);
  const uint64_t n = varint();
  if (n > static_cast<uint64_t>(end_ - at_)) {
    fail("a field of " + std::to_string(n) + " bytes is cut off after " +
         std::to_string(end_ - at_));
  }
  return {reinterpret_cast<const char *>(take(static_cast<size_t>(n))), static_cast<size_t>(n)};
}

WireReader WireReader::message() {
  const std::string_view inside = bytes();
  if (depth_ == kMostNesting) {
    fail("messages are nested more than " + std::to_string(kMostNesting) + " deep");
  }
  WireReader r(*file_, reinterpret_cast<const uint8_t *>(inside.data()), inside.size());
  r.base_ = base_ + static_cast<size_t>(r.start_ - start_);
  r.depth_ = depth_ + 1;
  return r;
}

void WireReader::integers(std::vector<int64_t> *to) {
  if (form_ == Varint) {
    to->push_back(integer());
    return;
  }
  WireReader r = message();
  while (r.at_ != r.end_) to->push_back(static_cast<int64_t>(r.varint()));
}

void WireReader::reals32(std::vector<float> *to) {
  if (form_ == Fixed32) {
    to->push_back(real32());
    return;
  }
  const std::string_view all = bytes();
  if (all.size() % 4 != 0) fail("packed floats have " + std::to_string(all.size()) + " bytes");
  const size_t old = to->size();
  to->resize(old + all.size() / 4);
  if (!all.empty()) std::memcpy(to->data() + old, all.data(), all.size());
}

void WireReader::reals64(std::vector<double> *to) {
  if (form_ == Fixed64) {
    to->push_back(real64());
    return;
  }
  const std::string_view all = bytes();
  if (all.size() % 8 != 0) fail("packed doubles have " + std::to_string(all.size()) + " bytes");
  const size_t old = to->size();
  to->resize(old + all.size() / 8);
  if (!all.empty()) std::memcpy(to->data() + old, all.data(), all.size());
}

void WireReader::skip() {
  switch (form_) {
    case Varint:
      varint();
      break;
    case Fixed64:
      take(8);
      break;
    case Fixed32:
      take(4);
      break;
    default:
      bytes();
  }
}

}  // namespace polyhalite::onnx
