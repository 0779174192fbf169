// why_not() and legal_alternatives(): what a schedule may say next, asked without saying it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::questions_test {
namespace {

const Target kHost = get_host_target();

// "legal", or the diagnostic without its place, which is `line` of this file.
template <typename P>
std::string answer(const P &p, const std::string &directives, const Target &target = kHost) {
  const int line = __LINE__ + 1;
  const auto why = p.why_not(directives, target);
  if (!why) return "legal";
  EXPECT_EQ(why->where.file, __FILE__);
  EXPECT_EQ(why->where.line, line) << why->to_string();
  Diagnostic d = *why;
  d.where = {};
  return d.to_string();
}

std::string joined(const std::vector<std::string> &list) {
  std::string s;
  for (std::string entry : list) {
    std::replace(entry.begin(), entry.end(), '\n', ';');
    s += entry + "\n";
  }
  return s;
}

// Gauss-Seidel: a sweep reads what it has just written above and to the left.
struct Sweep {
  Var x{"x"}, y{"y"};
  RDom r{1, 8, 1, 6, "r"};
  Func f{"f"};
  Sweep() {
    f(x, y) = x + y;
    f(r.x, r.y) = f(r.x - 1, r.y) + f(r.x + 1, r.y - 1);
  }
};

TEST(WhyNot, NamesTheInstancesThatADirectiveWouldBreak) {
  const Sweep s;
  EXPECT_EQ(answer(s.f, "f.update(0).parallel(r_y)"),
            "error: cannot run loop 'r_y' of update 0 of 'f' in parallel\n"
            "  why: f at (r_y=2, r_x=1) reads f(2, 1), which (r_y=1, r_x=2) writes\n"
            "  fix: keep 'r_y' serial");
  EXPECT_EQ(answer(s.f, "f.update(0).reorder(r_y, r_x)"),
            "error: cannot reorder 'r_y' inside 'r_x' on update 0 of 'f'\n"
            "  why: f at (r_y=2, r_x=1) reads what (r_y=1, r_x=2) writes; with r_x outside, (1,2) "
            "would run after (2,1)\n"
            "  fix: keep r_y outside r_x, or skew r_x by r_y first");
  EXPECT_EQ(answer(s.f, "f.update(0).skew(r_x, r_y, r_x, 1)\nf.update(0).reorder(r_y, r_x)"),
            "legal");
}

TEST(WhyNot, TakesTheScheduleSoFarIntoAccount) {
  Sweep s;
  const std::string exchange = "f.update(0).reorder(r_y, u)\nf.update(0).parallel(r_y)";
  EXPECT_NE(answer(s.f, exchange), "legal");
  s.f.update().skew(s.r.x, s.r.y, Var("u"), 2);
  EXPECT_EQ(answer(s.f, exchange), "legal");
}

TEST(WhyNot, ChangesNothing) {
  Sweep s;
  Func g("g"), out("out");
  g(s.x, s.y) = s.f(s.x, s.y) * 2;
  out(s.x, s.y) = g(s.x, s.y) + g(s.x, s.y + 1);
  LoopLevel level;
  level.set(LoopLevel(out, s.y));
  g.compute_at(level);
  out.vectorize(s.x, 4);
  // Asked before anything else looks at the pipeline.
  EXPECT_EQ(answer(out, "out.parallel(y)"), "legal");
  EXPECT_NE(answer(out, "f.update(0).parallel(r_x)"), "legal");
  EXPECT_FALSE(out.legal_alternatives(g, kHost).empty());
  // Nothing is settled by it: levels may be set, and Funcs defined.
  level.set(LoopLevel::root());
  out(s.x, s.y) += 1;
  const std::string before = out.emit_text(Emit::schedule) + out.emit_text(Emit::tree);
  EXPECT_EQ(answer(out, "out.parallel(y)"), "legal");
  EXPECT_EQ(answer(out, "out.tile(x)"), answer(out, "out.tile(x)"));
  EXPECT_FALSE(out.legal_alternatives(out, kHost).empty());
  EXPECT_EQ(out.emit_text(Emit::schedule) + out.emit_text(Emit::tree), before);
}

TEST(WhyNot, AnswersWhatIsWrongWithTheQuestion) {
  const Sweep s;
  EXPECT_EQ(answer(s.f, ""),
            "error: the question has no directive\n  why: the text is empty\n"
            "  fix: ask about one, as in \"f.parallel(y)\"");
  EXPECT_EQ(answer(s.f, "f.paralel(y)").substr(0, 35), "error: unknown directive 'paralel'\n");
  EXPECT_EQ(answer(s.f, "f.parallel(y"),
            "error: expected ')' after the arguments, found the end of the text");
  EXPECT_EQ(answer(s.f, "parallel y"),
            "error: expected a directive: FUNC.DIRECTIVE(...) after 'parallel'");
  EXPECT_EQ(answer(s.f, "f.parallel(z)"),
            "error: cannot parallelize 'z': 'f' has no such loop\n"
            "  fix: its loops are, outermost first: y, x");
  EXPECT_EQ(answer(s.f, "g.parallel(x)"),
            "error: cannot parallelize 'g': the pipeline has no such Func\n"
            "  fix: name one of: f");
  EXPECT_EQ(answer(s.f, "f.update(3).parallel(x)"),
            "error: cannot parallelize update 3 of 'f': there is no such update\n"
            "  fix: 'f' has 1 of them");
  EXPECT_EQ(answer(s.f, "f.compute_at(f, x)"),
            "error: cannot compute 'f' at a loop of 'f': it is an output of the pipeline\n"
            "  why: the caller's buffer holds it whole\n"
            "  fix: leave it at root, or make another Func the output");
  EXPECT_EQ(answer(s.f, "f.vectorize(x)"),
            "error: cannot vectorize loop 'x' of 'f': its extent is not a constant\n"
            "  why: the extent is f.extent.0\n"
            "  fix: vectorize(x, N) splits by N first; or bound() 'x' to a constant extent");
  EXPECT_EQ(answer(s.f, "f.gpu_blocks(x)"),
            "error: cannot gpu_blocks on 'f': a GPU is not available\n"
            "  why: code is made for the processor only\n"
            "  fix: leave the directive out");
  EXPECT_EQ(message_of([] { Pipeline().why_not("f.parallel(y)"); }),
            "error: an undefined Pipeline is compiled\n  why: it has no outputs\n"
            "  fix: construct it from its output Funcs");
  Func undefined("undefined");
  EXPECT_EQ(undefined.why_not("undefined.parallel(x)")->what, "output 'undefined' is undefined");
}

// A reporter of the program hears of errors, not of answers.
TEST(WhyNot, TellsNoReporter) {
  struct Reporter : CompileTimeErrorReporter {
    void warning(const char *) override {}
    [[noreturn]] void error(const char *message) override { throw std::runtime_error(message); }
  } reporter;
  const Sweep s;
  set_custom_compile_time_error_reporter(&reporter);
  const std::string text = answer(s.f, "f.parallel(z)");
  set_custom_compile_time_error_reporter(nullptr);
  EXPECT_NE(text.find("'z'"), std::string::npos);
}

TEST(WhyNot, SplitsAsTheLanguageDoes) {
  Var x("x"), y("y");
  Func f("f");
  f(x, y) = x + y;
  f.vectorize(x, 8);
  EXPECT_EQ(answer(f, "f.vectorize(x, 4)\nf.parallel(y, 16)\nf.serial(x_v1)"), "legal");
  EXPECT_EQ(answer(f, "f.unroll(y, 4, GuardWithIf)\nf.parallel(y_u)"), "legal");
  EXPECT_EQ(answer(f, "f.parallel(y, 16)"), "legal");
  EXPECT_EQ(answer(f, "f.unroll(y, 0)"),
            "error: cannot split 'y' of 'f' by 0\n"
            "  why: a split needs a factor of at least 1");
}

TEST(WhyNot, KnowsTheTarget) {
  Var x("x"), y("y");
  Func f("f");
  f(x, y) = x + y;
  const std::string blocks = "f.gpu_blocks(y)\nf.gpu_threads(x)";
  EXPECT_EQ(answer(f, blocks),
            "error: cannot gpu_blocks on 'f': a GPU is not available\n"
            "  why: code is made for the processor only\n"
            "  fix: leave the directive out");
  EXPECT_EQ(answer(f, blocks, Target("x86-64-linux-cuda-cuda_capability_80")), "legal");
}

TEST(LegalAlternatives, AreWhatTheJudgeAccepts) {
  Sweep s;
  EXPECT_EQ(joined(s.f.legal_alternatives(s.f.update(), kHost)),
            "f.update(0).atomic(false);f.update(0).vectorize(r_x)\n"
            "f.update(0).unroll(r_x)\n"
            "f.update(0).unroll(r_y)\n"
            "f.update(0).skew(r_x, r_y, r_x, 1);f.update(0).reorder(r_y, r_x)\n"
            "f.update(0).split(r_x, r_x, r_x_i, 32)\n"
            "f.update(0).split(r_y, r_y, r_y_i, 32)\n"
            "f.update(0).fuse(r_x, r_y, r_x_r_y)\n");
  EXPECT_EQ(joined(s.f.legal_alternatives(s.f, Target("x86-64-linux-avx2"))),
            "f.parallel(x)\n"
            "f.split(x, x, x_v, 8);f.vectorize(x_v)\n"
            "f.split(x, x, x_u, 4);f.unroll(x_u)\n"
            "f.parallel(y)\n"
            "f.split(y, y, y_v, 8);f.vectorize(y_v)\n"
            "f.split(y, y, y_u, 4);f.unroll(y_u)\n"
            "f.reorder(y, x)\n"
            "f.split(x, x, x_i, 32)\n"
            "f.split(y, y, y_i, 32)\n"
            "f.fuse(x, y, x_y)\n"
            "f.reverse(x)\n"
            "f.reverse(y)\n");
}

TEST(LegalAlternatives, PlaceProducers) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = x + y;
  g(x, y) = f(x, y) + f(x, y + 1);
  EXPECT_EQ(joined(g.legal_alternatives(f, kHost)),
            "f.compute_root()\n"
            "f.compute_at(g, y)\n"
            "f.compute_at(g, x)\n");
}

