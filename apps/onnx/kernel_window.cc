#include "apps/onnx/kernel_window.h"

#include <string>
#include <vector>

#include "polyhalite/param.h"

namespace polyhalite::onnx {

namespace {

std::vector<int> of_two(const Node &n, const std::string &attribute) {
  const std::vector<int64_t> list = n.integers(attribute);
  return list.empty() ? std::vector<int>{1, 1} : std::vector<int>(list.begin(), list.end());
}

}  // namespace

std::optional<ops::Window> kernel_window(const Graph &g, const Node &n, const Constant &w) {
  const auto &result = g.value(n.outputs[0]).shape;
  if (n.integer("group", 1) != 1 || w.shape().size() != 4 || !result) return std::nullopt;
  ops::Window window;
  window.kernel = {static_cast<int>(w.shape()[2]), static_cast<int>(w.shape()[3])};
  window.stride = of_two(n, "strides");
  window.dilation = of_two(n, "dilations");
  for (size_t d = 2; d < 4; d++) {
    const auto size = (*result)[d].constant();
    window.shape.push_back(size ? Expr(static_cast<int>(*size)) : Expr(Param<int32_t>("size")));
  }
  return window;
}

}  // namespace polyhalite::onnx
