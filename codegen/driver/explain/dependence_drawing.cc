#include "codegen/driver/explain/dependence_drawing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "codegen/driver/html.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

namespace {

using Cell = std::vector<int64_t>;

constexpr int kStep = 44;             // pixels between points
constexpr int kMostInstances = 1300;  // of a drawing
constexpr const char *kInk = "var(--ph-ink, #000)";

struct Variable {
  std::string name;
  int64_t first = 0, count = 1;
};

// The points of a few values of each variable, the last variable outermost.
std::vector<Cell> points_of(const std::vector<Variable> &variables) {
  std::vector<Cell> points = {{}};
  for (size_t v = variables.size(); v-- > 0;) {
    std::vector<Cell> longer;
    for (const Cell &p : points) {
      for (int64_t i = 0; i < variables[v].count; i++) {
        longer.push_back({variables[v].first + i});
        longer.back().insert(longer.back().end(), p.begin(), p.end());
      }
    }
    points = std::move(longer);
  }
  return points;
}

// The variables of an instance, innermost first: reduction variables, then pure ones.
std::vector<Variable> variables_of(const FuncDef &f, int stage) {
  const StageDef &s = f.stages[static_cast<size_t>(stage)];
  std::vector<Variable> list;
  for (const ReductionVariable &r : s.rvars) {
    Variable v{r.var, 1, 6};  // of ranges that are no constants, some values
    int64_t n;
    if (is_const_int(simplify(r.min), &n)) v.first = n;
    if (is_const_int(simplify(r.extent), &n)) v.count = std::min(v.count, std::max<int64_t>(n, 1));
    list.push_back(std::move(v));
  }
  for (size_t d = 0; d < f.args.size(); d++) {
    const VariableNode *v = as_variable(s.args[d]);
    if (v && v->name == f.args[d]) list.push_back({f.args[d], 0, 6});
  }
  const auto instances = [&] {
    int64_t n = 1;
    for (const Variable &v : list) n *= v.count;
    return n;
  };
  while (instances() > kMostInstances) {
    std::max_element(list.begin(), list.end(), [](const Variable &a, const Variable &b) {
      return a.count < b.count;
    })->count--;
  }
  return list;
}

// Indices at a point; none where they depend on more than the point.
class At {
 public:
  At(const std::vector<Variable> &variables, const Cell &point) {
    for (size_t i = 0; i < variables.size(); i++) {
      values_[variables[i].name] = Expr(static_cast<int>(point[i]));
    }
  }
  std::optional<Cell> cell(const std::vector<Expr> &indices) const {
    Cell c;
    for (const Expr &e : indices) {
      int64_t n;
      if (!is_const_int(simplify(substitute(values_, e)), &n)) return std::nullopt;
      c.push_back(n);
    }
    return c;
  }
  // Does the instance exist? Where nobody knows, it does.
  bool holds(const Expr &condition) const {
    if (!condition.defined()) return true;
    return decide(substitute(values_, condition)).value_or(true);
  }

 private:
  std::map<std::string, Expr> values_;
};

std::vector<const CallNode *> reads_of(const StageDef &s, const std::string &func) {
  std::vector<const CallNode *> reads;
  const auto look = [&](const Expr &e) {
    if (!e.defined()) return;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Func && c->name == func) reads.push_back(c);
    });
  };
  for (const Expr &e : s.args) look(e);
  for (const Expr &e : s.values) look(e);
  look(s.predicate);
  return reads;
}

enum Kind { Flow, Anti, Output };
struct Arrow {
  Cell from, to;
  Kind kind;
  bool operator<(const Arrow &o) const {
    return std::tie(kind, from, to) < std::tie(o.kind, o.from, o.to);
  }
};

struct Dependences {
  std::set<Arrow> arrows;
  std::vector<Cell> points;
  bool complete = true;  // no index depends on data
};

// Runs the instances in the algorithm's order.
Dependences dependences_of(const FuncDef &f, int stage, const std::vector<Variable> &variables) {
  const StageDef &s = f.stages[static_cast<size_t>(stage)];
  const std::vector<const CallNode *> reads = reads_of(s, f.name);
  struct Touched {
    std::optional<Cell> writer;
    std::vector<Cell> readers;  // since
  };
  std::map<Cell, Touched> cells;
  Dependences d;
  for (const Cell &p : points_of(variables)) {
    const At at(variables, p);
    if (!at.holds(s.predicate)) continue;
    d.points.push_back(p);
    for (const CallNode *read : reads) {
      const auto cell = at.cell(read->args);
      d.complete &= cell.has_value();
      if (!cell) continue;
      Touched &t = cells[*cell];
      if (t.writer && *t.writer != p) d.arrows.insert({*t.writer, p, Flow});
      t.readers.push_back(p);
    }
    for (const CellWrite &w : cell_writes(s)) {
      const auto cell = at.cell(w.cell);
      d.complete &= cell.has_value();
      if (!cell) continue;
      Touched &t = cells[*cell];
      for (const Cell &r : t.readers) {
        if (r != p) d.arrows.insert({r, p, Anti});
      }
      if (t.writer && t.readers.empty() && *t.writer != p) {
        d.arrows.insert({*t.writer, p, Output});
      }
      t = {p, {}};
    }
  }
  return d;
}

