// Sizes that are open when a model is loaded: what one program serves, what is compiled for its
// sizes, and what is run first because elements decide.
#include <gtest/gtest.h>

#include <limits>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::dynamic_shape_test {
namespace {

std::vector<float> counted(int64_t n) {
  std::vector<float> v;
  for (int64_t i = 0; i < n; i++) v.push_back(static_cast<float>(i));
  return v;
}

TEST(onnx_dynamic_shape, a_size_that_is_not_minus_one_is_known_as_such) {
  // As torch exports x.expand(n, -1, 3): Where(shape == -1, 1, shape).
  ModelBuilder b;
  b.input("x", {"n", 2, 3}).weights("w", {1, 2, 1}, {10, 20});
  b.integers("zero", {0}).integers("rest", {-1, 3}).integers("minus", {-1, -1, -1});
  b.integers("ones", {1, 1, 1});
  b.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"});
  b.node("Concat", {"n", "rest"}, {"to"}, {int_attribute("axis", 0)});
  b.node("Equal", {"to", "minus"}, {"open"}).node("Where", {"open", "ones", "to"}, {"sizes"});
  b.node("Expand", {"w", "sizes"}, {"e"}).node("Add", {"x", "e"}, {"y"}).output("y");
  Session session(b.load());
  const auto program = session.program_for({{"x", floats({1, 2, 3}, counted(6))}});
  for (int64_t n : {1, 2, 5}) {
    const Constant x = floats({n, 2, 3}, counted(6 * n));
    EXPECT_EQ(session.program_for({{"x", x}}), program);
    const Constant y = session.run({{"x", x}}).at("y");
    for (int64_t i = 0; i < 6 * n; i++)
      ASSERT_EQ(y.number(i), static_cast<double>(i + (i / 3 % 2 == 0 ? 10 : 20)));
  }
}

TEST(onnx_dynamic_shape, the_first_sizes_may_become_constants) {
  ModelBuilder b;
  b.input("x", {"n", 3}).weights("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  b.node("MatMul", {"x", "w"}, {"y"}).output("y");
  CompileOptions options;
  options.first_sizes = true;
  Session session(b.load(), options);
  const auto program = [&](int64_t n) {
    return session.program_for({{"x", floats({n, 3}, counted(3 * n))}});
  };
  const auto four = program(4);
  EXPECT_TRUE(four->kernels()[0].symbols.empty());
  const auto five = program(5);
  EXPECT_NE(five, four);
  EXPECT_EQ(five->kernels()[0].symbols.size(), 1u);
  EXPECT_EQ(program(6), five);
  EXPECT_EQ(program(4), four);
  for (int64_t n : {4, 5}) {
    const Constant y = session.run({{"x", floats({n, 3}, counted(3 * n))}}).at("y");
    for (int64_t i = 0; i < n; i++) {
      // 3i + (3i + 1)*3 + (3i + 2)*5, and one for each more in the second column
      ASSERT_EQ(y.number(2 * i), static_cast<double>(27 * i + 13));
      ASSERT_EQ(y.number(2 * i + 1), static_cast<double>(36 * i + 16));
    }
  }
}

// Kernels that do not depend on what the programs differ in are compiled once.
TEST(onnx_dynamic_shape, programs_of_a_session_share_code) {
  ModelBuilder b;
  b.input("x", {"n", 3}).input("z", {4, 4}).weights("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  b.node("MatMul", {"x", "w"}, {"y"}).node("MatMul", {"z", "z"}, {"square"});
  b.output("y").output("square");
  CompileOptions options;
  options.first_sizes = true;
  Session session(b.load(), options);
  const auto code = [&](int64_t n) {
    std::set<const CompiledPipeline *> all;
    const Constant x = floats({n, 3}, counted(3 * n)), z = floats({4, 4}, counted(16));
    for (const Kernel &k : session.program_for({{"x", x}, {"z", z}})->kernels())
      all.insert(k.code.get());
    return all;
  };
  const auto known = code(4), open = code(5);
  std::vector<const CompiledPipeline *> both;
  std::set_intersection(known.begin(), known.end(), open.begin(), open.end(),
                        std::back_inserter(both));
  EXPECT_EQ(known.size(), 2u);
  EXPECT_EQ(open.size(), 2u);
  EXPECT_EQ(both.size(), 1u);
}

TEST(onnx_dynamic_shape, resized_images_have_one_program) {
  // Doubles the width of an image.
  ModelBuilder b;
  b.input("x", {1, 1, "h", "w"}).weights("scales", {4}, {1, 1, 1, 2});
  b.node("Resize", {"x", "", "scales"}, {"y"},
         {text_attribute("coordinate_transformation_mode", "asymmetric"),
          text_attribute("nearest_mode", "floor")});
  b.output("y");
  Session session(b.load());
  const Constant x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), wide = floats({1, 1, 1, 3}, {7, 8, 9});
  EXPECT_EQ(numbers(session.run({{"x", x}}).at("y")),
            (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(numbers(session.run({{"x", wide}}).at("y")), (std::vector<double>{7, 7, 8, 8, 9, 9}));
  EXPECT_EQ(session.program_for({{"x", x}}), session.program_for({{"x", wide}}));
}

TEST(onnx_dynamic_shape, sizes_that_decide_are_compiled_for_and_elements_are_not) {
  // How far an image grows within two sizes is decided with numbers.
  ModelBuilder b(18);
  b.input("x", {1, 1, "h", "w"}).integers("sizes", {1, 1, 2, 6});
  b.node("Resize", {"x", "", "", "sizes"}, {"y"},
         {text_attribute("coordinate_transformation_mode", "asymmetric"),
          text_attribute("nearest_mode", "floor"), ints_attribute("axes", {0, 1, 2, 3}),
          text_attribute("keep_aspect_ratio_policy", "not_larger")});
  b.output("y");
  Session session(b.load());
  const Constant x = floats({1, 1, 1, 2}, {1, 2});
  EXPECT_EQ(numbers(session.run({{"x", x}}).at("y")), (std::vector<double>{1, 2}));
  EXPECT_EQ(session.program_for({{"x", x}}),
            session.program_for({{"x", floats({1, 1, 1, 2}, {5, 6})}}));
  EXPECT_NE(session.program_for({{"x", x}}),
            session.program_for({{"x", floats({1, 1, 1, 3}, {5, 6, 7})}}));
}

TEST(onnx_dynamic_shape, what_fits_for_some_sizes_only_is_compiled_for_them) {
  // Sums of n and of n + 1 elements, which are one where n is 1.
  ModelBuilder b;
  b.input("x", {"n"}).weights("one", {1}, {5});
  b.node("Concat", {"x", "one"}, {"more"}, {int_attribute("axis", 0)});
  b.node("Add", {"x", "more"}, {"y"}).output("y");
  Session session(b.load());
  EXPECT_EQ(numbers(session.run({{"x", floats({1}, {2})}}).at("y")), (std::vector<double>{4, 7}));
  const std::string why = error_of([&] { session.run({{"x", floats({2}, {2, 3})}}); });
  EXPECT_NE(why.find("are 2 and 3"), std::string::npos) << why;
  EXPECT_EQ(numbers(session.run({{"x", floats({1}, {3})}}).at("y")), (std::vector<double>{6, 8}));
}

TEST(onnx_dynamic_shape, elements_that_decide_are_computed_first) {
  // The new shape is what the image's first pixel says, through an operator of floats.
  ModelBuilder b;
  b.input("x", {12}).integers("zero", {0}).integers("rest", {-1});
  b.node("Gather", {"x", "zero"}, {"first"}).node("Sqrt", {"first"}, {"root"});
  b.node("Cast", {"root"}, {"rows"}, {int_attribute("to", 7)});
  b.node("Concat", {"rows", "rest"}, {"to"}, {int_attribute("axis", 0)});
  b.node("Reshape", {"x", "to"}, {"r"}).node("Neg", {"r"}, {"y"}).output("y");
  Session session(b.load());
  std::vector<float> pixels = counted(12);
  std::shared_ptr<const Program> nine;
  for (const float first : {4.0f, 9.0f, 9.5f}) {
    pixels[0] = first;
    const Constant x = floats({12}, pixels);
    const Constant y = session.run({{"x", x}}).at("y");
    EXPECT_EQ(y.shape(), first < 5 ? (std::vector<int64_t>{2, 6}) : (std::vector<int64_t>{3, 4}));
    EXPECT_EQ(y.number(11), -11);
    // What decides is the number of rows.
    if (first == 9.0f) nine = session.program_for({{"x", x}});
    if (first == 9.5f) {
      EXPECT_EQ(session.program_for({{"x", x}}), nine);
    }
  }
}

TEST(onnx_dynamic_shape, a_number_of_results_decides) {
  // As many of the largest as there are positive ones.
  ModelBuilder b;
  b.input("x", {6}).weights("least", {}, {0});
  b.node("Greater", {"x", "least"}, {"positive"}).node("Compress", {"x", "positive"}, {"found"});
  b.node("Shape", {"found"}, {"k"}).node("TopK", {"found", "k"}, {"y", "at"}).output("y");
  Session session(b.load());
  EXPECT_EQ(numbers(session.run({{"x", floats({6}, {3, -1, 5, -2, 4, -3})}}).at("y")),
            (std::vector<double>{5, 4, 3}));
  EXPECT_EQ(numbers(session.run({{"x", floats({6}, {-3, -1, 2, -2, -4, 7})}}).at("y")),
            (std::vector<double>{7, 2}));
}

TEST(onnx_dynamic_shape, a_size_of_one_meets_others) {
  ModelBuilder b;
  b.input("x", {"n", 2}).input("c", {"m", 2}).node("Add", {"x", "c"}, {"y"}).output("y");
  Session session(b.load());
  const Constant x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(numbers(session.run({{"x", x}, {"c", x}}).at("y")),
            (std::vector<double>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(numbers(session.run({{"x", x}, {"c", floats({1, 2}, {10, 20})}}).at("y")),
            (std::vector<double>{11, 22, 13, 24, 15, 26}));
  EXPECT_EQ(error_of([&] { session.run({{"x", x}, {"c", floats({2, 2}, {1, 2, 3, 4})}}); }),
            "error: node 'make_y' (Add, version 14): sizes of dimension 0 are 3 and 2\n"
            "  why: they have to be equal\n"
            "  fix: mend the model, or give other shapes");
}

// Exporters name a size after what it is of, which two inputs have.
TEST(onnx_dynamic_shape, sizes_of_one_name_may_differ) {
  ModelBuilder b;
  b.input("x", {"words", 2}).input("c", {"words", 2}).input("z", {"words"});
  b.node("Concat", {"x", "c"}, {"y"}, {int_attribute("axis", 0)}).node("Neg", {"z"}, {"w"});
  b.output("y").output("w");
  for (const bool first_sizes : {false, true}) {
    CompileOptions options;
    options.first_sizes = first_sizes;
    Session session(b.load(), options);
    const Constant one = floats({1, 2}, {7, 8}), two = floats({2, 2}, {1, 2, 3, 4});
    const Constant z = floats({1}, {5});
    auto y = [&](const Constant &x, const Constant &c) {
      return numbers(session.run({{"x", x}, {"c", c}, {"z", z}}).at("y"));
    };
    EXPECT_EQ(y(one, two), (std::vector<double>{7, 8, 1, 2, 3, 4}));
    EXPECT_EQ(y(two, one), (std::vector<double>{1, 2, 3, 4, 7, 8}));
    EXPECT_EQ(y(one, one), (std::vector<double>{7, 8, 7, 8}));
  }
}

TEST(onnx_dynamic_shape, operands_without_elements) {
  // The first step of a decoder: nothing was said before.
  ModelBuilder b;
  b.input("past", {1, "before", 2}).input("x", {1, "now", 2});
  b.node("Concat", {"past", "x"}, {"y"}, {int_attribute("axis", 1)}).output("y");
  Session session(b.load());
  const Constant x = floats({1, 2, 2}, {1, 2, 3, 4});
  const Constant y = session.run({{"past", floats({1, 0, 2}, {})}, {"x", x}}).at("y");
  EXPECT_EQ(y.shape(), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(numbers(y), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(session.run({{"past", y}, {"x", x}}).at("y")),
            (std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(onnx_dynamic_shape, slices_end_where_the_operand_ends) {
  ModelBuilder b;
  b.input("x", {"n"}).input("y", {"m"});
  b.integers("zero", {0}).integers("minus", {-2}).integers("far", {INT64_MAX});
  b.node("Shape", {"y"}, {"m"}).node("Slice", {"x", "zero", "m"}, {"front"});
  b.node("Slice", {"x", "minus", "far"}, {"back"});
  b.node("Neg", {"front"}, {"a"}).node("Neg", {"back"}, {"c"}).output("a").output("c");
  Session session(b.load());
  for (const auto &[n, m] : std::vector<std::pair<int64_t, int64_t>>{{5, 3}, {3, 5}, {1, 2}}) {
    const auto out = session.run({{"x", floats({n}, counted(n))}, {"y", floats({m}, counted(m))}});
    EXPECT_EQ(out.at("a").elements(), std::min(n, m));
    EXPECT_EQ(out.at("c").elements(), std::min<int64_t>(n, 2));
    EXPECT_EQ(out.at("c").number(out.at("c").elements() - 1), static_cast<double>(1 - n));
  }
}

TEST(onnx_dynamic_shape, equal_nodes_find_equal_sizes) {
  ModelBuilder b;
  b.input("x", {4}).input("v", {4});
  for (const std::string k : {"1", "2"}) {
    b.node("NonZero", {"x"}, {"at" + k}).node("Transpose", {"at" + k}, {"rows" + k});
    b.node("GatherND", {"v", "rows" + k}, {"found" + k});
  }
  b.node("Neg", {"found1"}, {"a"}).node("Exp", {"found2"}, {"c"}).output("a").output("c");
  const auto out =
      Session(b.load()).run({{"x", floats({4}, {0, 1, 0, 1})}, {"v", floats({4}, {5, 0, 7, 0})}});
  EXPECT_EQ(numbers(out.at("a")), (std::vector<double>{0, 0}));
  EXPECT_EQ(numbers(out.at("c")), (std::vector<double>{1, 1}));
}

TEST(onnx_dynamic_shape, integers_divide_towards_zero) {
  // An odd number of pixels too many, as a crop computes it from shapes.
  ModelBuilder b;
  b.input("x", {"n"}).integers("wanted", {2}).integers("two", {2}).integers("zero", {0});
  b.node("Shape", {"x"}, {"n"}).node("Sub", {"wanted", "n"}, {"more"});
  b.node("Div", {"more", "two"}, {"half"})
      .node("Concat", {"half", "zero"}, {"pads"}, {int_attribute("axis", 0)});
  b.node("Pad", {"x", "pads"}, {"y"}).output("y");
  Session session(b.load());
  EXPECT_EQ(numbers(session.run({{"x", floats({5}, counted(5))}}).at("y")),
            (std::vector<double>{1, 2, 3, 4}));
}

TEST(onnx_dynamic_shape, numbers_that_no_integer_is_and_sums_that_wrap) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{
      -infinity, 3.9f, -3.9f, 1e20f, std::numeric_limits<float>::quiet_NaN(), 300};
  for (const bool folded : {true, false}) {
    ModelBuilder b;
    if (folded) {
      b.weights("x", {6}, values).integers("i", {INT64_MAX});
    } else {
      b.input("x", {6}).input("i", {1}, 7);
    }
    b.integers("one", {1}).node("Add", {"i", "one"}, {"sum"}).output("sum");
    b.node("Cast", {"x"}, {"wide"}, {int_attribute("to", 7)}).output("wide");
    b.node("Cast", {"x"}, {"byte"}, {int_attribute("to", 2)}).output("byte");
    Program::Tensors inputs{{"x", floats({6}, values)}, {"i", Constant::integers({INT64_MAX})}};
    if (folded) inputs.clear();
    const auto out = Session(b.load()).run(inputs);
    EXPECT_EQ(out.at("sum").integer_at(0), INT64_MIN);
    const int64_t least = INT64_MIN;
    const std::vector<int64_t> wide{least, 3, -3, least, least, 300}, byte{0, 3, 253, 0, 0, 44};
    for (size_t k = 0; k < wide.size(); k++) {
      EXPECT_EQ(out.at("wide").integer_at(static_cast<int64_t>(k)), wide[k]) << k;
      EXPECT_EQ(out.at("byte").integer_at(static_cast<int64_t>(k)), byte[k]) << k;
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::dynamic_shape_test
