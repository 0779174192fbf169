// Nodes that run between kernels: regions, loops over time, results whose sizes follow from
// elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/emit_library.h"
#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::control_test {
namespace {

Constant boolean(bool v) {
  const uint8_t byte = v ? 1 : 0;
  return Constant::splat(ElementType::Bool, {}, &byte);
}

// %y = %c ? -%x : %x + %x, the branches reading values around them.
ModelBuilder branches() {
  ModelBuilder yes, no, b;
  yes.node("Neg", {"x"}, {"p"}).output("p");
  no.node("Add", {"x", "x"}, {"q"}).output("q");
  b.input("c", {}, 9).input("x", {"N"});
  b.node("If", {"c"}, {"y"},
         {graph_attribute("then_branch", yes.region("yes")),
          graph_attribute("else_branch", no.region("no"))});
  b.output("y");
  return b;
}

TEST(onnx_control, a_condition_chooses_a_branch) {
  for (const Engine engine : {Engine::Compiled, Engine::Interpreter}) {
    CompileOptions options;
    options.engine = engine;
    Session session(branches().load(), options);
    const Constant x = floats({3}, {1, 2, 3});
    EXPECT_EQ(list(session.run({{"c", boolean(true)}, {"x", x}}).at("y")),
              (std::vector<float>{-1, -2, -3}));
    EXPECT_EQ(list(session.run({{"c", boolean(false)}, {"x", x}}).at("y")),
              (std::vector<float>{2, 4, 6}));
    // One compilation serves both conditions and all sizes.
    EXPECT_EQ(list(session.run({{"c", boolean(true)}, {"x", floats({1}, {5})}}).at("y")),
              (std::vector<float>{-5}));
  }
}

TEST(onnx_control, a_known_condition_leaves_one_branch) {
  CompileOptions options;
  options.constants["c"] = boolean(true);
  const Program p(branches().load(), options);
  ASSERT_EQ(p.graph().nodes.size(), 1u);
  EXPECT_EQ(p.graph().nodes[0].op, "Neg");
  EXPECT_EQ(list(p.run({{"x", floats({2}, {1, 2})}}).at("y")), (std::vector<float>{-1, -2}));
}

TEST(onnx_control, a_condition_may_decide_about_ranks) {
  ModelBuilder yes, no, b;
  yes.node("Neg", {"x"}, {"p"}).output("p");
  no.integers("axes", {0}).node("Unsqueeze", {"x", "axes"}, {"q"}).output("q");
  b.input("c", {}, 9).input("x", {2});
  b.node("If", {"c"}, {"y"},
         {graph_attribute("then_branch", yes.region("yes")),
          graph_attribute("else_branch", no.region("no"))});
  b.output("y");
  Session session(b.load());
  const Constant x = floats({2}, {1, 2});
  EXPECT_EQ(session.run({{"c", boolean(true)}, {"x", x}}).at("y").shape().size(), 1u);
  EXPECT_EQ(session.run({{"c", boolean(false)}, {"x", x}}).at("y").shape().size(), 2u);
}

TEST(onnx_control, regions_that_do_not_fit_are_told) {
  ModelBuilder lacks;
  lacks.input("c", {}, 9).input("x", {2});
  ModelBuilder yes;
  yes.node("Neg", {"x"}, {"p"}).output("p");
  lacks.node("If", {"c"}, {"y"}, {graph_attribute("then_branch", yes.region("yes"))}).output("y");
  EXPECT_EQ(error_of([&] { Program(lacks.load(), {}); }),
            "error: node 'make_y' (If, version 16): it has no attribute 'else_branch'\n"
            "  why: its nodes are a graph of this name\n"
            "  fix: mend the model, or give other shapes");
  ModelBuilder body, b;
  body.input("turn", {}, 7).node("Neg", {"x"}, {"p"}).output("p");
  b.input("n", {}, 7).input("x", {2});
  b.node("Loop", {"n", "", "x"}, {"y"}, {graph_attribute("body", body.region("body"))});
  b.output("y");
  EXPECT_EQ(error_of([&] { Program(b.load(), {}); }),
            "error: node 'make_y' (Loop, version 16): its body has 1 inputs\n"
            "  why: there are the turn's number, the condition and 1 states\n"
            "  fix: mend the model, or give other shapes");
}

// Inside out: a choice in a choice in a choice, as TorchScript writes a chain of else ifs.
ModelBuilder chain_of_choices(int depth) {
  ModelBuilder yes, b;
  yes.node("Neg", {"x"}, {"p"}).output("p");
  const Message last = yes.region("yes");
  Message inner = last;
  const auto choose = [&](ModelBuilder &m, const std::string &result) {
    m.node("If", {"c"}, {result},
           {graph_attribute("then_branch", last), graph_attribute("else_branch", inner)});
    m.output(result);
  };
  for (int level = 1; level < depth; level++) {
    ModelBuilder around;
    choose(around, "p");
    inner = around.region("around");
  }
  b.input("c", {}, 9).input("x", {2});
  choose(b, "y");
  return b;
}

TEST(onnx_control, choices_inside_choices) {
  Session session(chain_of_choices(20).load());
  EXPECT_EQ(list(session.run({{"c", boolean(false)}, {"x", floats({2}, {1, -2})}}).at("y")),
            (std::vector<float>{-1, 2}));
  EXPECT_NE(error_of([&] { chain_of_choices(32).load(); })
                .find("has graphs inside graphs, more than 30 deep\n  why: deeper ones are not "
                      "supported"),
            std::string::npos);
}

// Sums x over and over: states, a result for each turn, and a value from around.
ModelBuilder loop() {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9).input("s", {2});
  body.node("Add", {"s", "x"}, {"next"})
      .node("Identity", {"goes"}, {"goes_on"})
      .node("Neg", {"next"}, {"seen"});
  body.output("goes_on").output("next").output("seen");
  b.input("n", {}, 7).input("x", {2}).input("start", {2});
  b.node("Loop", {"n", "", "start"}, {"last", "all"},
         {graph_attribute("body", body.region("body"))});
  b.output("last").output("all");
  return b;
}

