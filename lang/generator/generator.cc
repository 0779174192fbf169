#include "polyhalite/generator.h"

#include <cctype>

#include "lang/ir/function.h"
#include "lang/language/names.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

namespace {

// Members register with the generator whose constructor runs in this thread.
thread_local GeneratorBase *under_construction = nullptr;

std::string join(const std::vector<std::string> &names) {
  std::string s;
  for (const std::string &n : names) s += (s.empty() ? "" : ", ") + n;
  return s.empty() ? "none" : s;
}

}  // namespace

GeneratorParamBase::GeneratorParamBase(const std::string &name) : name_(name) {
  GeneratorBase *owner = GeneratorBase::owner_of("GeneratorParam '" + name + "'");
  owner->claim_name("parameter '" + name + "'", name);
  owner->params_.push_back(this);
}

namespace detail {

Constructing::Constructing(GeneratorBase *generator) : before_(under_construction) {
  under_construction = generator;
}
Constructing::~Constructing() { under_construction = before_; }

}  // namespace detail

GeneratorBase *GeneratorBase::begin_construction() {
  GeneratorBase *enclosing = under_construction;
  under_construction = this;
  return enclosing;
}

void GeneratorBase::end_construction() {
  if (under_construction == this) under_construction = enclosing_;
}

GeneratorBase::~GeneratorBase() {
  // Still here only where a derived constructor threw.
  end_construction();
}

GeneratorBase *GeneratorBase::owner_of(const std::string &described) {
  if (under_construction) return under_construction;
  user_error(described + " outside a generator", "it belongs to the generator whose member it is",
             "declare it as a member of a class that derives from Generator");
}

std::string GeneratorBase::of_this() const {
  return name_.empty() ? "the generator" : "generator '" + name_ + "'";
}

void GeneratorBase::claim_name(const std::string &described, const std::string &name) {
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  bool good = !name.empty() && letter(name[0]) && name.find("__") == std::string::npos;
  for (char c : name)
    good = good && (letter(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '_');
  if (!good) {
    user_error("'" + name + "' cannot name a member of a generator",
               "names begin with a letter, go on with letters, digits and underscores, and have no "
               "two underscores in a row",
               "give the member another name");
  }
  const auto [at, fresh] = claimed_.emplace(name, described);
  if (fresh) return;
  user_error(described + " has the name of another member", at->second + " is declared before",
             "give one of them another name");
}

void GeneratorBase::require_configuring(const std::string &name) const {
  if (phase_ == Phase::Configuring) return;
  user_error("'" + name + "' is added outside of configure()",
             "the C function's arguments are fixed when configure() returns",
             "add it in configure()");
}

void GeneratorBase::add_declared(detail::DeclaredInput *input) {
  if (!outputs_.empty() && phase_ == Phase::Created && out_of_order_.empty()) {
    out_of_order_ = input->described();
  }
  inputs_.push_back(input);
}

void GeneratorBase::add_declared(detail::DeclaredOutput *output) { outputs_.push_back(output); }

void GeneratorBase::init_from_context(const GeneratorContext &context) {
  target.set(context.target() == Target() ? get_target_from_environment() : context.target());
  autoscheduler_ = context.autoscheduler_params();
}

GeneratorContext GeneratorBase::context() const {
  return GeneratorContext(target.value(), autoscheduler_);
}

GeneratorParamBase *GeneratorBase::find_param(const std::string &name) const {
  for (GeneratorParamBase *p : params_) {
    if (p->name() == name) return p;
  }
  return nullptr;
}

void GeneratorBase::unknown_param(const std::string &name) const {
  std::vector<std::string> known;
  for (GeneratorParamBase *p : params_) known.push_back(p->name());
  auto open_shapes = [&](const detail::DeclaredIo &io) {
    const detail::IoShape &s = io.declared();
    if (s.types.empty()) known.push_back(s.name + ".type");
    if (s.dimensions < 0) known.push_back(s.name + ".dim");
    if (s.array_size < 0) known.push_back(s.name + ".size");
  };
  for (const detail::DeclaredInput *i : inputs_) open_shapes(*i);
  for (const detail::DeclaredOutput *o : outputs_) open_shapes(*o);
  user_error(of_this() + " has no parameter '" + name + "'", "its parameters are: " + join(known),
             "set one of them, as in NAME=VALUE");
}

// NAME.type, NAME.dim and NAME.size of an input or output.
bool GeneratorBase::set_shape_param(const std::string &name, const std::string &value) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  const std::string owner = name.substr(0, dot), what = name.substr(dot + 1);
  detail::DeclaredIo *io = nullptr;
  for (detail::DeclaredInput *i : inputs_) {
    if (i->declared().name == owner) io = i;
  }
  for (detail::DeclaredOutput *o : outputs_) {
    if (o->declared().name == owner) io = o;
  }
  if (!io) return false;
  constexpr int64_t kMost = 1 << 20;
  if (what == "type") {
    std::vector<Type> types;
    for (const std::string &word : detail::split_at_commas(value)) {
      types.push_back(detail::parse_type(name, word));
    }
    io->set_type(types);
  } else if (what == "dim") {
    io->set_dimensions(static_cast<int>(detail::parse_integer(name, value, 0, kMost)));
  } else if (what == "size") {
    io->set_array_size(static_cast<int>(detail::parse_integer(name, value, 0, kMost)));
  } else {
    return false;
  }
  return true;
}

