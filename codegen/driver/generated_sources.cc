#include "codegen/driver/generated_sources.h"

#include "codegen/llvm/c_header.h"

namespace polyhalite {

namespace {

std::string number(int64_t n) { return std::to_string(n); }

std::string type_code(Type t) {
  switch (t.code()) {
    case Type::Int:
      return "int";
    case Type::UInt:
      return "uint";
    case Type::Float:
      return "float";
    case Type::BFloat:
      return "bfloat";
    default:
      return "handle";
  }
}

std::string qualified(const Filter &f) {
  std::string text;
  for (const std::string &n : f.namespaces) text += n + "::";
  return "::" + text + f.name;
}

bool is_context(const FilterArgument &a) { return a.name == kUserContextName; }

// Letters of Python's argument parser, and the C type that each fills.
struct Parsed {
  const char *letter, *type;
};

Parsed parsed_as(Type t) {
  if (t.is_bool()) return {"p", "int"};
  if (t.is_handle()) return {"K", "unsigned long long"};
  if (t.is_float()) return {"d", "double"};
  return t.is_int() ? Parsed{"L", "long long"} : Parsed{"K", "unsigned long long"};
}

constexpr const char *kPythonSupport = R"(
// An array of Python as a buffer; the array's last index is the buffer's first dimension.
struct PyArray {
  Py_buffer view{};
  bool held = false;
  polyhalite_buffer_t buffer{};
  std::vector<polyhalite_dimension_t> dims;

  bool take(PyObject *object, const char *name, char kind, int bits, int code, int dimensions,
            bool writable) {
    const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &view, flags) != 0) return false;
    held = true;
    const char *format = view.format ? view.format : "B";
    while (*format == '@' || *format == '=' || *format == '<') format++;
    const bool is_float = *format == 'f' || *format == 'd' || *format == 'e';
    const bool is_signed = std::strchr("bhilqn", *format) != nullptr;
    const char found = is_float ? 'f' : *format == '?' ? '?' : is_signed ? 'i' : 'u';
    if (view.ndim != dimensions || view.itemsize * 8 != (bits == 1 ? 8 : bits) || found != kind) {
      PyErr_Format(PyExc_ValueError,
                   "argument '%s': an array of %d dimensions and format '%s' does not fit; it takes "
                   "%d dimensions of %d bits",
                   name, view.ndim, format, dimensions, bits);
      return false;
    }
    for (int i = dimensions - 1; i >= 0; i--) {
      dims.push_back({0, static_cast<int32_t>(view.shape[i]),
                      static_cast<int32_t>(view.strides[i] / view.itemsize), 0});
    }
    buffer.host = static_cast<uint8_t *>(view.buf);
    buffer.type = polyhalite_type_t{static_cast<polyhalite_type_code_t>(code),
                                    static_cast<uint8_t>(bits), 1};
    buffer.dimensions = dimensions;
    buffer.dim = dims.data();
    return true;
  }
  ~PyArray() {
    if (held) PyBuffer_Release(&view);
  }
};
)";

}  // namespace

std::string function_info_header(const Filter &f) {
  const std::string guard = include_guard(f, "FUNCTION_INFO_H");
  std::string list;
  for (const FilterArgument &a : f.arguments) {
    const char *kind = a.kind == FilterArgument::InputScalar   ? "InputScalar"
                       : a.kind == FilterArgument::InputBuffer ? "InputBuffer"
                                                               : "OutputBuffer";
    list += std::string("    ::HalideFunctionInfo::ArgumentInfo{\"") + a.name +
            "\", ::HalideFunctionInfo::" + kind + ", " + number(a.dimensions) +
            ", polyhalite_type_t{polyhalite_type_" + type_code(a.type) + ", " +
            number(a.type.bits()) + ", 1}},\n";
  }
  return "// The arguments of " + f.name + " as a constant. Made by Polyhalite.\n#ifndef " + guard +
         "\n#define " + guard +
         "\n\n#include <array>\n\n#if __has_include(\"polyhalite_metadata.h\")\n"
         "#include \"polyhalite_metadata.h\"\n#else\n#include \"HalideRuntime.h\"\n#endif\n\n" +
         open_namespaces(f) + "inline constexpr std::array<::HalideFunctionInfo::ArgumentInfo, " +
         number(static_cast<int64_t>(f.arguments.size())) + "> " + f.name +
         "_argument_info() {\n  return {{\n" + list + "  }};\n}\n" + close_namespaces(f) +
         "\n#endif\n";
}