TEST(onnx_control, loops_keep_states_and_collect_results) {
  Session session(loop().load());
  Program::Tensors in{{"x", floats({2}, {1, 2})}, {"start", floats({2}, {10, 20})}};
  for (const int64_t n : {3, 1, 0}) {
    in["n"] = Constant::integer(n);
    const auto out = session.run(in);
    const float f = static_cast<float>(n);
    EXPECT_EQ(list(out.at("last")), (std::vector<float>{10 + f, 20 + 2 * f}));
    EXPECT_EQ(out.at("all").shape(), (std::vector<int64_t>{n, 2}));
    if (n != 3) continue;
    EXPECT_EQ(list(out.at("all")), (std::vector<float>{-11, -22, -12, -24, -13, -26}));
  }
}

// A state that turns give on as it came, also as a copy, is a value around the loop: where it is
// known the body's kernels are made for it. What reads its last value reads the first one.
TEST(onnx_control, states_that_stay_are_values_around) {
  for (const bool copied : {false, true}) {
    ModelBuilder body, b;
    body.input("turn", {}, 7).input("goes", {}, 9).input("m", {2, 2}).input("s", {1, 2});
    body.node("Identity", {"goes"}, {"goes_on"}).node("MatMul", {"s", "m"}, {"next"});
    if (copied) body.node("Identity", {"m"}, {"m_copy"}).node("Identity", {"m_copy"}, {"m_next"});
    body.node("Neg", {"next"}, {"seen"});
    body.output("goes_on").output(copied ? "m_next" : "m").output("next").output("seen");
    b.input("n", {}, 7).input("start", {1, 2}).weights("w", {2, 2}, {0, 1, 1, 1});
    b.node("Loop", {"n", "", "w", "start"}, {"kept", "last", "all"},
           {graph_attribute("body", body.region("body"))});
    b.node("Add", {"kept", "kept"}, {"twice"}).output("twice").output("last").output("all");
    Session session(b.load());
    Program::Tensors in{{"start", floats({1, 2}, {1, 0})}};
    for (const int64_t n : {4, 0}) {
      in["n"] = Constant::integer(n);
      const auto out = session.run(in);
      EXPECT_EQ(list(out.at("twice")), (std::vector<float>{0, 2, 2, 2}));
      EXPECT_EQ(list(out.at("last")),
                n == 4 ? (std::vector<float>{2, 3}) : (std::vector<float>{1, 0}));
      EXPECT_EQ(out.at("all").shape(), (std::vector<int64_t>{n, 1, 2}));
    }
    const Graph g = canonicalize(b.load().graph);
    const Node &node = g.nodes[0];
    EXPECT_EQ(node.integer("operands", 0), 3);
    EXPECT_EQ(node.inputs.size(), 4u);
    EXPECT_EQ(node.outputs.size(), 2u);
  }
}

