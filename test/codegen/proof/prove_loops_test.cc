// The second proof: it proves what lowering makes of legal schedules, and refuses loops in which a
// store, a cell, an order or a width was changed.
#include "codegen/proof/prove_loops.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"
#include "codegen/passes/lower.h"
#include "codegen/proof/check_loops.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "polyhedral/judge.h"

namespace polyhalite::prove_loops_test {
namespace {

using dataflow::Finding;

struct Lowered {
  LoopTree tree;
  Function loops;
  LoopProofOptions options;
};

Lowered lowered(const Func &f) {
  const FrozenPipeline frozen = freeze({f.function()});
  const Judged judged = build_and_judge(frozen.algorithm, frozen.directives);
  return {judged.tree, lower("p", judged.tree, judged.survey, {}),
          proof_options(judged.tree, judged.survey)};
}

std::string said(const std::vector<Finding> &findings) {
  std::string text;
  for (const Finding &f : findings) {
    text += (f.verdict == Finding::Proven      ? "proven "
             : f.verdict == Finding::Undecided ? "undecided "
                                               : "refused ") +
            f.func + (f.why.empty() ? "" : ": " + f.why) + "\n";
  }
  return text;
}

std::string proof_of(const Func &f) {
  const Lowered l = lowered(f);
  return said(prove_loops(l.tree.algorithm, l.loops, l.options));
}

// The proof of the loops whose text was changed.
template <typename Change>
std::string proof_of_changed(const Func &f, Change change) {
  const Lowered l = lowered(f);
  std::string text = to_text(l.loops);
  change(text);
  return said(prove_loops(l.tree.algorithm, parse_function(text), l.options));
}

// The proof of the loops with the first `from` that stands in them replaced.
std::string proof_with(const Func &f, const std::string &from, const std::string &to) {
  return proof_of_changed(f, [&](std::string &text) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in\n" << text;
    text.replace(at, from.size(), to);
  });
}

testing::AssertionResult says(const std::string &proof, const std::string &words) {
  if (proof.find(words) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << proof << "does not say " << words;
}

const Var x("x"), y("y"), xi("xi"), yi("yi");

struct Blur {
  Func in{"in"}, rows{"rows"}, blur{"blur"};
  Blur() {
    in(x, y) = x * y;
    rows(x, y) = in(x - 1, y) + in(x + 1, y);
    blur(x, y) = rows(x, y - 1) + rows(x, y) + rows(x, y + 1);
  }
};

constexpr char kBlurProven[] = "proven in\nproven rows\nproven blur\n";

TEST(ProveLoops, TilesInParallelWithTheirProducers) {
  Blur b;
  b.blur.tile(x, y, xi, yi, 32, 8).vectorize(xi, 8).parallel(y);
  b.rows.compute_at(b.blur, x).vectorize(x, 8, TailStrategy::RoundUp);
  b.in.compute_root().parallel(y);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, SlidingWindowsInRings) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).fold_storage(y, 4);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, GuardedAndBlendedTails) {
  Blur b;
  b.in.compute_root().split(x, x, xi, 8, TailStrategy::GuardWithIf);
  b.rows.compute_root().split(y, y, yi, 4, TailStrategy::Predicate);
  b.blur.split(x, x, xi, 16, TailStrategy::ShiftInwardsAndBlend);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

struct Sum {
  Func sum{"sum"}, out{"out"};
  RDom r{0, 20, "r"};
  Sum() {
    sum(x) = 0;
    sum(x) += x * r;
    out(x) = sum(x);
    sum.compute_root();
  }
};

// Each cell out of the one before it.
struct Scan {
  Func scan{"scan"}, out{"out"};
  RDom r{1, 30, "r"};
  Scan() {
    scan(x) = x;
    scan(r) = scan(r - 1) * 3;
    out(x) = scan(x);
    scan.compute_root();
  }
};

TEST(ProveLoops, ReductionsInAnyOrder) {
  Sum s;
  Var u("u");
  RVar ro("ro"), ri("ri");
  s.sum.update()
      .split(s.r, ro, ri, 4)
      .reorder(x, ri, ro)
      .vectorize(x, 8, TailStrategy::GuardWithIf);
  EXPECT_EQ(proof_of(s.out), "proven sum\nproven out\n");
}

TEST(ProveLoops, UpdatesThatReadWhatEarlierIterationsWrote) {
  RDom r(1, 30, "r");
  Func scan("scan"), out("out");
  scan(x, y) = x + y;
  scan(r, y) = scan(r - 1, y) * 3 - scan(r, y);
  out(x, y) = scan(x, y);
  scan.compute_root();
  scan.update().reorder(y, r).parallel(y);
  EXPECT_EQ(proof_of(out), "proven scan\nproven out\n");
}

TEST(ProveLoops, BranchesOfASpecialisedSchedule) {
  Blur b;
  Param<int> n("n");
  b.in.compute_root();
  b.rows.compute_root();
  b.blur.specialize(n > 3).vectorize(x, 4);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

// Each row of the second in the memory of the first.
struct InPlace {
  Func first{"first"}, second{"second"}, out{"out"};
  InPlace() {
    first(x, y) = x * 3 + y;
    second(x, y) = first(x, y) + first(x + 1, y) * 2;
    out(x, y) = second(x, y);
    first.compute_root();
    second.compute_root().in_place(first);
  }
};

TEST(ProveLoops, MemoryThatIsTakenInPlace) {
  InPlace p;
  p.second.parallel(y).split(x, x, xi, 4, TailStrategy::GuardWithIf);
  EXPECT_EQ(proof_of(p.out), "proven second\nproven out\n");
}

// What a reduction leaves is read by what takes its memory.
struct Mean {
  Func sum{"sum"}, mean{"mean"}, out{"out"};
  RDom r{0, 20, "r"};
  Mean() {
    sum(x) = 0;
    sum(x) += x * r;
    mean(x) = sum(x) / 20;
    out(x) = mean(x) + mean(x + 1);
    sum.compute_root();
    mean.compute_root().in_place(sum);
  }
};

TEST(ProveLoops, ReductionsWhoseMemoryIsTakenInPlace) {
  Mean m;
  m.sum.update().reorder(x, m.r).vectorize(x, 4, TailStrategy::GuardWithIf);
  EXPECT_EQ(proof_of(m.out), "proven mean\nproven out\n");
}

TEST(ProveLoops, MemoryInBlocks) {
  Blur b;
  b.in.compute_root().pack(x, 8);
  b.rows.compute_root().pack(x, 4).pack(y, 2).vectorize(x, 4);
  b.blur.tile(x, y, xi, yi, 8, 4).vectorize(xi);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, MemoryInBlocksInsideOfTiles) {
  Blur b;
  b.in.compute_at(b.blur, x).pack(y, 4);
  b.rows.compute_at(b.blur, x).pack(x, 8);
  b.blur.tile(x, y, xi, yi, 32, 8);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, RingsInBlocks) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).fold_storage(y, 4).pack(y, 2);
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, ReductionsInBlocks) {
  Func a("a"), b("b"), product("product"), out("out");
  RDom k(0, 24, "k");
  a(x, y) = x + y;
  b(x, y) = x - y;
  product(x, y) = 0;
  product(x, y) += a(k, y) * b(x, k);
  out(x, y) = product(x, y);
  a.compute_root().pack(y, 4);
  b.compute_root().pack(x, 8);
  product.compute_root().pack(x, 8).pack(y, 4).update().reorder(x, y, k).vectorize(
      x, 8, TailStrategy::GuardWithIf);
  EXPECT_EQ(proof_of(out), "proven a\nproven b\nproven product\nproven out\n");
}

