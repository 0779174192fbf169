#include "codegen/driver/explain/stage_graph.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "codegen/driver/html.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

struct GraphNode {
  std::string name;
  const char *fill;
  std::vector<std::string> reads;
};

constexpr const char *kImage = "var(--ph-image, #dbe9f6)", *kParam = "var(--ph-param, #eee)",
                     *kFunc = "var(--ph-func, #fff)", *kOutput = "var(--ph-output, #dff2df)",
                     *kTextInk = "var(--ph-ink, #000)", *kLine = "var(--ph-line, #666)";

// Images and Params that a Func uses, and the Funcs that it calls, in order of first use.
std::vector<std::string> read_by(const FuncDef &f) {
  std::vector<std::string> reads;
  const auto look = [&](const Expr &node) {
    std::string name;
    if (const CallNode *c = as_call(node)) {
      if (c->kind == CallKind::Func || c->kind == CallKind::Image) name = c->name;
    } else if (const VariableNode *v = as_variable(node)) {
      if (v->kind == VariableKind::Param) name = v->name;
    }
    if (name.empty() || name == f.name) return;
    if (std::find(reads.begin(), reads.end(), name) == reads.end()) reads.push_back(name);
  };
  for (const StageDef &stage : f.stages) {
    for (const Expr &e : stage.args) for_each_node(e, look);
    for (const Expr &e : stage.values) for_each_node(e, look);
    if (stage.predicate.defined()) for_each_node(stage.predicate, look);
  }
  return reads;
}

std::vector<GraphNode> nodes_of(const Algorithm &a) {
  std::vector<GraphNode> nodes;
  for (const AlgorithmInput &i : a.inputs) {
    nodes.push_back({i.param->name, i.param->is_buffer ? kImage : kParam, {}});
  }
  for (const FuncDef &f : a.funcs) {
    nodes.push_back({f.name, a.is_output(f.name) ? kOutput : kFunc, read_by(f)});
  }
  return nodes;
}

// At most 16 characters.
std::string label(const std::string &name) {
  constexpr size_t kMost = 16;
  return name.size() <= kMost ? name : name.substr(0, kMost - 1) + "\u2026";
}

}  // namespace

std::string graph_svg(const Algorithm &algorithm) {
  constexpr int kWidth = 124, kHeight = 30, kGapX = 46, kGapY = 14, kEdge = 4;
  const std::vector<GraphNode> nodes = nodes_of(algorithm);
  std::map<std::string, int> depth;
  std::map<int, int> rows;
  std::map<std::string, std::pair<int, int>> at;
  int columns = 0, most_rows = 1;
  for (const GraphNode &n : nodes) {
    int column = 0;
    for (const std::string &r : n.reads) {
      if (const auto d = depth.find(r); d != depth.end()) column = std::max(column, d->second + 1);
    }
    depth[n.name] = column;
    const int row = rows[column]++;
    at[n.name] = {kEdge + column * (kWidth + kGapX), kEdge + row * (kHeight + kGapY)};
    columns = std::max(columns, column + 1);
    most_rows = std::max(most_rows, row + 1);
  }
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
      << 2 * kEdge + columns * (kWidth + kGapX) - kGapX << "\" height=\""
      << 2 * kEdge + most_rows * (kHeight + kGapY) - kGapY
      << "\" font-family=\"monospace\" font-size=\"12\">"
         "<defs><marker id=\"ph-arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
         "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\""
      << kLine << "\"/></marker></defs>";
  for (const GraphNode &n : nodes) {
    const auto [x, y] = at[n.name];
    for (const std::string &r : n.reads) {
      const auto from = at.find(r);
      if (from == at.end()) continue;
      svg << "<path d=\"M" << from->second.first + kWidth << " "
          << from->second.second + kHeight / 2 << "L" << x << " " << y + kHeight / 2
          << "\" stroke=\"" << kLine << "\" fill=\"none\" marker-end=\"url(#ph-arrow)\"/>";
    }
  }
  for (const GraphNode &n : nodes) {
    const auto [x, y] = at[n.name];
    svg << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << kWidth << "\" height=\""
        << kHeight << "\" rx=\"4\" fill=\"" << n.fill << "\" stroke=\"" << kLine << "\"><title>"
        << escaped(n.name) << "</title></rect><text x=\"" << x + kWidth / 2 << "\" y=\"" << y + 19
        << "\" text-anchor=\"middle\" fill=\"" << kTextInk << "\">" << escaped(label(n.name))
        << "</text>";
  }
  svg << "</svg>";
  return svg.str();
}

}  // namespace polyhalite
