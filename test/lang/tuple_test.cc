// Tuples, placeholders, lambdas, argmin and argmax: what they define, and the messages where they
// are wrong.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/ir/text.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::tuple_test {
namespace {

std::string text_of(const Func &f) { return to_text(freeze({f.function()}).algorithm); }

TEST(Tuple, TakesWhatHasNoArithmetic) {
  Func f("f"), g("g"), h("h");
  Var x("x");
  Param<int> p("p", 1);
  f(x) = likely(Tuple(x, 2 * x));
  f(x) = likely_if_innermost(Tuple(f(x)));
  f(x) = memoize_tag(Tuple(f(x)), p);
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "param p: int32\n"
            "f(x) = {likely(x), likely(2*x)}\n"
            "f(x) = {likely_if_innermost(f(x)), likely_if_innermost(f(x).1)}\n"
            "f(x) = {intrinsic<int32>(memoize_tag, f(x), p), intrinsic<int32>(memoize_tag, f(x).1, "
            "p)}\n"
            "output f\n");
  g(x) = print(Tuple(x, x + 1), "at", x);
  g(x) = print_when(x > 1, Tuple(g(x)), "again");
  EXPECT_EQ(text_of(g),
            "algorithm 1\n"
            "g(x) = {intrinsic<int32>(print, true, x, x + 1, \"at\", x), x + 1}\n"
            "g(x) = {intrinsic<int32>(print, x > 1, g(x), g(x).1, \"again\"), g(x).1}\n"
            "output g\n");
  h(x) = require(p > 0, Tuple(x, x + 1), "p is", p);
  EXPECT_EQ(text_of(h),
            "algorithm 1\n"
            "param p: int32\n"
            "h(x) = {intrinsic<int32>(require, p > 0, x, \"p is\", p), "
            "intrinsic<int32>(require, p > 0, x + 1, \"p is\", p)}\n"
            "output h\n");
}

TEST(Tuple, OfACallIsAllOfItsValues) {
  Func one("one"), two("two");
  Var x("x");
  one(x) = x;
  two(x) = {x, x + 1};
  const Expr e = likely(one(x)) + print(one(x), "one") + select(x < 3, one(x), one(x + 1)) +
                 select(x < 3, one(x), x < 4, one(x + 1), 7);
  EXPECT_TRUE(e.defined());
  EXPECT_EQ(Tuple(strict_float(two(x))).size(), 2u);
  EXPECT_EQ(Tuple(select(x < 3, two(x), two(x + 1))).size(), 2u);
  EXPECT_EQ(Tuple(require(x < 3, two(x), "x is", x)).size(), 2u);
  EXPECT_EQ(Tuple(memoize_tag(two(x), x)).size(), 2u);
  Tuple t(x, 2 * x);
  for (Expr &v : t) v = v + 1;
  Func f("f");
  f(x) = t;
  EXPECT_EQ(text_of(f), "algorithm 1\nf(x) = {x + 1, 2*x + 1}\noutput f\n");
}

TEST(Tuple, OfOneValueIsAnExpr) {
  Var x("x"), y("y");
  const Expr e = Tuple(x + 1);
  EXPECT_EQ(e.type(), Int(32));
  EXPECT_EQ(message_of([&] {
              const Expr wrong = Tuple(x, y);
              (void)wrong;
            }),
            "error: a Tuple of size 2 is used as one Expr\n"
            "  why: an Expr is one value\n"
            "  fix: take one of its values, as in t[0]");
}

TEST(FuncVec, IsAVectorAndASingleFunc) {
  FuncVec named("stage_of_vec", 3);
  EXPECT_EQ(named[2].name(), "stage_of_vec2");
  EXPECT_EQ(FuncVec("alone_in_vec", 1)[0].name(), "alone_in_vec");
  Func a("a"), b("b");
  FuncVec funcs{a};
  funcs.push_back(b);
  const std::vector<Func> copy = funcs;
  EXPECT_EQ(copy.size(), 2u);
  funcs = std::vector<Func>{b};
  const Func single = funcs;
  EXPECT_EQ(single.name(), b.name());
  Var x("x");
  Func f("f");
  f(x) = x;
  const Func output = Pipeline(f).outputs();
  EXPECT_EQ(output.name(), f.name());
  EXPECT_EQ(message_of([] {
              const Func none = FuncVec();
              (void)none;
            }),
            "error: a FuncVec of size 0 is used as one Func\n"
            "  why: it has no Func\n"
            "  fix: take the Funcs by their indices");
}