TEST(ProveLoops, WholeProductionsOnAThreadOfTheirOwn) {
  Blur b;
  b.in.compute_root().async();
  b.rows.compute_root();
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, WindowsThatSlideOnAThreadOfTheirOwn) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).async();
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

TEST(ProveLoops, ProductionsThatRunAheadInARing) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).fold_storage(y, 8).async();
  EXPECT_EQ(proof_of(b.blur), kBlurProven);
}

// The consumer computes another Func in front of the loop in which it waits.
TEST(ProveLoops, TasksWithRowsOfTheirOwn) {
  Func ahead("ahead"), row("row"), out("out");
  ahead(x, y) = x + y;
  row(x, y) = x * y;
  out(x, y) = ahead(x, y) + row(x, y) + row(x + 1, y);
  ahead.compute_at(out, x).store_root().async();
  row.compute_at(out, y);
  EXPECT_EQ(proof_of(out), "proven ahead\nproven row\nproven out\n");
}

TEST(ProveLoops, WhereDataChooseTheCellNothingIsDecided) {
  RDom r(0, 50, "r");
  Func values("values"), counts("counts"), out("out");
  values(x) = cast<uint8_t>(x * 7);
  counts(x) = 0;
  counts(cast<int>(values(r))) += 1;
  out(x) = counts(x);
  values.compute_root();
  counts.compute_root();
  const std::string text = proof_of(out);
  EXPECT_TRUE(says(text, "undecided counts: definition 1 writes where data say\n"));
  EXPECT_EQ(text.find("refused"), std::string::npos) << text;
}

