// Which stages run only where somebody needs them, as the lowered loops say.
#include <gtest/gtest.h>
#include <polyhalite/polyhalite.h>

#include <string>

namespace polyhalite::skip_stages_test {
namespace {

class SkipStages : public testing::Test {
 protected:
  // chosen(x, y) = choice(x) >= 9 ? choice(x) : costly(y)
  Func define() {
    costly(x) = x * x;
    chosen(x, y) = select(choice(0) >= 9, choice(0), costly(0));
    costly.compute_at(chosen, x);
    choice.compute_at(chosen, x).store_at(chosen, y);
    return chosen;
  }
  // Is the production of costly behind a condition on what `choice` holds?
  static bool asks(const Func &f) {
    const std::string text = f.emit_text(Emit::stmt, {}, get_jit_target_from_environment());
    const size_t production = text.find("produce costly"), line = text.rfind("if ", production);
    EXPECT_NE(production, std::string::npos) << text;
    return line != std::string::npos && production - line < 100;
  }
  Var x{"x"}, y{"y"};
  Func costly{"costly"}, choice{"choice"}, chosen{"chosen"};
};

TEST_F(SkipStages, WhereAnEarlierValueSaysSo) {
  choice(x) = x + 3;
  define();
  EXPECT_TRUE(asks(chosen));
}

TEST_F(SkipStages, NotWhereAnotherTaskComputesTheValue) {
  choice(x) = x + 3;
  define();
  choice.async();
  EXPECT_FALSE(asks(chosen));
}

TEST_F(SkipStages, NotWhereAnExternStageOfAnotherTaskDoes) {
  choice.define_extern("ph_skip_stages_choice", {}, Int(32), {x});
  define();
  choice.async();
  EXPECT_FALSE(asks(chosen));
}

}  // namespace
}  // namespace polyhalite::skip_stages_test
