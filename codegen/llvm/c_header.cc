#include "codegen/llvm/c_header.h"

#include <cctype>
#include <set>

namespace polyhalite {

namespace {

std::string c_type(Type t) {
  if (t.is_bool()) return "bool";
  if (t.is_handle()) return "void *";
  if (t.is_float()) return t.bits() == 64 ? "double" : t.bits() == 32 ? "float" : "uint16_t";
  return (t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t";
}

// A name as an identifier of C and C++.
std::string identifier(const std::string &name) {
  std::string text;
  for (char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return is_c_keyword(text) ? text + "_" : text;
}

std::string declaration(const FunctionArgument &a) {
  if (a.is_buffer) return "struct polyhalite_buffer_t *" + identifier(a.name) + "_buffer";
  const std::string type = c_type(a.type);
  return type + (type.back() == '*' ? "" : " ") + identifier(a.name);
}

std::string description(const FunctionArgument &a) {
  std::string text = " *   " + a.name + ": " + (a.is_output ? "output, " : "input, ");
  if (!a.is_buffer) return text + c_type(a.type) + "\n";
  text += "buffer of " + a.type.to_string();
  return text + ", " + std::to_string(a.dimensions) +
         (a.dimensions == 1 ? " dimension\n" : " dimensions\n");
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

std::string c_header(const Function &f, const Target &target) {
  std::string guard = "POLYHALITE_GENERATED_";
  for (char c : identifier(f.name)) {
    guard += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  guard += "_H";
  const bool user_context = target.has_feature(Target::UserContext);
  std::string args = user_context ? "void *user_context" : "", list;
  if (user_context) list += " *   user_context: handed to every function of the runtime\n";
  for (const FunctionArgument &a : f.args) {
    args += (args.empty() ? "" : ", ") + declaration(a);
    list += description(a);
  }
  if (args.empty()) args = "void";
  return "/* " + f.name + ", compiled by Polyhalite for " +
         target.without_feature(Target::JIT).to_string() +
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
         "struct polyhalite_buffer_t;\n\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         "int " +
         f.name + "(" + args +
         ");\n\n"
         "/* The same arguments: buffers themselves, all else by address. */\n"
         "int " +
         f.name +
         "_argv(void **args);\n\n"
         "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace polyhalite
