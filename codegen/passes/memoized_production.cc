#include "codegen/passes/memoized_production.h"

#include "schedule/memoize.h"

namespace polyhalite {

Stmt memoized_production(const LoopTree &tree, const Survey &survey, const std::string &memory,
                         int func, int last, const Stmt &production) {
  const FuncDef &def = tree.algorithm.funcs[func];
  const FuncSurvey &fs = survey.funcs[func];
  // Copies of a Func share what they keep, so that each value of the key has its place.
  std::vector<Expr> key;
  auto add_ends = [&](const IndexRange &ends, const IndexRange &otherwise) {
    key.push_back(ends.min.defined() ? ends.min : otherwise.min);
    key.push_back(ends.max.defined() ? ends.max : otherwise.max);
  };
  for (int d = 0; d < def.dimensions(); d++) {
    const IndexRange &computed = fs.computed[d];
    add_ends(fs.stored[d], computed);
    add_ends(computed, computed);
    // Behind them stand values that nobody computed.
    add_ends({Expr(), fs.last[d]}, computed);
    add_ends(fs.used[d], computed);
    // An update may leave cells as they are that a stage before it computed.
    for (const StageSurvey &stage : survey.stages[func]) {
      const auto range = stage.ranges.find(def.args[d]);
      add_ends(range == stage.ranges.end() ? computed : range->second, computed);
    }
  }
  const FuncStorage &storage = tree.storage[func];
  for (Expr &e : memoization_key(tree.algorithm, func, storage.memoize_where)) {
    key.push_back(std::move(e));
  }
  std::vector<std::string> buffers;
  for (int i = 0; i < static_cast<int>(def.types.size()); i++) {
    buffers.push_back(def.buffer_name(i));
  }
  std::string name = memory + "/" + tree.algorithm.funcs[memoized_as(tree, func)].name;
  if (last + 1 < def.num_definitions()) name += ".s" + std::to_string(last);
  return make_memoize(name, std::move(buffers), {}, storage.eviction, std::move(key), production);
}

}  // namespace polyhalite