// -- Loops that were changed.

TEST(ProveLoopsRefuses, ARowThatIsNotComputed) {
  Blur b;
  b.in.compute_root();
  b.rows.compute_root();
  const std::string text =
      proof_with(b.blur, "for rows.s0.y in (blur.min.1 - 1, blur.extent.1 + 2)",
                 "for rows.s0.y in (blur.min.1 - 1, blur.extent.1 + 1)");
  EXPECT_TRUE(says(text, "refused rows: a statement of 'blur' reads a cell which nothing wrote: "));
}

TEST(ProveLoopsRefuses, AnOutputThatIsNotWritten) {
  Blur b;
  const std::string text = proof_with(b.blur, "for blur.s0.x in (blur.min.0, blur.extent.0)",
                                      "for blur.s0.x in (blur.min.0 + 1, blur.extent.0 - 1)");
  EXPECT_TRUE(says(text, "refused blur: the caller reads a cell which nothing wrote: "));
}

TEST(ProveLoopsRefuses, AStoreThatIsGone) {
  Blur b;
  b.rows.compute_root();
  const std::string text = proof_with(b.blur, "rows(rows.s0.x, rows.s0.y) =", "evaluate 0 == ");
  EXPECT_TRUE(says(text, "refused rows: a statement of 'blur' reads a cell which nothing wrote: "));
}

TEST(ProveLoopsRefuses, AnAllocationThatIsTooSmall) {
  Blur b;
  b.rows.compute_root();
  const std::string text = proof_with(b.blur, "allocate rows: int32(blur.min.0,",
                                      "allocate rows: int32(blur.min.0 + 1,");
  EXPECT_TRUE(says(text, "refused rows: a statement writes outside of its memory, "));
}

TEST(ProveLoopsRefuses, ARingThatIsTooSmall) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).fold_storage(y, 4);
  const std::string proof = proof_of_changed(b.blur, [](std::string &text) {
    for (size_t at = 0; (at = text.find("%4", at)) != std::string::npos;) text.replace(at, 2, "%2");
  });
  EXPECT_TRUE(says(proof,
                   "refused rows: a statement of 'blur' reads a cell and finds what another "
                   "instance left there: "));
}

TEST(ProveLoopsRefuses, ACellThatIsAnother) {
  Blur b;
  b.rows.compute_root();
  b.in.compute_root();
  const std::string text = proof_with(b.blur, "blur(blur.s0.x, blur.s0.y) = rows(blur.s0.x, ",
                                      "blur(blur.s0.x, blur.s0.y) = rows(blur.s0.x + 1, ");
  // It is no instance of the definition any more.
  EXPECT_TRUE(
      says(text, "undecided blur: a statement is not seen to be an instance of a definition"));
}

TEST(ProveLoopsRefuses, AScanThatRunsBackwards) {
  Scan s;
  const std::string proof = proof_of_changed(s.out, [](std::string &text) {
    const std::string from = "scan.s1.r";
    const size_t loop = text.find("for " + from);
    ASSERT_NE(loop, std::string::npos) << text;
    // for r in (1, 30) { S(r) }  ->  for r in (1, 30) { let q = 31 - r S(q) }
    const size_t body = text.find("{\n", loop) + 2, end = text.find("\n", body);
    std::string line = text.substr(body, end - body);
    for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += 9) {
      line.replace(at, from.size(), "backwards");
    }
    text.replace(body, end - body, "let backwards = 31 - " + from + "\n" + line);
  });
  EXPECT_TRUE(says(proof,
                   "refused scan: a statement of 'scan' reads a cell and finds what another "
                   "instance left there: "));
}

