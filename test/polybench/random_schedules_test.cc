// PolyBench's updates under random loops: what is accepted gives what plain loops give.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "apps/polybench/kernel.h"
#include "apps/polybench/program_case.h"
#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/target.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite_apps::random_schedules_test {
namespace {

using polyhalite::Expr;
using polyhalite::FrozenPipeline;
using polyhalite::StageId;

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::string take(std::vector<std::string> &list) {
    const size_t at = static_cast<size_t>(between(0, static_cast<int>(list.size()) - 1));
    const std::string taken = list[at];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }

 private:
  std::mt19937 engine_;
};

// Directives for the loops of one update.
std::string loops_of(Draw &draw, const std::string &stage, std::vector<std::string> loops) {
  std::string text;
  int made = 0;
  auto name = [&] { return "v" + std::to_string(made++); };
  auto add = [&](const std::string &words) { text += stage + words + "\n"; };
  if (loops.size() > 1 && draw.chance(30)) {
    std::vector<std::string> others = loops;
    const std::string a = draw.take(others), b = draw.take(others);
    add(".skew(" + a + ", " + b + ", " + a + ", " + std::to_string(draw.between(1, 2)) + ")");
  }
  std::vector<std::string> short_ones;
  for (int i = draw.between(0, 2); i > 0 && !loops.empty(); i--) {
    const std::string old = draw.take(loops), outer = name(), inner = name();
    add(".split(" + old + ", " + outer + ", " + inner + ", " + std::to_string(draw.between(2, 6)) +
        ", GuardWithIf)");
    loops.push_back(outer);
    loops.push_back(inner);
    short_ones.push_back(inner);
  }
  if (draw.chance(70)) {
    std::vector<std::string> rest = loops;
    std::string order;
    while (!rest.empty()) order += (order.empty() ? "" : ", ") + draw.take(rest);
    add(".reorder(" + order + ")");
  }
  if (!short_ones.empty() && draw.chance(60)) {
    const std::string one = draw.take(short_ones);
    add((draw.chance(70) ? ".vectorize(" : ".unroll(") + one + ")");
    std::erase(loops, one);
  }
  if (!loops.empty() && draw.chance(30)) add(".parallel(" + draw.take(loops) + ")");
  return text;
}

class RandomSchedules : public testing::TestWithParam<Program> {};

TEST_P(RandomSchedules, what_is_accepted_is_right) {
  const Program &program = GetParam();
  const std::vector<int> &sizes = program.sizes.back();
  Kernel kernel(std::vector<Expr>(sizes.begin(), sizes.end()), "none");
  program.describe(kernel);
  std::vector<std::shared_ptr<polyhalite::FunctionContents>> outputs;
  for (const polyhalite::Func &f : kernel.results()) outputs.push_back(f.function());
  std::vector<std::shared_ptr<polyhalite::ParameterContents>> inputs;
  for (polyhalite::ImageParam &p : kernel.images()) inputs.push_back(p.parameter().contents());
  const FrozenPipeline plain = polyhalite::freeze(outputs, inputs);
  const polyhalite::LoopTree tree = polyhalite::build_tree(plain.algorithm, plain.directives);
  std::vector<StageId> updates;
  for (size_t f = 0; f < tree.algorithm.funcs.size(); f++) {
    for (size_t s = 1; s < tree.algorithm.funcs[f].stages.size(); s++) {
      updates.push_back({static_cast<int>(f), static_cast<int>(s)});
    }
  }
  ProgramCase c(program, kernel, sizes);
  c.expect([&](auto in, auto out) { program.plain(sizes.data(), in, out); });
  std::vector<void *> arguments;
  for (auto &b : c.images) arguments.push_back(b.raw_buffer());
  for (auto &b : c.results) arguments.push_back(b.raw_buffer());
  // Of some programs few orders are legal.
  constexpr int kWanted = 6;
  constexpr unsigned kMost = 150;
  int accepted = 0;
  unsigned seed = 0;
  for (; accepted < kWanted && seed < kMost; seed++) {
    Draw draw(seed);
    std::string text;
    for (const StageId &s : updates) {
      std::vector<std::string> loops;
      for (size_t i = 0; i < tree.nest(s).loops.size(); i++) loops.push_back(tree.dim(s, i));
      text +=
          loops_of(draw, tree.func(s).name + ".update(" + std::to_string(s.stage - 1) + ")", loops);
    }
    FrozenPipeline scheduled = plain;
    for (const auto &d : polyhalite::parse_schedule("schedule 1\n" + text, "test")) {
      scheduled.directives.push_back(d);
    }
    std::shared_ptr<polyhalite::CompiledPipeline> compiled;
    try {
      compiled =
          polyhalite::backend().jit(scheduled, polyhalite::get_jit_target_from_environment());
    } catch (const polyhalite::CompileError &) {
      continue;
    }
    accepted++;
    for (auto &b : c.results) b.fill(-1.0);
    std::string message;
    ASSERT_EQ(compiled->call(arguments, &message), 0) << message << "\n" << text;
    EXPECT_EQ(c.mistakes(kernel), "") << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(accepted, 0);
  std::printf("%s: %d of %u accepted\n", program.name, accepted, seed);
}

std::string case_name(const testing::TestParamInfo<Program> &info) {
  std::string name = info.param.name;
  for (char &c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(polybench, RandomSchedules, testing::ValuesIn(polybench_programs()),
                         case_name);

}  // namespace
}  // namespace polyhalite_apps::random_schedules_test
