#include "codegen/llvm/c_header.h"

#include <cctype>
#include <set>

#include "lang/ir/cxx_symbol.h"

namespace polyhalite {

namespace {

std::string declaration(const FilterArgument &a, bool in_c) {
  if (a.name == kUserContextName) return "void const *__user_context";
  if (a.kind != FilterArgument::InputScalar) {
    return "struct polyhalite_buffer_t *" + c_identifier(a.name) + "_buffer";
  }
  const std::string type = c_type(a.type, in_c);
  return type + (type.back() == '*' ? "" : " ") + c_identifier(a.name);
}

std::string declarations(const Filter &f, bool in_c) {
  std::string list;
  for (const FilterArgument &a : f.arguments) {
    list += (list.empty() ? "" : ", ") + declaration(a, in_c);
  }
  return list.empty() ? "void" : list;
}

// What pointers point to is declared in front: "struct S;", "namespace a {\nclass C;\n}\n".
std::string pointee_declarations(const Filter &f) {
  std::set<std::string> in_both, in_cxx;
  for (const FilterArgument &a : f.arguments) {
    const Pointee *p = a.kind == FilterArgument::InputScalar ? a.type.pointee() : nullptr;
    if (!p || p->kind == Pointee::Simple) continue;
    const std::vector<std::string> parts = split_qualified(p->name);
    std::string open, close;
    for (size_t i = 0; i + 1 < parts.size(); i++) {
      open += "namespace " + parts[i] + " {\n";
      close += "}\n";
    }
    const char *kind = p->kind == Pointee::Struct  ? "struct "
                       : p->kind == Pointee::Union ? "union "
                                                   : "class ";
    const std::string text = open + kind + parts.back() + ";\n" + close;
    (p->kind == Pointee::Class || parts.size() > 1 ? in_cxx : in_both).insert(text);
  }
  std::string text;
  for (const std::string &s : in_both) text += s;
  if (!in_cxx.empty()) {
    text += "#ifdef __cplusplus\n";
    for (const std::string &s : in_cxx) text += s;
    text += "#endif\n";
  }
  return text;
}

std::string description(const FilterArgument &a) {
  if (a.name == kUserContextName) {
    return " *   __user_context: handed to every function of the runtime\n";
  }
  const bool output = a.kind == FilterArgument::OutputBuffer;
  std::string text = " *   " + a.name + ": " + (output ? "output, " : "input, ");
  if (a.kind == FilterArgument::InputScalar) return text + c_type(a.type) + "\n";
  text += "buffer of " + a.type.to_string();
  return text + ", " + std::to_string(a.dimensions) +
         (a.dimensions == 1 ? " dimension\n" : " dimensions\n");
}

std::string upper(const std::string &name) {
  std::string text;
  for (char c : c_identifier(name)) {
    text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace

bool is_c_keyword(const std::string &word) {
  static const std::set<std::string> kWords = {"alignas",
                                               "alignof",
                                               "and",
                                               "and_eq",
                                               "asm",
                                               "auto",
                                               "bitand",
                                               "bitor",
                                               "bool",
                                               "break",
                                               "case",
                                               "catch",
                                               "char",
                                               "class",
                                               "compl",
                                               "const",
                                               "constexpr",
                                               "continue",
                                               "decltype",
                                               "default",
                                               "delete",
                                               "do",
                                               "double",
                                               "else",
                                               "enum",
                                               "explicit",
                                               "export",
                                               "extern",
                                               "false",
                                               "float",
                                               "for",
                                               "friend",
                                               "goto",
                                               "if",
                                               "inline",
                                               "int",
                                               "long",
                                               "mutable",
                                               "namespace",
                                               "new",
                                               "noexcept",
                                               "not",
                                               "not_eq",
                                               "nullptr",
                                               "operator",
                                               "or",
                                               "or_eq",
                                               "private",
                                               "protected",
                                               "public",
                                               "register",
                                               "restrict",
                                               "return",
                                               "short",
                                               "signed",
                                               "sizeof",
                                               "static",
                                               "struct",
                                               "switch",
                                               "template",
                                               "this",
                                               "throw",
                                               "true",
                                               "try",
                                               "typedef",
                                               "typeid",
                                               "typename",
                                               "union",
                                               "unsigned",
                                               "using",
                                               "virtual",
                                               "void",
                                               "volatile",
                                               "while",
                                               "xor",
                                               "xor_eq",
                                               "requires",
                                               "concept",
                                               "co_await",
                                               "co_return",
                                               "co_yield",
                                               "char8_t",
                                               "char16_t",
                                               "char32_t",
                                               "wchar_t",
                                               "consteval",
                                               "constinit",
                                               "dynamic_cast",
                                               "static_cast",
                                               "const_cast",
                                               "reinterpret_cast",
                                               "static_assert",
                                               "thread_local"};
  return kWords.count(word) > 0;
}

std::string include_guard(const Filter &f, const std::string &what) {
  std::string guard = "POLYHALITE_GENERATED_";
  for (const std::string &n : f.namespaces) guard += upper(n) + "_";
  return guard + upper(f.name) + "_" + what;
}

std::string open_namespaces(const Filter &f) {
  std::string text;
  for (const std::string &n : f.namespaces) text += "namespace " + n + " {\n";
  return text.empty() ? "" : text + "\n";
}

std::string close_namespaces(const Filter &f) {
  std::string text;
  for (const std::string &n : f.namespaces) text = "}  // namespace " + n + "\n" + text;
  return text.empty() ? "" : "\n" + text;
}

std::string c_header(const Filter &f) {
  const std::string guard = include_guard(f, "H");
  std::string list;
  for (const FilterArgument &a : f.arguments) list += description(a);
  const bool c_linkage = !f.is_mangled();
  std::string function = "int " + f.name + "(" + declarations(f, false) + ");\n";
  const std::string function_in_c = "int " + f.name + "(" + declarations(f, true) + ");\n";
  if (c_linkage && function != function_in_c) {
    function = "#ifdef __cplusplus\n" + function + "#else\n" + function_in_c + "#endif\n";
  }
  std::string open, close;
  if (c_linkage) {
    open = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    close = "\n#ifdef __cplusplus\n}\n#endif\n";
  }
  if (!f.namespaces.empty()) {
    // C has no namespaces: there the functions go by their last names.
    open +=
        c_linkage ? "#ifdef __cplusplus\n" + open_namespaces(f) + "#endif\n\n" : open_namespaces(f);
    close = (c_linkage ? "\n#ifdef __cplusplus" + close_namespaces(f) + "#endif\n"
                       : close_namespaces(f)) +
            close;
  }
  return "/* " + f.name + ", compiled by Polyhalite for " + f.target.to_string() +
         ".\n *\n"
         " * Link the pipeline's object or library and the runtime (Polyhalite::Runtime, or what "
         "the\n"
         " * generator writes with -r): the former holds this pipeline only. Outputs must not "
         "overlap\n"
         " * inputs or each other. Calls may come from many threads.\n *\n" +
         list +
         " *\n"
         " * Returns 0, or the code of an error that polyhalite_error was told of. */\n"
         "#ifndef " +
         guard + "\n#define " + guard +
         "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
         "struct polyhalite_buffer_t;\nstruct polyhalite_filter_metadata_t;\n" +
         pointee_declarations(f) + "\n" + open + function +
         "\n"
         "/* The same arguments: buffers themselves, all else by address. */\n"
         "int " +
         f.name +
         "_argv(void **args);\n\n"
         "/* Names, types, defaults and estimates of the arguments (polyhalite_metadata.h). */\n"
         "const struct polyhalite_filter_metadata_t *" +
         f.name + "_metadata(" + (c_linkage ? "void" : "") + ");\n" + close + "\n#endif\n";
}

}  // namespace polyhalite