TEST(ProveLoopsRefuses, ARowThatIsOverwrittenBeforeItIsRead) {
  InPlace p;
  const std::string proof = proof_of_changed(p.out, [](std::string &text) {
    const std::string from = "second.s1.x";
    const size_t loop = text.find("for " + from);
    ASSERT_NE(loop, std::string::npos) << text;
    // The loop over x, from its end to its beginning.
    const size_t body = text.find("{\n", loop) + 2, end = text.find("\n", body);
    std::string line = text.substr(body, end - body);
    for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += 9) {
      line.replace(at, from.size(), "backwards");
    }
    text.replace(body, end - body,
                 "let backwards = out.min.0*2 + out.extent.0 - 1 - " + from + "\n" + line);
  });
  EXPECT_TRUE(says(proof,
                   "refused second: a statement of 'second' reads a cell and finds what another "
                   "instance left there: "));
}

TEST(ProveLoopsRefuses, AReductionThatIsTakenInPlaceTooEarly) {
  Mean m;
  const std::string text =
      proof_with(m.out, "for mean.s1.r in (0, 20)", "for mean.s1.r in (0, 19)");
  EXPECT_TRUE(says(text,
                   "refused mean: a statement of 'mean' reads a cell in which an instance of a "
                   "reduction is missing: "));
}

TEST(ProveLoopsRefuses, APlaceInABlockThatIsAnother) {
  Blur b;
  b.rows.compute_root().pack(x, 8);
  b.in.compute_root();
  const std::string proof = proof_of_changed(b.blur, [](std::string &text) {
    const size_t store = text.find("rows((");
    ASSERT_NE(store, std::string::npos) << text;
    const size_t place = text.find("%8", store);
    ASSERT_NE(place, std::string::npos) << text;
    text.replace(place, 2, "%4");
  });
  EXPECT_TRUE(
      says(proof, "undecided rows: a statement is not seen to be an instance of a definition"));
}

TEST(ProveLoopsRefuses, TooFewBlocks) {
  Blur b;
  b.rows.compute_root().pack(x, 8);
  b.in.compute_root();
  const std::string text =
      proof_with(b.blur, "(0, (max(blur.extent.0, 0) + 7)/8", "(0, max(blur.extent.0, 0)/8");
  EXPECT_TRUE(says(text, "refused rows: a statement writes outside of its memory, "));
}

// What is told of where blocks begin is no part of the proof.
TEST(ProveLoops, AWrongHintOfBlocksProvesNothing) {
  Blur b;
  b.rows.compute_root().pack(x, 8);
  b.in.compute_root();
  Lowered l = lowered(b.blur);
  BlockedDimension &hint = l.options.blocked.at("rows")[0];
  hint.min = make_binary(Op::Add, hint.min, Expr(1));
  EXPECT_TRUE(says(said(prove_loops(l.tree.algorithm, l.loops, l.options)),
                   "undecided rows: a statement is not seen to be an instance of a definition"));
  hint.min = make_variable(Int(32), VariableKind::Loop, "rows.s0.x");
  EXPECT_TRUE(says(said(prove_loops(l.tree.algorithm, l.loops, l.options)),
                   "undecided rows: its memory is laid out in blocks"));
}

// Atomic updates in parallel come in any order: right for sums, for others only where that is
// promised.
TEST(ProveLoopsRefuses, AtomicUpdatesInAnyOrder) {
  RDom r(0, 8, "r");
  Func last("last"), sum("sum");
  last(x) = 0;
  last(x) = last(x) * 2 + r;
  last.update().atomic(true).parallel(r);
  Lowered l = lowered(last);
  EXPECT_EQ(l.options.promised_orders, std::vector<std::string>{"last"});
  l.options.promised_orders.clear();
  EXPECT_TRUE(says(said(prove_loops(l.tree.algorithm, l.loops, l.options)),
                   "iterations of the parallel loop"));
  sum(x) = 0;
  sum(x) += r;
  sum.update().atomic().parallel(r);
  l = lowered(sum);
  EXPECT_FALSE(says(said(prove_loops(l.tree.algorithm, l.loops, l.options)), "refused"));
}

