#include "polyhalite/jit_context.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

JITExtern::JITExtern(const Pipeline &p) : pipeline_(p.pipeline_contents()) {
  if (pipeline_) return;
  user_error("a JITExtern of an undefined Pipeline", "it has no outputs",
             "construct it from its output Funcs");
}

JITExtern::JITExtern(const Func &f) : JITExtern(Pipeline(f)) {}

Pipeline JITExtern::pipeline() const { return pipeline_ ? Pipeline(pipeline_) : Pipeline(); }

}  // namespace polyhalite
