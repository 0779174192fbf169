// What in, clone_in, rfactor and specialize make of algorithms, as text; the trees of branches.
#include "schedule/derive_algorithm.h"

#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/derived_values.h"
#include "schedule/parse_tree.h"

namespace polyhalite::derive_algorithm_test {
namespace {

constexpr const char *kTwo = R"(image in: int32, 1
f(x) = in(x)
g(x) = f(x - 1) + f(x)
h(x) = f(x)*g(x)
output h
)";

TEST(derive_algorithm, a_wrapper_for_one_consumer) {
  EXPECT_EQ(derived(kTwo, "f_in_g = f.in(g)"), R"(image in: int32, 1
f(x) = in(x)
f_in_g(x) = f(x)
g(x) = f_in_g(x - 1) + f_in_g(x)
h(x) = f(x)*g(x)
output h
)");
}

TEST(derive_algorithm, a_wrapper_for_what_stands_between) {
  const std::string between = R"(image in: int32, 1
f(x) = in(x)
a(x) = f(x) + 1
b(x) = f(x)*2
t(x) = a(x) + b(x)
s(x) = f(x) - 1
h(x) = t(x)*s(x)
output h
)";
  EXPECT_EQ(derived(between, "f_clone = f.clone_in(t)"), R"(image in: int32, 1
f(x) = in(x)
f_clone(x) = in(x)
a(x) = f_clone(x) + 1
b(x) = f_clone(x)*2
t(x) = a(x) + b(x)
s(x) = f(x) - 1
h(x) = t(x)*s(x)
output h
)");
  EXPECT_NE(derived(between, "w = s.in(t)").find("'t' does not read 's'"), std::string::npos);
  EXPECT_EQ(derived(between, "w = f.clone_in(f)"),
            "s.txt:1: error: cannot make 'f'.clone_in('f'): it is a Func for 'f' itself\n"
            "  why: an update reads what 'f' holds by then, not its last values\n"
            "  fix: name another Func that reads 'f'\n");
}

TEST(derive_algorithm, a_global_wrapper_leaves_those_of_consumers) {
  EXPECT_EQ(derived(kTwo, "a = f.in(g)\nb = f.in()"), R"(image in: int32, 1
f(x) = in(x)
b(x) = f(x)
a(x) = b(x)
g(x) = a(x - 1) + a(x)
h(x) = b(x)*g(x)
output h
)");
}

TEST(derive_algorithm, a_wrapper_of_an_image) {
  EXPECT_EQ(derived(kTwo, "in_in_f = in.in(f)"), R"(image in: int32, 1
in_in_f(_0) = in(_0)
f(x) = in_in_f(x)
g(x) = f(x - 1) + f(x)
h(x) = f(x)*g(x)
output h
)");
}

TEST(derive_algorithm, a_clone_with_its_updates) {
  EXPECT_EQ(derived(R"(image in: int32, 1
f(x) = in(x)
over r(0, 3): f(x) = f(x) + r
g(x) = f(x)
h(x) = f(x)*g(x)
output h
)",
                    "f_clone = f.clone_in(g)"),
            R"(image in: int32, 1
f(x) = in(x)
over r(0, 3): f(x) = f(x) + r
f_clone(x) = in(x)
over r(0, 3): f_clone(x) = f_clone(x) + r
g(x) = f_clone(x)
h(x) = f(x)*g(x)
output h
)");
}

constexpr const char *kSum = R"(image in: int32, 2
f(x) = 0
over r(0, 100): f(x) = f(x) + in(x, r)
output f
)";

TEST(derive_algorithm, rfactor_of_the_outer_part_of_a_split) {
  EXPECT_EQ(derived(kSum, "f.update(0).split(r, ro, ri, 10)\np = f.update(0).rfactor(ro, u)"),
            R"(image in: int32, 2
p(x, u) = 0
over ri(0, 10): p(x, u) = p(x, u) + in(x, u*10 + ri)
f(x) = 0
over ro(0, 10): f(x) = f(x) + p(x, ro)
output f
)");
}

TEST(derive_algorithm, rfactor_guards_a_rest) {
  EXPECT_EQ(derived(kSum, "f.update(0).split(r, ro, ri, 8)\np = f.update(0).rfactor(ri, u)"),
            R"(image in: int32, 2
p(x, u) = 0
over ro(0, 13) where ro*8 + u < 100: p(x, u) = p(x, u) + in(x, min(u + ro*8, 99))
f(x) = 0
over ri(0, 8): f(x) = f(x) + p(x, ri)
output f
)");
}

