#include "codegen/driver/explain/footprints.h"

#include <algorithm>

#include "autosched/estimates.h"
#include "lang/asking.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

struct Extent {
  int64_t lo = 0, hi = 0;
};
using ExtentBox = std::vector<Extent>;

class Walk {
 public:
  Walk(const LoopTree &tree, const Survey &survey, const autosched::Estimates &sizes,
       Footprints &result)
      : tree_(tree), survey_(survey), sizes_(sizes), result_(result) {}

  void run() {
    symbols(survey_.root_symbols);
    for (size_t f = 0; f < tree_.algorithm.funcs.size(); f++) stored(f);
    block(tree_.roots);
  }

 private:
  // What an instance touches of one Func or image, over the loops around it.
  struct Touch {
    std::string name;
    int64_t bytes;  // of an element
    std::vector<Expr> cell;
  };

  Expr known(const Expr &e) const { return simplify(sizes_.with_numbers(substitute(values_, e))); }

  void symbols(const std::vector<Symbol> &list) {
    for (const Symbol &s : list) values_[s.name] = known(s.value);
  }

  // Loops around stand at their beginnings.
  std::optional<int64_t> number(const Expr &e) const {
    int64_t n;
    const Expr value = simplify(substitute(begins_, known(e)));
    return is_const_int(value, &n) ? std::optional<int64_t>(n) : std::nullopt;
  }

  void stored(size_t f) {
    const FuncDef &def = tree_.algorithm.funcs[f];
    if (tree_.algorithm.is_output(def.name)) return;
    double elements = 1;
    const FuncSurvey &s = survey_.funcs[f];
    for (size_t d = 0; d < s.stored.size(); d++) {
      std::optional<int64_t> n = s.stored_extent[d];
      if (s.fold[d] > 0) n = s.fold[d];
      if (!n) {
        const auto lo = number(s.stored[d].min), hi = number(s.stored[d].max);
        if (lo && hi) n = *hi - *lo + 1;
      }
      if (!n) {
        result_.stored[def.name] = std::nullopt;
        return;
      }
      elements *= static_cast<double>(std::max<int64_t>(*n, 0));
    }
    int64_t bytes = 0;
    for (const Type &t : def.types) bytes += t.bytes();
    result_.stored[def.name] = elements * static_cast<double>(bytes);
  }

  void block(const std::vector<Tree> &nodes) {
    for (const Tree &n : nodes) node(*n);
  }

  void node(const TreeNode &n) {
    if (n.kind == TreeNode::Stage) {
      stage(n.stage);
      return;
    }
    if (n.kind != TreeNode::Loop) {
      block(n.children);
      block(n.otherwise);
      return;
    }
    const LoopInfo &info = tree_.loops[static_cast<size_t>(n.loop)];
    const LoopBounds &bounds = survey_.loops[static_cast<size_t>(n.loop)];
    LoopNumbers &numbers = result_.loops[static_cast<size_t>(n.loop)];
    numbers.extent = number(bounds.extent);
    numbers.bytes = 0;
    const auto min = number(bounds.min);
    const std::map<std::string, Expr> values = values_, begins = begins_;
    if (min) begins_[info.name] = Expr(static_cast<int>(*min));
    if (min && numbers.extent) ranges_[info.name] = {*min, *min + *numbers.extent - 1};
    symbols(bounds.symbols);
    around_.push_back({n.loop, begins, {}});
    block(n.children);
    finish(around_.back(), numbers);
    around_.pop_back();
    values_ = values;
    begins_ = begins;
    ranges_.erase(info.name);
  }

  struct Around {
    int loop;
    std::map<std::string, Expr> begins;                          // of the loops outside of it
    std::map<std::string, std::pair<int64_t, ExtentBox>> boxes;  // element's bytes, box
    bool unbounded = false;
  };

  static void finish(const Around &a, LoopNumbers &numbers) {
    double total = 0;
    for (const auto &[name, touched] : a.boxes) {
      double bytes = static_cast<double>(touched.first);
      for (const Extent &i : touched.second) bytes *= static_cast<double>(i.hi - i.lo + 1);
      numbers.bytes_of[name] = bytes;
      total += bytes;
    }
    numbers.bytes = a.unbounded ? std::nullopt : std::optional<double>(total);
  }

  void stage(StageId s) {
    const StageDef &def = tree_.definition(s);
    std::vector<Touch> touches;
    const auto look = [&](const Expr &e) {
      if (!e.defined()) return;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (c && (c->kind == CallKind::Func || c->kind == CallKind::Image)) {
          touches.push_back({c->name, c->type.bytes(), c->args});
        }
      });
    };
    for (const CellWrite &w : cell_writes(def)) {
      int64_t bytes = 0;
      for (const Expr &v : w.values) bytes += v.type().bytes();
      touches.push_back({tree_.func(s).name, bytes, w.cell});
    }
    for (const Expr &e : def.args) look(e);
    for (const Expr &e : def.values) look(e);
    look(def.predicate);
    for (const Touch &t : touches) {
      for (Around &a : around_) touch(a, s, t);
    }
  }

  void touch(Around &a, StageId s, const Touch &t) {
    const std::map<std::string, Expr> &dims = survey_.stages[s.func][s.stage].dims;
    ExtentBox box;
    for (const Expr &index : t.cell) {
      const Expr at = simplify(substitute(a.begins, known(substitute(dims, index))));
      VariableBounds bounds;
      for (const auto &[name, range] : ranges_) bounds[name] = {range.lo, range.hi};
      const ConstantBounds ends = constant_bounds(at, bounds);
      if (!ends.min || !ends.max) {
        a.unbounded = true;
        return;
      }
      box.push_back({*ends.min, *ends.max});
    }
    auto [it, is_new] = a.boxes.emplace(t.name, std::make_pair(t.bytes, box));
    if (is_new) return;
    for (size_t d = 0; d < box.size(); d++) {
      it->second.second[d].lo = std::min(it->second.second[d].lo, box[d].lo);
      it->second.second[d].hi = std::max(it->second.second[d].hi, box[d].hi);
    }
  }

  const LoopTree &tree_;
  const Survey &survey_;
  const autosched::Estimates &sizes_;
  Footprints &result_;
  std::map<std::string, Expr> values_;    // of symbols, over loops
  std::map<std::string, Expr> begins_;    // of the loops around
  std::map<std::string, Extent> ranges_;  // of the loops around
  std::vector<Around> around_;            // outermost first
};

}  // namespace

Footprints footprints(const FrozenPipeline &pipeline, const LoopTree &tree, const Survey &survey) {
  Footprints result;
  result.loops.resize(tree.loops.size());
  autosched::Estimates sizes;
  try {
    const Asking asking;
    sizes = autosched::find_estimates(pipeline);
  } catch (const CompileError &e) {
    result.missing = e.diagnostic().what;
  }
  Walk(tree, survey, sizes, result).run();
  return result;
}

}  // namespace polyhalite
