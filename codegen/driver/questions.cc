#include "codegen/driver/questions.h"

#include <algorithm>
#include <sstream>

#include "codegen/driver/compile.h"
#include "lang/asking.h"
#include "lang/ir/resolve_target.h"
#include "polyhedral/next_directives.h"
#include "schedule/build_tree.h"
#include "schedule/derive_algorithm.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

namespace {

std::optional<Diagnostic> refusal(const FrozenPipeline &pipeline, const Target &target) {
  const Asking asking;
  try {
    lower_pipeline(pipeline, "asked", target);
  } catch (const CompileError &e) {
    return e.diagnostic();
  }
  return std::nullopt;
}

FrozenPipeline followed_by(FrozenPipeline pipeline, const std::vector<Directive> &more) {
  pipeline.directives.insert(pipeline.directives.end(), more.begin(), more.end());
  return pipeline;
}

// "f.parallel(y)\n..." without the line that has the version.
std::string body_text(const std::vector<Directive> &directives) {
  const std::string text = to_text(directives);
  return text.substr(text.find('\n') + 1);
}

// The directives of `text` behind those of the pipeline, so that new names of loops differ from
// theirs.
std::vector<Directive> parse_behind(const FrozenPipeline &pipeline, const std::string &text,
                                    const SourceLocation &where) {
  std::vector<Directive> all =
      parse_schedule(to_text(pipeline.directives) + text + "\n", "the schedule");
  std::vector<Directive> added(
      all.begin() + static_cast<std::ptrdiff_t>(pipeline.directives.size()), all.end());
  for (Directive &d : added) d.where = where;
  return added;
}

uint64_t tree_of(const FrozenPipeline &pipeline) {
  return tree_hash(build_tree(pipeline.algorithm, pipeline.directives));
}

}  // namespace

std::optional<Diagnostic> why_not(const FrozenPipeline &pipeline, const std::string &directives,
                                  const Target &target, const SourceLocation &where) {
  std::vector<Directive> added;
  try {
    const Asking asking;
    added = parse_behind(pipeline, directives, where);
  } catch (const CompileError &e) {
    Diagnostic d = e.diagnostic();
    d.where = where;
    return d;
  }
  if (added.empty()) {
    return Diagnostic{"the question has no directive", "the text is empty",
                      "ask about one, as in \"f.parallel(y)\"", where};
  }
  return refusal(followed_by(pipeline, added), target);
}

std::vector<std::string> legal_alternatives(const FrozenPipeline &given, const std::string &func,
                                            int stage, const Target &target) {
  const FrozenPipeline pipeline = resolve_target(given, target);
  lower_pipeline(pipeline, "asked", target);  // what the schedule so far breaks is told first
  const DerivedAlgorithm derived = derive_algorithm(pipeline.algorithm, pipeline.directives);
  const LoopTree tree = build_tree(pipeline.algorithm, pipeline.directives);
  NextPlace place{func, stage};
  if (const FuncDef *f = derived.algorithm.find(func)) {
    place.lanes = target.natural_vector_size(f->types[0]);
  }
  place.kernels = target.has_feature(Target::CUDA);
  std::vector<std::vector<Directive>> accepted;
  for (std::vector<Directive> &step :
       next_directives(derived.algorithm, tree, survey(tree), place)) {
    // What goes before only helps where the step is not legal without it.
    const bool is_there = std::any_of(accepted.begin(), accepted.end(), [&](const auto &other) {
      return same_directive(other.back(), step.back());
    });
    if (is_there) continue;
    const FrozenPipeline asked = followed_by(pipeline, step);
    if (refusal(asked, target)) continue;
    if (tree_of(asked) == tree.hash) continue;  // says what is so already
    accepted.push_back(std::move(step));
  }
  std::vector<std::string> texts;
  for (const std::vector<Directive> &step : accepted) {
    texts.push_back(body_text(step));
    texts.back().pop_back();  // the last line's end
  }
  return texts;
}

}  // namespace polyhalite
