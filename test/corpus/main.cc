// corpus --check FILE...: are verdicts and messages those that the files have? Exits 1 where one is
// not, or where the corpus is smaller than it is to be.
// corpus --label FILE...: writes what enumeration and the judge say into the files.
// corpus --grow COUNT SEED FILE...: adds COUNT schedules to each file, drawn and labelled.
#include <fstream>
#include <iostream>
#include <iterator>

#include "polyhalite/error.h"
#include "test/corpus/grow.h"
#include "test/corpus/label.h"

namespace {

using namespace polyhalite::test;

constexpr int kLegal = 300, kIllegal = 150, kBeyondHalide = 40;
constexpr int kStrictOf = 25;  // of so many legal ones less than one is refused

CorpusFile read(const std::string &path) {
  std::ifstream file(path);
  if (!file) polyhalite::user_error("cannot read '" + path + "'", "", "give a file of the corpus");
  return parse_corpus({std::istreambuf_iterator<char>(file), {}}, path);
}

struct Totals {
  int legal = 0, illegal = 0, strict = 0, wrong = 0;
  int beyond_halide = 0, without_word = 0;  // of the legal ones
  void complain(const CorpusFile &file, const CorpusCase &c, const std::string &what) {
    wrong++;
    std::cout << file.name << ":" << c.line << ": " << what << "\n" << c.schedule;
  }
};

void check(const CorpusFile &file, Totals &totals) {
  for (const CorpusCase &c : file.cases) {
    const Labels l = label(file, directives_of(c, file.name));
    totals.legal += l.label == "legal";
    totals.illegal += l.label == "illegal";
    totals.strict += l.label == "strict";
    totals.beyond_halide += l.label == "legal" && !c.halide.empty();
    totals.without_word += l.label == "legal" && c.halide.rfind("has no ", 0) == 0;
    if (l.label == "illegal" && l.accepted) {
      totals.complain(file, c, "accepted, but " + l.violation);
    } else if (c.label != l.label) {
      totals.complain(file, c, "is '" + l.label + "': " + l.violation + l.message);
    } else if (l.message != c.message) {
      totals.complain(file, c, "the message is\n" + l.message);
    } else if (!l.accepted && !l.names_instances) {
      totals.complain(file, c, "names no instances: " + l.message);
    }
  }
}

void relabel(CorpusFile &file) {
  for (CorpusCase &c : file.cases) {
    const Labels l = label(file, directives_of(c, file.name));
    c.label = l.label;
    c.message = l.message;
    if (l.label != "legal") c.halide.clear();
  }
}

void write(const CorpusFile &file) { std::ofstream(file.name) << to_text(file); }

int run(const std::vector<std::string> &words) {
  const std::string mode = words.empty() ? "" : words[0];
  Totals totals;
  if (mode == "--grow" && words.size() > 3) {
    for (size_t i = 3; i < words.size(); i++) {
      CorpusFile file = read(words[i]);
      grow(file, std::stoi(words[1]), std::stoull(words[2]));
      write(file);
    }
    return 0;
  }
  if (words.size() < 2 || (mode != "--check" && mode != "--label")) {
    std::cerr << "usage: corpus --check FILE... | --label FILE... | --grow COUNT SEED FILE...\n";
    return 2;
  }
  for (size_t i = 1; i < words.size(); i++) {
    CorpusFile file = read(words[i]);
    if (mode == "--check") {
      check(file, totals);
    } else {
      relabel(file);
      write(file);
    }
  }
  if (mode == "--label") return 0;
  std::cout << totals.legal << " legal schedules, " << totals.beyond_halide
            << " of them beyond Halide 14 (" << totals.without_word << " for lack of a word), "
            << totals.illegal << " illegal ones, " << totals.strict
            << " refused needlessly: " << totals.wrong << " wrong\n";
  const bool enough = totals.legal >= kLegal && totals.illegal >= kIllegal &&
                      totals.beyond_halide >= kBeyondHalide &&
                      totals.strict * kStrictOf < totals.legal;
  return totals.wrong == 0 && enough ? 0 : 1;
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
