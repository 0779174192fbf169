// Algorithm: a frozen pipeline, as a value. No machine, no order beyond what updates impose.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/ir/directive.h"
#include "lang/ir/function.h"

namespace polyhalite {

/// One definition of a frozen Func. In `args` and `values`, Funcs are called by their
/// pipeline-unique names, pure variables are Variable(Pure), reduction variables
/// Variable(Reduction) with names unique within the stage.
struct StageDef {
  std::vector<Expr> args;
  std::vector<Expr> values;
  std::vector<ReductionVariable> rvars;  // first is innermost; empty for pure definitions
  Expr predicate;                        // null if none
  SourceLocation where;
  // Of a schedule's branch (specialize): the stage that it stands in for where `when` holds, unless
  // an earlier branch of the same stage does.
  int instead_of = -1;
  Expr when;
  // Of a schedule's in_place: the Func whose values it reads, and whose memory it writes. It means
  // the values that the memory had before any of its instances ran.
  std::string in_place;
  SourceLocation in_place_where;
  // Of a stage that has moved to another Func: what messages call it, "update 0 of 'f'".
  std::string called;
  // Of a stage with branches: what the pipeline fails with where none is taken; empty: it runs.
  std::string fail;
};

/// A cell that an instance of a stage writes, and the values.
struct CellWrite {
  std::vector<Expr> cell, values;
};

/// What an instance writes, in this order, after all values and indices are known: one cell, or
/// several where an index or a value is scatter_gather.
///   f(x, scatter_gather(a, b)) = scatter_gather(u, v)   ->   f(x, a) = u, then f(x, b) = v
std::vector<CellWrite> cell_writes(const StageDef &stage);

struct FuncDef {
  std::string name;
  std::vector<std::string> args;  // the pure variables' names, first is innermost
  std::vector<Type> types;        // of the values
  std::vector<StageDef> stages;   // [0] pure, then updates in order, then branches of these
  SourceLocation where;
  // What set_estimate says in numbers, one per argument, or empty; other estimates are no part of
  // an algorithm.
  std::vector<BoundsEstimate> estimates;

  int dimensions() const { return static_cast<int>(args.size()); }
  /// Of the buffer that holds value i: the Func's name, or NAME.I where there are several values.
  std::string buffer_name(int i) const {
    return types.size() == 1 ? name : name + "." + std::to_string(i);
  }
  /// The definition that a stage or its branch is of: 0 is the pure one.
  int definition_of(int stage) const {
    while (stages[stage].instead_of >= 0) stage = stages[stage].instead_of;
    return stage;
  }
  bool is_update(int stage) const { return definition_of(stage) > 0; }
  /// Of the pure definition and the updates.
  int num_definitions() const;
  /// The branches of a stage, first choice first.
  std::vector<int> branches_of(int stage) const;
};

/// Those of them that are numbers; empty where none is.
std::vector<BoundsEstimate> constant_estimates(std::vector<BoundsEstimate> list);

/// Where the stage runs: its own condition, those around it, none of the choices before it and none
/// of its branches. Undefined: always.
Expr runs_where(const FuncDef &f, int stage);

/// An input of a pipeline, in the order in which the compiled function takes it.
struct AlgorithmInput {
  std::shared_ptr<ParameterContents> param;
};

struct Algorithm {
  std::vector<FuncDef> funcs;          // producers before consumers
  std::vector<std::string> outputs;    // names of funcs
  std::vector<AlgorithmInput> inputs;  // scalars and images that are used, in declared order
  // Constraints on outputs, by their arguments' names; only of outputs that have any.
  std::vector<std::shared_ptr<ParameterContents>> output_buffers;
  // Calls of the intrinsic require of inputs and shapes only; checked in this order before any
  // loop.
  std::vector<Expr> requirements;

  const FuncDef *find(const std::string &name) const;
  /// Position in `funcs`, or -1.
  int index_of(const std::string &name) const;
  bool is_output(const std::string &name) const;
};

/// Does `e` ask for the order of its floating-point operations?
bool has_strict_float(const Expr &e);

/// The update f(args) op= e with an associative and commutative operator whose only self-reference
/// is the cell it writes; `op` is Add, Mul, Min, Max, And or Or (of value 0). Floats count, as in
/// Halide, unless inside strict_float.
bool is_reduction_update(const FuncDef &f, int stage, Op *op = nullptr);

/// Printed form: one definition a line, readable by parse_algorithm (text.h).
/// Constants of more elements print without them, and do not read back.
std::string to_text(const Algorithm &a, int64_t most_elements = 65536);

}  // namespace polyhalite