// A stage that takes over the vectors of what reads it has loops that nobody named.
TEST(LegalAlternatives, NameWhatCanBeSaid) {
  Var x("x"), y("y");
  Func a("a"), w("w"), out("out");
  RDom r(0, 9, "r");
  a(x) = x * 3;
  w(y) = 0;
  w(y) += a(r) * y;
  out(x) = w(x);
  a.compute_root();
  out.vectorize(x, 8);
  const std::string steps =
      joined(out.legal_alternatives(a, kHost)) + joined(out.legal_alternatives(w, kHost));
  EXPECT_NE(steps.find("a.compute_at(w.update(0), r)\n"), std::string::npos) << steps;
  EXPECT_EQ(steps.find('$'), std::string::npos) << steps;
}

TEST(LegalAlternatives, BlocksAndMemoryOfProducers) {
  Var x("x"), y("y");
  Func f("f"), g("g"), h("h");
  f(x, y) = x + y;
  g(x, y) = f(x, y) + f(x + 1, y);
  h(x, y) = g(x, y) + g(x, y + 1);
  f.compute_root();
  g.compute_root();
  auto lists = [&](const Func &of, const std::string &step) {
    const std::vector<std::string> steps = h.legal_alternatives(of, Target("x86-64-linux-avx2"));
    return std::count(steps.begin(), steps.end(), step) == 1;
  };
  EXPECT_TRUE(lists(f, "f.pack(x, 8)"));
  EXPECT_TRUE(lists(g, "g.in_place(f)"));
  EXPECT_FALSE(lists(h, "h.pack(x, 8)"));
  g.reverse(x);
  EXPECT_FALSE(lists(g, "g.in_place(f)"));
}

