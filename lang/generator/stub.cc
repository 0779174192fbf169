// The stub of a generator: a C++ header with a class through which other programs call it.
//
//   class NAME {
//     struct Inputs { ... }; struct GeneratorParams { ... }; struct Outputs { ... };
//     static Outputs generate(const GeneratorContext &, const Inputs &, const GeneratorParams & =
//     {});
//     ...                     the same with the generator that calls, or with a Target
//   };
#include <cctype>

#include "polyhalite/generator.h"

namespace polyhalite {

namespace {

std::vector<std::string> split_name(const std::string &qualified) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t colons = qualified.find("::", start);
    parts.push_back(qualified.substr(start, colons - start));
    if (colons == std::string::npos) return parts;
    start = colons + 2;
  }
}

// generate() with another first parameter, from which the context follows.
std::string generate_for(const std::string &parameter, const std::string &context) {
  const std::string begin = "  static Outputs generate(" + parameter + ", const Inputs &inputs";
  const std::string body = ") {\n    return generate(" + context + ", inputs, ";
  return begin + body + "GeneratorParams());\n  }\n" + begin +
         ",\n                          const GeneratorParams &params" + body + "params);\n  }\n";
}

std::string guard_of(const std::string &qualified) {
  std::string guard = "POLYHALITE_STUB_";
  for (char c : qualified) {
    guard += std::isalnum(static_cast<unsigned char>(c))
                 ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                 : '_';
  }
  return guard;
}

std::string input_type(const GeneratorBase::ArgInfo &a) {
  const std::string element = a.kind == ArgInfoKind::Buffer     ? "::polyhalite::StubInputBuffer"
                              : a.kind == ArgInfoKind::Function ? "::polyhalite::Func"
                                                                : "::polyhalite::Expr";
  return a.is_array ? "std::vector<" + element + ">" : element;
}

}  // namespace

std::string GeneratorBase::stub_header() {
  // What configure() adds belongs to the stub, with the parameters' own values.
  const std::vector<ArgInfo> infos = arginfos();
  const std::vector<std::string> parts = split_name(stub_name_.empty() ? name_ : stub_name_);
  const std::string cls = parts.back();
  std::string guard = guard_of(stub_name_.empty() ? name_ : stub_name_);

  std::string inputs, bindings, outputs, results, declarations, fields, settings;
  std::string single;
  int count = 0;
  for (const ArgInfo &a : infos) {
    if (a.dir == ArgInfo::Direction::Input) {
      inputs += "    " + input_type(a) + " " + a.name + ";\n";
      bindings += "    generator->bind_input(\"" + a.name + "\", " +
                  (a.is_array ? "{inputs." + a.name + ".begin(), inputs." + a.name + ".end()}"
                              : "{::polyhalite::StubInput(inputs." + a.name + ")}") +
                  ");\n";
      continue;
    }
    outputs += std::string("    ") +
               (a.is_array ? "std::vector<::polyhalite::Func>" : "::polyhalite::Func") + " " +
               a.name + ";\n";
    results += "    outputs." + a.name + " = generator->output_func(\"" + a.name + "\")" +
               (a.is_array ? "" : "[0]") + ";\n";
    single = a.name + (a.is_array ? "[0]" : "");
    count++;
  }
  for (const GeneratorParamBase *p : params()) {
    if (p == &target) continue;
    const GeneratorParamBase::StubForm form = p->stub_form();
    declarations += form.declarations;
    fields += "    " + form.type + " " + p->name() + " = " + form.value + ";\n";
    if (form.is_loop_level) {
      settings += "    generator->set_generatorparam_value(\"" + p->name() + "\", params." +
                  p->name() + ");\n";
    } else {
      settings += "    {\n      const auto &v = params." + p->name() +
                  ";\n      generator->set_generatorparam_value(\"" + p->name() + "\", " +
                  form.to_text + ");\n    }\n";
    }
  }

  std::string open, close;
  for (size_t i = 0; i + 1 < parts.size(); i++) {
    open += "namespace " + parts[i] + " {\n";
    close = "}  // namespace " + parts[i] + "\n" + close;
  }
  std::string text = "// Calls the generator '" + name_ +
                     "' from C++. Made by Polyhalite.\n"
                     "#ifndef " +
                     guard + "\n#define " + guard +
                     "\n\n"
                     "#include <memory>\n#include <string>\n#include <vector>\n\n"
                     "#if __has_include(\"polyhalite/generator.h\")\n"
                     "#include \"polyhalite/generator.h\"\n#else\n#include \"Halide.h\"\n#endif\n\n"
                     "namespace polyhalite_generators {\n"
                     "// Defined where the generator is registered: the linker finds it by this.\n"
                     "std::unique_ptr<::polyhalite::GeneratorBase> make_" +
                     name_ +
                     "();\n"
                     "}\n\n";
  text += open + "class " + cls + " {\n public:\n" + declarations;
  text += "  struct Inputs {\n" + inputs + "  };\n";
  text += "  struct GeneratorParams {\n" + fields + "  };\n";
  text += "  struct Outputs {\n" + outputs + "    ::polyhalite::Target target;\n\n";
  text +=
      "    ::polyhalite::Pipeline get_pipeline() const { return pipeline; }\n"
      "    ::polyhalite::Realization realize(const std::vector<int> &sizes) {\n"
      "      return pipeline.realize(sizes, target);\n    }\n"
      "    template <typename Destination>\n"
      "    void realize(const Destination &destination) {\n"
      "      pipeline.realize(destination, target);\n    }\n";
  if (count == 1) {
    text += "    operator ::polyhalite::Func() const { return " + single + "; }\n";
  }
  text += "\n   private:\n    friend class " + cls +
          ";\n    ::polyhalite::Pipeline pipeline;\n  };\n\n";
  text +=
      "  static Outputs generate(const ::polyhalite::GeneratorContext &context, const Inputs "
      "&inputs"
      ") {\n    return generate(context, inputs, GeneratorParams());\n  }\n"
      "  static Outputs generate(const ::polyhalite::GeneratorContext &context, const Inputs "
      "&inputs,"
      "\n                          const GeneratorParams &params) {\n"
      "    auto generator = ::polyhalite::GeneratorRegistry::make_from(\"" +
      name_ + "\", polyhalite_generators::make_" + name_ + ", context);\n";
  text += settings + bindings;
  text += "    Outputs outputs;\n    outputs.pipeline = generator->build_pipeline();\n" + results +
          "    outputs.target = generator->get_target();\n    return outputs;\n  }\n";
  text +=
      generate_for("const ::polyhalite::GeneratorBase *caller", "caller->context()") +
      generate_for("const ::polyhalite::Target &target", "::polyhalite::GeneratorContext(target)") +
      "};\n";
  return text + close + "\n#endif\n";
}

}  // namespace polyhalite
