// Golden text per pass: a file golden/NAME.txt holds cases, each an input and what the pass makes
// of it. BLESS=1 in the environment rewrites what differs.
//
//   == title of the case
//   func ... the input
//   -- becomes
//   func ... the output
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"

namespace polyhalite {

struct GoldenCase {
  std::string title, input, output;
};

inline std::vector<GoldenCase> read_golden(const std::string &path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<GoldenCase> cases;
  bool in_output = false;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "== ") == 0) {
      cases.push_back({line.substr(3), "", ""});
      in_output = false;
    } else if (line == "-- becomes") {
      in_output = true;
    } else if (!cases.empty()) {
      (in_output ? cases.back().output : cases.back().input) += line + "\n";
    }
  }
  EXPECT_FALSE(cases.empty()) << path << " holds no case";
  return cases;
}

/// Runs `pass` on every case of golden/NAME.txt and compares; both sides must pass the verifier.
inline void check_golden(const std::string &name, IrLevel before, IrLevel after,
                         const std::function<Function(const Function &)> &pass) {
  std::string path = POLYHALITE_TEST_DIR "/golden/";
  path += name + ".txt";
  std::vector<GoldenCase> cases = read_golden(path);
  std::ostringstream blessed;
  for (GoldenCase &c : cases) {
    SCOPED_TRACE(c.title);
    const Function in = parse_function(c.input, path);
    const auto wrong_before = verify(in, before);
    EXPECT_FALSE(wrong_before) << wrong_before->to_string();
    const Function out = pass(in);
    const auto wrong_after = verify(out, after);
    EXPECT_FALSE(wrong_after) << wrong_after->to_string();
    const std::string text = to_text(out);
    if (!std::getenv("BLESS")) {
      EXPECT_EQ(text, c.output);
    }
    blessed << "== " << c.title << "\n" << c.input << "-- becomes\n" << text;
  }
  if (std::getenv("BLESS")) std::ofstream(path) << blessed.str();
}

}  // namespace polyhalite
