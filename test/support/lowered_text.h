// The lowered form of a pipeline, as compile_to_lowered_stmt writes it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite {

inline std::string lowered_text(Func f, const std::vector<Argument> &arguments) {
  const std::string file = testing::TempDir() + "/ph_lowered_" + std::to_string(getpid());
  f.compile_to_lowered_stmt(file, arguments, Text);
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  std::remove(file.c_str());
  return text;
}

}  // namespace polyhalite
