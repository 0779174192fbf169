#include "lang/ir/text.h"

#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "test/lang/random_expr.h"

namespace polyhalite::text_test {
namespace {

NameResolver symbols() {
  NameResolver names;
  names.variable = [](const std::string &name) {
    for (const auto &v : test::random_variables()) {
      if (name == v.name) return make_variable(v.type, VariableKind::Symbol, name);
    }
    if (name == "odd name" || name == "min")
      return make_variable(Int(32), VariableKind::Symbol, name);
    return Expr();
  };
  names.buffer = [](const std::string &name) { return name == "buf" ? Float(32) : Type(); };
  names.call = [](const std::string &name, std::vector<Expr> args, int value_index) {
    return name == "g" ? make_func_call(UInt(8), name, std::move(args), value_index) : Expr();
  };
  return names;
}

std::string reprinted(const std::string &text) { return to_text(parse_expr(text, symbols())); }

std::string error_of_expr(const std::string &text) {
  try {
    parse_expr(text, symbols(), "e");
  } catch (const CompileError &e) {
    return e.what();
  }
  return "no error";
}

std::string error_of_algorithm(const std::string &text) {
  try {
    parse_algorithm(text, "a");
  } catch (const CompileError &e) {
    return e.what();
  }
  return "no error";
}

TEST(expr_text, reads_back_random_expressions) {
  for (uint32_t seed = 0; seed < 6000; seed++) {
    test::RandomExpr random(seed);
    const Type t = random.pick_type();
    const Expr e = random.make(seed % 3 ? t : t.with_lanes(4), 2 + seed % 4);
    const std::string text = to_text(e);
    const Expr back = parse_expr(text, symbols());
    ASSERT_TRUE(equal(e, back)) << text << "\nread as\n" << to_text(back);
    ASSERT_EQ(to_text(back), text);
  }
}

TEST(expr_text, needs_few_parentheses) {
  for (const char *text :
       {"x + y*z", "(x + y)*z", "x - (y - z)", "x - y - z", "x/(y*z)", "x*y/z",
        "x < y && !(p || q)", "(x < y) == p", "-3 - x", "0 - x", "x%2 == 1", "select(p, x, y) + 1",
        "(let t = x + 1 in t*t) + 2", "let t = x in let y = t in y + t", "min(x, max(y, 3))"}) {
    EXPECT_EQ(reprinted(text), text);
  }
  EXPECT_EQ(reprinted("((x)) + ((y * z))"), "x + y*z");
}

TEST(expr_text, says_the_types_of_constants_and_calls) {
  for (const char *text : {"3u8 + a",
                           "-3i64",
                           "2.0",
                           "1.5f",
                           "-0.0f",
                           "1e+30f",
                           "0.1",
                           "inff",
                           "-inf",
                           "nanf",
                           "nan(9221120237041090561u64)",
                           "true",
                           "18446744073709551615u64",
                           "-9223372036854775808i64",
                           "uint8(x)",
                           "int32x4(broadcast(a, 4))",
                           "reinterpret<uint32>(f)",
                           "abs(x)",
                           "sqrt(f)",
                           "pow(f, 2.0f)",
                           "extern<int32>(foo, x, \"a\\n\\\"b\\\"\")",
                           "intrinsic<int32>(odd, x)",
                           "math<float64>(`sqrt`, f)",
                           "g(x, y)",
                           "g(x).1",
                           "buf[x]",
                           "buf[ramp(x, 1, 4) if broadcast(p, 4)]",
                           "shuffle({broadcast(x, 2), ramp(y, 1, 2)}, {0, 3, 1})",
                           "`odd name` + `min`"}) {
    EXPECT_EQ(reprinted(text), text);
  }
}

TEST(expr_text, names_the_line_of_an_error) {
  EXPECT_EQ(error_of_expr("x +\n  +"), "e:2: error: expected an expression, found '+'");
  EXPECT_EQ(error_of_expr("x + a"),
            "e:1: error: the operands of '+' have types int32 and uint8\n"
            "  why: operators take two operands of one type\n"
            "  fix: cast one, as in int32(...)");
  EXPECT_EQ(error_of_expr("unknown*2"), "e:1: error: unknown name 'unknown'");
  EXPECT_EQ(error_of_expr("(x"),
            "e:1: error: expected ')' to close '(', found the end of the text");
  EXPECT_EQ(error_of_expr("300u8"), "e:1: error: the number 300u8 does not fit uint8");
  EXPECT_EQ(error_of_expr("-x"),
            "e:1: error: '-' stands before something that is no number\n"
            "  fix: write 0 - x for the negative of an expression");
  EXPECT_EQ(error_of_expr("3q"),
            "e:1: error: unknown suffix 'q' of the number 3q\n"
            "  fix: use u or i and a width, such as u8 or i64; none for int32");
  EXPECT_EQ(error_of_expr("x $ y"), "e:1: error: unexpected character '$'");
  EXPECT_EQ(error_of_expr("x < y < z"), "e:1: error: expected the end, found '<'");
  EXPECT_EQ(error_of_expr("min(x)"), "e:1: error: 'min' takes 2 operands, not 1");
  EXPECT_EQ(error_of_expr("h(x)"), "e:1: error: unknown function 'h'");
  EXPECT_EQ(error_of_expr("nothing[x]"), "e:1: error: unknown buffer 'nothing'");
  EXPECT_EQ(error_of_expr("select(x, y, z)"),
            "e:1: error: select of (int32, int32, int32)\n"
            "  why: it takes a bool and two values of one type");
  EXPECT_EQ(error_of_expr(std::string(100000, '(')),
            "e:1: error: the expression is nested too deeply to read");
}

TEST(expr_text, survives_broken_texts) {
  const std::string good =
      "let t = select(x < 3 && p, min(x, y*-2), int32(g(x, y).1)) in buf[t] + sqrt(f)*1.5e3f";
  test::RandomExpr random(1);
  int refused = 0;
  for (int i = 0; i < 3000; i++) {
    std::string text = good;
    for (int k = 0; k <= i % 3; k++) {
      const size_t at = static_cast<size_t>(random.pick(0, static_cast<int64_t>(text.size()) - 1));
      if (i % 2) {
        text.erase(at, static_cast<size_t>(random.pick(1, 4)));
      } else {
        text[at] = "()[]{}.,+-xp0\"`<"[random.pick(0, 15)];
      }
      if (text.empty()) text = "x";
    }
    refused += error_of_expr(text) != "no error";
  }
  EXPECT_GT(refused, 1500);
}

const char *const kAlgorithm =
    "algorithm 1\n"
    "param gain: float32, min 0.0f, max 10.0f, estimate 1.0f\n"
    "param x: int32\n"
    "image in: uint8, 2, min.0 0, extent.0 640, stride.1 640, extent_estimate.1 480\n"
    "constant k: int32 (-1, 3) = {1, -2, 1}\n"
    "edge(x, y) = in(max(min(x, in.extent.0 - 1), 0), y)\n"
    "where x > 2: edge(x, 3) = edge(x, 2) + 1u8\n"
    "shifted(x) = float32(x + param x)*gain\n"
    "hist(i) = 0\n"
    "over r.x(0, in.extent.0), r.y(0, in.extent.1) where r.x < r.y: "
    "hist(int32(edge(r.x, r.y))) = hist(int32(edge(r.x, r.y))) + k(r.x%3 - 1)\n"
    "pair(i) = {hist(i), shifted(i)}\n"
    "over r(1, 9): pair(r) = {pair(r - 1), pair(r).1}\n"
    "`min`() = pair(0).1 + float32(edge(0, 0))\n"
    "output `min`, pair\n";

TEST(algorithm_text, reads_back) {
  const Algorithm a = parse_algorithm(kAlgorithm);
  EXPECT_EQ(to_text(a), kAlgorithm);
  EXPECT_EQ(to_text(parse_algorithm(to_text(a))), kAlgorithm);
  ASSERT_EQ(a.funcs.size(), 5u);
  EXPECT_EQ(a.find("hist")->stages.size(), 2u);
  EXPECT_EQ(a.find("hist")->stages[1].where.line, 10);
  EXPECT_EQ(a.find("pair")->types[1], Float(32));
  EXPECT_EQ(a.index_of("nobody"), -1);
  EXPECT_TRUE(a.is_output("min"));
  EXPECT_FALSE(a.is_output("hist"));
}

TEST(algorithm_text, names_the_line_of_an_error) {
  EXPECT_EQ(error_of_algorithm("algorithm 2\n"),
            "a:1: error: version 2 of the algorithm's text is not known\n"
            "  why: this library reads version 1");
  EXPECT_EQ(error_of_algorithm("f(x) = 1\n"), "a:1: error: expected 'algorithm' first, found 'f'");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = y\noutput f\n"),
            "a:2: error: unknown name 'y'");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = x x\noutput f\n"),
            "a:2: error: expected the end of the line, found 'x'");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = x\n"),
            "a:3: error: the algorithm has no output\n  fix: end it with 'output NAME'");
  EXPECT_EQ(error_of_algorithm("algorithm 1\noutput f\n"),
            "a:2: error: the output 'f' is not defined");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = x\nf(x, y) = x\noutput f\n"),
            "a:3: error: unknown name 'y'");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = x\nf(x, x) = x\noutput f\n"),
            "a:3: error: an update of 'f' with 2 indices; it has 1");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nimage in: uint8, 2\nf(x) = in(x)\noutput f\n"),
            "a:3: error: 'in' has 2 dimensions and is called with 1");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nover r(0, 5): f(r) = r\noutput f\n"),
            "a:2: error: an update of something that has no definition yet");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nf(x) = x\nimage f: uint8, 1\n"),
            "a:3: error: 'f' is declared twice");
  EXPECT_EQ(error_of_algorithm("algorithm 1\nconstant k: int32 (0, 70000) = omitted\n"),
            "a:2: error: the text leaves out the elements of 'k'\n"
            "  why: constants of more than 65536 elements print without them");
}

