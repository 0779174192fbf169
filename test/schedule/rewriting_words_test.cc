// What eager_inline, change_type and hoist_invariants make of algorithms, as text.
#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/derive_algorithm.h"

namespace polyhalite::rewriting_words_test {
namespace {

// The Funcs after the directives, or the message; the directives that are left behind them.
std::string derived(const std::string &algorithm, const std::string &directives) {
  const Algorithm a = parse_algorithm("algorithm 1\n" + algorithm, "a.txt");
  std::vector<Directive> list = parse_schedule("schedule 1\n" + directives, "s.txt");
  for (Directive &d : list) d.where.line--;
  try {
    const DerivedAlgorithm made = derive_algorithm(a, list);
    std::string text = to_text(made.algorithm);
    EXPECT_EQ(to_text(parse_algorithm(text)), text);
    text = text.substr(text.find('\n') + 1);
    while (text.rfind("image", 0) == 0 || text.rfind("param", 0) == 0) {
      text = text.substr(text.find('\n') + 1);
    }
    text = text.substr(0, text.rfind("output"));
    const std::string left = to_text(made.directives);
    return text + left.substr(left.find('\n') + 1);
  } catch (const CompileError &e) {
    return e.what() + std::string("\n");
  }
}

constexpr const char *kChain = R"(image in: int32, 1
a(x) = in(x) + 1
b(x) = a(x)*2
c(x) = b(x - 1) + a(x)
output c
)";

TEST(eager_inline, the_order_of_the_names_does_not_matter) {
  const std::string both = R"(a(x) = in(x) + 1
b(x) = a(x)*2
c(x) = (in(x - 1) + 1)*2 + (in(x) + 1)
)";
  EXPECT_EQ(derived(kChain, "c.eager_inline(a, b)"), both);
  EXPECT_EQ(derived(kChain, "c.eager_inline(b, a)"), both);
}

TEST(eager_inline, only_calls_of_those_that_are_named) {
  EXPECT_EQ(derived(kChain, "c.eager_inline(b)\na.compute_root()"), R"(a(x) = in(x) + 1
b(x) = a(x)*2
c(x) = a(x - 1)*2 + a(x)
a.compute_root()
)");
  EXPECT_EQ(derived(kChain, "b.eager_inline(a)"), R"(a(x) = in(x) + 1
b(x) = (in(x) + 1)*2
c(x) = b(x - 1) + a(x)
)");
}

TEST(eager_inline, what_has_no_expression_or_wants_loops) {
  EXPECT_EQ(derived(kChain, "c.eager_inline(d)"),
            "s.txt:1: error: cannot inline 'd' into 'c'\n"
            "  why: the pipeline has no such Func\n"
            "  fix: name Funcs that the stage calls\n");
  EXPECT_EQ(derived(kChain, "c.eager_inline(c)"),
            "s.txt:1: error: cannot inline 'c' into 'c'\n"
            "  why: it is the Func itself\n"
            "  fix: name Funcs that the stage calls\n");
  EXPECT_EQ(derived("f(x) = x\nf(x) = f(x) + 1\ng(x) = f(x)\noutput g\n", "g.eager_inline(f)"),
            "s.txt:1: error: cannot inline 'f' into 'g'\n"
            "  why: it has update definitions, and so no single expression as its value\n"
            "  fix: inline Funcs with a pure definition only\n");
  for (const char *word : {"compute_root()", "store_root()", "parallel(x)", "vectorize(x)"}) {
    const std::string name = std::string(word).substr(0, std::string(word).find('('));
    EXPECT_EQ(derived(kChain, std::string("a.") + word + "\nc.eager_inline(a)"),
              "s.txt:2: error: cannot inline 'a' into 'c'\n  why: it is scheduled " + name +
                  "(), which asks for loops or storage of its own\n  fix: call " + name +
                  "() afterwards, for what else reads it, or drop it\n");
  }
  EXPECT_EQ(
      derived(kChain, "a.compute_root()\na.compute_inline()\nc.eager_inline(a)").find("error"),
      std::string::npos);
}

