// The region engine's golden texts: what is computed where, with which bounds.
#include "polyhedral/survey.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "polyhalite/error.h"
#include "verdict.h"

namespace polyhalite::survey_test {
namespace {

const char *kBlur = R"(image in: uint16, 2
bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y))/3u16
by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2))/3u16
output by
)";

std::string surveyed(const std::string &algorithm, const std::string &schedule) {
  try {
    const LoopTree tree = build_tree(algorithm_of(algorithm), directives(schedule));
    return to_text(tree, survey(tree));
  } catch (const CompileError &e) {
    return e.what();
  }
}

// The lines of `text` in which `word` stands.
std::string lines_with(const std::string &text, const std::string &word) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(word) != std::string::npos)
      found += line.substr(line.find_first_not_of(' ')) + '\n';
  }
  return found;
}

TEST(survey, inlined_pipeline_needs_the_stencil_of_the_input) {
  EXPECT_EQ(
      surveyed(kBlur, ""),
      R"(needs by [by.min.0, by.extent.0 + by.min.0 - 1] [by.min.1, by.extent.1 + by.min.1 - 1]
needs in [by.min.0, by.extent.0 + by.min.0 + 1] [by.min.1, by.extent.1 + by.min.1 + 1]
serial by.s0.y from by.min.1 extent by.extent.1
  serial by.s0.x from by.min.0 extent by.extent.0
    'by' x=by.s0.x y=by.s0.y
)");
}

// What is read at y*7 + x is no more than a tile of the loop over both.
TEST(survey, producer_in_a_tile_of_a_fused_loop) {
  const char *rows =
      "image in: float32, 1\ng(p) = in(p)*2.0f\nf(x, y) = g(y*7 + x) + 1.0f\noutput f\n";
  EXPECT_EQ(surveyed(rows,
                     "f.bound(x, 0, 7)\nf.bound(y, 0, 7)\nf.fuse(x, y, p)\n"
                     "f.split(p, po, pi, 5, ShiftInwards)\ng.compute_at(f, po)\n"),
            R"(assume f.min.0 >= 0
assume f.extent.0 + f.min.0 <= 7
assume f.min.1 >= 0
assume f.extent.1 + f.min.1 <= 7
needs f [0, 6] [0, 6]
needs in [0, 48]
serial f.s0.po from 0 extent 10
  let f.s0.p.base = min(f.s0.po*5, 44) >= 0 <= 44
  allocate g [f.s0.p.base, f.s0.p.base + 4]
    serial g.s0.p from f.s0.p.base extent 5
      'g' p=g.s0.p
    serial f.s0.pi from 0 extent 5
      'f' x=(f.s0.p.base + f.s0.pi)%7 y=(f.s0.p.base + f.s0.pi)/7
)");
}

TEST(survey, producer_in_a_shifted_tile_has_constant_storage) {
  EXPECT_EQ(surveyed(kBlur, "by.split(y, yo, yi, 32, ShiftInwards)\nbx.compute_at(by, yo)\n"),
            R"(assume by.extent.1 >= 32
needs by [by.min.0, by.extent.0 + by.min.0 - 1] [by.min.1, by.extent.1 + by.min.1 - 1]
needs in [by.min.0, by.extent.0 + by.min.0 + 1] [by.min.1, by.extent.1 + by.min.1 + 1]
serial by.s0.yo from 0 extent (by.extent.1 + 31)/32
  let by.s0.y.base = by.min.1 + min(by.extent.1 - 32, by.s0.yo*32) >= by.min.1 <= by.extent.1 + by.min.1 - 32
  allocate bx [by.min.0, by.extent.0 + by.min.0 - 1] [by.s0.y.base, by.s0.y.base + 33]
    serial bx.s0.y from by.s0.y.base extent 34
      serial bx.s0.x from by.min.0 extent by.extent.0
        'bx' x=bx.s0.x y=bx.s0.y
    serial by.s0.yi from 0 extent 32
      serial by.s0.x from by.min.0 extent by.extent.0
        'by' x=by.s0.x y=by.s0.y.base + by.s0.yi
)");
}

