#include "codegen/driver/explain/tree_sections.h"

#include <sstream>

#include "autosched/machine.h"
#include "codegen/driver/html.h"
#include "lang/ir/expr_text.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

// Long expressions say nothing in a heading: the whole of it is a tooltip.
std::string size_text(const Expr &e) {
  constexpr size_t kMost = 40;
  const std::string text = to_text(simplify(e));
  if (text.size() <= kMost) return escaped(text);
  return "<abbr title=\"" + escaped(text) + "\">" + escaped(text.substr(0, kMost - 1)) +
         "&hellip;</abbr>";
}

class Sections {
 public:
  Sections(const LoopTree &tree, const Survey &survey, const Footprints &numbers,
           const Target &target, const std::set<std::string> &anchors)
      : tree_(tree),
        survey_(survey),
        numbers_(numbers),
        machine_(autosched::machine_for(target, 1)),
        anchors_(anchors) {}

  std::string all() {
    block(tree_.roots);
    return html_.str();
  }

 private:
  void block(const std::vector<Tree> &nodes) {
    for (const Tree &n : nodes) node(*n);
  }

  void open(const std::string &heading, const std::string &id = "") {
    html_ << "<details open" << (id.empty() ? "" : " id=\"" + escaped(id) + "\"") << "><summary>"
          << heading << "</summary>\n";
  }

  void node(const TreeNode &n) {
    switch (n.kind) {
      case TreeNode::Loop:
        return loop(n);
      case TreeNode::Stage:
        return stage(n.stage);
      case TreeNode::Allocate:
        open("<b>store</b> " + escaped(func(n)) + storage(n.stage.func));
        break;
      case TreeNode::Hoist:
        open("<b>memory</b> of " + escaped(func(n)));
        break;
      case TreeNode::Fork:
        open("<b>beside the rest</b>: " + escaped(func(n)));
        break;
      case TreeNode::Branch:
        open("<b>if</b> " + escaped(to_text(n.condition)));
        break;
    }
    block(n.children);
    html_ << "</details>\n";
    if (n.kind != TreeNode::Branch || n.otherwise.empty()) return;
    open("<b>else</b>");
    block(n.otherwise);
    html_ << "</details>\n";
  }

  const std::string &func(const TreeNode &n) const { return tree_.func(n.stage).name; }

  // Which of the processor's memories holds so much.
  std::string level_of(double bytes) const {
    if (bytes <= machine_.l1) return "first-level cache";
    if (bytes <= machine_.l2) return "second-level cache";
    if (bytes <= machine_.l3) return "last-level cache";
    return "memory";
  }

  std::string footprint(double bytes) const { return bytes_text(bytes) + ", " + level_of(bytes); }

  void link(std::ostream &os, const std::string &anchor, const char *word) const {
    if (anchors_.count(anchor)) os << " <a href=\"#" << escaped(anchor) << "\">" << word << "</a>";
  }

  void loop(const TreeNode &n) {
    const LoopInfo &l = tree_.loops[static_cast<size_t>(n.loop)];
    const LoopNumbers &numbers = numbers_.loops[static_cast<size_t>(n.loop)];
    std::ostringstream heading;
    heading << "<b>for</b> " << escaped(l.label) << " <span class=\"of\">of "
            << escaped(tree_.describe(l.stage)) << "</span>";
    if (l.kind != LoopKind::Serial) {
      heading << " <b class=\"kind\">" << loop_kind_name(l.kind) << "</b>";
    }
    const Expr extent = simplify(survey_.loops[static_cast<size_t>(n.loop)].extent);
    int64_t constant;
    heading << " <span class=\"size\">" << size_text(extent);
    if (numbers.extent && !is_const_int(extent, &constant)) heading << " = " << *numbers.extent;
    heading << " iterations</span>";
    if (numbers.bytes) {
      heading << " &middot; <span class=\"bytes\" title=\"";
      for (const auto &[name, bytes] : numbers.bytes_of) {
        heading << escaped(name) << ": " << bytes_text(bytes) << "\n";
      }
      heading << "\">touches " << footprint(*numbers.bytes) << "</span>";
    }
    link(heading, "ir-" + l.name, "loop IR");
    link(heading, "asm-" + l.name, "assembly");
    open(heading.str(), "tree-" + l.name);
    block(n.children);
    html_ << "</details>\n";
  }

  std::string storage(int f) const {
    const FuncSurvey &s = survey_.funcs[static_cast<size_t>(f)];
    const FuncDef &def = tree_.algorithm.funcs[static_cast<size_t>(f)];
    std::ostringstream text;
    text << " <span class=\"size\">";
    for (size_t d = 0; d < s.stored.size(); d++) {
      text << (d ? " &times; " : "") << escaped(def.args[d]) << ": ";
      if (s.fold[d] > 0) {
        text << "ring of " << s.fold[d];
      } else if (s.stored_extent[d]) {
        text << *s.stored_extent[d];
      } else {
        text << size_text(s.stored[d].max - s.stored[d].min + 1);
      }
    }
    text << "</span>";
    const auto bytes = numbers_.stored.find(def.name);
    if (bytes != numbers_.stored.end() && bytes->second) {
      text << " &middot; <span class=\"bytes\">" << footprint(*bytes->second) << "</span>";
    }
    return text.str();
  }

  void stage(StageId s) {
    const StageDef &def = tree_.definition(s);
    std::string values;
    for (const Expr &e : def.values) values += (values.empty() ? "" : ", ") + to_text(e);
    html_ << "<div class=\"line\"><b>compute</b> " << escaped(tree_.describe(s)) << ": "
          << escaped(values) << "</div>\n";
  }

  const LoopTree &tree_;
  const Survey &survey_;
  const Footprints &numbers_;
  const autosched::Machine machine_;
  const std::set<std::string> &anchors_;
  std::ostringstream html_;
};

}  // namespace

std::string tree_sections(const LoopTree &tree, const Survey &survey, const Footprints &numbers,
                          const Target &target, const std::set<std::string> &anchors) {
  return Sections(tree, survey, numbers, target, anchors).all();
}

}  // namespace polyhalite
