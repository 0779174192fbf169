// Tracer: what of a pipeline is traced, and the statements and expressions that report it.
//
// Begin events have a number, bound to a symbol, that the events inside name as their parent:
//   let trace = trace("p", begin_pipeline, 0)
//     let f.trace = trace("f", begin_realization, trace, min, extent, ...)
//       let f.trace.produce = trace("f", produce, f.trace, ...)   ... stores of f ...   end_produce
//       let f.trace.consume = trace("f", consume, f.trace, ...)   ... loads of f ...    end_consume
//                                                                 (of Funcs that are no outputs)
//     end_realization
//   end_pipeline
// A load or store of f belongs to the innermost span of f that is open; one of an image to the
// pipeline.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "lang/abi/polyhalite_runtime.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// What is traced of all Funcs and images, whatever the directives say.
struct TraceAll {
  bool loads = false, stores = false, realizations = false, pipeline = false;
};

class Tracer {
 public:
  Tracer(const LoopTree &tree, const Survey &survey, const TraceAll &all);

  /// Is anything traced? Then the pipeline's begin and end are.
  bool is_active() const { return is_active_; }
  bool traces_realizations(int func) const { return realizations_.count(name_of(func)) > 0; }
  bool traces_stores(int func) const { return stores_.count(name_of(func)) > 0; }

  bool is_output(int func) const;

  /// Between begin and end of the pipeline, behind its tags.
  Stmt pipeline(const std::string &name, Stmt body) const;

  enum class Span { Realization, Production, Consumption };
  /// From here on events of func belong to the span, until close() puts begin and end around it.
  void open(int func, Span span);
  Stmt close(int func, Stmt body);
  bool is_open(int func, Span span) const;

  /// e with every traced load reported.
  Expr with_loads(const Expr &e) const;
  /// Value `value_index` of func, reported as stored at `indices`.
  Expr stored(int func, int value_index, const Expr &value, const std::vector<Expr> &indices) const;

 private:
  const std::string &name_of(int func) const { return tree_.algorithm.funcs[func].name; }
  bool traces_load(const CallNode &c) const;
  static std::string symbol(const std::string &func, Span span);
  /// The number of the innermost open span of func; 0 without.
  Expr parent_of(const std::string &func) const;
  std::vector<Expr> box_of(int func, Span span) const;

  const LoopTree &tree_;
  const Survey &survey_;
  const TraceAll all_;
  bool is_active_ = false;
  std::set<std::string> loads_, stores_, realizations_;
  std::map<std::string, std::vector<Span>> open_;
};

/// trace(func, event, parent, value_index, tag, numbers...): see lang/ir/intrinsics.h.
Expr trace_event(const std::string &func, polyhalite_trace_event_code_t event, const Expr &parent,
                 const std::string &tag, const std::vector<Expr> &numbers);

}  // namespace polyhalite
