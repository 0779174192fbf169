// Steps of optimisers of ai.onnx.preview.training, against their formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::training_test {
namespace {

constexpr const char *kDomain = "ai.onnx.preview.training";

class Training : public Microsoft {
 protected:
  Training() { ours_.import(kDomain, 1); }

  // Two tensors of other shapes; `kept` names what the optimiser keeps of each.
  Names operands(int64_t step, const Names &kept) {
    weights<float>("rate", 1, {}, {0.1f});
    weights<int64_t>("step", 7, {}, {step});
    Names in{"rate", "step"};
    Names parts{"x", "g"};
    parts.insert(parts.end(), kept.begin(), kept.end());
    for (const std::string &part : parts) {
      for (int tensor = 0; tensor < 2; tensor++) {
        const std::string name = part + std::to_string(tensor);
        operand(name, tensor == 0 ? Shape64{2, 3} : Shape64{4});
        in.push_back(name);
      }
    }
    return in;
  }
  // Sums of squares are not negative.
  void make_positive(const std::string &name) {
    std::vector<float> &v = values_[name];
    for (float &f : v) f = std::fabs(f);
    in_[name] = floats(in_[name].shape(), v);
  }
  void step(const std::string &op, const Names &in, const Names &out,
            const std::vector<Message> &attributes) {
    ours_.node(op, in, out, attributes, kDomain);
    for (const std::string &o : out) ours_.output(o);
  }
  // The outputs of tensor t follow from its elements, gradients and what is kept.
  template <typename F>
  void expect_each(const Names &out, const Names &kept, const F &f) {
    const Program::Tensors got = Session(ours_.load()).run(in_);
    for (size_t t = 0; t < 2; t++) {
      const std::string n = std::to_string(t);
      std::vector<std::vector<double>> wanted(kept.size() + 1);
      for (size_t i = 0; i < values_["x" + n].size(); i++) {
        std::vector<double> states;
        for (const std::string &k : kept) states.push_back(values_[k + n][i]);
        const std::vector<double> all = f(values_["x" + n][i], values_["g" + n][i], states);
        for (size_t k = 0; k < all.size(); k++) wanted[k].push_back(all[k]);
      }
      for (size_t k = 0; k < wanted.size(); k++) {
        const Constant &one = got.at(out[k * 2 + t]);
        EXPECT_EQ(one.shape(), (t == 0 ? Shape64{2, 3} : Shape64{4}));
        for (size_t i = 0; i < wanted[k].size(); i++)
          ASSERT_NEAR(one.number(static_cast<int64_t>(i)), wanted[k][i], 1e-5) << k << " " << i;
      }
    }
  }
  void again() {
    ours_ = ModelBuilder(23);
    ours_.import(kDomain, 1);
    plain_ = ModelBuilder(23);
    in_.clear();
    values_.clear();
  }
};

TEST_F(Training, adagrad) {
  const Names in = operands(3, {"h"}), out{"x0n", "x1n", "h0n", "h1n"};
  make_positive("h0");
  make_positive("h1");
  step("Adagrad", in, out,
       {real_attribute("decay_factor", 0.5f), real_attribute("epsilon", 0.01f),
        real_attribute("norm_coefficient", 0.2f)});
  expect_each(out, {"h"}, [](double x, double g, const std::vector<double> &kept) {
    const double whole = 0.2 * x + g, h = kept[0] + whole * whole;
    return std::vector<double>{x - 0.1 / (1 + 3 * 0.5) * whole / (std::sqrt(h) + 0.01), h};
  });
}

TEST_F(Training, adam) {
  for (const int64_t count : {0, 3}) {
    again();
    const Names in = operands(count, {"v", "h"}), out{"x0n", "x1n", "v0n", "v1n", "h0n", "h1n"};
    make_positive("h0");
    make_positive("h1");
    step("Adam", in, out,
         {real_attribute("alpha", 0.8f), real_attribute("beta", 0.95f),
          real_attribute("epsilon", 0.01f), real_attribute("norm_coefficient", 0.2f),
          real_attribute("norm_coefficient_post", 0.1f)});
    expect_each(out, {"v", "h"}, [&](double x, double g, const std::vector<double> &kept) {
      const double whole = 0.2 * x + g, v = 0.8 * kept[0] + 0.2 * whole,
                   h = 0.95 * kept[1] + 0.05 * whole * whole;
      double rate = 0.1;
      const auto n = static_cast<double>(count);
      if (count > 0) rate *= std::sqrt(1 - std::pow(0.95, n)) / (1 - std::pow(0.8, n));
      return std::vector<double>{0.9 * (x - rate * v / (std::sqrt(h) + 0.01)), v, h};
    });
  }
}

TEST_F(Training, momentum) {
  for (const char *mode : {"standard", "nesterov"}) {
    for (const int64_t count : {0, 3}) {
      again();
      const Names in = operands(count, {"v"}), out{"x0n", "x1n", "v0n", "v1n"};
      step("Momentum", in, out,
           {real_attribute("alpha", 0.8f), real_attribute("beta", 0.5f),
            real_attribute("norm_coefficient", 0.2f), text_attribute("mode", mode)});
      expect_each(out, {"v"}, [&](double x, double g, const std::vector<double> &kept) {
        const double whole = 0.2 * x + g, v = 0.8 * kept[0] + (count > 0 ? 0.5 : 1.0) * whole;
        const double by = std::string(mode) == "nesterov" ? whole + 0.8 * v : v;
        return std::vector<double>{x - 0.1 * by, v};
      });
    }
  }
}

TEST_F(Training, refused_with_reasons) {
  Names in = operands(3, {"v"});
  step("Momentum", in, {"x0n", "x1n", "v0n", "v1n"}, {text_attribute("mode", "heavy")});
  EXPECT_NE(error().find("node 'make_x0n' (ai.onnx.preview.training.Momentum): its mode is "
                         "'heavy'\n  why: it is 'standard' or 'nesterov'\n  fix: export the model "
                         "with other operators"),
            std::string::npos)
      << error();
  again();
  in = operands(3, {"v"});
  in.pop_back();
  step("Adagrad", in, {"x0n"}, {});
  EXPECT_NE(error().find("it has 7 operands\n  why: they are a rate, a count, and 3 for each "
                         "tensor"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx::training_test