constexpr const char *kDot = R"(image a: int8, 1
image b: int8, 1
f(x) = 0.0f
over r(0, 64): f(x) = f(x) + float32(a(r))*float32(b(x + r))
g(x) = f(x)*0.5f
output g
)";

TEST(change_type, sums_of_products) {
  EXPECT_EQ(derived(kDot, "f.compute_root()\nf_int32 = f.change_type(int32)"), R"(f_int32(x) = 0
over r(0, 64): f_int32(x) = f_int32(x) + int32(a(r))*int32(b(x + r))
f(x) = float32(f_int32(x))
g(x) = f(x)*0.5f
f_int32.compute_root()
)");
}

TEST(change_type, what_was_said_goes_to_the_new_Func) {
  EXPECT_EQ(derived(kDot,
                    "f.compute_root()\nf.update(0).reorder(x, r)\nh = f.change_type(int32)\n"
                    "h.update(0).vectorize(x)\nf.compute_at(g, x)"),
            R"(h(x) = 0
over r(0, 64): h(x) = h(x) + int32(a(r))*int32(b(x + r))
f(x) = float32(h(x))
g(x) = f(x)*0.5f
h.compute_root()
h.update(0).reorder(x, r)
h.update(0).vectorize(x)
f.compute_at(g, x)
)");
}

constexpr const char *kBytes = R"(image a: uint8, 1
f(x) = a(x)
g(x) = float32(int32(f(x)))*float32(f(x + 1)) + float32(f(x) + 1u8)
output g
)";

TEST(change_type, casts_of_its_values_read_the_new_Func) {
  EXPECT_EQ(derived(kBytes, "h = f.change_type(int32)\nh.compute_root()"), R"(h(x) = int32(a(x))
f(x) = uint8(h(x))
g(x) = float32(h(x))*float32(h(x + 1)) + float32(f(x) + 1u8)
h.compute_root()
)");
  // 300 to uint8 is 44 of an integer, and something else of a float.
  EXPECT_EQ(derived("image a: uint16, 1\nf(x) = float32(a(x))\ng(x) = uint8(f(x))\noutput g\n",
                    "h = f.change_type(int32)"),
            R"(h(x) = int32(a(x))
f(x) = float32(h(x))
g(x) = uint8(f(x))
)");
  // Values that are kept are read.
  EXPECT_EQ(derived(kBytes, "h = f.change_type(int16)\nf.compute_root()"), R"(h(x) = int16(a(x))
f(x) = uint8(h(x))
g(x) = float32(int32(f(x)))*float32(f(x + 1)) + float32(f(x) + 1u8)
f.compute_root()
)");
}

std::string reduction(const std::string &first, const std::string &update, const std::string &type,
                      const std::string &more = "") {
  return derived("image a: int8, 1\nimage s: int16, 1\nimage b: bool, 1\nparam n: int32\nf(x) = " +
                     first + "\n" + update + "\n" + "output f\n",
                 "h = f.change_type(" + type + more + ")");
}

TEST(change_type, sums_that_do_not_fit) {
  // 258 * 127 = 32766
  EXPECT_EQ(reduction("0.0f", "over r(0, 255): f(x) = f(x) + float32(a(r))", "int16"),
            R"(h(x) = 0i16
over r(0, 255): h(x) = h(x) + int16(a(r))
f(x) = float32(h(x))
)");
  EXPECT_EQ(reduction("0.0f", "over r(0, 257): f(x) = f(x) + float32(a(r))", "int16"),
            "s.txt:1: error: cannot change the type of 'f' to int16\n"
            "  why: its values may be anything in [-32896, 32639], which the type does not hold\n"
            "  fix: use a wider type, or clamp the terms, or call change_type(type, true), which "
            "casts what may not fit\n");
  // What comes before counts too.
  EXPECT_NE(
      reduction("120.0f", "over r(0, 10): f(x) = f(x) + float32(b(r))", "int8").find("[120, 130]"),
      std::string::npos);
  EXPECT_NE(reduction("0.0f",
                      "over r(0, 100): f(x) = f(x) + float32(b(r))\n"
                      "over q(0, 100): f(x) = f(x) - float32(b(q))",
                      "int8")
                .find("f(x) = float32(h(x))"),
            std::string::npos);
  EXPECT_NE(reduction("0.0f",
                      "over r(0, 100): f(x) = f(x) + float32(b(r))\n"
                      "over q(0, 100): f(x) = f(x) + float32(b(q))",
                      "int8")
                .find("[0, 200]"),
            std::string::npos);
}

