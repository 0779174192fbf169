// Pipelines with kernels, compiled to loop IR and run on the CPU against the plain interpreter.
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/kernel.h"
#include "codegen/ir/text.h"
#include "codegen/ir/visit.h"
#include "codegen/oracle/interpret_ir.h"
#include "codegen/passes/lower.h"
#include "codegen/passes/pass.h"
#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "polyhedral/judge.h"
#include "test/codegen/test_buffer.h"

namespace polyhalite {

/// The pipeline of one output for a CUDA device, up to and with `last` (all passes: null).
/// Throws CompileError.
inline Function with_kernels(const Func &f, const char *last = nullptr) {
  const FrozenPipeline frozen = freeze({f.function()});
  JudgeOptions judging;
  judging.kernels = true;
  const Judged judged = build_and_judge(frozen.algorithm, frozen.directives, judging);
  LowerOptions options;
  options.bounds_queries = false;
  PassOptions passes;
  passes.verify = true;
  Function found;
  passes.after = [&](const char *name, const Function &at) {
    if (last && std::string(name) == last) found = at;
  };
  const Function all = run_passes(lower("p", judged.tree, judged.survey, options),
                                  Target("x86-64-linux-cuda"), passes);
  return last ? found : all;
}

/// The kernels of a function as text, without what is around them.
inline std::string kernel_text(const Function &f) {
  std::string text;
  for_each_stmt(f.body, [&](const Stmt &s) {
    if (s->kind == StmtKind::Kernel) text += to_text(s);
  });
  return text;
}

/// Runs `compiled`, which was made of f, on the CPU with blocks and threads in three orders. What
/// goes wrong, or differs from the interpreter; empty: nothing.
inline std::string run_kernels(const Func &f, const Function &compiled,
                               const std::vector<int> &extents) {
  const FrozenPipeline frozen = freeze({f.function()});
  const FuncDef &output = *frozen.algorithm.find(frozen.algorithm.outputs[0]);
  std::vector<TestBuffer::Extent> shape;
  for (int n : extents) shape.push_back({0, n});
  try {
    TestBuffer expected(output.types[0], shape);
    interpret(frozen.algorithm, {}, {}, {expected.raw()});
    for (const ParallelOrder order :
         {ParallelOrder::Forward, ParallelOrder::Reverse, ParallelOrder::Shuffled}) {
      TestBuffer found(output.types[0], shape);
      IrArguments args;
      args.buffers[output.buffer_name(0)] = found.raw();
      interpret_ir(compiled, args, {order, 7, {}});
      for (size_t i = 0; i < found.bytes().size(); i++) {
        if (found.bytes()[i] == expected.bytes()[i]) continue;
        return "differs at element " +
               std::to_string(i / static_cast<size_t>(output.types[0].bytes()));
      }
    }
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

inline std::string run_kernels(const Func &f, const std::vector<int> &extents) {
  try {
    return run_kernels(f, with_kernels(f), extents);
  } catch (const Error &e) {
    return e.what();
  }
}

}  // namespace polyhalite
