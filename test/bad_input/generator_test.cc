// Mistakes on the command line of a program of generators and inside generators. Those that
// test/lang pins are not repeated.
#include "polyhalite/generator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace {

using namespace polyhalite;

class Stray : public Generator<Stray> {
 public:
  Input<Buffer<uint8_t, 1>> input{"input"};
  Output<Buffer<uint8_t, 1>> output{"output"};
  void generate() { output(x) = input(x) + stray(x); }
  ImageParam stray{polyhalite::UInt(8), 1, "stray"};
  Var x{"x"};
};

class Thrower : public Generator<Thrower> {
 public:
  Output<Buffer<uint8_t, 1>> output{"output"};
  void generate() { throw std::runtime_error("no such file: table.csv"); }
};

class Number : public Generator<Number> {
 public:
  Output<Buffer<uint8_t, 1>> output{"output"};
  void generate() { throw 3; }
};

class Keyword : public Generator<Keyword> {
 public:
  Input<int> value{"int"};
  Output<Buffer<int, 1>> output{"class"};
  void generate() { output(x) = value + x; }
  Var x{"x"};
};

class Unbounded : public Generator<Unbounded> {
 public:
  Input<Buffer<int, 1>> input{"input"};
  Output<Buffer<int, 1>> output{"output"};
  void generate() { output(x) = input(input(x)); }
  Var x{"x"};
};

constexpr int kLineOfScaled = __LINE__ + 5;
class Scaled : public Generator<Scaled> {
 public:
  GeneratorParam<float> scale{"scale", 1, 0, 10};
  Output<Buffer<float, 1>> output{"output"};
  void generate() { output(x) = cast<float>(x) * scale; }
  Var x{"x"};
};

class Literal : public Generator<Literal> {
 public:
  GeneratorParam<int> amount{"amount", 300};
  Output<Buffer<uint8_t, 1>> output{"output"};
  void generate() { output(x) = cast<uint8_t>(x) + amount; }
  Var x{"x"};
};

}  // namespace

POLYHALITE_REGISTER_GENERATOR(Stray, stray)
POLYHALITE_REGISTER_GENERATOR(Scaled, scaled)
POLYHALITE_REGISTER_GENERATOR(Literal, literal)
POLYHALITE_REGISTER_GENERATOR(Thrower, thrower)
POLYHALITE_REGISTER_GENERATOR(Number, number)
POLYHALITE_REGISTER_GENERATOR(Keyword, keyword)
POLYHALITE_REGISTER_GENERATOR(Unbounded, unbounded)

namespace {

class BadCommand : public testing::Test {
 protected:
  BadCommand() {
    char name[] = "/tmp/polyhalite_bad_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~BadCommand() override { std::filesystem::remove_all(folder_); }

  // The exit code and what is printed, with OUT for the folder.
  std::string run(std::vector<std::string> words) {
    words.insert(words.begin(), "gen");
    std::vector<char *> argv;
    for (std::string &w : words) {
      if (w == "OUT") w = folder_;
      argv.push_back(w.data());
    }
    std::ostringstream output, errors;
    const int code = generate_main(static_cast<int>(argv.size()), argv.data(), output, errors);
    std::string text = std::to_string(code) + " " + output.str() + errors.str();
    for (size_t at; (at = text.find(folder_)) != std::string::npos;) {
      text.replace(at, folder_.size(), "OUT");
    }
    return text;
  }

  std::string folder_;
};

TEST_F(BadCommand, nothing_of_that_name_is_verified) {
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "--verify=all"}),
            "1 error: cannot verify 'all'\n"
            "  why: what can be verified: none, passes, full\n"
            "  fix: full proves lowered loops a second time; see --help\n");
}

TEST_F(BadCommand, folders) {
  EXPECT_EQ(run({"-g", "keyword"}),
            "1 error: no output folder is named\n"
            "  why: files are written to a folder that you choose\n"
            "  fix: name it with -o\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "/dev/null"}),
            "1 error: cannot write to the folder '/dev/null'\n"
            "  why: Not a directory\n"
            "  fix: create it, or name another with -o\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "-n", "no/such/base", "-e", "c_header"}),
            "1 error: cannot write the C header 'OUT/no/such/base.h'\n"
            "  why: No such file or directory\n"
            "  fix: choose a folder that exists and may be written to\n");
  std::filesystem::create_directory(folder_ + "/keyword.h");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "-e", "c_header"}),
            "1 error: cannot write the C header 'OUT/keyword.h'\n"
            "  why: Is a directory\n"
            "  fix: choose a folder that exists and may be written to\n");
}