TEST(change_type, extents_that_are_not_known) {
  EXPECT_EQ(reduction("0.0f", "over r(0, n): f(x) = f(x) + float32(a(r))", "int16"),
            "h(x) = intrinsic<int16>(require, int64(max(n, 0)) <= 256i64, 0i16, \"the reduction of "
            "'f' in int16 has too many terms: more than 256\")\n"
            "over r(0, n): h(x) = h(x) + int16(a(r))\n"
            "f(x) = float32(h(x))\n");
  // Any int32 of terms fits.
  EXPECT_EQ(reduction("0.0f", "over r(0, n): f(x) = f(x) + float32(a(r))", "int64"), R"(h(x) = 0i64
over r(0, n): h(x) = h(x) + int64(a(r))
f(x) = float32(h(x))
)");
}

TEST(change_type, values_that_may_not_fit) {
  EXPECT_EQ(
      reduction("s(x)", "", "int8"),
      "s.txt:1: error: cannot change the type of 'f' to int8\n"
      "  why: its first value, s(x), may be anything in [-32768, 32767], which the type does "
      "not hold\n"
      "  fix: clamp it to the range of the type, or call change_type(type, true), which casts "
      "what may not fit\n");
  EXPECT_EQ(reduction("s(x)", "", "int8", ", true"), "h(x) = int8(s(x))\nf(x) = int16(h(x))\n");
  EXPECT_EQ(
      reduction("float32(s(x))*0.5f", "", "int32"),
      "s.txt:1: error: cannot change the type of 'f' to int32\n"
      "  why: its first value, float32(s(x))*0.5f, is not known to be a whole number\n"
      "  fix: clamp it to the range of the type, or call change_type(type, true), which casts "
      "what may not fit\n");
}

TEST(change_type, updates_that_grow_otherwise) {
  for (const char *value : {"f(x)*float32(a(r))", "f(x)*2.0f + float32(a(r))",
                            "float32(a(r)) - f(x)", "f(x) + f(x + 1)"}) {
    EXPECT_NE(reduction("0.0f", std::string("over r(0, 4): f(x) = ") + value, "int32")
                  .find("what it makes of its own values is not bounded by its terms"),
              std::string::npos)
        << value;
  }
}

TEST(change_type, integers_that_wrap) {
  // Equal modulo 256.
  EXPECT_EQ(reduction("0u8", "over r(0, 1000): f(x) = f(x) + uint8(a(r))", "int32"), R"(h(x) = 0
over r(0, 1000): h(x) = h(x) + int32(uint8(a(r)))
f(x) = uint8(h(x))
)");
  EXPECT_EQ(reduction("0u8",
                      "over r(0, 1000): f(x) = f(x) + uint8(a(r))\n"
                      "over q(0, 3): f(x) = max(f(x), uint8(a(q)))",
                      "int32"),
            "s.txt:1: error: cannot change the type of 'f' to int32\n"
            "  why: its values may leave the range of uint8, where they wrap\n"
            "  fix: change the type of a Func whose values do not wrap, or call change_type(type, "
            "true), which casts what may not fit\n");
}

