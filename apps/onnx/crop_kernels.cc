#include <algorithm>
#include <numeric>

#include "apps/onnx/passes.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

// A spatial dimension of a convolution.
struct Span {
  int64_t image, results, kernel, stride, dilation, before, behind;

  // Is a cell of the kernel inside of the image for some result?
  bool meets(int64_t cell) const {
    for (int64_t r = 0; r < results; r++) {
      const int64_t at = r * stride + cell * dilation - before;
      if (at >= 0 && at < image) return true;
      if (at >= image) return false;
    }
    return false;
  }
};

// Leaves out cells of the kernels along dimension d that are never inside. Whether there are some.
bool crop(const Span &s, size_t d, Constant *w, std::vector<int64_t> *pads) {
  int64_t first = 0, last = s.kernel - 1;
  while (first < last && !s.meets(first)) first++;
  while (last > first && !s.meets(last)) last--;
  const int64_t before = s.before - first * s.dilation;
  const int64_t behind = s.behind - (s.kernel - 1 - last) * s.dilation;
  if (last - first == s.kernel - 1 || before < 0 || behind < 0) return false;
  std::vector<int64_t> cells(static_cast<size_t>(last - first) + 1);
  std::iota(cells.begin(), cells.end(), first);
  *w = move_axis(pick_rows(move_axis(*w, d + 2, 0), cells), 0, d + 2);
  (*pads)[d] = before;
  (*pads)[d + pads->size() / 2] = behind;
  return true;
}

}  // namespace

Graph crop_kernels(Graph g) {
  for (Node &n : g.nodes) {
    if (!n.is("Conv") || n.text("auto_pad", "NOTSET") != "NOTSET") continue;
    const Value given = g.value(n.inputs[1]);
    const auto &image = g.value(n.inputs[0]).shape, &results = g.value(n.outputs[0]).shape;
    if (!given.constant || given.constant->is_splat() || !image || !results) continue;
    Constant w = *given.constant;
    const size_t spatial = w.shape().size() - 2;
    const std::vector<int64_t> strides = n.integers("strides", spatial, 1);
    const std::vector<int64_t> dilations = n.integers("dilations", spatial, 1);
    std::vector<int64_t> pads = n.integers("pads", 2 * spatial, 0);
    bool any = false;
    for (size_t d = 0; d < spatial; d++) {
      const auto size = (*image)[d + 2].constant(), count = (*results)[d + 2].constant();
      if (!size || !count) continue;
      const Span s{*size,        *count,  w.shape()[d + 2], strides[d],
                   dilations[d], pads[d], pads[d + spatial]};
      any = crop(s, d, &w, &pads) || any;
    }
    if (!any) continue;
    n.inputs[1] = g.add_constant(given.name + ".cropped", w);
    n.attributes["kernel_shape"] = std::vector<int64_t>(w.shape().begin() + 2, w.shape().end());
    n.attributes["pads"] = pads;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
