// Generators and their command line, with a backend that only notes what it is asked for.
#include "polyhalite/generator.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <sstream>

#include "lang/ir/freeze.h"
#include "lang/messages.h"

namespace {

using namespace polyhalite;

class Brighten : public Generator<Brighten> {
 public:
  enum class Mode { Clamp, Wrap };
  GeneratorParam<int> amount{"amount", 20, 0, 200};
  GeneratorParam<Mode> mode{"mode", Mode::Clamp, {{"clamp", Mode::Clamp}, {"wrap", Mode::Wrap}}};
  GeneratorParam<bool> vector{"vector", true};
  Input<Buffer<uint8_t, 2>> input{"input"};
  Input<int> extra{"extra", 3, 0, 10};
  Output<Buffer<uint8_t, 2>> output{"output"};

  void generate() {
    const Expr sum = cast<int>(input(x, y)) + amount + extra;
    output(x, y) = cast<uint8_t>(mode == Mode::Clamp ? clamp(sum, 0, 255) : sum % 256);
  }
  void schedule() {
    if (vector) output.vectorize(x, natural_vector_size<uint8_t>());
  }

  Var x{"x"}, y{"y"};
};

class Forgetful : public Generator<Forgetful> {
 public:
  Output<Buffer<float, 1>> output{"output"};
  void generate() {}
};

class Mistyped : public Generator<Mistyped> {
 public:
  Output<Buffer<float, 1>> output{"output"};
  void generate() {
    Var x("x");
    output(x) = x;
  }
};

}  // namespace

POLYHALITE_REGISTER_GENERATOR(Brighten, brighten)
POLYHALITE_REGISTER_GENERATOR(Forgetful, forgetful)
POLYHALITE_REGISTER_GENERATOR(Mistyped, mistyped)

namespace polyhalite {
namespace generator_test {
namespace {

class NotingBackend : public Backend {
 public:
  std::shared_ptr<CompiledPipeline> jit(const FrozenPipeline &, const Target &,
                                        const std::map<std::string, JITExtern> &) override {
    return nullptr;
  }
  void emit(const FrozenPipeline &pipeline, const std::string &function_name, const Target &target,
            const std::map<Emit, std::string> &files, CompileTimes *) override {
    notes += function_name + "(";
    for (const AlgorithmInput &i : pipeline.algorithm.inputs) notes += i.param->name + ", ";
    for (const std::string &o : pipeline.algorithm.outputs) notes += o;
    notes += ") for " + target.to_string() + ", " + std::to_string(pipeline.directives.size()) +
             " directives\n";
    for (const auto &[emit, file] : files)
      notes += std::string(emit_name(emit)) + " " + file + "\n";
  }
  std::string emit_text(const FrozenPipeline &, const std::string &, const Target &,
                        Emit) override {
    return "";
  }
  void emit_multitarget(const std::vector<Variant> &variants, const std::string &function_name,
                        const std::map<Emit, std::string> &files, CompileTimes *) override {
    notes += function_name + " for";
    for (const Variant &v : variants) notes += " " + v.suffix;
    notes += "\n";
    for (const auto &[emit, file] : files)
      notes += std::string(emit_name(emit)) + " " + file + "\n";
  }
  std::shared_ptr<CompiledForFiles> prepare(std::shared_ptr<const FrozenPipeline>,
                                            const std::string &, const Target &) override {
    return nullptr;
  }
  void emit_library(const std::vector<std::shared_ptr<CompiledForFiles>> &,
                    const std::string &) override {}
  FrozenPipeline derive(const FrozenPipeline &pipeline) override { return pipeline; }
  FrozenPipeline auto_schedule(const FrozenPipeline &pipeline, const Target &,
                               const AutoschedulerParams &, AutoSchedulerResults *) override {
    return pipeline;
  }
  FrozenPipeline parse_pipeline(const std::string &, const std::string &) override { return {}; }
  void emit_runtime(const Target &, Emit what, const std::string &file) override {
    notes += std::string("runtime ") + emit_name(what) + " " + file + "\n";
  }
  void device_call(const std::function<int(void *)> &) override {}
  const polyhalite_device_interface_t *device_interface(DeviceAPI) override { return nullptr; }
  int device_capability(DeviceAPI) override { return -1; }
  std::optional<Diagnostic> why_not(const FrozenPipeline &, const std::string &, const Target &,
                                    const SourceLocation &) override {
    return std::nullopt;
  }
  std::vector<std::string> legal_alternatives(const FrozenPipeline &, const std::string &, int,
                                              const Target &) override {
    return {};
  }
  std::string notes;
};

NotingBackend noting;

}  // namespace
}  // namespace generator_test

Backend &backend() { return generator_test::noting; }

namespace generator_test {
namespace {

struct Outcome {
  int code;
  std::string output, errors, notes;
};

Outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "gen");
  std::vector<char *> argv;
  for (std::string &w : words) argv.push_back(w.data());
  std::ostringstream output, errors;
  noting.notes.clear();
  const int code = generate_main(static_cast<int>(argv.size()), argv.data(), output, errors);
  return {code, output.str(), errors.str(), noting.notes};
}

TEST(GeneratorCommandLine, WritesWhatIsAsked) {
  const Outcome r = run({"-g", "brighten", "-f", "bright", "-o", "/tmp", "-e",
                         "object,c_header,stmt", "target=x86-64-linux", "amount=7"});
  EXPECT_EQ(r.errors, "");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.notes,
            "bright(input, extra, output) for x86-64-linux, 2 directives\n"
            "object /tmp/bright.o\n"
            "c_header /tmp/bright.h\n"
            "stmt /tmp/bright.stmt\n");
}