// Which two variables are drawn: those along which most arrows go, the inner one across.
std::pair<int, int> axes(const std::vector<Variable> &variables, const Dependences &d) {
  std::vector<std::pair<int, int>> by_use;
  for (size_t v = 0; v < variables.size(); v++) {
    int used = 0;
    for (const Arrow &a : d.arrows) used += a.from[v] != a.to[v];
    by_use.push_back({-used, static_cast<int>(v)});
  }
  std::sort(by_use.begin(), by_use.end());
  if (by_use.size() == 1) return {by_use[0].second, -1};
  const int a = by_use[0].second, b = by_use[1].second;
  return {std::min(a, b), std::max(a, b)};
}

void draw_arrow(std::ostream &svg, int x0, int y0, int x1, int y1, Kind kind) {
  const char *style = kind == Flow ? "ph-flow" : kind == Anti ? "ph-anti" : "ph-out";
  // Bent a little, so that arrows along one row do not hide each other.
  const int dx = x1 - x0, dy = y1 - y0;
  const bool far = dx * dx + dy * dy > 2 * kStep * kStep;
  const int cx = (x0 + x1) / 2 + (far ? -dy / 4 : 0), cy = (y0 + y1) / 2 + (far ? dx / 4 : 0);
  svg << "<path class=\"" << style << "\" d=\"M" << x0 << " " << y0 << "Q" << cx << " " << cy << " "
      << x1 << " " << y1 << "\" marker-end=\"url(#ph-head)\"/>";
}

std::string drawing(const std::vector<Variable> &variables, const Dependences &d) {
  const auto [across, down] = axes(variables, d);
  const Variable &vx = variables[static_cast<size_t>(across)];
  const int64_t rows = down < 0 ? 1 : variables[static_cast<size_t>(down)].count;
  constexpr int kLeft = 64, kTop = 40;
  const auto x = [&](const Cell &p) {
    return kLeft + kStep * static_cast<int>(p[static_cast<size_t>(across)] - vx.first);
  };
  const auto y = [&](const Cell &p) {
    if (down < 0) return kTop;
    const size_t at = static_cast<size_t>(down);
    return kTop + kStep * static_cast<int>(p[at] - variables[at].first);
  };
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLeft + kStep * vx.count
      << "\" height=\"" << kTop + kStep * rows
      << "\" font-family=\"monospace\" font-size=\"11\" role=\"img\">";
  for (int64_t i = 0; i < vx.count; i++) {
    svg << "<text x=\"" << kLeft + kStep * i << "\" y=\"14\" text-anchor=\"middle\" fill=\"" << kInk
        << "\">" << (i == 0 ? escaped(vx.name) + "=" : "") << vx.first + i << "</text>";
  }
  for (int64_t i = 0; down >= 0 && i < rows; i++) {
    const Variable &vy = variables[static_cast<size_t>(down)];
    svg << "<text x=\"" << kLeft - 16 << "\" y=\"" << kTop + kStep * i + 4
        << "\" text-anchor=\"end\" fill=\"" << kInk << "\">"
        << (i == 0 ? escaped(vy.name) + "=" : "") << vy.first + i << "</text>";
  }
  std::set<std::pair<int, int>> spots;
  for (const Cell &p : d.points) spots.insert({x(p), y(p)});
  for (const auto &[px, py] : spots) {
    svg << "<circle cx=\"" << px << "\" cy=\"" << py << "\" r=\"4\" fill=\"" << kInk << "\"/>";
  }
  std::set<std::vector<int>> drawn;  // arrows in other planes lie on each other
  for (const Arrow &a : d.arrows) {
    const std::vector<int> line = {a.kind, x(a.from), y(a.from), x(a.to), y(a.to)};
    if (line[1] == line[3] && line[2] == line[4]) continue;
    if (drawn.insert(line).second) draw_arrow(svg, line[1], line[2], line[3], line[4], a.kind);
  }
  svg << "</svg>";
  return svg.str();
}

