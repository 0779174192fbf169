#include <algorithm>
#include <map>
#include <optional>

#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

class JoiningNormalisations {
 public:
  explicit JoiningNormalisations(Graph g) : g_(std::move(g)), uses_(g_.use_counts()) {
    for (size_t i = 0; i < g_.nodes.size(); i++) {
      for (ValueId v : g_.nodes[i].outputs) made_by_[v] = i;
      for (ValueId v : g_.nodes[i].inputs) read_by_[v] = i;
    }
  }

  Graph run() && {
    for (size_t i = 0; i < g_.nodes.size(); i++) {
      if (g_.nodes[i].is("InstanceNormalization")) join(i);
    }
    return std::move(g_);
  }

 private:
  void join(size_t at) {
    const Node norm = g_.nodes[at];
    const Node *const split = maker(norm.inputs[0]);
    if (!split || !split->is("Reshape")) return;
    const ValueId x = split->inputs[0];
    const auto &grouped = g_.value(norm.inputs[0]).shape, &whole = g_.value(x).shape;
    if (!grouped || !whole || grouped->size() < 3 || whole->size() < 3) return;
    if ((*grouped)[0] != (*whole)[0]) return;
    const auto groups = (*grouped)[1].constant(), channels = (*whole)[1].constant();
    if (!groups || !channels || *groups < 1 || *channels % *groups != 0) return;
    std::optional<size_t> last = reader(norm.outputs[0]);
    if (!last || !g_.nodes[*last].is("Reshape") ||
        g_.value(g_.nodes[*last].outputs[0]).shape != whole)
      return;
    auto scale = of_channels(norm.inputs[1], *channels, {*groups});
    auto bias = of_channels(norm.inputs[2], *channels, {*groups});
    if (!scale || !bias) return;
    for (const char *op : {"Mul", "Add"}) {
      const auto next = reader(g_.nodes[*last].outputs[0]);
      if (!next || !g_.nodes[*next].is(op)) continue;
      const Node &n = g_.nodes[*next];
      const size_t other = n.inputs[0] == g_.nodes[*last].outputs[0] ? 1 : 0;
      if (g_.value(n.outputs[0]).shape != whole || !meets_channels(n.inputs[other], *whole))
        continue;
      const auto by = of_channels(n.inputs[other], *channels, {1, *channels});
      if (!by) continue;
      for (size_t c = 0; c < scale->size(); c++) {
        if (n.is("Mul")) {
          (*scale)[c] *= (*by)[c];
          (*bias)[c] *= (*by)[c];
        } else {
          (*bias)[c] += (*by)[c];
        }
      }
      last = next;
    }
    const ValueId scales = constant(norm.name + ".scale", *scale);
    const ValueId biases = constant(norm.name + ".bias", *bias);
    Node &n = g_.nodes[*last];
    n.op = "GroupNormalization";
    n.version = 21;
    n.name = norm.name;
    n.inputs = {x, scales, biases};
    n.attributes = norm.attributes;
    n.attributes["num_groups"] = *groups;
  }

  const Node *maker(ValueId v) const {
    const auto at = made_by_.find(v);
    return at == made_by_.end() ? nullptr : &g_.nodes[at->second];
  }
  // The only one.
  std::optional<size_t> reader(ValueId v) const {
    const auto at = read_by_.find(v);
    if (at == read_by_.end() || uses_[static_cast<size_t>(v)] != 1) return std::nullopt;
    return at->second;
  }

  // Are the elements those of channels, or one for all?
  bool meets_channels(ValueId v, const Shape &whole) const {
    const auto &shape = g_.value(v).shape;
    if (!shape || shape->size() > whole.size()) return false;
    const size_t missing = whole.size() - shape->size();
    for (size_t d = 0; d < shape->size(); d++) {
      if (!(*shape)[d].is(1) && d + missing != 1) return false;
    }
    return true;
  }

  // A known operand's element for each channel, where it has one of these numbers of them; in
  // double, so that what is folded is as exact as the steps were.
  std::optional<std::vector<double>> of_channels(ValueId v, int64_t channels,
                                                 const std::vector<int64_t> &counts) const {
    const auto &c = g_.value(v).constant;
    if (!c || c->type() != ElementType::Float32) return std::nullopt;
    const int64_t n = c->elements();
    if (std::count(counts.begin(), counts.end(), n) == 0) return std::nullopt;
    std::vector<double> values;
    for (int64_t k = 0; k < channels; k++) values.push_back(c->number(k / (channels / n)));
    return values;
  }

  ValueId constant(const std::string &name, const std::vector<double> &values) {
    const std::vector<float> rounded(values.begin(), values.end());
    return g_.add_constant(name, Constant::reals({static_cast<int64_t>(rounded.size())}, rounded));
  }

  Graph g_;
  const std::vector<int> uses_;
  std::map<ValueId, size_t> made_by_, read_by_;
};

}  // namespace

Graph join_group_norm(Graph g) { return JoiningNormalisations(std::move(g)).run(); }

}  // namespace polyhalite::onnx