TEST(GeneratorCommandLine, ParametersReachGenerateAndSchedule) {
  const Outcome r = run({"-g", "brighten", "-o", "/tmp", "-n", "base", "target=arm-64-linux",
                         "vector=false", "mode=wrap"});
  EXPECT_EQ(r.errors, "");
  EXPECT_EQ(r.notes,
            "brighten(input, extra, output) for arm-64-linux, 0 directives\n"
            "static_library /tmp/base.a\n"
            "c_header /tmp/base.h\n"
            "registration /tmp/base.registration.cpp\n");
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "target=x86-32-windows", "vector=false", "-e",
                 "object,static_library"})
                .notes,
            "brighten(input, extra, output) for x86-32-windows, 0 directives\n"
            "object /tmp/brighten.obj\n"
            "static_library /tmp/brighten.lib\n");
}

TEST(GeneratorCommandLine, SeveralTargetsMakeOneFunction) {
  const Outcome r = run({"-g", "brighten", "-f", "space::bright", "-o", "/tmp", "-e",
                         "static_library", "target=x86-64-linux-avx2,x86-64-linux"});
  EXPECT_EQ(r.errors, "");
  EXPECT_EQ(r.notes.substr(0, r.notes.find(" for ")), "space::bright");
  EXPECT_NE(r.notes.find("avx2"), std::string::npos);
  EXPECT_NE(r.notes.find(" x86-64-linux\nstatic_library /tmp/bright.a\n"), std::string::npos);
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "target=x86-64-linux,arm-64-linux"}).errors,
            "error: the targets 'x86-64-linux' and 'arm-64-linux' are for different machines\n"
            "  why: one function runs on machines of one architecture and system\n"
            "  fix: compile for them one by one\n");
}

TEST(GeneratorCommandLine, OutputsThatAreNotAvailable) {
  const Outcome r = run({"-g", "brighten", "-o", "/tmp", "-e", "featurization"});
  EXPECT_EQ(r.errors.substr(0, r.errors.find("\n  fix")),
            "error: the output 'featurization' is not available\n"
            "  why: no auto-scheduler is there that would read it");
  const Outcome plugin = run({"-p", "/no/such/plugin.so", "-g", "brighten", "-o", "/tmp"});
  EXPECT_EQ(plugin.errors.rfind("error: cannot load the plugin '/no/such/plugin.so'\n", 0), 0u);
}