void GeneratorBase::set_generatorparam_value(const std::string &name, const std::string &value) {
  if (phase_ == Phase::Generating || phase_ == Phase::Done) {
    user_error("parameter '" + name + "' of " + of_this() + " is set too late",
               "generate() has run", "set it before");
  }
  if (GeneratorParamBase *p = find_param(name)) {
    p->set_from_string(value);
  } else if (name == "autoscheduler") {
    autoscheduler_.name = value;
  } else if (name.rfind("autoscheduler.", 0) == 0) {
    autoscheduler_.extra[name.substr(name.find('.') + 1)] = value;
  } else if (!set_shape_param(name, value)) {
    unknown_param(name);
  }
}

void GeneratorBase::set_generatorparam_value(const std::string &name, const LoopLevel &value) {
  GeneratorParamBase *p = find_param(name);
  if (!p) unknown_param(name);
  auto *level = dynamic_cast<polyhalite::GeneratorParam<polyhalite::LoopLevel> *>(p);
  if (!level) {
    user_error("parameter '" + name + "' of " + of_this() + " is set to a LoopLevel", "it is none",
               "set it to text");
  }
  level->set(value);
}

void GeneratorBase::set_generatorparam_values(const GeneratorParamsMap &values) {
  for (const auto &[name, value] : values) set_generatorparam_value(name, value);
}

std::vector<const GeneratorParamBase *> GeneratorBase::params() const {
  return {params_.begin(), params_.end()};
}

void GeneratorBase::ensure_configured() {
  if (phase_ != Phase::Created) return;
  end_construction();
  if (!out_of_order_.empty() && !allow_out_of_order_inputs_and_outputs()) {
    user_error(out_of_order_ + " of " + of_this() + " is declared behind an output",
               "the C function takes inputs first",
               "declare inputs first, or override allow_out_of_order_inputs_and_outputs()");
  }
  if (target.value() == Target()) target.set(get_target_from_environment());
  phase_ = Phase::Configuring;
  call_configure();
  phase_ = Phase::Configured;
}

std::vector<GeneratorBase::ArgInfo> GeneratorBase::arginfos() {
  ensure_configured();
  std::vector<ArgInfo> list;
  auto add = [&](const detail::DeclaredIo &io, ArgInfo::Direction dir) {
    const detail::IoShape &s = io.declared();
    list.push_back(
        {s.name, dir, s.kind, s.types, std::max(s.dimensions, 0), s.is_array, s.array_size});
  };
  for (const detail::DeclaredInput *i : inputs_) add(*i, ArgInfo::Direction::Input);
  for (const detail::DeclaredOutput *o : outputs_) add(*o, ArgInfo::Direction::Output);
  return list;
}