// A branch whose sizes do not meet what is around it is none of the program's, where it is not
// taken.
TEST(onnx_control, branches_that_do_not_fit_may_not_be_taken) {
  ModelBuilder yes, no, b;
  yes.weights("w2", {2, 1}, {1, 1}).node("MatMul", {"x", "w2"}, {"p"}).output("p");
  no.weights("w3", {3, 1}, {1, 1, 1}).node("MatMul", {"x", "w3"}, {"q"}).output("q");
  b.input("c", {}, 9).input("x", {1, 2});
  b.node("If", {"c"}, {"y"},
         {graph_attribute("then_branch", yes.region("yes")),
          graph_attribute("else_branch", no.region("no"))});
  b.output("y");
  Session session(b.load());
  const Constant x = floats({1, 2}, {1, 2});
  EXPECT_EQ(list(session.run({{"c", boolean(true)}, {"x", x}}).at("y")), (std::vector<float>{3}));
  try {
    session.run({{"c", boolean(false)}, {"x", x}});
    FAIL() << "two columns have met three rows";
  } catch (const CompileError &e) {
    EXPECT_NE(std::string(e.what()).find("MatMul"), std::string::npos) << e.what();
  }
}

TEST(onnx_control, states_may_grow) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9).input("s", {"grown"});
  body.node("Concat", {"s", "x"}, {"next"}, {int_attribute("axis", 0)})
      .node("Identity", {"goes"}, {"goes_on"});
  body.output("goes_on").output("next");
  b.input("n", {}, 7).input("x", {2}).input("start", {1});
  b.node("Loop", {"n", "", "start"}, {"grown"}, {graph_attribute("body", body.region("body"))});
  b.node("Neg", {"grown"}, {"y"}).output("y");
  const auto out = Session(b.load()).run(
      {{"n", Constant::integer(3)}, {"x", floats({2}, {1, 2})}, {"start", floats({1}, {9})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{-9, -1, -2, -1, -2, -1, -2}));
}

