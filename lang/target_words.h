// The words of target strings, and what belongs to which architecture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhalite/target.h"

namespace polyhalite {

/// The architecture whose instruction sets the feature is one of; none for others.
std::optional<Target::Arch> architecture_of(Target::Feature f);

/// "x86", "arch_unknown".
const char *arch_word(Target::Arch arch);
const char *os_word(Target::OS os);

/// The instruction sets of this machine. In lang/host_target.cc.
void detect_features(Target *t);

}  // namespace polyhalite