TEST(derive_algorithm, rfactor_of_a_histogram) {
  EXPECT_EQ(derived(R"(image in: uint8, 2
f(x) = 0
over r(0, 9), s(0, 7) where r < s: f(int32(in(r, s))) = f(int32(in(r, s))) + 1
output f
)",
                    "p = f.update(0).rfactor(s, u)"),
            R"(image in: uint8, 2
p(x, u) = 0
over r(0, 9) where r < u: p(int32(in(r, u)), u) = p(int32(in(r, u)), u) + 1
f(x) = 0
over s(0, 7): f(x) = f(x) + p(x, s)
output f
)");
}

TEST(derive_algorithm, rfactor_needs_an_operator) {
  EXPECT_EQ(derived(R"(image in: int32, 2
f(x) = 0
over r(0, 9): f(x) = in(x, r) + f(x)/2
output f
)",
                    "p = f.update(0).rfactor(r, u)"),
            R"(s.txt:1: error: cannot rfactor update 0 of 'f': it is not proven associative
  why: a op b = b + a/2 is not associative: (2 op 0) op 0 is 0, 2 op (0 op 0) is 1
  fix: leave the reduction whole
)");
}

TEST(derive_algorithm, rfactor_keeps_operands_of_an_ordered_operator_in_order) {
  EXPECT_EQ(
      derived(R"(image in: int32, 2
f() = {0, 0}
over r(0, 9), s(0, 9): f() = {max(f(), in(r, s)), select(f() < in(r, s), r, f().1)}
output f
)",
              "p = f.update(0).rfactor(r, u)"),
      R"(s.txt:1: error: cannot rfactor update 0 of 'f': 'r' is inside of a reduction loop that is not preserved
  why: the operator is associative, but not commutative: operands would change places
  fix: preserve the outer loops of: s, r
)");
}

// The place is among the values, which tells of equal keys which one was met first.
TEST(derive_algorithm, rfactor_changes_places_of_operands_that_know_theirs) {
  EXPECT_EQ(derived(R"(image in: int32, 2
f() = {0, 0, 0}
over r(0, 9), s(0, 8): f() = {max(f(), in(r, s)), select(f() < in(r, s), r, f().1), select(f() < in(r, s), s, f().2)}
output f
)",
                    "p = f.update(0).rfactor(r, u)"),
            R"(image in: int32, 2
p(u) = {-2147483648, 2147483647, 2147483647}
over s(0, 8): p(u) = {select(in(u, s) > p(u), in(u, s), p(u)), select(in(u, s) > p(u), u, p(u).1), select(in(u, s) > p(u), s, p(u).2)}
f() = {0, 0, 0}
over r(0, 9): f() = {select(p(r) > f() || p(r) == f() && (p(r).2 < f().2 || p(r).2 == f().2 && p(r).1 < f().1), p(r), f()), select(p(r) > f() || p(r) == f() && (p(r).2 < f().2 || p(r).2 == f().2 && p(r).1 < f().1), p(r).1, f().1), select(p(r) > f() || p(r) == f() && (p(r).2 < f().2 || p(r).2 == f().2 && p(r).1 < f().1), p(r).2, f().2)}
output f
)");
}

TEST(derive_algorithm, rfactor_takes_no_start_for_a_place) {
  for (const char *start : {"{0, 4, 0}", "{0, 0, x}", "{0, 0, 1}"}) {
    const std::string text = derived(std::string("image in: int32, 2\nf(x) = ") + start + R"(
over r(0, 9), s(0, 8): f(x) = {max(f(x), in(r, s)), select(f(x) < in(r, s), r, f(x).1), select(f(x) < in(r, s), s, f(x).2)}
output f
)",
                                     "p = f.update(0).rfactor(r, u)");
    EXPECT_NE(text.find("operands would change places"), std::string::npos) << start << text;
  }
}

TEST(derive_algorithm, rfactor_of_a_loop_fused_with_a_pure_one) {
  EXPECT_EQ(derived(kSum, "f.update(0).fuse(x, r, t)\np = f.update(0).rfactor(t, u)"),
            R"(s.txt:2: error: cannot rfactor update 0 of 'f': 'r' and 'x' are fused
  why: the fused loop runs over a pure and a reduction variable
  fix: call rfactor before the fuse
)");
}

constexpr const char *kBranched = R"(image in: int32, 1
param n: int32
param on: bool
p(x) = in(x) + 1
f(x) = select(on, p(x)*n, in(x))
output f
)";

TEST(derive_algorithm, a_branch_knows_its_condition) {
  const LoopTree t = build(kBranched, "f.specialize(n == 2)\nf.specialize(n == 3)");
  EXPECT_EQ(to_text(t.algorithm), R"(algorithm 1
image in: int32, 1
param n: int32
param on: bool
f(x) = select(on, (in(x) + 1)*n, in(x))
instead of 0 if n == 2: f(x) = select(on, in(x)*2 + 2, in(x))
instead of 0 if n == 3: f(x) = select(on, in(x)*3 + 3, in(x))
output f
)");
}

