// Models of our own, from bytes to results.
#include "apps/onnx/program.h"

#include <gtest/gtest.h>

#include <cmath>

#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"
#include "test/onnx/run_all.h"

namespace polyhalite::onnx::program_test {
namespace {

TEST(onnx_program, matmul_bias_relu_is_one_kernel) {
  ModelBuilder b;
  b.input("x", {2, 3}).weights("w", {3, 2}, {1, 2, 3, 4, 5, 6}).weights("c", {2}, {-20, 1});
  b.node("MatMul", {"x", "w"}, {"m"})
      .node("Add", {"m", "c"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .output("y");
  const auto out = run_all(b, {{"x", floats({2, 3}, {1, 1, 1, 2, 0, 1})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{0, 13, 0, 11}));
  const Program p(b.load(), {});
  EXPECT_EQ(p.kernels().size(), 1u);
}

TEST(onnx_program, equal_layers_share_a_kernel) {
  ModelBuilder b;
  b.input("v0", {4, 8});
  for (int i = 0; i < 5; i++) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    b.initializer(ModelBuilder::tensor<float>(
        "w" + n, 1, {8, 8}, std::vector<float>(64, 0.1f * static_cast<float>(i))));
    b.node("MatMul", {"v" + n, "w" + n}, {"m" + n}).node("Relu", {"m" + n}, {"v" + next});
  }
  b.output("v5");
  const Program p(b.load(), {});
  EXPECT_EQ(p.steps().size(), 5u);
  EXPECT_EQ(p.kernels().size(), 1u);
  // Values live one after the other: two places serve all.
  EXPECT_EQ(p.arena({}).bytes, 2 * 4 * 8 * 4);
}

// x * sigmoid(x) is x / (1 + e^-x), whichever side x is on; other products stay.
TEST(onnx_program, a_product_with_its_own_sigmoid_is_one_operator) {
  ModelBuilder b;
  b.input("x", {8}).input("z", {8});
  b.node("Sigmoid", {"x"}, {"s"});
  b.node("Mul", {"s", "x"}, {"left"}).node("Mul", {"x", "s"}, {"right"});
  b.node("Mul", {"z", "s"}, {"other"});
  b.output("left").output("right").output("other");
  const std::vector<float> x{-200, -30, -1, -0.5f, 0, 1e-3f, 4, 300};
  const std::vector<float> z{1, 2, 3, 4, 5, 6, 7, 8};
  const auto out = run_all(b, {{"x", floats({8}, x)}, {"z", floats({8}, z)}});
  for (size_t i = 0; i < x.size(); i++) {
    const double gate = 1 / (1 + std::exp(-static_cast<double>(x[i])));
    const auto at = static_cast<int64_t>(i);
    EXPECT_NEAR(out.at("left").number(at), x[i] * gate, 4e-7 * std::abs(x[i] * gate) + 1e-35);
    EXPECT_EQ(out.at("right").number(at), out.at("left").number(at));
    EXPECT_NEAR(out.at("other").number(at), z[i] * gate, 4e-7 * z[i] * gate + 1e-35);
  }
  const std::string graph = to_text(Program(b.load(), {}).graph());
  EXPECT_NE(graph.find("Swish"), std::string::npos) << graph;
  EXPECT_NE(graph.find("Mul"), std::string::npos) << graph;
}

// What moves known elements only is done once, however many there are.
TEST(onnx_program, large_weights_are_moved_before_the_program_runs) {
  constexpr int64_t kDepth = 500, kColumns = 400, kHalf = kColumns / 2;
  const std::vector<float> w = list(random_tensor({2, kColumns, kDepth}, 1));
  const Constant x = random_tensor({1, kDepth}, 2);
  ModelBuilder b;
  b.input("x", {1, kDepth}).weights("w", {2, kColumns, kDepth}, w);
  b.initializer(ModelBuilder::tensor<int64_t>("last", 7, {}, {-1}));
  b.node("Gather", {"w", "last"}, {"one"}, {int_attribute("axis", 0)});
  b.node("Transpose", {"one"}, {"columns"}, {ints_attribute("perm", {1, 0})});
  b.node("Split", {"columns"}, {"left", "right"},
         {int_attribute("axis", -1), int_attribute("num_outputs", 2)});
  b.node("MatMul", {"x", "left"}, {"y"}).node("MatMul", {"x", "right"}, {"z"});
  b.output("y").output("z");
  const Program p(b.load(), {});
  for (const char *op : {"Gather", "Transpose", "Split"})
    EXPECT_EQ(to_text(p.graph()).find(op), std::string::npos) << to_text(p.graph());
  const auto results = p.run({{"x", x}});
  for (int64_t j = 0; j < kColumns; j++) {
    double sum = 0;
    for (int64_t k = 0; k < kDepth; k++)
      sum += x.number(k) * static_cast<double>(w[static_cast<size_t>((kColumns + j) * kDepth + k)]);
    const Constant &y = results.at(j < kHalf ? "y" : "z");
    ASSERT_NEAR(y.number(j % kHalf), sum, 1e-3) << j;
  }
}

// Columns that fill no strip, a batch, one row, and an epilogue.
TEST(onnx_program, known_right_operands_lie_in_strips) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{5, 9}, {2, 7, 9}, {1, 9}}) {
    std::vector<TestDim> dims;
    for (int64_t d : shape) dims.emplace_back(static_cast<int>(d));
    ModelBuilder b;
    b.input("x", dims).weights("w", {9, 70}, list(random_tensor({9, 70}, 1)));
    b.weights("c", {70}, list(random_tensor({70}, 2)));
    b.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "c"}, {"s"}).node("Erf", {"s"}, {"y"});
    b.output("y");
    run_all(b, {{"x", random_tensor(shape, 3)}});
    const Program p(b.load(), {});
    EXPECT_NE(to_text(p.graph()).find("strips_of"), std::string::npos) << to_text(p.graph());
    CompileOptions options;
    options.switched_off = {"strip_kernels"};
    EXPECT_EQ(to_text(Program(b.load(), options).graph()).find("strips_of"), std::string::npos);
  }
}

