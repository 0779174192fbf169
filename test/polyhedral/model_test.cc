// Terms and conditions as rows: what solutions of the model say about them.
#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "polyhedral/model/translate.h"
#include "polyhedral/solver.h"

namespace polyhalite::model_test {
namespace {

// Expressions over the coordinates x and y, the parameter n and the data d (uint8).
Expr parse(const std::string &text) {
  NameResolver names;
  names.variable = [](const std::string &name) {
    return make_variable(Int(32), name == "n" ? VariableKind::Param : VariableKind::Pure, name);
  };
  names.call = [](const std::string &name, std::vector<Expr> args, int) {
    return make_func_call(UInt(8), name, std::move(args));
  };
  return parse_expr(text, names);
}

class model : public testing::Test {
 protected:
  model() : translator_(problem_, shared_) {
    for (const char *name : {"x", "y"}) {
      translator_.bind(name, problem_.fresh(ModelVariable::Coordinate, name));
    }
  }
  // The smallest x, y at which all conditions hold: "3, 0"; "none", "unknown".
  std::string smallest(const std::vector<std::string> &conditions) {
    for (const std::string &c : conditions) translator_.assume(parse(c));
    Solver solver(1000000);
    const Solution s = solver.solve(problem_);
    if (s.answer == Solution::None) return "none";
    if (s.answer == Solution::Unknown) return "unknown";
    return std::to_string(s.values[0]) + ", " + std::to_string(s.values[1]);
  }

  Problem problem_;
  SharedAtoms shared_;
  Translator translator_;
};

TEST_F(model, division_rounds_to_the_floor) {
  EXPECT_EQ(smallest({"(x - 7)/4 == y - 1", "x >= 1", "y >= 1"}), "7, 1");
}

TEST_F(model, division_by_a_negative_number_leaves_a_rest_that_is_not_negative) {
  // -7 / -2: -7 = -2*4 + 1
  EXPECT_EQ(smallest({"(x - 7)/(-2) == y", "x == 0"}), "0, 4");
}

TEST_F(model, division_by_zero_is_zero) { EXPECT_EQ(smallest({"x/0 + 3 == y", "x == 9"}), "9, 3"); }

TEST_F(model, remainder_is_never_negative) {
  EXPECT_EQ(smallest({"(x - 20)%6 == y", "x == 1"}), "1, 5");
}

TEST_F(model, minimum_is_one_of_its_operands) {
  EXPECT_EQ(smallest({"min(x, y + 3) == 7", "y >= 5"}), "7, 5");
  EXPECT_EQ(smallest({"min(x, y + 3) >= 20"}), "none");
}

TEST_F(model, select_follows_its_condition) {
  EXPECT_EQ(smallest({"select(x < 4, x + 10, x) == 6 + y", "y == 0"}), "6, 0");
}

TEST_F(model, clamped_data_takes_any_value_of_the_clamp) {
  EXPECT_EQ(smallest({"min(max(int32(d(x)), 3), 9) == y", "x == 2"}), "2, 3");
  EXPECT_TRUE(translator_.data_dependent());
  EXPECT_FALSE(translator_.inexact());
}

TEST_F(model, data_has_its_types_interval) {
  EXPECT_EQ(smallest({"int32(d(x)) == y", "y >= 256"}), "none");
}

TEST_F(model, data_at_one_place_has_one_value) {
  EXPECT_EQ(smallest({"int32(d(n)) == x", "int32(d(n)) == y", "x != y"}), "none");
}

TEST_F(model, disjunction_and_negation) {
  EXPECT_EQ(smallest({"!(x < 5 && y < 5)", "x <= 2 || x >= 8", "y <= 3"}), "8, 0");
}

TEST_F(model, product_is_no_row_and_said_so) {
  EXPECT_EQ(smallest({"x*y == 6", "x == 1"}), "1, 0");
  EXPECT_EQ(translator_.inexact(), "x*y");
}

TEST_F(model, product_of_parameters_is_one_number) {
  EXPECT_EQ(smallest({"x == n*n", "y == n*n", "x != y"}), "none");
  EXPECT_FALSE(translator_.inexact());
}

TEST_F(model, numbers_below_zero_are_found_where_no_others_are) {
  EXPECT_EQ(smallest({"x <= -3", "x >= -9", "y >= x", "y <= 5"}), "-8, 0");
}

TEST(solver, remembers_questions) {
  Problem p;
  const AffineRow x = p.fresh(ModelVariable::Coordinate, "x");
  p.require_nonnegative(x - AffineRow(4));
  Solver solver(1000000);
  EXPECT_EQ(solver.solve(p).values, (std::vector<int64_t>{4}));
  EXPECT_EQ(solver.solve(p).values, (std::vector<int64_t>{4}));
  EXPECT_EQ(solver.questions(), 1);
}

TEST_F(model, parameter_is_no_coordinate_of_its_name) {
  translator_.bind("n", AffineRow(5));
  EXPECT_EQ(smallest({"x == n", "n == 3"}), "3, 0");
}

TEST(solver, too_many_cases_are_unknown) {
  Problem p;
  AffineRow sum;
  for (int i = 0; i < 13; i++) {
    const AffineRow x = p.fresh(ModelVariable::Coordinate, "x");
    sum.add(x);
    Conjunction zero, one;
    zero.zero.push_back(x);
    one.zero.push_back(x - AffineRow(1));
    p.choices.push_back({zero, one});
  }
  Conjunction more, most;
  more.zero.push_back(sum - AffineRow(14));
  most.zero.push_back(sum - AffineRow(15));
  p.choices.push_back({more, most});
  const Solution s = Solver(1000000).solve(p);
  EXPECT_EQ(s.answer, Solution::Unknown);
  EXPECT_EQ(s.problem, "the question has too many cases");
}

// x = 0 or x > 0, x = 1 or x > 1, ...: of 2^40 conjunctions, all but 41 contradict themselves.
TEST(solver, choices_that_exclude_each_other_are_not_multiplied_out) {
  Problem p;
  const AffineRow x = p.fresh(ModelVariable::Coordinate, "x");
  for (int i = 0; i < 40; i++) {
    Conjunction here, other;
    here.zero.push_back(x - AffineRow(i));
    other.nonnegative.push_back(i == 0 ? x - AffineRow(1) : x - AffineRow(i + 1));
    p.choices.push_back({here, other});
  }
  Conjunction end;
  end.nonnegative.push_back(AffineRow(38) - x);
  p.choices.push_back({end});
  EXPECT_EQ(Solver(1000000).solve(p).answer, Solution::None);
}

// {(i, i)} is covered by {(a, b) : a = b}, not by {(a, b) : a < b}.
TEST(solver, variable_may_be_kept_twice) {
  Problem inside, outside;
  const AffineRow i = inside.fresh(ModelVariable::Coordinate, "i");
  inside.require_less_equal(AffineRow(3), i);
  const AffineRow a = outside.fresh(ModelVariable::Coordinate, "a");
  const AffineRow b = outside.fresh(ModelVariable::Coordinate, "b");
  Problem less = outside;
  outside.require_zero(a - b);
  less.require_less_equal(a + AffineRow(1), b);
  Solver solver(1000000);
  EXPECT_EQ(solver.uncovered(inside, {0, 0}, outside, {0, 1}).answer, Solution::None);
  const Solution s = solver.uncovered(inside, {0, 0}, less, {0, 1});
  EXPECT_EQ(s.answer, Solution::Found);
  EXPECT_EQ(s.values, (std::vector<int64_t>{3, 3}));
}

}  // namespace
}  // namespace polyhalite::model_test
