#include "lang/ir/cxx_symbol.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace polyhalite {

namespace {

// The letter of a type without parts; nothing for others.
std::string letter_of(const std::string &name, int bits) {
  static constexpr const char *kLetters[][2] = {
      {"void", "v"},     {"bool", "b"},    {"char", "c"},     {"int8_t", "a"},
      {"uint8_t", "h"},  {"int16_t", "s"}, {"uint16_t", "t"}, {"int32_t", "i"},
      {"uint32_t", "j"}, {"float", "f"},   {"double", "d"}};
  for (const auto &[word, letter] : kLetters) {
    if (name == word) return letter;
  }
  // long where it has 64 bits, else long long.
  if (name == "int64_t") return bits == 64 ? "l" : "x";
  if (name == "uint64_t") return bits == 64 ? "m" : "y";
  return "";
}

std::string name_of_scalar(Type t) {
  if (t.is_bool()) return "bool";
  if (t.is_float() && t.bits() >= 32) return t.bits() == 64 ? "double" : "float";
  return (t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t";
}

std::string source_name(const std::string &word) { return std::to_string(word.size()) + word; }

class Mangler {
 public:
  explicit Mangler(int bits) : bits_(bits) {}

  std::string function(const std::vector<std::string> &parts, const std::vector<Type> &types) {
    std::string text = "_Z" + qualified(parts, false);
    for (const Type &t : types) text += type(t);
    return text + (types.empty() ? "v" : "");
  }

 private:
  // `whole`: the last part, too, may be referred to later, as types may.
  std::string qualified(const std::vector<std::string> &parts, bool whole) {
    if (parts.size() == 1) {
      return whole ? once(parts[0], [&] { return source_name(parts[0]); }) : source_name(parts[0]);
    }
    if (parts.size() == 2 && parts[0] == "std") {
      const std::string text = "St" + source_name(parts[1]);
      return whole ? once("std::" + parts[1], [&] { return text; }) : text;
    }
    if (whole && is_known(joined(parts, parts.size()))) return prefix(parts, parts.size());
    const std::string text = prefix(parts, parts.size() - 1) + source_name(parts.back());
    if (whole) seen_.push_back(joined(parts, parts.size()));
    return "N" + text + "E";
  }

  std::string prefix(const std::vector<std::string> &parts, size_t count) {
    if (count == 1 && parts[0] == "std") return "St";
    return once(joined(parts, count), [&] {
      return (count > 1 ? prefix(parts, count - 1) : "") + source_name(parts[count - 1]);
    });
  }

  static std::string joined(const std::vector<std::string> &parts, size_t count) {
    std::string text = parts[0];
    for (size_t i = 1; i < count; i++) text += "::" + parts[i];
    return text;
  }

  std::string type(const Type &t) {
    if (!t.is_handle()) return letter_of(name_of_scalar(t), bits_);
    const Pointee pointee = t.pointee() ? *t.pointee() : Pointee();
    return once("pointer to " + pointee.to_string(), [&] {
      const std::string qualifiers =
          std::string(pointee.is_volatile ? "V" : "") + (pointee.is_const ? "K" : "");
      const std::string letter = letter_of(pointee.name, bits_);
      auto plain = [&] {
        return letter.empty() ? qualified(split_qualified(pointee.name), true) : letter;
      };
      if (qualifiers.empty()) return "P" + plain();
      return "P" + once(qualifiers + " " + pointee.name, [&] { return qualifiers + plain(); });
    });
  }

  // What has parts is written in full once, and then referred to.
  template <typename Write>
  std::string once(const std::string &entity, Write write) {
    for (size_t i = 0; i < seen_.size(); i++) {
      if (seen_[i] == entity) return reference(i);
    }
    std::string text = write();
    seen_.push_back(entity);
    return text;
  }

  bool is_known(const std::string &entity) const {
    return std::find(seen_.begin(), seen_.end(), entity) != seen_.end();
  }

  static std::string reference(size_t i) {
    if (i == 0) return "S_";
    std::string digits;
    for (size_t n = i - 1;; n /= 36) {
      const auto d = static_cast<char>(n % 36);
      digits.insert(digits.begin(), static_cast<char>(d < 10 ? '0' + d : 'A' + d - 10));
      if (n < 36) break;
    }
    return "S" + digits + "_";
  }

  const int bits_;
  std::vector<std::string> seen_;  // in the order in which references number them
};

}  // namespace

std::vector<std::string> split_qualified(const std::string &name) {
  std::vector<std::string> parts;
  size_t start = name.compare(0, 2, "::") == 0 ? 2 : 0;
  while (true) {
    const size_t colons = name.find("::", start);
    parts.push_back(name.substr(start, colons - start));
    if (colons == std::string::npos) return parts;
    start = colons + 2;
  }
}

bool is_cxx_name(const std::string &name) { return name.find("::") != std::string::npos; }

std::string cxx_symbol(const std::string &name, const std::vector<Type> &parameters, int bits) {
  return Mangler(bits).function(split_qualified(name), parameters);
}

std::string extern_symbol(const std::string &name, const std::vector<Type> &parameters, int bits) {
  return is_cxx_name(name) ? cxx_symbol(name, parameters, bits) : name;
}

std::string readable_symbol(const std::string &symbol) {
  if (symbol.compare(0, 2, "_Z") != 0) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0) return symbol;
  const std::string readable = text.get();
  return readable.substr(0, readable.find('('));
}

Type buffer_pointer() { return type_of<polyhalite_buffer_t *>(); }

}  // namespace polyhalite
