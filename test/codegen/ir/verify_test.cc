// Every invariant of loop IR is checked: each test plants one fault.
#include "codegen/ir/verify.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"

namespace polyhalite::verify_test {
namespace {

std::string problem(const Function &f, IrLevel level) {
  const auto d = verify(f, level);
  return d ? d->what : "none";
}

// The body of a function that has an input `in`, a scalar `k` and an output `out`.
Function around(const std::string &body) {
  return parse_function("func f(in: input float32[2], k: int32, out: output float32[2]) {\n" +
                        body + "\n}\n");
}
std::string boxes(const std::string &body) {
  return problem(around(body), IrLevel::MultiDimensional);
}
std::string flat(const std::string &body) { return problem(around(body), IrLevel::Flat); }
std::string emittable(const std::string &body) { return problem(around(body), IrLevel::Emittable); }

std::string with_body(Stmt s, IrLevel level = IrLevel::MultiDimensional) {
  Function f = around("");
  f.body = s;
  return problem(f, level);
}

Expr loop_variable(const char *name) { return make_variable(Int(32), VariableKind::Loop, name); }

TEST(Verify, AcceptsBothLevels) {
  EXPECT_EQ(boxes(R"(
    assert in.stride.0 == 1 else extern<int32>(fail, "f")
    for y in (out.min.1, k) parallel {
      allocate t: float32(0, 8, y, 1) stack
      for x in (0, 8) vector { t(x, y) = in(x, y) }
      for x in (0, 8) unrolled { if x < k { out(x, y) = t(x, y) } }
    })"),
            "none");
  EXPECT_EQ(emittable(R"(
    allocate t: float32[64i64] stack
    let b = broadcast(2.0f, 8)
    for x in (0, 8) {
      t[ramp(int64(x)*8i64, 1i64, 8)] = in[ramp(0i64, 1i64, 8) if ramp(x, 1, 8) < broadcast(k, 8)]*b
      out[int64(x)] = select(k < 3, t[0i64], 1.0f)
    })"),
            "none");
}

TEST(Verify, Shape) {
  const std::string wrong =
      "loop IR breaks 'shape': a statement has the wrong number of operands or bodies, or "
      "undefined "
      "ones";
  EXPECT_EQ(with_body(Stmt()), "loop IR breaks 'shape': the function has no body");
  EXPECT_EQ(with_body(make_for("x", 0, Expr(), LoopKind::Serial, make_block({}))), wrong);
  EXPECT_EQ(with_body(make_for("x", 0, 1, LoopKind::Serial, Stmt())), wrong);
  EXPECT_EQ(with_body(make_allocate("t", Float(32), {0}, Home::Auto, make_block({}))), wrong);
  EXPECT_EQ(
      with_body(make_allocate("t", Float(32), {0, 1}, Home::Auto, make_block({})), IrLevel::Flat),
      wrong);
}

TEST(Verify, Lanes) {
  EXPECT_EQ(flat("for x in (ramp(0, 1, 4), 4) { }"),
            "loop IR breaks 'lanes': the range of loop 'x' is no scalar");
  EXPECT_EQ(flat("if broadcast(true, 4) { }"), "loop IR breaks 'lanes': a condition is no scalar");
  EXPECT_EQ(flat("allocate t: int32[broadcast(1i64, 2)]"),
            "loop IR breaks 'lanes': a size of 't' is no scalar");
}

TEST(Verify, Types) {
  EXPECT_EQ(boxes("for x in (0i64, 4) { }"),
            "loop IR breaks 'types': the range of loop 'x' is no int32");
  EXPECT_EQ(boxes("if k { }"), "loop IR breaks 'types': a condition is no bool");
  EXPECT_EQ(flat("allocate t: int32[4]"), "loop IR breaks 'types': a size of 't' is no int64");
  const Expr mixed = with_args(make_binary(Op::Add, 1, 2), {Expr(1), Expr(2.0f)});
  EXPECT_EQ(with_body(make_evaluate(mixed)),
            "loop IR breaks 'types': operand of + is float32, not int32");
  const Expr sum = with_args(make_binary(Op::And, make_true(), make_true()), {Expr(1), Expr(2)});
  EXPECT_EQ(with_body(make_evaluate(sum)),
            "loop IR breaks 'types': operand of && is int32, not bool");
  const Expr choice = with_args(make_select(make_true(), 1, 2), {make_true(), 1, Expr(2.0f)});
  EXPECT_EQ(with_body(make_evaluate(choice)),
            "loop IR breaks 'types': operand of select is float32, not int32");
}

TEST(Verify, Constants) {
  EXPECT_EQ(boxes("for x in (0, k) vector { }"),
            "loop IR breaks 'constants': the vector loop 'x' has no constant extent");
  EXPECT_EQ(boxes("for x in (0, k) unrolled { }"),
            "loop IR breaks 'constants': the unrolled loop 'x' has no constant extent");
  EXPECT_EQ(boxes("allocate t: float32(0, k) stack"),
            "loop IR breaks 'constants': the stack allocation 't' has no constant size");
  EXPECT_EQ(flat("allocate t: float32[16385i64] stack"),
            "loop IR breaks 'constants': the stack allocation 't' takes more than 64 KiB");
}

TEST(Verify, Errors) {
  EXPECT_EQ(
      boxes("assert true else 3"),
      "loop IR breaks 'errors': an Assert's error is no call of an Extern that returns int32");
  EXPECT_EQ(with_body(make_evaluate(make_string("text"))),
            "loop IR breaks 'errors': a text is an operand of a statement");
}

TEST(Verify, Entry) {
  const std::string wrong =
      "loop IR breaks 'entry': an Assert inside a loop, an If or an allocation";
  EXPECT_EQ(boxes("for x in (0, 4) { assert true else extern<int32>(fail) }"), wrong);
  EXPECT_EQ(boxes("if true { assert true else extern<int32>(fail) }"), wrong);
  EXPECT_EQ(boxes("let a = 1 assert a == 1 else extern<int32>(fail)"), "none");
  EXPECT_EQ(boxes("for x in (0, k) { profile { } }"),
            "loop IR breaks 'entry': a Profile inside a loop, an If or an allocation");
  EXPECT_EQ(boxes("profile { } profile { }"), "loop IR breaks 'entry': a second Profile");
  EXPECT_EQ(boxes("profile { assert true else extern<int32>(e) }"),
            "loop IR breaks 'entry': an Assert inside a loop, an If or an allocation");
}

TEST(Verify, Arguments) {
  Function f = around("");
  f.args.push_back(f.args[0]);
  EXPECT_EQ(problem(f, IrLevel::Flat), "loop IR breaks 'arguments': two are called 'in'");
}

TEST(Verify, Bound) {
  auto evaluate = [](const Expr &e) { return with_body(make_evaluate(e)); };
  EXPECT_EQ(evaluate(loop_variable("x")), "loop IR breaks 'bound': nothing binds 'x' here");
  EXPECT_EQ(evaluate(make_variable(Int(32), VariableKind::Pure, "x")),
            "loop IR breaks 'bound': nothing binds 'x' here");
  EXPECT_EQ(evaluate(make_variable(Float(32), VariableKind::Param, "k")),
            "loop IR breaks 'bound': 'k' is no scalar argument of type float32");
  EXPECT_EQ(evaluate(make_variable(Int(32), VariableKind::BufferField, "in.min.2")),
            "loop IR breaks 'bound': 'in.min.2' is no field of an argument");
  const Stmt use = make_evaluate(loop_variable("x"));
  EXPECT_EQ(with_body(make_let_stmt("x", 1, use)),
            "loop IR breaks 'bound': 'x' is of another kind here");
  const Expr wide = make_variable(Int(64), VariableKind::Symbol, "x");
  EXPECT_EQ(with_body(make_let_stmt("x", 1, make_evaluate(wide))),
            "loop IR breaks 'bound': 'x' is int32 here, not int64");
  // Out of scope again behind its block.
  const Stmt loop = make_for("x", 0, 4, LoopKind::Serial, use);
  EXPECT_EQ(with_body(make_block({loop, use})), "loop IR breaks 'bound': nothing binds 'x' here");
}

TEST(Verify, Shadowing) {
  EXPECT_EQ(boxes("for x in (0, 4) { for x in (0, 4) { } }"),
            "loop IR breaks 'shadowing': 'x' means something here already");
  EXPECT_EQ(boxes("let k = 1"), "loop IR breaks 'shadowing': 'k' means something here already");
  EXPECT_EQ(boxes("allocate out: int32()"),
            "loop IR breaks 'shadowing': 'out' means something here already");
  EXPECT_EQ(boxes("let a = 1 evaluate let a = 2 in a"),
            "loop IR breaks 'shadowing': 'a' means something here already");
  EXPECT_EQ(boxes("for x in (0, 4) { } for x in (0, 4) { }"), "none");
}

TEST(Verify, Buffers) {
  EXPECT_EQ(flat("t[0i64] = 1.0f"), "loop IR breaks 'buffers': there is no buffer 't' here");
  EXPECT_EQ(flat("in[0i64] = 1.0f"), "loop IR breaks 'buffers': 'in' is no output, but is written");
  EXPECT_EQ(boxes("in(0, 0) = 1.0f"),
            "loop IR breaks 'buffers': 'in' is no output, but is written");
  EXPECT_EQ(flat("out[0i64] = 1"), "loop IR breaks 'buffers': 'out' has elements of type float32");
  EXPECT_EQ(boxes("out(0, 0) = 1"), "loop IR breaks 'buffers': 'out' has elements of type float32");
}

TEST(Verify, NothingFlatAmongBoxes) {
  EXPECT_EQ(boxes("out[0i64] = 1.0f"), "loop IR breaks 'no flat': a Store of 'out'");
  EXPECT_EQ(boxes("out(0, 0) = in[0i64]"), "loop IR breaks 'no flat': a Load of 'in'");
  EXPECT_EQ(boxes("evaluate ramp(0, 1, 4)"), "loop IR breaks 'no flat': a vector");
}

TEST(Verify, IndicesOfBoxes) {
  EXPECT_EQ(boxes("out(0) = 1.0f"),
            "loop IR breaks 'indices': 'out' has 2 dimensions, 1 indices are given");
  EXPECT_EQ(boxes("out(0, 0) = in(0, 0, 0)"),
            "loop IR breaks 'indices': 'in' has 2 dimensions, 3 indices are given");
  EXPECT_EQ(boxes("out(0, 0i64) = 1.0f"),
            "loop IR breaks 'indices': an index of 'out' is no int32");
}

TEST(Verify, NoBoxesWhenFlat) {
  EXPECT_EQ(flat("out(0, 0) = 1.0f"), "loop IR breaks 'no boxes': a Provide of 'out'");
  EXPECT_EQ(flat("out[0i64] = in(0, 0)"), "loop IR breaks 'no boxes': a call of 'in'");
}

TEST(Verify, FlatIndices) {
  EXPECT_EQ(flat("out[0] = 1.0f"),
            "loop IR breaks 'indices': 'out' is accessed at int32 for float32");
  EXPECT_EQ(flat("out[ramp(0i64, 1i64, 4)] = broadcast(1.0f, 8)"),
            "loop IR breaks 'indices': 'out' is accessed at int64x4 for float32x8");
  EXPECT_EQ(flat("out[ramp(0i64, 1i64, 4) if true] = broadcast(1.0f, 4)"),
            "loop IR breaks 'indices': the mask of 'out' is no bool of as many lanes");
}

TEST(Verify, ProductsOfMatrices) {
  auto product = [](const std::string &a_lanes, const std::string &shape) {
    return flat(
        "out[ramp(0i64, 1i64, 4)] = intrinsic<float32x4>(sum_matrix_products, "
        "in[ramp(0i64, 1i64, 4)], in[ramp(0i64, 1i64, " +
        a_lanes + ")], in[ramp(0i64, 1i64, 8)], " + shape + ")");
  };
  EXPECT_EQ(product("8", "2, 4"), "none");
  EXPECT_EQ(product("8", "2, 2"), "none");
  EXPECT_EQ(product("8", "k, 4"),
            "loop IR breaks 'constants': sum_matrix_products has rows and groups of no constant "
            "number");
  EXPECT_EQ(product("4", "2, 2"),
            "loop IR breaks 'types': the factors of sum_matrix_products have 4 and 8 lanes for 4 "
            "sums in 2 rows, terms in groups of 2");
  EXPECT_EQ(product("8", "2, 3"),
            "loop IR breaks 'types': the factors of sum_matrix_products have 8 and 8 lanes for 4 "
            "sums in 2 rows, terms in groups of 3");
}

TEST(Verify, KeepsAllocationsOnly) {
  EXPECT_EQ(boxes("allocate t: float32(0, 4) memoize \"t\" of t by (k) { t(0) = 1.0f }"), "none");
  EXPECT_EQ(boxes("memoize \"out\" of out by (k) { out(0, 0) = 1.0f }"),
            "loop IR breaks 'memoize': 'out' is no allocation around it");
  EXPECT_EQ(boxes("allocate s: float32(0, 4) place t: float32(0, 4) in s at 0i64 "
                  "memoize \"t\" of t by (k) { t(0) = 1.0f }"),
            "loop IR breaks 'memoize': 't' is no allocation around it");
  EXPECT_EQ(flat("allocate t: float32[4i64] memoize \"t\" of t by (k) { t[0i64] = 1.0f }"),
            "loop IR breaks 'memoize': sizes stand at the flat level, and only there");
  EXPECT_EQ(flat("allocate t: float32[4i64] memoize \"t\" of t[16] by (k) { t[0i64] = 1.0f }"),
            "loop IR breaks 'memoize': a size is no int64");
  EXPECT_EQ(flat("allocate t: float32[4i64] memoize \"t\" of t[16i64] evict 1.0f by () {}"),
            "loop IR breaks 'memoize': the eviction key is no integer or handle");
  EXPECT_EQ(flat("allocate t: float32[4i64] memoize \"t\" of t[16i64] by (ramp(k, 1, 4)) {}"),
            "loop IR breaks 'memoize': a key is no number");
}

TEST(Verify, NothingIsLeftToUnroll) {
  EXPECT_EQ(emittable("for x in (0, 4) vector { }"),
            "loop IR breaks 'no unrolled': loop 'x' is vector");
  EXPECT_EQ(emittable("for x in (0, 4) unrolled { }"),
            "loop IR breaks 'no unrolled': loop 'x' is unrolled");
}

TEST(Verify, SaysWhere) {
  const auto d = verify(around("for x in (0, 4) { out[int64(x)] = 1 }"), IrLevel::Flat);
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(d->why, "in: out[int64(x)] = 1");
}

}  // namespace
}  // namespace polyhalite::verify_test
