// Inputs and outputs of generators: what the members Input<T> and Output<T> of a Generator are.
//
// T is Buffer<E, D>, Func, a scalar type, or an array of one of these (Buffer<E, D>[3], Func[]).
// Types, numbers of dimensions and array sizes that the declaration leaves open are completed by
// configure(), by the parameters NAME.type, NAME.dim and NAME.size, or by what is bound.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/extern_stage.h"
#include "polyhalite/param.h"
#include "polyhalite/pipeline.h"

namespace polyhalite {

class GeneratorBase;
struct ParameterContents;

/// How an input or output reaches the C function: by value, or as a buffer that the program knows
/// as a Func only or as an image with a shape.
enum class ArgInfoKind { Scalar, Function, Buffer };

/// What an Input is bound to when a generator is called from C++: an image, a Func or a scalar.
class StubInput {
 public:
  StubInput(const ImageParam &image);  // NOLINT
  /// The Buffer becomes a constant of the pipeline.
  template <typename T, int D>
  StubInput(const Buffer<T, D> &buffer) : StubInput(constant_image(Buffer<>(buffer))) {}  // NOLINT
  StubInput(const Func &func) : kind_(ArgInfoKind::Function), func_(func) {}              // NOLINT
  StubInput(Expr value) : kind_(ArgInfoKind::Scalar), expr_(std::move(value)) {}          // NOLINT
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  StubInput(T value) : StubInput(Expr(value)) {}  // NOLINT
  template <typename T,
            typename =
                std::enable_if_t<!std::is_arithmetic_v<T> && !std::is_same_v<T, Expr> &&
                                 !std::is_base_of_v<ImageParam, T> && !std::is_base_of_v<Func, T> &&
                                 std::is_convertible_v<const T &, Expr>>,
            typename = void>
  StubInput(const T &value) : StubInput(static_cast<Expr>(value)) {}  // NOLINT

  ArgInfoKind kind() const { return kind_; }
  const ImageParam &image() const { return image_; }
  const Func &func() const { return func_; }
  const Expr &expr() const { return expr_; }

 private:
  static ImageParam constant_image(const Buffer<> &buffer);
  ArgInfoKind kind_;
  ImageParam image_;
  Func func_;
  Expr expr_;
};

/// A field of a stub's Inputs: an image of the calling generator, or a constant Buffer.
class StubInputBuffer {
 public:
  StubInputBuffer() = default;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<const T &, StubInput> &&
                                                    !std::is_same_v<T, StubInputBuffer>>>
  StubInputBuffer(const T &value)  // NOLINT
      : input_(std::make_shared<StubInput>(value)) {}
  /// CompileError where nothing was assigned.
  operator StubInput() const;  // NOLINT

 private:
  std::shared_ptr<StubInput> input_;
};

namespace detail {

/// The declaration of an input or output, with what is left open.
struct IoShape {
  std::string name;
  ArgInfoKind kind = ArgInfoKind::Scalar;
  std::vector<Type> types;  // several for a Tuple; empty where open
  int dimensions = -1;      // -1 where open
  bool is_array = false;
  int array_size = 1;            // -1 where open
  Expr default_value, min, max;  // of scalar inputs
};

class DeclaredIo {
 public:
  DeclaredIo(const DeclaredIo &) = delete;
  DeclaredIo &operator=(const DeclaredIo &) = delete;
  virtual ~DeclaredIo() = default;

  // For configure(): each may be called only for what the declaration leaves open.
  void set_type(const Type &type) { set_types({type}); }
  void set_type(const std::vector<Type> &types) { set_types(types); }
  void set_dimensions(int dimensions);
  void set_array_size(int size);

  const IoShape &declared() const { return shape_; }
  /// "input 'a'", for messages.
  std::string described() const { return role_ + " '" + shape_.name + "'"; }

 protected:
  DeclaredIo(const char *role, IoShape shape);
  /// "NAME", or "NAME_2" of an array.
  std::string element_name(int i) const;
  /// CompileError while the members do not have their values yet.
  void check_access() const;
  void check_index(size_t i, size_t size) const;

  IoShape shape_;
  GeneratorBase *owner_ = nullptr;

