#include "schedule/parse_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "schedule/derive.h"
#include "schedule/inline.h"
#include "schedule/place.h"
#include "schedule/share_loops.h"
#include "schedule/tree_lines.h"

namespace polyhalite {

namespace {

class Assembler {
 public:
  Assembler(TreeLines text, const Algorithm &algorithm, SourceLocation end)
      : lines_(std::move(text.lines)), end_(std::move(end)) {
    tree_.algorithm = algorithm;
    tree_.bounds = std::move(text.bounds);
    tree_.storage = std::move(text.storage);
    tree_.storage.resize(algorithm.funcs.size());
    for (size_t f = 0; f < algorithm.funcs.size(); f++) {
      tree_.storage[f].dims.resize(algorithm.funcs[f].dimensions());
    }
    prefetches_ = std::move(text.prefetches);
  }

  LoopTree run() {
    find_nests();
    add_nests();
    tree_ = with_leaders_loops(std::move(tree_));
    find_stores();
    add_prefetches();
    for (const auto &[stage, leaf] : leaves_) check_uses(stage, leaf);
    tree_ = place(std::move(tree_));
    check_nodes();
    check_forks(tree_);
    tree_.hash = tree_hash(tree_);
    return std::move(tree_);
  }

 private:
  const FuncDef &func(int f) const { return tree_.algorithm.funcs[f]; }

  // The innermost loop around a line, or -1.
  int loop_around(int line) const {
    do {
      line = lines_[line].parent;
    } while (line >= 0 && lines_[line].kind != TreeNode::Loop);
    return line;
  }

  // Every loop belongs to one stage: those of a stage's own stand around it without others between.
  void find_nests() {
    std::set<int> taken;
    for (int i = 0; i < static_cast<int>(lines_.size()); i++) {
      const TreeLine &leaf = lines_[i];
      if (leaf.kind != TreeNode::Stage) continue;
      if (!leaves_.emplace(leaf.stage, i).second) {
        user_error(tree_.describe(leaf.stage) + " stands in the tree twice", "", "", leaf.where);
      }
      int l = loop_around(i);
      for (; l >= 0 && lines_[l].stage == leaf.stage; l = loop_around(l)) {
        nests_[leaf.stage].insert(nests_[leaf.stage].begin(), l);
        taken.insert(l);
      }
      // Loops of a stage that leads it stand around its own.
      for (size_t s = 0; s < leaf.nest.shared.size(); s++, l = loop_around(l)) {
        if (l < 0) {
          user_error(tree_.describe(leaf.stage) + " shares more loops than stand around it", "", "",
                     leaf.where);
        }
        nests_[leaf.stage].insert(nests_[leaf.stage].begin(), l);
      }
      outside_[leaf.stage] = l;
    }
    // Where the first stage fails, its branches say where the Func is computed.
    for (const auto &[stage, line] : leaves_)
      outside_.emplace(StageId{stage.func, 0}, outside_[stage]);
    std::set<std::string> names;
    for (int i = 0; i < static_cast<int>(lines_.size()); i++) {
      const TreeLine &line = lines_[i];
      if (line.kind != TreeNode::Loop) continue;
      if (!names.insert(line.loop.name).second) {
        user_error("the tree has two loops '" + line.loop.name + "'", "", "", line.where);
      }
      if (!taken.count(i)) {
        user_error("loop '" + line.loop.name + "' is not around its stage",
                   "a stage's loops stand around it without those of other stages between", "",
                   line.where);
      }
    }
  }

  void add_nests() {
    for (int f = 0; f < static_cast<int>(tree_.algorithm.funcs.size()); f++) {
      tree_.nests.emplace_back();
      for (int s = 0; s < static_cast<int>(func(f).stages.size()); s++) {
        const StageId id{f, s};
        if (!func(f).stages[s].fail.empty()) {
          tree_.nests[f].emplace_back();
          continue;
        }
        if (!leaves_.count(id)) {
          user_error("the tree lacks " + tree_.describe(id), "", "", end_);
        }
        StageNest nest = lines_[leaves_.at(id)].nest;
        if (const auto &tensor = lines_[leaves_.at(id)].tensor) {
          nest.tensor = static_cast<int>(tree_.tensors.size());
          tree_.tensors.push_back(*tensor);
        }
        check_dimensions(id, nest);
        for (int line : nests_[id]) {
          auto [known, is_new] = loop_id_.emplace(line, static_cast<int>(tree_.loops.size()));
          nest.loops.push_back(known->second);
          if (!is_new) continue;
          LoopInfo loop = lines_[line].loop;
          loop.id = known->second;
          tree_.loops.push_back(std::move(loop));
        }
        tree_.nests[f].push_back(std::move(nest));
        if (outside_[id] == outside_[{f, 0}]) continue;
        user_error(tree_.describe(id) + " stands in another loop than " + tree_.describe({f, 0}),
                   "all stages of a Func have one compute level", "", lines_[leaves_.at(id)].where);
      }
    }
  }