// Of an open number of rows, too: each class of them, with tiles that do not fit.
TEST(onnx_program, strips_serve_an_open_number_of_rows) {
  ModelBuilder b;
  b.input("x", {"n", 40}).weights("w", {40, 70}, list(random_tensor({40, 70}, 1)));
  b.weights("c", {70}, list(random_tensor({70}, 2)));
  b.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "c"}, {"y"}).output("y");
  CompileOptions interpreted;
  interpreted.engine = Engine::Interpreter;
  interpreted.optimize = false;
  Session session(b.load(), {}), reference(b.load(), interpreted);
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 9, 25}) {
    const Program::Tensors in{{"x", random_tensor({n, 40}, 3)}};
    EXPECT_EQ(compare(session.run(in).at("y"), reference.run(in).at("y"), 1e-5, 1e-6), "") << n;
  }
  const std::string graph = to_text(Program(b.load(), {}).graph());
  EXPECT_NE(graph.find("strips_of"), std::string::npos) << graph;
}

// Both ways to hold the matrix, for one row and for several.
TEST(onnx_program, known_right_operands_of_gemm_lie_in_strips) {
  for (const int rows : {1, 6}) {
    for (const bool turned : {false, true}) {
      const std::vector<int64_t> held =
          turned ? std::vector<int64_t>{150, 90} : std::vector<int64_t>{90, 150};
      ModelBuilder b;
      b.input("x", {rows, 90}).weights("w", held, list(random_tensor(held, 1)));
      b.weights("c", {150}, list(random_tensor({150}, 2)));
      b.node("Gemm", {"x", "w", "c"}, {"y"}, {int_attribute("transB", turned ? 1 : 0)});
      b.output("y");
      run_all(b, {{"x", random_tensor({rows, 90}, 3)}});
      const std::string graph = to_text(Program(b.load(), {}).graph());
      EXPECT_NE(graph.find("strips_of"), std::string::npos) << graph;
    }
  }
}