 private:
  friend class ::polyhalite::GeneratorBase;
  void set_types(const std::vector<Type> &types);
  void check_settable(const char *what) const;
  std::string role_;
};

class DeclaredInput : public DeclaredIo {
 public:
  const std::vector<std::shared_ptr<ParameterContents>> &parameters() const { return parameters_; }
  /// CompileError where a value does not fit the declaration. Completes what is open.
  void bind(std::vector<StubInput> values);
  /// Makes the values, from parameters where nothing was bound. CompileError where something is
  /// still open.
  void materialize();

 protected:
  explicit DeclaredInput(IoShape shape);
  virtual void assign() {}  // hands the values to the member

  std::vector<StubInput> bound_;
  bool is_bound_ = false;
  // One per element; null for Funcs and Exprs.
  std::vector<std::shared_ptr<ParameterContents>> parameters_;
  std::vector<ImageParam> images_;
  std::vector<Func> funcs_;
  std::vector<Expr> exprs_;
};

class DeclaredOutput : public DeclaredIo {
 public:
  /// One for each element; not of arrays whose size is still open.
  virtual std::vector<Func> funcs() const = 0;
  virtual void materialize() = 0;
  /// CompileErrors where a Func is undefined or of another shape than declared.
  void check(const std::string &generator) const;

 protected:
  explicit DeclaredOutput(IoShape shape);
  std::vector<Func> made_funcs(int size) const;
};

// -- Inputs, by kind

class InputImage : public DeclaredInput, public ImageParam {
 public:
  using DeclaredInput::set_type;
  /// CompileError before generate().
  Type type() const;
  int dimensions() const;
  using ImageParam::set_estimates;
  InputImage &set_estimate(const Var &var, Expr min, Expr extent);

 protected:
  explicit InputImage(IoShape shape) : DeclaredInput(std::move(shape)) {}
  void assign() override { ImageParam::operator=(images_[0]); }
};

class InputImages : public DeclaredInput {
 public:
  size_t size() const { return images().size(); }
  ImageParam operator[](size_t i) const { return at(i); }
  ImageParam at(size_t i) const {
    check_index(i, images().size());
    return images_[i];
  }
  std::vector<ImageParam>::const_iterator begin() const { return images().begin(); }
  std::vector<ImageParam>::const_iterator end() const { return images().end(); }
  operator std::vector<Func>() const { return {images().begin(), images().end()}; }  // NOLINT

 protected:
  explicit InputImages(IoShape shape) : DeclaredInput(std::move(shape)) {}
  const std::vector<ImageParam> &images() const {
    check_access();
    return images_;
  }
};

class InputFunc : public DeclaredInput, public Func {
 public:
  InputFunc &set_estimate(const Var &var, Expr min, Expr extent);
  InputFunc &set_estimates(const Region &estimates);
  const Func &func() const { return *this; }
  /// An extern stage reads the C function's own argument where there is one: the Func is a way to
  /// speak of it.
  operator ExternFuncArgument() const {  // NOLINT
    check_access();
    return images_[0].defined() ? ExternFuncArgument(images_[0]) : ExternFuncArgument(func());
  }

 protected:
  explicit InputFunc(IoShape shape) : DeclaredInput(std::move(shape)) {}
  void assign() override { Func::operator=(funcs_[0]); }
};

class InputFuncs : public DeclaredInput {
 public:
  size_t size() const { return funcs().size(); }
  const Func &operator[](size_t i) const { return at(i); }
  const Func &at(size_t i) const {
    check_index(i, funcs().size());
    return funcs_[i];
  }
  std::vector<Func>::const_iterator begin() const { return funcs().begin(); }
  std::vector<Func>::const_iterator end() const { return funcs().end(); }
  operator std::vector<Func>() const { return funcs(); }  // NOLINT

 protected:
  explicit InputFuncs(IoShape shape) : DeclaredInput(std::move(shape)) {}
  const std::vector<Func> &funcs() const {
    check_access();
    return funcs_;
  }
};

class InputScalar : public DeclaredInput {
 public:
  operator Expr() const {  // NOLINT
    check_access();
    return exprs_[0];
  }
  operator ExternFuncArgument() const {  // NOLINT
    return ExternFuncArgument(static_cast<Expr>(*this));
  }
  Type type() const { return static_cast<Expr>(*this).type(); }
  /// What an auto-scheduler may assume.
  void set_estimate(const Expr &value);

