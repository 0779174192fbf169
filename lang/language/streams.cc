// Loads and stores past the caches: the words.
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/define.h"
#include "lang/language/derivation.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/stream_rules.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

void require_defined(const Stage &s, const char *what, const Here &here) {
  const FunctionContents &f = *s.function();
  if (f.pure) return;
  user_error(std::string("cannot stream ") + what + " of '" + plain_name(f.name) + "'",
             "the Func is undefined", "define the Func before its schedule", here.where);
}

// The image that a Func made of an ImageParam reads, or null.
std::shared_ptr<ParameterContents> image_of(const Func &f) {
  const FunctionContents &c = *f.function();
  if (!c.pure || !c.updates.empty() || c.pure->values.size() != 1) return nullptr;
  const CallNode *call = as_call(c.pure->values[0]);
  if (!call || call->kind != CallKind::Image || !call->param) return nullptr;
  for (size_t i = 0; i < call->args.size(); i++) {
    const VariableNode *v = as_variable(call->args[i]);
    if (!v || v->name != c.pure_args[i]) return nullptr;
  }
  return call->param;
}

}  // namespace

template <typename Self>
Self &Schedulable<Self>::stream_stores(Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined(s, "the stores", here);
  if (auto why = why_not_streamed(current_definition(s.function(), s.index()), s.index())) {
    user_error("cannot stream the stores of " + describe_stage(*s.function(), s.index()), why->why,
               why->fix, here.where);
  }
  record(s, DirectiveKind::StreamStores, {}, {}, here.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::stream_loads(Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined(s, "loads", here);
  record(s, DirectiveKind::StreamLoads, {}, {}, here.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::stream_loads(const std::vector<Func> &funcs, Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined(s, "loads", here);
  if (funcs.empty()) return self();
  std::vector<std::string> names;
  std::vector<std::shared_ptr<ParameterContents>> images;
  for (const Func &f : funcs) {
    if (f.name() == s.function()->name) {
      user_error("cannot stream loads of '" + plain_name(f.name()) + "' in " +
                     describe_stage(*s.function(), s.index()),
                 "what a Func reads of itself it has just written", "name other Funcs, and images",
                 here.where);
    }
    names.push_back(f.name());
    if (const auto image = image_of(f)) images.push_back(image);
  }
  Directive &d = record(s, DirectiveKind::StreamLoads, {}, {}, here.where);
  d.funcs = std::move(names);
  d.images = std::move(images);
  return self();
}

template Func &Schedulable<Func>::stream_stores(Here);
template Stage &Schedulable<Stage>::stream_stores(Here);
template Func &Schedulable<Func>::stream_loads(Here);
template Stage &Schedulable<Stage>::stream_loads(Here);
template Func &Schedulable<Func>::stream_loads(const std::vector<Func> &, Here);
template Stage &Schedulable<Stage>::stream_loads(const std::vector<Func> &, Here);

}  // namespace polyhalite
