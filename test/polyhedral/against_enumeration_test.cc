// The judge against the brute-force judge, in both directions, on random updates under random
// reorderings, splits, fuses and parallel and vector loops: affine subscripts and constant sizes,
// so that both are exact.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "polyhedral/oracle/brute_force.h"
#include "polyhedral/verdict.h"

namespace polyhalite::against_enumeration_test {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <typename T>
  T &pick(std::vector<T> &list) {
    return list[between(0, static_cast<int>(list.size()) - 1)];
  }

 private:
  std::mt19937 engine_;
};

std::string subscript(Draw &draw, const std::string &first, const std::string &second) {
  std::vector<std::string> forms = {first,
                                    second,
                                    first + " + " + second,
                                    first + " - " + second + " + 6",
                                    first + " + 1",
                                    first + " - 1",
                                    second + " + 2",
                                    "2*" + first,
                                    "2*" + second + " + 1",
                                    first + "/2",
                                    second + "%3",
                                    "min(" + first + ", " + second + ")",
                                    "max(" + first + " - 2, 1)",
                                    "5",
                                    "6 - " + first};
  return draw.pick(forms);
}

std::string random_algorithm(Draw &draw) {
  const bool pure = draw.chance(30);  // a pure variable beside the reduction
  auto cell = [&] {
    const std::string at = subscript(draw, "r", "s");
    return pure ? "f(x, " + at + ")" : "f(" + at + ")";
  };
  std::string text = pure ? "f(x, y) = x + y\n" : "f(x) = x\n";
  text += "over r(1, " + std::to_string(draw.between(3, 6)) + "), s(" +
          std::to_string(draw.between(0, 2)) + ", " + std::to_string(draw.between(2, 5)) + ")";
  std::vector<std::string> predicates = {"r < s", "r + s != 4", "r <= s + 1 && s < 4",
                                         "r == s || s == 2"};
  if (draw.chance(30)) text += " where " + draw.pick(predicates);
  // What the last two do depends on s: it may be a phase.
  std::vector<std::string> conditions = {"s == 0", "s == 1", "s < 2", "r < s", "r != s + 1"};
  const int form = draw.between(0, 5);
  const std::string condition = draw.pick(conditions);
  auto chosen = [&](const std::string &a, const std::string &b) {
    return "select(" + condition + ", " + a + ", " + b + ")";
  };
  std::string written = cell();
  if (form == 5) {
    const std::string at = chosen(subscript(draw, "r", "s"), subscript(draw, "s", "r"));
    written = pure ? "f(x, " + at + ")" : "f(" + at + ")";
  }
  text += ": " + written + " = ";
  if (form == 0) text += written + " + r";    // a reduction
  if (form == 1) text += written + "*2 + s";  // the order counts
  if (form == 2) text += cell() + "*2 + r";   // reads elsewhere
  if (form == 3) text += cell() + " - " + cell() + "*3";
  if (form == 4) text += chosen(cell() + "*2", draw.chance(50) ? cell() : "r");
  if (form == 5) text += chosen(cell() + "*2", cell() + " + r");
  return text + "\noutput f\n";
}

