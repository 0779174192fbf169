#include "codegen/driver/runs_here.h"

#include "lang/target_words.h"
#include "polyhalite/error.h"

namespace polyhalite {

void check_runs_here(const Target &target) {
  const Target host = get_host_target();
  bool runs = target.arch == host.arch && target.bits == host.bits && target.os == host.os;
  for (int f = 0; f < Target::FeatureEnd; f++) {
    const auto feature = static_cast<Target::Feature>(f);
    if (!architecture_of(feature)) continue;
    if (target.has_feature(feature) && !host.has_feature(feature)) runs = false;
  }
  if (runs) return;
  user_error("code for target '" + target.to_string() + "' cannot run on this machine",
             "this machine is '" + host.to_string() + "'",
             "use the target 'host', or compile to a file");
}

}  // namespace polyhalite
