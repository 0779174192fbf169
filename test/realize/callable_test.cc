// Callable, constraints on outputs, functions of the program in expressions, limits of sizes.
#include "polyhalite/callable.h"

#include <gtest/gtest.h>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::callable_test {
namespace {

struct Scaled {
  ImageParam in{UInt(8), 1, "in"};
  Param<int> k{"k"};
  Func f{"f"};
  Var x{"x"};
  Scaled() { f(x) = cast<int>(in(x)) * k; }
};

TEST(Callable, TakesInputsAndOutputsInOrder) {
  Scaled s;
  const Callable c = s.f.compile_to_callable({s.in, s.k});
  Buffer<uint8_t> in(6);
  in.fill([](int x) { return x; });
  Buffer<int> out(6);
  EXPECT_EQ(c(in, 7, out), 0);
  EXPECT_EQ(out(5), 35);
  runtime::Buffer<int, 1> raw(6);
  EXPECT_EQ(c(in, -1, raw), 0);
  EXPECT_EQ(raw(2), -2);
  const Callable swapped = s.f.compile_to_callable({s.k, s.in});
  EXPECT_EQ(swapped(3, in, out), 0);
  EXPECT_EQ(out(5), 15);
  ASSERT_EQ(c.arguments().size(), 3u);
  EXPECT_EQ(c.arguments()[0].name, "in");
  EXPECT_EQ(c.arguments()[2].kind, Argument::OutputBuffer);
}

TEST(Callable, BecomesAStdFunction) {
  Scaled s;
  const auto call = s.f.compile_to_callable({s.in, s.k})
                        .make_std_function<Buffer<uint8_t, 1>, int, Buffer<int, 1>>();
  Buffer<uint8_t, 1> in(3);
  in.fill(uint8_t{4});
  Buffer<int, 1> out(3);
  EXPECT_EQ(call(in, 5, out), 0);
  EXPECT_TRUE(out.all_equal(20));
}

TEST(Callable, RefusesOtherArguments) {
  Scaled s;
  const Callable c = s.f.compile_to_callable({s.in, s.k});
  Buffer<uint8_t> in(3);
  Buffer<int> out(3);
  EXPECT_EQ(message_of([&] { c(in, 2.5, out); }),
            "error: Argument 2 of 3 ('k') was expected to be a scalar of type 'int32' and "
            "dimension 0\n"
            "  why: got a scalar of type 'float64' and dimension 0\n"
            "  fix: give such an argument");
  EXPECT_EQ(message_of([&] { c(in, out); }),
            "error: a Callable got 2 arguments\n"
            "  why: it takes 3, inputs and outputs\n"
            "  fix: give one argument for each");
  EXPECT_EQ(message_of([&] { c(Buffer<uint8_t>(), 1, out); }),
            "error: Buffer argument in is nullptr\n"
            "  why: there are no elements to use\n"
            "  fix: give a Buffer that is defined");
  EXPECT_EQ(message_of([&] { s.f.compile_to_callable({s.in}); }),
            "error: the pipeline uses Param 'k', which is no argument\n"
            "  why: the caller of the compiled function could not pass it\n"
            "  fix: add it to the list of arguments, or in a generator make it an Input");
}

TEST(Callable, ArgumentsMayBeGivenByName) {
  Scaled s;
  const Callable c =
      s.f.compile_to_callable({Argument("unread", Argument::InputScalar, Float(32), 0), s.in,
                               Argument("k", Argument::InputScalar, Int(32), 0)});
  Buffer<uint8_t> in(3);
  in.fill(uint8_t{2});
  Buffer<int> out(3);
  EXPECT_EQ(c(1.0f, in, 6, out), 0);
  EXPECT_TRUE(out.all_equal(12));
}

TEST(OutputBuffer, ConstraintsAreChecked) {
  Func f("f");
  Var x("x");
  f(x) = x;
  f.output_buffer().dim(0).set_extent(16);
  EXPECT_EQ(Buffer<int>(f.realize({16}))(3), 3);
  Buffer<int> out(15);
  EXPECT_NE(message_of([&] { f.realize(out); })
                .find("the extent of dimension 0 of buffer 'f' is 15, but the pipeline was "
                      "compiled for 16"),
            std::string::npos);
}

TEST(OutputBuffer, StridesMayBeFree) {
  Func f("f");
  Var x("x"), y("y");
  f(x, y) = x + 10 * y;
  f.output_buffer().dim(0).set_stride(Expr());
  Buffer<int> interleaved({4, 3}, std::vector<int>{1, 0});
  f.realize(interleaved);
  EXPECT_EQ(interleaved(3, 2), 23);
  Buffer<int> planar(4, 3);
  f.realize(planar);
  EXPECT_EQ(planar(3, 2), 23);
}

TEST(OutputBuffer, AlignmentIsChecked) {
  Func f("f");
  Var x("x");
  f(x) = x;
  f.output_buffer().set_host_alignment(64);
  Buffer<int> out(32);
  f.realize(out);
  EXPECT_EQ(out(9), 9);
  out.crop(0, 1, 8);
  const int line = __LINE__ + 1;
  EXPECT_EQ(
      message_of([&] { f.realize(out); }),
      at(line) +
          "error: f: the elements of buffer 'f' do not begin at a multiple of 64 bytes, as was "
          "promised; pass such a buffer, or lift the promise made with set_host_alignment");
  EXPECT_EQ(f.output_buffer().host_alignment(), 64);
}

TEST(OutputBuffer, InputsMayDependOnIt) {
  Func f("f");
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  f(x) = in(x);
  in.dim(0).set_extent(f.output_buffer().dim(0).extent() + 2);
  in.set(Buffer<int>(10));
  f.realize({8});
  EXPECT_NE(message_of([&] { f.realize({7}); }).find("is 10, but the pipeline was compiled for 9"),
            std::string::npos);
}

int32_t negated(int8_t v) { return -v; }

TEST(ExternCall, FindsTheProgramsFunctions) {
  Func f("f");
  Var x("x");
  f(x) = extern_call(Int(32), "negated_narrow", {cast<int8_t>(x)}, {Int(8)});
  f.set_jit_externs({{"negated_narrow", JITExtern(negated)}});
  const Buffer<int> out = f.realize({200});
  EXPECT_EQ(out(100), -100);
  EXPECT_EQ(out(128), 128);
}

TEST(ExternCall, InterpretsAsItRuns) {
  Func f("f");
  Var x("x");
  f(x) = extern_call(Float(32), "ldexpf", {cast<float>(x) + 0.5f, x % 5}, {Float(32), Int(32)});
  f.vectorize(x, 4);
  const Buffer<float> compiled = f.realize({50});
  Buffer<float> expected(50);
  interpret(freeze({f.function()}).algorithm, {}, {}, {expected.raw_buffer()});
  int differences = 0;
  compiled.for_each_value([&](float a, float b) { differences += a != b; }, expected);
  EXPECT_EQ(differences, 0);
  EXPECT_EQ(compiled(9), 152.0f);
}

TEST(ExternCall, RefusesOtherTypesAndUnknownNames) {
  Var x("x");
  EXPECT_NE(message_of([&] { extern_call(Int(32), "g", {Expr(1.0f)}, {Int(8)}); })
                .find("error: argument 0 of 'g' has type float32\n"
                      "  why: its parameter is declared as int8, and the arguments of C functions "
                      "are not converted\n"
                      "  fix: cast it, as in cast<int>(e)"),
            std::string::npos);
  Func f("f");
  f(x) = extern_call(Int(32), "there_is_no_such_function", {x}, {Int(32)});
  EXPECT_NE(message_of([&] { f.realize({2}); })
                .find("the pipeline cannot be linked in this process\n"
                      "  why: Symbols not found: [ there_is_no_such_function ]\n"),
            std::string::npos);
}

TEST(Limits, OfParametersThatNothingUsesAreNotChecked) {
  Param<int> used("used"), named("named"), unused("unused");
  used.set_min_value(named);
  named.set_max_value(10);
  unused.set_range(1, 5);
  Var x("x");
  Func f("f");
  f(x) = x + used;
  const Callable c = f.compile_to_callable({used, named, unused});
  Buffer<int> out(3);
  EXPECT_EQ(c(7, 6, 0, out), 0);
  EXPECT_EQ(out(2), 9);
  EXPECT_NE(message_of([&] { c(5, 6, 0, out); }).find("'used'"), std::string::npos);
  // A limit uses what it names.
  EXPECT_NE(message_of([&] { c(12, 11, 0, out); }).find("'named'"), std::string::npos);
}

TEST(Limits, HoldForBuffersWhereTheProgramWantsThem) {
  Func f("f");
  Var x("x"), y("y"), z("z");
  f(x, y, z) = cast<uint8_t>(42);
  uint8_t row[4096];
  const polyhalite_dimension_t shape[] = {{0, 4096, 1}, {0, 4096, 0}, {0, 256, 0}};
  Buffer<uint8_t> out(row, 3, shape);
  set_default_buffer_limit(INT32_MAX);
  const std::string refused = message_of([&] { f.realize(out); });
  const std::string large = message_of([&] {
    f.realize(out, get_jit_target_from_environment().with_feature(Target::LargeBuffers));
  });
  set_default_buffer_limit(std::nullopt);
  EXPECT_NE(refused.find("buffer 'f'"), std::string::npos) << refused;
  EXPECT_EQ(large, "no error");
  EXPECT_EQ(row[4095], 42);
}

TEST(Limits, SizesBeyondTheAddressSpaceAreNoMemory) {
  Func big("big"), f("f");
  Var x("x"), y("y"), z("z"), w("w");
  Param<int> n("n");
  big(x, y, z, w) = cast<uint8_t>(x);
  RDom r(0, n, 0, n, 0, n, 0, n, "r");
  f() = cast<uint8_t>(0);
  f() += big(r.x, r.y, r.z, r.w);
  big.compute_root();
  n.set(65536);
  EXPECT_NE(message_of([&] { f.realize(); }).find("'big' has more bytes than are addressed"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite::callable_test
