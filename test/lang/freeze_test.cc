// Freezing: order, names and inputs are the same in every run.
#include "lang/ir/freeze.h"

#include <gtest/gtest.h>

#include <set>

#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::freeze_test {
namespace {

std::vector<std::string> func_names(const Algorithm &a) {
  std::vector<std::string> names;
  for (const FuncDef &f : a.funcs) names.push_back(f.name);
  return names;
}

std::vector<std::string> input_names(const Algorithm &a) {
  std::vector<std::string> names;
  for (const AlgorithmInput &i : a.inputs) names.push_back(i.param->name);
  return names;
}

struct Built {
  Func output{"out"};
  std::vector<std::shared_ptr<ParameterContents>> declared;
};

// Two Funcs of one name, a scalar and two images, one of them declared first.
Built build() {
  Var x("x");
  Built b;
  Param<int> offset("offset");
  ImageParam first(UInt(8), 1, "first"), second(UInt(8), 1, "second");
  Func left("stage"), right("stage");
  left(x) = first(x) + cast<uint8_t>(offset);
  right(x) = second(x) + left(x + second.width());
  b.output(x) = right(x) + left(x);
  b.declared = {second.parameter().contents()};
  return b;
}

TEST(Freeze, ProducersComeFirstAndNamesAreUnique) {
  const Built b = build();
  const Algorithm a = freeze({b.output.function()}).algorithm;
  EXPECT_EQ(func_names(a), (std::vector<std::string>{"stage", "stage$1", "out"}));
  EXPECT_EQ(a.outputs, std::vector<std::string>{"out"});
  EXPECT_EQ(as_call(a.funcs[2].stages[0].values[0]->args[0])->name, "stage$1");
}

TEST(Freeze, FuncsWithoutNamesLeaveNamesToOthers) {
  Var x("x");
  Func f("f"), unnamed, output;
  f(x) = x;
  unnamed(x) = f(x);
  output(x) = unnamed(x);
  EXPECT_EQ(func_names(freeze({output.function()}).algorithm),
            (std::vector<std::string>{"f", "f$2", "f$1"}));
}

TEST(Freeze, NamesDoNotDependOnWhatTheProcessBuiltBefore) {
  const Built one = build(), two = build();
  EXPECT_EQ(func_names(freeze({one.output.function()}).algorithm),
            func_names(freeze({two.output.function()}).algorithm));
}

TEST(Freeze, DeclaredInputsComeFirstThenOrderOfUse) {
  const Built b = build();
  EXPECT_EQ(input_names(freeze({b.output.function()}).algorithm),
            (std::vector<std::string>{"second", "first", "offset"}));
  Built c = build();
  EXPECT_EQ(input_names(freeze({c.output.function()}, c.declared).algorithm)[0], "second");
}

TEST(Freeze, BufferFieldsFollowTheInputsName) {
  Var x("x");
  ImageParam a(UInt(8), 1), b(UInt(8), 1);
  Func f("f");
  f(x) = a(x) + b(clamp(x, 0, b.width() - 1));
  const FrozenPipeline p = freeze({f.function()});
  EXPECT_EQ(input_names(p.algorithm), (std::vector<std::string>{"p", "p$1"}));
  bool found = false;
  for_each_node(p.algorithm.funcs[0].stages[0].values[0], [&](const Expr &e) {
    const VariableNode *v = as_variable(e);
    found = found || (v && v->name == "p$1.extent.0" && v->param->name == "p$1");
  });
  EXPECT_TRUE(found);
  EXPECT_EQ(p.bindings[1], b.parameter().contents());
}

TEST(Freeze, InputsHaveTheirNamesForThemselves) {
  const std::string rest =
      " are in one pipeline\n"
      "  why: whoever calls it knows its inputs by their names\n"
      "  fix: rename one of them; a Func gets another name by itself where it is made after them";
  Var x("x");
  {
    Func made_before("shared_a"), f("f");
    made_before(x) = x;
    ImageParam image(Int(32), 1, "shared_a");
    f(x) = made_before(x) + image(x);
    EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
              "error: ImageParam 'shared_a' and Func 'shared_a'" + rest);
  }
  {
    Func output("shared_b");
    Param<int> scalar("shared_b");
    output(x) = scalar;
    EXPECT_EQ(message_of([&] { freeze({output.function()}); }),
              "error: Param 'shared_b' and Func 'shared_b'" + rest);
  }
  {
    ImageParam image(Int(32), 1, "shared_c");
    Buffer<int> table(4, "shared_c");
    Func f("f");
    f(x) = image(x) + table(x);
    EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
              "error: ImageParam 'shared_c' and Buffer 'shared_c'" + rest);
  }
  {
    Param<int> a("shared_d"), b("shared_d");
    Func f("f");
    f(x) = a + b;
    EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
              "error: Param 'shared_d' and another Param 'shared_d'" + rest);
  }
  {
    ImageParam image(Int(32), 1, "shared_e");
    Func made_after("shared_e"), f("f");
    made_after(x) = x;
    f(x) = made_after(x) + image(x);
    EXPECT_EQ(func_names(freeze({f.function()}).algorithm),
              (std::vector<std::string>{"shared_e$1", "f"}));
  }
}

