#include "codegen/llvm/filter.h"

#include <cctype>
#include <cstring>

#include "codegen/llvm/c_header.h"
#include "lang/ir/cxx_symbol.h"
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

std::string join(const std::vector<std::string> &namespaces, const std::string &name) {
  std::string text;
  for (const std::string &n : namespaces) text += n + "::";
  return text + name;
}

}  // namespace

namespace {

std::vector<Type> parameter_types(const std::vector<FilterArgument> &arguments) {
  std::vector<Type> types;
  for (const FilterArgument &a : arguments) {
    types.push_back(a.kind == FilterArgument::InputScalar ? a.type : buffer_pointer());
  }
  return types;
}

}  // namespace

std::string Filter::symbol() const {
  if (!is_mangled()) return name;
  return cxx_symbol(join(namespaces, name), parameter_types(arguments), target.bits);
}

std::optional<std::string> Filter::symbol_for_stages() const {
  const bool has_context = !arguments.empty() && arguments[0].name == kUserContextName;
  if (!is_mangled() || !has_context) return std::nullopt;
  std::vector<Type> types = parameter_types(arguments);
  types[0] = Handle();
  return cxx_symbol(join(namespaces, name), types, target.bits);
}

std::string Filter::argv_symbol() const {
  // The symbol of a function without parameters, which ends in v for void, but with void **.
  std::string symbol = name + "_argv";
  if (!is_mangled()) return symbol;
  symbol = cxx_symbol(join(namespaces, symbol), {}, target.bits);
  return symbol.substr(0, symbol.size() - 1) + "PPv";
}

std::string Filter::metadata_symbol() const {
  const std::string symbol = name + "_metadata";
  return is_mangled() ? cxx_symbol(join(namespaces, symbol), {}, target.bits) : symbol;
}

Filter make_filter(const std::string &qualified_name, const Target &target) {
  Filter f;
  f.target = target.without_feature(Target::JIT);
  f.namespaces = split_qualified(qualified_name);
  for (const std::string &part : f.namespaces) check_name(part);
  f.name = f.namespaces.back();
  f.namespaces.pop_back();
  return f;
}

Filter filter_of(const Function &function, const Target &target) {
  Filter f;
  f.name = function.name;
  f.target = target.without_feature(Target::JIT);
  if (target.has_feature(Target::UserContext)) {
    f.arguments.push_back({kUserContextName,
                           FilterArgument::InputScalar,
                           user_context_type(),
                           0,
                           {},
                           {},
                           {},
                           {},
                           {}});
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

Type user_context_type() { return type_of<const void *>(); }

std::string c_type(Type t, bool in_c) {
  if (t.is_bool()) return "bool";
  if (t.is_handle()) {
    const Pointee p = t.pointee() ? *t.pointee() : Pointee();
    const bool only_cxx = p.kind == Pointee::Class || is_cxx_name(p.name);
    const std::string kind = p.kind == Pointee::Struct  ? "struct "
                             : p.kind == Pointee::Class ? "class "
                             : p.kind == Pointee::Union ? "union "
                                                        : "";
    // Names of namespaces are found from inside of others.
    const std::string pointee = !only_cxx ? kind + p.name : in_c ? "void" : kind + "::" + p.name;
    return pointee + (p.is_const ? " const" : "") + (p.is_volatile ? " volatile" : "") + " *";
  }
  if (t.is_float()) return t.bits() == 64 ? "double" : t.bits() == 32 ? "float" : "uint16_t";
  return (t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t";
}

std::string c_identifier(const std::string &name) {
  std::string text;
  for (char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return is_c_keyword(text) ? text + "_" : text;
}

}  // namespace polyhalite