TEST(ProveLoopsRefuses, ATaskThatRunsTooFarAhead) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).fold_storage(y, 8).async();
  EXPECT_TRUE(says(proof_with(b.blur, "rows.room.0 = 6", "rows.room.0 = 7"),
                   "refused rows: a production that runs ahead writes a cell that is still to be "
                   "read, "));
  // Nothing limits it where it does not wait, or where it is told too early.
  EXPECT_TRUE(says(proof_with(b.blur, "acquire rows.room.0", "evaluate 0"),
                   "refused rows: a production that runs ahead writes a cell that is still to be "
                   "read, "));
  EXPECT_TRUE(says(proof_of_changed(b.blur,
                                    [](std::string &text) {
                                      const std::string told = "release rows.room.0\n";
                                      const size_t at = text.find(told);
                                      ASSERT_NE(at, std::string::npos) << text;
                                      text.erase(at, told.size());
                                      text.insert(text.find("for blur.s0.x"), told);
                                    }),
                   "refused rows: a production that runs ahead writes a cell that is still to be "
                   "read, "));
}

TEST(ProveLoopsRefuses, AConsumerThatDoesNotWait) {
  Blur b;
  b.in.compute_root();
  b.rows.store_root().compute_at(b.blur, y).async();
  EXPECT_TRUE(says(proof_with(b.blur, "acquire rows.ready.0", "evaluate 0"),
                   "undecided rows: its productions run at the same time as their uses"));
  // Told before it is there.
  EXPECT_TRUE(says(proof_of_changed(b.blur,
                                    [](std::string &text) {
                                      const std::string told = "release rows.ready.0\n";
                                      const size_t at = text.find(told);
                                      ASSERT_NE(at, std::string::npos) << text;
                                      text.erase(at, told.size());
                                      text.insert(text.find("produce rows"), told);
                                    }),
                   "undecided rows: its productions run at the same time as their uses: not all"));
  // The second task begins with another row than the first.
  EXPECT_TRUE(
      says(proof_of_changed(b.blur,
                            [](std::string &text) {
                              const std::string loop = "(blur.min.1, blur.extent.1)";
                              const size_t at = text.rfind(loop);
                              ASSERT_NE(at, std::string::npos) << text;
                              text.replace(at, loop.size(), "(blur.min.1 + 1, blur.extent.1)");
                            }),
           "undecided rows: its productions run at the same time as their uses: its tasks"));
}

TEST(ProveLoopsRefuses, ALoopThatIsNotParallel) {
  Scan s;
  const std::string text =
      proof_with(s.out, "for scan.s1.r in (1, 30) {", "for scan.s1.r in (1, 30) parallel {");
  EXPECT_TRUE(
      says(text, "refused scan: iterations of the parallel loop 'scan.s1.r' meet in a cell, "));
}

TEST(ProveLoopsRefuses, AReductionThatLeavesSomeOut) {
  Sum s;
  const std::string text = proof_with(s.out, "for sum.s1.r in (0, 20)", "for sum.s1.r in (0, 19)");
  EXPECT_TRUE(says(text,
                   "refused sum: a statement of 'out' reads a cell in which an instance of a "
                   "reduction is missing: "));
}

TEST(ProveLoopsRefuses, APointBesideTheReduction) {
  Sum s;
  RVar ro("ro"), ri("ri");
  s.sum.update().split(s.r, ro, ri, 4);
  const std::string text = proof_with(s.out, "for sum.s1.ri in (0, 4)", "for sum.s1.ri in (-1, 5)");
  EXPECT_TRUE(says(text, "refused sum: a statement runs outside of its reduction domain, "));
}

TEST(ProveLoopsRefuses, AReductionThatTakesSomeTwice) {
  Sum s;
  RVar ro("ro"), ri("ri");
  s.sum.update().split(s.r, ro, ri, 4);
  const std::string proof = proof_of_changed(s.out, [](std::string &text) {
    const size_t loop = text.find("for sum.s1.ri");
    ASSERT_NE(loop, std::string::npos) << text;
    text.insert(loop, "for again in (0, 2) {\n");
    text.insert(text.find("}", loop + 40), "}\n");
  });
  EXPECT_TRUE(says(proof, "refused sum: an instance of its reduction 1 is taken in twice, "));
}

}  // namespace
}  // namespace polyhalite::prove_loops_test
