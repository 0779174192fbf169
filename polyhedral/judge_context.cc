#include "polyhedral/judge_context.h"

#include <functional>
#include <utility>

namespace polyhalite {

void JudgeContext::certify(char claim, std::string about, Proof proof, std::string rule) {
  judgement.certificates.push_back({claim, std::move(about), proof, std::move(rule)});
}

void JudgeContext::refuse(Refusal refusal) {
  if (!judgement.refusal) judgement.refusal = std::move(refusal);
}

void JudgeContext::undecided(char claim, std::string what, std::string why, std::string fix,
                             SourceLocation where) {
  refuse({claim,
          Proof::Undecided,
          Diagnostic{std::move(what), std::move(why), std::move(fix), std::move(where)},
          {},
          {}});
}

std::vector<int> JudgeContext::path_to(int loop) const {
  std::vector<int> path;
  if (loop == kRoot) return path;
  std::function<bool(const TreeNode &)> find = [&](const TreeNode &n) {
    if (n.kind == TreeNode::Loop) path.push_back(n.loop);
    if (n.kind == TreeNode::Loop && n.loop == loop) return true;
    for (const auto *block : {&n.children, &n.otherwise}) {
      for (const Tree &t : *block) {
        if (find(*t)) return true;
      }
    }
    if (n.kind == TreeNode::Loop) path.pop_back();
    return false;
  };
  for (const Tree &root : tree.roots) {
    if (find(*root)) return path;
  }
  return path;
}

std::vector<int> JudgeContext::path_between(int outer, int loop) const {
  std::vector<int> path = path_to(loop);
  for (size_t i = 0; i < path.size(); i++) {
    if (path[i] == outer) return {path.begin() + i + 1, path.end()};
  }
  return path;
}

std::vector<StageId> JudgeContext::stages() const {
  std::vector<StageId> all;
  for (size_t f = 0; f < tree.algorithm.funcs.size(); f++) {
    for (size_t s = 0; s < tree.algorithm.funcs[f].stages.size(); s++) {
      all.push_back({static_cast<int>(f), static_cast<int>(s)});
    }
  }
  return all;
}

std::string instance_text(const Instance &i) {
  std::string text = "(";
  for (const auto &[name, value] : i.at) {
    if (text.size() > 1) text += ", ";
    text += name + "=" + std::to_string(value);
  }
  return text + ")";
}

std::string short_text(const Instance &i) {
  std::string text = "(";
  for (const auto &[name, value] : i.at) {
    if (text.size() > 1) text += ",";
    text += std::to_string(value);
  }
  return text + ")";
}

std::string parameters_text(const std::vector<std::pair<std::string, int64_t>> &parameters) {
  std::string text;
  for (const auto &[name, value] : parameters) {
    if (value == 0) continue;
    text += (text.empty() ? " (with " : ", ") + name + "=" + std::to_string(value);
  }
  return text.empty() ? text : text + ")";
}

std::vector<std::pair<std::string, int64_t>> named_parameters(const Problem &problem,
                                                              const std::vector<int64_t> &values) {
  std::vector<std::pair<std::string, int64_t>> result;
  for (size_t v = 0; v < values.size(); v++) {
    const ModelVariable &variable = problem.variables[v];
    if (variable.role != ModelVariable::Parameter || variable.name.empty()) continue;
    result.push_back({variable.name, values[v]});
  }
  return result;
}

}  // namespace polyhalite