 protected:
  void set_estimate(const Number &value);
  explicit InputScalar(IoShape shape) : DeclaredInput(std::move(shape)) {}
};

/// A scalar of a C++ type, into which its estimate converts.
template <typename T>
class InputValue : public InputScalar {
 public:
  void set_estimate(const T &value) { InputScalar::set_estimate(Number(value)); }

 protected:
  explicit InputValue(IoShape shape) : InputScalar(std::move(shape)) {}
};

class InputScalars : public DeclaredInput {
 public:
  size_t size() const { return exprs().size(); }
  const Expr &operator[](size_t i) const { return at(i); }
  const Expr &at(size_t i) const {
    check_index(i, exprs().size());
    return exprs_[i];
  }
  std::vector<Expr>::const_iterator begin() const { return exprs().begin(); }
  std::vector<Expr>::const_iterator end() const { return exprs().end(); }
  operator std::vector<Expr>() const { return exprs(); }  // NOLINT
  void set_estimate(size_t i, const Expr &value);

 protected:
  void set_estimate(size_t i, const Number &value);
  explicit InputScalars(IoShape shape) : DeclaredInput(std::move(shape)) {}
  const std::vector<Expr> &exprs() const {
    check_access();
    return exprs_;
  }
};

template <typename T>
class InputValues : public InputScalars {
 public:
  void set_estimate(size_t i, const T &value) { InputScalars::set_estimate(i, Number(value)); }

 protected:
  explicit InputValues(IoShape shape) : InputScalars(std::move(shape)) {}
};

// -- Outputs

class OutputFunc : public DeclaredOutput, public Func {
 public:
  using DeclaredIo::set_type;
  /// The declared types until the Func is defined.
  Type type() const;
  std::vector<Type> types() const;
  int dimensions() const;
  std::vector<Func> funcs() const override { return {*this}; }
  void materialize() override {}

  operator OutputImageParam() const { return output_buffer(); }  // NOLINT
  /// All points of the output's buffer.
  operator RDom() const { return RDom(output_buffer().region()); }  // NOLINT

  // Of the output's buffer, as of an ImageParam.
  Dimension dim(int i) const { return output_buffer().dim(i); }
  Expr left() const { return dim(0).min(); }
  Expr right() const { return dim(0).max(); }
  Expr top() const { return dim(1).min(); }
  Expr bottom() const { return dim(1).max(); }
  Expr width() const { return dim(0).extent(); }
  Expr height() const { return dim(1).extent(); }
  Expr channels() const { return dim(2).extent(); }
  OutputFunc &set_host_alignment(int bytes) {
    output_buffer().set_host_alignment(bytes);
    return *this;
  }
  int host_alignment() const { return output_buffer().host_alignment(); }
  OutputFunc &operator=(const Func &f);
  OutputFunc &operator=(const OutputFunc &o) { return *this = static_cast<const Func &>(o); }
  template <typename T, int D>
  OutputFunc &operator=(const Buffer<T, D> &b) {
    return *this = Func(b);
  }

 protected:
  explicit OutputFunc(IoShape shape)
      : DeclaredOutput(std::move(shape)), Func(declared().name, Here(SourceLocation{})) {}
};

class OutputFuncs : public DeclaredOutput {
 public:
  size_t size() const {
    check_access();
    return funcs_.size();
  }
  Func &operator[](size_t i) {
    check_index(i, funcs_.size());
    return funcs_[i];
  }
  const Func &operator[](size_t i) const {
    check_index(i, funcs_.size());
    return funcs_[i];
  }
  const Func &at(size_t i) const { return (*this)[i]; }
  std::vector<Func>::const_iterator begin() const { return funcs_.begin(); }
  std::vector<Func>::const_iterator end() const { return funcs_.end(); }
  operator std::vector<Func>() const { return funcs_; }  // NOLINT
  /// For arrays whose size is open.
  void resize(size_t size);
  std::vector<Func> funcs() const override { return funcs_; }
  void materialize() override;

