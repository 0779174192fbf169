// From the raw values of a camera's sensor (Bayer pattern, green-red first) to a picture: hot
// pixels, demosaicing, colour matrix, tone curve, sharpening. Output pixel (x, y) stands for input
// pixel (x + 16, y + 12), so that no stage looks outside the sensor.
#include <string>
#include <vector>

#include "Halide.h"

using namespace Halide;

namespace {

Var x{"x"}, y{"y"}, c{"c"};

// The mean of two values of one unsigned type, rounded up.
Expr mean(Expr a, Expr b) {
  Type wide = a.type().with_bits(2 * a.type().bits());
  return cast(a.type(), (cast(wide, a) + cast(wide, b) + 1) / 2);
}

// Weights 1 2 1.
Expr smooth(Expr a, Expr b, Expr c) { return mean(mean(a, c), b); }

// The candidate whose two sources are closer to each other.
Expr closer(Expr difference_a, Expr a, Expr difference_b, Expr b) {
  return select(difference_a < difference_b, a, b);
}

class CameraPipe : public Generator<CameraPipe> {
 public:
  Input<Buffer<uint16_t, 2>> input{"input"};
  Input<Buffer<float, 2>> warm_matrix{"warm_matrix"};  // 4 x 3, for light of 3200 K
  Input<Buffer<float, 2>> cold_matrix{"cold_matrix"};  // 4 x 3, for light of 7000 K
  Input<float> temperature{"temperature"};             // of the light, K
  Input<float> gamma{"gamma"};
  Input<float> contrast{"contrast"};    // percent
  Input<float> sharpness{"sharpness"};  // 0 to 4
  Input<int> black{"black"};            // raw value of no light
  Input<int> white{"white"};            // raw value of a full pixel, at most 1023
  Output<Buffer<uint8_t, 3>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; good: strips
  /// of rows, in which the stages slide.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    Func shifted("shifted");
    shifted(x, y) = input(x + 16, y + 12);
    // No pixel is brighter than the brightest of its colour's neighbours.
    denoised(x, y) = clamp(
        shifted(x, y), 0,
        max(max(shifted(x - 2, y), shifted(x + 2, y)), max(shifted(x, y - 2), shifted(x, y + 2))));
    sites(x, y, c) = mux(c, {denoised(2 * x, 2 * y), denoised(2 * x + 1, 2 * y),
                             denoised(2 * x, 2 * y + 1), denoised(2 * x + 1, 2 * y + 1)});
    demosaic();
    correct_colours();
    apply_curve();
    sharpen();

    const std::string name = schedule_name;
    colour_matrix.compute_root();
    curve.compute_root();
    strength.compute_root();
    if (name == "good") {
      schedule_strips();
    } else {
      denoised.compute_root();
      sites.compute_root();
      green_at_red.compute_root();
      green_at_blue.compute_root();
      mosaic_free.compute_root();
      curved.compute_root();
      if (name == "naive") {
        corrected.compute_root();
        blurred_y.compute_root();
        blurred.compute_root();
      }
    }
  }

 private:
  // Values at the four kinds of sites: green in red rows, red, blue, green in blue rows.
  void demosaic() {
    Func green_red("green_red"), red("red"), blue("blue"), green_blue("green_blue");
    green_red(x, y) = sites(x, y, 0);
    red(x, y) = sites(x, y, 1);
    blue(x, y) = sites(x, y, 2);
    green_blue(x, y) = sites(x, y, 3);

    // Green, along the direction in which it changes less.
    green_at_red(x, y) = closer(
        absd(green_red(x + 1, y), green_red(x, y)), mean(green_red(x + 1, y), green_red(x, y)),
        absd(green_blue(x, y - 1), green_blue(x, y)), mean(green_blue(x, y - 1), green_blue(x, y)));
    green_at_blue(x, y) = closer(
        absd(green_blue(x - 1, y), green_blue(x, y)), mean(green_blue(x - 1, y), green_blue(x, y)),
        absd(green_red(x, y + 1), green_red(x, y)), mean(green_red(x, y + 1), green_red(x, y)));

    // Red and blue: the mean of the neighbours, plus what the same mean of green misses.
    const auto along = [](Func colour, Func green, Expr here, Expr ax, Expr ay, Expr bx, Expr by) {
      return here - mean(green(ax, ay), green(bx, by)) + mean(colour(ax, ay), colour(bx, by));
    };
    Func red_at_green_red, blue_at_green_red, red_at_green_blue, blue_at_green_blue;
    red_at_green_red(x, y) = along(red, green_at_red, green_red(x, y), x - 1, y, x, y);
    blue_at_green_red(x, y) = along(blue, green_at_blue, green_red(x, y), x, y, x, y - 1);
    red_at_green_blue(x, y) = along(red, green_at_red, green_blue(x, y), x, y, x, y + 1);
    blue_at_green_blue(x, y) = along(blue, green_at_blue, green_blue(x, y), x, y, x + 1, y);
    // On the diagonals, the one on which the colour changes less.
    Func red_at_blue, blue_at_red;
    red_at_blue(x, y) = closer(absd(red(x, y), red(x - 1, y + 1)),
                               along(red, green_at_red, green_at_blue(x, y), x, y, x - 1, y + 1),
                               absd(red(x - 1, y), red(x, y + 1)),
                               along(red, green_at_red, green_at_blue(x, y), x - 1, y, x, y + 1));
    blue_at_red(x, y) = closer(absd(blue(x, y), blue(x + 1, y - 1)),
                               along(blue, green_at_blue, green_at_red(x, y), x, y, x + 1, y - 1),
                               absd(blue(x + 1, y), blue(x, y - 1)),
                               along(blue, green_at_blue, green_at_red(x, y), x + 1, y, x, y - 1));

    const auto weave = [](Func f00, Func f10, Func f01, Func f11) {
      return select(y % 2 == 0, select(x % 2 == 0, f00(x / 2, y / 2), f10(x / 2, y / 2)),
                    select(x % 2 == 0, f01(x / 2, y / 2), f11(x / 2, y / 2)));
    };
    // Corrections may fall below zero: signed from here.
    mosaic_free(x, y, c) =
        cast<int16_t>(mux(c, {weave(red_at_green_red, red, red_at_blue, red_at_green_blue),
                              weave(green_red, green_at_red, green_at_blue, green_blue),
                              weave(blue_at_green_red, blue_at_red, blue, blue_at_green_blue)}));
  }

