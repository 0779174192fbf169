// Pipeline: one or several output Funcs, compiled together.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/autoscheduler.h"
#include "polyhalite/effects.h"
#include "polyhalite/func.h"
#include "polyhalite/realize.h"

namespace polyhalite {

class Pipeline : public Realizable<Pipeline> {
 public:
  Pipeline() = default;
  Pipeline(const Func &output);  // NOLINT
  explicit Pipeline(const std::vector<Func> &outputs);

  bool defined() const { return contents_ != nullptr; }
  FuncVec outputs() const;
  /// Reports its begin and end as trace events, see Func::trace_loads().
  void trace_pipeline(Here here = Here());

  /// Of all its Funcs, producers before consumers.
  Func get_func(size_t index) const;

  /// The condition is checked, in the order of the calls, before a run computes anything; where it
  /// does not hold, the run ends with an error that has the message's texts and values, code
  /// requirement_failed. CompileError where it depends on more than inputs and shapes.
  void add_requirement(const Expr &condition, const std::vector<Expr> &message = {},
                       Here here = Here());
  template <
      typename First, typename... Rest,
      typename = std::enable_if_t<detail::is_printed<First> && (detail::is_printed<Rest> && ...)>>
  void add_requirement(const Expr &condition, First &&first, Rest &&...rest) {
    add_requirement(condition, {detail::printed(std::forward<First>(first)),
                                detail::printed(std::forward<Rest>(rest))...});
  }

  /// Lets an auto-scheduler write directives to the pipeline's Funcs: "polyhalite", which the names
  /// of Halide's own (Mullapudi2016, Adams2019, Li2018, Anderson2021) stand for too, or one that
  /// was added. See auto_schedule() for its options. CompileError for a name that is not
  /// registered.
  AutoSchedulerResults apply_autoscheduler(const Target &target, const AutoschedulerParams &params,
                                           Here here = Here()) const;
  static void add_autoscheduler(const std::string &name, const AutoSchedulerFn &function,
                                Here here = Here());

  const std::shared_ptr<PipelineContents> &pipeline_contents() const { return contents_; }
  explicit Pipeline(std::shared_ptr<PipelineContents> contents) : contents_(std::move(contents)) {}

 private:
  std::shared_ptr<PipelineContents> contents_;
};

}  // namespace polyhalite