TEST(reduction_update, is_an_associative_operator_on_the_cell_it_writes) {
  const std::string head = "algorithm 1\nimage in: float32, 1\nf(x, y) = 0.0f\nover r(0, 9): ";
  auto op_of = [&](const std::string &update) -> std::string {
    const Algorithm a = parse_algorithm(head + update + "\noutput f\n");
    Op op;
    return is_reduction_update(a.funcs[0], 1, &op) ? op_name(op) : "none";
  };
  EXPECT_EQ(op_of("f(x, y) = f(x, y) + in(r)"), "+");
  EXPECT_EQ(op_of("f(x, y) = in(r) + f(x, y) + in(x)"), "+");
  EXPECT_EQ(op_of("f(x, y) = f(x, y) - in(r)"), "+");
  EXPECT_EQ(op_of("f(x, y) = in(r) - f(x, y)"), "none");
  EXPECT_EQ(op_of("f(x, y) = max(f(x, y), in(r))"), "max");
  EXPECT_EQ(op_of("f(x, y) = f(x, y)*in(r)"), "*");
  EXPECT_EQ(op_of("f(x, y) = f(x, y) + f(x, y)"), "none");
  EXPECT_EQ(op_of("f(x, y) = f(x, y) + f(x, r)"), "none");
  EXPECT_EQ(op_of("f(x, y) = f(x, y)/in(r)"), "none");
  EXPECT_EQ(op_of("f(x, y) = strict_float(f(x, y) + in(r))"), "none");
  EXPECT_EQ(op_of("f(x, y) = f(x, y) + strict_float(in(r)*in(x))"), "none");
  EXPECT_EQ(op_of("f(x, y) = in(r)"), "none");
  EXPECT_EQ(op_of("f(r, y) = f(r - 1, y) + in(r)"), "none");
}

}  // namespace
}  // namespace polyhalite::text_test
