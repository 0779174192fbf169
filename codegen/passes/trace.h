// Tracer: what of a pipeline is traced, and the expressions that report it.
//
// Begin events give a number, bound to a symbol, that events inside name as their parent:
//   let trace.pipeline = trace(begin_pipeline)
//     let f.trace = trace(begin_realization of f, parent trace.pipeline)
//       let f.trace.produce = trace(produce f, parent f.trace)   ... stores of f ...   end_produce
//       let f.trace.consume = trace(consume f, parent f.trace)   ... loads of f ...    end_consume
//     end_realization
//   end_pipeline
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "lang/abi/polyhalite_runtime.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

class Tracer {
 public:
  explicit Tracer(const LoopTree &tree);

  bool active() const { return active_; }
  bool traces_realizations(const std::string &func) const { return realizations_.count(func) > 0; }
  bool traces_stores(const std::string &func) const { return stores_.count(func) > 0; }

  /// `body` between two events; `open()` makes it while the begin's number is in scope. `symbol` is
  /// the number's name; parents are found among the open ones.
  template <typename Open>
  Stmt between(const std::string &func, const std::string &symbol,
               polyhalite_trace_event_code_t begin, polyhalite_trace_event_code_t end,
               const std::string &parent, const std::vector<Expr> &box, Open open) {
    const Expr number = make_variable(Int(32), VariableKind::Symbol, symbol);
    open_.insert(symbol);
    const Expr begun = event(func, begin, parent_of({parent, kPipeline}, symbol), "", box);
    Stmt body = open();
    open_.erase(symbol);
    return make_let_stmt(
        symbol, begun,
        make_block({body, make_evaluate(event(func, end, number, "", box))}));
  }
  /// The whole pipeline, with its tags.
  template <typename Open>
  Stmt pipeline(const std::string &name, Open open) {
    return between(name, kPipeline, polyhalite_trace_begin_pipeline, polyhalite_trace_end_pipeline,
                   "", {}, [&] {
                     std::vector<Stmt> parts = tags();
                     parts.push_back(open());
                     return make_block(std::move(parts));
                   });
  }

  /// e with every traced load reported.
  Expr with_loads(const Expr &e) const;
  /// Value `value_index` of func, reported as stored at `indices`.
  Expr stored(const std::string &func, int value_index, const Expr &value,
              const std::vector<Expr> &indices) const;

  static constexpr const char *kPipeline = "trace.pipeline";

 private:
  std::vector<Stmt> tags() const;
  Expr event(const std::string &func, polyhalite_trace_event_code_t code, const Expr &parent,
             const std::string &tag, const std::vector<Expr> &box) const;
  Expr access(const std::string &func, polyhalite_trace_event_code_t code, const Expr &parent,
              int value_index, const Expr &value, const std::vector<Expr> &indices) const;
  /// The first of the symbols that is open, but `except`; else 0.
  Expr parent_of(const std::vector<std::string> &symbols, const std::string &except = "") const;

  const LoopTree &tree_;
  bool active_ = false;
  std::set<std::string> loads_, stores_, realizations_;
  std::set<std::string> open_;
};

}  // namespace polyhalite
