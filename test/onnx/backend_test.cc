// ONNX's own backend test data: how many cases give the results that the format's reference gives.
// The data is no part of this repository; where it was not fetched, these tests say so and skip.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "test/onnx/backend_case.h"

namespace polyhalite::onnx {
namespace {

// Of onnx 1.22.0.
constexpr size_t kCases = 1896;
constexpr size_t kPassing = 700;

// In a child, so that a case which ends the process is one that fails.
std::string run_apart(const std::string &folder, const CompileOptions &options) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(60);
    const std::string problem = run_case(folder, options);
    const auto written = write(ends[1], problem.data(), problem.size());
    _exit(written == static_cast<ssize_t>(problem.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string problem;
  char text[4096];
  for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;) problem.append(text, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) problem += " the process ended with status " + std::to_string(status);
  return problem;
}

TEST(onnx_backend, cases_of_the_format) {
  const std::vector<std::string> cases = find_cases(POLYHALITE_ONNX_DATA);
  if (cases.empty()) {
    GTEST_SKIP() << "ONNX's test data is not in " POLYHALITE_ONNX_DATA
                    ": configure with a network, or put onnx/backend/test/data there";
  }
  EXPECT_GE(cases.size(), kCases);
  CompileOptions options;
  options.threads = 1;
  size_t passed = 0;
  std::ofstream report("onnx_backend.txt");
  for (const std::string &folder : cases) {
    const std::string problem = run_apart(folder, options);
    passed += problem.empty() ? 1 : 0;
    report << (problem.empty() ? "pass " : "FAIL ") << folder << ": " << problem.substr(0, problem.find('\n')) << "\n";
  }
  std::cout << passed << " of " << cases.size() << " cases pass; onnx_backend.txt lists them\n";
  EXPECT_GE(passed, kPassing);
}

}  // namespace
}  // namespace polyhalite::onnx