// As Paddle's exporter leaves undefined what the first turn overwrites: [] in front, [2, 1] behind.
TEST(onnx_control, a_state_that_no_turn_reads_may_come_out_with_another_rank) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9).input("unread", {}).input("s", {2});
  body.weights("column", {2, 1}, {1, 1});
  body.node("Identity", {"goes"}, {"goes_on"}).node("Add", {"s", "s"}, {"next"});
  body.node("Mul", {"next", "column"}, {"square"});
  body.output("goes_on").output("square").output("next");
  b.input("n", {}, 7).input("undefined", {}).input("start", {2});
  b.node("Loop", {"n", "", "undefined", "start"}, {"square", "last"},
         {graph_attribute("body", body.region("body"))});
  b.output("square").output("last");
  Session session(b.load());
  Program::Tensors in{{"undefined", floats({}, {7})}, {"start", floats({2}, {1, 3})}};
  for (const int64_t n : {1, 0, 3, 2}) {
    in["n"] = Constant::integer(n);
    const auto out = session.run(in);
    const auto f = static_cast<float>(1 << n);
    const std::vector<float> row{f, 3 * f};
    EXPECT_EQ(list(out.at("last")), row);
    EXPECT_EQ(out.at("square").shape(),
              n == 0 ? std::vector<int64_t>{} : (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(list(out.at("square")),
              n == 0 ? std::vector<float>{7} : (std::vector<float>{f, 3 * f, f, 3 * f}));
  }
}

// Likewise in a Scan, whose sequences may be empty.
TEST(onnx_control, a_state_that_no_scan_reads_may_come_out_with_another_shape) {
  for (const bool other_rank : {false, true}) {
    ModelBuilder body, b;
    if (other_rank)
      body.input("unread", {});
    else
      body.input("unread", {1});
    body.input("e", {2});
    body.node("Add", {"e", "e"}, {"twice"}).output("twice");
    if (other_rank)
      b.input("undefined", {});
    else
      b.input("undefined", {1});
    b.input("x", {"steps", 2});
    b.node("Scan", {"undefined", "x"}, {"y"},
           {graph_attribute("body", body.region("body")), int_attribute("num_scan_inputs", 1)});
    b.output("y");
    Session session(b.load());
    const std::vector<int64_t> none = other_rank ? std::vector<int64_t>{} : std::vector<int64_t>{1};
    for (const int64_t n : {3, 1, 0, 2}) {
      std::vector<float> x;
      for (int64_t k = 0; k < 2 * n; k++) x.push_back(static_cast<float>(k));
      const Constant y =
          session.run({{"undefined", floats(none, {7})}, {"x", floats({n, 2}, x)}}).at("y");
      const auto last = static_cast<float>(4 * n - 4);
      EXPECT_EQ(list(y), n == 0 ? std::vector<float>{7} : (std::vector<float>{last, last + 2}))
          << n;
    }
  }
}

// A condition that is given decides, too, where nobody counts.
TEST(onnx_control, a_condition_decides_about_the_rank_of_an_unread_state) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9).input("unread", {});
  body.integers("two", {2}).node("Less", {"turn", "two"}, {"again"});
  body.node("Add", {"x", "x"}, {"next"}).output("again").output("next");
  b.input("go", {}, 9).input("x", {2}).input("undefined", {});
  b.node("Loop", {"", "go", "undefined"}, {"y"}, {graph_attribute("body", body.region("body"))});
  b.output("y");
  Session session(b.load());
  Program::Tensors in{{"undefined", floats({}, {7})}, {"x", floats({2}, {1, 3})}};
  in["go"] = boolean(true);
  EXPECT_EQ(list(session.run(in).at("y")), (std::vector<float>{2, 6}));
  in["go"] = boolean(false);
  EXPECT_EQ(list(session.run(in).at("y")), (std::vector<float>{7}));
}

// [] and [1] are told apart by their rank only: the higher one holds.
TEST(onnx_control, numbers_of_ranks_0_and_1_meet) {
  ModelBuilder yes, no, b;
  yes.weights("p", {}, {5}).output("p");
  no.node("Add", {"s", "one"}, {"q"}).output("q");
  ModelBuilder body;
  body.input("turn", {}, 7).input("goes", {}, 9).input("s", {});
  body.weights("one", {1}, {1}).weights("three", {}, {3});
  body.node("Identity", {"goes"}, {"goes_on"}).node("Equal", {"s", "three"}, {"at_three"});
  body.node("If", {"at_three"}, {"next"},
            {graph_attribute("then_branch", yes.region("yes")),
             graph_attribute("else_branch", no.region("no"))});
  body.output("goes_on").output("next");
  b.input("n", {}, 7).input("start", {});
  b.node("Loop", {"n", "", "start"}, {"y"}, {graph_attribute("body", body.region("body"))});
  b.output("y");
  Session session(b.load());
  Program::Tensors in{{"start", floats({}, {1})}};
  const std::vector<float> after{1, 2, 3, 5, 6};
  for (size_t n = 0; n < after.size(); n++) {
    in["n"] = Constant::integer(static_cast<int64_t>(n));
    const Constant y = session.run(in).at("y");
    EXPECT_EQ(list(y), std::vector<float>{after[n]}) << n;
    EXPECT_EQ(y.shape(), std::vector<int64_t>{1}) << n;
  }
}

