// What a pipeline's schedule may say next: answered without changing anything.
#include "lang/asking.h"
#include "lang/language/define.h"
#include "lang/language/pipeline_contents.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

template <typename Self>
std::optional<Diagnostic> Realizable<Self>::why_not(const std::string &directives,
                                                    const Target &target, Here here) const {
  const PipelineContents &p = contents();
  AskedPipeline asked;
  try {
    const Asking asking;
    asked = freeze_to_ask(p.outputs, p.requirements);
  } catch (const CompileError &e) {
    return e.diagnostic();
  }
  return backend().why_not(asked.pipeline, directives, target, here.where);
}

template <typename Self>
std::vector<std::string> Realizable<Self>::legal_alternatives(const Stage &stage,
                                                              const Target &target,
                                                              Here here) const {
  const PipelineContents &p = contents();
  const std::string what =
      "cannot list what may be said of " + describe_stage(*stage.function(), stage.index());
  if (!stage.branch().empty()) {
    user_error(what + " where it is specialized",
               "directives on a branch are not listed, those on its stage are",
               "ask for the stage itself, or why_not() about one directive", here.where);
  }
  const AskedPipeline asked = freeze_to_ask(p.outputs, p.requirements);
  const auto func = asked.names.find(stage.function().get());
  if (func == asked.names.end()) {
    std::string names;
    for (const FuncDef &f : asked.pipeline.algorithm.funcs) {
      names += (names.empty() ? "" : ", ") + f.name;
    }
    user_error(what, "it is no stage of this pipeline", "ask for one of: " + names, here.where);
  }
  return backend().legal_alternatives(asked.pipeline, func->second, stage.index(), target);
}

#define POLYHALITE_QUESTIONS(Self)                                                          \
  template std::optional<Diagnostic> Realizable<Self>::why_not(const std::string &,         \
                                                               const Target &, Here) const; \
  template std::vector<std::string> Realizable<Self>::legal_alternatives(                   \
      const Stage &, const Target &, Here) const;
POLYHALITE_QUESTIONS(Func)
POLYHALITE_QUESTIONS(Pipeline)
#undef POLYHALITE_QUESTIONS

}  // namespace polyhalite
