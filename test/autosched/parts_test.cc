// The auto-scheduler's parts: numbers, boxes, inlining, costs, records.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "autosched/analytic_cost.h"
#include "autosched/number_program.h"
#include "autosched/records.h"
#include "autosched/search.h"
#include "autosched/write_plan.h"
#include "polyhalite/polyhalite.h"
#include "support/program.h"

namespace polyhalite::autosched {
namespace {

Var x("x"), y("y");

TEST(NumberProgram, ComputesAsTheLanguageDoes) {
  const Expr a = make_variable(Int(32), VariableKind::Symbol, "a");
  const Expr b = make_variable(Int(32), VariableKind::Symbol, "b");
  const auto value = [&](const Expr &e, int64_t va, int64_t vb) {
    const auto p = NumberProgram::compile(e, {{"a", 0}, {"b", 1}});
    return p ? (*p)({va, vb}) : INT64_MIN;
  };
  EXPECT_EQ(value(a / b, -7, 2), -4);
  EXPECT_EQ(value(a % b, -7, 2), 1);
  EXPECT_EQ(value(a / b, 5, 0), 0);
  EXPECT_EQ(value(max(a, b) * 2 - min(a, 3), 9, 4), 15);
  EXPECT_EQ(value(select(a < b, a, b + 1), 3, 2), 3);
  // More than arithmetic on what is known.
  EXPECT_FALSE(NumberProgram::compile(make_variable(Int(32), VariableKind::Symbol, "c"), {{"a", 0}}));
}

struct Chain {
  ImageParam in{Float(32), 2, "in"};
  Func first{"first"}, second{"second"}, out{"out"};
  FrozenPipeline frozen;
  Estimates estimates;
  PipelineModel model;
  Chain() {
    first(x, y) = in(x - 1, y) * in(x + 1, y);
    second(x, y) = first(x, y - 1) + first(x, y + 1);
    out(x, y) = second(2 * x, y) + second(2 * x + 1, y);
    out.set_estimates({{0, 100}, {0, 50}});
    frozen = freeze({out.function()});
    estimates = find_estimates(frozen);
    model = build_model(frozen, &estimates);
  }
  int func(const std::string &name) const { return model.algorithm.index_of(name); }
};

TEST(Model, BoxesGoFromConsumersToProducers) {
  Chain c;
  const NumberBox &second = c.model.funcs[static_cast<size_t>(c.func("second"))].whole;
  EXPECT_EQ(second[0].lo, 0);
  EXPECT_EQ(second[0].hi, 199);
  const NumberBox &first = c.model.funcs[static_cast<size_t>(c.func("first"))].whole;
  EXPECT_EQ(first[1].lo, -1);
  EXPECT_EQ(first[1].hi, 50);
  // Nobody said how large the input is: as much as is read.
  EXPECT_EQ(c.estimates.numbers.at("in.extent.0"), 202);
  EXPECT_EQ(c.estimates.numbers.at("in.min.0"), -1);
  EXPECT_EQ(c.estimates.assumed,
            std::vector<std::string>{"input in is as large as what is read of it"});
}

TEST(Expander, CountsDistinctAccesses) {
  Chain c;
  Plan plan = template_plan(c.model, machine_for(Target("x86-64-linux-avx2"), 2));
  for (FuncPlan &p : plan.funcs) p.where = Where::Inline;
  plan.funcs[static_cast<size_t>(c.func("out"))].where = Where::Root;
  Expander expand(c.model);
  const ExpandedStage &e = expand(plan, c.func("out"), 0);
  // in at 2x - 1, 2x, 2x + 1, 2x + 2 in two rows.
  EXPECT_EQ(e.accesses.size(), 8u);
  EXPECT_EQ(e.accesses[0].index[0].slope[0], 2);
  // One sum, two of second, four products of first.
  EXPECT_EQ(e.operations, 1 + 2 + 4);
}

TEST(AnalyticCost, PlansThatCannotBeAreInfinite) {
  Chain c;
  const Machine machine = machine_for(Target("x86-64-linux-avx2"), 2);
  AnalyticCost cost(c.model, machine);
  Plan plan = template_plan(c.model, machine);
  const double good = cost.cost(plan);
  EXPECT_GT(good, 0);
  EXPECT_TRUE(std::isfinite(good));
  FuncPlan &first = plan.funcs[static_cast<size_t>(c.func("first"))];
  first.where = Where::At;  // a level that the host has not
  first.host = c.func("out");
  first.level = 9;
  plan.funcs[static_cast<size_t>(c.func("second"))].where = Where::Inline;
  EXPECT_FALSE(std::isfinite(cost.cost(plan)));
}

TEST(Search, FindsNothingWorseThanTheTemplate) {
  Chain c;
  const Machine machine = machine_for(Target("x86-64-linux-avx2"), 2);
  AnalyticCost cost(c.model, machine);
  const Options options;
  const SearchResult r = search(c.model, machine, options, cost, [] { return 0.0; });
  ASSERT_FALSE(r.plans.empty());
  EXPECT_LE(r.plans[0].cost, cost.cost(template_plan(c.model, machine)));
  for (size_t i = 1; i < r.plans.size(); i++) EXPECT_LE(r.plans[i - 1].cost, r.plans[i].cost);
}

TEST(Records, ComeBackFastestFirst) {
  const polyhalite::test::TemporaryFolder folder;
  const std::string file = folder.path("times.db");
  const RecordKey key{"p", "m", "1"};
  {
    Records r(file);
    r.add(key, {"slow", {2, 0.1, ""}});
    r.add(key, {"broken", {0, 0, "it took too long"}});
    r.add(key, {"fast", {1, 0.1, ""}});
    r.add({"other", "m", "1"}, {"elsewhere", {0.5, 0, ""}});
  }
  const std::vector<Record> found = Records(file).find(key);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].schedule, "fast");
  EXPECT_EQ(found[1].schedule, "slow");
  EXPECT_EQ(found[2].measured.failure, "it took too long");
}

TEST(Records, OtherFilesAreRefused) {
  const polyhalite::test::TemporaryFolder folder;
  const std::string file = folder.path("text.db");
  std::ofstream(file) << "This is a text of more than sixteen letters, and no database at all.\n";
  try {
    Records r(file);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(std::string(e.what()),
              "error: cannot read the measured times in '" + file +
                  "'\n  why: file is not a database\n  fix: name a file that can be written and is "
                  "no other database, or none");
  }
}

}  // namespace
}  // namespace polyhalite::autosched
