// Auto-schedulers by name, and plugins.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::autoscheduler_test {
namespace {

TEST(Autoscheduler, ARegisteredOneIsCalledWithItsParameters) {
  std::string seen;
  Pipeline::add_autoscheduler(
      "everything_at_root", [&](const Pipeline &p, const Target &t,
                                const AutoschedulerParams &params, AutoSchedulerResults *results) {
        for (Func f : p.outputs()) f.compute_root();
        seen = t.to_string() + " " + params.to_string();
        results->schedule_source = "f.compute_root();";
      });
  Var x("x");
  Func f("f");
  f(x) = x;
  const AutoSchedulerResults results = Pipeline(f).apply_autoscheduler(
      Target("arm-64-linux"), {"everything_at_root", {{"parallelism", "4"}}});
  EXPECT_EQ(seen, "arm-64-linux autoscheduler=everything_at_root autoscheduler.parallelism=4");
  EXPECT_EQ(results.schedule_source, "f.compute_root();");
  EXPECT_EQ(results.target, Target("arm-64-linux"));
  EXPECT_EQ(results.autoscheduler_params.name, "everything_at_root");
  EXPECT_EQ(message_of([&] { Pipeline(f).apply_autoscheduler(Target("host"), {"Greedy"}); }),
            at(__LINE__ - 1) +
                "error: the auto-scheduler 'Greedy' is not available\n"
                "  why: there are: polyhalite, everything_at_root\n"
                "  fix: name one of them, or add it with Pipeline::add_autoscheduler()");
  EXPECT_EQ(
      message_of([] { Pipeline::add_autoscheduler("everything_at_root", [](auto &&...) {}); }),
      at(__LINE__ - 2) +
          "error: there already is an auto-scheduler 'everything_at_root'\n"
          "  why: each has its own name\n"
          "  fix: choose another name");
  EXPECT_EQ(message_of([] { Pipeline::add_autoscheduler("empty", nullptr); }),
            at(__LINE__ - 1) +
                "error: add_autoscheduler('empty') without a function\n"
                "  why: an auto-scheduler is a function that is known by its name\n"
                "  fix: give both");
}

TEST(Autoscheduler, PluginsThatCannotBeLoadedSayWhy) {
  EXPECT_EQ(message_of([] { load_plugin("no_such_scheduler"); }),
            at(__LINE__ - 1) +
                "error: cannot load the plugin 'no_such_scheduler'\n"
                "  why: libno_such_scheduler.so: cannot open shared object file: No such file or "
                "directory\n"
                "  fix: give the path of a library that is linked with this version");
}

// Their file need not exist; without a notice it would be looked for.
TEST(Autoscheduler, PluginsOfHalidesOwnAreNotLoaded) {
  testing::internal::CaptureStderr();
  load_plugin("autoschedule_li2018");
  load_plugin("/nowhere/libautoschedule_li2018.so");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Warning: auto-scheduler 'Li2018' means Polyhalite's own, 'polyhalite'\n");
}

}  // namespace
}  // namespace polyhalite::autoscheduler_test
