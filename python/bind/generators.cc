// Generators that are written in Python: classes of Python behind C++'s GeneratorBase, so that
// parameters, phases, command line and outputs are those of generators in C++.
#include "polyhalite/generator.h"

#include <iostream>
#include <sstream>

#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

// A GeneratorParam whose value is an object of Python. The type of the default says how texts read.
class PythonParam : public GeneratorParamBase {
 public:
  PythonParam(const std::string &name, py::object declared)
      : GeneratorParamBase(name), declared_(std::move(declared)) {
    value_ = declared_.attr("default");
  }
  void set_from_string(const std::string &text) override {
    py::gil_scoped_acquire gil;
    value_ = declared_.attr("parse")(name(), text);
  }
  std::string value_text() const override {
    py::gil_scoped_acquire gil;
    return py::cast<std::string>(declared_.attr("text")(value_));
  }
  StubForm stub_form() const override {
    return {"std::string", detail::quoted_text(value_text()), "v", ""};
  }
  void set(py::object value) { value_ = declared_.attr("check")(name(), value); }
  const py::object &value() const { return value_; }

 private:
  py::object declared_, value_;
};

// The members Input<T> and Output<T>, whose T is known at run time only.
template <typename Io>
struct Declared : Io {
  explicit Declared(detail::IoShape shape) : Io(std::move(shape)) {}
};

class PythonGenerator : public GeneratorBase {
 public:
  // `cls` is the class of Python, `self` an object of it, which owns this one or is owned by it.
  PythonGenerator(const py::object &cls, const py::object &self, bool owns_self) : self_(self) {
    if (owns_self) {
      owned_ = self;
      set("_core", py::cast(this, py::return_value_policy::reference));
    }
    declare(cls.attr("_declarations")());
    end_construction();
  }
  ~PythonGenerator() override {
    py::gil_scoped_acquire gil;
    owned_ = py::object();
    inputs_.clear();
    params_.clear();
  }
  bool allow_out_of_order_inputs_and_outputs() const override { return true; }
  void set_param(const std::string &name, const py::object &value) {
    for (auto &p : params_) {
      if (p->name() == name && !py::isinstance<py::str>(value)) return p->set(value);
    }
    set_generatorparam_value(name, py::cast<std::string>(py::str(value)));
  }
  void set_context(const GeneratorContext &context) { init_from_context(context); }
  // For configure().
  void add_member(const std::string &name, const py::object &declared) {
    if (!configuring_) {
      user_error("'" + name + "' is added outside of configure()",
                 "the C function's arguments are fixed when configure() returns",
                 "add it in configure()", place());
    }
    const detail::Constructing registering(this);
    declare_one(name, declared);
  }

 protected:
  void call_configure() override {
    py::gil_scoped_acquire gil;
    set_values();
    configuring_ = true;
    self_.attr("configure")();
    configuring_ = false;
  }
  void call_generate() override {
    py::gil_scoped_acquire gil;
    set_values();
    for (const auto &[name, input] : inputs_) set(name, input());
    for (const auto &[name, output] : outputs_) set(name, py::cast(Func(*output)));
    for (const auto &[name, output] : output_lists_) set(name, py::cast(output->funcs()));
    self_.attr("generate")();
    // An output may have been given as a Func of another name: self.output = f.
    for (const auto &[name, output] : outputs_) {
      const Func f = to_func(self_.attr(name.c_str()));
      if (f.function() != output->function()) static_cast<detail::OutputFunc &>(*output) = f;
    }
  }
  void call_schedule() override {
    py::gil_scoped_acquire gil;
    self_.attr("schedule")();
  }

