// Inputs and outputs of generators in all their forms, configure(), aliases, and generators that
// are called from C++. The interpreter of test/lang runs no pipelines: what is compared is the
// frozen algorithm's text.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/generator.h"

namespace {

using namespace polyhalite;

class Forms : public Generator<Forms> {
 public:
  GeneratorParam<int> terms{"terms", 2};
  GeneratorParam<std::vector<int>> weights{"weights", {1, 2}};
  Input<Buffer<>> open{"open"};
  Input<Func> func{"func", polyhalite::Float(32), 1};
  Input<Buffer<uint8_t, 1>[2]> images{"images"};
  Input<Func[]> funcs{"funcs", polyhalite::Int(16), 1};
  Input<int32_t[2]> numbers{"numbers", 3, 0, 10};
  Input<Expr> any{"any"};
  Input<void *> address{"address", nullptr};
  Output<Buffer<>> result{"result"};
  Output<Func[]> many{"many", polyhalite::Int(32), 1};
  Output<float> single{"single"};

  void configure() {
    for (int i = 0; i < terms; i++) {
      added.push_back(add_input<Buffer<uint8_t, 1>>("added_" + std::to_string(i)));
    }
    added_scalar = add_input<Expr>("added_scalar", polyhalite::Int(8));
    added_output = add_output<Buffer<void, 1>>("added_output", polyhalite::UInt(16));
    any.set_type(polyhalite::Int(32));
  }
  void generate() {
    Expr sum = cast<int>(open(x)) + cast<int>(func(x)) + numbers[0] + numbers[1] + any;
    for (auto *a : added) sum += cast<int>((*a)(x));
    for (size_t i = 0; i < images.size(); i++) sum += images[i](x);
    result(x) = sum * weights.value()[1];
    many.resize(funcs.size());
    for (size_t i = 0; i < funcs.size(); i++) many[i](x) = cast<int>(funcs[i](x));
    single() = 1.5f;
    (*added_output)(x) = cast<uint16_t>(*added_scalar);
  }

  std::vector<Input<Buffer<uint8_t, 1>> *> added;
  Input<Expr> *added_scalar = nullptr;
  Output<Buffer<void, 1>> *added_output = nullptr;
  Var x{"x"};
};

class Offset : public Generator<Offset> {
 public:
  GeneratorParam<int> offset{"offset", 1};
  GeneratorParam<LoopLevel> level{"level", LoopLevel::root()};
  Input<Func> input{"input"};
  Output<Func> output{"output"};
  void generate() {
    output(x) = input(x) + offset;
    // Of an image it is _0, of a Func its own first argument.
    input.set_estimate(input.args()[0], 0, 64);
    output.compute_at(level);
  }
  Var x{"x"};
};

class Twice : public Generator<Twice> {
 public:
  Input<Buffer<int, 1>> input{"input"};
  Output<Buffer<int, 1>> output{"output"};
  void generate() {
    auto first = apply<Offset>(input);
    auto second = create<Offset>();
    second->offset.set(10);
    second->apply(first->output);
    first->level.set({second->output, Var("x")});
    output = second->output;
  }
};

class Swapped : public Generator<Swapped> {
 public:
  Output<Buffer<int, 1>> output{"output"};
  Input<int> input{"input"};
  void generate() { output(Var("x")) = input; }
};

class Clash : public Generator<Clash> {
 public:
  Input<int> input{"same"};
  Output<Buffer<int, 1>> output{"same"};
  void generate() {}
};

class Early : public Generator<Early> {
 public:
  Input<int> input{"input"};
  Output<Buffer<int, 1>> output{"output"};
  void configure() { value = input; }
  polyhalite::Expr value;
  void generate() { output(Var("x")) = input; }
};

class Estimated : public Generator<Estimated> {
 public:
  Input<float> gain{"gain"};
  Input<uint8_t[2]> levels{"levels"};
  Input<bool> on{"on"};
  Input<Expr> any{"any", polyhalite::Float(32)};
  Output<Buffer<float, 1>> output{"output"};
  void generate() {
    // Plain numbers of other types, as C++ converts them.
    gain.set_estimate(2.5);
    levels.set_estimate(1, 7);
    on.set_estimate(true);
    any.set_estimate(0.5f);
    output(Var("x")) = select(on, gain, any) + levels[0] + levels[1];
  }
};

class Late : public Generator<Late> {
 public:
  Output<Buffer<int, 1>> output{"output"};
  void generate() {
    add_input<int>("more");
    output(Var("x")) = 1;
  }
};

}  // namespace

