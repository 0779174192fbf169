#include "lang/language/loop_origins.h"

#include "lang/language/stage_loops.h"

namespace polyhalite {

LoopOrigins::LoopOrigins(const Stage &s) {
  for (const Directive *d : directives_so_far(*s.function(), s.index(), s.branch())) apply(*d);
}

void LoopOrigins::apply(const Directive &d) {
  const std::vector<std::string> &l = d.loops;
  switch (d.kind) {
    case DirectiveKind::Split: {
      const auto variables = take(l[0]);
      const bool inside = inside_.erase(l[0]) > 0;
      const bool parallel = parallel_.erase(l[0]) > 0;
      variables_[l[1]] = variables_[l[2]] = variables;
      if (inside) inside_.insert(l[1]);
      inside_.insert(l[2]);
      if (parallel) parallel_.insert({l[1], l[2]});
      if (is_blending(d.tail)) blended_.insert(l[2]);
      break;
    }
    case DirectiveKind::Fuse: {
      auto variables = take(l[0]);
      for (const std::string &v : take(l[1])) variables.insert(v);
      variables_[l[2]] = variables;
      const bool inside = inside_.erase(l[0]) + inside_.erase(l[1]) > 0;
      if (inside) inside_.insert(l[2]);
      break;
    }
    case DirectiveKind::Rename:
      variables_[l[1]] = take(l[0]);
      for (auto *set : {&inside_, &parallel_, &blended_}) {
        if (set->erase(l[0])) set->insert(l[1]);
      }
      break;
    case DirectiveKind::Skew: {
      auto variables = take(l[0]);
      for (const std::string &v : variables_of(l[1])) variables.insert(v);
      for (auto *set : {&parallel_, &blended_}) {
        if (set->erase(l[0])) set->insert(l[2]);
      }
      variables_[l[2]] = variables;
      inside_.erase(l[0]);
      inside_.insert(l[2]);
      break;
    }
    case DirectiveKind::Reverse:
    case DirectiveKind::Shift:
      inside_.insert(l[0]);
      break;
    case DirectiveKind::Parallel:
      parallel_.insert(l[0]);
      break;
    default:
      break;
  }
}

std::set<std::string> LoopOrigins::variables_of(const std::string &loop) const {
  auto it = variables_.find(loop);
  return it == variables_.end() ? std::set<std::string>{loop} : it->second;
}

std::set<std::string> LoopOrigins::take(const std::string &loop) {
  auto variables = variables_of(loop);
  variables_.erase(loop);
  return variables;
}

std::optional<std::string> LoopOrigins::beside(const std::string &loop,
                                               const std::set<std::string> &others) const {
  const auto mine = variables_of(loop);
  for (const std::string &other : others) {
    for (const std::string &v : variables_of(other)) {
      if (mine.count(v)) return other;
    }
  }
  return std::nullopt;
}

}  // namespace polyhalite