// What its own condition says of a part does not hide that an earlier one fails as a whole.
TEST(derive_algorithm, a_branch_knows_that_earlier_ones_were_not_taken) {
  const LoopTree t = build(R"(param n: int32
param m: int32
f(x) = select(n >= 4 && m >= 8, x, select(n >= 2 && m >= 8, x*2, select(m >= 8, x*3, x*5)))
output f
)",
                           R"(f.specialize(n >= 4 && m >= 8)
f.specialize(n >= 2 && m >= 8)
f.specialize(m >= 8)
)");
  EXPECT_EQ(to_text(t.algorithm), R"(algorithm 1
param n: int32
param m: int32
f(x) = x*5
instead of 0 if n >= 4 && m >= 8: f(x) = x
instead of 0 if n >= 2 && m >= 8: f(x) = x*2
instead of 0 if m >= 8: f(x) = x*3
output f
)");
}

TEST(derive_algorithm, a_branch_starts_with_the_directives_so_far) {
  const std::string text = tree(kBranched, R"(f.split(x, xo, xi, 8, GuardWithIf)
f.specialize(n == 1)
f.vectorize(xi)
f.specialize(n == 1).unroll(xi)
p.compute_at(f, xo)
)");
  EXPECT_EQ(text, R"(if n == 1
  for f.s1.xo serial
    allocate p$f$b1
      for p$f$b1.s0.x serial
        p$f$b1.s0
      for f.s1.xi unrolled
        f.s1: x -> xo, xi by 8 GuardWithIf
else
  for f.s0.xo serial
    allocate p
      for p.s0.x serial
        p.s0
      for f.s0.xi vector
        f.s0: x -> xo, xi by 8 GuardWithIf
)");
}

// The sum between the two has no level of its own: it stands in each branch as well.
TEST(derive_algorithm, a_branch_has_the_producers_of_its_sums) {
  const std::string text = tree(R"(image in: int32, 1
param n: int32
p(x) = in(x) + 1
s(x) = 0
over r(0, 3): s(x) = s(x) + p(x + r)
g(x) = s(x)
f(x) = g(x)*n
output f
)",
                                R"(f.split(x, xo, xi, 8, GuardWithIf)
f.specialize(n == 1)
p.compute_at(f, xo)
g.compute_at(f, xi)
)");
  EXPECT_EQ(text, R"(if n == 1
  for f.s1.xo serial
    allocate p$s$g$f$b1$u0
      for p$s$g$f$b1$u0.s0.x serial
        p$s$g$f$b1$u0.s0
      for f.s1.xi serial
        allocate g$f$b1
          for g$f$b1.s0.x serial
            allocate s$g$f$b1
              for s$g$f$b1.s0.x serial
                s$g$f$b1.s0
              for s$g$f$b1.s1.x serial
                for s$g$f$b1.s1.r serial reduction
                  s$g$f$b1.s1
              g$f$b1.s0
          f.s1: x -> xo, xi by 8 GuardWithIf
else
  for f.s0.xo serial
    allocate p
      for p.s0.x serial
        p.s0
      for f.s0.xi serial
        allocate g
          for g.s0.x serial
            allocate s
              for s.s0.x serial
                s.s0
              for s.s1.x serial
                for s.s1.r serial reduction
                  s.s1
              g.s0
          f.s0: x -> xo, xi by 8 GuardWithIf
)");
}

TEST(derive_algorithm, trees_with_branches_read_back) {
  const LoopTree t = build(kBranched, R"(f.specialize(n == 1)
f.specialize(n == 1).split(x, xo, xi, 4, GuardWithIf)
f.specialize(n == 1).vectorize(xi)
f.specialize(n == 3)
f.specialize_fail("n is 1 or 3")
p.compute_root()
)");
  const std::string text = to_text(t);
  EXPECT_EQ(to_text(parse_tree(text, t.algorithm)), text);
}

TEST(derive_algorithm, schedules_with_derived_funcs_read_back) {
  const std::string text = R"(schedule 1
f_in_g = f.in(g)
a = f.in()
b = f.clone_in(g, h)
f_in_g.compute_at(g, x)
p = g.update(0).rfactor(ro, u, s, v)
g.update(0).atomic(true)
g.specialize(n == 3)
g.specialize(n == 3).specialize(n < 4).split(x, xo, xi, 8)
g.specialize_fail("no such n")
g.allow_race_conditions()
)";
  EXPECT_EQ(to_text(parse_schedule(text)), text);
  const auto list = parse_schedule(text);
  for (const std::string &form : {to_cpp(list), to_python(list)}) {
    const auto again = parse_schedule(form);
    ASSERT_EQ(again.size(), list.size()) << form;
    for (size_t i = 0; i < list.size(); i++) EXPECT_TRUE(same_directive(list[i], again[i])) << form;
  }
}

}  // namespace
}  // namespace polyhalite::derive_algorithm_test
