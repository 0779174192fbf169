// Generator: a program's pipeline with its inputs, outputs and parameters, compiled ahead of time.
//
//   class Brighter : public polyhalite::Generator<Brighter> {
//    public:
//     GeneratorParam<int> amount{"amount", 20};
//     Input<Buffer<uint8_t, 2>> input{"input"};
//     Output<Buffer<uint8_t, 2>> output{"output"};
//     void generate() { output(x, y) = ...; }
//     void schedule() { output.vectorize(x, 8); }   // optional
//     Var x{"x"}, y{"y"};
//   };
//   POLYHALITE_REGISTER_GENERATOR(Brighter, brighter)
//
// A generator goes through these phases, once: construction; configure(), where it has one, which
// may add inputs and outputs and complete what their declarations leave open; binding of inputs,
// where another program calls it; generate(); schedule().
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/autoscheduler.h"
#include "polyhalite/generator_io.h"
#include "polyhalite/generator_param.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite {

using GeneratorParamsMap = std::map<std::string, std::string>;

/// What a generator is run for. Generators that others call share the caller's.
class GeneratorContext {
 public:
  GeneratorContext() = default;
  explicit GeneratorContext(const Target &target, const AutoschedulerParams &autoscheduler = {})
      : target_(target), autoscheduler_(autoscheduler) {}
  const Target &target() const { return target_; }
  const AutoschedulerParams &autoscheduler_params() const { return autoscheduler_; }
  GeneratorContext with_target(const Target &target) const {
    return GeneratorContext(target, autoscheduler_);
  }
  template <typename T>
  std::unique_ptr<T> create() const {
    return T::create(*this);
  }
  /// A generator that has run on these inputs.
  template <typename T, typename... Args>
  std::unique_ptr<T> apply(const Args &...inputs) const {
    auto generator = create<T>();
    generator->apply(inputs...);
    return generator;
  }

 private:
  Target target_;
  AutoschedulerParams autoscheduler_;
};

// The names that a generator's class may use without their namespace.
struct GeneratorNames {
  using EvictionKey = polyhalite::EvictionKey;
  using Expr = polyhalite::Expr;
  using ExternFuncArgument = polyhalite::ExternFuncArgument;
  using Func = polyhalite::Func;
  using GeneratorContext = polyhalite::GeneratorContext;
  using ImageParam = polyhalite::ImageParam;
  using LoopLevel = polyhalite::LoopLevel;
  using MemoryType = polyhalite::MemoryType;
  using NameMangling = polyhalite::NameMangling;
  using Partition = polyhalite::Partition;
  using PrefetchBoundStrategy = polyhalite::PrefetchBoundStrategy;
  using Pipeline = polyhalite::Pipeline;
  using RDom = polyhalite::RDom;
  using RVar = polyhalite::RVar;
  using Range = polyhalite::Range;
  using Region = polyhalite::Region;
  using Stage = polyhalite::Stage;
  using TailStrategy = polyhalite::TailStrategy;
  using Target = polyhalite::Target;
  using Tuple = polyhalite::Tuple;
  using Type = polyhalite::Type;
  using Var = polyhalite::Var;
  template <typename T = void, int D = -1>
  using Buffer = polyhalite::Buffer<T, D>;
  template <typename T>
  using Param = polyhalite::Param<T>;
  template <typename T>
  using GeneratorParam = polyhalite::GeneratorParam<T>;
  template <typename T>
  using Input = polyhalite::GeneratorInput<T>;
  template <typename T>
  using Output = polyhalite::GeneratorOutput<T>;

  template <typename T>
  static Expr cast(Expr e) {
    return polyhalite::cast<T>(std::move(e));
  }
  static Expr cast(Type t, Expr e) { return polyhalite::cast(t, std::move(e)); }
  static Type Int(int bits, int lanes = 1) { return polyhalite::Int(bits, lanes); }
  static Type UInt(int bits, int lanes = 1) { return polyhalite::UInt(bits, lanes); }
  static Type Float(int bits, int lanes = 1) { return polyhalite::Float(bits, lanes); }
  static Type Bool(int lanes = 1) { return polyhalite::Bool(lanes); }
};

class GeneratorBase : public GeneratorNames {
 public:
  GeneratorBase() = default;
  GeneratorBase(const GeneratorBase &) = delete;
  GeneratorBase &operator=(const GeneratorBase &) = delete;
  virtual ~GeneratorBase();

