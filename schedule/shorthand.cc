#include "schedule/shorthand.h"

#include <set>
#include <utility>

namespace polyhalite {

std::vector<Directive> without_shorthand(Directive mark, const std::vector<Directive> &before) {
  const bool parallel = mark.kind == DirectiveKind::Parallel;
  const bool vector = mark.kind == DirectiveKind::Vectorize;
  const bool may_split = parallel || vector || mark.kind == DirectiveKind::Unroll;
  if (!may_split || mark.factors.empty()) return {std::move(mark)};
  std::set<std::string> taken;
  for (const Directive &d : before) {
    if (d.func == mark.func && d.stage == mark.stage) taken.insert(d.loops.begin(), d.loops.end());
  }
  const std::string base = mark.loops[0] + (parallel ? "_p" : vector ? "_v" : "_u");
  std::string inner = base;
  for (int i = 1; taken.count(inner); i++) inner = base + std::to_string(i);
  Directive split = mark;
  split.kind = DirectiveKind::Split;
  split.loops = {mark.loops[0], mark.loops[0], inner};
  mark.factors.clear();
  mark.tail = TailStrategy::Auto;
  if (!parallel) mark.loops = {inner};
  return {std::move(split), std::move(mark)};
}

}  // namespace polyhalite