TEST(Tuple, DefinesOneValueForEachComponent) {
  Func f("f");
  Var x("x");
  f(x) = {x + 1, cast<uint8_t>(x)};
  EXPECT_EQ(f.outputs(), 2);
  EXPECT_EQ(f.types()[0], Int(32));
  EXPECT_EQ(f.types()[1], UInt(8));
  EXPECT_EQ(f(x).size(), 2u);
  EXPECT_EQ(f.values().size(), 2u);
  f(x) = {f(x)[0] + 1, f(x)[1]};
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "f(x) = {x + 1, uint8(x)}\n"
            "f(x) = {f(x) + 1, f(x).1}\n"
            "output f\n");
}

TEST(Tuple, AnAssignedComponentLeavesTheOthers) {
  Func f("f");
  Var x("x");
  RDom r(0, 4, "r");
  f(x) = {0, 1.0f};
  f(r)[1] += 2.0f;
  f(r)[0] = f(r + 1)[0];
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "f(x) = {0, 1.0f}\n"
            "over r(0, 4): f(r) = {f(r), f(r).1 + 2.0f}\n"
            "over r(0, 4): f(r) = {f(r + 1), f(r).1}\n"
            "output f\n");
}

TEST(Tuple, CompoundAssignmentWorksByComponent) {
  Func f("f"), g("g");
  Var x("x");
  g(x) = {x, 2.0f};
  f(x) *= g(x);
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "g(x) = {x, 2.0f}\n"
            "f(x) = {1, 1.0f}\n"
            "f(x) = {f(x)*g(x), f(x).1*g(x).1}\n"
            "output f\n");
}

TEST(Tuple, SelectAndMuxWorkByComponent) {
  Func f("f");
  Var x("x");
  f(x) = select(x < 3, Tuple(x, 1.0f), x < 5, Tuple(2, 3.0f), Tuple(4, 5.0f));
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "f(x) = {select(x < 3, x, select(x < 5, 2, 4)), "
            "select(x < 3, 1.0f, select(x < 5, 3.0f, 5.0f))}\n"
            "output f\n");
  Func g("g");
  g(x) = mux(x, {Tuple(x, 1), Tuple(3, x)});
  EXPECT_EQ(text_of(g),
            "algorithm 1\n"
            "g(x) = {select(x == 0, x, 3), select(x == 0, 1, x)}\n"
            "output g\n");
}

TEST(Tuple, MisuseIsNamedWithItsLine) {
  Func f("f"), g("g");
  Var x("x");
  f(x) = {x, x + 1};
  g(x) = x;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { Expr e = f(x); }), at(line) +
                                                    "error: Func 'f' is used as one value\n"
                                                    "  why: it has 2 values at each point\n"
                                                    "  fix: take one of them, as in f(x)[0]");
  const int index = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x)[2]; }), at(index) +
                                              "error: value 2 of Func 'f' is asked for\n"
                                              "  why: it has 2, counted from 0\n"
                                              "  fix: ask for one of them");
  const int plain = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { g(x)[0]; }),
            at(plain) +
                "error: value 0 of Func 'g' is asked for\n"
                "  why: the Func is no Tuple: it has one value at each point\n"
                "  fix: use the call without [i]");
  const int count = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) += 1; }), at(count) +
                                                "error: an update of Func 'f' has 1 values\n"
                                                "  why: the first definition has 2\n"
                                                "  fix: give the same number of values");
  EXPECT_EQ(message_of([&] { Tuple(1, 2)[2]; }),
            "error: value 2 of a Tuple\n"
            "  why: it has 2, counted from 0\n"
            "  fix: ask for one of them");
  EXPECT_EQ(message_of([&] { select(x < 1, Tuple(1, 2), Tuple(1, 2, 3)); }),
            "error: select of a Tuple of 2 values and one of 3\n"
            "  why: it works component by component\n"
            "  fix: give Tuples of the same size");
}