  /// As registered; empty for a generator that no registry made.
  const std::string &name() const { return name_; }
  GeneratorContext context() const;
  Target get_target() const { return target.value(); }
  int natural_vector_size(Type t) const { return get_target().natural_vector_size(t); }
  template <typename T>
  int natural_vector_size() const {
    return get_target().natural_vector_size<T>();
  }
  /// Shall schedule() leave everything to an auto-scheduler?
  bool using_autoscheduler() const { return !autoscheduler_.name.empty(); }

  /// Sets a parameter from text; CompileError for an unknown name, which lists the known.
  void set_generatorparam_value(const std::string &name, const std::string &value);
  void set_generatorparam_value(const std::string &name, const LoopLevel &value);
  void set_generatorparam_values(const GeneratorParamsMap &values);
  /// In declared order, the target first.
  std::vector<const GeneratorParamBase *> params() const;

  struct ArgInfo {
    std::string name;
    enum class Direction { Input, Output } dir;
    ArgInfoKind kind;
    std::vector<Type> types;  // empty while open
    int dimensions;           // 0 while open
    bool is_array;
    int array_size;  // -1 while open
  };
  /// Inputs, then outputs, in declared order. Runs configure().
  std::vector<ArgInfo> arginfos();

  /// As Pipeline::trace_pipeline(), for the pipeline that the generator makes.
  void trace_pipeline(Here here = Here());
  /// As Pipeline::add_requirement(), for the pipeline that the generator makes.
  void add_requirement(const Expr &condition, const std::vector<Expr> &message = {});
  template <
      typename First, typename... Rest,
      typename = std::enable_if_t<detail::is_printed<First> && (detail::is_printed<Rest> && ...)>>
  void add_requirement(const Expr &condition, First &&first, Rest &&...rest) {
    add_requirement(condition, {detail::printed(std::forward<First>(first)),
                                detail::printed(std::forward<Rest>(rest))...});
  }

  /// Inputs in declared order: Buffers, images, Funcs, expressions, and lists of them for arrays.
  template <typename... Args>
  void set_inputs(const Args &...inputs) {
    set_inputs_vector({stub_inputs(inputs)...});
  }
  void set_inputs_vector(std::vector<std::vector<StubInput>> inputs);
  void bind_input(const std::string &name, std::vector<StubInput> values);

  /// Runs what has not run yet of configure(), generate() and schedule(). CompileError where an
  /// output is undefined or of another type or number of dimensions than declared.
  Pipeline build_pipeline();
  /// The derivatives of a loss by each input buffer, from its derivatives by each output. Inputs
  /// are the generator's own, then a buffer _grad_loss_for_OUTPUT for each output; for each output
  /// and each input buffer there is an output _grad_loss_OUTPUT_wrt_INPUT: the part that the loss
  /// gets by that output, zeros where the output has none. Where nothing leads from the input to
  /// the output, it is called _dummy_grad_loss_OUTPUT_wrt_INPUT and has the shape of the output.
  /// CompileError as of propagate_adjoints().
  struct Gradient {
    Pipeline pipeline;
    std::vector<Argument> inputs;
    std::vector<std::string> output_names;
  };
  Gradient build_gradient_pipeline();
  /// The same as build_pipeline(), compiled in process; null stands for the defaults.
  Callable compile_to_callable(const JITHandlers *handlers = nullptr,
                               const std::map<std::string, JITExtern> *externs = nullptr);
  /// Of a generator that has run generate().
  Pipeline get_pipeline();
  /// In declared order, arrays element by element.
  std::vector<Argument> arguments() const;
  /// The elements of one output.
  std::vector<Func> output_func(const std::string &name) const;
  /// The C names of the outputs' buffers: "f", or "f.0" and "f.1" of a Tuple.
  std::vector<std::string> output_names() const;

  Realization realize(const std::vector<int> &sizes) {
    return get_pipeline().realize(sizes, get_target());
  }
  void realize(const RealizationArg &outputs) { get_pipeline().realize(outputs, get_target()); }

  /// A C++ header through which other programs call this generator by its class's name.
  std::string stub_header();
  /// Inputs may stand behind outputs.
  virtual bool allow_out_of_order_inputs_and_outputs() const { return false; }