  void add_prefetches() {
    auto find = [&](const std::string &name, const SourceLocation &where) {
      for (const LoopInfo &l : tree_.loops) {
        if (l.name == name) return l.id;
      }
      user_error("the tree has no loop '" + name + "'", "", "", where);
    };
    for (TreePrefetch &p : prefetches_) {
      p.directive.at = find(p.at, p.directive.where);
      p.directive.from = find(p.from, p.directive.where);
      tree_.prefetches.push_back(std::move(p.directive));
    }
  }

  // The loops are the dimensions that the derivations leave of the definition's.
  void check_dimensions(StageId id, StageNest &nest) {
    const std::vector<Derivation> &derivations = nest.derivations;
    const TreeLine &leaf = lines_[leaves_.at(id)];
    std::map<std::string, bool> left;  // dimension -> is it of a reduction
    std::set<std::string> known;
    for (const auto &d : default_dimensions(func(id.func), id.stage).loops) {
      left[d.name] = d.is_reduction;
      known.insert(d.name);
    }
    auto take = [&](const std::string &dim) {
      auto it = left.find(dim);
      if (it == left.end()) {
        user_error("'" + dim + "' is no dimension of " + tree_.describe(id) + " here", "", "",
                   leaf.where);
      }
      const bool reduction = it->second;
      left.erase(it);
      return reduction;
    };
    auto make = [&](const std::string &dim, bool reduction) {
      if (!known.insert(dim).second) {
        user_error("'" + dim + "' names two dimensions of " + tree_.describe(id), "", "",
                   leaf.where);
      }
      left[dim] = reduction;
    };
    for (const Derivation &d : derivations) {
      int64_t factor = 1;
      if (d.kind == Derivation::Split && is_const_int(d.factor, &factor) && factor < 1) {
        user_error("'" + d.a + "' is split by " + std::to_string(factor),
                   "a split needs a factor of at least 1", "", leaf.where);
      }
      const bool a = take(d.a), b = d.kind == Derivation::Fuse && take(d.b);
      if (d.kind == Derivation::Split) make(d.b, a);
      if (d.kind == Derivation::Skew && !left.count(d.b)) {
        user_error("'" + d.b + "' is no dimension of " + tree_.describe(id) + " here", "", "",
                   leaf.where);
      }
      make(d.c, a || b || (d.kind == Derivation::Skew && left.at(d.b)));
    }
    for (size_t i = 0; i < nests_[id].size(); i++) {
      LoopInfo loop = lines_[nests_[id][i]].loop;
      const bool shared = i < nest.shared.size();
      if (shared) loop.dim = nest.shared[i].dim;
      auto it = left.find(loop.dim);
      if (it == left.end()) {
        user_error("'" + loop.dim + "' is no dimension that a loop of " + tree_.describe(id) +
                       " can run over",
                   "", "", loop.where);
      }
      if (shared) nest.shared[i].is_reduction = loop.is_reduction = it->second;
      if (it->second != loop.is_reduction) {
        user_error(
            "loop '" + loop.name + "' is " + (it->second ? "" : "not ") + "of a reduction variable",
            "", it->second ? "mark it 'reduction'" : "drop 'reduction'", loop.where);
      }
      left.erase(it);
    }
    if (!left.empty() && !is_extern_stage(tree_.definition(id))) {
      user_error(tree_.describe(id) + " has no loop over '" + left.begin()->first + "'", "", "",
                 leaf.where);
    }
  }

  void find_stores() {
    std::map<int, int> allocations, hoists;
    std::set<int> asynchronous;
    for (int i = 0; i < static_cast<int>(lines_.size()); i++) {
      const TreeLine &line = lines_[i];
      if (line.kind == TreeNode::Fork) asynchronous.insert(line.stage.func);
      if (line.kind != TreeNode::Allocate && line.kind != TreeNode::Hoist) continue;
      const std::string &name = func(line.stage.func).name;
      if (tree_.algorithm.is_output(name)) {
        user_error("'" + name + "' is an output: the caller has its storage", "", "", line.where);
      }
      const bool hoist = line.kind == TreeNode::Hoist;
      if (!(hoist ? hoists : allocations).emplace(line.stage.func, i).second) {
        user_error("'" + name + "' is " + (hoist ? "hoisted" : "allocated") + " twice", "", "",
                   line.where);
      }
    }
    auto id_of = [&](int loop) { return loop < 0 ? kRoot : loop_id_.at(loop); };
    for (int f = 0; f < static_cast<int>(tree_.algorithm.funcs.size()); f++) {
      FuncPlacement p;
      p.compute = p.store = id_of(outside_[{f, 0}]);
      if (!tree_.algorithm.is_output(func(f).name)) {
        auto it = allocations.find(f);
        if (it == allocations.end()) {
          user_error("the tree does not allocate '" + func(f).name + "'", "", "", end_);
        }
        p.store = id_of(loop_around(it->second));
        if (auto hoist = hoists.find(f); hoist != hoists.end()) {
          p.hoist = id_of(loop_around(hoist->second));
          p.ring = lines_[hoist->second].ring;
        }
      }
      p.async = asynchronous.count(f) > 0;
      tree_.placements.push_back(std::move(p));
    }
  }