TEST(onnx_control, scans_run_along_an_axis_both_ways) {
  ModelBuilder body, b;
  body.input("s", {2}).input("e", {2});
  body.node("Add", {"s", "e"}, {"next"}).node("Identity", {"next"}, {"sum"});
  body.output("next").output("sum");
  b.input("start", {2}).input("x", {2, "steps"});
  b.node("Scan", {"start", "x"}, {"last", "sums"},
         {graph_attribute("body", body.region("body")), int_attribute("num_scan_inputs", 1),
          ints_attribute("scan_input_axes", {1}), ints_attribute("scan_output_axes", {-1}),
          ints_attribute("scan_input_directions", {1})});
  b.output("last").output("sums");
  const auto out = Session(b.load()).run(
      {{"start", floats({2}, {0, 0})}, {"x", floats({2, 3}, {1, 2, 3, 10, 20, 30})}});
  EXPECT_EQ(list(out.at("last")), (std::vector<float>{6, 60}));
  EXPECT_EQ(list(out.at("sums")), (std::vector<float>{3, 5, 6, 30, 50, 60}));
}

TEST(onnx_control, sizes_that_follow_from_elements) {
  // As detectors do: places of what is not 0, then those elements in another shape.
  ModelBuilder b;
  b.input("x", {"N"}).integers("column", {-1, 1});
  b.node("NonZero", {"x"}, {"where"})
      .node("Transpose", {"where"}, {"places"})
      .node("GatherND", {"x", "places"}, {"kept"});
  b.node("Reshape", {"kept", "column"}, {"y"}).output("y").output("where");
  Session session(b.load());
  const auto program = session.program_for({});
  for (const std::vector<float> &x :
       {std::vector<float>{0, 5, 0, 7, 8}, std::vector<float>{1}, std::vector<float>{0, 0}}) {
    const auto out = session.run({{"x", floats({static_cast<int64_t>(x.size())}, x)}});
    std::vector<float> kept;
    for (float f : x) {
      if (f != 0) kept.push_back(f);
    }
    EXPECT_EQ(list(out.at("y")), kept);
    EXPECT_EQ(out.at("y").shape(), (std::vector<int64_t>{static_cast<int64_t>(kept.size()), 1}));
  }
  EXPECT_EQ(session.program_for({}), program);
}

TEST(onnx_control, libraries_refuse_what_runs_between_kernels) {
  ModelBuilder b;
  b.input("x", {4}).node("NonZero", {"x"}, {"y"}).output("y");
  const Program p(b.load(), {});
  EXPECT_EQ(error_of([&] { emit_library(p, "control_library", "m", get_host_target()); }),
            "error: a library has no place for node 'make_y' (NonZero, version 13)\n"
            "  why: what it does follows from elements, and runs between kernels\n"
            "  fix: run the model with polyhalite run, or export it without the node");
}

