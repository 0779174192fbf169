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
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/generator_param.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite {

template <typename T>
class Input;
template <typename T>
class Output;

namespace detail {

// What the generator that is being constructed owns; each is called by a member's constructor.
void register_input(std::shared_ptr<Parameter> param);
/// `type` is a handle and `dimensions` -1 where they are not declared.
void register_output(Func *output, const std::string &name, Type type, int dimensions);
/// CompileError: an input's or output's type or number of dimensions is nowhere given.
void require_shape(const char *kind, const std::string &name, Type type, int dimensions);

template <typename B>
struct BufferTraits;
template <typename T, int D>
struct BufferTraits<Buffer<T, D>> {
  static constexpr int kDimensions = D;
  static Type type() { return element_type<std::remove_const_t<T>>(); }
};

}  // namespace detail

// The names that a generator's class may use without their namespace.
struct GeneratorNames {
  using Expr = polyhalite::Expr;
  using Func = polyhalite::Func;
  using Var = polyhalite::Var;
  using RVar = polyhalite::RVar;
  using RDom = polyhalite::RDom;
  using Region = polyhalite::Region;
  using Range = polyhalite::Range;
  using Stage = polyhalite::Stage;
  using LoopLevel = polyhalite::LoopLevel;
  using Pipeline = polyhalite::Pipeline;
  using Target = polyhalite::Target;
  using TailStrategy = polyhalite::TailStrategy;
  using Type = polyhalite::Type;
  template <typename T = void, int D = -1>
  using Buffer = polyhalite::Buffer<T, D>;
  template <typename T>
  using GeneratorParam = polyhalite::GeneratorParam<T>;
  template <typename T>
  using Input = polyhalite::Input<T>;
  template <typename T>
  using Output = polyhalite::Output<T>;

  template <typename T>
  static Expr cast(Expr e) {
    return polyhalite::cast<T>(std::move(e));
  }
  static Expr cast(Type t, Expr e) { return polyhalite::cast(t, std::move(e)); }
  static Type Int(int bits) { return polyhalite::Int(bits); }
  static Type UInt(int bits) { return polyhalite::UInt(bits); }
  static Type Float(int bits) { return polyhalite::Float(bits); }
  static Type Bool() { return polyhalite::Bool(); }
};

class GeneratorBase : public GeneratorNames {
 public:
  GeneratorBase() = default;
  GeneratorBase(const GeneratorBase &) = delete;
  GeneratorBase &operator=(const GeneratorBase &) = delete;
  virtual ~GeneratorBase();

  Target get_target() const { return target.value(); }
  int natural_vector_size(Type t) const { return get_target().natural_vector_size(t.bytes()); }
  template <typename T>
  int natural_vector_size() const {
    return get_target().natural_vector_size<T>();
  }
  /// No directives but the generator's own are added.
  bool using_autoscheduler() const { return false; }

  /// Sets a parameter from text; CompileError for an unknown name, which lists the known.
  void set_param(const std::string &name, const std::string &value);
  std::vector<const GeneratorParamBase *> params() const;
  /// Runs generate() and schedule(), once. CompileError where an output is undefined or of another
  /// type or number of dimensions than declared.
  Pipeline build_pipeline();
  /// In declared order.
  std::vector<Argument> arguments() const;

 protected:
  virtual void call_generate() = 0;
  virtual void call_schedule() = 0;

 private:
  friend class GeneratorParamBase;
  friend void detail::register_input(std::shared_ptr<Parameter>);
  friend void detail::register_output(Func *, const std::string &, Type, int);
  friend class GeneratorRegistry;
  struct DeclaredOutput {
    Func *func;
    std::string name;
    Type type;
    int dimensions;
  };
  GeneratorBase *begin_construction();
  void check_output(const DeclaredOutput &o) const;

  std::string name_;  // as registered
  std::vector<GeneratorParamBase *> params_;
  std::vector<std::shared_ptr<Parameter>> inputs_;
  std::vector<DeclaredOutput> outputs_;
  // The generator under construction when this one's construction began. Last of the private
  // members: from here on, members of derived classes register with this generator.
  GeneratorBase *enclosing_ = begin_construction();

 public:
  polyhalite::GeneratorParam<Target> target{"target", Target()};
};

/// T is the class itself: it has generate(), and schedule() where it wants the two apart.
template <typename T>
class Generator : public GeneratorBase {
 private:
  template <typename U, typename = void>
  struct HasSchedule : std::false_type {};
  template <typename U>
  struct HasSchedule<U, std::void_t<decltype(std::declval<U &>().schedule())>> : std::true_type {};

  void call_generate() override { static_cast<T *>(this)->generate(); }
  void call_schedule() override {
    if constexpr (HasSchedule<T>::value) static_cast<T *>(this)->schedule();
  }
};

/// A scalar input.
template <typename T>
class Input : public Param<T> {
 public:
  explicit Input(const std::string &name) : Param<T>(name) {
    detail::register_input(this->parameter());
  }
  /// The default is what an in-process run takes.
  Input(const std::string &name, T default_value) : Input(name) { this->set(default_value); }
  Input(const std::string &name, T default_value, T min, T max) : Input(name, default_value) {
    this->set_range(Expr(min), Expr(max));
  }
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;
};

/// An image input. Type and dimensions are the Buffer's, or are given where it leaves them open.
template <typename T, int D>
class Input<Buffer<T, D>> : public ImageParam {
  using Traits = detail::BufferTraits<Buffer<T, D>>;

 public:
  explicit Input(const std::string &name) : Input(name, Traits::type(), D) {}
  Input(const std::string &name, int dimensions) : Input(name, Traits::type(), dimensions) {}
  Input(const std::string &name, Type type, int dimensions)
      : ImageParam(checked(name, type, dimensions), dimensions, name) {
    detail::register_input(parameter());
  }
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

 private:
  static Type checked(const std::string &name, Type type, int dimensions) {
    detail::require_shape("input", name, type, dimensions);
    return type;
  }
};

/// An output, to be defined as any Func or assigned one.
class OutputFunc : public Func {
 public:
  OutputFunc(const std::string &name, Type type, int dimensions) : Func(name) {
    detail::register_output(this, name, type, dimensions);
  }
  OutputFunc(const OutputFunc &) = delete;
  OutputFunc &operator=(const OutputFunc &) = delete;
  OutputFunc &operator=(const Func &f) {
    Func::operator=(f);
    return *this;
  }
};

template <typename T, int D>
class Output<Buffer<T, D>> : public OutputFunc {
  using Traits = detail::BufferTraits<Buffer<T, D>>;

 public:
  explicit Output(const std::string &name) : OutputFunc(name, Traits::type(), D) {}
  Output(const std::string &name, int dimensions) : OutputFunc(name, Traits::type(), dimensions) {}
  Output(const std::string &name, Type type, int dimensions) : OutputFunc(name, type, dimensions) {}
  using OutputFunc::operator=;
};

template <>
class Output<Func> : public OutputFunc {
 public:
  explicit Output(const std::string &name) : OutputFunc(name, Handle(), -1) {}
  Output(const std::string &name, int dimensions) : OutputFunc(name, Handle(), dimensions) {}
  Output(const std::string &name, Type type, int dimensions) : OutputFunc(name, type, dimensions) {}
  using OutputFunc::operator=;
};

using GeneratorFactory = std::function<std::unique_ptr<GeneratorBase>()>;

/// The generators of this program, by name.
class GeneratorRegistry {
 public:
  static void add(const std::string &name, GeneratorFactory make);
  /// Sorted.
  static std::vector<std::string> names();
  /// CompileError for an unknown name, which lists the known.
  static std::unique_ptr<GeneratorBase> make(const std::string &name);
};

struct GeneratorRegistration {
  GeneratorRegistration(const char *name, GeneratorFactory make) {
    GeneratorRegistry::add(name, std::move(make));
  }
};

/// The command line of a program of generators; Polyhalite::Generator has a main() that calls it.
/// Returns the exit code; messages go to `errors`.
int generate_main(int argc, char **argv, std::ostream &output, std::ostream &errors);

}  // namespace polyhalite

/// At global scope. The name is an identifier; further arguments are accepted and not used.
#define POLYHALITE_REGISTER_GENERATOR(CLASS, NAME, ...)                     \
  namespace {                                                               \
  const ::polyhalite::GeneratorRegistration NAME##_registration(#NAME, [] { \
    return std::unique_ptr<::polyhalite::GeneratorBase>(new CLASS);         \
  });                                                                       \
  }
