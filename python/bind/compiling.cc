// Pipelines compiled for files, modules, and pipelines as text.
#include <optional>

#include "polyhalite/module.h"
#include "polyhalite/pipeline.h"
#include "polyhalite/serialize.h"
#include "polyhalite/verification.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Self = const py::object &;
using Arguments = std::optional<std::vector<Argument>>;

// The inputs that are listed; else those of the pipeline, in order of first use.
std::vector<Argument> inputs_of(const Pipeline &p, const Arguments &args) {
  return args ? *args : p.infer_arguments();
}

using Files = std::map<Emit, std::string>;

void compile_to(Self s, const Files &files, const Arguments &args, const std::string &name,
                const Target &target) {
  Pipeline p = to_pipeline(s);
  py::gil_scoped_release released;
  p.compile_to(files, inputs_of(p, args), name, target_or_environment(target));
}

// compile_to_object(file, args, name, target) and its kin.
void bind_files(Classes &both) {
  const std::tuple<const char *, Emit, const char *> kinds[] = {
      {"compile_to_object", Emit::object, "An object file."},
      {"compile_to_assembly", Emit::assembly, "Assembly text."},
      {"compile_to_llvm_assembly", Emit::llvm_assembly, "LLVM's text."},
      {"compile_to_bitcode", Emit::bitcode, "LLVM's bitcode."},
      {"compile_to_header", Emit::c_header, "The C header."},
      {"compile_to_lowered_stmt", Emit::stmt, "The loop IR."},
      {"compile_to_conceptual_stmt", Emit::conceptual_stmt, "The loop tree."}};
  for (const auto &[word, emit, doc] : kinds) {
    both.def(
        word,
        [e = emit](Self s, const std::string &file, const Arguments &args, const std::string &name,
                   const Target &target) { compile_to(s, {{e, file}}, args, name, target); },
        py::arg("file"), py::arg("args") = py::none(), py::arg("name") = "",
        py::arg("target") = Target(), doc);
  }
  auto prefixed = [&](const char *word, Emit code, const char *extension, const char *doc) {
    both.def(
        word,
        [=, end = std::string(extension)](Self s, const std::string &prefix, const Arguments &args,
                                          const std::string &name, const Target &target) {
          compile_to(s, {{code, prefix + end}, {Emit::c_header, prefix + ".h"}}, args, name,
                     target);
        },
        py::arg("prefix"), py::arg("args") = py::none(), py::arg("name") = "",
        py::arg("target") = Target(), doc);
  };
  prefixed("compile_to_file", Emit::object, ".o", "PREFIX.o and PREFIX.h.");
  prefixed("compile_to_static_library", Emit::static_library, ".a", "PREFIX.a and PREFIX.h.");
  both.def("compile_to", &compile_to, py::arg("files"), py::arg("args") = py::none(),
           py::arg("name") = "", py::arg("target") = Target(),
           "Writes each file of {Emit.object: path, ...}. `args` are the C function's inputs, by "
           "default in order of first use; `name` is its symbol, by default the output's name.")
      .def(
          "compile_to_multitarget_static_library",
          [](Self s, const std::string &prefix, const Arguments &args,
             const std::vector<Target> &targets) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            p.compile_to_multitarget_static_library(prefix, inputs_of(p, args), targets);
          },
          py::arg("prefix"), py::arg("args"), py::arg("targets"),
          "Code for each target behind one function, which calls the first that the machine can "
          "run.")
      .def(
          "compile_to_module",
          [](Self s, const Arguments &args, const std::string &name, const Target &target) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            return p.compile_to_module(inputs_of(p, args), name, target_or_environment(target));
          },
          py::arg("args") = py::none(), py::arg("name") = "", py::arg("target") = Target())
      .def(
          "emit_text",
          [](Self s, Emit what, const std::vector<Argument> &args, const Target &target) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            return p.emit_text(what, args, target_or_environment(target));
          },
          py::arg("what"), py::arg("args") = py::list(), py::arg("target") = Target(),
          "A stage of the compilation as text: Emit.algorithm, schedule, tree, conceptual_stmt, "
          "stmt, llvm_assembly or assembly. These texts are the same for C++ and Python: "
          "dimensions stand innermost first.")
      .def(
          "explain",
          [](Self s, const std::optional<std::string> &file, const Target &target,
             bool run) -> std::optional<std::string> {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            const Emit what = run ? Emit::timed_explanation : Emit::explanation;
            if (!file) return p.emit_text(what, {}, target_or_environment(target));
            p.compile_to({{what, *file}}, {}, "", target_or_environment(target));
            return std::nullopt;
          },
          py::arg("file") = py::none(), py::arg("target") = Target(), py::arg("run") = false,
          "A page of HTML that needs no other file, as text or written to `file`: the graph of "
          "stages, what each directive did, the loops with sizes and footprints (for the sizes of "
          "set_estimates()), dependences drawn on a few instances, proofs, promises and checks, "
          "and "
          "the code with links between it and the loops. With `run` also the time of each stage: "
          "the pipeline runs on made-up inputs for the sizes of set_estimates(). Of a schedule "
          "that "
          "is refused, the page says why.")
      .def(
          "infer_arguments", [](Self s) { return to_pipeline(s).infer_arguments(); },
          "The inputs in order of first use.")
      .def("print_loop_nest", [](Self s) {
        Pipeline p = to_pipeline(s);
        std::string text;
        {
          py::gil_scoped_release released;
          text = p.emit_text(Emit::conceptual_stmt, {}, get_target_from_environment());
        }
        py::print(text, py::arg("end") = "");
      });
}

}  // namespace