TEST(change_type, the_first_value_of_a_min) {
  EXPECT_EQ(reduction("5.0f", "over r(0, 4): f(x) = min(f(x), float32(a(r)))", "int8"),
            R"(h(x) = 5i8
over r(0, 4): h(x) = min(h(x), a(r))
f(x) = float32(h(x))
)");
  EXPECT_EQ(reduction("inff", "over r(0, 4): f(x) = min(f(x), float32(a(r)))", "int8"),
            R"(h(x) = 127i8
over r(0, 4): h(x) = min(h(x), a(r))
f(x) = float32(h(x))
)");
  EXPECT_EQ(
      reduction("-inff", "over r(0, n): f(x) = max(f(x), float32(a(r)))", "int16"),
      "h(x) = intrinsic<int16>(require, n > 0, -32768i16, \"there is no term to begin with in "
      "the reduction of 'f'\")\n"
      "over r(0, n): h(x) = max(h(x), int16(a(r)))\n"
      "f(x) = float32(h(x))\n");
  for (const char *update : {"over r(0, 0): f(x) = min(f(x), float32(a(r)))",
                             "over r(0, 4) where r < x: f(x) = min(f(x), float32(a(r)))",
                             "over r(0, 4): f(r) = min(f(r), float32(a(r)))"}) {
    EXPECT_NE(reduction("inff", update, "int8").find("not every cell gets a term of update 0"),
              std::string::npos)
        << update;
  }
}

TEST(change_type, again) {
  EXPECT_EQ(derived(kDot, "h = f.change_type(int64)\nk = h.change_type(int32)"), R"(k(x) = 0
over r(0, 64): k(x) = k(x) + int32(a(r))*int32(b(x + r))
h(x) = int64(k(x))
f(x) = float32(h(x))
g(x) = f(x)*0.5f
)");
}

constexpr const char *kScaled = R"(image s: int32, 1
image g: int32, 2
f(x) = 1
over r(0, 16): f(x) = f(x) + s(x)*g(x, r) + 3*g(r, x)
output f
)";

TEST(hoist_invariants, a_Func_for_each_term) {
  EXPECT_EQ(derived(kScaled, "a, b = f.update(0).hoist_invariants()\na.compute_root()"),
            R"(a(x) = 0
over r(0, 16): a(x) = a(x) + g(x, r)
b(x) = 0
over r(0, 16): b(x) = b(x) + g(r, x)
f(x) = 1
f(x) = f(x) + s(x)*a(x) + 3*b(x)
a.compute_root()
)");
  EXPECT_EQ(derived(kScaled, "a = f.update(0).hoist_invariants()"),
            "s.txt:1: error: cannot hoist invariants of update 0 of 'f'\n"
            "  why: it makes 2 Funcs, one for each term, and 1 are named\n"
            "  fix: name one for each term\n");
}

TEST(hoist_invariants, loops_of_the_reduction_go_with_it) {
  EXPECT_EQ(derived("image s: int32, 1\nimage g: int32, 2\nf(x) = 1\n"
                    "over r(0, 16): f(x) = f(x) + s(x)*g(x, r)\noutput f\n",
                    "f.update(0).split(r, ro, ri, 4)\nf.update(0).split(x, xo, xi, 8)\n"
                    "f.update(0).reorder(xi, ri, ro, xo)\nf.update(0).unroll(ri)\n"
                    "f.update(0).parallel(xo)\nh = f.update(0).hoist_invariants()"),
            R"(h(x) = 0
over r(0, 16): h(x) = h(x) + g(x, r)
f(x) = 1
f(x) = f(x) + s(x)*h(x)
h.update(0).split(r, ro, ri, 4)
h.update(0).split(x, xo, xi, 8)
f.update(0).split(x, xo, xi, 8)
h.update(0).reorder(xi, ri, ro, xo)
f.update(0).reorder(xi, xo)
h.update(0).unroll(ri)
h.update(0).parallel(xo)
f.update(0).parallel(xo)
)");
}

TEST(hoist_invariants, only_where_the_reduction_has_a_step) {
  EXPECT_EQ(derived("image s: int32, 1\nparam n: int32\nparam on: bool\nf(x) = 1\n"
                    "over r(0, n) where on && r < x: f(x) = f(x) + s(x)*r\noutput f\n",
                    "h = f.update(0).hoist_invariants()"),
            R"(h(x) = 0
over r(0, n) where on && r < x: h(x) = h(x) + r
f(x) = 1
where n > 0 && on: f(x) = f(x) + s(x)*h(x)
)");
}

