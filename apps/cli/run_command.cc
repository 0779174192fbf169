// polyhalite run: a model on given or random inputs, with timings and a comparison.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/tensors.h"
#include "apps/onnx/item_session.h"
#include "polyhalite_runtime.h"

namespace polyhalite::cli {

namespace {

using onnx::Constant;
using Json = nlohmann::json;

struct RunOptions {
  std::string model, output_folder, compare, json;
  std::vector<std::string> shapes, inputs, off;
  bool benchmark = false, profile = false, interpret = false, graph = false;
  int threads = 0, runs = 0, level = 1;
  uint64_t seed = 1;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs the same file on the same inputs with onnxruntime, as a program of Python.
constexpr char kPeer[] = R"(
import sys, json, time
try:
    import numpy, onnxruntime
except ImportError as e:
    print(json.dumps({"missing": str(e)})); sys.exit(0)
folder, model, threads, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
o = onnxruntime.SessionOptions()
if threads: o.intra_op_num_threads = threads
names = json.load(open(folder + "/names.json"))
s = onnxruntime.InferenceSession(model, o, providers=["CPUExecutionProvider"])
feed = {n: numpy.load(folder + "/in%d.npy" % i) for i, n in enumerate(names)}
out = s.run(None, feed)
for i, a in enumerate(out): numpy.save(folder + "/peer%d.npy" % i, numpy.ascontiguousarray(a))
times = []
for _ in range(runs):
    t = time.perf_counter(); s.run(None, feed); times.append(time.perf_counter() - t)
print(json.dumps({"outputs": [x.name for x in s.get_outputs()], "times": times}))
)";

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    char name[] = "/tmp/polyhalite-run-XXXXXX";
    if (!mkdtemp(name))
      user_error("no temporary folder can be made", "/tmp refuses", "make room in /tmp");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string quoted(const std::string &s) {
  std::string q = "'";
  for (char c : s) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return q + "'";
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

// Largest difference, and the cosine of the angle between both as vectors.
Json difference(const Constant &a, const Constant &b) {
  double most = 0, ab = 0, aa = 0, bb = 0;
  bool special = true;
  if (a.shape() != b.shape()) return {{"shapes_differ", true}};
  for (int64_t i = 0; i < a.elements(); i++) {
    const double x = a.number(i), y = b.number(i);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      special = special && (x == y || (std::isnan(x) && std::isnan(y)));
      continue;
    }
    most = std::max(most, std::fabs(x - y));
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return {{"max_abs_error", most},
          {"cosine", aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 1.0},
          {"special_values_match", special}};
}

Json compare_with_peer(const RunOptions &o, const onnx::Program::Tensors &inputs,
                       const onnx::Program::Tensors &outputs, int runs) {
  const TemporaryFolder folder;
  Json names = Json::array();
  int n = 0;
  for (const auto &[name, t] : inputs) {
    names.push_back(name);
    write_npy(folder.path + "/in" + std::to_string(n++) + ".npy", t);
  }
  std::ofstream(folder.path + "/names.json") << names.dump();
  std::ofstream(folder.path + "/peer.py") << kPeer;
  const char *python = std::getenv("PH_PYTHON");
  const std::string command = quoted(python ? python : "python3") + " " +
                              quoted(folder.path + "/peer.py") + " " + quoted(folder.path) + " " +
                              quoted(o.model) + " " + std::to_string(o.threads) + " " +
                              std::to_string(runs) + " > " + quoted(folder.path + "/out.json");
  if (std::system(command.c_str()) != 0) {
    user_error("onnxruntime does not run the model", "its messages are above",
               "compare without it");
  }
  std::ifstream file(folder.path + "/out.json");
  const Json answer = Json::parse(file);
  if (answer.contains("missing")) {
    user_error("there is no onnxruntime to compare with", answer["missing"].get<std::string>(),
               "pip install onnxruntime numpy, and set PH_PYTHON to that interpreter");
  }
  Json result{{"outputs", Json::object()}};
  for (size_t i = 0; i < answer["outputs"].size(); i++) {
    const std::string name = answer["outputs"][i];
    const Constant theirs = read_tensor_file(folder.path + "/peer" + std::to_string(i) + ".npy");
    const auto ours = outputs.find(name);
    if (ours != outputs.end()) result["outputs"][name] = difference(ours->second, theirs);
  }
  if (runs > 0) result["median_seconds"] = median(answer["times"].get<std::vector<double>>());
  return result;
}

// NAME=1,3,224,224 for an input whose first size is open.
std::string shape_with_ones(const std::string &name, const onnx::Value &v) {
  std::string sizes;
  if (v.shape) {
    for (const onnx::Dim &d : *v.shape)
      sizes += (sizes.empty() ? "" : ",") + std::to_string(d.constant().value_or(1));
  }
  return name + "=" + (sizes.empty() ? "1,3,224,224" : sizes);
}

// What files hold: a tensor for each element of a sequence.
onnx::Item read_item(const std::string &name, onnx::ItemForm form,
                     const std::vector<std::string> &files) {
  std::vector<Constant> tensors;
  for (const std::string &file : files) tensors.push_back(read_tensor_file(file));
  if (form.sequence) return tensors;
  if (tensors.size() > 1) {
    user_error("input '" + name + "' has " + std::to_string(tensors.size()) + " files",
               "it is one tensor", "give --input once for it");
  }
  return tensors[0];
}

// Optional inputs that are left out are absent.
onnx::Items make_inputs(const RunOptions &o, const onnx::ItemSession &session) {
  onnx::Items inputs;
  const auto shapes = parse_shapes(o.shapes);
  const auto files = parse_files(o.inputs);
  for (const auto &[name, list] : files) {
    session.input(name);
    inputs[name] = read_item(name, session.form(name), list);
  }
  for (const auto &[name, shape] : shapes) session.input(name);
  uint64_t seed = o.seed;
  for (const std::string &name : session.input_names()) {
    const onnx::Value &v = session.input(name);
    const uint64_t its = seed++;
    if (inputs.count(name) || session.form(name).optional) continue;
    if (session.form(name).sequence) {
      user_error(
          "input '" + name + "' is a sequence", "its number of elements is open",
          "give a file for each: --input " + name + "=FIRST.npy --input " + name + "=SECOND.npy");
    }
    std::vector<int64_t> shape;
    if (const auto given = shapes.find(name); given != shapes.end()) {
      shape = given->second;
    } else {
      const auto fixed = v.shape ? onnx::constant_shape(*v.shape) : std::nullopt;
      if (!fixed) {
        user_error(
            "input '" + name + "' has the shape " + (v.shape ? onnx::to_string(*v.shape) : "[?]"),
            "random elements need sizes", "give them: --shape '" + shape_with_ones(name, v) + "'");
      }
      shape = *fixed;
    }
    inputs[name] = random_tensor(v.type, shape, its);
  }
  return inputs;
}

// Elements of the sequence y are y[0], y[1] and so on.
onnx::Program::Tensors named_tensors(const onnx::Items &items) {
  onnx::Program::Tensors tensors;
  for (const auto &[name, item] : items) {
    if (const auto *tensor = std::get_if<Constant>(&item)) tensors[name] = *tensor;
    const auto *list = std::get_if<std::vector<Constant>>(&item);
    for (size_t i = 0; list && i < list->size(); i++)
      tensors[name + "[" + std::to_string(i) + "]"] = (*list)[i];
  }
  return tensors;
}

int run(const RunOptions &o) {
  if (o.threads > 0) polyhalite_set_num_threads(o.threads);
  onnx::CompileOptions options;
  options.shapes = parse_shapes(o.shapes);
  options.optimize = o.level > 0;
  options.switched_off.insert(o.off.begin(), o.off.end());
  if (o.interpret) options.engine = onnx::Engine::Interpreter;
  const double start = now();
  onnx::ItemSession session(o.model, options);
  for (const std::string &note : session.model().notes)
    std::fprintf(stderr, "polyhalite: note: %s\n", note.c_str());
  if (!o.compare.empty() && !session.model().forms.empty()) {
    user_error("the model has inputs or outputs that are no tensors",
               "only tensors are compared with " + o.compare, "run it without --compare");
  }
  const onnx::ItemSession::Prepared prepared = session.prepare(make_inputs(o, session));
  const onnx::Program::Tensors &inputs = prepared.tensors;
  const onnx::Program::Tensors keyed = prepared.session->with_random_key(inputs);
  prepared.session->program_for(keyed);
  const double compiled = now();
  const auto [program, tensors] = prepared.session->run_program(keyed);
  if (o.graph) std::fputs(onnx::to_text(program->graph()).c_str(), stdout);
  const onnx::Program::Tensors outputs = named_tensors(onnx::ItemSession::items(*program, tensors));
  Json report{
      {"model", o.model}, {"compile_seconds", compiled - start}, {"outputs", Json::object()}};
  for (const auto &[name, t] : outputs) {
    double sum = 0;
    for (int64_t i = 0; i < t.elements(); i++) sum += t.number(i);
    report["outputs"][name] = {
        {"type", onnx::element_name(t.type())}, {"shape", t.shape()}, {"sum", sum}};
  }
  std::printf("compiled in %.2f s: %zu kernels, %zu calls\n", compiled - start,
              program->kernels().size(), program->steps().size());
  const int runs = o.benchmark ? (o.runs > 0 ? o.runs : 15) : 0;
  if (runs > 0) {
    std::vector<double> times;
    std::vector<onnx::KernelTime> steps;
    for (int i = 0; i < runs; i++) {
      const double t = now();
      prepared.session->run_program(keyed, o.profile ? &steps : nullptr);
      times.push_back(now() - t);
    }
    report["median_seconds"] = median(times);
    std::printf("median of %d runs: %.3f ms\n", runs, 1e3 * median(times));
    if (o.profile) {
      std::stable_sort(steps.begin(), steps.end(),
                       [](const auto &a, const auto &b) { return a.seconds > b.seconds; });
      report["steps"] = Json::array();
      for (const onnx::KernelTime &s : steps) {
        report["steps"].push_back({{"nodes", s.nodes}, {"seconds", s.seconds / runs}});
      }
      for (size_t i = 0; i < steps.size() && i < 25; i++) {
        std::printf("%9.3f ms  %s\n", 1e3 * steps[i].seconds / runs, steps[i].nodes.c_str());
      }
    }
  }
  if (!o.compare.empty()) {
    report["comparison"] = compare_with_peer(o, inputs, outputs, runs);
    std::printf("compared with %s: %s\n", o.compare.c_str(), report["comparison"].dump().c_str());
  }
  if (!o.output_folder.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(o.output_folder, ignored);
    for (const auto &[name, t] : outputs) {
      std::string file = name;
      std::replace_if(file.begin(), file.end(), [](char c) { return c == '/' || c == ':'; }, '_');
      write_npy(o.output_folder + "/" + file + ".npy", t);
    }
  }
  if (!o.json.empty()) std::ofstream(o.json) << report.dump(2) << "\n";
  return 0;
}

}  // namespace

Command add_run(CLI::App &app) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("model", o->model, "The .onnx file")->required();
  app.add_option("--shape", o->shapes, "NAME=1,3,224,224: sizes of an input");
  app.add_option(
      "--input", o->inputs,
      "NAME=FILE.npy: elements of an input; others are random. Once for each element of a "
      "sequence; an optional input without it is absent");
  app.add_option("--output-dir", o->output_folder,
                 "Folder for outputs as .npy files; y[0].npy... for a sequence");
  app.add_option("--seed", o->seed, "Of random inputs")->capture_default_str();
  app.add_option("--threads", o->threads, "Threads that kernels run on; by default all cores");
  app.add_flag("--benchmark", o->benchmark, "Time several runs");
  app.add_option("--runs", o->runs, "How many; 15 by default");
  app.add_flag("--profile", o->profile, "Time each kernel, too");
  app.add_option("--compare", o->compare, "onnxruntime: run it on the same inputs")
      ->check(CLI::IsMember({"onnxruntime"}));
  app.add_option("--json", o->json, "File for all figures");
  app.add_option("-O", o->level, "0: no passes over the graph, no fusion")
      ->capture_default_str()
      ->check(CLI::Range(0, 1));
  app.add_option("--off", o->off, "Passes to switch off; a name that is none of them lists all");
  app.add_flag("--interpret", o->interpret, "Run with the plain interpreter");
  app.add_flag("--graph", o->graph, "Print the graph after all passes");
  return [o] { return run(*o); };
}

}  // namespace polyhalite::cli
