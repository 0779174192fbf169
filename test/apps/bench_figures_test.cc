// What the benchmark makes of times: rows, tables, comparisons, the page.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "apps/bench/interleave.h"
#include "apps/bench/report.h"
#include "apps/bench/row.h"

namespace polyhalite_apps::bench_figures_test {
namespace {

Row row_of(const std::string &shape, double ours, std::vector<PeerTime> peers) {
  Row row;
  row.name = "matmul";
  row.shape = shape;
  row.type = "f32";
  row.ours = ours;
  row.peers = std::move(peers);
  row.rate = 50;
  row.unit = "GFLOP/s";
  row.percent_of_peak = 40;
  return row;
}

class BenchFigures : public testing::Test {
 protected:
  std::string path(const std::string &name) { return (folder_ / name).string(); }
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "bench_figures";
    std::filesystem::create_directories(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(BenchFigures, json_has_an_entry_for_each_peer) {
  const auto rows = to_json({row_of("8x8x8", 0.002, {{"A", 0.004}, {"B", 0.001}})});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["name"], "matmul");
  EXPECT_EQ(rows[0]["shape"], "8x8x8");
  EXPECT_EQ(rows[0]["type"], "f32");
  EXPECT_EQ(rows[0]["threads"], 1);
  EXPECT_DOUBLE_EQ(rows[0]["ours_ms"], 2);
  EXPECT_EQ(rows[0]["peer"], "A");
  EXPECT_DOUBLE_EQ(rows[0]["peer_ms"], 4);
  EXPECT_DOUBLE_EQ(rows[0]["ratio"], 2);
  EXPECT_DOUBLE_EQ(rows[0]["percent_of_peak"], 40);
  EXPECT_EQ(rows[1]["peer"], "B");
  EXPECT_DOUBLE_EQ(rows[1]["ratio"], 0.5);
}

TEST_F(BenchFigures, json_of_rows_without_peers_or_times) {
  Row failed = row_of("1x1x1", 0, {});
  failed.failure = "differs";
  const auto rows = to_json({row_of("8x8x8", 0.002, {}), failed});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0]["peer"].is_null());
  EXPECT_TRUE(rows[0]["ratio"].is_null());
  EXPECT_EQ(rows[1]["failure"], "differs");
  EXPECT_FALSE(rows[1].contains("ours_ms"));
}

TEST_F(BenchFigures, table_ends_with_the_mean_of_the_best_peers) {
  const std::string table = table_of(
      {row_of("a", 0.001, {{"A", 0.004}, {"B", 0.002}}), row_of("b", 0.002, {{"A", 0.001}})});
  // Best peers: 2 and 0.5.
  EXPECT_NE(table.find("1 thread: 2 ratios, geometric mean 1.00, lowest 0.50"), std::string::npos)
      << table;
}

TEST_F(BenchFigures, comparison_of_two_files) {
  const std::string before = write(
      "before.json",
      to_json({row_of("a", 0.004, {{"A", 0.004}, {"B", 0.002}}), row_of("gone", 1, {})}).dump());
  const std::string after = write(
      "after.json", to_json({row_of("a", 0.002, {{"A", 0.004}}), row_of("new", 1, {})}).dump());
  const std::string text = compare_files(before, after);
  EXPECT_NE(text.find("4          2    2.00    0.50 -> 2.00      40% -> 40%"), std::string::npos)
      << text;
  EXPECT_NE(text.find("only before: matmul gone"), std::string::npos);
  EXPECT_NE(text.find("only now: matmul new"), std::string::npos);
  EXPECT_NE(text.find("geometric mean 2.00"), std::string::npos);
}

TEST_F(BenchFigures, comparison_refuses_other_files) {
  const std::string right = write("right.json", to_json({row_of("a", 1, {})}).dump());
  for (const std::string text : {"", "{}", "[1]", "[{\"name\": \"a\"}]", "[{", "null"}) {
    const std::string wrong = write("wrong.json", text);
    try {
      compare_files(right, wrong);
      FAIL() << text;
    } catch (const std::runtime_error &error) {
      EXPECT_EQ(error.what(), wrong + " is no file that --json wrote");
    }
  }
  EXPECT_THROW(compare_files(path("missing.json"), right), std::runtime_error);
}

TEST_F(BenchFigures, report_has_a_point_for_each_peer) {
  write_report(path("new/report.html"), {row_of("a<b", 0.001, {{"A", 0.002}, {"B", 0.0005}})});
  std::ifstream file(path("new/report.html"));
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("<title>A: 2.00</title>"), std::string::npos);
  EXPECT_NE(text.str().find("<title>B: 0.50</title>"), std::string::npos);
  EXPECT_NE(text.str().find("a&lt;b"), std::string::npos);
  EXPECT_EQ(text.str().find("a<b"), std::string::npos);
}

// One thread is measured by the processor's time: waiting costs nothing.
TEST_F(BenchFigures, contenders_take_turns_by_processor_time) {
  std::string order;  // of those who run, one letter for each turn
  volatile double sink = 1;
  const auto work = [&](char who) {
    if (order.empty() || order.back() != who) order += who;
    for (int i = 0; i < 3000000; i++) sink = sink * 1.0000001;
  };
  const Rounds r = interleave({[&] { work('a'); },
                               [&] {
                                 work('b');
                                 std::this_thread::sleep_for(std::chrono::milliseconds(40));
                               }},
                              1, 3);
  EXPECT_EQ(r.failure, "");
  ASSERT_EQ(r.seconds.size(), 2u);
  ASSERT_EQ(r.seconds[0].size(), 3u);
  EXPECT_EQ(r.peaks.size(), 3u);
  EXPECT_GT(r.peaks[0], 0);
  EXPECT_LT(r.of(1), r.of(0) + 0.02);
  // The one that ended a round begins the next one.
  EXPECT_EQ(order, "abab");
}

}  // namespace
}  // namespace polyhalite_apps::bench_figures_test
