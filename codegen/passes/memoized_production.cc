#include "codegen/passes/memoized_production.h"

#include "schedule/memoize.h"

namespace polyhalite {

Stmt memoized_production(const LoopTree &tree, const Survey &survey, const std::string &memory,
                         int func, const Stmt &production) {
  const FuncDef &def = tree.algorithm.funcs[func];
  const FuncSurvey &fs = survey.funcs[func];
  std::vector<Expr> key;
  for (int d = 0; d < def.dimensions(); d++) {
    for (const Box *box : {&fs.stored, &fs.computed}) {
      key.push_back((*box)[d].min);
      key.push_back((*box)[d].max);
    }
    // Behind it stand values that nobody computed.
    for (const Expr &end : {fs.last[d], fs.used[d].min, fs.used[d].max}) {
      if (end.defined()) key.push_back(end);
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
  const std::string name = memory + "/" + tree.algorithm.funcs[memoized_as(tree, func)].name;
  return make_memoize(name, std::move(buffers), {}, storage.eviction, std::move(key), production);
}

}  // namespace polyhalite
