// Warnings, a program's own errors, and a reporter in place of exceptions.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/report.h"

namespace polyhalite::report_test {
namespace {

// Keeps what it is told; throws, since error() must not return.
class Keeper : public CompileTimeErrorReporter {
 public:
  Keeper() { set_custom_compile_time_error_reporter(this); }
  ~Keeper() override { set_custom_compile_time_error_reporter(nullptr); }
  void warning(const char *message) override { told += std::string(message) + "\n"; }
  void error(const char *message) override {
    told += std::string(message) + "\n";
    throw 17;
  }
  std::string told;
};

TEST(Report, WarningsGoToStderr) {
  testing::internal::CaptureStderr();
  user_warning("the sky is low", "it rains", "wait", {"a.cpp", 3});
  detail::WarningStream() << "twice " << 2 << "\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cpp:3: Warning: the sky is low\n"
            "  why: it rains\n"
            "  fix: wait\n"
            "Warning: twice 2\n");
}

TEST(Report, TheReporterTakesThePlaceOfBoth) {
  Keeper keeper;
  user_warning("one", "", "");
  EXPECT_THROW(user_error("two", "", ""), int);
  EXPECT_EQ(keeper.told, "Warning: one\nerror: two\n");
}

TEST(Report, StreamsThrowAtTheEndOfTheirStatement) {
  EXPECT_EQ(message_of([] { detail::UserErrorStream() << "no filter of size " << 3 << "\n"; }),
            "error: no filter of size 3");
  EXPECT_EQ(message_of([] { detail::InternalErrorStream({"b.cpp", 5}) << "broken"; }),
            "b.cpp:5: error: internal: broken");
}

}  // namespace
}  // namespace polyhalite::report_test
