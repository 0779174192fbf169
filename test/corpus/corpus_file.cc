#include "test/corpus/corpus_file.h"

#include <sstream>

#include "lang/ir/text.h"
#include "polyhalite/error.h"
#include "schedule/schedule_text.h"

namespace polyhalite::test {

namespace {

constexpr const char *kHalide = "; Halide 14: ";

bool begins(const std::string &line, const std::string &with) {
  return line.compare(0, with.size(), with) == 0;
}

// f (0, 10) (0, 5); g (0, 3); n=5
oracle::Experiment parse_sizes(const std::string &text, const SourceLocation &where) {
  oracle::Experiment e;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    std::istringstream words(part);
    std::string name;
    words >> name;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      e.params[name.substr(0, equals)] = std::stod(name.substr(equals + 1));
      continue;
    }
    std::vector<oracle::Extent> box;
    char bracket, comma;
    int64_t min, extent;
    while (words >> bracket >> min >> comma >> extent >> bracket) box.push_back({min, extent});
    if (name.empty() || box.empty() || !words.eof()) {
      user_error("broken sizes '" + part + "'", "", "write NAME (MIN, EXTENT)... or NAME=VALUE",
                 where);
    }
    e.buffers[name] = std::move(box);
  }
  return e;
}

}  // namespace

CorpusFile parse_corpus(const std::string &text, const std::string &name) {
  CorpusFile file;
  file.name = name;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); number++) {
    const SourceLocation where{name, number};
    if (line.empty()) continue;
    if (line[0] == '#') {
      file.title += line + "\n";
    } else if (begins(line, "sizes ")) {
      file.size_lines.push_back(line.substr(6));
      file.experiments.push_back(parse_sizes(file.size_lines.back(), where));
    } else if (begins(line, "    | ") || begins(line, "  | ")) {
      if (file.cases.empty()) user_error("a message without a case", "", "", where);
      file.cases.back().message += line.substr(line.find('|') + 2) + "\n";
    } else if (begins(line, "  ")) {
      if (file.cases.empty()) user_error("a directive without a case", "", "", where);
      file.cases.back().schedule += line.substr(2) + "\n";
    } else if (begins(line, "legal") || begins(line, "illegal") || line == "strict" ||
               line == "new") {
      CorpusCase c;
      const size_t halide = line.find(kHalide);
      c.label = line.substr(0, halide);
      if (halide != std::string::npos) c.halide = line.substr(halide + std::string(kHalide).size());
      c.line = number;
      file.cases.push_back(std::move(c));
    } else {
      if (!file.cases.empty()) user_error("cannot read '" + line + "'", "", "", where);
      file.algorithm_text += line + "\n";
    }
  }
  file.algorithm = parse_algorithm(file.algorithm_text, name);
  if (file.experiments.empty()) user_error("no sizes", "", "add a line of sizes", {name, 1});
  return file;
}

std::string to_text(const CorpusFile &file) {
  std::string s = file.title + file.algorithm_text;
  for (const std::string &sizes : file.size_lines) s += "sizes " + sizes + "\n";
  for (const CorpusCase &c : file.cases) {
    s += "\n" + c.label + (c.halide.empty() ? "" : kHalide + c.halide) + "\n";
    std::istringstream schedule(c.schedule), message(c.message);
    for (std::string line; std::getline(schedule, line);) s += "  " + line + "\n";
    for (std::string line; std::getline(message, line);) s += "  | " + line + "\n";
  }
  return s;
}

std::vector<Directive> directives_of(const CorpusCase &c, const std::string &file) {
  std::vector<Directive> list = parse_schedule("schedule 1\n" + c.schedule, file);
  for (Directive &d : list) d.where.line += c.line - 1;
  return list;
}

}  // namespace polyhalite::test
