// Histogram equalisation of a colour image: brightness is replaced by its rank among all pixels,
// colour differences stay (JFIF's YCbCr, as in Gonzalez and Woods, Digital Image Processing).
#include "Halide.h"

using namespace Halide;

namespace {

class Hist : public Generator<Hist> {
 public:
  Input<Buffer<uint8_t, 3>> input{"input"};
  Output<Buffer<uint8_t, 3>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: a histogram per row, rows in parallel.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    Expr red = cast<float>(input(x, y, 0)), blue = cast<float>(input(x, y, 2));
    // A pixel counts at one level, however sums are fused: levels are compared exactly.
    luma(x, y) = strict_float(0.299f * red + 0.587f * cast<float>(input(x, y, 1)) + 0.114f * blue);
    level(x, y) = cast<uint8_t>(clamp(luma(x, y) + 0.5f, 0.0f, 255.0f));

    RDom across(0, input.width());
    row_histogram(i, y) = 0;
    row_histogram(cast<int>(level(across, y)), y) += 1;
    RDom down(0, input.height());
    histogram(i) = 0;
    histogram(i) += row_histogram(i, down);
    RDom rest(1, 255);
    rank(i) = histogram(0);
    rank(rest) = rank(rest - 1) + histogram(rest);

    Expr pixels = cast<float>(input.width() * input.height());
    equal(x, y) = cast<float>(rank(cast<int>(level(x, y)))) * (255.0f / pixels);
    Expr cb = (blue - luma(x, y)) * 0.564f, cr = (red - luma(x, y)) * 0.713f;
    output(x, y, c) = cast<uint8_t>(strict_float(
        clamp(mux(c, {equal(x, y) + 1.403f * cr, equal(x, y) - 0.344f * cb - 0.714f * cr,
                      equal(x, y) + 1.773f * cb}),
              0.0f, 255.0f)));

    rank.bound(i, 0, 256);
    const std::string name = schedule_name;
    if (name == "auto") {
      input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      return;
    }
    if (name != "good") {
      row_histogram.compute_root();
      histogram.compute_root();
      rank.compute_root();
      if (name == "naive") {
        luma.compute_root();
        level.compute_root();
        equal.compute_root();
      }
      return;
    }
    const int lanes = natural_vector_size<float>();
    // The counts of a row stay in the cache until the row is done; the levels of the row are
    // computed in vectors before they are counted one by one.
    Func row_levels = level.clone_in(row_histogram), finished_rows = row_histogram.in();
    row_levels.compute_at(finished_rows, y).vectorize(x, lanes);
    finished_rows.compute_root().vectorize(i, lanes).parallel(y, 8);
    row_histogram.compute_at(finished_rows, y).vectorize(i, lanes);
    histogram.compute_root().vectorize(i, lanes);
    histogram.update().reorder(i, down).vectorize(i, lanes);
    rank.compute_root();
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, 2 * lanes).parallel(y, 16);
  }

 private:
  Var x{"x"}, y{"y"}, c{"c"}, i{"i"};
  Func luma{"luma"}, level{"level"}, equal{"equal"};
  Func row_histogram{"row_histogram"}, histogram{"histogram"}, rank{"rank"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Hist, hist)