TEST(Freeze, NamesThatNobodyGaveAreUnique) {
  // In one process, the second of a name and one without a name might both be called name$1.
  Func first, second("f"), third("f"), fourth;
  EXPECT_EQ(
      (std::set<std::string>{first.name(), second.name(), third.name(), fourth.name()}).size(), 4u);
}

TEST(Freeze, UpdatesCallThemselvesByNameAndOwnNothing) {
  Var x("x");
  RDom r(1, 9, "r");
  Func f("prefix");
  f(x) = x;
  f(r) += f(r - 1);
  r.where(r > 3);
  const Algorithm a = freeze({f.function()}).algorithm;
  const StageDef &s = a.funcs[0].stages[1];
  ASSERT_EQ(s.rvars.size(), 1u);
  EXPECT_EQ(s.rvars[0].var, "r");
  EXPECT_FALSE(s.predicate.defined());
  for_each_node(s.values[0], [&](const Expr &e) {
    if (const CallNode *c = as_call(e)) {
      EXPECT_EQ(c->name, "prefix");
      EXPECT_EQ(c->func, nullptr);
    }
    if (const VariableNode *v = as_variable(e)) {
      EXPECT_EQ(v->domain, nullptr);
    }
  });
}

TEST(Freeze, WhereBecomesThePredicate) {
  Var x("x");
  RDom r(0, 9, 0, 9, "r");
  r.where(r.x < r.y);
  r.where(r.x > 2);
  Func f("triangle");
  f(x) = 0;
  f(x) += r.x;
  const StageDef s = freeze({f.function()}).algorithm.funcs[0].stages[1];
  ASSERT_TRUE(s.predicate.defined());
  EXPECT_EQ(s.predicate->op, Op::And);
  EXPECT_EQ(s.rvars[1].var, "r_y");
}

TEST(Freeze, UndefinedOutputIsNamedWithItsLine) {
  const int line = __LINE__ + 1;
  Func f("nothing");
  EXPECT_EQ(message_of([&] { freeze({f.function()}); }),
            at(line) +
                "error: output 'nothing' is undefined\n"
                "  why: it has no values to compute\n"
                "  fix: define it first, as in f(x, y) = ...");
}

TEST(Freeze, RepeatEdgeClampsALikelyCoordinate) {
  Var x("x"), y("y");
  ImageParam image(Float(32), 2, "image");
  Func f("f");
  f(x, y) = BoundaryConditions::repeat_edge(image)(x - 1, y);
  const Algorithm a = freeze({f.function()}).algorithm;
  EXPECT_EQ(func_names(a), (std::vector<std::string>{"image_im", "repeat_edge", "f"}));
  int likely_count = 0;
  for_each_node(a.funcs[1].stages[0].values[0],
                [&](const Expr &e) { likely_count += as_intrinsic(e, "likely") != nullptr; });
  EXPECT_EQ(likely_count, 2);
}

TEST(Freeze, ConstantExteriorSelects) {
  Var x("x");
  Buffer<int16_t> b(8);
  b.fill(1);
  Func f("f");
  f(x) = BoundaryConditions::constant_exterior(b, 7)(x);
  const Algorithm a = freeze({f.function()}).algorithm;
  const Expr value = a.find("constant_exterior")->stages[0].values[0];
  EXPECT_EQ(value->op, Op::Select);
  EXPECT_EQ(value.type(), Int(16));
}

}  // namespace
}  // namespace polyhalite::freeze_test
