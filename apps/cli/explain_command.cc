// polyhalite explain: a pipeline, or each kernel of a model, as a page of HTML.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "apps/cli/commands.h"
#include "apps/cli/tensors.h"
#include "apps/onnx/program.h"
#include "codegen/driver/html.h"
#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"

namespace polyhalite::cli {

namespace {

struct ExplainOptions {
  std::string file, output, target;
  std::vector<std::string> shapes;
  bool run = false;
};

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    user_error("cannot read '" + path + "'", "it is not there, or may not be read",
               "give a model (.onnx), or a pipeline as serialize_pipeline writes it");
  }
  return text.str();
}

Emit what(const ExplainOptions &o) { return o.run ? Emit::timed_explanation : Emit::explanation; }

// One page for each kernel, and one that lists the steps of the model with links to them.
void explain_model(const ExplainOptions &o, const Target &target) {
  onnx::CompileOptions options;
  options.engine = onnx::Engine::Interpreter;  // pages are made of texts
  options.target = target;
  options.shapes = parse_shapes(o.shapes);
  const onnx::Model model = onnx::load_model(o.file);
  const onnx::Program program(model, options);
  std::filesystem::create_directories(o.output);
  std::string rows;
  for (const onnx::Step &step : program.steps()) {
    rows += "<li>" + escaped(step.nodes);
    if (!step.host) {
      const std::string &name = program.kernels()[step.kernel].name;
      rows += ": <a href=\"" + escaped(name) + ".html\">" + escaped(name) + "</a>";
    }
    rows += "</li>\n";
  }
  for (const onnx::Kernel &k : program.kernels()) {
    backend().emit(*k.pipeline, k.name, target, {{what(o), o.output + "/" + k.name + ".html"}});
  }
  write_file(o.output + "/index.html",
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                 escaped(o.file) +
                 "</title><link rel=\"icon\" href=\"data:,\"><style>:root{color-scheme:light "
                 "dark}</style></head><body>\n<h1>" +
                 escaped(o.file) + "</h1>\n<ol>\n" + rows + "</ol>\n<pre>" +
                 escaped(program.report()) + "</pre>\n</body></html>\n",
             "the page");
  std::printf("%s/index.html\n", o.output.c_str());
}

int explain(ExplainOptions o) {
  const Target target = o.target.empty() ? get_target_from_environment() : Target(o.target);
  const std::filesystem::path file(o.file);
  const bool is_model = file.extension() == ".onnx";
  if (o.output.empty()) o.output = file.stem().string() + (is_model ? "" : ".explain.html");
  if (is_model) {
    explain_model(o, target);
    return 0;
  }
  backend().emit(backend().parse_pipeline(read(o.file), o.file), "pipeline", target,
                 {{what(o), o.output}});
  std::printf("%s\n", o.output.c_str());
  return 0;
}

}  // namespace

Command add_explain(CLI::App &app) {
  auto o = std::make_shared<ExplainOptions>();
  app.add_option("file", o->file, "A model (.onnx), or a pipeline that serialize_pipeline wrote")
      ->required();
  app.add_option("-o,--output", o->output,
                 "The page; of a model the folder of its pages. By default named after the file");
  app.add_option("--target", o->target, "Machine, as in x86-64-linux-avx2; by default this one");
  app.add_flag("--run", o->run,
               "Run it on made-up inputs, for the sizes of its estimates: the time of each stage");
  app.add_option("--shape", o->shapes, "NAME=1,3,224,224: sizes of an input");
  return [o] { return explain(*o); };
}

}  // namespace polyhalite::cli
