// The demo's inputs and outputs as pictures.
#pragma once

#include <string>

#include "apps/common/app_case.h"

namespace polyhalite_apps {

/// What one of the demo's applications made of the photograph, to look at.
void save_output(const AppCase &app, const std::string &path);
/// The input that the output is to be compared with by eye.
void save_input(const AppCase &app, const std::string &path);

}  // namespace polyhalite_apps