  // Linear in the reciprocal of the temperature between the two matrices; 8 fractional bits.
  void correct_colours() {
    Expr part = (1.0f / temperature - 1.0f / 3200) / (1.0f / 7000 - 1.0f / 3200);
    colour_matrix(x, y) =
        cast<int16_t>((cold_matrix(x, y) * part + warm_matrix(x, y) * (1.0f - part)) * 256.0f);
    const auto row = [&](int r) {
      Expr sum = cast<int>(colour_matrix(3, r));
      for (int k = 0; k < 3; k++) {
        sum += cast<int>(colour_matrix(k, r)) * cast<int>(mosaic_free(x, y, k));
      }
      return cast<int16_t>(sum / 256);
    };
    corrected(x, y, c) = mux(c, {row(0), row(1), row(2)});
  }

  // Gamma, then a quadratic S on each side of the middle, as a table of 1024 values.
  void apply_curve() {
    Expr linear = clamp(cast<float>(x - black) * (1.0f / cast<float>(white - black)), 0.0f, 1.0f);
    Expr light = pow(linear, 1.0f / gamma);
    Expr slope = 2.0f - pow(2.0f, contrast / 100.0f), bend = 2.0f - 2.0f * slope;
    Expr dark = 1.0f - light;
    Expr toned = select(light > 0.5f, 1.0f - (bend * dark * dark + slope * dark),
                        bend * light * light + slope * light);
    Expr value = cast<uint8_t>(clamp(toned * 255.0f + 0.5f, 0.0f, 255.0f));
    curve(x) = select(x <= black, cast<uint8_t>(0), select(x > white, cast<uint8_t>(255), value));
    curved(x, y, c) = curve(cast<int>(clamp(corrected(x, y, c), 0, 1023)));
  }

  // Unsharp mask; the strength has 5 fractional bits.
  void sharpen() {
    strength() = cast<uint8_t>(clamp(sharpness * 32.0f, 0.0f, 255.0f));
    blurred_y(x, y, c) = smooth(curved(x, y - 1, c), curved(x, y, c), curved(x, y + 1, c));
    blurred(x, y, c) = smooth(blurred_y(x - 1, y, c), blurred_y(x, y, c), blurred_y(x + 1, y, c));
    Expr mask = cast<int16_t>(curved(x, y, c)) - cast<int16_t>(blurred(x, y, c));
    Expr sharp = cast<int16_t>(curved(x, y, c)) + (mask * cast<int16_t>(strength())) / 32;
    output(x, y, c) = cast<uint8_t>(clamp(sharp, 0, 255));
  }

  void schedule_strips() {
    const int lanes = natural_vector_size<uint16_t>(), rows = 32;
    Var yo{"yo"}, yi{"yi"}, yii{"yii"}, xi{"xi"};
    Expr width = output.dim(0).extent(), height = output.dim(1).extent();
    output.bound(c, 0, 3)
        .bound(x, 0, width / (2 * lanes) * (2 * lanes))
        .bound(y, 0, height / rows * rows);
    output.compute_root()
        .reorder(c, x, y)
        .split(y, yi, yii, 2, TailStrategy::RoundUp)
        .split(yi, yo, yi, rows / 2)
        .vectorize(x, 2 * lanes, TailStrategy::RoundUp)
        .unroll(c)
        .parallel(yo);
    denoised.compute_at(output, yi).store_at(output, yo).fold_storage(y, 16).vectorize(x, lanes);
    sites.compute_at(output, yi)
        .store_at(output, yo)
        .fold_storage(y, 8)
        .reorder(c, x, y)
        .vectorize(x, 2 * lanes, TailStrategy::RoundUp)
        .unroll(c);
    for (Func f : {green_at_red, green_at_blue}) {
      f.compute_at(output, yi)
          .store_at(output, yo)
          .fold_storage(y, 8)
          .vectorize(x, 2 * lanes, TailStrategy::RoundUp);
    }
    curved.compute_at(output, yi)
        .store_at(output, yo)
        .reorder(c, x, y)
        .tile(x, y, x, y, xi, yi, 2 * lanes, 2, TailStrategy::RoundUp)
        .vectorize(xi)
        .unroll(yi)
        .unroll(c);
    corrected.compute_at(curved, x).reorder(c, x, y).vectorize(x).unroll(y).unroll(c);
    mosaic_free.compute_at(curved, x).vectorize(x).unroll(y).reorder(c, x, y).unroll(c);
  }

  Func denoised{"denoised"}, sites{"sites"}, mosaic_free{"mosaic_free"}, corrected{"corrected"};
  Func green_at_red{"green_at_red"}, green_at_blue{"green_at_blue"};
  Func colour_matrix{"colour_matrix"}, curve{"curve"}, curved{"curved"}, strength{"strength"};
  Func blurred_y{"blurred_y"}, blurred{"blurred"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(CameraPipe, camera_pipe)