void bind_compiling(py::module_ &m) {
  Classes both({m.attr("Func"), m.attr("Pipeline")});
  bind_files(both);
  py::class_<Module>(m, "Module", "Pipelines compiled for files, by their C functions' names.")
      .def(py::init<const std::string &, const Target &>(), py::arg("name"), py::arg("target"))
      .def("name", &Module::name)
      .def("target", &Module::target)
      .def(
          "append", [](Module &self, const Module &other) { self.append(other, here()); },
          py::arg("other"))
      .def(
          "compile",
          [](const Module &self, const Files &files) {
            const Here at = here();
            py::gil_scoped_release released;
            self.compile(files, at);
          },
          py::arg("files"));
  m.def(
      "link_modules",
      [](const std::string &name, const std::vector<Module> &modules) {
        return link_modules(name, modules, here());
      },
      py::arg("name"), py::arg("modules"));
  m.def(
      "compile_standalone_runtime",
      [](const std::string &file, const Target &target) {
        py::gil_scoped_release released;
        compile_standalone_runtime(file, target);
      },
      py::arg("file"), py::arg("target"), "The runtime as an object.");
  m.def(
      "serialize_pipeline",
      [](const Pipeline &p, const std::string &file) { serialize_pipeline(p, file); },
      py::arg("pipeline"), py::arg("file"), "An algorithm with its schedule as a text file.");
  m.def(
      "serialize_pipeline",
      [](const Pipeline &p) {
        std::vector<uint8_t> data;
        serialize_pipeline(p, data);
        return py::bytes(reinterpret_cast<const char *>(data.data()), data.size());
      },
      py::arg("pipeline"));
  m.def(
      "deserialize_pipeline",
      [](const py::object &source) {
        if (!py::isinstance<py::bytes>(source)) {
          return deserialize_pipeline(source.cast<std::string>());
        }
        const std::string text = source.cast<std::string>();
        return deserialize_pipeline(std::vector<uint8_t>(text.begin(), text.end()));
      },
      py::arg("source"), "From a file's name, or from bytes.");
  m.def(
      "set_verification",
      [](const std::string &word) { set_verification(verification_from_name(word)); },
      py::arg("wanted"),
      "\"full\" proves the lowered loops of every later compilation a second time against the "
      "algorithm, \"passes\" checks the loop IR after each pass, \"none\" leaves it at the proof "
      "of the schedule. Where a check fails, the compilation raises InternalError. PH_VERIFY in "
      "the environment says the same.");
  m.def(
      "verification",
      [] {
        constexpr const char *kWords[] = {"none", "passes", "full"};
        return kWords[static_cast<int>(verification())];
      },
      "\"none\", \"passes\" or \"full\": what set_verification() or PH_VERIFY says.");
  py::implicitly_convertible<Func, Pipeline>();
}

}  // namespace polyhalite::python
