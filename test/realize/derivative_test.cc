// Derivatives against finite differences.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "lang/messages.h"
#include "polyhalite/generator.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::derivative_test {
namespace {

constexpr double kStep = 1e-5;

Buffer<double> numbers(const std::vector<int> &sizes, double from = 0.3) {
  Buffer<double> b(sizes);
  double v = from;
  for (double &x : b) {
    x = std::fmod(v, 1.7) + 0.2;
    v += 0.731;
  }
  return b;
}

// d loss / d in, for loss() made of the image `in`, at each of its elements.
void expect_gradient(const std::function<Func(Func in, RDom over)> &make, int extent,
                     double tolerance = 1e-6) {
  ImageParam in(Float(64), 1, "in");
  Var x("x");
  Func values("values");
  values(x) = in(clamp(x, 0, extent - 1));
  Func loss = make(values, RDom(0, extent, "r"));
  const Func gradient = propagate_adjoints(loss)(in);
  ASSERT_TRUE(gradient.defined());
  Buffer<double> at = numbers({extent});
  in.set(at);
  Func out("out");
  out(x) = gradient(x);
  const Buffer<double> found = out.realize({extent});
  for (int i = 0; i < extent; i++) {
    auto loss_with = [&](double offset) {
      const double before = at(i);
      at(i) = before + offset;
      const double value = Buffer<double>(loss.realize())();
      at(i) = before;
      return value;
    };
    const double expected = (loss_with(kStep) - loss_with(-kStep)) / (2 * kStep);
    EXPECT_NEAR(found(i), expected, tolerance * std::max(1.0, std::abs(expected))) << "at " << i;
  }
}

TEST(Derivative, OfFunctions) {
  using Unary = std::function<Expr(Expr)>;
  const Unary functions[] = {
      [](Expr v) { return v * v - 3.0f / v; },
      [](Expr v) { return sqrt(v) + exp(v) + log(v); },
      [](Expr v) { return sin(v) * cos(v) + tan(v / 2.0f); },
      [](Expr v) { return asin(v / 3.0f) + acos(v / 3.0f) + atan(v) + atan2(v, v + 1.0f); },
      [](Expr v) {
        return sinh(v) + cosh(v) + tanh(v) + asinh(v) + acosh(v + 1.0f) + atanh(v / 3.0f);
      },
      [](Expr v) { return pow(v, 2.5f) + pow(Expr(1.5), v) + pow(v, v); },
      [](Expr v) { return max(v, 1.0f) * min(v, 0.7f) + abs(v - 1.01f) + floor(v); },
      [](Expr v) { return select(v > 0.9f, v * v, v) + likely(v) + strict_float(v * 2.0f); },
      [](Expr v) { return cast<double>(cast<float>(v)) * 0.0f + v * v + erf(v); },
  };
  for (const Unary &f : functions) {
    expect_gradient(
        [&](Func in, RDom r) {
          Func loss("loss");
          loss() = sum(f(in(r)));
          return loss;
        },
        8);
  }
}

TEST(Derivative, ThroughStencilsAndTwoReaders) {
  expect_gradient(
      [](Func in, RDom r) {
        Func blur("blur"), square("square"), loss("loss");
        Var x("x");
        blur(x) = in(x - 1) + 2.0f * in(x)*in(x + 1) - in(3 - x);
        square(x) = blur(x) * blur(x) + in(x);
        loss() = Expr(0.0);
        loss() += square(r) * in(r);
        return loss;
      },
      9);
}

TEST(Derivative, ThroughResamplingAndTables) {
  expect_gradient(
      [](Func in, RDom r) {
        Func half("half"), loss("loss");
        Var x("x");
        half(x) = in(2 * x) * in(2 * x + 1);
        loss() = Expr(0.0);
        loss() += half(r / 2) * half((r * 7) % 5);
        return loss;
      },
      8);
}

TEST(Derivative, ThroughReductions) {
  expect_gradient(
      [](Func in, RDom r) {
        Func table("table"), loss("loss");
        Var x("x");
        RDom k(0, 3, "k");
        table(x) = Expr(1.0);
        table(r % 4) += in(r)*in(r);     // cells are added to
        table(x) = table(x) * table(x);  // each cell once
        table(x) += table(x) * sum(in(x + k));
        loss() = Expr(0.0);
        loss() += table(r % 4);
        return loss;
      },
      8);
}

TEST(Derivative, ThroughRecurrences) {
  expect_gradient(
      [](Func in, RDom) {
        Func running("running"), loss("loss");
        Var x("x");
        RDom k(1, 7, "k"), r(0, 8, "r");
        running(x) = in(x);
        running(k) = running(k - 1) * in(k) + 0.5f * running(k - 1);
        loss() = Expr(0.0);
        loss() += running(r) * running(r);
        return loss;
      },
      8);
  expect_gradient(
      [](Func in, RDom r) {
        Func horner("horner"), loss("loss");
        Var x("x");
        RDom k(0, 6, "k");
        const Expr backward = 5 - k;
        horner(x) = Expr(0.0);
        horner(backward) = horner(backward + 1) * 0.9f + in(backward)*horner(backward + 2);
        horner(x) += in(x);
        horner(backward) = horner(backward + 1) * horner(backward + 1);
        loss() = horner(0) + horner(2) + sum(in(r));
        return loss;
      },
      6, 1e-5);
}

TEST(Derivative, OfParamsAndBuffers) {
  Param<double> k("k");
  const Buffer<double> weights = numbers({5});
  RDom r(0, 5, "r");
  Func loss("loss");
  loss() = Expr(0.0);
  loss() += k * k * weights(r);
  Derivative d = propagate_adjoints(loss);
  Func dk("dk"), dw("dw");
  Var x("x");
  dk() = d(k)();
  dw(x) = d(weights)(x);
  k.set(1.5);
  double total = 0;
  for (double w : weights) total += w;
  EXPECT_NEAR(Buffer<double>(dk.realize())(), 3.0 * total, 1e-12);
  const Buffer<double> by_weight = dw.realize({5});
  for (int i = 0; i < 5; i++) EXPECT_NEAR(by_weight(i), 2.25, 1e-12);
}

TEST(Derivative, OfABufferOfAdjoints) {
  Func f("f"), g("g"), out("out");
  Var x("x"), y("y");
  g(x, y) = cast<float>(x + 10 * y);
  f(x, y) = g(x, y) * g(x + 1, y);
  Buffer<float> adjoint(4, 3);
  adjoint.for_each_element([&](int i, int j) { adjoint(i, j) = static_cast<float>(1 + i * j); });
  const Derivative d = propagate_adjoints(f, adjoint);
  out(x, y) = d(g)(x, y);
  const Buffer<float> found = out.realize({6, 3});
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 6; i++) {
      auto a = [&](int p) { return p >= 0 && p < 4 ? 1.0f + static_cast<float>(p * j) : 0.0f; };
      const float expected =
          a(i) * static_cast<float>(i + 1 + 10 * j) + a(i - 1) * static_cast<float>(i - 1 + 10 * j);
      EXPECT_EQ(found(i, j), expected) << i << ", " << j;
    }
  }
  EXPECT_FALSE(d(Func("unrelated")).defined());
}

