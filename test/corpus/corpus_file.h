// A file of the corpus: one algorithm, the sizes on which it is enumerated, and schedules of it
// with what is known of them.
//
//   # What the file is about.
//   algorithm 1
//   f(x) = x
//   over r(1, 9): f(r) = f(r - 1) + f(r)
//   output f
//   sizes f (0, 10)                            min and extent of each dimension of the outputs
//   sizes f (-2, 14); n=5                      a further experiment, and the values of Params
//
//   legal                                      of a schedule: what enumeration says
//     f.parallel(x)
//   legal; Halide 14: may introduce a race     what Halide 14 refuses it with, where it does
//     f.update(0).skew(...)
//   illegal
//     f.update(0).parallel(r)
//     | cannot run loop 'r' of update 0 of 'f' in parallel      the judge's refusal
//     |   why: ...
//     |   fix: ...
//
//   strict                                     legal in enumeration, and refused all the same
//     ...
#pragma once

#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "polyhedral/oracle/experiment.h"

namespace polyhalite::test {

struct CorpusCase {
  std::string label;     // "legal", "illegal", "strict"; "new" where nobody has labelled it
  std::string halide;    // empty: Halide 14 takes it, or was not asked
  std::string schedule;  // directives, one a line
  std::string message;   // of a refusal, without the directive's place
  int line = 0;
};

struct CorpusFile {
  std::string name, title;     // the title: the first lines, which begin with #
  std::string algorithm_text;  // with its version
  Algorithm algorithm;
  std::vector<std::string> size_lines;
  std::vector<oracle::Experiment> experiments;  // of these
  std::vector<CorpusCase> cases;
};

/// Throws CompileError at NAME:LINE.
CorpusFile parse_corpus(const std::string &text, const std::string &name);
std::string to_text(const CorpusFile &file);

std::vector<Directive> directives_of(const CorpusCase &c, const std::string &file);

}  // namespace polyhalite::test
