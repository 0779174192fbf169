// corpus_proofs FILE...: the second proof of every legal schedule of the corpus. Prints what it
// says of its Funcs; exits 1 where it refuses one, or decides too little.
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "codegen/passes/lower.h"
#include "codegen/proof/check_loops.h"
#include "polyhalite/error.h"
#include "polyhedral/judge.h"
#include "test/corpus/corpus_file.h"

namespace {

using namespace polyhalite::test;
using polyhalite::dataflow::Finding;

constexpr double kLeastProven = 0.8;

struct Findings {
  int proven = 0, refused = 0, undecided = 0;
  std::map<std::string, int> why;  // of what is undecided, without what is special to a case
};

void prove(const CorpusFile &file, const CorpusCase &c, Findings &all) {
  const polyhalite::Judged judged =
      polyhalite::build_and_judge(file.algorithm, directives_of(c, file.name));
  polyhalite::LoopProofOptions options = polyhalite::proof_options(judged.tree, judged.survey);
  options.dataflow.operations = 300'000;
  const polyhalite::Function loops = polyhalite::lower("f", judged.tree, judged.survey, {});
  for (const Finding &f : polyhalite::prove_loops(judged.tree.algorithm, loops, options)) {
    all.proven += f.verdict == Finding::Proven;
    all.undecided += f.verdict == Finding::Undecided;
    all.refused += f.verdict == Finding::Refused;
    if (f.verdict == Finding::Undecided) all.why[f.why.substr(0, f.why.find_first_of(":,"))]++;
    if (f.verdict != Finding::Refused) continue;
    std::cout << file.name << ":" << c.line << ": '" << f.func << "' is refused: " << f.why << "\n";
  }
}

int run(const std::vector<std::string> &files) {
  Findings all;
  for (const std::string &path : files) {
    std::ifstream stream(path);
    const CorpusFile file = parse_corpus({std::istreambuf_iterator<char>(stream), {}}, path);
    for (const CorpusCase &c : file.cases) {
      if (c.label == "legal") prove(file, c, all);
    }
  }
  const int funcs = all.proven + all.undecided + all.refused;
  std::cout << funcs << " Funcs: " << all.proven << " proven, " << all.undecided << " undecided, "
            << all.refused << " refused\n";
  for (const auto &[why, n] : all.why) std::cout << "  " << n << ": " << why << "\n";
  return all.refused == 0 && all.proven >= kLeastProven * funcs ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception &e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
}
