#include "polyhalite/autoscheduler.h"

#include <dlfcn.h>

#include <mutex>

#include "polyhalite/error.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, AutoSchedulerFn> known;
};

// Never destroyed: plugins register from static constructors, and programs may schedule at exit.
Registry &registry() {
  static auto *r = new Registry;
  return *r;
}

AutoSchedulerFn find_autoscheduler(const std::string &name, const Here &here) {
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  const auto found = r.known.find(name);
  if (found != r.known.end()) return found->second;
  std::string names;
  for (const auto &[known, function] : r.known) names += (names.empty() ? "" : ", ") + known;
  user_error("the auto-scheduler '" + name + "' is not available",
             names.empty() ? "no auto-scheduler is registered" : "registered are: " + names,
             "load it with load_plugin() or add it with Pipeline::add_autoscheduler()", here.where);
}

}  // namespace

std::string AutoschedulerParams::to_string() const {
  if (name.empty()) return "";
  std::string s = "autoscheduler=" + name;
  for (const auto &[key, value] : extra) s += " autoscheduler." + key + "=" + value;
  return s;
}

void Pipeline::add_autoscheduler(const std::string &name, const AutoSchedulerFn &function,
                                 Here here) {
  if (name.empty() || !function) {
    user_error(
        "add_autoscheduler('" + name + "') without a " + (name.empty() ? "name" : "function"),
        "an auto-scheduler is a function that is known by its name", "give both", here.where);
  }
  Registry &r = registry();
  const std::lock_guard<std::mutex> lock(r.mutex);
  if (!r.known.emplace(name, function).second) {
    user_error("there already is an auto-scheduler '" + name + "'", "each has its own name",
               "choose another name", here.where);
  }
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target,
                                                   const AutoschedulerParams &params,
                                                   Here here) const {
  if (!defined()) {
    user_error("apply_autoscheduler of an undefined Pipeline", "it has no outputs",
               "make it from a Func", here.where);
  }
  const AutoSchedulerFn schedule = find_autoscheduler(params.name, here);
  AutoSchedulerResults results;
  results.target = target;
  results.autoscheduler_params = params;
  schedule(*this, target, params, &results);
  return results;
}

void load_plugin(const std::string &name, Here here) {
  std::string file = name;
  if (file.find('.') == std::string::npos && file.find('/') == std::string::npos) {
    file = "lib" + file + ".so";
  }
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) return;
  const char *problem = dlerror();
  user_error("cannot load the plugin '" + name + "'",
             problem ? std::string(problem) : "the system gives no reason",
             "give the path of a library that is linked with this version", here.where);
}

}  // namespace polyhalite
