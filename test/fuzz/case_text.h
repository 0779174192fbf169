// A pipeline of the differential test as text, which reads back whatever the draws become:
//
//   algorithm 1
//   f0(x, y) = x + y
//   output f0
//   schedule 1
//   f0.parallel(y)
//   box (0, 8) (-2, 5)      min and extent of each dimension; a line for each output
//   seed 145                of the images' data
//   verdict accepted        what the judge is to say, refused else; structural: it is not asked
#pragma once

#include <cstdint>
#include <string>

#include "test/support/random_pipeline.h"

namespace polyhalite::test {

struct Case {
  uint64_t seed = 0;
  RandomPipeline pipeline;
  std::string verdict;
};

std::string to_text(const Case &c);
/// Lines that begin with # do not count. Throws CompileError where the text is broken.
Case parse_case(const std::string &text, const std::string &name);

}  // namespace polyhalite::test
