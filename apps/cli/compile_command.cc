// polyhalite compile: a model becomes a library.
#include <cstdio>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/tensors.h"
#include "apps/onnx/emit_library.h"

namespace polyhalite::cli {

namespace {

struct CompileOptions {
  std::string model, folder = "out", name, target;
  std::vector<std::string> shapes, off;
  int level = 1;
  bool graph = false;
};

std::string stem(const std::string &path) {
  const size_t slash = path.rfind('/');
  const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
  return file.substr(0, file.rfind('.'));
}

int compile(const CompileOptions &o) {
  onnx::CompileOptions options;
  options.engine = onnx::Engine::Interpreter;  // code goes to files
  options.target = o.target.empty() ? get_target_from_environment() : Target(o.target);
  options.shapes = parse_shapes(o.shapes);
  options.optimize = o.level > 0;
  options.switched_off.insert(o.off.begin(), o.off.end());
  const onnx::Model model = onnx::load_model(o.model);
  for (const std::string &note : model.notes)
    std::fprintf(stderr, "polyhalite: note: %s\n", note.c_str());
  const onnx::Program program(model, options);
  const onnx::Needs &needs = program.needs();
  if (!needs.sizes.empty()) {
    user_error("the size '" + *needs.sizes.begin() + "' of an input decides about the algorithms",
               "a library is made for sizes that are known", "give it: --shape NAME=1,3,224,224");
  }
  for (const auto *values : {&needs.inputs, &needs.elements, &needs.shapes}) {
    if (values->empty()) continue;
    user_error("the elements of '" + program.graph().value(*values->begin()).name +
                   "' decide about shapes",
               "a library is made for fixed sizes", "export the model with fixed shapes");
  }
  if (o.graph) std::fputs(onnx::to_text(program.graph()).c_str(), stdout);
  const onnx::LibraryFiles files = onnx::emit_library(
      program, o.folder, o.name.empty() ? stem(o.model) : o.name, options.target);
  for (const std::string &f : {files.library, files.header, files.weights, files.report}) {
    std::printf("%s\n", f.c_str());
  }
  return 0;
}

}  // namespace

Command add_compile(CLI::App &app) {
  auto o = std::make_shared<CompileOptions>();
  app.add_option("model", o->model, "The .onnx file")->required();
  app.add_option("-o,--output", o->folder, "Folder of the files")->capture_default_str();
  app.add_option("--name", o->name, "Of the C function; by default the file's");
  app.add_option("--target", o->target, "Machine, as in x86-64-linux-avx2; by default this one");
  app.add_option("--shape", o->shapes, "NAME=1,3,224,224: sizes of an input");
  app.add_option("-O", o->level, "0: no passes over the graph, no fusion")
      ->capture_default_str()
      ->check(CLI::Range(0, 1));
  app.add_option("--off", o->off, "Passes to switch off; a name that is none of them lists all");
  app.add_flag("--graph", o->graph, "Print the graph after all passes");
  return [o] { return compile(*o); };
}

}  // namespace polyhalite::cli
