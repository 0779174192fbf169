// questions: what may a schedule say next? Nothing is changed by asking.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// What a compilation would say to the pipeline's schedule with these directives behind it; null
/// where it would take them. `directives` is a text as Emit::schedule prints it, without the line
/// that has its version. A text that is broken is a reason, too. `where`: the directives' place.
std::optional<Diagnostic> why_not(const FrozenPipeline &pipeline, const std::string &directives,
                                  const Target &target, const SourceLocation &where);

/// Steps that why_not() has nothing against, each a text of one directive a line.
std::vector<std::string> legal_alternatives(const FrozenPipeline &pipeline, const std::string &func,
                                            int stage, const Target &target);

}  // namespace polyhalite
