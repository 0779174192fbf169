// The commands of the program: each adds its options, and returns what runs it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace polyhalite::cli {

/// The exit status of the program.
using Command = std::function<int()>;

Command add_compile(CLI::App &app);
Command add_run(CLI::App &app);
Command add_explain(CLI::App &app);

}  // namespace polyhalite::cli