 private:
  void set(const std::string &name, const py::object &value) {
    py::setattr(self_, name.c_str(), value);
  }
  void set_values() {
    for (const auto &p : params_) set(p->name(), p->value());
  }
  void declare(const py::list &declarations) {
    for (const py::handle d : declarations) {
      const auto pair = py::reinterpret_borrow<py::tuple>(d);
      declare_one(pair[0].cast<std::string>(), pair[1]);
    }
  }
  void declare_one(const std::string &name, const py::object &d) {
    const std::string role = py::cast<std::string>(d.attr("role"));
    if (role == "param") {
      params_.push_back(std::make_unique<PythonParam>(name, d));
      return;
    }
    detail::IoShape shape;
    shape.name = name;
    if (!d.attr("type").is_none()) {
      if (is_tuple(d.attr("type"))) {
        for (const py::handle t : d.attr("type")) shape.types.push_back(to_type(t));
      } else {
        shape.types = {to_type(d.attr("type"))};
      }
    }
    shape.dimensions = d.attr("dimensions").is_none() ? -1 : d.attr("dimensions").cast<int>();
    const py::object count = d.attr("count");
    shape.is_array = !count.is_none();
    if (shape.is_array) shape.array_size = count.cast<int>();
    if (role == "input_scalar") {
      shape.dimensions = 0;
      auto value = [&](const char *word) {
        const py::object v = d.attr(word);
        return v.is_none() || shape.types.empty() ? Expr() : to_expr(v, shape.types[0]);
      };
      shape.default_value = value("default");
      shape.min = value("min");
      shape.max = value("max");
      declare_input<detail::InputScalar, detail::InputScalars>(
          name, shape, [](auto &i) { return py::cast(static_cast<Expr>(i)); });
    } else if (role == "input_buffer") {
      shape.kind = ArgInfoKind::Buffer;
      declare_input<detail::InputImage, detail::InputImages>(
          name, shape, [](auto &i) { return py::cast(static_cast<const ImageParam &>(i)); });
    } else if (role == "input_func") {
      shape.kind = ArgInfoKind::Function;
      declare_input<detail::InputFunc, detail::InputFuncs>(
          name, shape, [](auto &i) { return py::cast(static_cast<const Func &>(i)); });
    } else {
      shape.kind = role == "output_func"     ? ArgInfoKind::Function
                   : role == "output_scalar" ? ArgInfoKind::Scalar
                                             : ArgInfoKind::Buffer;
      if (role == "output_scalar") shape.dimensions = 0;
      if (shape.is_array) {
        auto list = std::make_unique<Declared<detail::OutputFuncs>>(shape);
        output_lists_.emplace_back(name, list.get());
        members_.push_back(std::move(list));
      } else {
        auto one = std::make_unique<Declared<detail::OutputFunc>>(shape);
        outputs_.emplace_back(name, one.get());
        members_.push_back(std::move(one));
      }
    }
  }
  template <typename One, typename Many, typename ToPython>
  void declare_input(const std::string &name, const detail::IoShape &shape, ToPython to_python) {
    if (shape.is_array) {
      auto many = std::make_unique<Declared<Many>>(shape);
      inputs_.emplace_back(name, [m = many.get()] {
        py::list list;
        for (const auto &element : *m) list.append(py::cast(element));
        return py::object(list);
      });
      members_.push_back(std::move(many));
    } else {
      auto one = std::make_unique<Declared<One>>(shape);
      inputs_.emplace_back(name, [o = one.get(), to_python] { return py::object(to_python(*o)); });
      members_.push_back(std::move(one));
    }
  }

  py::handle self_;
  py::object owned_;  // where this object is what keeps the one of Python
  bool configuring_ = false;
  std::vector<std::unique_ptr<PythonParam>> params_;
  std::vector<std::unique_ptr<detail::DeclaredIo>> members_;
  std::vector<std::pair<std::string, std::function<py::object()>>> inputs_;
  std::vector<std::pair<std::string, Declared<detail::OutputFunc> *>> outputs_;
  std::vector<std::pair<std::string, Declared<detail::OutputFuncs> *>> output_lists_;
};

// What Python holds: shared, since the object of Python and the one of C++ know each other.
using GeneratorHandle = std::shared_ptr<PythonGenerator>;

StubInput to_input(const py::handle &value) {
  if (py::isinstance<ImageParam>(value)) return value.cast<const ImageParam &>();
  if (py::isinstance<Func>(value)) return value.cast<const Func &>();
  if (py::isinstance<Buffer<>>(value)) return value.cast<const Buffer<> &>();
  const Expr e = as_expr(value);
  if (e.defined()) return e;
  return to_buffer(py::reinterpret_borrow<py::object>(value));
}

