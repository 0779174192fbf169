#include "apps/onnx/open_region.h"

#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

OpenRegion::OpenRegion(const Graph &region) : region_(region) {
  region_.inputs.clear();
  region_.outputs.clear();
}

void OpenRegion::give(ValueId inside, ValueId v, const Sequence *s) {
  if (!s) {
    region_.inputs.push_back(inside);
    operands_.push_back(v);
    return;
  }
  std::vector<ValueId> parts;
  for (const ValueId part : s->parts) {
    const std::string name = region_.value(inside).name + "[" + std::to_string(parts.size()) + "]";
    parts.push_back(region_.add_value(name));
    region_.inputs.push_back(parts.back());
    operands_.push_back(part);
  }
  front_.push_back(node_that_makes(*s, parts, inside));
}

void OpenRegion::give_nothing(ValueId inside) {
  front_.push_back(node_that_makes({Form::List, ElementType::Undefined, {}}, {}, inside));
}

void OpenRegion::take(ValueId output, const OutputForm &form) {
  if (form.count == 0) return;
  if (form.form == Form::Tensor) {
    take(output);
  } else if (form.form == Form::Stack) {
    Writer w(&region_, &region_.nodes, region_.value(output).name + "/");
    take(w.op("ConcatFromSequence", {output}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}));
  } else {
    std::vector<ValueId> elements;
    for (size_t k = 0; k < form.count; k++) {
      const std::string name = region_.value(output).name + "[" + std::to_string(k) + "]";
      elements.push_back(region_.add_value(name));
      take(elements.back());
    }
    region_.nodes.push_back(node_that_takes_apart(output, elements));
  }
}

Graph OpenRegion::region() const {
  Graph g = region_;
  g.nodes.insert(g.nodes.begin(), front_.begin(), front_.end());
  return g;
}

}  // namespace polyhalite::onnx