  // For configure(): new inputs and outputs stand behind the declared ones and belong to the
  // generator. The words behind the name are those of Input's and Output's constructors.
  template <typename T, typename... Args>
  GeneratorInput<T> *add_input(const std::string &name, const Args &...shape) {
    return add<GeneratorInput<T>>(name, shape...);
  }
  template <typename T, typename... Args>
  GeneratorOutput<T> *add_output(const std::string &name, const Args &...shape) {
    return add<GeneratorOutput<T>>(name, shape...);
  }
  template <typename T>
  GeneratorOutput<T> *add_output(const std::string &name, const std::vector<Type> &types,
                                 int dimensions) {
    return add<GeneratorOutput<T>>(name, types, dimensions);
  }
  template <typename T>
  GeneratorOutput<T> *add_output(const std::string &name, const std::vector<Type> &types) {
    return add<GeneratorOutput<T>>(name, types);
  }

 protected:
  /// Takes over target and auto-scheduler. Overridden, it may pass on another context.
  virtual void init_from_context(const GeneratorContext &context);
  virtual void call_configure() = 0;
  virtual void call_generate() = 0;
  virtual void call_schedule() = 0;
  /// Ends the construction that begin_construction() of this generator began.
  void end_construction();
  void run();

 private:
  friend class GeneratorParamBase;
  friend class detail::DeclaredIo;
  friend class detail::DeclaredInput;
  friend class detail::DeclaredOutput;
  friend class GeneratorRegistry;
  enum class Phase { Created, Configuring, Configured, Generating, Done };

  GeneratorBase *begin_construction();
  /// A null generator: a member outside of any is a CompileError that names it.
  static GeneratorBase *owner_of(const std::string &described);
  void claim_name(const std::string &described, const std::string &name);
  void add_declared(detail::DeclaredInput *input);
  void add_declared(detail::DeclaredOutput *output);
  void require_configuring(const std::string &described) const;
  void ensure_configured();
  bool set_shape_param(const std::string &name, const std::string &value);
  GeneratorParamBase *find_param(const std::string &name) const;
  [[noreturn]] void unknown_param(const std::string &name) const;
  std::string of_this() const;

  template <typename Io, typename... Args>
  Io *add(const std::string &name, const Args &...shape);
  template <typename T>
  static std::vector<StubInput> stub_inputs(const std::vector<T> &values) {
    std::vector<StubInput> list;
    for (const auto &v : values) list.emplace_back(StubInput(v));
    return list;
  }
  template <typename T>
  static std::vector<StubInput> stub_inputs(const T &value) {
    return {StubInput(value)};
  }

  std::string name_, stub_name_;  // as registered
  AutoschedulerParams autoscheduler_;
  std::vector<GeneratorParamBase *> params_;
  std::vector<detail::DeclaredInput *> inputs_;
  std::vector<detail::DeclaredOutput *> outputs_;
  std::map<std::string, std::string> claimed_;  // name -> what has it
  std::vector<std::unique_ptr<detail::DeclaredIo>> added_;
  std::string out_of_order_;  // the first input behind an output
  Phase phase_ = Phase::Created;
  Pipeline pipeline_;
  std::vector<std::pair<Expr, std::vector<Expr>>> requirements_;  // until the pipeline exists
  std::optional<SourceLocation> traced_;                          // likewise
  // The generator under construction when this one's construction began. Last of the private
  // members: from here on, members of derived classes register with this generator.
  GeneratorBase *enclosing_ = begin_construction();

 public:
  polyhalite::GeneratorParam<Target> target{"target", Target()};
};

namespace detail {

/// Members that are made while this lives belong to `generator`.
class Constructing {
 public:
  explicit Constructing(GeneratorBase *generator);
  ~Constructing();
  Constructing(const Constructing &) = delete;
  Constructing &operator=(const Constructing &) = delete;

 private:
  GeneratorBase *before_;
};

}  // namespace detail

template <typename Io, typename... Args>
Io *GeneratorBase::add(const std::string &name, const Args &...shape) {
  require_configuring(name);
  const detail::Constructing registering(this);
  auto made = std::make_unique<Io>(name, shape...);
  Io *io = made.get();
  added_.push_back(std::move(made));
  return io;
}

