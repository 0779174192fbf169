#include "apps/bench/judging.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "polyhedral/judge.h"

namespace polyhalite_apps {
namespace {

using namespace polyhalite;

constexpr int kStages = 100, kLayers = 50;

FrozenPipeline chain(bool rows) {
  const Var x("x"), y("y"), xi("xi"), yi("yi");
  const ImageParam in(Float(32), 2, "in");
  std::vector<Func> stages;
  auto before = [&](const Expr &i, const Expr &j) {
    return stages.empty() ? Expr(in(i, j)) : Expr(stages.back()(i, j));
  };
  for (int s = 0; s < kStages; s++) {
    Expr sum;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const Expr term = before(x + dx, y + dy) * (1.0f / static_cast<float>(9 + dx + 3 * dy));
        sum = sum.defined() ? sum + term : term;
      }
    }
    Func f("stage" + std::to_string(s));
    f(x, y) = sum;
    stages.push_back(f);
  }
  Func out = stages.back();
  if (!rows) out.tile(x, y, xi, yi, 256, 256).vectorize(xi, 8).parallel(y);
  if (rows) out.vectorize(x, 8);
  for (Func &f : stages) {
    if (f.name() == out.name()) continue;
    f.vectorize(x, 8);
    rows ? f.store_root().compute_at(out, y) : f.compute_at(out, x);
  }
  return freeze({out.function()});
}

// Blocks of a layer that widens, and layers that add what stood two before.
FrozenPipeline network() {
  const Var c("c"), x("x"), y("y"), co("co"), ci("ci");
  const ImageParam in(Float(32), 3, "in"), weights(Float(32), 5, "weights"),
      offsets(Float(32), 2, "offsets");
  std::vector<Func> layers;
  Func image("image");
  image(c, x, y) = in(c, x, y);
  layers.push_back(image.compute_root());
  for (int l = 0; l < kLayers; l++) {
    const std::string number = std::to_string(l);
    const int stride = l % 10 == 9 ? 2 : 1;
    const RDom r(0, 64, 0, 3, 0, 3, "r");
    Func sum("sum" + number), out("layer" + number);
    const Func from = layers.back();
    sum(c, x, y) = offsets(c, l);
    sum(c, x, y) +=
        weights(c, r.x, r.y, r.z, l) * from(r.x, x * stride + r.y - 1, y * stride + r.z - 1);
    Expr value = max(sum(c, x, y), 0.0f);
    if (l >= 2 && l % 10 != 9 && l % 10 != 0) value += layers[layers.size() - 2](c, x, y);
    out(c, x, y) = value;
    out.compute_root().split(c, co, ci, 16).vectorize(ci).parallel(y);
    sum.compute_at(out, x).vectorize(c, 16);
    sum.update().reorder(c, r.x, r.y, r.z, x, y).vectorize(c, 16);
    layers.push_back(out);
  }
  return freeze({layers.back().function()});
}

FrozenPipeline pipeline_of(const std::string &name) {
  if (name == "chain_100_tiles") return chain(false);
  if (name == "chain_100_rows") return chain(true);
  return network();
}

// Runs in a process of its own, whose memory is what counts.
JudgingCost judge_here(const std::string &name) {
  const FrozenPipeline p = pipeline_of(name);
  const Judged judged = build_and_judge(p.algorithm, p.directives);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {judged.schedule_seconds, judged.survey_seconds, judged.judgement.seconds,
          static_cast<double>(used.ru_maxrss) / 1024};
}

}  // namespace

std::vector<std::string> judged_pipelines() {
  return {"chain_100_tiles", "chain_100_rows", "network_50"};
}

JudgingCost judging_cost(const std::string &pipeline, int rounds) {
  std::vector<JudgingCost> costs;
  for (int i = 0; i < rounds; i++) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe can be made");
    const pid_t child = fork();
    if (child == 0) {
      JudgingCost cost;
      bool done = false;
      try {
        cost = judge_here(pipeline);
        done = write(ends[1], &cost, sizeof cost) == sizeof cost;
      } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      _exit(done ? 0 : 1);
    }
    close(ends[1]);
    JudgingCost cost;
    const bool arrived = child > 0 && read(ends[0], &cost, sizeof cost) == sizeof cost;
    close(ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);
    if (!arrived) throw std::runtime_error("judging " + pipeline + " failed");
    costs.push_back(cost);
  }
  std::sort(costs.begin(), costs.end(),
            [](const JudgingCost &a, const JudgingCost &b) { return a.total() < b.total(); });
  return costs[costs.size() / 2];
}

}  // namespace polyhalite_apps
