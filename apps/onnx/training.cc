// ai.onnx.preview.training: a step of an optimiser. Operands are the rate, the number of the step,
// and for all tensors together their elements, their gradients, and what the optimiser keeps of
// each.
#include "apps/onnx/expansion_call.h"

namespace polyhalite::onnx {

namespace {

constexpr const char *kTraining = "ai.onnx.preview.training";

// What one tensor has, and the numbers in its type.
class TrainingStep {
 public:
  TrainingStep(Call *c, size_t tensor, size_t tensors)
      : c_(*c), at_(2 + tensor), tensors_(tensors) {}

  ValueId part(size_t k) const { return c_.in(at_ + k * tensors_); }
  ValueId number(const char *attribute, float otherwise) {
    return c_.w.number(c_.node.real(attribute, otherwise), part(0));
  }
  ValueId one() { return c_.w.number(1, part(0)); }
  ValueId rate() { return c_.w.op("CastLike", {c_.in(0), part(0)}); }
  ValueId count() { return c_.w.op("CastLike", {c_.in(1), part(0)}); }
  ValueId add(ValueId a, ValueId b) { return c_.w.op("Add", {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return c_.w.op("Sub", {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return c_.w.op("Mul", {a, b}); }
  ValueId div(ValueId a, ValueId b) { return c_.w.op("Div", {a, b}); }
  ValueId root(ValueId a) { return c_.w.op("Sqrt", {a}); }
  // The gradient of the loss and of the norm's penalty.
  ValueId gradient() { return add(mul(number("norm_coefficient", 0), part(0)), part(1)); }
  // `yes` in steps behind the first one.
  ValueId later(ValueId yes, ValueId no) {
    const ValueId test = c_.w.op("Greater", {c_.in(1), c_.w.integer(0)});
    return c_.w.op("Where", {test, yes, no});
  }
  // a * decay + b * (1 - decay)
  ValueId moving(ValueId a, ValueId b, ValueId decay) {
    return add(mul(a, decay), mul(b, sub(one(), decay)));
  }
  void define(size_t k, ValueId v) { c_.define(at_ - 2 + k * tensors_, v); }

 private:
  Call &c_;
  const size_t at_, tensors_;
};

// For each of the tensors that have `parts` operands.
template <typename F>
void each_tensor(Call &c, size_t parts, const F &f) {
  const size_t n = c.node.inputs.size();
  if (n < 2 + parts || (n - 2) % parts != 0)
    c.fail("it has " + std::to_string(n) + " operands",
           "they are a rate, a count, and " + std::to_string(parts) + " for each tensor");
  const size_t tensors = (n - 2) / parts;
  for (size_t k = 0; k < tensors; k++) f(TrainingStep(&c, k, tensors));
}

// Duchi, Hazan and Singer, Adaptive Subgradient Methods (2011).
void expand_adagrad(Call &c) {
  each_tensor(c, 3, [](TrainingStep s) {
    const ValueId rate =
        s.div(s.rate(), s.add(s.one(), s.mul(s.count(), s.number("decay_factor", 0))));
    const ValueId g = s.gradient(), sum = s.add(s.part(2), s.mul(g, g));
    const ValueId width = s.add(s.root(sum), s.number("epsilon", 1e-6f));
    s.define(0, s.sub(s.part(0), s.div(s.mul(rate, g), width)));
    s.define(1, sum);
  });
}

// Kingma and Ba, Adam: A Method for Stochastic Optimization (2014).
void expand_adam(Call &c) {
  each_tensor(c, 4, [&c](TrainingStep s) {
    const ValueId alpha = s.number("alpha", 0.9f), beta = s.number("beta", 0.999f);
    const ValueId g = s.gradient();
    const ValueId mean = s.moving(s.part(2), g, alpha),
                  square = s.moving(s.part(3), s.mul(g, g), beta);
    auto bias = [&](ValueId decay) { return s.sub(s.one(), c.w.op("Pow", {decay, s.count()})); };
    const ValueId adjusted = s.div(s.mul(s.rate(), s.root(bias(beta))), bias(alpha));
    const ValueId rate = s.later(adjusted, s.rate());
    const ValueId width = s.add(s.root(square), s.number("epsilon", 1e-6f));
    const ValueId x = s.sub(s.part(0), s.div(s.mul(rate, mean), width));
    s.define(0, s.mul(x, s.sub(s.one(), s.number("norm_coefficient_post", 0))));
    s.define(1, mean);
    s.define(2, square);
  });
}

void expand_momentum(Call &c) {
  const std::string mode = c.node.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    c.fail("its mode is '" + mode + "'", "it is 'standard' or 'nesterov'");
  each_tensor(c, 3, [&mode](TrainingStep s) {
    const ValueId alpha = s.number("alpha", 0), g = s.gradient();
    const ValueId part = s.later(s.number("beta", 0), s.one());
    const ValueId v = s.add(s.mul(alpha, s.part(2)), s.mul(part, g));
    const ValueId step = mode == "nesterov" ? s.add(g, s.mul(alpha, v)) : v;
    s.define(0, s.sub(s.part(0), s.mul(s.rate(), step)));
    s.define(1, v);
  });
}

}  // namespace

std::vector<Expansion> training_expansions() {
  constexpr size_t kAny = 1 << 16;
  return {
      {kTraining,
       "Adagrad",
       5,
       kAny,
       kAny,
       {"decay_factor", "epsilon", "norm_coefficient"},
       expand_adagrad},
      {kTraining,
       "Adam",
       6,
       kAny,
       kAny,
       {"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"},
       expand_adam},
      {kTraining,
       "Momentum",
       5,
       kAny,
       kAny,
       {"alpha", "beta", "mode", "norm_coefficient"},
       expand_momentum},
  };
}

}  // namespace polyhalite::onnx