void GeneratorBase::set_inputs_vector(std::vector<std::vector<StubInput>> inputs) {
  ensure_configured();
  if (inputs.size() != inputs_.size()) {
    user_error(of_this() + " got " + std::to_string(inputs.size()) + " inputs",
               "it declares " + std::to_string(inputs_.size()),
               "give one for each; arrays take a vector");
  }
  for (size_t i = 0; i < inputs.size(); i++) inputs_[i]->bind(std::move(inputs[i]));
}

void GeneratorBase::bind_input(const std::string &name, std::vector<StubInput> values) {
  ensure_configured();
  std::vector<std::string> known;
  for (detail::DeclaredInput *i : inputs_) {
    if (i->declared().name == name) return i->bind(std::move(values));
    known.push_back(i->declared().name);
  }
  user_error(of_this() + " has no input '" + name + "'", "its inputs are: " + join(known),
             "bind one of them");
}

void GeneratorBase::run() {
  ensure_configured();
  if (phase_ != Phase::Configured) {
    user_error(of_this() + " is run a second time", "a generator runs once",
               "make another one for the next run");
  }
  if (outputs_.empty()) {
    user_error(of_this() + " has no outputs", "there is nothing to compute",
               "declare an Output member");
  }
  for (detail::DeclaredInput *i : inputs_) i->materialize();
  for (detail::DeclaredOutput *o : outputs_) o->materialize();
  phase_ = Phase::Generating;
  call_generate();
  call_schedule();
  phase_ = Phase::Done;
}

Pipeline GeneratorBase::build_pipeline() {
  run();
  Pipeline pipeline = get_pipeline();
  if (using_autoscheduler()) {
    pipeline.apply_autoscheduler(target.value(), autoscheduler_, Here(SourceLocation{}));
  }
  return pipeline;
}

Pipeline GeneratorBase::get_pipeline() {
  if (phase_ != Phase::Generating && phase_ != Phase::Done) {
    user_error("the pipeline of " + of_this() + " does not exist yet", "generate() has not run",
               "run the generator first");
  }
  if (pipeline_.defined()) return pipeline_;
  std::vector<Func> outputs;
  for (const detail::DeclaredOutput *o : outputs_) {
    o->check(name_);
    for (const Func &f : o->funcs()) outputs.push_back(f);
  }
  pipeline_ = Pipeline(outputs);
  for (const auto &[condition, message] : requirements_) {
    pipeline_.add_requirement(condition, message);
  }
  if (traced_) pipeline_.trace_pipeline(Here(*traced_));
  return pipeline_;
}

void GeneratorBase::trace_pipeline(Here here) {
  if (pipeline_.defined()) return pipeline_.trace_pipeline(std::move(here));
  traced_ = here.where;
}

void GeneratorBase::add_requirement(const Expr &condition, const std::vector<Expr> &message) {
  if (pipeline_.defined()) return pipeline_.add_requirement(condition, message);
  requirements_.emplace_back(condition, message);
}

std::vector<Argument> GeneratorBase::arguments() const {
  std::vector<Argument> args;
  for (const detail::DeclaredInput *i : inputs_) {
    for (const auto &p : i->parameters()) {
      if (p && !p->constant) args.emplace_back(p);
    }
  }
  return args;
}

std::vector<Func> GeneratorBase::output_func(const std::string &name) const {
  std::vector<std::string> known;
  for (const detail::DeclaredOutput *o : outputs_) {
    if (o->declared().name == name) return o->funcs();
    known.push_back(o->declared().name);
  }
  user_error(of_this() + " has no output '" + name + "'", "its outputs are: " + join(known),
             "ask for one of them");
}

std::vector<std::string> GeneratorBase::output_names() const {
  std::vector<std::string> names;
  for (const detail::DeclaredOutput *o : outputs_) {
    const std::vector<Func> funcs = o->funcs();
    for (size_t i = 0; i < funcs.size(); i++) {
      std::string name = o->declared().name;
      if (o->declared().is_array) name += "_" + std::to_string(i);
      const int values = funcs[i].outputs();
      for (int v = 0; v < values; v++) {
        names.push_back(values == 1 ? name : name + "." + std::to_string(v));
      }
    }
  }
  return names;
}

}  // namespace polyhalite