TEST(Derivative, EachStateHasOne) {
  ImageParam in(Float(64), 1, "in");
  Func f("f"), loss("loss");
  Var x("x");
  RDom r(0, 4, "r");
  f(x) = in(x);
  f(x) = f(x) * f(x);
  f(r) += 1.0f;
  loss() = sum(f(r));
  const Derivative d = propagate_adjoints(loss);
  in.set(numbers({4}));
  for (int update : {-1, 0, 1}) {
    const Func df = d(f, update);
    ASSERT_TRUE(df.defined()) << update;
    Func out("out");
    out(x) = df(x);
    const Buffer<double> values = out.realize({4});
    const Buffer<double> at = in.get();
    for (int i = 0; i < 4; i++) EXPECT_NEAR(values(i), update < 0 ? 2 * at(i) : 1, 1e-12);
  }
}

TEST(Derivative, Refusals) {
  Var x("x");
  RDom r(0, 8, "r");
  ImageParam in(Float(32), 1, "in"), index(Int(32), 1, "index");
  auto refused = [&](const std::function<void(Func &, Func &)> &make) {
    Func f("f"), loss("loss");
    make(f, loss);
    const std::string message = message_of([&] { propagate_adjoints(loss); });
    return message.substr(message.find("error"));
  };
  EXPECT_EQ(refused([&](Func &f, Func &loss) {
              f(x) = in(x);
              loss() += f(index(r));
            }),
            "error: cannot differentiate what reads 'f'\n"
            "  why: an index of the access has no bounds that are known\n"
            "  fix: clamp the index");
  EXPECT_EQ(refused([&](Func &f, Func &loss) {
              f(x) = 1.0f;
              f(r % 3) *= in(r);
              loss() += f(r);
            }),
            "error: cannot differentiate update 0 of 'f'\n"
            "  why: several iterations write one cell, and it does more than add to it\n"
            "  fix: give each iteration a cell of its own");
  EXPECT_EQ(refused([&](Func &f, Func &loss) {
              f(x) = in(x);
              f(r) = f(r + 1) * 2.0f;
              loss() += f(r);
            }),
            "error: cannot differentiate update 0 of 'f'\n"
            "  why: it reads cells of its Func that are not known to be those of earlier "
            "iterations\n"
            "  fix: read what iterations before wrote, at a constant distance");
  EXPECT_EQ(refused([&](Func &f, Func &loss) {
              f(x) = Tuple(in(x), in(x));
              loss() += f(r)[0];
            }),
            "error: cannot differentiate 'f'\n"
            "  why: it has several values\n"
            "  fix: compute each with a Func of its own");
  EXPECT_EQ(refused([&](Func &f, Func &loss) {
              f(x) = 1;
              loss() += f(r);
            }),
            "error: cannot differentiate 'loss'\n"
            "  why: derivatives are of one float\n"
            "  fix: give a Func with one value of a float type");
}

