// The loops that a stage has after the directives so far, so that a directive on a loop that is not
// there is refused at its own call. schedule/derive.h has the meaning of directives.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/function.h"
#include "polyhalite/var.h"

namespace polyhalite {

/// CompileError where `d` names a loop that its stage has not, or makes one that it has already, or
/// fuses loops of two kinds. `d` is not yet among the directives of `f`.
void check_loops(const FunctionContents &f, const Directive &d);

/// The directives so far that say what a branch's loops are (none: the stage's own): a branch
/// starts with its stage's.
std::vector<const Directive *> directives_so_far(const FunctionContents &f, int stage,
                                                 const std::vector<Expr> &branch);

struct CurrentLoop {
  std::string name;
  bool is_reduction = false;
};

/// The loops of a branch of a defined stage (none: of the stage itself), innermost first.
std::vector<CurrentLoop> current_loops(const FunctionContents &f, int stage,
                                       const std::vector<Expr> &branch);

/// CompileError where a Var names a reduction variable of the stage.
void check_kind_of_name(const FunctionContents &f, int stage, const char *word,
                        const VarOrRVar &loop);

}  // namespace polyhalite
