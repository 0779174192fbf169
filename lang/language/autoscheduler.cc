#include "polyhalite/autoscheduler.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <set>

#include "lang/ir/freeze.h"
#include "lang/language/loop_level.h"
#include "lang/language/pipeline_contents.h"
#include "lang/language/record.h"
#include "polyhalite/backend.h"
#include "polyhalite/error.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

namespace {

constexpr const char *kOwn = "polyhalite";
// Halide's, whose names existing programs give.
constexpr const char *kHalides[] = {"Mullapudi2016", "Adams2019", "Li2018", "Anderson2021"};

std::string lower_case(std::string text) {
  for (char &c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_halides(const std::string &name) {
  return std::find(std::begin(kHalides), std::end(kHalides), name) != std::end(kHalides);
}

// Halide's scheduler that the file is a plugin for, or null: "path/libautoschedule_adams2019.so".
const char *halides_plugin(const std::string &file) {
  const std::string base = lower_case(file.substr(file.find_last_of('/') + 1));
  for (const char *name : kHalides) {
    if (base.find("autoschedule_" + lower_case(name)) != std::string::npos) return name;
  }
  return nullptr;
}

// Told once in a process for each name.
void tell_of_own(const std::string &name) {
  static auto *told = new std::set<std::string>;
  static auto *mutex = new std::mutex;
  {
    const std::lock_guard<std::mutex> lock(*mutex);
    if (!told->insert(name).second) return;
  }
  user_warning("auto-scheduler '" + name + "' means Polyhalite's own, 'polyhalite'", "", "");
}

struct Autoschedulers {
  std::mutex mutex;
  std::map<std::string, AutoSchedulerFn> known;
};

// Never destroyed: plugins register from static constructors, and programs may schedule at exit.
Autoschedulers &autoschedulers() {
  static auto *r = new Autoschedulers;
  return *r;
}

// Null stands for our own.
AutoSchedulerFn find_autoscheduler(const std::string &name, const Here &here) {
  Autoschedulers &r = autoschedulers();
  const std::lock_guard<std::mutex> lock(r.mutex);
  const auto found = r.known.find(name);
  if (found != r.known.end()) return found->second;
  if (name == kOwn) return {};
  if (is_halides(name)) {
    tell_of_own(name);
    return {};
  }
  std::string names = kOwn;
  for (const auto &[known, function] : r.known) names += ", " + known;
  user_error("the auto-scheduler '" + name + "' is not available", "there are: " + names,
             "name one of them, or add it with Pipeline::add_autoscheduler()", here.where);
}

// The frozen names of a stage's variables -> those of the program, which stand in the same order.
std::map<std::string, std::string> program_names(const FuncDef &def, int stage,
                                                 const FunctionContents &f) {
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < def.args.size(); i++) names[def.args[i]] = f.pure_args[i];
  if (stage == 0) return names;
  const Definition &update = f.updates[static_cast<size_t>(stage) - 1];
  const auto &rvars = def.stages[static_cast<size_t>(stage)].rvars;
  for (size_t i = 0; i < rvars.size(); i++) names[rvars[i].var] = update.domain->vars[i].var;
  return names;
}

// Funcs of the program, and those that the scheduler's rfactor makes.
class DirectiveWriter {
 public:
  DirectiveWriter(const FrozenPipeline &p, SourceLocation where)
      : p_(p), where_(std::move(where)) {}

  void write(const Directive &d) {
    const Subject s = subject(d.func);
    if (names_level(d.kind)) return write_level(d, *s.contents);
    std::vector<std::string> loops = d.loops;
    const auto names = loop_names(d.func, d.stage);
    for (std::string &l : loops) l = in_program(names, l);
    if (d.kind == DirectiveKind::Rfactor) return write_rfactor(d, s, loops);
    record(*s.contents, d.stage, d.kind, std::move(loops), d.factors, where_, d.tail);
  }

  /// An update that the scheduler leaves as it is needs no word about it.
  void settle_made() const {
    for (const auto &[name, m] : made_) m.contents->unscheduled.insert(1);
  }

 private:
  struct Subject {
    std::shared_ptr<FunctionContents> contents;
    // Of one that rfactor made: whose update it is part of. It has this update's names.
    std::string made_of;
    int made_of_stage = 0;
  };

  Subject subject(const std::string &name) const {
    const auto made = made_.find(name);
    if (made != made_.end()) return made->second;
    return {p_.functions[static_cast<size_t>(p_.algorithm.index_of(name))], "", 0};
  }

  std::map<std::string, std::string> loop_names(const std::string &name, int stage) const {
    const Subject s = subject(name);
    if (s.made_of.empty()) return program_names(*p_.algorithm.find(name), stage, *s.contents);
    return program_names(*p_.algorithm.find(s.made_of), stage == 0 ? 0 : s.made_of_stage,
                         *subject(s.made_of).contents);
  }

  static std::string in_program(const std::map<std::string, std::string> &names,
                                const std::string &loop) {
    const auto own = names.find(loop);
    return own == names.end() ? loop : own->second;
  }

  void write_level(const Directive &d, FunctionContents &f) const {
    const LoopLevel level;
    level.contents()->kind = LoopLevelContents::Loop;
    level.contents()->func = subject(d.target_func).contents->name;
    level.contents()->loop = in_program(loop_names(d.target_func, d.target_stage), d.loops[0]);
    level.contents()->stage = d.target_stage;
    level.contents()->where = where_;
    record_level(f, d.stage, d.kind, level, Here(where_));
  }

  void write_rfactor(const Directive &d, const Subject &s, const std::vector<std::string> &loops) {
    std::vector<std::pair<RVar, Var>> preserved;
    for (size_t i = 0; i + 1 < loops.size(); i += 2) {
      preserved.emplace_back(RVar(loops[i]), Var(d.loops[i + 1]));
    }
    const Func partial = Stage(s.contents, d.stage).rfactor(preserved, Here(where_));
    made_[d.makes] = {partial.function(), d.func, d.stage};
  }

  const FrozenPipeline &p_;
  const SourceLocation where_;
  std::map<std::string, Subject> made_;
};

// Records the directives from number `first` on with the program's Funcs, under its names.
void write_directives(const FrozenPipeline &p, size_t first, const SourceLocation &where) {
  DirectiveWriter writer(p, where);
  for (size_t i = first; i < p.directives.size(); i++) writer.write(p.directives[i]);
  writer.settle_made();
  // An update that the scheduler leaves as it is needs no word about it.
  for (const auto &f : p.functions) {
    for (size_t u = 0; u < f->updates.size(); u++) f->unscheduled.insert(static_cast<int>(u) + 1);
  }
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
  Autoschedulers &r = autoschedulers();
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
  if (schedule) {
    schedule(*this, target, params, &results);
    return results;
  }
  const FrozenPipeline frozen = freeze_pipeline(*contents_);
  const FrozenPipeline scheduled = backend().auto_schedule(frozen, target, params, &results);
  write_directives(scheduled, frozen.directives.size(), here.where);
  return results;
}

AutoSchedulerResults auto_schedule(const Pipeline &pipeline, const Target &target,
                                   const std::map<std::string, std::string> &options, Here here) {
  return pipeline.apply_autoscheduler(target, {kOwn, options}, std::move(here));
}

void load_plugin(const std::string &name, Here here) {
  if (const char *halides = halides_plugin(name)) return tell_of_own(halides);
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
