// Extern stages in random algorithms: Funcs whose values C functions of the test compute.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/directive.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// A Func reads an extern stage of what it read before: f(g(x, y))  ->  f(e(x, y)), e = C(g).
/// Where no Func reads another one of a single value, nothing changes. The program exports the C
/// functions, so that interpreters and compiled code find them.
void add_extern_stage(Dice &dice, Algorithm &algorithm);

/// C functions read memory: what they take is computed at the root, and mostly so are they.
std::vector<Directive> operands_at_root(Dice &dice, const Algorithm &algorithm);

/// Questions to the C functions whose arguments are constants become their answers.
Expr with_answers(const Expr &e);

bool has_extern_stage(const Algorithm &algorithm);

}  // namespace polyhalite::test
