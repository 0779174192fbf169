// Windows of signal processing.
#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

void infer_window(Inference &i) {
  const auto n = i.integers(0).at(0);
  i.result(0, static_cast<ElementType>(i.node().integer("output_datatype", 1)), {Dim(n)});
}

// a0 - a1 cos(2 pi k / n) + a2 cos(4 pi k / n), over n or, where it is symmetric, n - 1 steps.
std::vector<Tensor> lower_window(Lowering &l) {
  const std::string &op = l.node().op;
  const bool hann = op == "HannWindow", hamming = op == "HammingWindow";
  const double a0 = hann      ? 0.5
                    : hamming ? 25.0 / 46
                              : 0.42,
               a1 = hann      ? 0.5
                    : hamming ? 21.0 / 46
                              : 0.5;
  const double a2 = hann || hamming ? 0 : 0.08;
  const double n = static_cast<double>(l.integers(0).at(0));
  const double steps = l.node().integer("periodic", 1) ? n : n - 1;
  const Type type = l.result_type(0);
  return {Tensor(type, l.result_sizes(0), [=](const Index &at) {
    const Expr angle = cast<double>(at[0]) * Expr(2 * 3.14159265358979323846 / steps);
    return cast(type, Expr(a0) - Expr(a1) * cos(angle) + Expr(a2) * cos(Expr(2.0) * angle));
  })};
}

}  // namespace

std::vector<Operator> signal_operators() {
  std::vector<Operator> list;
  for (const char *name : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    list.push_back({"", name, Operator::Other, infer_window, lower_window, {0}});
  }
  return list;
}

}  // namespace polyhalite::onnx