// Each of the splits shifts its last tile: where a tile of the inner one begins is known inside of the
// loop over its tiles only, and yet a tile of the outer one is all that is needed.
TEST(survey, producer_in_a_tile_of_tiles_that_shift) {
  EXPECT_EQ(surveyed("image in: float32, 1\ng(x) = in(x)*2.0f\nf(x) = g(x) + 1.0f\noutput f\n",
                     "f.split(x, xo, xv, 8, ShiftInwards)\nf.split(xo, xo, xu, 4, ShiftInwards)\n"
                     "g.compute_at(f, xo)\n"),
            R"(assume f.extent.0 >= 25
needs f [f.min.0, f.extent.0 + f.min.0 - 1]
needs in [f.min.0 + min(f.extent.0 - 8, 0), f.extent.0 + f.min.0 - 1]
serial f.s0.xo from 0 extent (f.extent.0 + 31)/32
  let f.s0.xo.base = min((f.extent.0 + 7)/8 - 4, f.s0.xo*4) >= 0 <= (f.extent.0 + 7)/8 - 4
  let g.lo.0 = f.min.0 + min(f.extent.0 - 8, f.s0.xo.base*8)
  let g.hi.0 = f.min.0 + min(f.s0.xo.base*8 + 24, f.extent.0 - 8) + 7
  allocate g [g.lo.0, g.lo.0 + 62]
    serial g.s0.x from g.lo.0 extent g.hi.0 - g.lo.0 + 1
      'g' x=g.s0.x
    serial f.s0.xu from 0 extent 4
      let f.s0.x.base = f.min.0 + min(f.s0.xo.base*8 + f.s0.xu*8, f.extent.0 - 8) >= f.min.0 <= f.extent.0 + f.min.0 - 8
      serial f.s0.xv from 0 extent 8
        'f' x=f.s0.x.base + f.s0.xv
)");
}

TEST(survey, the_condition_of_a_domain_cuts_what_is_read) {
  const char *algorithm = R"(image in: int32, 1
g(x) = in(x)
f(x, y) = 0
over r_x(0, 100), r_y(0, 50) where r_x < r_y && r_x >= 3: f(r_x, r_y) = g(r_x)
output f
)";
  const std::string text = surveyed(algorithm, "g.compute_at(f, r_y)");
  EXPECT_EQ(lines_with(text, "needs in"), "needs in [3, 48]\n");
  EXPECT_EQ(lines_with(text, "needs f"),
            "needs f [min(f.min.0, 3), max(f.extent.0 + f.min.0 - 1, 48)] "
            "[min(f.min.1, 1), max(f.extent.1 + f.min.1 - 1, 49)]\n");
  EXPECT_EQ(lines_with(text, "g.hi.0"),
            "let g.hi.0 = min(f.s1.r_y - 1, 48)\nserial g.s0.x from 3 extent g.hi.0 - 2\n");
}

// Iterations that the guard cuts read nothing beyond the last row.
TEST(survey, window_slides_and_folds_where_storage_outlives_production) {
  EXPECT_EQ(
      surveyed(kBlur,
               "by.split(y, yo, yi, 32, GuardWithIf)\n"
               "bx.compute_at(by, yi)\nbx.store_at(by, yo)\n"),
      R"(needs by [by.min.0, by.extent.0 + by.min.0 - 1] [by.min.1, by.extent.1 + by.min.1 - 1]
needs in [by.min.0, by.extent.0 + by.min.0 + 1] [by.min.1 + min(by.extent.1 - 1, 0), by.extent.1 + by.min.1 + 1]
serial by.s0.yo from 0 extent (by.extent.1 + 31)/32
  let bx.stored_lo.1 = by.min.1 + min(by.extent.1 - 1, by.s0.yo*32)
  let bx.stored_hi.1 = by.min.1 + min(by.s0.yo*32 + 31, by.extent.1 - 1) + 2
  allocate bx [by.min.0, by.extent.0 + by.min.0 - 1] [bx.stored_lo.1, bx.stored_lo.1 + 33] ring 0 4
    serial by.s0.yi from 0 extent 32
      let bx.lo.1 = by.min.1 + min(by.s0.yi + by.s0.yo*32, by.extent.1 - 1)
      let bx.new.1 = select(by.s0.yi <= 0, by.min.1 + min(by.s0.yi + by.s0.yo*32, by.extent.1 - 1), by.min.1 + min(by.extent.1, by.s0.yi + by.s0.yo*32) + 2) >= bx.lo.1
      serial bx.s0.y from bx.new.1 extent bx.lo.1 - bx.new.1 + 3
        serial bx.s0.x from by.min.0 extent by.extent.0
          'bx' x=bx.s0.x y=bx.s0.y
      serial by.s0.x from by.min.0 extent by.extent.0
        'by' x=by.s0.x y=by.min.1 + by.s0.yi + by.s0.yo*32 if by.min.1 + by.s0.yi + by.s0.yo*32 <= by.extent.1 + by.min.1 - 1
)");
}