 protected:
  explicit OutputFuncs(IoShape shape) : DeclaredOutput(std::move(shape)) {}
  std::vector<Func> funcs_;
};

// -- From T to these

template <typename T>
struct BufferTraits {
  static constexpr bool kIsBuffer = false;
};
template <typename T, int D>
struct BufferTraits<Buffer<T, D>> {
  static constexpr bool kIsBuffer = true;
  static constexpr int kDimensions = D;
  static std::vector<Type> types() {
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return {type_of<std::remove_const_t<T>>()};
    }
  }
};

template <typename T>
struct IoTraits {
  using Element = std::remove_all_extents_t<T>;
  static constexpr bool kIsBuffer = BufferTraits<Element>::kIsBuffer;
  static constexpr bool kIsFunc = std::is_same_v<Element, Func>;
  static constexpr bool kIsExpr = std::is_same_v<Element, Expr>;
  static constexpr bool kIsScalar = !kIsBuffer && !kIsFunc;
  static constexpr bool kIsArray = std::is_array_v<T>;
  static_assert(!kIsArray || std::rank_v<T> == 1, "arrays have one dimension");

  using Scalar = std::conditional_t<kIsExpr, InputScalar, InputValue<Element>>;
  using Scalars = std::conditional_t<kIsExpr, InputScalars, InputValues<Element>>;
  using Input = std::conditional_t<
      kIsBuffer, std::conditional_t<kIsArray, InputImages, InputImage>,
      std::conditional_t<kIsFunc, std::conditional_t<kIsArray, InputFuncs, InputFunc>,
                         std::conditional_t<kIsArray, Scalars, Scalar>>>;
  using Output = std::conditional_t<kIsArray, OutputFuncs, OutputFunc>;

  static IoShape shape(const std::string &name) {
    IoShape s;
    s.name = name;
    s.is_array = kIsArray;
    if constexpr (kIsArray) s.array_size = std::extent_v<T> > 0 ? int(std::extent_v<T>) : -1;
    if constexpr (kIsBuffer) {
      s.kind = ArgInfoKind::Buffer;
      s.types = BufferTraits<Element>::types();
      s.dimensions = BufferTraits<Element>::kDimensions;
    } else if constexpr (kIsFunc) {
      s.kind = ArgInfoKind::Function;
    } else {
      s.kind = ArgInfoKind::Scalar;
      s.dimensions = 0;
      if constexpr (!kIsExpr) s.types = {type_of<Element>()};
    }
    return s;
  }
  static IoShape shape(const std::string &name, std::vector<Type> types, int dimensions) {
    static_assert(!kIsScalar || kIsExpr, "the type of a scalar is its own");
    IoShape s = shape(name);
    if (!types.empty()) {
      refuse_twice(!s.types.empty(), name, "type");
      s.types = std::move(types);
    }
    if (dimensions >= 0) {
      refuse_twice(s.dimensions >= 0, name, "number of dimensions");
      s.dimensions = dimensions;
    }
    return s;
  }
  static IoShape scalar(const std::string &name, const Element &value) {
    IoShape s = shape(name);
    if constexpr (!std::is_pointer_v<Element>) s.default_value = Expr(value);
    return s;
  }
  static IoShape scalar(const std::string &name, const Element &value, const Element &min,
                        const Element &max) {
    IoShape s = scalar(name, value);
    if constexpr (!std::is_same_v<Element, bool>) {
      s.min = Expr(min);
      s.max = Expr(max);
    }
    return s;
  }
  static IoShape sized(size_t size, IoShape s) {
    s.array_size = static_cast<int>(size);
    return s;
  }

 private:
  static void refuse_twice(bool twice, const std::string &name, const char *what) {
    if (!twice) return;
    user_error("the " + std::string(what) + " of '" + name + "' is given twice",
               "its Buffer says it already", "leave it out of the constructor, or of the Buffer");
  }
};

}  // namespace detail

/// A member of a Generator, where it is called Input<T>.
template <typename T>
class GeneratorInput : public detail::IoTraits<T>::Input {
  using Traits = detail::IoTraits<T>;
  using Base = typename Traits::Input;
  using Element = typename Traits::Element;
  // A whole number after the name: of dimensions, or the default value of a scalar.
  struct Unused {};
  using Count = std::conditional_t<Traits::kIsScalar, Unused, int>;
  using Value = std::conditional_t<Traits::kIsScalar, Element, Unused>;