TEST(Placeholder, StandsForTheOtherDimensions) {
  Func f("f"), g("g"), h("h");
  Var x("x"), y("y");
  f(x, y) = x + y;
  g(x, _) = f(_) + f(x, _);
  EXPECT_EQ(g.dimensions(), 3);
  h(_) += g(3, _);
  EXPECT_EQ(text_of(g),
            "algorithm 1\n"
            "f(x, y) = x + y\n"
            "g(x, _0, _1) = f(_0, _1) + f(x, _0)\n"
            "output g\n");
  EXPECT_EQ(h.dimensions(), 2);
  EXPECT_EQ(h.num_update_definitions(), 1);
  EXPECT_EQ(lambda(f(_) - g(_, 1)).dimensions(), 2);
  EXPECT_EQ(lambda(x, _, f(_)).dimensions(), 3);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(_, _); }),
            at(line) +
                "error: two placeholders '_' among the arguments of 'f'\n"
                "  why: how many dimensions each stands for cannot be told\n"
                "  fix: use '_' once");
}

TEST(Placeholder, ImplicitVariablesNeedAPlace) {
  Func f("f"), g("g");
  Var x("x");
  f(x) = x;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { g(x) = f(_); }),
            at(line) +
                "error: Var '_0' in the definition of 'g' is unknown\n"
                "  why: it is no argument of 'g' (they are: x)\n"
                "  fix: make it an argument, or use an argument in its place");
}

TEST(Func, RequirementsOfTheConstructorHold) {
  Func f(UInt(8), 2, "typed"), g({Int(32), Float(32)}, AnyDims, "pair");
  Var x("x"), y("y");
  EXPECT_EQ(f.type(), UInt(8));
  EXPECT_EQ(f.dimensions(), 2);
  EXPECT_EQ(g.outputs(), 2);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x, y) = x; }),
            at(line) +
                "error: Func 'typed' is defined with type int32\n"
                "  why: it was constructed for type uint8\n"
                "  fix: cast the value, or construct the Func for its type");
  const int dims = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) = cast<uint8_t>(x); }),
            at(dims) +
                "error: Func 'typed' is defined with 1 dimensions\n"
                "  why: it was constructed for 2\n"
                "  fix: give it that many arguments");
  f(x, y) = cast<uint8_t>(x);
  g(x, y) = {x, 1.0f};
}

TEST(InlineReduction, ArgmaxKeepsTheFirstOfEquals) {
  Func f("f");
  Var x("x");
  RDom r(0, 10, 0, 5, "r");
  f(x) = argmax(cast<uint8_t>(r.x * r.y + x), "best");
  EXPECT_EQ(text_of(f),
            "algorithm 1\n"
            "best(x) = {0, 0, 0u8}\n"
            "over r_x(0, 10), r_y(0, 5): best(x) = "
            "{select(uint8(r_x*r_y + x) > best(x).2, r_x, best(x)), "
            "select(uint8(r_x*r_y + x) > best(x).2, r_y, best(x).1), "
            "select(uint8(r_x*r_y + x) > best(x).2, uint8(r_x*r_y + x), best(x).2)}\n"
            "f(x) = {best(x), best(x).1, best(x).2}\n"
            "output f\n");
}

TEST(InlineReduction, AGivenFuncIsDefined) {
  Func f("f"), total("total");
  Var x("x");
  RDom r(0, 10, "r");
  f(x) = sum(r + x, total);
  EXPECT_EQ(total.num_update_definitions(), 1);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { sum(r + x, total); }),
            at(line) +
                "error: sum() into Func 'total', which has a definition\n"
                "  why: the reduction is the Func's definition\n"
                "  fix: give an undefined Func");
}

TEST(Lifetime, SelfReferencesKeepNothingAlive) {
  std::weak_ptr<FunctionContents> contents;
  std::weak_ptr<const ReductionDomain> domain;
  {
    Func f;
    Var x;
    RDom r(0, 10);
    domain = r.domain();
    f(x) = x;
    contents = f.function();
    r.where(f(r) > 3 && r < 5);
    Expr e = f(2);
    f(r) = f(r - 1) + f(r + 1);
    f(0) = e;
  }
  EXPECT_TRUE(contents.expired());
  EXPECT_TRUE(domain.expired());
}

}  // namespace
}  // namespace polyhalite::tuple_test