// Each iteration of the shifted loop needs one vector more, the last one too: it has no loop.
TEST(survey, a_window_of_whole_tiles_has_always_one_that_is_new) {
  const std::string text =
      surveyed(kBlur,
               "by.split(x, x, xv, 16, ShiftInwards)\nby.vectorize(xv)\n"
               "by.split(y, yo, yi, 32, ShiftInwards)\nby.reorder(xv, x, yi, yo)\n"
               "bx.split(x, x, xv, 16, ShiftInwards)\nbx.vectorize(xv)\n"
               "bx.compute_at(by, x)\nbx.store_at(by, yo)\n");
  EXPECT_EQ(lines_with(text, "serial bx.s0.x"), "serial bx.s0.x from 0 extent 1\n");
}

// Of whole tiles all places in a tile are needed, which is a number though the tiles' is none.
TEST(survey, remainders_of_whole_tiles_are_all_there) {
  const char *algorithm = R"(image in: float32, 1
param n: int32
g(x) = in(x)
f(x) = g(x%8)
h(x) = f(x)
output h
)";
  auto of_tiles = [&](const std::string &size) {
    return lines_with(surveyed(algorithm, "h.bound(x, 0, n*" + size + ")\ng.compute_root()\n"),
                      "serial g.s0.x");
  };
  EXPECT_EQ(of_tiles("16"), "serial g.s0.x from 0 extent 8\n");
  EXPECT_EQ(of_tiles("4"), "serial g.s0.x from 0 extent g.hi.0 + 1\n");
}

// Each slides for itself, and what both have new is one range.
TEST(survey, windows_of_funcs_that_share_loops_slide) {
  const char *algorithm = R"(image in: float32, 2
a(x, y) = in(x, y)*2.0f
b(x, y) = in(x, y)*3.0f
f(x, y) = a(x, y)*b(x, y) + a(x, y + 1)*b(x, y + 1)
output f
)";
  const std::string text =
      surveyed(algorithm,
               "a.store_root()\na.compute_at(f, y)\nb.store_root()\nb.compute_at(f, y)\n"
               "b.compute_with(a, x)\n");
  EXPECT_EQ(
      text,
      R"(needs f [f.min.0, f.extent.0 + f.min.0 - 1] [f.min.1, f.extent.1 + f.min.1 - 1]
needs in [f.min.0, f.extent.0 + f.min.0 - 1] [f.min.1, f.extent.1 + f.min.1]
allocate a [f.min.0, f.extent.0 + f.min.0 - 1] [f.min.1, f.extent.1 + f.min.1] ring 0 2
  allocate b [f.min.0, f.extent.0 + f.min.0 - 1] [f.min.1, f.extent.1 + f.min.1] ring 0 2
    serial f.s0.y from f.min.1 extent f.extent.1
      let b.new.1 = select(f.s0.y <= f.min.1, f.s0.y, f.s0.y + 1) >= f.s0.y
      let a.new.1 = select(f.s0.y <= f.min.1, f.s0.y, f.s0.y + 1) >= f.s0.y
      let a.s0.y.shared_lo = min(a.new.1, b.new.1)
      serial a.s0.y from a.s0.y.shared_lo extent f.s0.y - a.s0.y.shared_lo + 2
        let a.s0.y.shared = max(a.new.1, min(a.s0.y, f.s0.y + 1)) >= a.new.1 <= f.s0.y + 1
        let b.s0.y.shared = max(b.new.1, min(a.s0.y, f.s0.y + 1)) >= b.new.1 <= f.s0.y + 1
        serial a.s0.x from f.min.0 extent f.extent.0
          'a' x=a.s0.x y=a.s0.y.shared if a.s0.y >= a.new.1 && a.s0.y <= f.s0.y + 1
          'b' x=a.s0.x y=b.s0.y.shared if a.s0.y >= b.new.1 && a.s0.y <= f.s0.y + 1
      serial f.s0.x from f.min.0 extent f.extent.0
        'f' x=f.s0.x y=f.s0.y
)");
}

