// Pipelines that go through text compute what they computed before, under the same schedule.
#include "polyhalite/serialize.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "polyhalite/polyhalite.h"

namespace polyhalite::serialize_test {
namespace {

struct Program {
  ImageParam input{UInt(8), 2, "input"};
  Param<int> gain{"gain", 3, 1, 9};
  Var x{"x"}, y{"y"}, xi{"xi"};
  Func blur{"blur"}, sum{"sum"};
  RDom r{0, 3, "r"};
  Buffer<int> weights{3};

  Program() {
    for (int i = 0; i < 3; i++) weights(i) = 10 * i + 1;
    blur(x, y) = cast<int>(input(x, y)) + input(x + 1, y);
    sum(x, y) = 0;
    sum(x, y) += blur(x + r, y) * weights(r) * gain;
    sum.update().split(x, x, xi, 8).vectorize(xi);
    blur.compute_at(sum, y);
    input.dim(0).set_estimate(0, 100);
  }

  static Buffer<uint8_t> picture() {
    Buffer<uint8_t> b(40, 10);
    for (int y = 0; y < 10; y++) {
      for (int x = 0; x < 40; x++) b(x, y) = static_cast<uint8_t>(x * 7 + y * 13);
    }
    return b;
  }
};

std::string text_of(const std::vector<uint8_t> &data) {
  return std::string(data.begin(), data.end());
}

TEST(Serialize, GoesRoundWithAlgorithmScheduleParametersAndConstants) {
  Program p;
  p.input.set(Program::picture());
  const Buffer<int> before = p.sum.realize({16, 10});
  std::vector<uint8_t> data, again;
  std::map<std::string, Parameter> inputs;
  serialize_pipeline(Pipeline(p.sum), data, inputs);
  EXPECT_EQ(inputs.size(), 2u);

  // The same program's inputs, then new ones.
  Pipeline same = deserialize_pipeline(data, inputs);
  const Buffer<int> after = same.realize({16, 10});
  for (int y = 0; y < 10; y++) {
    for (int x = 0; x < 16; x++) ASSERT_EQ(after(x, y), before(x, y)) << x << ", " << y;
  }
  serialize_pipeline(same, again);
  EXPECT_EQ(text_of(again), text_of(data));

  Param<int> gain("gain", 1);
  ImageParam input(UInt(8), 2, "input");
  input.set(Program::picture());
  Pipeline other =
      deserialize_pipeline(data, {{"gain", gain.parameter()}, {"input", input.parameter()}});
  const Buffer<int> third = other.realize({16, 10});
  EXPECT_EQ(third(5, 5) * 3, before(5, 5));
}

// The boundary's Func without a name is called like the user's, and stands before it.
TEST(Serialize, FuncsOfOneNameKeepTheirs) {
  Var x("x");
  Buffer<int> image(9);
  image.fill(1);
  RDom r(1, 8, "r");
  Func f("f"), around = BoundaryConditions::constant_exterior(image, 0), out("out");
  f(x) = 0;
  f(r) = f(r - 1) + around(r - 1);
  out(x) = f(x);
  f.compute_root();
  std::vector<uint8_t> data, again;
  serialize_pipeline(Pipeline(out), data);
  ASSERT_NE(text_of(data).find("f$1(_0)"), std::string::npos) << text_of(data);
  serialize_pipeline(deserialize_pipeline(data), again);
  EXPECT_EQ(text_of(again), text_of(data));
}

TEST(Serialize, EstimatesAreKept) {
  Program p;
  p.sum.set_estimate(p.y, -2, 480);
  p.blur.set_estimates({{0, 642}, {1, 480}});
  std::vector<uint8_t> data, again;
  serialize_pipeline(Pipeline(p.sum), data);
  EXPECT_NE(text_of(data).find("estimates sum, min.1 -2, extent.1 480\n"), std::string::npos);
  EXPECT_NE(text_of(data).find("estimates blur, min.0 0, extent.0 642, min.1 1, extent.1 480\n"),
            std::string::npos)
      << text_of(data);
  serialize_pipeline(deserialize_pipeline(data), again);
  EXPECT_EQ(text_of(again), text_of(data));
}

TEST(Serialize, ConstraintsOnOutputsAreKept) {
  Program p;
  p.sum.output_buffer().dim(0).set_bounds(0, 16).dim(1).set_stride(32);
  std::vector<uint8_t> data, again;
  serialize_pipeline(Pipeline(p.sum), data);
  serialize_pipeline(deserialize_pipeline(data), again);
  EXPECT_EQ(text_of(again), text_of(data));
  EXPECT_NE(text_of(data).find("32"), std::string::npos);
}

// Funcs that words made are in the text as words, and are made again.
TEST(Serialize, WordsThatMakeFuncsGoRound) {
  Var x("x"), y("y"), u("u");
  Func table("table"), f("f"), near("near"), sum("sum"), g("g");
  table(x) = cast<uint8_t>(x * 3);
  f(x, y) = cast<int>(table(x)) + y;
  near(x, y) = f(x, y) * 2;
  RDom r(0, 12, "r");
  sum(x) = 0;
  sum(x) += x * near(x + r, r);
  g(x) = sum(x) + f(x, 1);

  Func wide = table.change_type(Int(32));
  wide.compute_root();
  sum.update().eager_inline(near);
  Func invariant = sum.update().hoist_invariants()[0];
  invariant.compute_at(sum, x);
  RVar ro("ro"), ri("ri");
  Func partial = invariant.update().split(r, ro, ri, 4).rfactor(ro, u);
  partial.compute_at(sum, x);
  Func of_g = f.in(g), copy = f.clone_in(partial);
  of_g.compute_root();
  copy.compute_root();
  f.compute_root();
  g.stream_stores().stream_loads();

  std::vector<uint8_t> data, again;
  serialize_pipeline(Pipeline(g), data);
  for (const char *word : {"change_type", "eager_inline", "hoist_invariants", "rfactor", ".in(",
                           "clone_in", "stream_stores", "stream_loads"}) {
    EXPECT_NE(text_of(data).find(word), std::string::npos) << word << "\n" << text_of(data);
  }
  Pipeline read = deserialize_pipeline(data);
  serialize_pipeline(read, again);
  EXPECT_EQ(text_of(again), text_of(data));

  const Buffer<int> before = g.realize({16}), after = read.realize({16});
  for (int i = 0; i < 16; i++) ASSERT_EQ(after(i), before(i)) << i;

  // What was read can be scheduled further: its Funcs know each other.
  Func out = read.outputs()[0];
  out.vectorize(out.args()[0], 4);
  const Buffer<int> further = out.realize({16});
  for (int i = 0; i < 16; i++) ASSERT_EQ(further(i), before(i)) << i;
}

TEST(Serialize, ThroughAFile) {
  char name[] = "/tmp/polyhalite_serialize_XXXXXX";
  const std::string folder = mkdtemp(name), file = folder + "/sum.hlpipe";
  serialize_pipeline(Pipeline(Program().sum), file);
  EXPECT_EQ(deserialize_parameters(file).size(), 2u);
  EXPECT_EQ(deserialize_pipeline(file).outputs().size(), 1u);
  std::filesystem::remove_all(folder);
}

// What the reader throws, or nothing.
std::string failure(const std::string &text) {
  std::istringstream in(text);
  try {
    deserialize_pipeline(in);
  } catch (const CompileError &e) {
    return e.what();
  }
  return "";
}

TEST(Serialize, BrokenTextsAreRefused) {
  EXPECT_EQ(failure("no pipeline"),
            "pipeline:1: error: this is no text of a pipeline\n"
            "  why: it does not begin with 'pipeline 1'\n"
            "  fix: give what serialize_pipeline wrote");
  EXPECT_EQ(failure("pipeline 7\n"),
            "pipeline:1: error: a pipeline of another version\n"
            "  why: this library reads version 1\n"
            "  fix: write it again with this version");
  EXPECT_EQ(failure("pipeline 1\nalgorithm 1\n"),
            "pipeline:2: error: the text of a pipeline is cut off\n"
            "  why: its last line is not 'end'\n"
            "  fix: write it again, and check that there is room for all of it");
}

TEST(Serialize, EveryTruncationIsRefused) {
  std::vector<uint8_t> data;
  serialize_pipeline(Pipeline(Program().sum), data);
  const std::string text = text_of(data);
  EXPECT_EQ(failure(text), "");
  for (size_t n = 0; n < text.size(); n += 1 + n % 7) {
    EXPECT_NE(failure(text.substr(0, n)), "") << n;
  }
  // Lines that are missing in the middle are an error or another pipeline, never a crash.
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    const size_t end = text.find('\n', at + 1);
    failure(text.substr(0, at) + text.substr(end));
  }
}

TEST(Serialize, InputsThatDoNotFit) {
  std::vector<uint8_t> data;
  serialize_pipeline(Pipeline(Program().sum), data);
  Param<float> gain("gain");
  try {
    deserialize_pipeline(data, {{"gain", gain.parameter()}});
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(std::string(e.what()),
              "error: the input given for 'gain' has type float32\n"
              "  why: the pipeline takes int32\n"
              "  fix: give one of that type");
  }
}

}  // namespace
}  // namespace polyhalite::serialize_test