  // A stage stands inside the compute and store levels of all that it calls.
  void check_uses(StageId user, int leaf) {
    std::set<int> around = {kRoot};
    for (int l = loop_around(leaf); l >= 0; l = loop_around(l)) around.insert(loop_id_.at(l));
    std::set<std::string> needed = called_funcs(tree_.definition(user));
    needed.insert(func(user.func).name);
    for (const std::string &name : needed) {
      const FuncPlacement &p = tree_.placements[tree_.algorithm.index_of(name)];
      if (around.count(p.compute) && around.count(p.store)) continue;
      user_error(tree_.describe(user) + " uses '" + name + "' outside of the loop that " +
                     (around.count(p.store) ? "computes" : "stores") + " it",
                 "", "", lines_[leaf].where);
    }
  }

  // The order and nesting of nodes follows from the levels.
  void check_nodes() const {
    size_t next = 0;
    std::function<void(const Tree &, int)> compare = [&](const Tree &n, int depth) {
      const TreeLine *line = next < lines_.size() ? &lines_[next++] : nullptr;
      const bool same = line && line->kind == n->kind && line->depth == depth && is_same(*line, *n);
      if (!same) {
        user_error("the tree's nodes do not stand where their levels put them",
                   "producers come before their consumers, and an allocation encloses exactly the "
                   "nodes from the production to the last use",
                   "expected " + node_text(*n) + " here, " + std::to_string(2 * depth) +
                       " spaces from the left",
                   line ? line->where : end_);
      }
      for (const Tree &c : n->children) compare(c, depth + 1);
      if (n->kind != TreeNode::Branch) return;
      const TreeLine *other = next < lines_.size() ? &lines_[next++] : nullptr;
      if (!other || other->kind != TreeNode::Branch || other->depth != depth ||
          other->condition.defined()) {
        user_error("'if " + to_text(n->condition) + "' has no else part",
                   "its other stage or branch stands there, or nothing",
                   "expected 'else' here, " + std::to_string(2 * depth) + " spaces from the left",
                   other ? other->where : end_);
      }
      for (const Tree &c : n->otherwise) compare(c, depth + 1);
    };
    for (const Tree &r : tree_.roots) compare(r, 0);
    if (next < lines_.size()) {
      user_error("the node is not part of the tree", "", "remove the line", lines_[next].where);
    }
  }

  bool is_same(const TreeLine &line, const TreeNode &n) const {
    if (n.kind == TreeNode::Loop) return line.loop.name == tree_.loops[n.loop].name;
    if (n.kind == TreeNode::Branch) {
      return line.condition.defined() && equal(line.condition, n.condition);
    }
    return line.stage == n.stage;
  }

  std::string node_text(const TreeNode &n) const {
    if (n.kind == TreeNode::Branch) return "'if " + to_text(n.condition) + "'";
    if (n.kind == TreeNode::Loop) return "'for " + tree_.loops[n.loop].name + "'";
    if (n.kind == TreeNode::Allocate) return "'allocate " + func(n.stage.func).name + "'";
    if (n.kind == TreeNode::Fork) return "'fork " + func(n.stage.func).name + "'";
    if (n.kind == TreeNode::Hoist) return "'hoist " + func(n.stage.func).name + "'";
    return "'" + func(n.stage.func).name + ".s" + std::to_string(n.stage.stage) + "'";
  }

  std::vector<TreeLine> lines_;
  std::vector<TreePrefetch> prefetches_;
  SourceLocation end_;
  LoopTree tree_;
  std::map<StageId, int> leaves_;              // line of the stage
  std::map<StageId, std::vector<int>> nests_;  // lines of its loops, outermost first
  std::map<StageId, int> outside_;             // line of the loop around the nest, or -1
  std::map<int, int> loop_id_;                 // [line]
};

}  // namespace

LoopTree parse_tree(const std::string &text, const Algorithm &algorithm, const std::string &name) {
  const int last = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  return Assembler(read_tree_lines(text, algorithm, name), algorithm, {name, last}).run();
}

}  // namespace polyhalite
