// explain_page: all that is known of a compilation as one page of HTML.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// The texts of code that the page shows, made when it asks for them.
struct ExplainedCode {
  std::function<std::string()> loops;     // the loop IR
  std::function<std::string()> assembly;  // with the names of loops in its comments
  // What is said of each Func by the second proof; nothing without Verification::Full.
  std::function<std::vector<std::string>()> proven_again;
  bool run = false;  // measures the time of each stage
};

/// Needs nothing from elsewhere. Of a schedule that is refused, the page says why, and has no code.
/// CompileError where the directives make no loop tree.
std::string explain_page(const std::string &name, const FrozenPipeline &pipeline,
                         const Target &target, const ExplainedCode &code);

}  // namespace polyhalite