class Weighted : public Generator<Weighted> {
 public:
  Input<Buffer<float, 1>> in{"in"};
  Input<Buffer<double, 1>> weights{"weights"};
  Input<Buffer<uint8_t, 1>> mask{"mask"};
  Input<float> scale{"scale"};
  Output<Buffer<double, 1>> weighted{"weighted"};
  Output<Buffer<uint8_t, 1>> copied{"copied"};

  void generate() {
    Var x("x");
    weighted(x) = scale * in(x)*weights(x + 1) * mask(x);
    copied(x) = mask(x);
  }
};

TEST(Derivative, OfAGenerator) {
  constexpr int kSize = 6;
  auto generator = Weighted::create(GeneratorContext(get_host_target()));
  testing::internal::CaptureStderr();
  const GeneratorBase::Gradient g = generator->build_gradient_pipeline();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("has no schedule"), std::string::npos);
  EXPECT_EQ(g.output_names,
            (std::vector<std::string>{
                "_grad_loss_weighted_wrt_in", "_grad_loss_weighted_wrt_weights",
                "_grad_loss_weighted_wrt_mask", "_dummy_grad_loss_copied_wrt_in",
                "_dummy_grad_loss_copied_wrt_weights", "_grad_loss_copied_wrt_mask"}));
  std::vector<std::string> inputs;
  for (const Argument &a : g.inputs) inputs.push_back(a.name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"in", "weights", "mask", "scale",
                                              "_grad_loss_for_weighted", "_grad_loss_for_copied"}));

  Buffer<float> in(kSize), loss_copied(kSize);
  Buffer<double> weights(kSize + 1), loss(kSize);
  Buffer<uint8_t> mask(kSize);
  for (int x = 0; x < kSize; x++) {
    in(x) = 0.5f + static_cast<float>(x);
    loss(x) = 1.25 - x;
    mask(x) = static_cast<uint8_t>(x % 3);
  }
  for (int x = 0; x <= kSize; x++) weights(x) = 7 - 2 * x;
  g.inputs[0].parameter().set_buffer(in);
  g.inputs[1].parameter().set_buffer(weights);
  g.inputs[2].parameter().set_buffer(mask);
  g.inputs[3].parameter().set_scalar(1.5f);
  g.inputs[4].parameter().set_buffer(loss);
  g.inputs[5].parameter().set_buffer(loss_copied);

  Buffer<float> by_in(kSize), copied_by_in(kSize), copied_by_weights(kSize);
  Buffer<double> by_weights(kSize + 1);
  Buffer<uint8_t> by_mask(kSize), copied_by_mask(kSize);
  copied_by_in.fill(1);
  copied_by_weights.fill(1);
  by_mask.fill(1);
  copied_by_mask.fill(1);
  Pipeline pipeline = g.pipeline;
  pipeline.realize({by_in, by_weights, by_mask, copied_by_in, copied_by_weights, copied_by_mask});
  for (int x = 0; x < kSize; x++) {
    EXPECT_FLOAT_EQ(by_in(x), static_cast<float>(loss(x) * 1.5 * weights(x + 1) * mask(x))) << x;
    EXPECT_EQ(copied_by_in(x), 0) << x;
    EXPECT_EQ(copied_by_weights(x), 0) << x;
    EXPECT_EQ(by_mask(x), 0) << x;
    EXPECT_EQ(copied_by_mask(x), 0) << x;
  }
  EXPECT_EQ(by_weights(0), 0);
  for (int x = 1; x <= kSize; x++) {
    EXPECT_DOUBLE_EQ(by_weights(x), loss(x - 1) * 1.5 * in(x - 1) * mask(x - 1)) << x;
  }
}

class OfPairs : public Generator<OfPairs> {
 public:
  Input<Buffer<float, 1>> in{"in"};
  Output<Func> pair{"pair", {Float(32), Float(32)}, 1};
  void generate() {
    Var x("x");
    pair(x) = Tuple(in(x), -in(x));
  }
};

TEST(Derivative, OfAGeneratorThatHasNone) {
  auto pairs = OfPairs::create(GeneratorContext(get_host_target()));
  EXPECT_EQ(message_of([&] { pairs->build_gradient_pipeline(); }),
            "error: cannot differentiate output 'pair' of the generator\n"
            "  why: it has 2 values\n"
            "  fix: declare an output for each");
}

}  // namespace
}  // namespace polyhalite::derivative_test