TEST(onnx_program, known_exponents) {
  for (const float exponent : {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 0.5f, -1.0f, 2.5f}) {
    ModelBuilder b;
    b.input("x", {40}).weights("e", {}, {exponent}).node("Abs", {"x"}, {"a"});
    b.node("Pow", {"a", "e"}, {"y"}).output("y");
    const Constant x = random_tensor({40}, 3);
    const Constant y = run_all(b, {{"x", x}}).at("y");
    for (int64_t i = 0; i < 40; i++) {
      const double wanted = std::pow(std::fabs(x.number(i)), static_cast<double>(exponent));
      EXPECT_NEAR(y.number(i), wanted, 1e-6 * std::fabs(wanted)) << exponent;
    }
  }
}

// Vectors that all meet one matrix are the rows of one product, of known and of open matrices.
TEST(onnx_program, sequences_of_vectors_are_matrices) {
  for (const bool known : {true, false}) {
    ModelBuilder b;
    b.input("x", {9, 1, 20});
    const Constant w = random_tensor({20, 70}, 1);
    if (known) {
      b.weights("w", {20, 70}, list(w));
    } else {
      b.input("w", {20, 70});
    }
    b.weights("c", {70}, list(random_tensor({70}, 2)));
    b.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "c"}, {"y"}).output("y");
    Program::Tensors inputs{{"x", random_tensor({9, 1, 20}, 3)}};
    if (!known) inputs.emplace("w", w);
    const Constant y = run_all(b, inputs).at("y");
    EXPECT_EQ(y.shape(), (std::vector<int64_t>{9, 1, 70}));
  }
}