TEST(hoist_invariants, after_rfactor) {
  EXPECT_EQ(derived("image s: int32, 1\nimage g: int32, 1\nf() = 0\n"
                    "over r(0, 100): f() = f() + s(r/32)*g(r)\noutput f\n",
                    "f.update(0).split(r, ro, ri, 32)\np = f.update(0).rfactor(ro, u)\n"
                    "h = p.update(0).hoist_invariants()"),
            R"(h(u) = 0
over ri(0, 32) where u*32 + ri < 100: h(u) = h(u) + g(min(u*32 + ri, 99))
p(u) = 0
p(u) = p(u) + s(min(u, 3))*h(u)
f() = 0
over ro(0, 4): f() = f() + p(ro)
h.update(0).reorder(ri, u)
)");
}

TEST(hoist_invariants, where_there_is_nothing_to_take_out) {
  EXPECT_EQ(
      derived("image g: int32, 1\nf(x) = 1\nover r(0, 9): f(x) = f(x) + g(r)\noutput f\n",
              "h = f.update(0).hoist_invariants()"),
      "s.txt:1: error: cannot hoist invariants of update 0 of 'f'\n"
      "  why: each of its values has one term, and no factor of that is the same in all steps "
      "of the reduction\n"
      "  fix: leave the reduction as it is\n");
  EXPECT_EQ(derived(kScaled, "h = f.hoist_invariants()"),
            "s.txt:1: error: cannot hoist invariants of 'f'\n"
            "  why: a pure definition has no reduction\n"
            "  fix: call it on an update\n");
}

TEST(streams, of_trees) {
  const std::string algorithm =
      "image in: int32, 1\nf(x) = in(x) + 1\ng(x) = f(x)*in(x)\ng(x) = g(x) + f(x)\noutput g\n";
  const std::string text = tree(algorithm,
                                "f.compute_root()\nf.stream_stores()\ng.stream_loads(f)\n"
                                "g.update(0).stream_loads()\ng.update(0).stream_stores()");
  EXPECT_EQ(text, R"(allocate f
  for f.s0.x serial
    f.s0 stream_stores
  for g.s0.x serial
    g.s0 stream_loads f
  for g.s1.x serial
    g.s1 stream_stores stream_loads f
)");
}

// f is inlined: what the stage reads then is what counts.
TEST(streams, through_inlined_Funcs) {
  EXPECT_EQ(
      tree("image in: int32, 1\nimage t: int32, 1\nf(x) = in(x) + 1\ng(x) = f(x)*t(x)\noutput g\n",
           "g.stream_loads(in)"),
      R"(for g.s0.x serial
  g.s0 stream_loads in
)");
}

TEST(streams, of_stages_that_come_back_to_a_cell) {
  auto refused = [](const std::string &update) {
    return tree("image in: int32, 1\nf(x) = 0\n" + update + "\noutput f\n",
                "f.update(0).stream_stores()");
  };
  const std::string what = "s.txt:1: error: cannot stream the stores of update 0 of 'f'\n  why: ";
  const std::string fix = "\n  fix: stream the stores of a definition that writes each cell once\n";
  EXPECT_EQ(refused("over r(0, 9): f(in(r)) = f(in(r)) + 1"),
            what + "its steps along the reduction variable 'r' may write one cell in turn" + fix);
  EXPECT_EQ(refused("over r(0, 9): f(x) = f(x) + r"),
            what + "its steps along the reduction variable 'r' may write one cell in turn" + fix);
  EXPECT_EQ(refused("over r(0, 9): f(r) = f(r + 1)"),
            what + "it reads cells that other instances of it write" + fix);
  EXPECT_EQ(refused("over r(0, 9): f(2*r + 1) = f(2*r + 1) + r").find("error"), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::rewriting_words_test
