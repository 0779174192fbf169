// Mistakes in an algorithm, made through the C++ headers.
#include <gtest/gtest.h>

#include "bad_input/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::language_test {
namespace {

class BadAlgorithm : public testing::Test {
 protected:
  Var x{"x"}, y{"y"};
  Func f{"f"}, g{"g"};
  Expr undefined;
};

TEST_F(BadAlgorithm, recursion) {
  EXPECT_EQ(text_of([&] { f(x) = f(x - 1) + 1; }),
            "@: error: Func 'f' is used before it is defined\n"
            "  why: it has no values yet\n"
            "  fix: define it first, as in f(x, y) = ...");
}

TEST_F(BadAlgorithm, updates_of_undefined_funcs) {
  EXPECT_EQ(
      text_of([&] { f(x + 1) = 1; }),
      "@: error: argument 0 of the first definition of 'f' is no Var\n"
      "  why: the first definition gives every point a value, so its arguments are free variables\n"
      "  fix: define 'f' over Vars first, then update it");
  EXPECT_EQ(
      text_of([&] { f(3) = 1; }),
      "@: error: argument 0 of the first definition of 'f' is no Var\n"
      "  why: the first definition gives every point a value, so its arguments are free variables\n"
      "  fix: define 'f' over Vars first, then update it");
}

TEST_F(BadAlgorithm, redefinition_after_use) {
  f(x) = x;
  g(x) = f(x);
  EXPECT_EQ(text_of([&] { f(x) += g(x); }),
            "@: error: 'f' cannot be given another definition\n"
            "  why: another Func uses it, in() or clone_in() names it as a consumer, or it has "
            "been realized\n"
            "  fix: move this definition before the first use");
}

TEST_F(BadAlgorithm, arguments) {
  g(x) = x;
  EXPECT_EQ(text_of([&] { f(x) = g(cast<int64_t>(x)); }),
            "@: error: argument 0 of Func 'g' has type int64\n"
            "  why: coordinates are int32, which does not hold every int64\n"
            "  fix: cast it to int32 where its range allows");
  EXPECT_EQ(text_of([&] { f(x) = g(undefined); }),
            "@: error: argument 0 of Func 'g' is undefined\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: assign the Expr before it is used");
  EXPECT_EQ(text_of([&] { f(x, x) = 1; }),
            "@: error: Var 'x' occurs twice among the arguments of 'f'\n"
            "  why: each dimension needs a variable of its own\n"
            "  fix: use different Vars");
}

TEST_F(BadAlgorithm, undefined_values) {
  EXPECT_EQ(text_of([&] { f(x) = undefined; }),
            "@: error: the definition of 'f' is an undefined Expr\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: assign the Expr before it is used");
  EXPECT_EQ(text_of([&] { undefined + 1; }),
            "@: error: an operand of '+' is undefined\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: assign the Expr before it is used");
  EXPECT_EQ(text_of([&] { f.type(); }),
            "@: error: Func 'f' has no type\n"
            "  why: it is undefined\n"
            "  fix: define it first, as in f(x, y) = ...");
  EXPECT_EQ(text_of([&] { f.value(); }),
            "@: error: Func 'f' has no value\n"
            "  why: it is undefined\n"
            "  fix: define it first, as in f(x, y) = ...");
}

TEST_F(BadAlgorithm, types_of_operands) {
  EXPECT_EQ(text_of([&] { select(x, 1, 2); }),
            "@: error: operand of 'select' has type int32\n"
            "  why: conditions have type bool\n"
            "  fix: compare it, as in x != 0");
  EXPECT_TRUE(select(sizeof(x) == 1, x, 2).defined());
  EXPECT_EQ(text_of([&] { select(x > 0, cast<uint8_t>(x), cast<float>(x)); }),
            "@: error: select between uint8 and float32\n"
            "  why: the two values must have the same type\n"
            "  fix: cast one of them");
  const Expr column = x;
  EXPECT_EQ(text_of([&] { column &&column; }),
            "@: error: operand of '&&' has type int32\n"
            "  why: conditions have type bool\n"
            "  fix: compare it, as in x != 0");
  // Of variables alone the line is not known; it is not that of another expression.
  EXPECT_EQ(text_of([&] { x &&y; }),
            "error: operand of '&&' has type int32\n"
            "  why: conditions have type bool\n"
            "  fix: compare it, as in x != 0");
  EXPECT_EQ(text_of([&] { cast<float>(x) & 3; }),
            "@: error: '&' on float32\n"
            "  why: bits are defined for integers only\n"
            "  fix: cast or reinterpret the operand to an integer");
  EXPECT_EQ(text_of([&] { mux(x, std::vector<Expr>{}); }),
            "@: error: mux without values\n"
            "  why: there is nothing to choose from\n"
            "  fix: give at least one value");
}

TEST_F(BadAlgorithm, reduction_domains) {
  EXPECT_EQ(text_of([&] { RDom(0, -3); }),
            "@: error: the extent of dimension 0 of RDom 'r' is -3\n"
            "  why: extents count iterations\n"
            "  fix: give min and extent, as in RDom r(-1, 3) for -1, 0, 1");
  EXPECT_EQ(text_of([&] { RDom(0, 5, 0, -1, "s"); }),
            "@: error: the extent of dimension 1 of RDom 's' is -1\n"
            "  why: extents count iterations\n"
            "  fix: give min and extent, as in RDom r(-1, 3) for -1, 0, 1");
  EXPECT_EQ(text_of([&] { RDom(0, 2.5f); }),
            "@: error: the extent of dimension 0 of RDom 'r' has type float32\n"
            "  why: it counts elements or iterations\n"
            "  fix: give an integer, as in cast<int>(e)");
  EXPECT_EQ(text_of([&] { RDom(0, x); }),
            "@: error: the extent of dimension 0 of RDom 'r' depends on 'x'\n"
            "  why: a reduction domain is a box of constants and parameters\n"
            "  fix: make the box large enough for all, and restrict it with where()");
  EXPECT_EQ(text_of([&] { RDom(0, Expr(int64_t{1} << 40)); }),
            "@: error: the extent of dimension 0 of RDom 'r' is 1099511627776\n"
            "  why: sizes and indices are int32, which holds -2147483648 to 2147483647\n"
            "  fix: give a number that int32 holds");
  EXPECT_EQ(text_of([&] { RDom(0, undefined); }),
            "@: error: the extent of dimension 0 of RDom 'r' is undefined\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: assign the Expr before it is used");
  EXPECT_EQ(text_of([&] { RDom(Region{}); }),
            "@: error: an RDom without dimensions\n"
            "  why: there is nothing to iterate over\n"
            "  fix: give pairs of min and extent");
  RDom r(0, 3), none;
  EXPECT_EQ(text_of([&] { r.where(r + 1); }),
            "@: error: where() with a value of type int32\n"
            "  why: conditions have type bool\n"
            "  fix: compare it, as in x != 0");
  EXPECT_EQ(text_of([&] { r.where(undefined); }),
            "@: error: where() with an undefined condition\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: assign the Expr before it is used");
  EXPECT_EQ(text_of([&] { none.where(r > 1); }),
            "@: error: where() on an undefined RDom\n"
            "  why: it has no dimensions to restrict\n"
            "  fix: construct the RDom with its ranges first");
  EXPECT_EQ(text_of([&] { Expr e = none; }),
            "error: an undefined RDom is used as a variable\n"
            "  why: it has no dimensions\n"
            "  fix: construct the RDom with its ranges first");
  EXPECT_EQ(text_of([&] { r[1]; }),
            "error: dimension 1 of an RDom of 1 dimensions\n"
            "  why: dimensions count from 0\n"
            "  fix: use r[0] to r[0]");
  f(x) = 0;
  EXPECT_EQ(text_of([&] { f(x) += r.y; }),
            "error: RVar 'r' is used as a value\n"
            "  why: it names a loop of a schedule and belongs to no RDom, so it has no range\n"
            "  fix: use a variable of an RDom, as in RDom r(0, 10); r.x");
}

TEST_F(BadAlgorithm, inline_reductions) {
  RDom r(0, 3), s(0, 3);
  EXPECT_EQ(text_of([&] { f(x) = sum(x); }),
            "@: error: sum() of an expression with 0 reduction domains\n"
            "  why: it runs over the one RDom in its argument\n"
            "  fix: use a variable of an RDom in the argument");
  EXPECT_EQ(text_of([&] { f(x) = sum(r + s); }),
            "@: error: sum() of an expression with 2 reduction domains\n"
            "  why: it runs over the one RDom in its argument\n"
            "  fix: name the RDom, as in sum(r, e)");
}

TEST_F(BadAlgorithm, undefined_and_impossible_image_params) {
  ImageParam none;
  EXPECT_EQ(text_of([&] { f(x) = none(x); }),
            "@: error: an undefined ImageParam is used\n"
            "  why: it has no type and no dimensions\n"
            "  fix: construct it as ImageParam(type, dimensions)");
  EXPECT_EQ(text_of([&] { none.width(); }),
            "@: error: an undefined ImageParam is used\n"
            "  why: it has no type and no dimensions\n"
            "  fix: construct it as ImageParam(type, dimensions)");
  EXPECT_EQ(text_of([&] { none.set(Buffer<int>(3)); }),
            "@: error: an undefined ImageParam is used\n"
            "  why: it has no type and no dimensions\n"
            "  fix: construct it as ImageParam(type, dimensions)");
  EXPECT_EQ(text_of([&] { none.name(); }),
            "error: an undefined ImageParam is used\n"
            "  why: it has no type and no dimensions\n"
            "  fix: construct it as ImageParam(type, dimensions)");
  EXPECT_EQ(text_of([&] { RDom r(none); }),
            "@: error: an undefined ImageParam is used\n"
            "  why: it has no type and no dimensions\n"
            "  fix: construct it as ImageParam(type, dimensions)");
  EXPECT_EQ(text_of([&] { ImageParam(Int(32), -2); }),
            "@: error: an ImageParam of -2 dimensions\n"
            "  why: dimensions are counted\n"
            "  fix: give their number, at least 0");
}

TEST_F(BadAlgorithm, constraints_that_vary) {
  ImageParam in(Int(32), 1, "in");
  Param<int> n("n");
  g(x) = x;
  EXPECT_EQ(text_of([&] { in.dim(0).set_stride(x); }),
            "@: error: the stride of dimension 0 of ImageParam 'in' depends on 'x'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { in.dim(0).set_extent(g(3)); }),
            "@: error: the extent of dimension 0 of ImageParam 'in' depends on 'g'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { in.dim(0).set_bounds(0.5f, 16); }),
            "@: error: the min of dimension 0 of ImageParam 'in' has type float32\n"
            "  why: it counts elements or iterations\n"
            "  fix: give an integer, as in cast<int>(e)");
  EXPECT_EQ(text_of([&] { n.set_max_value(Expr(x)); }),
            "@: error: the max of Param 'n' depends on 'x'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
}

TEST_F(BadAlgorithm, undefined_buffers) {
  Buffer<int> none;
  EXPECT_EQ(text_of([&] { none.width(); }),
            "error: an undefined Buffer is used\n"
            "  why: it has no type, no dimensions and no elements\n"
            "  fix: construct it with its sizes");
  EXPECT_EQ(text_of([&] { none(3); }),
            "error: an undefined Buffer is used\n"
            "  why: it has no type, no dimensions and no elements\n"
            "  fix: construct it with its sizes");
  EXPECT_EQ(text_of([&] { f(x) = none(x); }),
            "error: an undefined Buffer is called\n"
            "  why: it has no elements\n"
            "  fix: construct it first");
  EXPECT_EQ(text_of([&] { RDom r(none); }),
            "@: error: an undefined Buffer is used\n"
            "  why: it has no type, no dimensions and no elements\n"
            "  fix: construct it with its sizes");
}

TEST_F(BadAlgorithm, sizes_of_buffers) {
  const std::vector<int> square{3, 3}, cube{1 << 30, 1 << 30, 16};
  EXPECT_EQ(text_of([&] { Buffer<int> b(3, -1); }),
            "error: a Buffer with extent -1 in dimension 1\n"
            "  why: extents count elements\n"
            "  fix: give extents that are not negative");
  EXPECT_EQ(text_of([&] { Buffer<int> b(square, std::vector<int>{0, 5}); }),
            "error: dimension 5 is no dimension, or named twice, in the storage order of a Buffer "
            "of 2 dimensions\n"
            "  why: the order lists each dimension once, the innermost in memory first\n"
            "  fix: give a permutation of 0 to 1");
  EXPECT_EQ(text_of([&] { Buffer<int> b(square, std::vector<int>{0, 0}); }),
            "error: dimension 0 is no dimension, or named twice, in the storage order of a Buffer "
            "of 2 dimensions\n"
            "  why: the order lists each dimension once, the innermost in memory first\n"
            "  fix: give a permutation of 0 to 1");
  EXPECT_EQ(text_of([&] { Buffer<int> b(square, std::vector<int>{0}); }),
            "error: a storage order of 1 dimensions for a Buffer of 2\n"
            "  why: the order lists each dimension once, the innermost in memory first\n"
            "  fix: give a permutation of 0 to 1");
  EXPECT_EQ(text_of([&] { Buffer<int> b(1 << 30, 1 << 30); }),
            "error: there is no memory for a Buffer of 4611686018427387904 bytes\n"
            "  why: the machine's memory, or what this process may use of it, is smaller\n"
            "  fix: use smaller extents, or work on parts of the output one by one");
  EXPECT_EQ(text_of([&] { Buffer<int> b(cube); }),
            "error: the stride of dimension 2 of a Buffer would be 1152921504606846976 elements\n"
            "  why: strides are int32\n"
            "  fix: use smaller extents");
  int data[3] = {};
  EXPECT_EQ(text_of([&] { Buffer<int> b(data, -3); }),
            "error: a Buffer with extent -3 in dimension 0\n"
            "  why: extents count elements\n"
            "  fix: give extents that are not negative");
  EXPECT_EQ(text_of([&] { Buffer<int>(static_cast<int *>(nullptr), {3}, "b")(x); }),
            "error: Buffer 'b' is called and has no memory\n"
            "  why: a Buffer in an algorithm is a constant, and its data pointer is null\n"
            "  fix: give it elements, or use an ImageParam and set() it later");
}

TEST_F(BadAlgorithm, coordinates_of_buffers) {
  Buffer<int> b(3, 3);
  b.set_name("b");
  EXPECT_EQ(text_of([&] { b(1); }),
            "error: Buffer 'b' is indexed with 1 coordinate\n"
            "  why: it has 2 dimensions\n"
            "  fix: give one coordinate for each dimension");
  EXPECT_EQ(text_of([&] { b.dim(5); }),
            "error: dimension 5 of Buffer 'b'\n"
            "  why: it has 2 dimensions, counted from 0\n"
            "  fix: ask for one of them");
}

TEST_F(BadAlgorithm, expressions_that_are_too_deep) {
  EXPECT_EQ(
      text_of([&] {
        Expr e = x;
        for (int i = 0; i < 100000; i++) e = e * 3 + x;
      }),
      "@: error: an expression of more than 4000 levels\n"
      "  why: each operation on top of another is a level, and so is the body of an inlined Func\n"
      "  fix: compute a part of it in a Func of its own with compute_root(), or use an RDom for a "
      "long sum");
}

TEST_F(BadAlgorithm, expressions_that_are_too_large_after_inlining) {
  Func last("f0");
  last(x) = x;
  for (int i = 1; i < 40; i++) {
    Func next("f" + std::to_string(i));
    next(x) = last(x - 1) + last(x + 1);
    last = next;
  }
  EXPECT_EQ(
      text_of([&] { last.compile_jit(); }),
      "@+-3: error: the definition of 'f16' has 196640 operations after its producers are inlined\n"
      "  why: at most 100000 can be compiled in reasonable time\n"
      "  fix: give some of the Funcs that it is made of a compute_root() or compute_at()");
}

}  // namespace
}  // namespace polyhalite::language_test
