// tree_lines: the lines of a loop tree's text, read but not yet put together. See parse_tree.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

struct TreeLine {
  TreeNode::Kind kind = TreeNode::Loop;  // Loop, Stage, Allocate, Hoist, Fork or Branch
  int parent = -1;                       // the line of the node that encloses this one
  int depth = 0;
  StageId stage;                      // Allocate, Hoist, Fork: of its Func
  Expr ring;                          // Hoist; null if it is none
  LoopInfo loop;                      // Loop; without id
  StageNest nest;                     // Stage; without loops
  std::optional<TensorLoops> tensor;  // Stage
  Expr condition;                     // Branch; undefined: its else part
  SourceLocation where;
};

struct TreePrefetch {
  PrefetchDirective directive;  // without loops
  std::string at, from;         // their names
};

struct TreeLines {
  std::vector<BoundDirective> bounds;
  std::vector<FuncStorage> storage;  // [func], or empty
  std::vector<TreePrefetch> prefetches;
  std::vector<TreeLine> lines;
};

/// Names are those of the algorithm, and a line stands at most one level inside of the line before
/// it. Throws CompileError at NAME:LINE.
TreeLines read_tree_lines(const std::string &text, const Algorithm &algorithm,
                          const std::string &name);

}  // namespace polyhalite
