// What one compilation writes; each stage is computed when the first output asks for it.
#pragma once

#include <memory>
#include <string>

#include "codegen/driver/compile.h"
#include "codegen/driver/compile_cache.h"
#include "codegen/llvm/filter.h"
#include "codegen/llvm/object.h"
#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"

namespace polyhalite {

/// "the object", for messages about files.
std::string described(Emit e);

/// Static libraries bring the runtime along, unless the target says otherwise or it is another's.
bool brings_runtime(const Target &target);

class Outputs {
 public:
  /// References to both are kept.
  Outputs(const FrozenPipeline &pipeline, const std::string &name, const Target &target);
  ~Outputs();

  /// Bytes of the file. CompileError where the pipeline cannot be compiled.
  const std::string &make(Emit what);
  /// CompileError for names that C cannot have.
  const Filter &filter();
  CompileTimes times() const;
  /// CompileError where the schedule is refused.
  const LoweredPipeline &lowered();

 private:
  std::string made(Emit what);
  std::string code(CodeForm form);
  const CompileCache &cache();

  const FrozenPipeline &pipeline_;
  const std::string &name_;
  const Target target_;
  std::unique_ptr<Filter> filter_;
  std::unique_ptr<LoweredPipeline> lowered_;
  std::unique_ptr<CompileCache> cache_;
  std::map<Emit, std::string> made_;
  double llvm_seconds_ = 0;
};

}  // namespace polyhalite
