#include "codegen/llvm/filter.h"

#include <cctype>
#include <cstring>

#include "codegen/llvm/c_header.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Names that a header could not declare, or under which compiled code would call itself.
bool is_taken(const std::string &name) {
  bool taken = is_c_keyword(name) || name == "main" || name.starts_with("polyhalite_");
  for (const char *word : {"memcpy", "memset", "memmove", "malloc", "free", "printf", "abort"}) {
    taken = taken || name == word;
  }
  for (const std::string word : math::kNames) {
    taken = taken || name == word || name == word + "f";
  }
  return taken;
}

void check_name(const std::string &name) {
  bool good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  if (good && is_taken(name)) {
    user_error("'" + name + "' cannot name a compiled function",
               "C, C++, the C library or the runtime of Polyhalite has that name already",
               "give the function another name");
  }
  if (good) return;
  user_error("'" + name + "' cannot name a compiled function",
             "a C symbol has letters, digits and underscores, and does not begin with a digit",
             "give the function another name");
}

// Names as the Itanium C++ ABI has them
// (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling).
class Mangler {
 public:
  std::string function(const std::vector<std::string> &namespaces, const std::string &name,
                       const std::vector<FilterArgument> &args) {
    std::string text = "_Z" + qualified(namespaces, name);
    for (const FilterArgument &a : args) text += type_of(a);
    return text + (args.empty() ? "v" : "");
  }

  std::string function_of(const std::vector<std::string> &namespaces, const std::string &name,
                          const std::string &args) {
    return "_Z" + qualified(namespaces, name) + args;
  }

 private:
  static std::string word(const std::string &name) { return std::to_string(name.size()) + name; }

  std::string qualified(const std::vector<std::string> &namespaces, const std::string &name) {
    if (namespaces.empty()) return word(name);
    std::string text = "N", prefix;
    for (const std::string &n : namespaces) {
      prefix += word(n);
      text += word(n);
      seen_.push_back("N" + prefix);
    }
    return text + word(name) + "E";
  }

  // The text of a compound type, or the reference to its first mention.
  std::string compound(const std::string &key, const std::string &text) {
    for (size_t i = 0; i < seen_.size(); i++) {
      if (seen_[i] == key) return reference(i);
    }
    seen_.push_back(key);
    return text;
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

  bool known(const std::string &key) const {
    for (const std::string &s : seen_) {
      if (s == key) return true;
    }
    return false;
  }

  std::string type_of(const FilterArgument &a) {
    if (a.kind != FilterArgument::InputScalar) {
      const std::string name = "19polyhalite_buffer_t";
      if (known("P" + name)) return compound("P" + name, "");
      const std::string pointee = compound(name, name);
      return compound("P" + name, "P" + pointee);
    }
    if (a.type.is_handle()) {
      if (a.name != kUserContextName) return compound("Pv", "Pv");
      if (known("PKv")) return compound("PKv", "");
      return compound("PKv", "P" + compound("Kv", "Kv"));
    }
    const bool is_signed = a.type.is_int();
    if (a.type.is_bool()) return "b";
    switch (a.type.bits()) {
      case 8:
        return is_signed ? "a" : "h";
      case 16:
        return is_signed ? "s" : "t";
      case 32:
        return a.type.is_float() ? "f" : is_signed ? "i" : "j";
      default:
        return a.type.is_float() ? "d" : is_signed ? "l" : "m";
    }
  }

  std::vector<std::string> seen_;  // substitution candidates, by their full text
};

}  // namespace

std::string Filter::symbol() const {
  return is_mangled() ? Mangler().function(namespaces, name, arguments) : name;
}
std::string Filter::argv_symbol() const {
  return is_mangled() ? Mangler().function_of(namespaces, name + "_argv", "PPv") : name + "_argv";
}
std::string Filter::metadata_symbol() const {
  return is_mangled() ? Mangler().function_of(namespaces, name + "_metadata", "v")
                      : name + "_metadata";
}

Filter make_filter(const std::string &qualified_name, const Target &target) {
  Filter f;
  f.target = target.without_feature(Target::JIT);
  size_t start = 0;
  while (true) {
    const size_t colons = qualified_name.find("::", start);
    const std::string part = qualified_name.substr(start, colons - start);
    if (colons == std::string::npos) {
      check_name(part);
      f.name = part;
      return f;
    }
    check_name(part);
    f.namespaces.push_back(part);
    start = colons + 2;
  }
}

Filter filter_of(const Function &function, const Target &target) {
  Filter f;
  f.name = function.name;
  f.target = target.without_feature(Target::JIT);
  if (target.has_feature(Target::UserContext)) {
    f.arguments.push_back(
        {kUserContextName, FilterArgument::InputScalar, Handle(), 0, {}, {}, {}, {}, {}});
  }
  for (const FunctionArgument &a : function.args) {
    const auto kind = !a.is_buffer  ? FilterArgument::InputScalar
                      : a.is_output ? FilterArgument::OutputBuffer
                                    : FilterArgument::InputBuffer;
    f.arguments.push_back({a.name, kind, a.type, a.dimensions, {}, {}, {}, {}, {}});
  }
  return f;
}

std::optional<uint64_t> constant_bits(const Expr &e, Type t) {
  const ImmNode *imm = e.defined() ? as_imm(e) : nullptr;
  if (!imm) return std::nullopt;
  uint64_t bits = 0;
  if (t.is_int()) {
    bits = static_cast<uint64_t>(imm->i);
  } else if (t.is_uint()) {
    bits = imm->u;
  } else if (t == Float(64)) {
    std::memcpy(&bits, &imm->f, sizeof(imm->f));
  } else if (t == Float(32)) {
    const auto narrow = static_cast<float>(imm->f);
    std::memcpy(&bits, &narrow, sizeof(narrow));
  } else {
    return std::nullopt;
  }
  return t.bits() < 64 ? bits & ((uint64_t{1} << t.bits()) - 1) : bits;
}

std::string c_type(Type t) {
  if (t.is_bool()) return "bool";
  if (t.is_handle()) return "void *";
  if (t.is_float()) return t.bits() == 64 ? "double" : t.bits() == 32 ? "float" : "uint16_t";
  return (t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t";
}

std::string c_identifier(const std::string &name) {
  std::string text;
  for (char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return is_c_keyword(text) ? text + "_" : text;
}

}  // namespace polyhalite
