// Reading protocol buffers' wire format in place: strings and arrays are views of the file, so that
// weights are never copied. (libprotobuf copies every bytes field.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace polyhalite::onnx {

/// Where a message lies in a file. Throws CompileError that names the file, the byte and the
/// message for anything that is no message.
class WireReader {
 public:
  WireReader(const std::string &file, const uint8_t *begin, size_t size)
      : file_(&file), start_(begin), at_(begin), end_(begin + size) {}

  /// Steps to the next field; false at the end.
  bool next();
  int field() const { return field_; }
  /// The value of the field, which must have this form.
  int64_t integer();
  float real32();
  double real64();
  std::string_view bytes();
  std::string text() { return std::string(bytes()); }
  /// A message inside; refuses nesting beyond 100.
  WireReader message();
  // Repeated numbers, packed or one at a time.
  void integers(std::vector<int64_t> *to);
  void reals32(std::vector<float> *to);
  void reals64(std::vector<double> *to);
  /// Passes over the field.
  void skip();
  [[noreturn]] void fail(const std::string &why) const;

 private:
  enum Form { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };
  uint64_t varint();
  void require(Form form) const;
  const uint8_t *take(size_t n);

  const std::string *file_;
  const uint8_t *start_, *at_, *end_;
  size_t base_ = 0;  // of start_ in the file
  int field_ = 0, form_ = 0, depth_ = 0;
};

}  // namespace polyhalite::onnx