std::string random_schedule(Draw &draw, const std::string &algorithm, bool skewed) {
  std::string text;
  std::vector<std::string> loops = {"s", "r"};
  if (algorithm.find("f(x, y)") == 0) {
    loops.insert(loops.begin(), "x");
    // Where its loop is one of a sum, other extents could tell more than the one that is
    // enumerated.
    if (skewed) text += "f.bound(x, 0, 2)\n";
  }
  int made = 0;
  auto name = [&] { return "v" + std::to_string(made++); };
  // Loops in other coordinates; of skewed ones more fall apart later on.
  auto recount = [&](int percent) {
    if (percent == 0 || !draw.chance(percent)) return;
    const std::string a = draw.pick(loops), b = draw.pick(loops);
    const int by = draw.between(1, 3) * (draw.chance(70) ? 1 : -1);
    if (draw.chance(15)) {
      text += "f.update(0).reverse(" + a + ")\n";
    } else if (draw.chance(15)) {
      text += "f.update(0).shift(" + a + ", " + std::to_string(by) + ")\n";
    } else if (a != b) {
      text += "f.update(0).skew(" + a + ", " + b + ", " + a + ", " + std::to_string(by) + ")\n";
    }
  };
  const int skews = skewed ? 60 : 0;
  recount(skews);
  recount(skews / 2);
  for (int i = draw.between(0, 2); i > 0; i--) {
    const std::string old = draw.pick(loops), outer = name(), inner = name();
    text += "f.update(0).split(" + old + ", " + outer + ", " + inner + ", " +
            std::to_string(draw.between(2, 4)) + ", GuardWithIf)\n";
    std::erase(loops, old);
    loops.push_back(outer);
    loops.push_back(inner);
  }
  recount(skews);
  if (draw.chance(skewed ? 15 : 40)) {
    const std::string a = draw.pick(loops), b = draw.pick(loops), fused = name();
    if (a != b) {
      text += "f.update(0).fuse(" + a + ", " + b + ", " + fused + ")\n";
      std::erase(loops, a);
      std::erase(loops, b);
      loops.push_back(fused);
    }
  }
  if (draw.chance(25)) {
    const std::string old = draw.pick(loops), outer = name(), inner = name();
    text += "f.update(0).split(" + old + ", " + outer + ", " + inner + ", 2, GuardWithIf)\n";
    std::erase(loops, old);
    loops.push_back(outer);
    loops.push_back(inner);
  }
  if (draw.chance(80)) {
    for (size_t i = loops.size(); i > 1; i--) {
      std::swap(loops[i - 1], loops[draw.between(0, static_cast<int>(i) - 1)]);
    }
    text += "f.update(0).reorder(";
    for (size_t i = 0; i < loops.size(); i++) text += (i ? ", " : "") + loops[i];
    text += ")\n";
  }
  if (draw.chance(40)) text += "f.update(0).parallel(" + draw.pick(loops) + ")\n";
  return text;
}

void compare_with_enumeration(unsigned first_seed, bool skewed) {
  int legal = 0, refused = 0, undecided = 0, hidden = 0;
  for (unsigned seed = first_seed; seed < first_seed + 1500; seed++) {
    Draw draw(seed);
    const std::string algorithm = random_algorithm(draw);
    const std::string schedule = random_schedule(draw, algorithm, skewed);
    LoopTree tree;
    Survey regions;
    try {
      tree = build_tree(algorithm_of(algorithm), directives(schedule));
      regions = survey(tree);
    } catch (const CompileError &) {
      continue;  // fusing a parallel loop and the like
    }
    const Judgement j = judge(tree, regions);
    oracle::Experiment experiment;
    const size_t dimensions = tree.algorithm.funcs[0].args.size();
    experiment.buffers["f"] = {{-6, 26}};
    if (dimensions == 2) experiment.buffers["f"] = {{0, 2}, {-6, 26}};
    const oracle::Enumeration e = oracle::enumerate(tree, regions, experiment);
    ASSERT_EQ(e.unmet, "") << algorithm << schedule;
    if (j.refusal && j.refusal->proof == Proof::Undecided) {
      undecided++;
      continue;
    }
    (j.legal() ? legal : refused)++;
    // Two writes in the wrong order that a third one hides: the judge looks at memory, not values.
    if (j.refusal && e.legal() &&
        j.refusal->diagnostic.why.find("overwrites what") != std::string::npos) {
      hidden++;
      continue;
    }
    EXPECT_EQ(j.legal(), e.legal())
        << "seed " << seed << "\n"
        << algorithm << schedule
        << (j.legal() ? e.violation->text : j.refusal->diagnostic.to_string());
  }
  // Both verdicts occur often, so that agreement says something.
  EXPECT_GT(legal, 300);
  EXPECT_GT(refused, 300);
  EXPECT_LT(undecided, 20);
  EXPECT_LT(hidden, 30);
  printf("legal %d, refused %d (of these %d needlessly), undecided %d\n", legal, refused, hidden,
         undecided);
}

TEST(judge, agrees_with_enumeration) { compare_with_enumeration(0, false); }

TEST(judge, agrees_with_enumeration_of_skewed_nests) { compare_with_enumeration(5000, true); }

}  // namespace
}  // namespace polyhalite::against_enumeration_test