TEST_F(BadCommand, words) {
  EXPECT_EQ(run({"-g"}),
            "1 error: option '-g' has no value\n"
            "  why: it is the last word of the command line\n"
            "  fix: give its value after it\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "=3"}),
            "1 error: cannot understand '=3'\n"
            "  why: it is neither an option nor a parameter of the form NAME=VALUE\n"
            "  fix: see --help\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "stray"}),
            "1 error: cannot understand 'stray'\n"
            "  why: it is neither an option nor a parameter of the form NAME=VALUE\n"
            "  fix: see --help\n");
  EXPECT_EQ(run({"-r", "runtime", "-o", "OUT", "-e", "stmt"}),
            "1 error: the runtime cannot be written as stmt\n"
            "  why: it is machine code and the header that declares it\n"
            "  fix: use object, static_library or c_header\n");
}

TEST_F(BadCommand, names_of_functions) {
  EXPECT_EQ(
      run({"-g", "keyword", "-o", "OUT", "-f", "a b"}),
      "1 error: 'a b' cannot name a compiled function\n"
      "  why: a C symbol has letters, digits and underscores, and does not begin with a digit\n"
      "  fix: give the function another name\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "-f", "while"}),
            "1 error: 'while' cannot name a compiled function\n"
            "  why: C, C++, the C library or the runtime of Polyhalite has that name already\n"
            "  fix: give the function another name\n");
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "-f", "sinf"}),
            "1 error: 'sinf' cannot name a compiled function\n"
            "  why: C, C++, the C library or the runtime of Polyhalite has that name already\n"
            "  fix: give the function another name\n");
}

TEST_F(BadCommand, targets) {
  setenv("PH_TARGET", "x86-64", 1);
  const std::string text = run({"-g", "keyword", "-o", "OUT"});
  unsetenv("PH_TARGET");
  EXPECT_EQ(text.substr(0, text.find("  fix: ")),
            "1 error: cannot read the target 'x86-64' of the environment variable PH_TARGET\n"
            "  why: it names no operating system\n");
}

TEST_F(BadCommand, inputs_that_are_not_declared) {
  EXPECT_EQ(run({"-g", "stray", "-o", "OUT"}),
            "1 error: the pipeline uses ImageParam 'stray', which is no argument\n"
            "  why: the caller of the compiled function could not pass it\n"
            "  fix: add it to the list of arguments, or in a generator make it an Input\n");
}

TEST_F(BadCommand, values_that_are_no_numbers) {
  for (const char *value : {"nan", "inf", "11", "-1"}) {
    const std::string text = run({"-g", "scaled", "-o", "OUT", std::string("scale=") + value});
    EXPECT_NE(text.find("  why: it takes a value from 0.0"), std::string::npos) << text;
  }
}

// Their places are the program's, or none.
TEST_F(BadCommand, lines_of_the_library_are_no_places) {
  const std::string unknown = run({"-g", "scaled", "-o", "OUT", "autoscheduler=nobody"});
  EXPECT_EQ(unknown.find("1 error: "), 0U) << unknown;
  const std::string literal = run({"-g", "literal", "-o", "OUT"});
  EXPECT_EQ(literal.find("1 error: the literal 300 beside '+' does not fit uint8"), 0U) << literal;
  const std::string text = run({"-g", "scaled", "-o", "OUT", "autoscheduler=polyhalite"});
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "1 " + std::string(__FILE__) + ":" + std::to_string(kLineOfScaled) +
                ": error: the auto-scheduler does not know how large output 'output' is: 'x' "
                "without estimate");
}

TEST_F(BadCommand, generators_that_throw) {
  EXPECT_EQ(run({"-g", "thrower", "-o", "OUT"}),
            "1 error: a generator failed: no such file: table.csv\n"
            "  why: its code threw an exception that is no error of Polyhalite\n"
            "  fix: catch it, or mend what it complains about\n");
  EXPECT_EQ(run({"-g", "number", "-o", "OUT"}),
            "1 error: a generator failed: what was thrown has no text\n"
            "  why: its code threw an exception that is no error of Polyhalite\n"
            "  fix: catch it, or mend what it complains about\n");
}

TEST_F(BadCommand, pipelines_that_cannot_be_compiled) {
  const std::string text = run({"-g", "unbounded", "-o", "OUT"});
  EXPECT_EQ(text.substr(text.find(": error: ")),
            ": error: the region of input 'input' that is needed in dimension 0 is unbounded\n"
            "  why: an index comes from data, and nothing limits its values\n"
            "  fix: clamp the index, as in input(clamp(i, 0, n - 1))\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(BadCommand, arguments_named_by_keywords_have_a_header) {
  EXPECT_EQ(run({"-g", "keyword", "-o", "OUT", "-e", "c_header"}), "0 ");
  const std::string compile = "echo '#include \"keyword.h\"' | cc -fsyntax-only -Wall -Werror -I" +
                              folder_ + " -xc - && echo '#include \"keyword.h\"' | c++ " +
                              "-fsyntax-only -Wall -Werror -I" + folder_ + " -xc++ -";
  EXPECT_EQ(std::system(compile.c_str()), 0);
}

}  // namespace