 public:
  explicit GeneratorInput(const std::string &name) : Base(Traits::shape(name)) {}
  GeneratorInput(const std::string &name, const Type &t, int dimensions)
      : Base(Traits::shape(name, {t}, dimensions)) {}
  GeneratorInput(const std::string &name, const Type &t) : Base(Traits::shape(name, {t}, -1)) {}
  GeneratorInput(const std::string &name, Count dimensions)
      : Base(Traits::shape(name, {}, dimensions)) {}
  GeneratorInput(const std::string &name, const Value &value) : Base(Traits::scalar(name, value)) {}
  /// Values outside of [min, max] are refused at entry of the compiled function.
  GeneratorInput(const std::string &name, const Value &value, const Value &min, const Value &max)
      : Base(Traits::scalar(name, value, min, max)) {}

  GeneratorInput(size_t size, const std::string &name)
      : Base(Traits::sized(size, Traits::shape(name))) {}
  GeneratorInput(size_t size, const std::string &name, const Type &t, int dimensions)
      : Base(Traits::sized(size, Traits::shape(name, {t}, dimensions))) {}
  GeneratorInput(size_t size, const std::string &name, const Type &t)
      : Base(Traits::sized(size, Traits::shape(name, {t}, -1))) {}
  GeneratorInput(size_t size, const std::string &name, Count dimensions)
      : Base(Traits::sized(size, Traits::shape(name, {}, dimensions))) {}
  GeneratorInput(size_t size, const std::string &name, const Value &value)
      : Base(Traits::sized(size, Traits::scalar(name, value))) {}
  GeneratorInput(size_t size, const std::string &name, const Value &value, const Value &min,
                 const Value &max)
      : Base(Traits::sized(size, Traits::scalar(name, value, min, max))) {}
};

/// A member of a Generator, where it is called Output<T>. A scalar is a Func of no dimensions.
template <typename T>
class GeneratorOutput : public detail::IoTraits<T>::Output {
  using Traits = detail::IoTraits<T>;
  using Base = typename Traits::Output;
  static_assert(!std::is_pointer_v<typename Traits::Element>, "outputs hold no addresses");

 public:
  explicit GeneratorOutput(const std::string &name) : Base(Traits::shape(name)) {}
  explicit GeneratorOutput(const char *name) : GeneratorOutput(std::string(name)) {}
  GeneratorOutput(const std::string &name, int dimensions)
      : Base(Traits::shape(name, {}, dimensions)) {}
  GeneratorOutput(const std::string &name, const Type &t) : Base(Traits::shape(name, {t}, -1)) {}
  GeneratorOutput(const std::string &name, const std::vector<Type> &t)
      : Base(Traits::shape(name, t, -1)) {}
  GeneratorOutput(const std::string &name, const Type &t, int dimensions)
      : Base(Traits::shape(name, {t}, dimensions)) {}
  GeneratorOutput(const std::string &name, const std::vector<Type> &t, int dimensions)
      : Base(Traits::shape(name, t, dimensions)) {}

  GeneratorOutput(size_t size, const std::string &name)
      : Base(Traits::sized(size, Traits::shape(name))) {}
  GeneratorOutput(size_t size, const std::string &name, int dimensions)
      : Base(Traits::sized(size, Traits::shape(name, {}, dimensions))) {}
  GeneratorOutput(size_t size, const std::string &name, const Type &t)
      : Base(Traits::sized(size, Traits::shape(name, {t}, -1))) {}
  GeneratorOutput(size_t size, const std::string &name, const std::vector<Type> &t)
      : Base(Traits::sized(size, Traits::shape(name, t, -1))) {}
  GeneratorOutput(size_t size, const std::string &name, const Type &t, int dimensions)
      : Base(Traits::sized(size, Traits::shape(name, {t}, dimensions))) {}
  GeneratorOutput(size_t size, const std::string &name, const std::vector<Type> &t, int dimensions)
      : Base(Traits::sized(size, Traits::shape(name, t, dimensions))) {}

  using Base::operator=;
};

}  // namespace polyhalite
