// ONNX's own backend test data: how many cases give the results that the format's reference gives.
// The data is no part of this repository; where it was not fetched, these tests say so and skip.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <thread>

#include "test/onnx/backend_case.h"

namespace polyhalite::onnx::backend_test {
namespace {

// Of onnx 1.22.0, light models left out, which have no inputs of their own.
constexpr size_t kCases = 1905;
constexpr size_t kPassing = 1845;

// In a child, so that a case which ends the process is one that fails.
std::string run_apart(const std::string &folder, const CompileOptions &options) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(300);
    const std::string problem = run_case(folder, options);
    const auto written = write(ends[1], problem.data(), problem.size());
    _exit(written == static_cast<ssize_t>(problem.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string problem;
  char text[4096];
  for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;) {
    problem.append(text, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) problem += " the process ended with status " + std::to_string(status);
  return problem;
}

// Every `step`-th case from `first` on; a line for each.
void run_share(const std::vector<std::string> &cases, size_t first, size_t step,
               const std::string &file) {
  CompileOptions options;
  options.threads = 1;
  std::ofstream report(file);
  for (size_t i = first; i < cases.size(); i += step) {
    const std::string problem = run_apart(cases[i], options);
    report << (problem.empty() ? "pass " : "FAIL ") << cases[i] << ": "
           << problem.substr(0, problem.find('\n')) << std::endl;
  }
}

TEST(onnx_backend, cases_of_the_format) {
  const std::vector<std::string> cases = find_cases(POLYHALITE_ONNX_DATA);
  if (cases.empty()) {
    GTEST_SKIP() << "ONNX's test data is not in " POLYHALITE_ONNX_DATA
                    ": configure with a network, or put onnx/backend/test/data there";
  }
  EXPECT_EQ(cases.size(), kCases);
  const size_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<pid_t> children;
  auto report_of = [](size_t w) {
    return POLYHALITE_ONNX_REPORTS "/onnx_backend." + std::to_string(w) + ".txt";
  };
  for (size_t w = 0; w < workers; w++) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    run_share(cases, w, workers, report_of(w));
    _exit(0);
  }
  for (pid_t child : children) waitpid(child, nullptr, 0);
  size_t passed = 0, told = 0;
  for (size_t w = 0; w < workers; w++) {
    std::ifstream report(report_of(w));
    for (std::string line; std::getline(report, line); told++) {
      passed += line.rfind("pass ", 0) == 0 ? 1 : 0;
    }
  }
  std::cout << passed << " of " << cases.size()
            << " cases pass; " POLYHALITE_ONNX_REPORTS "/onnx_backend.*.txt list them\n";
  EXPECT_EQ(told, cases.size());
  EXPECT_GE(passed, kPassing);
}

}  // namespace
}  // namespace polyhalite::onnx::backend_test
