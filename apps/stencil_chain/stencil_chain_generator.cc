// A long chain of 5 x 5 stencils on 16-bit integers that wrap: each stage weighs the 25 neighbours
// of the stage before it. What such a chain costs is decided by how far its stages are fused.
#include <algorithm>
#include <string>
#include <vector>

#include "Halide.h"

using namespace Halide;

namespace {

class StencilChain : public Generator<StencilChain> {
 public:
  Input<Buffer<uint16_t, 2>> input{"input"};
  Output<Buffer<uint16_t, 2>> output{"output"};
  GeneratorParam<int> stage_count{"stages", 32, 1, 100};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: groups of stages slide down the tiles of the group's last stage.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    std::vector<Func> stages{BoundaryConditions::repeat_edge(input)};
    const int count = stage_count;
    for (int s = 0; s < count; s++) {
      Expr sum = cast<uint16_t>(0);
      for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
          sum += cast<uint16_t>((dx + 4) * (dy + 4)) * stages.back()(x + dx, y + dy);
        }
      }
      Func stage("stage_" + std::to_string(s));
      stage(x, y) = sum;
      stages.push_back(stage);
    }
    output(x, y) = stages.back()(x, y);

    const std::string name = schedule_name;
    if (name == "none") {
      // Inlined, the chain would have 25^stages terms.
      for (int s = 1; s < count; s++) stages[s].compute_root();
    } else if (name == "naive") {
      for (int s = 1; s <= count; s++) stages[s].compute_root();
    } else if (name == "auto") {
      input.set_estimates({{0, 1536}, {0, 2560}});
      output.set_estimates({{0, 1536}, {0, 2560}});
    } else {
      schedule_groups(stages);
    }
  }

 private:
  // Every kGroup-th stage is stored in full, computed in parallel tiles; the stages between live
  // as a few rows in the tile, each row computed once and read by the five rows below.
  void schedule_groups(std::vector<Func> &stages) {
    const int lanes = natural_vector_size<uint16_t>(), last = static_cast<int>(stages.size()) - 1;
    Var xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, tile{"tile"};
    for (int j = last; j > 0; j -= kGroup) {
      Func group_output = j == last ? Func(output) : stages[j];
      group_output.compute_root()
          .tile(x, y, xo, yo, xi, yi, kTileWidth, kTileHeight)
          .fuse(xo, yo, tile)
          .parallel(tile)
          .vectorize(xi, lanes);
      for (int i = std::max(0, j - kGroup + 1); i < j; i++) {
        stages[i]
            .store_at(group_output, tile)
            .compute_at(group_output, yi)
            .vectorize(stages[i].args()[0], lanes);
      }
    }
  }

  static constexpr int kGroup = 11, kTileWidth = 512, kTileHeight = 320;
  Var x{"x"}, y{"y"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(StencilChain, stencil_chain)
