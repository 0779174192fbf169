#include "polyhalite/generator_io.h"

#include <algorithm>

#include "lang/ir/function.h"
#include "lang/language/names.h"
#include "polyhalite/generator.h"

namespace polyhalite {

StubInput::StubInput(const ImageParam &image) : kind_(ArgInfoKind::Buffer), image_(image) {}

ImageParam StubInput::constant_image(const Buffer<> &buffer) {
  if (!buffer.defined()) {
    user_error("an undefined Buffer is bound to an input", "it has no elements",
               "construct the Buffer with its sizes");
  }
  ImageParam image(buffer.type(), buffer.dimensions(), buffer.name());
  image.parameter().contents()->constant = true;
  image.parameter().contents()->dims.assign(buffer.dimensions(), {});
  image.set(buffer);
  return image;
}

StubInputBuffer::operator StubInput() const {
  if (input_) return *input_;
  user_error("an input of a stub has no Buffer", "nothing was assigned to it",
             "assign a Buffer, or an Input of the calling generator");
}

namespace detail {

namespace {

std::string type_list(const std::vector<Type> &types) {
  std::string s;
  for (const Type &t : types) s += (s.empty() ? "" : ", ") + t.to_string();
  return s;
}

const char *kind_words(ArgInfoKind kind) {
  switch (kind) {
    case ArgInfoKind::Scalar:
      return "a scalar";
    case ArgInfoKind::Function:
      return "a Func";
    case ArgInfoKind::Buffer:
      return "a Buffer";
  }
  return "";
}

std::shared_ptr<ParameterContents> make_parameter(const IoShape &shape, const std::string &name) {
  if (shape.kind != ArgInfoKind::Scalar) {
    return ImageParam(shape.types[0], shape.dimensions, name).parameter().contents();
  }
  auto p = make_scalar_parameter(shape.types[0], name);
  if (shape.default_value.defined())
    set_parameter_limit(*p, Limit::Default, shape.default_value, Here());
  if (shape.min.defined()) set_parameter_limit(*p, Limit::Min, shape.min, Here());
  if (shape.max.defined()) set_parameter_limit(*p, Limit::Max, shape.max, Here());
  return p;
}

size_t position_of(const std::string &input, const std::vector<std::string> &names,
                   const Var &var) {
  for (size_t i = 0; i < names.size(); i++) {
    if (names[i] == var.name()) return i;
  }
  user_error("'" + var.name() + "' is no dimension of " + input,
             "dimension 0 is called _0, the next _1",
             "name one of its " + std::to_string(names.size()) + " dimensions");
}

std::vector<std::string> implicit_names(int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; i++) names.push_back(Var::implicit(i).name());
  return names;
}

}  // namespace

DeclaredIo::DeclaredIo(const char *role, IoShape shape) : shape_(std::move(shape)), role_(role) {
  owner_ = GeneratorBase::owner_of(role_ + " '" + shape_.name + "'");
  owner_->claim_name(described(), shape_.name);
}

std::string DeclaredIo::element_name(int i) const {
  return shape_.is_array ? shape_.name + "_" + std::to_string(i) : shape_.name;
}

void DeclaredIo::check_settable(const char *what) const {
  using Phase = GeneratorBase::Phase;
  if (owner_->phase_ == Phase::Created || owner_->phase_ == Phase::Configuring) return;
  user_error(std::string("the ") + what + " of " + described() + " is set too late",
             "generate() has begun, or the inputs are bound", "set it in configure()");
}

void DeclaredIo::set_types(const std::vector<Type> &types) {
  check_settable("type");
  if (!shape_.types.empty() && shape_.types != types) {
    user_error("the type of " + described() + " is set to " + type_list(types),
               "it is declared as " + type_list(shape_.types),
               "leave the type out of the declaration");
  }
  shape_.types = types;
}

void DeclaredIo::set_dimensions(int dimensions) {
  check_settable("number of dimensions");
  if (shape_.dimensions >= 0 && shape_.dimensions != dimensions) {
    user_error(
        "the number of dimensions of " + described() + " is set to " + std::to_string(dimensions),
        "it is declared with " + std::to_string(shape_.dimensions),
        "leave the number out of the declaration");
  }
  if (dimensions < 0) {
    user_error(
        "the number of dimensions of " + described() + " is set to " + std::to_string(dimensions),
        "dimensions are counted", "give their number, at least 0");
  }
  shape_.dimensions = dimensions;
}

void DeclaredIo::set_array_size(int size) {
  check_settable("size");
  if (!shape_.is_array) {
    user_error("the size of " + described() + " is set to " + std::to_string(size),
               "it is no array", "declare it as an array, as in Input<Func[]>");
  }
  if (shape_.array_size >= 0 && shape_.array_size != size) {
    user_error("the size of " + described() + " is set to " + std::to_string(size),
               "it is declared with " + std::to_string(shape_.array_size),
               "leave the size out of the declaration");
  }
  if (size < 0) {
    user_error("the size of " + described() + " is set to " + std::to_string(size),
               "elements are counted", "give their number, at least 0");
  }
  shape_.array_size = size;
}

void DeclaredIo::check_access() const {
  using Phase = GeneratorBase::Phase;
  if (owner_->phase_ == Phase::Generating || owner_->phase_ == Phase::Done) return;
  user_error(described() + " is used before generate()",
             "inputs and outputs have their values from generate() on", "use it in generate()");
}

void DeclaredIo::check_index(size_t i, size_t size) const {
  check_access();
  if (i < size) return;
  user_error("element " + std::to_string(i) + " of " + described(),
             "it has " + std::to_string(size) + ", counted from 0", "ask for one of them");
}

DeclaredInput::DeclaredInput(IoShape shape) : DeclaredIo("input", std::move(shape)) {
  owner_->add_declared(this);
}

void DeclaredInput::bind(std::vector<StubInput> values) {
  if (shape_.array_size >= 0 && static_cast<size_t>(shape_.array_size) != values.size()) {
    user_error(std::to_string(values.size()) + " values are bound to " + described(),
               "it takes " + std::to_string(shape_.array_size), "bind one value to each element");
  }
  shape_.array_size = static_cast<int>(values.size());
  for (StubInput &v : values) {
    // An image serves where a Func is wanted.
    if (shape_.kind == ArgInfoKind::Function && v.kind() == ArgInfoKind::Buffer) {
      v = StubInput(Func(v.image()));
    }
    if (v.kind() != shape_.kind) {
      user_error(std::string(kind_words(v.kind())) + " is bound to " + described(),
                 std::string("it is ") + kind_words(shape_.kind),
                 std::string("bind ") + kind_words(shape_.kind));
    }
    std::vector<Type> types;
    int dimensions = 0;
    if (v.kind() == ArgInfoKind::Buffer) {
      types = {v.image().type()};
      dimensions = v.image().dimensions();
    } else if (v.kind() == ArgInfoKind::Function) {
      if (!v.func().defined()) {
        user_error("an undefined Func is bound to " + described(), "it has no values",
                   "define '" + plain_name(v.func().name()) + "' first");
      }
      types = v.func().output_types();
      dimensions = v.func().dimensions();
    } else {
      if (!v.expr().defined()) {
        user_error("an undefined expression is bound to " + described(), "it has no value",
                   "give it a value");
      }
      types = {v.expr().type()};
    }
    if (shape_.types.empty()) shape_.types = types;
    if (shape_.dimensions < 0) shape_.dimensions = dimensions;
    if (types != shape_.types) {
      user_error("a value of type " + type_list(types) + " is bound to " + described(),
                 "its type is " + type_list(shape_.types), "cast the value to that type");
    }
    if (dimensions != shape_.dimensions) {
      user_error(
          "a value of " + std::to_string(dimensions) + " dimensions is bound to " + described(),
          "it has " + std::to_string(shape_.dimensions) + " dimensions",
          "bind a value of that many");
    }
  }
  bound_ = std::move(values);
  is_bound_ = true;
}

void DeclaredInput::materialize() {
  auto open = [&](const char *what, const char *param) {
    user_error(described() + " has no " + what, "neither its declaration nor configure() gives one",
               "set it on the command line, as in " + shape_.name + param);
  };
  if (shape_.types.empty()) open("type", ".type=uint8");
  if (shape_.dimensions < 0) open("number of dimensions", ".dim=2");
  if (shape_.array_size < 0) open("size", ".size=2");
  if (shape_.types.size() > 1 && !is_bound_) {
    user_error(described() + " has " + std::to_string(shape_.types.size()) + " types",
               "a buffer holds elements of one type", "declare one input for each");
  }
  for (int i = 0; i < shape_.array_size; i++) {
    if (is_bound_) {
      const StubInput &v = bound_[i];
      parameters_.push_back(v.kind() == ArgInfoKind::Buffer ? v.image().parameter().contents()
                                                            : nullptr);
      images_.push_back(v.image());
      funcs_.push_back(v.func());
      exprs_.push_back(v.expr());
      continue;
    }
    parameters_.push_back(make_parameter(shape_, element_name(i)));
    if (shape_.kind == ArgInfoKind::Scalar) {
      exprs_.push_back(parameter_value(parameters_.back()));
      continue;
    }
    images_.emplace_back(parameters_.back());
    if (shape_.kind == ArgInfoKind::Function) funcs_.emplace_back(images_.back());
  }
  assign();
}

DeclaredOutput::DeclaredOutput(IoShape shape) : DeclaredIo("output", std::move(shape)) {
  owner_->add_declared(this);
}

std::vector<Func> DeclaredOutput::made_funcs(int size) const {
  std::vector<Func> list;
  for (int i = 0; i < size; i++) list.emplace_back(element_name(i));
  return list;
}

void DeclaredOutput::check(const std::string &generator) const {
  if (shape_.array_size < 0) {
    user_error(described() + " of generator '" + generator + "' has no size",
               "its declaration leaves it open",
               "call resize() in generate(), or set it on the command line, as in " + shape_.name +
                   ".size=2");
  }
  const std::vector<Func> list = funcs();
  for (size_t i = 0; i < list.size(); i++) {
    const Func &f = list[i];
    const std::string who =
        "output '" + element_name(static_cast<int>(i)) + "' of generator '" + generator + "'";
    if (!f.defined()) {
      user_error(who + " is undefined", "generate() gives it no value", "define it in generate()");
    }
    const std::vector<Type> types = f.output_types();
    if (!shape_.types.empty() && types != shape_.types) {
      user_error(who + " has type " + type_list(types),
                 "it is declared as " + type_list(shape_.types),
                 "cast its value to " + type_list(shape_.types) + ", or declare it otherwise");
    }
    if (shape_.dimensions >= 0 && f.dimensions() != shape_.dimensions) {
      user_error(who + " has " + std::to_string(f.dimensions()) + " dimensions",
                 "it is declared with " + std::to_string(shape_.dimensions),
                 "define it with that many arguments, or declare it otherwise");
    }
  }
}

Type InputImage::type() const {
  check_access();
  return ImageParam::type();
}
int InputImage::dimensions() const {
  check_access();
  return ImageParam::dimensions();
}

InputImage &InputImage::set_estimate(const Var &var, Expr min, Expr extent) {
  check_access();
  dim(static_cast<int>(position_of(described(), implicit_names(dimensions()), var)))
      .set_estimate(std::move(min), std::move(extent));
  return *this;
}

InputFunc &InputFunc::set_estimate(const Var &var, Expr min, Expr extent) {
  check_access();
  // A Func that the input is bound to has names of its own, which args() tells.
  std::vector<std::string> names;
  for (const Var &v : Func::args()) names.push_back(v.name());
  if (!std::count(names.begin(), names.end(), var.name())) {
    names = implicit_names(Func::dimensions());
  }
  const size_t i = position_of(described(), names, var);
  if (!images_.empty() && images_[0].defined()) {
    images_[0].dim(static_cast<int>(i)).set_estimate(std::move(min), std::move(extent));
  }
  return *this;
}

InputFunc &InputFunc::set_estimates(const Region &estimates) {
  check_access();
  if (!images_.empty() && images_[0].defined()) images_[0].set_estimates(estimates);
  return *this;
}

void InputScalar::set_estimate(const Expr &value) {
  check_access();
  if (parameters_[0]) set_parameter_limit(*parameters_[0], Limit::Estimate, value, Here());
}

void InputScalar::set_estimate(const Number &value) {
  check_access();
  if (parameters_[0]) set_estimate(checked_number(*parameters_[0], value));
}

void InputScalars::set_estimate(size_t i, const Expr &value) {
  check_index(i, exprs_.size());
  if (parameters_[i]) set_parameter_limit(*parameters_[i], Limit::Estimate, value, Here());
}

void InputScalars::set_estimate(size_t i, const Number &value) {
  check_index(i, exprs_.size());
  if (parameters_[i]) set_estimate(i, checked_number(*parameters_[i], value));
}

std::vector<Type> OutputFunc::types() const {
  if (Func::defined()) return Func::output_types();
  if (declared().types.empty()) {
    user_error(described() + " has no type yet", "it is undefined, and its declaration gives none",
               "define it first, or declare its type");
  }
  return declared().types;
}

Type OutputFunc::type() const {
  const std::vector<Type> list = types();
  if (list.size() == 1) return list[0];
  user_error(described() + " has " + std::to_string(list.size()) + " types", "it is a Tuple",
             "ask for types()");
}

int OutputFunc::dimensions() const {
  return Func::defined() || declared().dimensions < 0 ? Func::dimensions() : declared().dimensions;
}

OutputFunc &OutputFunc::operator=(const Func &f) {
  check_access();
  Func::operator=(f);
  return *this;
}

void OutputFuncs::materialize() {
  if (declared().array_size >= 0) funcs_ = made_funcs(declared().array_size);
}

void OutputFuncs::resize(size_t size) {
  check_access();
  if (declared().array_size >= 0 && static_cast<size_t>(declared().array_size) != size) {
    user_error(described() + " is resized to " + std::to_string(size),
               "its size is " + std::to_string(declared().array_size),
               "leave the size out of the declaration");
  }
  shape_.array_size = static_cast<int>(size);
  funcs_ = made_funcs(shape_.array_size);
}

}  // namespace detail

}  // namespace polyhalite