TEST(LegalAlternatives, FactorReductions) {
  Var x("x");
  RDom r(0, 100, "r");
  ImageParam in(Int(32), 1, "in");
  Func sum("sum");
  sum(x) += in(x + r);
  const std::vector<std::string> steps = sum.legal_alternatives(sum.update(), kHost);
  const auto lists = [&](const std::string &step) {
    return std::count(steps.begin(), steps.end(), step) == 1;
  };
  EXPECT_FALSE(lists("sum.update(0).parallel(r)"));
  EXPECT_TRUE(lists("sum.update(0).atomic(false)\nsum.update(0).parallel(r)"));
  EXPECT_TRUE(lists("sum.update(0).parallel(x)"));
  EXPECT_FALSE(lists("sum.update(0).atomic(false)\nsum.update(0).parallel(x)"));
  EXPECT_TRUE(lists("sum_intm = sum.update(0).rfactor(r, r_p)"));
  EXPECT_TRUE(lists("sum.update(0).reorder(x, r)"));
}

// Each is legal as it is said.
TEST(LegalAlternatives, AreTextsForWhyNot) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  RDom r(0, 4, "r");
  f(x, y) = x * 3 + y;
  f(x, y) += r;
  g(x, y) = f(x, y) + f(x + 1, y + 1);
  const Pipeline p(g);
  for (const Stage &stage : {Stage(f), f.update(), Stage(g)}) {
    for (const std::string &step : p.legal_alternatives(stage, kHost)) {
      EXPECT_EQ(answer(p, step), "legal") << step;
    }
  }
}

TEST(LegalAlternatives, ForAStageOfThePipelineOnly) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x;
  g(x) = x;
  EXPECT_EQ(message_of([&] { f.legal_alternatives(g, kHost); }),
            at(__LINE__ - 1) +
                "error: cannot list what may be said of 'g'\n"
                "  why: it is no stage of this pipeline\n  fix: ask for one of: f");
  Stage branch = f.specialize(f.output_buffer().width() == 8);
  EXPECT_EQ(message_of([&] { f.legal_alternatives(branch, kHost); }),
            at(__LINE__ - 1) +
                "error: cannot list what may be said of 'f' where it is specialized\n"
                "  why: directives on a branch are not listed, those on its stage are\n"
                "  fix: ask for the stage itself, or why_not() about one directive");
  Sweep s;
  s.f.update().parallel(s.r.y);
  EXPECT_EQ(message_of([&] { s.f.legal_alternatives(s.f.update(), kHost); }),
            at(__LINE__ - 2) +
                "error: cannot run loop 'r_y' of update 0 of 'f' in parallel\n"
                "  why: f at (r_y=2, r_x=1) reads f(2, 1), which (r_y=1, r_x=2) writes\n"
                "  fix: keep 'r_y' serial");
}

}  // namespace
}  // namespace polyhalite::questions_test
