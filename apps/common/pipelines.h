// The applications' generators, linked into this program.
#pragma once

#include <string>

#include "lang/ir/freeze.h"

namespace polyhalite_apps {

/// The pipeline of generator `app` with its parameter schedule=`schedule`, for this machine; "auto"
/// leaves the schedule to the auto-scheduler.
polyhalite::FrozenPipeline frozen_app(const std::string &app, const std::string &schedule);

}  // namespace polyhalite_apps