// A copy of a copy, of an input, of what the graph gives away, and one that it gives away itself.
TEST(onnx_program, copies_are_no_nodes) {
  ModelBuilder b(13);
  b.input("x", {2, 3}).node("Identity", {"x"}, {"a"}).node("Dropout", {"a"}, {"b"});
  b.node("Cast", {"b"}, {"c"}, {int_attribute("to", 1)});
  b.node("Concat", {"c"}, {"d"}, {int_attribute("axis", 0)});
  b.node("Neg", {"d"}, {"e"}).node("Identity", {"e"}, {"f"}).node("Abs", {"f"}, {"y"});
  b.node("Identity", {"e"}, {"z"}).output("y").output("e").output("z");
  const auto out = run_all(b, {{"x", floats({2, 3}, {1, -2, 3, -4, 5, -6})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(list(out.at("z")), list(out.at("e")));
  const Graph g = Program(b.load(), {}).graph();
  std::string ops;
  for (const Node &n : g.nodes) ops += n.op + " ";
  EXPECT_EQ(ops, "Neg Abs Identity ");
}

TEST(onnx_program, masks_of_other_sizes_than_scores_are_refused) {
  for (const std::vector<TestDim> &mask :
       {std::vector<TestDim>{5, 6}, {2, 4, 6}, {7, 1, 4, 6}, {8}, {1, 1, 1, 4, 6}}) {
    ModelBuilder b(23);
    b.input("q", {2, 3, 4, 8}).input("k", {2, 3, 6, 8}).input("v", {2, 3, 6, 8}).input("m", mask);
    b.node("Attention", {"q", "k", "v", "m"}, {"y"}).output("y");
    try {
      const Program p(b.load(), {});
      FAIL() << "a mask of rank " << mask.size();
    } catch (const CompileError &e) {
      EXPECT_NE(std::string(e.what()).find("mask"), std::string::npos) << e.what();
    }
  }
}

// Exporters write -1, "?" or "None" for every size that is open: they need not be equal.
TEST(onnx_program, open_sizes_without_names_are_their_own) {
  for (const TestDim &open : {TestDim(-1), TestDim("?"), TestDim("None")}) {
    ModelBuilder b;
    b.input("x", {open, open}).node("Relu", {"x"}, {"y"}).output("y");
    const auto out = Session(b.load(), {}).run({{"x", floats({2, 3}, {1, -1, 2, -2, 3, -3})}});
    EXPECT_EQ(list(out.at("y")), (std::vector<float>{1, 0, 2, 0, 3, 0}));
  }
}

TEST(onnx_program, sizes_may_be_symbols) {
  ModelBuilder b;
  b.input("x", {"batch", "length", 4}).weights("w", {4, 6}, list(random_tensor({4, 6}, 1)));
  b.integers("shape", {0, -1, 2, 3})
      .node("MatMul", {"x", "w"}, {"m"})
      .node("Reshape", {"m", "shape"}, {"r"});
  b.node("Transpose", {"r"}, {"t"}, {ints_attribute("perm", {0, 2, 1, 3})})
      .node("Softmax", {"t"}, {"y"})
      .output("y");
  Session session(b.load());
  CompileOptions interpreted;
  interpreted.engine = Engine::Interpreter;
  Session reference(b.load(), interpreted);
  const auto program = session.program_for({});
  const std::vector<std::pair<int64_t, int64_t>> sizes{{1, 1}, {2, 5}, {3, 33}};
  for (const auto &[batch, length] : sizes) {
    const Program::Tensors in{{"x", random_tensor({batch, length, 4}, 2)}};
    EXPECT_EQ(compare(session.run(in).at("y"), reference.run(in).at("y"), 1e-5, 1e-6), "");
  }
  // One compilation served all sizes.
  EXPECT_EQ(session.program_for({}), program);
}

// Sizes have other names, and are other expressions, but the code is the same.
TEST(onnx_program, kernels_of_other_open_sizes_are_one) {
  ModelBuilder b;
  b.input("x", {"N", 4}).input("y", {"M", "K", 4}).integers("to", {-1, 4});
  b.node("Reshape", {"y", "to"}, {"rows"});
  b.node("Softmax", {"x"}, {"p"}).output("p").node("Softmax", {"rows"}, {"q"}).output("q");
  Session session(b.load());
  const Program::Tensors in{{"x", random_tensor({3, 4}, 1)}, {"y", random_tensor({5, 2, 4}, 2)}};
  const auto out = session.run(in);
  EXPECT_EQ(session.program_for({})->kernels().size(), 1u);
  CompileOptions interpreted;
  interpreted.engine = Engine::Interpreter;
  const auto want = Session(b.load(), interpreted).run(in);
  for (const char *name : {"p", "q"})
    EXPECT_EQ(compare(out.at(name), want.at(name), 1e-5, 1e-6), "") << name;
}

TEST(onnx_program, shapes_are_made_of_shapes) {
  // As exporters write x.reshape(x.shape[0], -1): nobody computes the new shape.
  ModelBuilder b;
  b.input("x", {"batch", 2, 3}).integers("zero", {0}).integers("one", {1}).integers("rest", {-1});
  b.node("Shape", {"x"}, {"s"}).node("Slice", {"s", "zero", "one"}, {"n"});
  b.node("Concat", {"n", "rest"}, {"to"}, {int_attribute("axis", 0)});
  b.node("Reshape", {"x", "to"}, {"r"}).node("Neg", {"r"}, {"y"}).output("y");
  Session session(b.load());
  const Constant x = random_tensor({4, 2, 3}, 1);
  const Constant y = session.run({{"x", x}}).at("y");
  EXPECT_EQ(y.shape(), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(y.number(23), -x.number(23));
  EXPECT_EQ(session.program_for({{"x", x}})->steps().size(), 1u);
}

TEST(onnx_program, parts_without_elements) {
  ModelBuilder b;
  b.input("x", {2, 3})
      .integers("parts", {3, 0})
      .node("Split", {"x", "parts"}, {"a", "b"}, {int_attribute("axis", 1)});
  b.node("Concat", {"b", "a"}, {"c"}, {int_attribute("axis", 1)})
      .node("Neg", {"c"}, {"y"})
      .output("y");
  const auto out = run_all(b, {{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
}

TEST(onnx_program, elements_that_decide_about_shapes_come_at_run_time) {
  ModelBuilder b;
  b.input("x", {2, 6}).input("shape", {2}, 7).node("Reshape", {"x", "shape"}, {"y"}).output("y");
  Session session(b.load());
  const Constant x = random_tensor({2, 6}, 1);
  EXPECT_EQ(session.run({{"x", x}, {"shape", Constant::integers({3, 4})}}).at("y").shape(),
            (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(session.run({{"x", x}, {"shape", Constant::integers({-1, 2})}}).at("y").shape(),
            (std::vector<int64_t>{6, 2}));
}

TEST(onnx_program, old_versions_mean_what_they_meant) {
  // Before 13, Softmax took all dimensions from the axis on as one.
  ModelBuilder b(11);
  b.input("x", {1, 2, 2}).node("Softmax", {"x"}, {"y"}).output("y");
  const auto out = Session(b.load()).run({{"x", floats({1, 2, 2}, {0, 0, 0, 0})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f}));
  // Before 10, Slice had its bounds as attributes.
  ModelBuilder s(9);
  s.input("x", {4})
      .node("Slice", {"x"}, {"y"}, {ints_attribute("starts", {1}), ints_attribute("ends", {-1})})
      .output("y");
  EXPECT_EQ(list(Session(s.load()).run({{"x", floats({4}, {1, 2, 3, 4})}}).at("y")),
            (std::vector<float>{2, 3}));
}

TEST(onnx_program, wrong_inputs_are_named) {
  ModelBuilder b;
  b.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  Session session(b.load());
  EXPECT_EQ(error_of([&] { session.run({}); }),
            "error: input 'x' is missing\n"
            "  why: it has the type float32[2]\n"
            "  fix: give a tensor of this name");
  EXPECT_EQ(error_of([&] { session.run({{"x", floats({3}, {1, 2, 3})}}); }),
            "error: input 'x' is float32[3]\n"
            "  why: the model takes float32[2]\n"
            "  fix: give a tensor of this type and shape");
}

TEST(onnx_program, operands_that_do_not_fit_name_the_node) {
  ModelBuilder b;
  b.input("x", {2, 3})
      .weights("w", {4, 2}, std::vector<float>(8))
      .node("MatMul", {"x", "w"}, {"y"})
      .output("y");
  EXPECT_EQ(error_of([&] { Program(b.load(), {}); }),
            "error: node 'make_y' (MatMul, version 13): columns and rows are 3 and 4\n"
            "  why: they have to be equal\n"
            "  fix: mend the model, or give other shapes");
}

TEST(onnx_program, memory_plan_overlaps_only_what_lives_apart) {
  std::mt19937 bits(1);
  for (int round = 0; round < 200; round++) {
    std::vector<Lifetime> lives;
    for (int v = 0; v < 12; v++) {
      const size_t first = bits() % 10;
      lives.push_back({v, static_cast<int64_t>(bits() % 500 + 1), first, first + bits() % 4});
    }
    const ArenaPlan plan = plan_arena(lives);
    for (const Lifetime &a : lives) {
      EXPECT_EQ(plan.offsets.at(a.value) % 64, 0);
      EXPECT_LE(plan.offsets.at(a.value) + a.bytes, plan.bytes);
      for (const Lifetime &b : lives) {
        if (a.value == b.value || a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(plan.offsets.at(a.value) + a.bytes <= plan.offsets.at(b.value) ||
                    plan.offsets.at(b.value) + b.bytes <= plan.offsets.at(a.value));
      }
    }
  }
}

TEST(onnx_program, graphs_print) {
  ModelBuilder b;
  b.input("x", {"N", 3}).weights("w", {3}, {1, 2, 3}).node("Mul", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(to_text(Program(b.load(), {}).graph()),
            "graph test(%x: float32[N, 3]) -> (%y)\n"
            "  %w = constant float32[3]\n"
            "  %y: float32[N, 3] = Mul.14(%x, %w)\n");
}

TEST(onnx_program, names_of_passes_are_checked) {
  ModelBuilder b;
  b.input("x", {2}).node("Neg", {"x"}, {"y"}).output("y");
  CompileOptions options;
  options.switched_off = {"fuse", "winograd"};
  try {
    Program(b.load(), options);
    FAIL() << "a pass that is none was switched off";
  } catch (const CompileError &e) {
    EXPECT_EQ(std::string(e.what()).find("error: there is no pass 'winograd' to switch off\n"
                                         "  why: passes have other names\n"
                                         "  fix: use one of choose_layouts, crop_kernels, "),
              0u)
        << e.what();
  }
}

}  // namespace
}  // namespace polyhalite::onnx::program_test
