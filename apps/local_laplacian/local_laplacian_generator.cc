// Local Laplacian filter (Paris, Hasinoff and Kautz, 2011) in its fast form (Aubry et al., 2014):
// detail of an image is raised or lowered around `levels` reference intensities, a pyramid each,
// and every pixel interpolates between the two nearest.
#include <algorithm>
#include <string>
#include <vector>

#include "Halide.h"

using namespace Halide;

namespace {

class LocalLaplacian : public Generator<LocalLaplacian> {
 public:
  Input<Buffer<uint16_t, 3>> input{"input"};
  Input<int> levels{"levels"};    // reference intensities, at least 2
  Input<float> detail{"detail"};  // times (levels - 1): how much fine contrast is added
  Input<float> tone{"tone"};      // 1 keeps the coarse contrast, less compresses it
  Output<Buffer<uint16_t, 3>> output{"output"};
  GeneratorParam<int> depth{"depth", 8, 2, 16};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: fine levels slide below each other.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    const int n = depth;
    std::vector<Func> remapped(n), plain(n), merged(n);
    for (int l = 0; l < n; l++) {
      remapped[l] = Func("remapped_" + std::to_string(l));
      plain[l] = Func("plain_" + std::to_string(l));
      merged[l] = Func("merged_" + std::to_string(l));
    }
    Func bounded = BoundaryConditions::repeat_edge(input);
    Expr scale = 1.0f / 65535.0f;
    gray(x, y) = (0.299f * cast<float>(bounded(x, y, 0)) + 0.587f * cast<float>(bounded(x, y, 1)) +
                  0.114f * cast<float>(bounded(x, y, 2))) *
                 scale;

    // Derivative of a Gaussian: adds contrast near the reference and leaves the rest.
    Expr distance = cast<float>(i) / 256.0f;
    bump(i) = detail * distance * exp(-distance * distance / 2.0f);
    Expr reference = cast<float>(k) * (1.0f / cast<float>(levels - 1));
    Expr step =
        clamp(cast<int>(gray(x, y) * cast<float>(levels - 1) * 256.0f), 0, (levels - 1) * 256);
    remapped[0](x, y, k) = tone * (gray(x, y) - reference) + reference + bump(step - 256 * k);
    plain[0](x, y) = gray(x, y);
    for (int l = 1; l < n; l++) {
      remapped[l](x, y, k) = down_y(down_x(remapped[l - 1]))(x, y, k);
      plain[l](x, y) = down_y(down_x(plain[l - 1]))(x, y);
    }
    for (int l = n - 1; l >= 0; l--) {
      // The Laplacian of the two references around this pixel's own intensity.
      Expr position = plain[l](x, y) * cast<float>(levels - 1);
      Expr below = clamp(cast<int>(position), 0, levels - 2);
      Expr fraction = position - cast<float>(below);
      const auto laplacian = [&](Expr which) {
        Expr value = remapped[l](x, y, which);
        if (l < n - 1) value = value - up(remapped[l + 1])(x, y, which);
        return value;
      };
      Expr band = (1.0f - fraction) * laplacian(below) + fraction * laplacian(below + 1);
      merged[l](x, y) = l == n - 1 ? band : up(merged[l + 1])(x, y) + band;
    }
    // Colours follow brightness; the offset keeps the noise of dark pixels small.
    const float offset = 0.01f;
    Expr gain = (merged[0](x, y) + offset) / (gray(x, y) + offset);
    output(x, y, c) = cast<uint16_t>(clamp(cast<float>(input(x, y, c)) * gain, 0.0f, 65535.0f));

    const std::string name = schedule_name;
    if (name == "auto") {
      input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      levels.set_estimate(8);
      detail.set_estimate(1.0f / 7);
      tone.set_estimate(1.0f);
      output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      return;
    }
    bump.compute_root();
    if (name != "good") {
      for (int l = 1; l < n; l++) {
        remapped[l].compute_root();
        plain[l].compute_root();
        merged[l].compute_root();
      }
      if (name == "naive") {
        gray.compute_root();
        remapped[0].compute_root();
        merged[0].compute_root();
        for (Func f : halves_) f.compute_root();
      }
      return;
    }
    const int lanes = natural_vector_size<float>();
    Var yo{"yo"};
    output.reorder(c, x, y).split(y, yo, y, 64).parallel(yo).vectorize(x, lanes);
    gray.compute_root().parallel(y, 32).vectorize(x, lanes);
    const int fine = std::min(5, n);
    for (int l = 1; l < fine; l++) {
      plain[l].compute_root().parallel(y, 32).vectorize(x, lanes);
      remapped[l].compute_root().reorder_storage(x, k, y).reorder(k, y).parallel(y, 8).vectorize(
          x, lanes);
      merged[l]
          .store_at(output, yo)
          .compute_at(output, y)
          .fold_storage(y, 4)
          .vectorize(x, lanes, TailStrategy::RoundUp);
    }
    merged[0].compute_at(output, y).vectorize(x, lanes, TailStrategy::RoundUp);
    for (int l = fine; l < n; l++) {
      plain[l].compute_root();
      remapped[l].compute_root().parallel(k);
      merged[l].compute_root();
    }
  }

 private:
  // Binomial weights 1 3 3 1 between two pixels; half the size.
  Func down_x(Func f) {
    Func half("half");
    half(x, y, _) =
        (f(2 * x - 1, y, _) + 3.0f * (f(2 * x, y, _) + f(2 * x + 1, y, _)) + f(2 * x + 2, y, _)) *
        0.125f;
    halves_.push_back(half);
    return half;
  }
  Func down_y(Func f) {
    Func half("half");
    half(x, y, _) =
        (f(x, 2 * y - 1, _) + 3.0f * (f(x, 2 * y, _) + f(x, 2 * y + 1, _)) + f(x, 2 * y + 2, _)) *
        0.125f;
    return half;
  }
  // Bilinear; twice the size.
  Func up(Func f) {
    Func wide("wide"), tall("tall");
    wide(x, y, _) = 0.25f * f((x / 2) - 1 + 2 * (x % 2), y, _) + 0.75f * f(x / 2, y, _);
    tall(x, y, _) = 0.25f * wide(x, (y / 2) - 1 + 2 * (y % 2), _) + 0.75f * wide(x, y / 2, _);
    return tall;
  }

  std::vector<Func> halves_;
  Var x{"x"}, y{"y"}, c{"c"}, k{"k"}, i{"i"};
  Func gray{"gray"}, bump{"bump"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(LocalLaplacian, local_laplacian)
