// Extern stages: C functions that compute boxes, compiled against the interpreter and plain loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/generator.h"
#include "polyhalite/polyhalite.h"

extern "C" {

// out(x) = in(-x) + offset.
__attribute__((visibility("default"))) int ph_test_mirror(polyhalite_buffer_t *in, int offset,
                                                          polyhalite_buffer_t *out) {
  const polyhalite_dimension_t &o = out->dim[0];
  const int last = o.min + o.extent - 1;
  if (in->is_bounds_query()) {
    in->dim[0].min = -last;
    in->dim[0].extent = o.extent;
    return 0;
  }
  for (int x = o.min; x <= last; x++) {
    reinterpret_cast<int *>(out->host)[(x - o.min) * o.stride] =
        reinterpret_cast<const int *>(in->host)[(-x - in->dim[0].min) * in->dim[0].stride] + offset;
  }
  return 0;
}

// Sums and differences of a 3-wide row; any shape of the outputs.
__attribute__((visibility("default"))) int ph_test_row(polyhalite_buffer_t *in,
                                                       polyhalite_buffer_t *sum,
                                                       polyhalite_buffer_t *difference) {
  if (in->is_bounds_query()) {
    in->dim[0].min = sum->dim[0].min - 1;
    in->dim[0].extent = sum->dim[0].extent + 2;
    in->dim[1].min = sum->dim[1].min;
    in->dim[1].extent = sum->dim[1].extent;
    return 0;
  }
  for (int y = sum->dim[1].min; y < sum->dim[1].min + sum->dim[1].extent; y++) {
    for (int x = sum->dim[0].min; x < sum->dim[0].min + sum->dim[0].extent; x++) {
      auto at = [](const polyhalite_buffer_t *b, int i, int j) -> int & {
        const int pos[] = {i, j};
        return *reinterpret_cast<int *>(b->address_of(pos));
      };
      at(sum, x, y) = at(in, x - 1, y) + at(in, x, y) + at(in, x + 1, y);
      at(difference, x, y) = at(in, x + 1, y) - at(in, x - 1, y);
    }
  }
  return 0;
}

__attribute__((visibility("default"))) int ph_test_fails(polyhalite_buffer_t *out) {
  return out->host ? -77 : 0;
}

// Copies an image of any layout.
__attribute__((visibility("default"))) int ph_test_copy(polyhalite_buffer_t *in,
                                                        polyhalite_buffer_t *out) {
  if (in->is_bounds_query()) return 0;  // all of it
  for (int x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++) {
    *reinterpret_cast<int *>(out->address_of(&x)) = *reinterpret_cast<int *>(in->address_of(&x));
  }
  return 0;
}

}  // extern "C"

// Functions of C++: their names hold the types of their arguments.
namespace ph_test {
__attribute__((visibility("default"))) int steps(int first, polyhalite_buffer_t *out) {
  if (out->is_bounds_query()) return 0;
  for (int i = 0; i < out->dim[0].extent; i++) {
    reinterpret_cast<int *>(out->host)[i] = first + out->dim[0].min + i;
  }
  return 0;
}
__attribute__((visibility("default"))) int fails(polyhalite_buffer_t *) { return -5; }
__attribute__((visibility("default"))) int at(const int *values, int i) { return values[i]; }
}  // namespace ph_test
__attribute__((visibility("default"))) int ph_test_twice(int x) { return 2 * x; }

