// The auto-scheduler's parts: numbers, boxes, inlining, costs, records.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "autosched/analytic_cost.h"
#include "autosched/factor.h"
#include "autosched/group_boxes.h"
#include "autosched/number_program.h"
#include "autosched/placements.h"
#include "autosched/records.h"
#include "autosched/search.h"
#include "autosched/write_plan.h"
#include "polyhalite/polyhalite.h"
#include "schedule/schedule_text.h"
#include "support/program.h"

namespace polyhalite::autosched::parts_test {
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
  EXPECT_FALSE(
      NumberProgram::compile(make_variable(Int(32), VariableKind::Symbol, "c"), {{"a", 0}}));
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
    model = build_model(frozen, {}, &estimates);
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
  for (size_t f = 0; f < plan.funcs.size(); f++) {
    FuncPlan p = plan.funcs[f];
    p.where = static_cast<int>(f) == c.func("out") ? Where::Root : Where::Inline;
    plan.funcs.set(f, p);
  }
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
  FuncPlan first = plan.funcs[static_cast<size_t>(c.func("first"))];
  first.where = Where::At;  // a level that the host has not
  first.host = c.func("out");
  first.level = 9;
  plan.funcs.set(static_cast<size_t>(c.func("first")), first);
  FuncPlan second = plan.funcs[static_cast<size_t>(c.func("second"))];
  second.where = Where::Inline;
  plan.funcs.set(static_cast<size_t>(c.func("second")), second);
  EXPECT_FALSE(std::isfinite(cost.cost(plan)));
}

// A walk from plan to plan: each neighbour costs the same with its base as without.
TEST(AnalyticCost, DifferencesAddUpToTheWhole) {
  Chain c;
  const Machine machine = machine_for(Target("x86-64-linux-avx2"), 2);
  AnalyticCost cost(c.model, machine);
  Plan plan = template_plan(c.model, machine);
  int compared = 0;
  for (int step = 0; step < 12; step++) {
    const int func = static_cast<int>(c.model.funcs.size()) - 1 - step % 3;
    const std::vector<Plan> others = other_placements(c.model, machine, plan, func);
    std::vector<Candidate> candidates;
    for (const Plan &p : others) candidates.push_back({&p, &plan});
    const std::vector<double> costs = cost.costs(candidates);
    for (size_t i = 0; i < others.size(); i++) {
      EXPECT_EQ(costs[i], AnalyticCost(c.model, machine).cost(others[i]));
      compared++;
    }
    const size_t next = static_cast<size_t>(step) * 7 % std::max<size_t>(others.size(), 1);
    if (next < others.size() && std::isfinite(costs[next])) plan = others[next];
  }
  EXPECT_GT(compared, 100);
}

TEST(GroupBoxes, ShrinkFromLevelToLevel) {
  Chain c;
  const int out = c.func("out"), second = c.func("second"), first = c.func("first");
  Plan plan;
  for (size_t f = 0; f < c.model.funcs.size(); f++) {
    FuncPlan p;
    p.nests.resize(1);
    if (static_cast<int>(f) == out) {
      p.outer = {{1, 10}, {0, 20}};
    } else {
      p.where = Where::At;
      p.host = out;
      p.level = static_cast<int>(f) == first ? 0 : 1;
    }
    plan.funcs.push_back(p);
  }
  const std::optional<GroupBoxes> g = find_group_boxes(c.model, plan, out);
  ASSERT_TRUE(g);
  EXPECT_EQ(g->cone, (std::vector<int>{out, second, first}));
  EXPECT_EQ(g->trips, (std::vector<double>{1, 5, 5, 10}));
  const auto extents = [&](int depth, int f) {
    const NumberBox &box = g->boxes[static_cast<size_t>(depth)][static_cast<size_t>(f)];
    return std::to_string(box[0].extent()) + "x" + std::to_string(box[1].extent());
  };
  EXPECT_EQ(extents(0, out) + " " + extents(1, out) + " " + extents(2, out), "100x50 100x10 20x10");
  EXPECT_EQ(extents(1, second) + " " + extents(2, second), "200x10 40x10");
  EXPECT_EQ(extents(0, first) + " " + extents(1, first), "200x52 200x12");
  // It is computed further outside than what reads it, not further inside.
  FuncPlan inside = plan.funcs[static_cast<size_t>(first)];
  inside.level = 2;
  plan.funcs.set(static_cast<size_t>(first), inside);
  EXPECT_FALSE(find_group_boxes(c.model, plan, out));
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

std::string factored(const Func &f, int cores) {
  const FrozenPipeline frozen = freeze({f.function()});
  Estimates estimates = find_estimates(frozen);
  const PipelineModel model = build_model(frozen, {}, &estimates);
  return to_text(factor_reductions(model, machine_for(Target("x86-64-linux-avx2"), cores)));
}

TEST(Factor, SumsGetTasksAndLanes) {
  ImageParam in(Float(32), 1, "in");
  RDom r(0, 1 << 20, "r");
  Func total("total");
  total() += in(r);
  EXPECT_EQ(factored(total, 2),
            "schedule 1\n"
            "total.update(0).split(r, ro, ri, 131072)\n"
            "total.update(0).split(ri, ri, ril, 32)\n"
            "total_intm = total.update(0).rfactor(ril, lane, ro, task)\n");
  EXPECT_EQ(factored(total, 1),
            "schedule 1\n"
            "total.update(0).split(r, r, rl, 32)\n"
            "total_intm = total.update(0).rfactor(rl, lane)\n");
}

TEST(Factor, WhatHasEnoughToRunAtOnceStays) {
  ImageParam in(Float(32), 2, "in");
  RDom r(0, 1024, "r");
  Func rows("rows"), few("few"), scan("scan");
  rows(y) += in(r, y);
  rows.set_estimate(y, 0, 1024);
  // Rows run in parallel; the lanes are the reduction's.
  EXPECT_EQ(factored(rows, 2).find("task"), std::string::npos) << factored(rows, 2);
  few(y) += in(r, y);
  few.set_estimate(y, 0, 4);
  EXPECT_EQ(factored(few, 2), "schedule 1\n");  // too little to do
  RDom s(1, 1 << 20, "s");
  scan(x) = 0.0f;
  scan(s) = scan(s - 1) + 1.0f;
  scan.set_estimate(x, 0, 1 << 20);
  EXPECT_EQ(factored(scan, 2), "schedule 1\n");  // not associative
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
}  // namespace polyhalite::autosched::parts_test