// What a guarded iteration asks of both is one row, although one of them has named it.
TEST(survey, stages_that_share_a_guarded_row_have_one) {
  const std::string text = surveyed(R"(image in: float32, 2
a(y) = in(0, y)
b(y) = a(y)*2.0f
c(x, y) = a(y) + b(y) + in(x, y)
output c
)",
                                    "c.split(y, yo, yi, 4, GuardWithIf)\n"
                                    "a.compute_at(c, yi)\nb.compute_at(c, yi)\n");
  EXPECT_EQ(lines_with(text, "allocate"),
            "allocate a [b.lo.0, b.lo.0]\nallocate b [b.lo.0, b.lo.0]\n");
}

// Each stage of a chain computes one new row, whose bounds are as short as the first stage's.
TEST(survey, every_stage_of_a_chain_slides) {
  const std::string text = surveyed(R"(image in: uint8, 1
f(y) = in(y)
g(y) = f(y) + f(y + 2)
h(y) = g(y) + g(y + 2)
i(y) = h(y) + h(y + 2)
output i
)",
                                    "f.compute_at(i, y)\nf.store_root()\n"
                                    "g.compute_at(i, y)\ng.store_root()\n"
                                    "h.compute_at(i, y)\nh.store_root()\n");
  EXPECT_EQ(lines_with(text, ".new."),
            R"(let h.new.0 = select(i.s0.y <= i.min.0, i.s0.y, i.s0.y + 2) >= i.s0.y
let g.new.0 = select(i.s0.y <= i.min.0, i.s0.y, i.s0.y + 4) >= h.new.0
let f.new.0 = select(i.s0.y <= i.min.0, i.s0.y, i.s0.y + 6) >= g.new.0
serial f.s0.y from f.new.0 extent i.s0.y - f.new.0 + 7
serial g.s0.y from g.new.0 extent i.s0.y - g.new.0 + 5
serial h.s0.y from h.new.0 extent i.s0.y - h.new.0 + 3
)");
}

// The update reads beside what g needs of f; new rows have no more of its value than g reads.
TEST(survey, an_update_of_a_window_runs_over_what_every_iteration_needs) {
  constexpr const char *kAlgorithm = R"(image in: int32, 2
f(x, y) = in(x, y)
f(0, y) = f(0, y) + f(1, y) + f(9, y)
f(x, y) = f(x, y)*3
g(x, y) = f(x, y) + f(x, y + 1)
output g
)";
  constexpr const char *kSchedule = "g.bound(x, 0, 4)\nf.compute_at(g, y)\nf.store_root()\n";
  EXPECT_EQ(verdict(kAlgorithm, kSchedule), "legal");
  const std::string text = surveyed(kAlgorithm, kSchedule);
  EXPECT_EQ(lines_with(text, "serial f"), R"(serial f.s0.y from f.new.1 extent g.s0.y - f.new.1 + 2
serial f.s0.x from 0 extent 10
serial f.s1.y from f.new.1 extent g.s0.y - f.new.1 + 2
serial f.s2.y from f.new.1 extent g.s0.y - f.new.1 + 2
serial f.s2.x from 0 extent 4
)");
}

// What g needs of f's rows moves with y, so that an earlier iteration has not computed it.
TEST(survey, an_update_of_a_window_runs_over_all_where_iterations_need_different_parts) {
  const std::string text = surveyed(R"(image in: int32, 2
f(x, y) = in(x, y)
f(0, y) = f(0, y) + f(90, y)
f(x, y) = f(x, y)*3
g(x, y) = f(x + max(min(y, 5), 0), y) + f(x + max(min(y, 5), 0), y + 1)
output g
)",
                                    "g.bound(x, 0, 4)\nf.compute_at(g, y)\nf.store_root()\n");
  EXPECT_EQ(lines_with(text, "serial f.s2"),
            "serial f.s2.y from f.new.1 extent g.s0.y - f.new.1 + 2\n"
            "serial f.s2.x from 0 extent 91\n");
}

TEST(survey, a_window_along_vectors_is_not_folded_and_says_so) {
  constexpr const char *kAlgorithm = R"(image in: uint8, 1
f(x) = in(x)
g(x) = f(x) + f(x + 2)
output g
)";
  const std::string schedule =
      "g.split(x, xo, xi, 8)\ng.vectorize(xi)\nf.compute_at(g, xo)\nf.store_root()\n";
  testing::internal::CaptureStderr();
  const Judged j = judged(kAlgorithm, schedule);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "test:4: Warning: 'f' is not folded along 'x', over which its window slides\n"
            "  why: vectors run along 'x', which a ring would break in two\n"
            "  fix: f.fold_storage(x, 16) makes it a ring all the same\n");
  EXPECT_EQ(j.survey.funcs[0].fold, std::vector<int64_t>{0});
  testing::internal::CaptureStderr();
  judged(kAlgorithm, schedule + "f.fold_storage(x, 16)\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "it is what the message asks for";
}

