// polyhalite: the command line.
#include <cstdio>
#include <new>
#include <stdexcept>

#include "apps/cli/commands.h"
#include "polyhalite/error.h"
#include "polyhalite/verification.h"

namespace {
void tell_of_memory() {
  std::fputs(
      "polyhalite: error: the memory does not suffice\n"
      "  why: what the model is given, or computes, is larger\n"
      "  fix: give smaller sizes with --shape, or run it where there is more\n",
      stderr);
}
}  // namespace

int main(int argc, char **argv) {
  using namespace polyhalite;
  CLI::App app("Compiles and runs tensor programs", "polyhalite");
  app.set_version_flag("--version", POLYHALITE_VERSION);
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App *, cli::Command>> commands;
  auto add = [&](const char *name, const char *what, cli::Command (*make)(CLI::App &)) {
    CLI::App *sub = app.add_subcommand(name, what);
    commands.emplace_back(sub, make(*sub));
    sub->add_option_function<std::string>(
           "--verify",
           [](const std::string &word) { set_verification(verification_from_name(word)); },
           "full proves the lowered loops a second time, and ends with an error where they are "
           "wrong; passes checks after each pass; none")
        ->check(CLI::IsMember({"none", "passes", "full"}));
  };
  add("compile", "Compile an ONNX model to a library", cli::add_compile);
  add("run", "Run an ONNX model", cli::add_run);
  add("explain", "Write a page about a pipeline, or about each kernel of an ONNX model",
      cli::add_explain);
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto &[sub, run] : commands) {
      if (sub->parsed()) return run();
    }
  } catch (const std::bad_alloc &) {
    tell_of_memory();
  } catch (const std::overflow_error &) {  // a number of bytes has more than 64 bits
    tell_of_memory();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "polyhalite: %s\n", e.what());
  }
  return 1;
}
