// The words of schedules for devices.
#include "lang/ir/function.h"
#include "lang/language/define.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/stage_loops.h"
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

// Everything runs on the host; the loop must be there all the same.
void check_host(const Stage &s, const std::vector<VarOrRVar> &loops, const SourceLocation &where) {
  const FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error("cannot host '" + plain_name(f.name) + "'",
               "the Func is undefined, so it has no loops", "define the Func before its schedule",
               where);
  }
  for (const VarOrRVar &l : loops) {
    std::string names;
    bool found = l.name == kOutermost || f.is_partial;
    for (const CurrentLoop &c : current_loops(f, s.index(), s.branch())) {
      found |= c.name == l.name;
      names = plain_name(c.name) + (names.empty() ? "" : ", ") + names;
    }
    if (found) continue;
    user_error("cannot host '" + plain_name(l.name) + "': " + describe_stage(f, s.index()) +
                   " has no such loop",
               "", "its loops are, outermost first: " + (names.empty() ? "none" : names), where);
  }
}

}  // namespace

void detail::record_for_device(const Stage &s, DeviceWord word, const std::vector<VarOrRVar> &loops,
                               DeviceAPI api, const SourceLocation &where) {
  static constexpr DirectiveKind kKinds[] = {
      DirectiveKind::GpuBlocks,       DirectiveKind::GpuThreads, DirectiveKind::GpuLanes,
      DirectiveKind::GpuSingleThread, DirectiveKind::Hexagon,    DirectiveKind::SmeStreaming};
  if (word == DeviceWord::Host) return check_host(s, loops, where);
  record_device(s, kKinds[static_cast<int>(word)], loops, api, where);
}

void detail::record_tensorize(const Stage &s, const std::vector<VarOrRVar> &loops,
                              const std::string &instruction, const SourceLocation &where) {
  const FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error("cannot tensorize '" + plain_name(f.name) + "'",
               "the Func is undefined, so it has no loops", "define the Func before its schedule",
               where);
  }
  std::vector<std::string> names;
  for (const VarOrRVar &l : loops) names.push_back(l.name);
  record(s, DirectiveKind::Tensorize, std::move(names), {}, where).option = instruction;
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