/// T is the class itself: it has generate(), and configure() and schedule() where it wants them.
template <typename T>
class Generator : public GeneratorBase {
 public:
  static std::unique_ptr<T> create(const GeneratorContext &context) {
    auto generator = std::make_unique<T>();
    generator->end_construction();
    generator->init_from_context(context);
    return generator;
  }
  template <typename Other>
  std::unique_ptr<Other> create() const {
    return Other::create(context());
  }
  /// Runs on these inputs, in declared order.
  template <typename... Args>
  void apply(const Args &...inputs) {
    set_inputs(inputs...);
    run();
  }
  /// Another generator, run on these inputs.
  template <typename Other, typename... Args>
  std::unique_ptr<Other> apply(const Args &...inputs) const {
    auto generator = create<Other>();
    generator->apply(inputs...);
    return generator;
  }

 private:
  template <typename U, typename = void>
  struct HasConfigure : std::false_type {};
  template <typename U>
  struct HasConfigure<U, std::void_t<decltype(std::declval<U &>().configure())>> : std::true_type {
  };
  template <typename U, typename = void>
  struct HasSchedule : std::false_type {};
  template <typename U>
  struct HasSchedule<U, std::void_t<decltype(std::declval<U &>().schedule())>> : std::true_type {};

  void call_configure() override {
    if constexpr (HasConfigure<T>::value) static_cast<T *>(this)->configure();
  }
  void call_generate() override { static_cast<T *>(this)->generate(); }
  void call_schedule() override {
    if constexpr (HasSchedule<T>::value) static_cast<T *>(this)->schedule();
  }
};

using GeneratorFactory = std::function<std::unique_ptr<GeneratorBase>()>;

/// The generators of this program, by name.
class GeneratorRegistry {
 public:
  /// `stub`: the qualified name of the class that stub_header() declares; the name itself if empty.
  static void add(const std::string &name, GeneratorFactory make, const std::string &stub = "");
  /// Another name for `original` with other values of its parameters.
  static void add_alias(const std::string &name, const std::string &original,
                        const GeneratorParamsMap &values);
  static void remove(const std::string &name);
  /// Sorted.
  static std::vector<std::string> names();
  /// CompileError for an unknown name, which lists the known.
  static std::unique_ptr<GeneratorBase> make(const std::string &name,
                                             const GeneratorContext &context = GeneratorContext());
  /// The same by factory, for stubs, whose programs may hold no registration.
  static std::unique_ptr<GeneratorBase> make_from(const std::string &name,
                                                  const GeneratorFactory &factory,
                                                  const GeneratorContext &context);
};

struct GeneratorRegistration {
  GeneratorRegistration(const char *name, GeneratorFactory make, const char *stub) {
    GeneratorRegistry::add(name, std::move(make), stub);
  }
  GeneratorRegistration(const char *name, const char *original, const GeneratorParamsMap &values) {
    GeneratorRegistry::add_alias(name, original, values);
  }
};

/// A registered generator with these parameters, compiled in process. All inputs are buffers and
/// scalars, as of the C function.
Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const GeneratorParamsMap &params = {});
Callable create_callable_from_generator(const Target &target, const std::string &name,
                                        const GeneratorParamsMap &params = {});

/// The command line of a program of generators; Polyhalite::Generator has a main() that calls it.
/// Returns the exit code; messages go to `errors`.
int generate_main(int argc, char **argv, std::ostream &output, std::ostream &errors);

}  // namespace polyhalite

/// At global scope. The name is an identifier. A third argument names the stub's class, namespaces
/// included.
#define POLYHALITE_REGISTER_GENERATOR(CLASS, NAME, ...)                                            \
  namespace polyhalite_generators {                                                                \
  std::unique_ptr<::polyhalite::GeneratorBase> make_##NAME();                                      \
  std::unique_ptr<::polyhalite::GeneratorBase> make_##NAME() {                                     \
    return std::unique_ptr<::polyhalite::GeneratorBase>(new CLASS);                                \
  }                                                                                                \
  namespace {                                                                                      \
  const ::polyhalite::GeneratorRegistration NAME##_registration(#NAME, make_##NAME, #__VA_ARGS__); \
  }                                                                                                \
  }

/// Another name for a registered generator, with parameters: {{"name", "value"}, ...}.
#define POLYHALITE_REGISTER_GENERATOR_ALIAS(NAME, ORIGINAL, ...)                                \
  namespace polyhalite_generators {                                                             \
  namespace {                                                                                   \
  const ::polyhalite::GeneratorRegistration NAME##_registration(#NAME, #ORIGINAL, __VA_ARGS__); \
  }                                                                                             \
  }
