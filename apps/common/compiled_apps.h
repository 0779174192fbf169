// The applications as they were compiled ahead of time: by Polyhalite, and by Halide 14 where it
// was installed when this program was built.
#pragma once

#include <string>
#include <vector>

namespace polyhalite_apps {

enum class System { Polyhalite, Halide };

bool have_halide();

/// The names of all applications, those of the demo first.
std::vector<std::string> app_names();

/// Runs the compiled `app` ("blur") with `schedule` ("none", "naive", "good"; Halide's "good"
/// only); arguments as AppCase::arguments() gives them. Returns the pipeline's error code. Throws
/// std::out_of_range for names that do not exist.
int run_compiled(System system, const std::string &app, const std::string &schedule,
                 std::vector<void *> arguments);

/// The number of threads that each system's parallel loops use from now on.
void set_threads(System system, int count);

}  // namespace polyhalite_apps
