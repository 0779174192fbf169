// The words of schedules for devices.
#include "lang/ir/function.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "polyhalite/func.h"
#include "polyhalite/target.h"

namespace polyhalite {

namespace {

void record_device(const Stage &s, DirectiveKind kind, const std::vector<VarOrRVar> &loops,
                   DeviceAPI api, const SourceLocation &where) {
  FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error(std::string("cannot ") + directive_name(kind) + " '" + plain_name(f.name) + "'",
               "the Func is undefined, so it has no loops", "define the Func before its schedule",
               where);
  }
  if (!device_api_name(api)) {
    user_error(std::string("cannot ") + directive_name(kind) + " '" + plain_name(f.name) +
                   "': there is no device of number " + std::to_string(static_cast<int>(api)),
               "devices are the enumerators of DeviceAPI", "use DeviceAPI::Default_GPU", where);
  }
  std::vector<std::string> names;
  for (const VarOrRVar &l : loops) {
    if (l.name != kOutermost) names.push_back(l.name);
  }
  record(s, kind, std::move(names), {}, where).device = api;
}

}  // namespace

void detail::record_for_device(const Stage &s, DeviceWord word, const std::vector<VarOrRVar> &loops,
                               DeviceAPI api, const SourceLocation &where) {
  static constexpr DirectiveKind kKinds[] = {
      DirectiveKind::GpuBlocks, DirectiveKind::GpuThreads, DirectiveKind::GpuLanes,
      DirectiveKind::GpuSingleThread, DirectiveKind::Hexagon, DirectiveKind::SmeStreaming};
  record_device(s, kKinds[static_cast<int>(word)], loops, api, where);
}

Func &Func::copy_to_device(DeviceAPI api, Here here) {
  record_device(stage_to_schedule(), DirectiveKind::CopyToDevice, {}, api, here.where);
  return *this;
}

Func &Func::copy_to_host(Here here) {
  record_device(stage_to_schedule(), DirectiveKind::CopyToHost, {}, DeviceAPI::Default_GPU,
                here.where);
  return *this;
}

}  // namespace polyhalite