// One LSTM of two units over two images, by hand in double.
void expect_lstm(int64_t steps, const std::vector<int64_t> &lengths) {
  const int64_t batch = 2, in = 2, hidden = 2;
  const std::vector<float> x = random_list(steps * batch * in, 1),
                           w = random_list(4 * hidden * in, 2),
                           r = random_list(4 * hidden * hidden, 3),
                           bias = random_list(8 * hidden, 4);
  for (const bool backwards : {false, true}) {
    ModelBuilder b(14);
    b.input("x", {"steps", "batch", 2}).input("lengths", {"batch"}, 6);
    b.weights("w", {1, 4 * hidden, in}, w).weights("r", {1, 4 * hidden, hidden}, r);
    b.weights("b", {1, 8 * hidden}, bias);
    b.node("LSTM", {"x", "w", "r", "b", "lengths"}, {"y", "h", "c"},
           {int_attribute("hidden_size", hidden),
            text_attribute("direction", backwards ? "reverse" : "forward")});
    b.output("y").output("h").output("c");
    std::vector<uint8_t> ends(8);
    for (size_t n = 0; n < 2; n++) ends[4 * n] = static_cast<uint8_t>(lengths[n]);
    const auto out = Session(b.load()).run(
        {{"x", floats({steps, batch, in}, x)},
         {"lengths", Constant::of_bytes(ElementType::Int32, {batch}, std::move(ends))}});
    auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (int64_t n = 0; n < batch; n++) {
      std::vector<double> h(2), c(2);
      std::vector<double> y(static_cast<size_t>(steps * hidden));
      const int64_t length = lengths[static_cast<size_t>(n)];
      for (int64_t turn = 0; turn < length; turn++) {
        const int64_t t = backwards ? length - 1 - turn : turn;
        std::vector<double> gates(static_cast<size_t>(4 * hidden));
        for (int64_t g = 0; g < 4 * hidden; g++) {
          double sum = bias[static_cast<size_t>(g)] + bias[static_cast<size_t>(4 * hidden + g)];
          for (int64_t k = 0; k < in; k++)
            sum += x[static_cast<size_t>((t * batch + n) * in + k)] *
                   w[static_cast<size_t>(g * in + k)];
          for (int64_t k = 0; k < hidden; k++)
            sum += h[static_cast<size_t>(k)] * r[static_cast<size_t>(g * hidden + k)];
          gates[static_cast<size_t>(g)] = sum;
        }
        for (size_t k = 0; k < 2; k++) {
          c[k] = sigmoid(gates[4 + k]) * c[k] + sigmoid(gates[k]) * std::tanh(gates[6 + k]);
          h[k] = sigmoid(gates[2 + k]) * std::tanh(c[k]);
          y[static_cast<size_t>(t * hidden) + k] = h[k];
        }
      }
      for (int64_t k = 0; k < hidden; k++) {
        EXPECT_NEAR(out.at("h").number(n * hidden + k), h[static_cast<size_t>(k)], 1e-5);
        EXPECT_NEAR(out.at("c").number(n * hidden + k), c[static_cast<size_t>(k)], 1e-5);
        for (int64_t t = 0; t < steps; t++)
          EXPECT_NEAR(out.at("y").number((t * batch + n) * hidden + k),
                      y[static_cast<size_t>(t * hidden + k)], 1e-5);
      }
    }
  }
}

TEST(onnx_control, lstm_equals_its_formulas) { expect_lstm(3, {3, 2}); }
// Turns behind the longest sequence do not run.
TEST(onnx_control, sequences_may_all_be_shorter) {
  expect_lstm(6, {3, 2});
  expect_lstm(3, {0, 0});
}