namespace polyhalite::extern_stage_test {
namespace {

const std::map<std::string, JITExtern> kFunctions = {{"ph_test_mirror", ph_test_mirror},
                                                     {"ph_test_row", ph_test_row},
                                                     {"ph_test_fails", ph_test_fails},
                                                     {"ph_test_copy", ph_test_copy}};

int differences_from_interpreter(Func f, const Buffer<int> &compiled) {
  Buffer<int> expected = Buffer<int>::make_with_shape_of(compiled);
  interpret(freeze({f.function()}).algorithm, {}, {}, {expected.raw_buffer()});
  int differences = 0;
  compiled.for_each_value([&](int a, int b) { differences += a != b; }, expected);
  return differences;
}

struct Mirrored {
  Func in{"in"}, mirrored{"mirrored"}, out{"out"};
  Var x{"x"}, xo{"xo"}, xi{"xi"};
  Mirrored() {
    in(x) = x * x + x;
    mirrored.define_extern("ph_test_mirror", {in, 5}, Int(32), {x});
    out(x) = mirrored(x) + mirrored(x + 3);
    out.set_jit_externs(kFunctions);
  }
};

TEST(ExternStage, ComputesWhatItAsksFor) {
  Mirrored m;
  m.in.compute_root();
  m.mirrored.compute_root();
  const Buffer<int> out = m.out.realize({50});
  for (int i = 0; i < 50; i++) {
    const int j = i + 3;
    ASSERT_EQ(out(i), i * i - i + 5 + j * j - j + 5) << i;
  }
  EXPECT_EQ(differences_from_interpreter(m.out, out), 0);
}

TEST(ExternStage, InTilesAndInParallel) {
  Mirrored m;
  m.out.split(m.x, m.xo, m.xi, 8).parallel(m.xo).vectorize(m.xi, 4);
  m.mirrored.compute_at(m.out, m.xo);
  m.in.compute_at(m.out, m.xo).vectorize(m.x, 4);
  const Buffer<int> out = m.out.realize({50});
  EXPECT_EQ(differences_from_interpreter(m.out, out), 0);
}

TEST(ExternStage, AsTheOutputAndOfSeveralInputsRows) {
  Func in("in"), stage("stage");
  Var x("x");
  in(x) = 7 * x;
  in.compute_root();
  stage.define_extern("ph_test_mirror", {in, 1}, Int(32), {x});
  stage.set_jit_externs(kFunctions);
  Buffer<int> out(20);
  out.set_min(-4);
  stage.realize(out);
  for (int i = -4; i < 16; i++) ASSERT_EQ(out(i), -7 * i + 1);
}

TEST(ExternStage, InputsOfItAreInferred) {
  ImageParam image(Int(32), 1, "image");
  Func in("in"), stage("stage");
  Var x("x");
  in(x) = image(x + 100);
  in.compute_root();
  stage.define_extern("ph_test_mirror", {in, 0}, Int(32), {x});
  stage.set_jit_externs(kFunctions);
  stage.infer_input_bounds({10});
  EXPECT_EQ(image.get().min(0), 91);
  EXPECT_EQ(image.get().extent(0), 10);
}

TEST(ExternStage, TakesImagesWhole) {
  Buffer<int> values(12);
  values.fill([](int x) { return 3 * x; });
  ImageParam image(Int(32), 1, "image");
  image.set(values);
  Func constant("constant"), bound("bound"), out("out");
  Var x("x");
  constant.define_extern("ph_test_copy", {values}, Int(32), {x});
  bound.define_extern("ph_test_copy", {image}, Int(32), {x});
  constant.compute_root();
  bound.compute_root();
  out(x) = constant(x) * 1000 + bound(x + 1);
  out.set_jit_externs(kFunctions);
  const Buffer<int> result = out.realize({11});
  for (int i = 0; i < 11; i++) ASSERT_EQ(result(i), 3000 * i + 3 * i + 3);
}

TEST(ExternStage, ScalarsMayBeElementsOfImages) {
  Buffer<int> offsets(4);
  offsets.fill([](int x) { return 100 * x; });
  ImageParam image(Int(32), 1, "image");
  image.set(offsets);
  Func in("in"), bound("bound"), constant("constant"), out("out");
  Var x("x");
  in(x) = x * x;
  in.compute_root();
  bound.define_extern("ph_test_mirror", {in, image(2) + 1}, Int(32), {x});
  constant.define_extern("ph_test_mirror", {in, offsets(3)}, Int(32), {x});
  bound.compute_root();
  constant.compute_at(out, x);
  out(x) = bound(x) + 1000 * constant(x);
  out.set_jit_externs(kFunctions);
  const Buffer<int> result = out.realize({9});
  for (int i = 0; i < 9; i++) ASSERT_EQ(result(i), i * i + 201 + 1000 * (i * i + 300)) << i;

  image.reset();
  out.infer_input_bounds({9});
  EXPECT_EQ(image.get().min(0), 2);
  EXPECT_EQ(image.get().extent(0), 1);
  Buffer<int> small(2);
  small.fill(0);
  image.set(small);
  EXPECT_NE(message_of([&] { out.realize({9}); }).find("buffer 'image' is accessed at 2 to 2"),
            std::string::npos);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { Func("f").define_extern("f", {in, image(x)}, Int(32), {x}); }),
            at(line) +
                "error: argument 1 of extern stage 'f' depends on 'x'\n"
                "  why: it is fixed before the loops run\n"
                "  fix: use a constant or an expression of Params, images' sizes and elements");
}

// A ring is given to a C function as one piece of memory.
TEST(ExternStage, RingsDoNotBreakItsBoxInTwo) {
  Mirrored m;
  m.in.compute_root().fold_storage(m.x, 16);
  m.mirrored.compute_root();
  m.out.bound(m.x, -11, 8);  // reads in from 0 to 11, and mirrored from -11 to 0
  EXPECT_EQ(differences_from_interpreter(m.out,
                                         [&] {
                                           Buffer<int> out(8);
                                           out.set_min(-11);
                                           m.out.realize(out);
                                           return out;
                                         }()),
            0);
  Mirrored n;
  n.in.compute_root().fold_storage(n.x, 16);
  n.mirrored.compute_root();
  const std::string text = message_of([&] { n.out.realize({8}); });
  EXPECT_NE(text.find("a C function is given a box of 'in', which fold_storage() of 'x' must not "
                      "break in two"),
            std::string::npos)
      << text;
  Mirrored tiles;
  tiles.out.split(tiles.x, tiles.xo, tiles.xi, 8);
  tiles.in.store_root().compute_at(tiles.out, tiles.xo).fold_storage(tiles.x, 16);
  tiles.mirrored.compute_at(tiles.out, tiles.xo);
  EXPECT_NE(message_of([&] { tiles.out.realize({80}); }).find("the ring begins anew between them"),
            std::string::npos);
}