TEST(survey, windows_that_do_not_overlap_do_not_slide) {
  EXPECT_EQ(surveyed(R"(image in: uint8, 1
f(x) = in(x)
g(x) = f(2*x) + f(2*x + 1)
output g
)",
                     "f.compute_at(g, x)\nf.store_root()\n"),
            R"(needs g [g.min.0, g.extent.0 + g.min.0 - 1]
needs in [g.min.0*2, g.extent.0*2 + g.min.0*2 - 1]
allocate f [g.min.0*2, g.extent.0*2 + g.min.0*2 - 1]
  serial g.s0.x from g.min.0 extent g.extent.0
    serial f.s0.x from g.s0.x*2 extent 2
      'f' x=f.s0.x
    'g' x=g.s0.x
)");
}

TEST(survey, vectors_need_constant_extents) {
  EXPECT_EQ(surveyed(kBlur, "by.vectorize(x)\n"),
            R"(test:1: error: cannot vectorize loop 'x' of 'by': its extent is not a constant
  why: the extent is by.extent.0
  fix: vectorize(x, N) splits by N first; or bound() 'x' to a constant extent)");
}

TEST(survey, shared_loops_of_funcs_that_read_each_other_are_refused) {
  EXPECT_EQ(surveyed(R"(f(x) = x
g(x) = 0
g(x) = g(x) + 1
g(3) = f(3)
h(x) = f(x) + g(x)
output h
)",
                     "f.compute_root()\ng.compute_root()\ng.update(0).compute_with(f, x)\n"),
            R"(test:3: error: cannot compute update 0 of 'g' with 'f'
  why: 'g' reads 'f'
  fix: compute stages with each other whose Funcs do not read each other)");
}

TEST(survey, shared_loops_with_a_func_between_them_are_refused) {
  EXPECT_EQ(surveyed(R"(f(x) = x
f(0) = 0
m(x) = f(x)
g(x) = 0
g(x) = g(x) + m(x)
h(x) = f(x) + g(x)
output h
)",
                     "f.compute_root()\nm.compute_root()\ng.compute_root()\n"
                     "g.compute_with(f, x)\n"),
            R"(test:4: error: cannot compute 'g' with 'f'
  why: a Func between them needs the one and is needed by the other
  fix: compute stages with each other that no other Func separates)");
}

TEST(survey, unbounded_reads_are_refused) {
  EXPECT_EQ(surveyed(R"(image in: int32, 1
f(x) = in(x)
g(x) = f(in(x))
output g
)",
                     "f.compute_root()\n"),
            R"(algorithm:3: error: the region of 'f' that is needed in dimension 0 (x) is unbounded
  why: an index of a read of 'f' comes from data, and nothing limits its values
  fix: clamp the index, as in f(clamp(i, 0, n - 1)), or give 'f' a bound())");
}

// The caller's buffer of an output has no more than what the caller asked for.
TEST(survey, unbounded_reads_of_outputs_are_refused) {
  EXPECT_EQ(surveyed(R"(image in: int32, 1
f(x) = in(x)
g(x) = f(in(x))
output g, f
)",
                     ""),
            R"(algorithm:3: error: the region of 'f' that is needed in dimension 0 (x) is unbounded
  why: an index of a read of 'f' comes from data, and nothing limits its values
  fix: clamp the index, as in f(clamp(i, 0, n - 1)), or give 'f' a bound())");
}

TEST(judge, sliding_windows_are_certified) {
  const Judgement j = judgement(kBlur,
                                "by.split(y, yo, yi, 32, GuardWithIf)\n"
                                "bx.compute_at(by, yi)\nbx.store_at(by, yo)\n");
  ASSERT_TRUE(j.legal());
  EXPECT_EQ(proof_of(j, 'd', "storage of 'bx'"),
            "isl: the window over y slides one way, in a ring of 4 that holds it");
}

}  // namespace
}  // namespace polyhalite::survey_test
