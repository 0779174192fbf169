// The command line of programs that consist of generators.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>

#include "lang/ir/freeze.h"
#include "lang/language/pipeline_contents.h"
#include "lang/language/random.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"
#include "polyhalite/generator.h"
#include "polyhalite/verification.h"

namespace polyhalite {

namespace {

// What a program of generators can write: outputs of a compilation, and the generator's stub.
struct Wanted {
  std::vector<Emit> emits;
  bool stub = false;
  bool empty() const { return emits.empty() && !stub; }
};

struct Options {
  std::string generator, function, folder, base, runtime, autoscheduler;
  Wanted wanted;
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::string> plugins;
  bool help = false, verbose = false, gradient = false;
  int timeout = 0;  // seconds; 0: none
  std::optional<Verification> verify;
};

void add_emit(const std::string &word, Wanted *wanted) {
  if (word == emit_name(Emit::cpp_stub)) {
    wanted->stub = true;
  } else {
    const bool is_short = word == "h" || word == "o";
    wanted->emits.push_back(!is_short     ? emit_from_name(word)
                            : word == "h" ? Emit::c_header
                                          : Emit::object);
  }
}

Wanted parse_emits(const std::string &text) {
  Wanted wanted;
  for (const std::string &word : detail::split_at_commas(text)) {
    if (!word.empty()) add_emit(word, &wanted);
  }
  return wanted;
}

Options parse_options(const std::vector<std::string> &words) {
  Options o;
  const std::map<std::string, std::string *> texts = {
      {"-g", &o.generator}, {"-f", &o.function}, {"-o", &o.folder},
      {"-n", &o.base},      {"-r", &o.runtime},  {"-s", &o.autoscheduler}};
  const std::set<std::string> others = {"-e", "-d", "-p", "-t", "-v"};
  for (size_t i = 0; i < words.size(); i++) {
    const std::string &word = words[i];
    if (word == "--help" || word == "-h") {
      o.help = true;
      continue;
    }
    if (word.rfind("--verify=", 0) == 0) {
      o.verify = verification_from_name(word.substr(std::strlen("--verify=")));
      continue;
    }
    if (!word.empty() && word[0] != '-') {
      const size_t equals = word.find('=');
      if (equals == std::string::npos || equals == 0) {
        user_error("cannot understand '" + word + "'",
                   "it is neither an option nor a parameter of the form NAME=VALUE", "see --help");
      }
      o.params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
      continue;
    }
    if (!texts.count(word) && !others.count(word)) {
      user_error("unknown option '" + word + "'",
                 "the options are: -g -f -o -n -e -r -p -s -d -t -v --verify --help", "see --help");
    }
    if (i + 1 == words.size()) {
      user_error("option '" + word + "' has no value", "it is the last word of the command line",
                 "give its value after it");
    }
    const std::string &value = words[++i];
    if (word == "-e") {
      o.wanted = parse_emits(value);
    } else if (word == "-v") {
      o.verbose = value != "0";
    } else if (word == "-t") {
      o.timeout = static_cast<int>(detail::parse_integer("-t", value, 0, 1 << 30));
    } else if (word == "-p") {
      for (const std::string &plugin : detail::split_at_commas(value)) {
        if (!plugin.empty()) o.plugins.push_back(plugin);
      }
    } else if (word == "-d") {
      o.gradient = value != "0";
    } else {
      *texts.at(word) = value;
    }
  }
  return o;
}

std::string generator_list() {
  std::string s;
  for (const std::string &name : GeneratorRegistry::names()) s += "  " + name + "\n";
  return s;
}

void print_help(const std::string &program, std::ostream &out) {
  out << "usage: " << program
      << " -g GENERATOR -o FOLDER [-f FUNCTION] [-e KIND,...] [-n BASE] [-p PLUGIN,...] [-d 1]"
         " [-t SECONDS] [-v 1] [--verify=WHAT] [target=TARGET,...] [NAME=VALUE...]\n"
      << "       " << program << " -r RUNTIME -o FOLDER [-e KIND] [target=TARGET]\n"
      << "  -g  the generator; may be left out where the program has only one\n"
      << "  -o  the folder of the files that are written\n"
      << "  -f  the C function's name, namespaces included; by default the generator's\n"
      << "  -e  what to write: " << emit_names() << "; by default\n"
      << "      static_library,c_header,registration\n"
      << "  -n  the files' name without extension; by default the function's\n"
      << "  -r  writes a library of the runtime\n"
      << "  -d  1 compiles the derivatives of a loss by the inputs, from those by the outputs\n"
      << "  -p  shared libraries to load before\n"
      << "  -t  ends the program with an error after so many seconds\n"
      << "  -v  1 prints the files' names and compile times\n"
      << "  --verify  full proves the lowered loops a second time, and ends with an error where "
         "they\n"
      << "      are wrong (compiler_log lists what is proven); passes checks after each pass; "
         "none\n"
      << "Several targets make one function that calls the first which the machine can run; the\n"
      << "last is for all machines.\n"
      << "generators:\n"
      << generator_list();
  for (const std::string &name : GeneratorRegistry::names()) {
    const auto generator = GeneratorRegistry::make(name);
    out << "parameters of " << name << ":\n";
    for (const GeneratorParamBase *p : generator->params()) {
      if (p->name() == "target") continue;
      out << "  " << p->name() << "=" << p->value_text() << "\n";
    }
  }
}

void check_folder(const std::string &folder) {
  if (folder.empty()) {
    user_error("no output folder is named", "files are written to a folder that you choose",
               "name it with -o");
  }
  struct stat info{};
  std::string why;
  if (stat(folder.c_str(), &info) != 0) {
    why = std::strerror(errno);
  } else if (!S_ISDIR(info.st_mode)) {
    why = "Not a directory";
  } else if (access(folder.c_str(), W_OK) != 0) {
    why = std::strerror(errno);
  } else {
    return;
  }
  user_error("cannot write to the folder '" + folder + "'", why,
             "create it, or name another with -o");
}

std::vector<Target> find_targets(const Options &o) {
  std::vector<Target> targets;
  for (const auto &[name, value] : o.params) {
    if (name != "target") continue;
    for (const std::string &text : detail::split_at_commas(value)) {
      const Target target(text);
      for (const Target &other : targets) {
        if (other == target) {
          user_error("the target '" + text + "' is named twice", "each target is one compilation",
                     "name it once");
        }
        if (other.arch != target.arch || other.bits != target.bits || other.os != target.os) {
          user_error("the targets '" + other.to_string() + "' and '" + target.to_string() +
                         "' are for different machines",
                     "one function runs on machines of one architecture and system",
                     "compile for them one by one");
        }
      }
      targets.push_back(target);
    }
  }
  if (targets.empty()) targets.push_back(get_target_from_environment());
  return targets;
}

void emit_runtime(const Options &o) {
  std::vector<Emit> emits = o.wanted.emits;
  if (emits.empty()) emits = {Emit::static_library};
  const Target target = find_targets(o)[0];
  for (Emit e : emits) {
    backend().emit_runtime(target, e, o.folder + "/" + o.runtime + emit_extension(e, target));
  }
}

std::string choose_generator(const Options &o) {
  if (!o.generator.empty()) return o.generator;
  const std::vector<std::string> names = GeneratorRegistry::names();
  if (names.size() == 1) return names[0];
  user_error("no generator is named",
             names.empty() ? "this program has none"
                           : "this program has " + std::to_string(names.size()) + ":\n" +
                                 generator_list().substr(0, generator_list().size() - 1),
             names.empty() ? "register one with POLYHALITE_REGISTER_GENERATOR"
                           : "name one of them with -g");
}

std::string thrown_by_generator(const std::string &text) {
  return Diagnostic{"a generator failed: " + text,
                    "its code threw an exception that is no error of "
                    "Polyhalite",
                    "catch it, or mend what it complains about",
                    {}}
      .to_string();
}

std::unique_ptr<GeneratorBase> make_generator(const Options &o, const std::string &name,
                                              const Target &target) {
  auto generator =
      GeneratorRegistry::make(name, GeneratorContext(target, AutoschedulerParams(o.autoscheduler)));
  // Shapes and values first; what configure() adds may have shapes of its own.
  for (const auto &[param, value] : o.params) {
    if (param != "target") generator->set_generatorparam_value(param, value);
  }
  return generator;
}

std::shared_ptr<const FrozenPipeline> build(GeneratorBase &generator, bool gradient) {
  const SameRandomCalls same;  // for each target
  GeneratorBase::Gradient g;
  if (gradient) {
    g = generator.build_gradient_pipeline();
  } else {
    g.pipeline = generator.build_pipeline();
    g.inputs = generator.arguments();
    g.output_names = generator.output_names();
  }
  std::vector<std::shared_ptr<ParameterContents>> inputs;
  for (const Argument &a : g.inputs) inputs.push_back(a.parameter().contents());
  auto frozen =
      std::make_shared<FrozenPipeline>(freeze_pipeline(*g.pipeline.pipeline_contents(), inputs));
  check_arguments(*frozen, inputs);
  frozen->output_names = g.output_names;
  return frozen;
}

// The last part of "a::b::f".
std::string plain_function(const std::string &function) {
  const size_t colons = function.rfind("::");
  return colons == std::string::npos ? function : function.substr(colons + 2);
}

void emit_generator(const Options &o, std::ostream &out) {
  const std::string name = choose_generator(o);
  const std::vector<Target> targets = find_targets(o);
  std::vector<std::unique_ptr<GeneratorBase>> generators;
  for (const Target &t : targets) generators.push_back(make_generator(o, name, t));
  check_folder(o.folder);

  const std::string function = o.function.empty() ? name : o.function;
  const std::string base = o.folder + "/" + (o.base.empty() ? plain_function(function) : o.base);
  Wanted wanted = o.wanted;
  if (wanted.empty()) wanted.emits = {Emit::static_library, Emit::c_header, Emit::registration};
  std::map<Emit, std::string> files;
  for (Emit e : wanted.emits) files[e] = base + emit_extension(e, targets[0]);

  if (wanted.stub) {
    const std::string path = base + emit_extension(Emit::cpp_stub, targets[0]);
    write_file(path, make_generator(o, name, targets[0])->stub_header(), "the stub");
    if (o.verbose) out << path << "\n";
  }
  if (files.empty()) return;
  CompileTimes times;
  if (targets.size() == 1) {
    backend().emit(*build(*generators[0], o.gradient), function, generators[0]->get_target(), files,
                   &times);
  } else {
    std::vector<Backend::Variant> variants;
    for (auto &g : generators) {
      const Target target = g->get_target();
      variants.push_back({build(*g, o.gradient), target, target.to_string()});
    }
    backend().emit_multitarget(variants, function, files, &times);
  }
  if (!o.verbose) return;
  for (const auto &[emit, path] : files) out << path << "\n";
  out << "seconds: schedule " << times.schedule << ", survey " << times.survey << ", judge "
      << times.judge << ", lower " << times.lower << ", llvm " << times.llvm;
  if (times.verify > 0) out << ", verify " << times.verify;
  out << "\n";
}

void load_plugins(const Options &o) {
  for (const std::string &plugin : o.plugins) load_plugin(plugin, Here(SourceLocation()));
}

void end_by_timeout(int) {
  constexpr char kMessage[] =
      "error: the generator did not end in time\n  why: -t limits its seconds\n"
      "  fix: give it more, or simplify the pipeline\n";
  const ssize_t ignored = write(2, kMessage, sizeof(kMessage) - 1);
  _exit(ignored < 0 ? 2 : 1);
}

}  // namespace

int generate_main(int argc, char **argv, std::ostream &output, std::ostream &errors) {
  try {
    const Options o = parse_options(std::vector<std::string>(argv + 1, argv + argc));
    if (o.help) {
      print_help(argv[0], output);
      return 0;
    }
    if (o.timeout > 0) {
      std::signal(SIGALRM, end_by_timeout);
      alarm(static_cast<unsigned>(o.timeout));
    }
    if (o.verify) set_verification(*o.verify);
    load_plugins(o);
    if (!o.runtime.empty()) {
      check_folder(o.folder);
      emit_runtime(o);
      if (o.generator.empty()) return 0;
    }
    emit_generator(o, output);
    return 0;
  } catch (const Error &e) {
    errors << e.what() << "\n";
  } catch (const std::exception &e) {
    errors << thrown_by_generator(e.what()) << "\n";
  } catch (...) {
    errors << thrown_by_generator("what was thrown has no text") << "\n";
  }
  return 1;
}

}  // namespace polyhalite