TEST(ExternStage, FailuresEndTheRun) {
  Func stage("stage"), out("out");
  Var x("x"), y("y");
  stage.define_extern("ph_test_fails", {}, Int(32), {x});
  out(x, y) = stage(x) + y;
  stage.compute_at(out, y);
  out.parallel(y);
  out.set_jit_externs(kFunctions);
  EXPECT_NE(message_of([&] {
              out.realize({4, 8});
            }).find("out: the function 'ph_test_fails' of an extern stage returned -77, not 0"),
            std::string::npos);
}

TEST(ExternStage, MayBeAFunctionOfCPlusPlus) {
  Func by_name("by_name"), by_word("by_word"), out("out");
  Var x("x");
  by_name.define_extern("ph_test::steps", {10}, Int(32), {x});
  by_word.define_extern("ph_test::steps", {100}, Int(32), {x}, NameMangling::CPlusPlus);
  out(x) = by_name(x) + by_word(x);
  by_name.compute_root();
  by_word.compute_root();
  const Buffer<int> result = out.realize({7});
  for (int i = 0; i < 7; i++) ASSERT_EQ(result(i), 110 + 2 * i) << i;
  EXPECT_EQ(differences_from_interpreter(out, result), 0);
  EXPECT_EQ(by_word.extern_function_name(), "ph_test::steps");

  // Messages have the name that people know.
  Func failing("failing");
  failing.define_extern("ph_test::fails", {}, Int(32), {x});
  EXPECT_NE(message_of([&] { failing.realize({4}); }).find("the function 'ph_test::fails' of an "),
            std::string::npos);

  Func other("other");
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { other.define_extern("a::f", {}, Int(32), {x}, NameMangling::C); }),
            at(line) +
                "error: extern stage 'other' of the C function 'a::f'\n"
                "  why: C has no namespaces\n"
                "  fix: take NameMangling::CPlusPlus, or a name without colons");
}

TEST(ExternStage, ExpressionsCallFunctionsOfCPlusPlus) {
  Param<const int *> values("values");
  Func f("f");
  Var x("x");
  f(x) = extern_call(Int(32), "ph_test::at", {values, x}, {type_of<const int *>(), Int(32)}) +
         extern_call(Int(32), "::ph_test_twice", {x}, {Int(32)});
  const int table[] = {5, 7, 11, 13};
  values.set(&table[0]);
  const Buffer<int> result = f.realize({4});
  for (int i = 0; i < 4; i++) ASSERT_EQ(result(i), table[i] + 2 * i) << i;
}

TEST(ExternStage, RefusesWhatNoCFunctionCanTake) {
  Func in("in"), stage("stage"), undefined("undefined"), other("other");
  Var x("x");
  in(x) = x;
  stage.define_extern("ph_test_mirror", {in, 1}, Int(32), {x});
  const std::string text = message_of([&] { stage.realize({4}); });
  EXPECT_NE(text.find("error: extern stage 'stage' takes 'in', which is computed inline\n"
                      "  why: the C function 'ph_test_mirror' reads it from memory\n"
                      "  fix: add compute_root or compute_at to 'in'"),
            std::string::npos)
      << text;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { other.define_extern("f", {undefined}, Int(32), {x}); }),
            at(line) +
                "error: argument 0 of extern stage 'other' is 'undefined', which is undefined\n"
                "  why: there is nothing to pass\n"
                "  fix: define it first, as in f(x, y) = ...");
  EXPECT_TRUE(stage.is_extern());
  EXPECT_EQ(stage.extern_function_name(), "ph_test_mirror");
}

// Handed on as the pipeline's own argument, it needs no schedule.
class Mirror : public Generator<Mirror> {
 public:
  Input<Func> in{"in", Int(32), 1};
  Output<Func> out{"out", Int(32), 1};
  void generate() {
    std::vector<ExternFuncArgument> arguments;
    arguments.push_back(in);
    arguments.push_back(100);
    out.define_extern("ph_test_mirror", arguments, Int(32), 1);
  }
};

TEST(ExternStage, TakesTheInputFuncOfAGenerator) {
  auto mirror = Mirror::create(GeneratorContext(get_host_target()));
  Callable callable = mirror->compile_to_callable();
  Buffer<int, 1> in(5), out(5);
  in.set_min(-4);
  for (int x = -4; x <= 0; x++) in(x) = x * x;
  EXPECT_EQ(callable(in, out), 0);
  for (int x = 0; x < 5; x++) EXPECT_EQ(out(x), x * x + 100) << x;

  // As a stub it gets a Func, which is scheduled as others are.
  auto of_func = Mirror::create(GeneratorContext(get_host_target()));
  Var x("x");
  Func given("given");
  given(x) = 7 * x;
  of_func->apply(given);
  EXPECT_NE(
      message_of([&] { of_func->realize({5}); }).find("takes 'given', which is computed inline"),
      std::string::npos);
}

}  // namespace
}  // namespace polyhalite::extern_stage_test
