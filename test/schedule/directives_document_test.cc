// schedule/DIRECTIVES.md: each example is drawn anew and compared; each word has one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "schedule/build.h"
#include "schedule/derive_algorithm.h"
#include "schedule/in_place.h"

namespace polyhalite::directives_document_test {
namespace {

const std::string kPath = POLYHALITE_TEST_DIR "/../../schedule/DIRECTIVES.md";

template <typename T>
std::string without_version(const T &value) {
  const std::string text = to_text(value);
  return text.substr(text.find('\n') + 1);
}

// The algorithm once the directives that rewrite it have done so.
std::string definitions(const std::string &algorithm, const std::string &schedule) {
  return without_version(
      compute_in_place(derive_algorithm(parse_algorithm("algorithm 1\n" + algorithm),
                                        parse_schedule("schedule 1\n" + schedule)))
          .algorithm);
}

std::string fenced(const std::string &kind, const std::string &text) {
  return "```" + kind + "\n" + text + "```\n";
}

class Page {
 public:
  Page() {
    std::ifstream file(kPath);
    EXPECT_TRUE(file.good()) << kPath;
    std::string fence, body;
    for (std::string line; std::getline(file, line);) {
      if (fence.empty() && line.compare(0, 3, "```") == 0) {
        fence = line.substr(3);
        body.clear();
      } else if (!fence.empty() && line == "```") {
        block(fence, body);
        fence.clear();
      } else if (!fence.empty()) {
        body += line + "\n";
      } else {
        text_ += line + "\n";
      }
    }
  }

  std::string text() const { return text_; }
  const std::set<std::string> &words() const { return words_; }

 private:
  void block(const std::string &fence, const std::string &body) {
    std::istringstream words(fence);
    std::string kind, name;
    words >> kind >> name;
    // Old drawings go, new ones come with the schedule.
    if (kind == "before" || kind == "after") return;
    text_ += fenced(fence, body);
    if (kind == "algorithm") algorithms_[name] = body;
    if (kind == "schedule") example(algorithms_[name], body);
  }

  void example(const std::string &algorithm, const std::string &body) {
    std::istringstream lines(body);
    std::string before, after;
    for (std::string line; std::getline(lines, line);) {
      ASSERT_GT(line.size(), 2u) << line;
      const std::string directive = line.substr(2) + "\n";
      after += directive;
      if (line[0] == '+') {
        const Directive d = parse_schedule("schedule 1\n" + after).back();
        words_.insert(directive_name(d.kind));
      } else {
        before += directive;
      }
    }
    try {
      std::string old_text = without_version(build(algorithm, before));
      std::string new_text = without_version(build(algorithm, after));
      const std::string old_definitions = definitions(algorithm, before);
      const std::string new_definitions = definitions(algorithm, after);
      if (old_definitions != new_definitions) {
        old_text = old_definitions + "\n" + old_text;
        new_text = new_definitions + "\n" + new_text;
      }
      text_ += fenced("before", old_text) + fenced("after", new_text);
    } catch (const CompileError &e) {
      ADD_FAILURE() << body << e.what();
    }
  }

  std::map<std::string, std::string> algorithms_;
  std::set<std::string> words_;
  std::string text_;
};

TEST(directives, are_drawn_as_the_page_says) {
  const std::string drawn = Page().text();
  if (std::getenv("BLESS")) std::ofstream(kPath) << drawn;
  std::ifstream file(kPath);
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), drawn);
}

TEST(directives, each_has_an_example) {
  const std::set<std::string> words = Page().words();
  for (DirectiveKind k : all_directive_kinds()) {
    if (concerns_device(k)) continue;
    EXPECT_TRUE(words.count(directive_name(k))) << directive_name(k);
  }
}

}  // namespace
}  // namespace polyhalite::directives_document_test