// An update's own dependences; empty where its instances touch cells of their own.
std::string draw_update(const FuncDef &f, int stage) {
  const std::vector<Variable> variables = variables_of(f, stage);
  if (variables.empty()) return "";
  const Dependences d = dependences_of(f, stage, variables);
  if (d.arrows.empty() && d.complete) return "";
  std::string html = "<figure><figcaption>Instances of " + escaped(describe_stage(f.name, stage));
  if (d.arrows.empty()) {
    return html + ": which cells they touch, sizes or data decide.</figcaption></figure>\n";
  }
  html += ", in the algorithm's order";
  if (variables.size() > 2) html += ", of all planes at once";
  html += d.complete ? "." : "; accesses to cells that sizes or data decide are not drawn.";
  return html + "</figcaption>" + drawing(variables, d) + "</figure>\n";
}

// The cells of `producer` that one instance reads, its first two dimensions.
std::string draw_reads(const FuncDef &f, int stage, const std::string &producer) {
  const std::vector<const CallNode *> reads =
      reads_of(f.stages[static_cast<size_t>(stage)], producer);
  if (reads.empty() || reads[0]->args.empty()) return "";
  std::vector<Variable> variables = variables_of(f, stage);
  Cell point;
  std::string where;
  for (Variable &v : variables) {
    v.first += std::min<int64_t>(v.count - 1, 4);
    v.count = 1;
    point.push_back(v.first);
    where += (where.empty() ? "" : ", ") + v.name + "=" + std::to_string(v.first);
  }
  const At at(variables, point);
  std::set<std::pair<int64_t, int64_t>> cells;
  for (const CallNode *read : reads) {
    const auto cell = at.cell(read->args);
    if (!cell) continue;
    cells.insert({(*cell)[0], cell->size() > 1 ? (*cell)[1] : 0});
  }
  std::string html = "<figure><figcaption>" + escaped(describe_stage(f.name, stage)) + " at (" +
                     escaped(where) + ") reads of '" + escaped(producer) + "'";
  if (cells.empty()) return html + " cells that sizes or data decide.</figcaption></figure>\n";
  int64_t x0 = cells.begin()->first, x1 = x0, y0 = cells.begin()->second, y1 = y0;
  for (const auto &[x, y] : cells) {
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
  }
  html += " the cells " + std::to_string(x0) + ".." + std::to_string(x1);
  if (reads[0]->args.size() > 1) html += ", " + std::to_string(y0) + ".." + std::to_string(y1);
  html += "</figcaption>";
  constexpr int kSide = 18;
  constexpr int64_t kMostCells = 24;
  if (x1 - x0 >= kMostCells || y1 - y0 >= kMostCells) return html + "</figure>\n";
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << (x1 - x0 + 3) * kSide
      << "\" height=\"" << (y1 - y0 + 3) * kSide << "\" role=\"img\">";
  for (int64_t y = y0 - 1; y <= y1 + 1; y++) {
    for (int64_t x = x0 - 1; x <= x1 + 1; x++) {
      svg << "<rect x=\"" << (x - x0 + 1) * kSide + 1 << "\" y=\"" << (y - y0 + 1) * kSide + 1
          << "\" width=\"" << kSide - 2 << "\" height=\"" << kSide - 2 << "\" class=\""
          << (cells.count({x, y}) ? "ph-read" : "ph-cell") << "\"><title>(" << x << ", " << y
          << ")</title></rect>";
    }
  }
  svg << "</svg>";
  return html + svg.str() + "</figure>\n";
}

constexpr const char *kLegend =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><marker id=\"ph-head\" "
    "viewBox=\"0 0 8 8\" refX=\"9\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" "
    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"var(--ph-line, #666)\"/></marker></defs>"
    "</svg><p class=\"legend\"><span class=\"ph-key flow\"></span> reads what the other wrote "
    "<span class=\"ph-key anti\"></span> overwrites what the other read "
    "<span class=\"ph-key out\"></span> overwrites what the other wrote</p>\n";

}  // namespace

std::string draw_dependences(const Algorithm &algorithm) {
  std::string updates, reads;
  for (const FuncDef &f : algorithm.funcs) {
    for (int stage = 1; stage < f.num_definitions(); stage++) updates += draw_update(f, stage);
    for (int stage = 0; stage < f.num_definitions(); stage++) {
      for (const FuncDef &producer : algorithm.funcs) {
        if (producer.name != f.name) reads += draw_reads(f, stage, producer.name);
      }
    }
  }
  if (updates.empty() && reads.empty()) return "<p>No stage needs another.</p>\n";
  return (updates.empty() ? "" : kLegend + updates) + reads;
}

}  // namespace polyhalite
