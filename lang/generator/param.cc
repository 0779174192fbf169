#include "polyhalite/generator_param.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "polyhalite/error.h"

namespace polyhalite::detail {

namespace {

[[noreturn]] void bad_value(const std::string &name, const std::string &text,
                            const std::string &wanted) {
  user_error("cannot set parameter '" + name + "' to '" + text + "'", "it takes " + wanted,
             "give " + wanted + ", as in " + name + "=VALUE");
}

}  // namespace

int64_t parse_integer(const std::string &name, const std::string &text, int64_t min, int64_t max) {
  errno = 0;
  char *end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end || errno || value < min || value > max) {
    bad_value(name, text, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return value;
}

uint64_t parse_unsigned(const std::string &name, const std::string &text, uint64_t max) {
  errno = 0;
  char *end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || text[0] == '-' || *end || errno || value > max) {
    bad_value(name, text, "an integer from 0 to " + std::to_string(max));
  }
  return value;
}

double parse_float(const std::string &name, const std::string &text) {
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) bad_value(name, text, "a number");
  return value;
}

bool parse_bool(const std::string &name, const std::string &text) {
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  bad_value(name, text, "true or false");
}

Type parse_type(const std::string &name, const std::string &text) {
  for (int bits : {8, 16, 32, 64}) {
    for (Type t : {Int(bits), UInt(bits)}) {
      if (t.to_string() == text) return t;
    }
  }
  for (Type t : {Float(16), Float(32), Float(64), Type(Type::BFloat, 16), Bool()}) {
    if (t.to_string() == text) return t;
  }
  bad_value(name, text,
            "a type: bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, "
            "float32, float64 or bfloat16");
}

namespace {

// The shortest text that reads back as the same value.
template <typename T>
std::string shortest(T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

}  // namespace

std::string float_text(float value) { return shortest(value); }
std::string float_text(double value) { return shortest(value); }

std::string number_text(bool value) { return value ? "true" : "false"; }

std::vector<std::string> split_at_commas(const std::string &text) {
  std::vector<std::string> words;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    words.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return words;
}

LoopLevel parse_loop_level(const std::string &name, const std::string &text) {
  if (text == "root") return LoopLevel::root();
  if (text == "inlined") return LoopLevel::inlined();
  bad_value(name, text, "root or inlined");
}

std::string quoted_text(const std::string &text) {
  std::string s = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c == '\n' ? "\\n" : std::string(1, c);
  }
  return s + "\"";
}

void unknown_choice(const std::string &name, const std::string &text, const std::string &choices) {
  bad_value(name, text, "one of: " + choices);
}

void out_of_range(const std::string &name, const std::string &value, const std::string &min,
                  const std::string &max) {
  bad_value(name, value, "a value from " + min + " to " + max);
}

}  // namespace polyhalite::detail
