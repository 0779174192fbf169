// Freezes what the front end built into an Algorithm and one list of directives.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct FrozenPipeline {
  Algorithm algorithm;
  std::vector<Directive> directives;  // of all Funcs, in the order of their calls, names rewritten
  // The program's own object behind each of algorithm.inputs, which are copies with pipeline-unique
  // names: realize() reads bound values here. Empty for algorithms that were parsed.
  std::vector<std::shared_ptr<ParameterContents>> bindings;
  std::vector<std::shared_ptr<FunctionContents>> functions;  // behind each of algorithm.funcs
  // What metadata calls the outputs' buffers, one for each value; empty: by their Funcs.
  std::vector<std::string> output_names;
  std::vector<std::shared_ptr<FunctionContents>> made;  // behind those that directives make
};

/// Collects every Func reachable from `outputs` (depth first, so that the order and the names are
/// the same in every run), gives each a pipeline-unique name (the user's, then "name$1"...), and
/// rewrites calls and directives to these names. `declared_inputs` fixes the order of the inputs;
/// others follow in order of first use. `requirements` are as in Algorithm. Throws CompileError on
/// undefined Funcs, with the caller's line.
FrozenPipeline freeze(const std::vector<std::shared_ptr<FunctionContents>> &outputs,
                      const std::vector<std::shared_ptr<ParameterContents>> &declared_inputs = {},
                      const std::vector<Expr> &requirements = {});

/// The same for a question: Funcs may get definitions, and LoopLevels other places, afterwards.
struct AskedPipeline {
  FrozenPipeline pipeline;
  std::unordered_map<const FunctionContents *, std::string> names;  // of all Funcs
};
AskedPipeline freeze_to_ask(const std::vector<std::shared_ptr<FunctionContents>> &outputs,
                            const std::vector<Expr> &requirements = {});

/// The same while the program is still being written: nothing is settled, and what directives say
/// of loops of other Funcs stays as it is. For derivation.h.
FrozenPipeline freeze_so_far(const std::shared_ptr<FunctionContents> &output);

/// CompileError where the pipeline uses an input that `declared` lacks, or `declared` names one
/// twice: the C function's arguments would not be those that its caller knows.
void check_arguments(const FrozenPipeline &pipeline,
                     const std::vector<std::shared_ptr<ParameterContents>> &declared);

}  // namespace polyhalite
