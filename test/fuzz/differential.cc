#include "test/fuzz/differential.h"

#include <algorithm>
#include <sstream>

#include "autosched/autosched.h"
#include "codegen/driver/compile.h"
#include "codegen/ir/text.h"
#include "codegen/llvm/device_code.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"
#include "test/fuzz/trial.h"
#include "test/support/random_kernels.h"
#include "test/support/random_pipeline.h"

namespace polyhalite::test {

Case drawn_case(uint64_t seed, DifferentialCounts &counts) {
  const Stopwatch watch(counts, "drawing");
  auto builds = [](const Algorithm &a, const std::vector<Directive> &directives) {
    build_tree(a, directives);
  };
  auto surveys = [](const Algorithm &a, const std::vector<Directive> &directives) {
    survey(build_tree(a, directives));
  };
  if (!counts.quick) return {seed, random_pipeline(seed, surveys), ""};
  // Surveys of every prefix take most of the time: most programs do without.
  RandomPipeline p = random_pipeline(seed, builds);
  try {
    surveys(p.frozen.algorithm, p.frozen.directives);
  } catch (const CompileError &) {
    p = random_pipeline(seed, surveys);
  }
  return {seed, std::move(p), ""};
}

void differential(const Case &c, DifferentialCounts &counts) {
  try {
    run_trial(c, counts);
  } catch (const std::exception &e) {
    counts.failures.push_back("seed " + std::to_string(c.seed) + ": " + e.what());
  }
}

Case with_kernels(Case c) {
  Dice dice(c.seed + 31);
  if (dice.chance(50)) stage_images(dice, c.pipeline.frozen.algorithm);
  c.pipeline.frozen.directives = random_kernels(dice, c.pipeline.frozen.algorithm);
  for (OutputBox &box : c.pipeline.boxes) {
    for (int &n : box.extent) n += dice.between(0, 9);
  }
  return c;
}

std::string device_text(const Case &c) {
  const FrozenPipeline pipeline = with_kernels(c).pipeline.frozen;
  const Target target = trial_target(c.seed, Device::Card);
  const Function f = lower_pipeline(pipeline, pipeline.algorithm.outputs[0], target).function;
  return to_text(f) + "\n" + ptx_text(f, target);
}

namespace {

void run_kernels(const Case &c, DifferentialCounts &counts, Device device) {
  try {
    run_trial(with_kernels(c), counts, device);
  } catch (const std::exception &e) {
    counts.failures.push_back("seed " + std::to_string(c.seed) + ": " + e.what());
  }
}

}  // namespace

void with_random_kernels(const Case &c, DifferentialCounts &counts) {
  run_kernels(c, counts, Device::Played);
}

void on_card(const Case &c, DifferentialCounts &counts) { run_kernels(c, counts, Device::Card); }

void judge_only(const Case &c, DifferentialCounts &counts) {
  try {
    judge_trial(c, counts);
  } catch (const std::exception &e) {
    counts.failures.push_back("seed " + std::to_string(c.seed) + ": " + e.what());
  }
}

void auto_scheduled(const Case &c, DifferentialCounts &counts) {
  const uint64_t seed = c.seed;
  RandomPipeline p = c.pipeline;
  Dice dice(seed + 99);
  // Those of devices are refused here, whatever is added to them.
  std::vector<Directive> &users_own = p.frozen.directives;
  users_own.erase(std::remove_if(users_own.begin(), users_own.end(),
                                 [](const Directive &d) { return concerns_device(d.kind); }),
                  users_own.end());
  if (dice.chance(75)) users_own.clear();
  for (OutputBox &box : p.boxes) {
    for (int &n : box.extent) n += dice.between(0, box.extent.size() > 2 ? 8 : 40);
  }
  auto fail = [&](const std::string &what) {
    counts.failures.push_back("seed " + std::to_string(seed) + ": " + what);
  };
  const bool users = !p.frozen.directives.empty();
  try {
    FrozenPipeline estimated = p.frozen;
    for (size_t o = 0; o < p.boxes.size(); o++) {
      auto size = std::make_shared<ParameterContents>();
      size->name = p.frozen.algorithm.find(p.frozen.algorithm.outputs[o])->buffer_name(0);
      size->is_buffer = size->is_output = true;
      for (size_t d = 0; d < p.boxes[o].min.size(); d++) {
        ParameterContents::DimConstraint c;
        c.min_estimate = Expr(p.boxes[o].min[d]);
        c.extent_estimate = Expr(p.boxes[o].extent[d]);
        size->dims.push_back(c);
      }
      estimated.algorithm.output_buffers.push_back(size);
    }
    autosched::Options options;
    options.parallelism = dice.between(1, 8);
    options.beam = 4;
    options.seed = seed;
    const autosched::Schedule s =
        autosched::schedule(estimated, get_jit_target_from_environment(), options, {});
    p.frozen.directives.insert(p.frozen.directives.end(), s.directives.begin(), s.directives.end());
    const int accepted = counts.accepted;
    run_trial({seed, p, ""}, counts);
    if (counts.accepted == accepted)
      fail("the schedule is refused:\n" + to_text(p.frozen.directives));
  } catch (const CompileError &e) {
    // The random directives alone may be refused.
    counts.drawn++;
    counts.structural++;
    if (!users) fail(e.what());
  } catch (const std::exception &e) {
    fail(e.what());
  }
}

void judge_both_ways(const Case &c, DifferentialCounts &counts) {
  counts.drawn++;
  const RandomPipeline &p = c.pipeline;
  auto fail = [&](const std::string &what) {
    counts.failures.push_back("seed " + std::to_string(c.seed) + ": " + what);
  };
  LoopTree tree;
  Survey s;
  try {
    tree = build_tree(p.frozen.algorithm, p.frozen.directives);
    s = survey(tree);
  } catch (const CompileError &) {
    counts.structural++;
    return;
  }
  const Judgement structural = judge(tree, s);
  structural.legal() ? counts.accepted++ : counts.refused++;
  if (!structural.legal()) counts.refused_by_claim[structural.refusal->claim]++;
  JudgeOptions options;
  options.exact = true;
  options.isl_operations = 200'000;
  const Judgement exact = judge(tree, s, options);
  counts.judged_exactly++;
  if (exact.legal() && structural.legal()) return;
  if (exact.legal()) return fail("refused, but the exact judge accepts");
  const Refusal &refusal = *exact.refusal;
  if (refusal.proof == Proof::Undecided) {
    counts.exactly_unknown++;
  } else if (structural.legal()) {
    fail("accepted, but the exact judge says: " + refusal.diagnostic.to_string());
  } else if (refusal.claim != structural.refusal->claim) {
    fail("refused for (" + std::string(1, structural.refusal->claim) +
         "), but the exact judge says: " + refusal.diagnostic.to_string());
  }
}

std::string describe(const Case &c) {
  std::ostringstream os;
  os << to_text(c);
  try {
    const FrozenPipeline &p = c.pipeline.frozen;
    const LoopTree tree = build_tree(p.algorithm, p.directives);
    const Survey s = survey(tree);
    os << "\n" << to_text(tree) << "\n" << to_text(tree, s);
    const Judgement j = judge(tree, s);
    os << "\n" << (j.legal() ? "accepted" : j.refusal->diagnostic.to_string()) << "\n";
  } catch (const CompileError &e) {
    os << "\n" << e.what() << "\n";
  }
  return os.str();
}

}  // namespace polyhalite::test
