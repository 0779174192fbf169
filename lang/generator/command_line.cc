// The command line of programs that consist of generators.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>

#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/generator.h"

namespace polyhalite {

namespace {

constexpr Emit kEmits[] = {Emit::object,   Emit::static_library, Emit::c_header,
                           Emit::assembly, Emit::llvm_assembly,  Emit::stmt,
                           Emit::schedule, Emit::algorithm,      Emit::tree};

struct Options {
  std::string generator, function, folder, base, runtime;
  std::vector<Emit> emits;
  std::vector<std::pair<std::string, std::string>> params;
  bool help = false, times = false;
};

std::string emit_names() {
  std::string s;
  for (Emit e : kEmits) s += (s.empty() ? "" : ", ") + std::string(emit_name(e));
  return s;
}

Emit parse_emit(const std::string &word) {
  for (Emit e : kEmits) {
    if (word == emit_name(e)) return e;
  }
  if (word == "h") return Emit::c_header;
  if (word == "o") return Emit::object;
  user_error("cannot emit '" + word + "'", "it is no output of a compilation",
             "choose from: " + emit_names());
}

std::vector<Emit> parse_emits(const std::string &text) {
  std::vector<Emit> list;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const std::string word = text.substr(start, comma - start);
    if (!word.empty()) list.push_back(parse_emit(word));
    start = comma + 1;
  }
  return list;
}

Options parse_options(const std::vector<std::string> &words) {
  Options o;
  const std::map<std::string, std::string *> texts = {{"-g", &o.generator},
                                                      {"-f", &o.function},
                                                      {"-o", &o.folder},
                                                      {"-n", &o.base},
                                                      {"-r", &o.runtime}};
  for (size_t i = 0; i < words.size(); i++) {
    const std::string &word = words[i];
    if (word == "--help" || word == "-h") {
      o.help = true;
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
    const bool known = texts.count(word) || word == "-e" || word == "-d";
    if (!known) {
      user_error("unknown option '" + word + "'", "the options are: -g -f -o -n -e -r -d --help",
                 "see --help");
    }
    if (i + 1 == words.size()) {
      user_error("option '" + word + "' has no value", "it is the last word of the command line",
                 "give its value after it");
    }
    const std::string &value = words[++i];
    if (word == "-e") {
      o.emits = parse_emits(value);
    } else if (word == "-d") {
      o.times = value != "0";
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
      << " -g GENERATOR -o FOLDER [-f FUNCTION] [-e KIND,...] [-n BASE] [-d 1]"
         " [target=TARGET] [NAME=VALUE...]\n"
      << "       " << program << " -r RUNTIME -o FOLDER [-e KIND] [target=TARGET]\n"
      << "  -g  the generator; may be left out where the program has only one\n"
      << "  -o  the folder of the files that are written\n"
      << "  -f  the C function's name; by default the generator's\n"
      << "  -e  what to write: " << emit_names() << "; by default static_library,c_header\n"
      << "  -n  the files' name without extension; by default the function's\n"
      << "  -r  writes a library of the runtime\n"
      << "  -d  1 prints compile times\n"
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

Target find_target(const Options &o) {
  for (const auto &[name, value] : o.params) {
    if (name == "target") return Target(value);
  }
  return get_target_from_environment();
}

void emit_runtime(const Options &o) {
  std::vector<Emit> emits = o.emits;
  if (emits.empty()) emits = {Emit::static_library};
  for (Emit e : emits) {
    if (e != Emit::object && e != Emit::static_library) {
      user_error(std::string("cannot emit '") + emit_name(e) + "' of the runtime",
                 "the runtime is machine code only", "choose object or static_library");
    }
    backend().emit_runtime(find_target(o), e, o.folder + "/" + o.runtime + emit_extension(e));
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

void emit_generator(const Options &o, std::ostream &out) {
  const std::string name = choose_generator(o);
  auto generator = GeneratorRegistry::make(name, GeneratorContext(find_target(o)));
  for (const auto &[param, value] : o.params) {
    if (param != "target") generator->set_generatorparam_value(param, value);
  }
  check_folder(o.folder);
  const Pipeline pipeline = generator->build_pipeline();

  const std::string function = o.function.empty() ? name : o.function;
  const std::string base = o.folder + "/" + (o.base.empty() ? function : o.base);
  std::vector<Emit> emits = o.emits;
  if (emits.empty()) emits = {Emit::static_library, Emit::c_header};
  std::map<Emit, std::string> files;
  for (Emit e : emits) files[e] = base + emit_extension(e);

  std::vector<std::shared_ptr<FunctionContents>> outputs;
  for (const Func &f : pipeline.outputs()) outputs.push_back(f.function());
  std::vector<std::shared_ptr<Parameter>> inputs;
  for (const Argument &a : generator->arguments()) inputs.push_back(a.parameter());
  CompileTimes times;
  const FrozenPipeline frozen = freeze(outputs, inputs);
  check_arguments(frozen, inputs);
  backend().emit(frozen, function, generator->get_target(), files, &times);
  if (o.times) {
    out << "seconds: schedule " << times.schedule << ", survey " << times.survey << ", judge "
        << times.judge << ", lower " << times.lower << ", llvm " << times.llvm << "\n";
  }
}

}  // namespace

int generate_main(int argc, char **argv, std::ostream &output, std::ostream &errors) {
  try {
    const Options o = parse_options(std::vector<std::string>(argv + 1, argv + argc));
    if (o.help) {
      print_help(argv[0], output);
      return 0;
    }
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
