// label: what enumeration and the judge say of a case.
#pragma once

#include <string>
#include <vector>

#include "test/corpus/corpus_file.h"

namespace polyhalite::test {

struct Labels {
  std::string label;      // as CorpusCase has it; empty where no experiment could be made
  std::string violation;  // what enumeration saw
  bool accepted = false;  // by the judge
  std::string message;    // of its refusal
  bool names_instances = false;
};

/// Experiments are those of the file. CompileError where there is no loop tree to judge.
Labels label(const CorpusFile &file, const std::vector<Directive> &directives);

}  // namespace polyhalite::test
