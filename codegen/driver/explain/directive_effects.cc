#include "codegen/driver/explain/directive_effects.h"

#include <optional>
#include <sstream>

#include "codegen/driver/html.h"
#include "lang/asking.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

namespace {

// What a reader asks of a stage.
struct View {
  std::string loops;  // outermost first, with their kinds
  std::string place;  // where the Func is computed and stored
};

std::string level(const LoopTree &tree, int loop) {
  if (loop == kRoot) return "outside of all loops";
  const LoopInfo &l = tree.loops[static_cast<size_t>(loop)];
  return "in loop " + l.label + " of " + tree.describe(l.stage);
}

View view(const LoopTree &tree, const std::string &func, int stage) {
  for (size_t f = 0; f < tree.algorithm.funcs.size(); f++) {
    const FuncDef &def = tree.algorithm.funcs[f];
    if (tree.origin_of(def.name) != func || stage >= static_cast<int>(def.stages.size())) continue;
    View v;
    for (const int id : tree.nest({static_cast<int>(f), stage}).loops) {
      const LoopInfo &l = tree.loops[static_cast<size_t>(id)];
      v.loops += (v.loops.empty() ? "" : ", ") + l.label;
      if (l.kind != LoopKind::Serial) v.loops += std::string(" ") + loop_kind_name(l.kind);
    }
    const FuncPlacement &p = tree.placements[f];
    v.place = "computed " + level(tree, p.compute);
    if (p.store != p.compute) v.place += ", stored " + level(tree, p.store);
    return v;
  }
  return {"", "computed wherever its values are used"};
}

// "before -> after" of a part that changed.
std::string change(const std::string &before, const std::string &after) {
  if (before == after) return "";
  return "<div><span class=\"before\">" + escaped(before.empty() ? "no loops" : before) +
         "</span> &rarr; <span class=\"after\">" + escaped(after.empty() ? "no loops" : after) +
         "</span></div>";
}

std::string place_text(const SourceLocation &where) {
  if (where.line == 0) return "";
  std::string file = where.file;
  file = file.substr(file.find_last_of('/') + 1);
  return escaped(file) + ":" + std::to_string(where.line);
}

std::string one_line(const Directive &d) {
  const std::string text = to_text(std::vector<Directive>{d});
  const std::string body = text.substr(text.find('\n') + 1);
  return body.substr(0, body.find('\n'));
}

class Effects {
 public:
  Effects(const Algorithm &algorithm, const std::vector<Directive> &directives)
      : algorithm_(algorithm), directives_(directives) {}

  std::string table() {
    std::ostringstream html;
    html << "<table><tr><th>Directive</th><th>Place</th><th>What it did</th></tr>\n";
    std::optional<LoopTree> before = tree_of(0);
    for (size_t i = 0; i < directives_.size(); i++) {
      const Directive &d = directives_[i];
      std::optional<LoopTree> after = tree_of(i + 1);
      html << "<tr><td><code>" << escaped(one_line(d)) << "</code></td><td>" << place_text(d.where)
           << "</td><td>" << effect(d, before, after) << "</td></tr>\n";
      if (after) before = std::move(after);
    }
    html << "</table>\n";
    return html.str();
  }

 private:
  std::optional<LoopTree> tree_of(size_t count) const {
    const Asking asking;
    // Without the rest of the schedule, what is inlined may be too much to build.
    int64_t work = 20'000;
    try {
      return build_tree(algorithm_, {directives_.begin(), directives_.begin() + count}, &work);
    } catch (const CompileError &) {
      return std::nullopt;
    }
  }

  static std::string effect(const Directive &d, const std::optional<LoopTree> &before,
                            const std::optional<LoopTree> &after) {
    if (!after) return "takes effect together with a later one";
    if (!before) return "";
    const View was = view(*before, d.func, d.stage), is = view(*after, d.func, d.stage);
    const std::string changes = change(was.loops, is.loops) + change(was.place, is.place);
    if (!changes.empty()) return changes;
    if (!d.makes.empty()) return "makes '" + escaped(d.makes) + "'";
    if (before->hash == after->hash) return "no loop changes by it alone";
    return "how it is stored or run; its loops stay";
  }

  const Algorithm &algorithm_;
  const std::vector<Directive> &directives_;
};

}  // namespace

std::string directive_effects(const Algorithm &algorithm,
                              const std::vector<Directive> &directives) {
  if (directives.empty()) {
    return "<p>The schedule is empty: Funcs are computed wherever their values are used.</p>\n";
  }
  return Effects(algorithm, directives).table();
}

}  // namespace polyhalite
