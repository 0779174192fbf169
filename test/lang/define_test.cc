// Definitions of Funcs: what they record, and the messages where they are wrong.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/ir/node.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::define_test {
namespace {

TEST(Define, PureAndUpdatesAreRecorded) {
  Func f("histogram");
  Var x("x");
  RDom r(0, 10, "r");
  f(x) = 0;
  f(r % 4) += 2;
  EXPECT_TRUE(f.defined());
  EXPECT_EQ(f.dimensions(), 1);
  EXPECT_EQ(f.num_update_definitions(), 1);
  EXPECT_EQ(f.output_types()[0], Int(32));
  EXPECT_EQ(f.rvars(0).size(), 1u);
}

TEST(Define, CompoundAssignmentDefinesFirst) {
  Func sum_of, product_of;
  Var x;
  RDom r(0, 4);
  sum_of(x) += cast<uint16_t>(x + r);
  product_of(x) *= 2.0f;
  EXPECT_EQ(sum_of.output_types()[0], UInt(16));
  EXPECT_TRUE(is_zero(sum_of.value()));
  EXPECT_TRUE(is_one(product_of.value()));
  EXPECT_EQ(sum_of.num_update_definitions(), 1);
}

TEST(Define, UndefinedFuncIsNamedWithItsLine) {
  Func f("f"), g("undefined_one");
  Var x("x");
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) = g(x) + 1; }),
            at(line) +
                "error: Func 'undefined_one' is used before it is defined\n"
                "  why: it has no values yet\n"
                "  fix: define it first, as in f(x, y) = ...");
}

TEST(Define, WrongArityIsNamedWithItsLine) {
  Func f("two_d");
  Var x("x"), y("y");
  f(x, y) = x + y;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x); }), at(line) +
                                           "error: Func 'two_d' is called with 1 arguments\n"
                                           "  why: it has 2 dimensions\n"
                                           "  fix: give one argument for each dimension");
}

TEST(Define, FloatCoordinateIsRefused) {
  Func f("one_d");
  Var x("x");
  f(x) = x;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x * 0.5f); }),
            at(line) +
                "error: argument 0 of Func 'one_d' has type float32\n"
                "  why: coordinates are int32\n"
                "  fix: cast it, as in cast<int>(e)");
}

TEST(Define, UnknownVarIsNamed) {
  Func f("unknown_var");
  Var x("x"), y("y"), z("z");
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x, y) = x + z; }),
            at(line) +
                "error: Var 'z' in the definition of 'unknown_var' is unknown\n"
                "  why: it is no argument of 'unknown_var' (they are: x, y)\n"
                "  fix: make it an argument, or use an argument in its place");
}

TEST(Define, UpdateOfAnotherTypeIsRefused) {
  Func f("bytes");
  Var x("x");
  f(x) = cast<uint8_t>(x);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) = x; }), at(line) +
                                               "error: update 0 of 'bytes' has type int32\n"
                                               "  why: the first definition has type uint8\n"
                                               "  fix: cast the value to uint8");
}

TEST(Define, MisplacedVarOfAnUpdateIsRefused) {
  Func f("transposed");
  Var x("x"), y("y");
  f(x, y) = x;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(y, x) = 1; }),
            at(line) +
                "error: Var 'y' in update 0 of 'transposed' is not in its place\n"
                "  why: a Var of an update stands alone, where the first definition has it: "
                "transposed(x, y)\n"
                "  fix: use the Var in its place on the left, or a reduction variable");
}

TEST(Define, RedefinitionAfterUseIsRefused) {
  Func f("used"), g("user");
  Var x("x");
  f(x) = x;
  g(x) = f(x);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) += 1; }), at(line) +
                                                "error: 'used' cannot be given another definition\n"
                                                "  why: another Func uses it, in() or clone_in() "
                                                "names it as a consumer, or it has been realized\n"
                                                "  fix: move this definition before the first use");
}

TEST(Define, ReductionVariableInPureDefinitionIsRefused) {
  Func f("no_reduction");
  Var x("x");
  RDom r(0, 4);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) = x + r; }),
            at(line) +
                "error: the first definition of 'no_reduction' uses the reduction variable "
                "'r'\n"
                "  why: only updates run over a reduction domain\n"
                "  fix: define 'no_reduction' first, then update it, or use sum()");
}

TEST(Define, TwoDomainsAreRefused) {
  Func f("two_domains");
  Var x("x");
  RDom r(0, 4), s(0, 4);
  f(x) = 0;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f(x) += r + s; }),
            at(line) +
                "error: update 0 of 'two_domains' uses two reduction domains\n"
                "  why: an update is one loop nest over one RDom\n"
                "  fix: make one RDom of all the dimensions");
}

TEST(Define, LiteralsTakeTheOtherOperandsType) {
  Var x("x");
  const Expr byte = cast<uint8_t>(x);
  EXPECT_EQ((byte + 3).type(), UInt(8));
  EXPECT_EQ((3 * byte).type(), UInt(8));
  EXPECT_EQ((byte + 3.0f).type(), Float(32));
  EXPECT_EQ((cast<double>(x) + 3.0f).type(), Float(64));
  EXPECT_EQ((cast<int8_t>(x) + cast<uint16_t>(x)).type(), Int(16));
  EXPECT_EQ((cast<uint8_t>(x) + cast<uint16_t>(x)).type(), UInt(16));
  EXPECT_EQ((x + cast<float>(x)).type(), Float(32));
  EXPECT_EQ(abs(cast<int16_t>(x)).type(), UInt(16));
  EXPECT_EQ(select(x > 0, byte, 0).type(), UInt(8));
  EXPECT_EQ(clamp(byte, 2, 7).type(), UInt(8));
  EXPECT_EQ((byte >> 2).type(), UInt(8));
  EXPECT_EQ(sqrt(x).type(), Float(32));
}

TEST(Define, LiteralOutOfRangeIsRefused) {
  Var x("x");
  EXPECT_EQ(message_of([&] { (void)(cast<uint8_t>(x) + 300); }),
            std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1) +
                ": error: the literal 300 beside '+' does not fit uint8\n"
                "  why: a literal takes the type of the other operand, and uint8 holds 0 to 255\n"
                "  fix: cast the other operand to a wider type first");
}

TEST(Define, InlineReductionTakesFreeVariables) {
  Var x("x"), y("y");
  RDom r(0, 3, "r");
  Func f("blurred");
  f(x, y) = sum(x + y * r);
  const FrozenPipeline p = freeze({f.function()});
  ASSERT_EQ(p.algorithm.funcs.size(), 2u);
  EXPECT_EQ(p.algorithm.funcs[0].name, "sum");
  EXPECT_EQ(p.algorithm.funcs[0].args, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(p.algorithm.funcs[0].stages.size(), 2u);
}

}  // namespace
}  // namespace polyhalite::define_test