TEST(onnx_control, files_cannot_set_attributes_of_ours) {
  ModelBuilder body, b;
  body.input("e", {2}).node("Add", {"e", "around"}, {"sum"}).output("sum");
  b.input("around", {2}).input("x", {3, 2});
  b.node("Scan", {"x"}, {"y"},
         {graph_attribute("body", body.region("body")), int_attribute("num_scan_inputs", 1),
          int_attribute("operands", 7), int_attribute("bounded", 1)});
  b.output("y");
  const auto out = Session(b.load()).run(
      {{"around", floats({2}, {1, 2})}, {"x", floats({3, 2}, {0, 0, 10, 20, 30, 40})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{1, 2, 11, 22, 31, 42}));
}

// Boxes of several sizes, some in places of their own, held against each pair.
TEST(onnx_control, boxes_that_better_ones_cover_are_left_out) {
  constexpr size_t kBoxes = 700;
  for (const float apart : {0.0f, 50.0f}) {
    std::vector<float> v = random_list(4 * kBoxes, 7), scores = random_list(kBoxes, 8);
    for (size_t b = 0; b < kBoxes; b++) {
      float *box = v.data() + 4 * b;
      const float size = b % 5 == 0 ? 0.9f : 0.2f, place = apart * static_cast<float>(b % 20);
      for (size_t d = 0; d < 2; d++) {
        box[2 + d] = box[d] + size * box[2 + d] + place;
        box[d] += place;
      }
    }
    const float most = 0.3f;
    const auto part = [&](size_t p, size_t q) {
      float common = 1, areas[2] = {1, 1};
      for (size_t d = 0; d < 2; d++) {
        float low[2], high[2];
        for (const auto &[k, b] : {std::pair{0, p}, {1, q}}) {
          low[k] = std::min(v[4 * b + d], v[4 * b + d + 2]);
          high[k] = std::max(v[4 * b + d], v[4 * b + d + 2]);
          areas[k] *= high[k] - low[k];
        }
        common *= std::max(0.0f, std::min(high[0], high[1]) - std::max(low[0], low[1]));
      }
      return common / (areas[0] + areas[1] - common);
    };
    std::vector<size_t> order(kBoxes), kept;
    for (size_t b = 0; b < kBoxes; b++) order[b] = b;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t p, size_t q) { return scores[p] > scores[q]; });
    for (const size_t b : order) {
      if (std::none_of(kept.begin(), kept.end(), [&](size_t k) { return part(k, b) > most; }))
        kept.push_back(b);
    }
    ModelBuilder b(18);
    b.input("boxes", {1, kBoxes, 4}).input("scores", {1, 1, kBoxes});
    b.integers("number", {1000}).weights("most", {}, {most});
    b.node("NonMaxSuppression", {"boxes", "scores", "number", "most"}, {"y"}).output("y");
    const Constant y =
        Session(b.load())
            .run({{"boxes", floats({1, kBoxes, 4}, v)}, {"scores", floats({1, 1, kBoxes}, scores)}})
            .at("y");
    ASSERT_EQ(y.shape()[0], static_cast<int64_t>(kept.size()));
    for (size_t k = 0; k < kept.size(); k++)
      EXPECT_EQ(y.integer_at(static_cast<int64_t>(3 * k + 2)), static_cast<int64_t>(kept[k]));
  }
}

TEST(onnx_control, narrow_elements_share_bytes_in_files_only) {
  // 4 bits: 1, -2, 3 | a float of 8 bits: 1.5.
  ModelBuilder b(21);
  b.initializer(Message().number(1, 3).number(2, 22).text(8, "q").text(9, "\xe1\x03"));
  b.initializer(Message().number(1, 1).number(2, 17).text(8, "f").text(9, "\x3c"));
  b.input("x", {3});
  b.node("Cast", {"q"}, {"qf"}, {int_attribute("to", 1)})
      .node("Cast", {"f"}, {"ff"}, {int_attribute("to", 1)});
  b.node("Mul", {"qf", "ff"}, {"m"}).node("Add", {"m", "x"}, {"y"}).output("y");
  const auto out = Session(b.load()).run({{"x", floats({3}, {0, 0, 0})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{1.5f, -3, 4.5f}));
  // Known codes of floats are no steps.
  ModelBuilder codes(21);
  codes.initializer(Message().number(1, 2).number(2, 17).text(8, "f").text(9, "\x3c\x40"));
  codes.weights("scale", {}, {2});
  codes.node("DequantizeLinear", {"f", "scale"}, {"y"}).output("y");
  EXPECT_EQ(list(Session(codes.load()).run({}).at("y")), (std::vector<float>{3, 4}));
  ModelBuilder sum(21);
  sum.input("q", {3}, 22).node("Add", {"q", "q"}, {"y"}).output("y");
  EXPECT_EQ(error_of([&] { Program(sum.load(), {}); }),
            "error: node 'make_y' (Add, version 14) reads 'q', which has elements of int4\n"
            "  why: such elements are converted and moved only\n"
            "  fix: dequantize or cast them first");
}

}  // namespace
}  // namespace polyhalite::onnx::control_test