std::string registration_source(const Filter &f) {
  std::string declarations = open_namespaces(f) + "int " + f.name + "_argv(void **args);\n" +
                             "const struct polyhalite_filter_metadata_t *" + f.name +
                             "_metadata();\n" + close_namespaces(f);
  if (!f.is_mangled()) declarations = "extern \"C\" {\n" + declarations + "}\n";
  const std::string extra = "halide_register_extra_key_value_pairs_" + f.name;
  return "// Registers " + f.name +
         " before main(). Made by Polyhalite.\n"
         "struct polyhalite_filter_metadata_t;\n"
         "extern \"C\" void polyhalite_register_argv_and_metadata(\n"
         "    int (*)(void **), const struct polyhalite_filter_metadata_t *, const char *const "
         "*);\n"
         "#ifdef HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC\n"
         "extern \"C\" const char *const *HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();\n"
         "#else\n"
         "extern \"C\" __attribute__((weak)) const char *const *" +
         extra +
         "();\n"
         "#endif\n" +
         declarations + "\nnamespace {\nstruct Register_" + f.name + " {\n  Register_" + f.name +
         "() {\n"
         "#ifdef HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC\n"
         "    const char *const *pairs = HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();\n"
         "#else\n"
         "    const char *const *pairs = " +
         extra + " ? " + extra +
         "() : nullptr;\n"
         "#endif\n"
         "    polyhalite_register_argv_and_metadata(" +
         qualified(f) + "_argv, " + qualified(f) + "_metadata(), pairs);\n  }\n} registered_" +
         f.name + ";\n}  // namespace\n";
}

std::string python_extension_source(const Filter &f) {
  std::string names, letters, variables, addresses, takes, call;
  for (const FilterArgument &a : f.arguments) {
    const std::string id = "arg_" + c_identifier(a.name);
    call += call.empty() ? "" : ", ";
    if (is_context(a)) {
      call += "nullptr";
      continue;
    }
    names += "\"" + c_identifier(a.name) + "\", ";
    addresses += ", &" + id;
    if (a.kind == FilterArgument::InputScalar) {
      const Parsed p = parsed_as(a.type);
      letters += p.letter;
      variables += std::string("  ") + p.type + " " + id + " = 0;\n";
      call += (a.type.is_handle() ? "reinterpret_cast<" : "static_cast<") + c_type(a.type) + ">(" +
              id + ")";
      continue;
    }
    letters += "O";
    const char kind = a.type.is_bool()    ? '?'
                      : a.type.is_float() ? 'f'
                      : a.type.is_int()   ? 'i'
                                          : 'u';
    variables += "  PyObject *" + id + " = nullptr;\n  PyArray array_" + id + ";\n";
    takes += "  if (!array_" + id + ".take(" + id + ", \"" + a.name + "\", '" + kind + "', " +
             number(a.type.bits()) + ", polyhalite_type_" + type_code(a.type) + ", " +
             number(a.dimensions) + ", " +
             (a.kind == FilterArgument::OutputBuffer ? "true" : "false") + ")) return nullptr;\n";
    call += "&array_" + id + ".buffer";
  }
  return "// The Python module " + f.name +
         ". Made by Polyhalite.\n"
         "#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n\n#include <cstring>\n#include "
         "<vector>\n\n#include \"polyhalite_runtime.h\"\n#include \"" +
         f.name +
         ".h\"\n\n"
         "namespace {\n" +
         kPythonSupport + "\nPyObject *call_" + f.name +
         "(PyObject *, PyObject *args, PyObject *keywords) {\n"
         "  static const char *const names[] = {" +
         names + "nullptr};\n" + variables +
         "  if (!PyArg_ParseTupleAndKeywords(args, keywords, \"" + letters +
         "\", const_cast<char **>(names)" + addresses + ")) return nullptr;\n" + takes +
         "  int code = 0;\n  Py_BEGIN_ALLOW_THREADS;\n  code = " + qualified(f) + "(" + call +
         ");\n  Py_END_ALLOW_THREADS;\n  if (code != 0) {\n"
         "    PyErr_Format(PyExc_RuntimeError, \"" +
         f.name +
         " failed with code %d\", code);\n    return nullptr;\n  }\n  Py_RETURN_NONE;\n}\n\n"
         "PyMethodDef methods[] = {{\"" +
         f.name +
         "\",\n"
         "                          reinterpret_cast<PyCFunction>(reinterpret_cast<void "
         "(*)(void)>(call_" +
         f.name +
         ")),\n                          METH_VARARGS | "
         "METH_KEYWORDS, nullptr},\n                         {nullptr, nullptr, 0, nullptr}};\n"
         "PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, \"" +
         f.name +
         "\", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};\n\n}  // namespace\n\n"
         "PyMODINIT_FUNC PyInit_" +
         f.name + "() { return PyModule_Create(&module_definition); }\n";
}

}  // namespace polyhalite