namespace polyhalite::generator_forms_test {
namespace {

// Registered for the time of a test, so that other tests see their own generators only.
class GeneratorForms : public testing::Test {
 protected:
  GeneratorForms() {
    add<Forms>("forms");
    add<Offset>("offset", "tools::nested::OffsetBy");
    add<Twice>("twice");
    add<Swapped>("swapped");
    add<Clash>("clash");
    add<Early>("early");
    add<Late>("late");
    add<Estimated>("estimated");
    GeneratorRegistry::add_alias("offset_by_7", "offset", {{"offset", "7"}});
    names_.push_back("offset_by_7");
  }
  ~GeneratorForms() override {
    for (const char *name : names_) GeneratorRegistry::remove(name);
  }

 private:
  template <typename T>
  void add(const char *name, const char *stub = "") {
    GeneratorRegistry::add(name, [] { return std::unique_ptr<GeneratorBase>(new T); }, stub);
    names_.push_back(name);
  }
  std::vector<const char *> names_;
};

FrozenPipeline frozen(GeneratorBase &g) {
  std::vector<std::shared_ptr<FunctionContents>> outputs;
  for (const Func &f : g.build_pipeline().outputs()) outputs.push_back(f.function());
  std::vector<std::shared_ptr<ParameterContents>> inputs;
  for (const Argument &a : g.arguments()) inputs.push_back(a.parameter().contents());
  FrozenPipeline p = freeze(outputs, inputs);
  check_arguments(p, inputs);
  return p;
}

std::string input_list(const FrozenPipeline &p) {
  std::string s;
  for (const AlgorithmInput &i : p.algorithm.inputs) {
    s += (s.empty() ? "" : ", ") + i.param->name + ":" + i.param->type.to_string();
    if (i.param->is_buffer) s += "[" + std::to_string(i.param->dimensions) + "]";
  }
  return s;
}

TEST_F(GeneratorForms, DeclaredThenAdded) {
  auto g = GeneratorRegistry::make("forms", GeneratorContext(Target("x86-64-linux")));
  g->set_generatorparam_values({{"open.type", "uint16"},
                                {"open.dim", "1"},
                                {"funcs.size", "2"},
                                {"weights", "4,5"},
                                {"terms", "1"}});
  const FrozenPipeline p = frozen(*g);
  EXPECT_EQ(input_list(p),
            "open:uint16[1], func:float32[1], images_0:uint8[1], images_1:uint8[1], "
            "funcs_0:int16[1], funcs_1:int16[1], numbers_0:int32, numbers_1:int32, any:int32, "
            "address:handle64, added_0:uint8[1], added_scalar:int8");
  EXPECT_EQ(p.algorithm.outputs,
            (std::vector<std::string>{"result", "many_0", "many_1", "single", "added_output"}));
  EXPECT_EQ(g->output_names(), p.algorithm.outputs);
  EXPECT_NE(to_text(p.algorithm).find("*5"), std::string::npos) << to_text(p.algorithm);
}

TEST_F(GeneratorForms, EstimatesOfScalarsHaveTheirTypes) {
  const FrozenPipeline p = frozen(*GeneratorRegistry::make("estimated"));
  const std::string text = to_text(p.algorithm);
  for (const char *line :
       {"param gain: float32, estimate 2.5f\n", "param levels_0: uint8\n",
        "param levels_1: uint8, estimate 7u8\n", "param on: bool, estimate true\n",
        "param any: float32, estimate 0.5f\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST_F(GeneratorForms, OpenShapesAreNamed) {
  auto g = GeneratorRegistry::make("forms");
  EXPECT_EQ(message_of([&] { g->build_pipeline(); }),
            "error: input 'open' has no type\n"
            "  why: neither its declaration nor configure() gives one\n"
            "  fix: set it on the command line, as in open.type=uint8");
  auto h = GeneratorRegistry::make("forms");
  EXPECT_EQ(message_of([&] { h->set_generatorparam_value("func.type", "int8"); }),
            "error: the type of input 'func' is set to int8\n"
            "  why: it is declared as float32\n"
            "  fix: leave the type out of the declaration");
}

TEST_F(GeneratorForms, GeneratorsCallEachOther) {
  const FrozenPipeline p = frozen(*GeneratorRegistry::make("twice"));
  EXPECT_EQ(p.algorithm.funcs.size(), 3u);
  EXPECT_EQ(p.algorithm.inputs.size(), 1u);
  // What the first was told of its place holds for what it had scheduled already.
  std::vector<DirectiveKind> kinds;
  for (const Directive &d : p.directives) kinds.push_back(d.kind);
  EXPECT_EQ(kinds,
            (std::vector<DirectiveKind>{DirectiveKind::ComputeAt, DirectiveKind::ComputeRoot}));
}

TEST_F(GeneratorForms, AliasesSetParameters) {
  auto g = GeneratorRegistry::make("offset_by_7", GeneratorContext(Target("x86-64-linux")));
  EXPECT_EQ(g->name(), "offset_by_7");
  Buffer<int, 1> constant(4);
  g->set_inputs(constant);
  const FrozenPipeline p = frozen(*g);
  EXPECT_TRUE(p.algorithm.inputs.empty());  // the Buffer is a constant of the pipeline
  EXPECT_NE(to_text(p.algorithm).find("+ 7"), std::string::npos) << to_text(p.algorithm);
}

TEST_F(GeneratorForms, StubDeclaresInputsParametersAndOutputs) {
  auto g = GeneratorRegistry::make("offset");
  const std::string header = g->stub_header();
  for (const char *part : {"namespace tools {\nnamespace nested {\nclass OffsetBy {",
                           "    ::polyhalite::Func input;\n", "    int32_t offset = 1;\n",
                           "    ::polyhalite::LoopLevel level = ::polyhalite::LoopLevel::root();\n",
                           "    ::polyhalite::Func output;\n",
                           "operator ::polyhalite::Func() const { return output; }"}) {
    EXPECT_NE(header.find(part), std::string::npos) << part << "\nin\n" << header;
  }
}

TEST_F(GeneratorForms, Mistakes) {
  auto of = [](const char *name) {
    return message_of([&] { GeneratorRegistry::make(name)->build_pipeline(); });
  };
  EXPECT_EQ(of("swapped"),
            "error: input 'input' of generator 'swapped' is declared behind an output\n"
            "  why: the C function takes inputs first\n"
            "  fix: declare inputs first, or override allow_out_of_order_inputs_and_outputs()");
  EXPECT_EQ(of("clash"),
            "error: output 'same' has the name of another member\n"
            "  why: input 'same' is declared before\n"
            "  fix: give one of them another name");
  EXPECT_EQ(of("early"),
            "error: input 'input' is used before generate()\n"
            "  why: inputs and outputs have their values from generate() on\n"
            "  fix: use it in generate()");
  EXPECT_EQ(of("late"),
            "error: 'more' is added outside of configure()\n"
            "  why: the C function's arguments are fixed when configure() returns\n"
            "  fix: add it in configure()");
  auto g = GeneratorRegistry::make("twice");
  EXPECT_EQ(message_of([&] { g->set_inputs(3); }),
            "error: a scalar is bound to input 'input'\n"
            "  why: it is a Buffer\n"
            "  fix: bind a Buffer");
  EXPECT_EQ(message_of([&] { g->set_inputs(Buffer<float, 1>(3)); }),
            "error: a value of type float32 is bound to input 'input'\n"
            "  why: its type is int32\n"
            "  fix: cast the value to that type");
  EXPECT_EQ(message_of([&] { g->set_inputs(); }),
            "error: generator 'twice' got 0 inputs\n"
            "  why: it declares 1\n"
            "  fix: give one for each; arrays take a vector");
  auto h = GeneratorRegistry::make("twice");
  h->set_generatorparam_value("autoscheduler", "Somebody2030");
  const std::string message = message_of([&] { h->build_pipeline(); });
  EXPECT_NE(message.find("error: the auto-scheduler 'Somebody2030' is not available\n"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace polyhalite::generator_forms_test