std::vector<StubInput> to_inputs(const py::handle &value) {
  std::vector<StubInput> list;
  if (!is_tuple(value)) return {to_input(value)};
  for (const py::handle v : value) list.push_back(to_input(v));
  return list;
}

// The program's generators, made when the command line names them. A registered class lives on.
void register_class(const std::string &name, const py::object &cls) {
  GeneratorRegistry::remove(name);
  py::object *kept = new py::object(cls);
  GeneratorRegistry::add(name, [kept]() -> std::unique_ptr<GeneratorBase> {
    py::gil_scoped_acquire gil;
    const py::object self = kept->attr("__new__")(*kept);
    return std::make_unique<PythonGenerator>(*kept, self, true);
  });
}

py::tuple run_main(const std::vector<std::string> &words) {
  std::vector<char *> argv;
  std::vector<std::string> copies = words;
  for (std::string &w : copies) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::ostringstream output, errors;
  int code = 0;
  {
    py::gil_scoped_release released;
    code = generate_main(static_cast<int>(copies.size()), argv.data(), output, errors);
  }
  return py::make_tuple(code, output.str(), errors.str());
}

}  // namespace

void bind_generators(py::module_ &m) {
  py::class_<PythonGenerator, GeneratorHandle>(m, "_Generator")
      .def(py::init([](const py::object &cls, const py::object &self, const Target &target,
                       const std::string &autoscheduler) {
             auto g = std::make_shared<PythonGenerator>(cls, self, false);
             g->set_context(GeneratorContext(target, AutoschedulerParams(autoscheduler)));
             return g;
           }),
           py::arg("cls"), py::arg("self"), py::arg("target"), py::arg("autoscheduler"))
      .def("set_param", &PythonGenerator::set_param)
      .def("add_member", &PythonGenerator::add_member)
      .def("target", [](const PythonGenerator &g) { return g.get_target(); })
      .def("using_autoscheduler", &PythonGenerator::using_autoscheduler)
      .def("add_requirement",
           [](PythonGenerator &g, Value condition, const py::args &message) {
             g.add_requirement(condition.e, to_message(message));
           })
      .def("bind_input", [](PythonGenerator &g, const std::string &name,
                            const py::object &value) { g.bind_input(name, to_inputs(value)); })
      .def("set_inputs",
           [](PythonGenerator &g, const py::args &values) {
             std::vector<std::vector<StubInput>> list;
             for (const py::handle v : values) list.push_back(to_inputs(v));
             g.set_inputs_vector(std::move(list));
           })
      .def("build_pipeline", &PythonGenerator::build_pipeline)
      .def("arguments", &PythonGenerator::arguments)
      .def("output_func", &PythonGenerator::output_func)
      .def("compile_to_callable", [](PythonGenerator &g) { return g.compile_to_callable(); })
      .def("arginfos", [](PythonGenerator &g) {
        py::list list;
        for (const GeneratorBase::ArgInfo &a : g.arginfos()) {
          py::dict d;
          d["name"] = a.name;
          d["is_input"] = a.dir == GeneratorBase::ArgInfo::Direction::Input;
          d["types"] = a.types;
          d["dimensions"] = a.dimensions;
          list.append(d);
        }
        return list;
      });
  m.def("_register_generator", &register_class);
  m.def("_register_alias",
        [](const std::string &name, const std::string &original, const GeneratorParamsMap &values) {
          GeneratorRegistry::remove(name);
          GeneratorRegistry::add_alias(name, original, values);
        });
  m.def("_generator_names", &GeneratorRegistry::names);
  m.def("_generate_main", &run_main);
  m.def(
      "create_callable_from_generator",
      [](const Target &target, const std::string &name, const GeneratorParamsMap &params) {
        return create_callable_from_generator(target, name, params);
      },
      py::arg("target"), py::arg("name"), py::arg("params") = GeneratorParamsMap());
}

}  // namespace polyhalite::python
