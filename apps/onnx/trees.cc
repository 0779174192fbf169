// Trees of ai.onnx.ml: all rows go down all trees at once, a level with each step, through tables
// of features, thresholds and children. A leaf is its own child.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "apps/onnx/classical.h"

namespace polyhalite::onnx {

namespace {

constexpr const char *kTrees = "ai.onnx.ml";

enum Mode { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, Unequal, Member };

struct TreeNode {
  int64_t feature = 0;
  double split = 0;
  Mode mode = LessOrEqual;
  bool missing_is_true = false;
  int64_t yes = -1, no = -1;  // positions; a leaf has itself
  int64_t leaf = 0;           // of a leaf: its row of weights
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
  std::vector<std::map<int64_t, double>> leaves;  // weights by target
  bool wide = false;                              // are thresholds and weights float64?
  // How the trees' weights meet: SUM, AVERAGE, MIN, MAX.
  std::string aggregate = "SUM";
};

int64_t add_leaf(Forest *f, std::map<int64_t, double> weights) {
  const auto at = static_cast<int64_t>(f->nodes.size());
  TreeNode n;
  n.yes = n.no = at;
  n.leaf = static_cast<int64_t>(f->leaves.size());
  f->nodes.push_back(n);
  f->leaves.push_back(std::move(weights));
  return at;
}

// Steps from a node down to the lowest leaf. CompileError where a path comes back to itself.
int64_t depth_below(const Call &c, const Forest &f) {
  // By node: unknown, on the path, or its depth.
  constexpr int64_t kUnknown = -1, kOnPath = -2;
  std::vector<int64_t> depth(f.nodes.size(), kUnknown);
  int64_t most = 0;
  for (int64_t root : f.roots) {
    std::vector<int64_t> path{root};
    while (!path.empty()) {
      const auto at = static_cast<size_t>(path.back());
      const TreeNode &n = f.nodes[at];
      if (n.yes == path.back()) depth[at] = 0;
      if (depth[at] >= 0) {
        path.pop_back();
        continue;
      }
      int64_t below = 0;
      bool waits = false;
      for (int64_t child : {n.yes, n.no}) {
        const int64_t known = depth[static_cast<size_t>(child)];
        if (known == kOnPath) c.fail("a tree's node is its own ancestor", "paths end at leaves");
        if (known == kUnknown) {
          path.push_back(child);
          waits = true;
          break;
        }
        below = std::max(below, known);
      }
      depth[at] = waits ? kOnPath : below + 1;
      if (!waits) path.pop_back();
    }
    most = std::max(most, depth[static_cast<size_t>(root)]);
  }
  return most;
}

ValueId table(Call &c, const Forest &f, const std::vector<double> &list,
              const std::vector<int64_t> &shape) {
  std::vector<uint8_t> bytes;
  const ElementType type = f.wide ? ElementType::Float64 : ElementType::Float32;
  for (double v : list) append_number(&bytes, type, v);
  return c.w.graph().add_constant(c.node.name + ".table",
                                  Constant::of_bytes(type, shape, std::move(bytes)));
}

template <typename F>
ValueId integers_of(Call &c, const Forest &f, const F &of) {
  std::vector<int64_t> list;
  for (const TreeNode &n : f.nodes) list.push_back(of(n));
  return c.w.integers(list);
}

ValueId compared(Call &c, Mode mode, ValueId x, ValueId split) {
  static const char *const kNames[] = {"LessOrEqual", "Less",  "GreaterOrEqual",
                                       "Greater",     "Equal", "Equal"};
  const ValueId test = c.w.op(kNames[mode], {x, split});
  return mode == Unequal ? c.w.op("Not", {test}) : test;
}

// Leaves [rows, trees] that the rows of x come to.
ValueId reached_leaves(Call &c, const Forest &f, ValueId x) {
  std::vector<double> splits;
  std::vector<int64_t> children;
  std::vector<Mode> modes;
  bool missing = false;
  for (const TreeNode &n : f.nodes) {
    splits.push_back(n.split);
    children.insert(children.end(), {n.no, n.yes});
    const bool inner = n.yes != n.no;
    if (inner && std::count(modes.begin(), modes.end(), n.mode) == 0) modes.push_back(n.mode);
    missing = missing || n.missing_is_true;
  }
  const auto count = static_cast<int64_t>(f.nodes.size());
  const ValueId features = integers_of(c, f, [](const TreeNode &n) { return n.feature; });
  const ValueId split_table = c.w.op("CastLike", {table(c, f, splits, {count}), x});
  const ValueId child_table = c.w.integers(children);
  const ValueId mode_table =
      modes.size() > 1 ? integers_of(c, f, [](const TreeNode &n) { return int64_t{n.mode}; })
                       : kNone;
  const ValueId missing_table =
      missing ? integers_of(c, f, [](const TreeNode &n) { return int64_t{n.missing_is_true}; })
              : kNone;
  const ValueId shape =
      c.w.op("Concat", {size_of(&c.w, x, 0), c.w.integers({static_cast<int64_t>(f.roots.size())})},
             {{"axis", int64_t{0}}});
  ValueId at = c.w.op("Expand", {c.w.integers(f.roots), shape});
  for (int64_t level = depth_below(c, f); level > 0; level--) {
    const ValueId value =
        c.w.op("GatherElements", {x, c.w.op("Gather", {features, at})}, {{"axis", int64_t{1}}});
    const ValueId split = c.w.op("Gather", {split_table, at});
    ValueId test = compared(c, modes[0], value, split);
    for (size_t k = 1; k < modes.size(); k++) {
      const ValueId is_mode =
          c.w.op("Equal", {c.w.op("Gather", {mode_table, at}), c.w.integer(modes[k])});
      test = c.w.op("Where", {is_mode, compared(c, modes[k], value, split), test});
    }
    if (missing) {
      const ValueId follows =
          c.w.op("Equal", {c.w.op("Gather", {missing_table, at}), c.w.integer(1)});
      test = c.w.op("Or", {test, c.w.op("And", {follows, c.w.op("IsNaN", {value})})});
    }
    const ValueId step = c.w.op("Cast", {test}, {{"to", static_cast<int64_t>(ElementType::Int64)}});
    at =
        c.w.op("Gather", {child_table, c.w.op("Add", {c.w.op("Mul", {at, c.w.integer(2)}), step})});
  }
  return c.w.op("Gather", {integers_of(c, f, [](const TreeNode &n) { return n.leaf; }), at});
}

// Results [rows, targets].
ValueId forest_scores(Call &c, const Forest &f, ValueId x) {
  if (f.roots.empty()) c.fail("it has no trees", "a forest has at least one");
  const bool least = f.aggregate == "MIN", most = f.aggregate == "MAX";
  if (!least && !most && f.aggregate != "SUM" && f.aggregate != "AVERAGE")
    c.fail("its weights meet by '" + f.aggregate + "'", "they do by SUM, AVERAGE, MIN or MAX");
  const auto &shape = c.w.graph().value(c.in(0)).shape;
  if (shape && shape->size() != 2)
    c.fail("operand 0 has rank " + std::to_string(shape->size()), "it is [rows, features]");
  constexpr int64_t kOpen = INT32_MAX;
  const int64_t columns = shape ? (*shape)[1].constant().value_or(kOpen) : kOpen;
  for (const TreeNode &n : f.nodes) {
    if (n.feature >= 0 && n.feature < columns) continue;
    c.fail("a node asks for feature " + std::to_string(n.feature),
           columns != kOpen ? "rows have " + std::to_string(columns)
                            : "features are columns, from 0 on");
  }
  const double otherwise = least ? INFINITY : most ? -INFINITY : 0;
  std::vector<double> weights;
  for (const auto &leaf : f.leaves) {
    for (int64_t t = 0; t < f.targets; t++) {
      const auto w = leaf.find(t);
      weights.push_back(w == leaf.end() ? otherwise : w->second);
    }
  }
  const ValueId all = table(c, f, weights, {static_cast<int64_t>(f.leaves.size()), f.targets});
  const ValueId each = c.w.op("Gather", {all, reached_leaves(c, f, x)});  // [rows, trees, targets]
  const char *reduction = least ? "ReduceMin" : most ? "ReduceMax" : "ReduceSum";
  ValueId y = c.w.op(reduction, {each, c.w.integers({1})}, {{"keepdims", int64_t{0}}});
  if (f.aggregate == "AVERAGE")
    y = c.w.op("Div", {y, c.w.number(static_cast<float>(f.roots.size()), y)});
  return y;
}

const Constant *tensor_of(const Call &c, const std::string &attribute) {
  const auto at = c.node.attributes.find(attribute);
  return at == c.node.attributes.end() ? nullptr : std::get_if<Constant>(&at->second);
}

// Numbers that are floats, or under another name float64.
std::vector<double> doubles(const Call &c, Forest *f, const std::string &attribute) {
  std::vector<double> list;
  if (const Constant *wide = tensor_of(c, attribute + "_as_tensor")) {
    f->wide = f->wide || wide->type() == ElementType::Float64;
    for (int64_t i = 0; i < wide->elements(); i++) list.push_back(wide->number(i));
    return list;
  }
  for (float v : reals(c, attribute)) list.push_back(v);
  return list;
}

// Lists of nodes are as long as each other.
void expect_count(const Call &c, const std::string &attribute, size_t count, size_t wanted) {
  if (count == wanted) return;
  c.fail(attribute + " has " + std::to_string(count) + " elements",
         "the other lists have " + std::to_string(wanted));
}

int64_t child_of(const Call &c, int64_t child, size_t count, const char *of) {
  if (child < 0 || child >= static_cast<int64_t>(count))
    c.fail("a node's child is " + std::string(of) + " " + std::to_string(child),
           "there are " + std::to_string(count));
  return child;
}

// Operators of version 5: nodes and leaves have lists of their own.
Forest read_ensemble(const Call &c) {
  Forest f;
  f.targets = c.node.integer("n_targets", 1);
  const Constant *splits = tensor_of(c, "nodes_splits"), *modes = tensor_of(c, "nodes_modes"),
                 *weights = tensor_of(c, "leaf_weights"),
                 *members = tensor_of(c, "membership_values");
  if (!splits || !modes || !weights)
    c.fail("nodes_splits, nodes_modes or leaf_weights are left out", "they are tensors");
  f.wide = splits->type() == ElementType::Float64;
  const auto count = static_cast<size_t>(splits->elements());
  const std::vector<int64_t> features = c.node.integers("nodes_featureids"),
                             yes = c.node.integers("nodes_truenodeids"),
                             no = c.node.integers("nodes_falsenodeids"),
                             yes_leaf = c.node.integers("nodes_trueleafs"),
                             no_leaf = c.node.integers("nodes_falseleafs"),
                             targets = c.node.integers("leaf_targetids"),
                             missing = c.node.integers("nodes_missing_value_tracks_true");
  expect_count(c, "nodes_modes", static_cast<size_t>(modes->elements()), count);
  expect_count(c, "nodes_featureids", features.size(), count);
  expect_count(c, "nodes_truenodeids", yes.size(), count);
  expect_count(c, "nodes_falsenodeids", no.size(), count);
  expect_count(c, "nodes_trueleafs", yes_leaf.size(), count);
  expect_count(c, "nodes_falseleafs", no_leaf.size(), count);
  const auto leaves = static_cast<size_t>(weights->elements());
  expect_count(c, "leaf_targetids", targets.size(), leaves);
  f.nodes.resize(count);
  for (size_t k = 0; k < leaves; k++) {
    child_of(c, targets[k], static_cast<size_t>(f.targets), "target");
    add_leaf(&f, {{targets[k], weights->number(static_cast<int64_t>(k))}});
  }
  auto child = [&](int64_t at, bool leaf) {
    if (leaf) return static_cast<int64_t>(count) + child_of(c, at, leaves, "leaf");
    return child_of(c, at, count, "node");
  };
  int64_t next_member = 0;
  for (size_t k = 0; k < count; k++) {
    TreeNode n;
    n.feature = features[k];
    n.split = splits->number(static_cast<int64_t>(k));
    const int64_t mode = modes->integer_at(static_cast<int64_t>(k));
    if (mode < 0 || mode > Member)
      c.fail("a node's mode is " + std::to_string(mode), "modes are from 0 to 6");
    n.mode = static_cast<Mode>(mode);
    n.missing_is_true = k < missing.size() && missing[k] != 0;
    n.yes = child(yes[k], yes_leaf[k] != 0);
    n.no = child(no[k], no_leaf[k] != 0);
    if (n.mode != Member) {
      f.nodes[k] = n;
      continue;
    }
    // A member of a set equals one of its elements: nodes behind each other, the last one here.
    n.mode = Equal;
    std::vector<double> set;
    for (; members && next_member < members->elements(); next_member++) {
      if (std::isnan(members->number(next_member))) break;
      set.push_back(members->number(next_member));
    }
    next_member++;
    if (set.empty()) c.fail("a node's set has no members", "membership_values lists them");
    for (size_t m = 0; m + 1 < set.size(); m++) {
      TreeNode one = n;
      one.split = set[m];
      f.nodes.push_back(one);
      n.no = static_cast<int64_t>(f.nodes.size()) - 1;
    }
    n.split = set.back();
    f.nodes[k] = n;
  }
  for (int64_t root : c.node.integers("tree_roots"))
    f.roots.push_back(child_of(c, root, count, "root"));
  static const char *const kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  f.aggregate = kAggregates[child_of(c, c.node.integer("aggregate_function", 1), 4, "aggregate")];
  return f;
}

// Operators before version 5: lists of nodes by tree and number, and of votes, whose names begin
// with `votes`.
Forest read_old_ensemble(const Call &c, const std::string &votes, int64_t targets) {
  static const std::map<std::string, std::optional<Mode>> kModes = {
      {"BRANCH_LEQ", LessOrEqual}, {"BRANCH_LT", Less},  {"BRANCH_GTE", GreaterOrEqual},
      {"BRANCH_GT", Greater},      {"BRANCH_EQ", Equal}, {"BRANCH_NEQ", Unequal},
      {"LEAF", std::nullopt}};
  Forest f;
  f.targets = targets;
  const std::vector<int64_t> trees = c.node.integers("nodes_treeids"),
                             ids = c.node.integers("nodes_nodeids"),
                             features = c.node.integers("nodes_featureids"),
                             yes = c.node.integers("nodes_truenodeids"),
                             no = c.node.integers("nodes_falsenodeids"),
                             missing = c.node.integers("nodes_missing_value_tracks_true");
  const std::vector<double> splits = doubles(c, &f, "nodes_values");
  const auto given = c.node.attributes.find("nodes_modes");
  const auto *modes = given == c.node.attributes.end()
                          ? nullptr
                          : std::get_if<std::vector<std::string>>(&given->second);
  if (!modes) c.fail("nodes_modes is left out", "it says how nodes compare");
  const size_t count = modes->size();
  expect_count(c, "nodes_treeids", trees.size(), count);
  expect_count(c, "nodes_nodeids", ids.size(), count);
  expect_count(c, "nodes_featureids", features.size(), count);
  expect_count(c, "nodes_truenodeids", yes.size(), count);
  expect_count(c, "nodes_falsenodeids", no.size(), count);
  expect_count(c, "nodes_values", splits.size(), count);
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t k = 0; k < count; k++) places[{trees[k], ids[k]}] = static_cast<int64_t>(k);
  f.nodes.resize(count);
  std::vector<bool> is_child(count);
  for (size_t k = 0; k < count; k++) {
    TreeNode &n = f.nodes[k];
    const auto mode = kModes.find((*modes)[k]);
    if (mode == kModes.end())
      c.fail("a node's mode is '" + (*modes)[k] + "'", "it is none of the format's");
    if (!mode->second) {
      n.yes = n.no = static_cast<int64_t>(k);
      n.leaf = static_cast<int64_t>(f.leaves.size());
      f.leaves.emplace_back();
      continue;
    }
    n.mode = *mode->second;
    n.feature = features[k];
    n.split = splits[k];
    n.missing_is_true = k < missing.size() && missing[k] != 0;
    for (const bool side : {true, false}) {
      const int64_t id = side ? yes[k] : no[k];
      const auto child = places.find({trees[k], id});
      if (child == places.end())
        c.fail("a node's child is " + std::to_string(id), "its tree has no such node");
      (side ? n.yes : n.no) = child->second;
      is_child[static_cast<size_t>(child->second)] = true;
    }
  }
  for (size_t k = 0; k < count; k++) {
    if (!is_child[k]) f.roots.push_back(static_cast<int64_t>(k));
  }
  const std::vector<int64_t> vote_trees = c.node.integers(votes + "_treeids"),
                             vote_nodes = c.node.integers(votes + "_nodeids"),
                             vote_targets = c.node.integers(votes + "_ids");
  const std::vector<double> weights = doubles(c, &f, votes + "_weights");
  expect_count(c, votes + "_treeids", vote_trees.size(), weights.size());
  expect_count(c, votes + "_nodeids", vote_nodes.size(), weights.size());
  expect_count(c, votes + "_ids", vote_targets.size(), weights.size());
  for (size_t k = 0; k < weights.size(); k++) {
    const auto at = places.find({vote_trees[k], vote_nodes[k]});
    if (at == places.end() || f.nodes[static_cast<size_t>(at->second)].yes != at->second)
      c.fail("a vote is that of node " + std::to_string(vote_nodes[k]), "it is no leaf");
    child_of(c, vote_targets[k], static_cast<size_t>(targets), "target");
    f.leaves[static_cast<size_t>(f.nodes[static_cast<size_t>(at->second)].leaf)][vote_targets[k]] +=
        weights[k];
  }
  f.aggregate = c.node.text("aggregate_function", "SUM");
  return f;
}

// Whole numbers are compared as floats.
ValueId features_of(Call &c) {
  const ElementType type = c.w.graph().value(c.in(0)).type;
  const bool whole = type == ElementType::Int64 || type == ElementType::Int32;
  if (!whole) return c.in(0);
  return c.w.op("Cast", {c.in(0)}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
}

ValueId with_base_values(Call &c, Forest *f, ValueId scores) {
  const std::vector<double> base = doubles(c, f, "base_values");
  if (base.empty()) return scores;
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != f->targets)
    c.fail("it has " + std::to_string(base.size()) + " base values",
           "there are " + std::to_string(f->targets) + " results");
  const ValueId list = table(c, *f, base, {static_cast<int64_t>(base.size())});
  return c.w.op("Add", {scores, c.w.op("CastLike", {list, scores})});
}

ValueId as_float(Call &c, ValueId v) {
  return c.w.op("Cast", {v}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
}

void expand_ensemble(Call &c) {
  static const char *const kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                            "PROBIT"};
  const Forest f = read_ensemble(c);
  const int64_t how = child_of(c, c.node.integer("post_transform", 0), 5, "transform");
  const ValueId y = post_transformed(&c, forest_scores(c, f, c.in(0)), kTransforms[how]);
  c.define(0, c.w.op("CastLike", {y, c.in(0)}));
}

void expand_regressor(Call &c) {
  Forest f = read_old_ensemble(c, "target", c.node.integer("n_targets", 1));
  const ValueId scores = with_base_values(c, &f, forest_scores(c, f, features_of(c)));
  c.define(0, as_float(c, post_transformed(&c, scores, c.node.text("post_transform", "NONE"))));
}

// Are all votes for one of two classes?
std::optional<int64_t> voted_of_two(const Call &c, int64_t classes) {
  const std::vector<int64_t> ids = c.node.integers("class_ids");
  const bool same = std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
  if (classes != 2 || ids.empty() || !same) return std::nullopt;
  return ids[0];
}

bool has_negative_votes(const Forest &f) {
  for (const auto &leaf : f.leaves) {
    for (const auto &[target, weight] : leaf) {
      if (weight < 0) return true;
    }
  }
  return false;
}

// Where there are votes for one of two classes only, they decide as onnxruntime has it: for the
// second class where they are more than half of 1, or, where some votes are negative, positive.
// Votes for the first class are then those for the second, and the first one has what is missing to
// 1, or the opposite.
void expand_classifier(Call &c) {
  const std::vector<int64_t> labels = class_labels(c, "classlabels_int64s");
  const auto classes = static_cast<int64_t>(labels.size());
  const std::optional<int64_t> voted = voted_of_two(c, classes);
  const bool single = voted == int64_t{0};
  Forest f = read_old_ensemble(c, "class", classes);
  if (single) f.targets = 1;
  const ValueId scores = as_float(c, with_base_values(c, &f, forest_scores(c, f, features_of(c))));
  const bool negative = has_negative_votes(f);
  const std::string how = c.node.text("post_transform", "NONE");
  ValueId best;
  if (voted) {
    const ValueId votes = c.w.op("Gather", {scores, c.w.integer(-1)}, {{"axis", int64_t{1}}});
    best = c.w.op("Cast", {c.w.op("Greater", {votes, c.w.number(negative ? 0 : 0.5f, votes)})},
                  {{"to", static_cast<int64_t>(ElementType::Int64)}});
  } else {
    best = c.w.op("ArgMax", {scores}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  }
  c.define(0, c.w.op("Gather", {c.w.integers(labels), best}));
  if (!single) {
    c.define(1, post_transformed(&c, scores, how));
    return;
  }
  const bool opposite = negative || how == "LOGISTIC";
  const ValueId first =
      opposite ? c.w.op("Neg", {scores}) : c.w.op("Sub", {c.w.number(1, scores), scores});
  const ValueId both = c.w.op("Concat", {first, scores}, {{"axis", int64_t{1}}});
  c.define(1, how == "LOGISTIC" ? c.w.op("Sigmoid", {both}) : both);
}

std::vector<std::string> old_attributes(const std::vector<std::string> &others) {
  std::vector<std::string> list = {"aggregate_function",
                                   "base_values",
                                   "base_values_as_tensor",
                                   "nodes_falsenodeids",
                                   "nodes_featureids",
                                   "nodes_hitrates",
                                   "nodes_hitrates_as_tensor",
                                   "nodes_missing_value_tracks_true",
                                   "nodes_modes",
                                   "nodes_nodeids",
                                   "nodes_treeids",
                                   "nodes_truenodeids",
                                   "nodes_values",
                                   "nodes_values_as_tensor",
                                   "post_transform"};
  list.insert(list.end(), others.begin(), others.end());
  return list;
}

}  // namespace

std::vector<Expansion> tree_expansions() {
  return {
      {kTrees,
       "TreeEnsemble",
       1,
       1,
       1,
       {"aggregate_function", "leaf_targetids", "leaf_weights", "membership_values", "n_targets",
        "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
        "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits", "nodes_trueleafs",
        "nodes_truenodeids", "post_transform", "tree_roots"},
       expand_ensemble},
      {kTrees, "TreeEnsembleClassifier", 1, 1, 2,
       old_attributes({"class_ids", "class_nodeids", "class_treeids", "class_weights",
                       "class_weights_as_tensor", "classlabels_int64s", "classlabels_strings"}),
       expand_classifier},
      {kTrees, "TreeEnsembleRegressor", 1, 1, 1,
       old_attributes({"n_targets", "target_ids", "target_nodeids", "target_treeids",
                       "target_weights", "target_weights_as_tensor"}),
       expand_regressor},
  };
}

}  // namespace polyhalite::onnx
