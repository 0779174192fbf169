// Pipeline: one or several output Funcs, compiled together.
#pragma once

#include <memory>
#include <vector>

#include "polyhalite/autoscheduler.h"
#include "polyhalite/func.h"
#include "polyhalite/realize.h"

namespace polyhalite {

class Pipeline : public Realizable<Pipeline> {
 public:
  Pipeline() = default;
  Pipeline(const Func &output);  // NOLINT
  explicit Pipeline(const std::vector<Func> &outputs);

  bool defined() const { return contents_ != nullptr; }
  std::vector<Func> outputs() const;
  /// Reports its begin and end as trace events, see Func::trace_loads().
  void trace_pipeline(Here here = Here());

  /// Lets an auto-scheduler write directives to the pipeline's Funcs. CompileError for a name that
  /// is not registered.
  AutoSchedulerResults apply_autoscheduler(const Target &target, const AutoschedulerParams &params,
                                           Here here = Here()) const;
  static void add_autoscheduler(const std::string &name, const AutoSchedulerFn &function,
                                Here here = Here());

  const std::shared_ptr<PipelineContents> &pipeline_contents() const { return contents_; }

 private:
  std::shared_ptr<PipelineContents> contents_;
};

}  // namespace polyhalite
