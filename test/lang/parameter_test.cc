// Parameter: handles on inputs, whatever their type.
#include "polyhalite/parameter.h"

#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/ir/node.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::parameter_test {
namespace {

TEST(ParameterHandle, StandsForItsInput) {
  Param<int16_t> k("k");
  Parameter p = k.parameter();
  EXPECT_TRUE(p.defined() && p.same_as(k.parameter()));
  EXPECT_EQ(p.name(), "k");
  EXPECT_EQ(p.type(), Int(16));
  EXPECT_FALSE(p.is_buffer() || p.has_scalar_value());
  p.set_scalar<int16_t>(-5);
  EXPECT_EQ(k.get(), -5);
  k.set(7);
  EXPECT_EQ(p.scalar<int16_t>(), 7);
  int64_t constant = 0;
  EXPECT_TRUE(is_const_int(p.scalar_expr(), &constant) && constant == 7);
  p.set_max_value(100);
  EXPECT_TRUE(k.max_value().defined());
}

TEST(ParameterHandle, OfImages) {
  ImageParam in(UInt(8), 2, "in");
  Parameter p = in.parameter();
  EXPECT_TRUE(p.is_buffer());
  EXPECT_EQ(p.dimensions(), 2);
  Buffer<uint8_t> b(3, 4);
  p.set_buffer(b);
  EXPECT_EQ(in.get().dim(1).extent(), 4);
  p.set_buffer(Buffer<>());
  EXPECT_FALSE(p.buffer().defined());
  p.set_extent_constraint(1, 16);
  EXPECT_TRUE(p.extent_constraint(1).defined());
  EXPECT_FALSE(p.min_constraint(1).defined());
}

TEST(ParameterHandle, MadeByItself) {
  Parameter scalar(Float(32), false, 0, "s"), image(Int(32), true, 3, "i");
  EXPECT_EQ(scalar.name(), "s");
  EXPECT_EQ(image.dimensions(), 3);
  EXPECT_EQ(ImageParam(image.contents()).name(), "i");
  std::map<std::string, Parameter> list;
  list.insert({"s", scalar});
  EXPECT_TRUE(list.at("s") == scalar);
}

TEST(ParameterHandle, RefusesTheOtherKind) {
  EXPECT_EQ(message_of([] { Parameter().type(); }),
            "error: an undefined Parameter is used\n"
            "  why: it stands for no input\n"
            "  fix: take it from a Param or an ImageParam");
  Param<float> s("s");
  ImageParam in(UInt(8), 2, "in");
  EXPECT_EQ(message_of([&] { s.parameter().buffer(); }),
            "error: the Buffer of Parameter 's'\n"
            "  why: it is a scalar, and only buffers have that\n"
            "  fix: use a buffer's");
  EXPECT_EQ(message_of([&] { in.parameter().scalar<int>(); }),
            "error: the value of Parameter 'in'\n"
            "  why: it is a buffer, and only scalars have that\n"
            "  fix: use a scalar's");
  EXPECT_EQ(message_of([&] { s.parameter().scalar<int>(); }),
            "error: Param 's' is used as one of int32\n"
            "  why: its type is float32\n"
            "  fix: use its own type");
  EXPECT_EQ(message_of([&] { in.parameter().min_constraint(2); }),
            "error: dimension 2 of Parameter 'in'\n"
            "  why: it has 2 dimensions, counted from 0\n"
            "  fix: ask for one of them");
}

// Two images of one size, said of both.
struct Twins {
  ImageParam a{Int(32), 1, "a"}, b{Int(32), 1, "b"};
  Twins() {
    a.dim(0).set_extent(b.dim(0).extent());
    b.dim(0).set_extent(a.dim(0).extent());
  }
};

TEST(ParameterHandle, ConstraintsOnEachOtherOwnNothing) {
  std::weak_ptr<ParameterContents> a, b;
  {
    Twins twins;
    a = twins.a.parameter().contents();
    b = twins.b.parameter().contents();
    Func f("f");
    Var x("x");
    f(x) = twins.a(x);
    EXPECT_EQ(freeze({f.function()}).bindings.size(), 2u);
    EXPECT_TRUE(twins.b.parameter().extent_constraint(0).defined());
  }
  EXPECT_TRUE(a.expired());
  EXPECT_TRUE(b.expired());
}

TEST(ParameterHandle, ALongerRingOfConstraintsOwnsNothing) {
  std::weak_ptr<ParameterContents> first;
  {
    Param<int> p("p"), q("q"), r("r");
    first = p.parameter().contents();
    p.set_min_value(q);
    q.set_min_value(r);
    r.set_min_value(p);
    r.set_max_value(2 * p + q);
  }
  EXPECT_TRUE(first.expired());
}

TEST(ParameterHandle, AConstraintKeepsWhatDoesNotKeepIt) {
  ImageParam a(Int(32), 1, "a");
  {
    Param<int> n("n");
    a.dim(0).set_extent(n);
  }
  Func f("f");
  Var x("x");
  f(x) = a(x);
  EXPECT_EQ(freeze({f.function()}).bindings.size(), 2u);
}

TEST(ParameterHandle, ConstraintsOnWhatIsNoMore) {
  ImageParam b(Int(32), 1, "b");
  {
    ImageParam a(Int(32), 1, "a");
    a.dim(0).set_extent(b.dim(0).extent());
    b.dim(0).set_extent(a.dim(0).extent());
  }
  Func f("f");
  Var x("x");
  f(x) = b(x);
  EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
            "error: a constraint of 'b' names an input that is no more\n"
            "  why: of inputs whose constraints name each other, each lives as long as the program "
            "keeps it\n"
            "  fix: keep both of them while one is used");
}

}  // namespace
}  // namespace polyhalite::parameter_test
