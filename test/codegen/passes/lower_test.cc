// What lowering makes of pipelines that are traced or measured.
#include "codegen/passes/lower.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "polyhedral/judge.h"

namespace polyhalite {
namespace {

// The lowered body from its first line that begins with `word` on.
std::string lowered(const Func &f, const std::string &word, bool profile = false) {
  const FrozenPipeline frozen = freeze({f.function()});
  const Judged judged = build_and_judge(frozen.algorithm, frozen.directives);
  LowerOptions options;
  options.bounds_queries = false;
  options.profile = profile;
  const Function function = lower("p", judged.tree, judged.survey, options);
  const auto wrong = verify(function, IrLevel::MultiDimensional);
  EXPECT_FALSE(wrong) << wrong->to_string();
  const std::string text = to_text(function);
  return text.substr(text.find("\n  " + word) + 1);
}

TEST(Lower, TracedRealizationsEncloseProductionsAndUses) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x;
  g(x) = f(x);
  f.compute_root().trace_realizations().trace_loads();
  g.trace_stores();
  EXPECT_EQ(lowered(g, "let trace "), R"()");
}

TEST(Lower, AProfileIsBehindTheChecks) {
  Var x("x");
  Func f("f");
  f(x) = x;
  EXPECT_EQ(lowered(f, "profile", true), R"(  profile {
    produce f {
      for f.s0.x in (f.min.0, f.extent.0) {
        f(f.s0.x) = f.s0.x
      }
    }
  }
}
)");
}

}  // namespace
}  // namespace polyhalite