TEST(GeneratorCommandLine, DerivativesInThePlaceOfThePipeline) {
  const std::vector<std::string> words = {
      "-g", "brighten", "-o", "/tmp", "-e", "object", "target=x86-64-linux", "vector=false", "-d"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run(more);
  };
  EXPECT_EQ(with({"0"}).notes.substr(0, 31), "brighten(input, extra, output) ");
  testing::internal::CaptureStderr();
  EXPECT_EQ(with({"1"}).notes,
            "brighten(input, extra, _grad_loss_for_output, _grad_loss_output_wrt_input) for "
            "x86-64-linux, 0 directives\n"
            "object /tmp/brighten.o\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Warning: the gradient of generator 'brighten' has no schedule\n"
            "  why: what generate() says is of the pipeline that is differentiated\n"
            "  fix: name an auto-scheduler, as in autoscheduler=polyhalite\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(with({"1", "autoscheduler=polyhalite"}).errors, "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(GeneratorCommandLine, WritesTheRuntime) {
  const Outcome r = run({"-r", "rt", "-o", "/tmp", "-e", "object", "target=x86-64-linux"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.notes, "runtime object /tmp/rt.o\n");
}

TEST(GeneratorCommandLine, ListsGeneratorsWhenNoneIsNamed) {
  const Outcome r = run({"-o", "/tmp"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.errors,
            "error: no generator is named\n"
            "  why: this program has 3:\n"
            "  brighten\n"
            "  forgetful\n"
            "  mistyped\n"
            "  fix: name one of them with -g\n");
}

TEST(GeneratorCommandLine, UnknownGenerator) {
  EXPECT_EQ(run({"-g", "darken", "-o", "/tmp"}).errors,
            "error: there is no generator 'darken'\n"
            "  why: this program has: brighten, forgetful, mistyped\n"
            "  fix: name one of them with -g\n");
}

TEST(GeneratorCommandLine, UnknownOption) {
  EXPECT_EQ(run({"-q", "x"}).errors,
            "error: unknown option '-q'\n"
            "  why: the options are: -g -f -o -n -e -r -p -s -d -t -v --verify --help\n"
            "  fix: see --help\n");
}

TEST(GeneratorCommandLine, UnknownParameter) {
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "colour=red"}).errors,
            "error: generator 'brighten' has no parameter 'colour'\n"
            "  why: its parameters are: target, amount, mode, vector\n"
            "  fix: set one of them, as in NAME=VALUE\n");
}

TEST(GeneratorCommandLine, BadParameterValues) {
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "amount=many"}).errors,
            "error: cannot set parameter 'amount' to 'many'\n"
            "  why: it takes an integer from -2147483648 to 2147483647\n"
            "  fix: give an integer from -2147483648 to 2147483647, as in amount=VALUE\n");
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "amount=201"}).errors,
            "error: cannot set parameter 'amount' to '201'\n"
            "  why: it takes a value from 0 to 200\n"
            "  fix: give a value from 0 to 200, as in amount=VALUE\n");
  EXPECT_EQ(run({"-g", "brighten", "-o", "/tmp", "mode=mirror"}).errors,
            "error: cannot set parameter 'mode' to 'mirror'\n"
            "  why: it takes one of: clamp, wrap\n"
            "  fix: give one of: clamp, wrap, as in mode=VALUE\n");
}

TEST(GeneratorCommandLine, UnwritableFolder) {
  const Outcome r = run({"-g", "brighten", "-o", "/tmp/no/such/folder"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.errors,
            "error: cannot write to the folder '/tmp/no/such/folder'\n"
            "  why: No such file or directory\n"
            "  fix: create it, or name another with -o\n");
}

TEST(GeneratorCommandLine, UnknownKindOfOutput) {
  EXPECT_EQ(
      run({"-g", "brighten", "-o", "/tmp", "-e", "object,pdf"}).errors,
      "error: cannot emit 'pdf'\n"
      "  why: it is no output of a compilation\n"
      "  fix: choose from: object, static_library, c_header, assembly, bitcode, llvm_assembly, "
      "stmt, stmt_html, conceptual_stmt, schedule, algorithm, tree, function_info_header, "
      "registration, python_extension, compiler_log, hlpipe, conceptual_stmt_html, c_source, "
      "ptx, explanation, timed_explanation, cpp_stub\n");
}

TEST(GeneratorCommandLine, BrokenTarget) {
  const Outcome r = run({"-g", "brighten", "-o", "/tmp", "target=vax-64-linux"});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.errors.substr(0, r.errors.find("\n  fix")),
            "error: cannot read the target 'vax-64-linux'\n  why: 'vax' is no known word");
}

TEST(GeneratorCommandLine, HelpListsGeneratorsAndParameters) {
  const Outcome r = run({"--help"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.output.find("parameters of brighten:\n  amount=20\n  mode=clamp\n  vector=true\n"),
            std::string::npos);
}

TEST(GeneratorOutput, UndefinedOutputIsNamed) {
  EXPECT_EQ(run({"-g", "forgetful", "-o", "/tmp"}).errors,
            "error: output 'output' of generator 'forgetful' is undefined\n"
            "  why: generate() gives it no value\n"
            "  fix: define it in generate()\n");
}

TEST(GeneratorOutput, MistypedOutputIsNamed) {
  EXPECT_EQ(run({"-g", "mistyped", "-o", "/tmp"}).errors,
            "error: output 'output' of generator 'mistyped' has type int32\n"
            "  why: it is declared as float32\n"
            "  fix: cast its value to float32, or declare it otherwise\n");
}

}  // namespace
}  // namespace generator_test
}  // namespace polyhalite
