// Param, ImageParam, the shapes of images and outputs, Argument.
#include "polyhalite/param.h"

#include "polyhalite/argument.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

[[noreturn]] void not_that_number(const Param<> &p, const py::object &value) {
  throw py::type_error("Param '" + p.name() + "' of type " + p.type().to_string() + " is set to '" +
                       py::cast<std::string>(py::repr(value)) +
                       "'\n  why: that is no number\n  fix: give a number of Python or numpy");
}

// The nearest value of the type is meant, as by a constant.
void set_real(Param<> &p, double v) {
  if (p.type() == Float(32)) {
    p.set(static_cast<float>(v));
  } else if (p.type() == Float(16)) {
    p.set(static_cast<double>(float16_t(v)));
  } else if (p.type() == BFloat(16)) {
    p.set(static_cast<double>(bfloat16_t(v)));
  } else {
    p.set(v);
  }
}

// Of any number of bits.
void set_integer(Param<> &p, const py::object &value) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return p.set(static_cast<int64_t>(v));
  const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
  if (!PyErr_Occurred()) return p.set(static_cast<uint64_t>(large));
  PyErr_Clear();
  const double real = PyLong_AsDouble(value.ptr());
  const bool is_real = !PyErr_Occurred();
  PyErr_Clear();
  if (p.type().is_float() && is_real) return set_real(p, real);
  user_error("the value " + py::cast<std::string>(py::str(value)) + " for Param '" + p.name() + "'",
             "its type is " + p.type().to_string() + ", which cannot hold it",
             "give a value of that type", place());
}

void set_value(Param<> &p, const py::object &given) {
  py::object value = given;
  if (py::hasattr(value, "item")) value = value.attr("item")();
  if (py::isinstance<py::bool_>(value)) {
    p.set(static_cast<int>(value.cast<bool>()));
  } else if (py::isinstance<py::int_>(value)) {
    set_integer(p, value);
  } else if (py::isinstance<py::float_>(value)) {
    set_real(p, value.cast<double>());
  } else {
    not_that_number(p, value);
  }
}

py::object get_value(const Param<> &p) {
  const Type t = p.type();
  if (t.is_bool()) return py::cast(p.get<bool>());
  if (t == Float(64)) return py::cast(p.get<double>());
  if (t == Float(32)) return py::cast(p.get<float>());
  const uint64_t bits = detail::parameter_bits(*p.parameter().contents());
  const auto half = static_cast<uint16_t>(bits);
  if (t == Float(16)) return py::cast(static_cast<float>(float16_t::make_from_bits(half)));
  if (t == BFloat(16)) return py::cast(static_cast<float>(bfloat16_t::make_from_bits(half)));
  if (t == Int(8)) return py::cast(static_cast<int>(p.get<int8_t>()));
  if (t == Int(16)) return py::cast(p.get<int16_t>());
  if (t == Int(32)) return py::cast(p.get<int32_t>());
  if (t == Int(64)) return py::cast(p.get<int64_t>());
  if (t == UInt(8)) return py::cast(static_cast<int>(p.get<uint8_t>()));
  if (t == UInt(16)) return py::cast(p.get<uint16_t>());
  if (t == UInt(32)) return py::cast(p.get<uint32_t>());
  return py::cast(p.get<uint64_t>());
}

Expr limit(const py::object &value, const Param<> &p) {
  if (value.is_none()) return Expr();
  return is_number(value) ? to_expr(value, p.type()) : to_expr(value);
}

void bind_param(py::module_ &m) {
  py::class_<Param<>> param(m, "Param", R"(A scalar input of a pipeline.

Param(type, name, value): `type` is a Type or a dtype, the value the one that realize() passes.)");
  param
      .def(py::init([](AnyType type, const std::string &name, const py::object &value,
                       const py::object &min, const py::object &max) {
             Param<> p(type.t, name);
             if (!value.is_none()) set_value(p, value);
             if (!min.is_none()) p.set_min_value(limit(min, p), here());
             if (!max.is_none()) p.set_max_value(limit(max, p), here());
             return p;
           }),
           py::arg("type"), py::arg("name") = "", py::arg("value") = py::none(),
           py::arg("min") = py::none(), py::arg("max") = py::none())
      .def("name", &Param<>::name)
      .def("type", &Param<>::type)
      .def("set", &set_value, py::arg("value"),
           "The value that realize() passes. CompileError where the type does not hold it.")
      .def("get", &get_value)
      .def(
          "set_range",
          [](Param<> &p, const py::object &min, const py::object &max) {
            p.set_range(limit(min, p), limit(max, p), here());
          },
          py::arg("min"), py::arg("max"), "Checked when the pipeline runs.")
      .def(
          "set_min_value",
          [](Param<> &p, const py::object &min) { p.set_min_value(limit(min, p), here()); },
          py::arg("min"))
      .def(
          "set_max_value",
          [](Param<> &p, const py::object &max) { p.set_max_value(limit(max, p), here()); },
          py::arg("max"))
      .def("min_value", &Param<>::min_value)
      .def("max_value", &Param<>::max_value)
      .def(
          "set_estimate",
          [](Param<> &p, const py::object &value) {
            if (py::isinstance<py::float_>(value))
              return p.set_estimate(value.cast<double>(), here());
            p.set_estimate(value.cast<int64_t>(), here());
          },
          py::arg("value"), "What an auto-scheduler may assume.")
      .def("__repr__", [](const Param<> &p) {
        return "<polyhalite.Param " + p.name() + ": " + p.type().to_string() + ">";
      });
  add_operators(param);
}

// ParamAxis i of an image or output.
struct ParamAxis {
  Dimension d;
};

ParamAxis param_axis(const OutputImageParam &image, int axis) {
  return {image.dim(dimension_of_axis(axis, image.dimensions()), here())};
}

template <typename Set>
auto setter(Set set) {
  return [set](const py::object &self, const py::object &value) {
    set(self.cast<ParamAxis &>().d, value.is_none() ? Expr() : to_expr(value));
    return self;
  };
}

void bind_images(py::module_ &m) {
  py::class_<ParamAxis>(m, "Axis", R"(One axis of an image or output: its shape as expressions.

What is set is a promise that compiled code may use; it is checked when a pipeline runs.)")
      .def("min", [](const ParamAxis &a) { return a.d.min(); })
      .def("extent", [](const ParamAxis &a) { return a.d.extent(); })
      .def("max", [](const ParamAxis &a) { return a.d.max(); })
      .def(
          "stride", [](const ParamAxis &a) { return a.d.stride(); }, "In elements.")
      .def("set_min", setter([](Dimension &d, const Expr &e) { d.set_min(e, here()); }),
           py::arg("min"), "None lifts the promise.")
      .def("set_extent", setter([](Dimension &d, const Expr &e) { d.set_extent(e, here()); }),
           py::arg("extent"))
      .def("set_stride", setter([](Dimension &d, const Expr &e) { d.set_stride(e, here()); }),
           py::arg("stride"),
           "In elements. The last axis has stride 1 unless None lifts that, for arrays of any "
           "strides.")
      .def(
          "set_bounds",
          [](const py::object &self, Value min, Value extent) {
            self.cast<ParamAxis &>().d.set_bounds(min.e, extent.e, here());
            return self;
          },
          py::arg("min"), py::arg("extent"))
      .def(
          "set_estimate",
          [](const py::object &self, Value min, Value extent) {
            self.cast<ParamAxis &>().d.set_estimate(min.e, extent.e);
            return self;
          },
          py::arg("min"), py::arg("extent"), "What an auto-scheduler may assume.");

  py::class_<OutputImageParam>(m, "OutputImageParam",
                               "The buffer of an output or of an input: its shape as expressions.")
      .def("defined", &OutputImageParam::defined)
      .def("name", &OutputImageParam::name)
      .def("type", &OutputImageParam::type)
      .def("dimensions", &OutputImageParam::dimensions, "How many axes.")
      .def("dim", &param_axis, py::arg("axis"))
      .def(
          "extent",
          [](const OutputImageParam &p, int axis) { return param_axis(p, axis).d.extent(); },
          py::arg("axis"))
      .def_property_readonly(
          "shape",
          [](const OutputImageParam &p) {
            py::list shape;
            for (int i = 0; i < p.dimensions(); i++) {
              shape.append(param_axis(p, i).d.extent());
            }
            return py::tuple(shape);
          },
          "The extents of the axes, as expressions.")
      .def("host_alignment", &OutputImageParam::host_alignment)
      .def(
          "set_host_alignment",
          [](const py::object &self, int bytes) {
            self.cast<OutputImageParam &>().set_host_alignment(bytes, here());
            return self;
          },
          py::arg("bytes"), "Promises the alignment of the first element: a power of 2.")
      .def(
          "set_estimates",
          [](const py::object &self, const py::object &bounds) {
            auto &p = self.cast<OutputImageParam &>();
            p.set_estimates(to_region(bounds), here());
            return self;
          },
          py::arg("bounds"), "[(min, extent), ...], for auto-schedulers.");

  py::class_<ImageParam, OutputImageParam>(m, "ImageParam", R"(An array input of a pipeline.

ImageParam(type, axes, name); image[i, j] reads it, image.set(array) says what realize() passes.)")
      .def(py::init([](AnyType t, int dimensions, const std::string &name) {
             return ImageParam(t.t, dimensions, name, here());
           }),
           py::arg("type"), py::arg("dimensions"), py::arg("name") = "")
      .def(
          "set", [](ImageParam &p, const py::object &image) { p.set(to_buffer(image), here()); },
          py::arg("image"), "A Buffer, or an array that it shares.")
      .def(
          "get",
          [](const ImageParam &p) -> py::object {
            const Buffer<> b = p.get();
            return b.defined() ? py::cast(b) : py::none();
          },
          "None while nothing is set.")
      .def("reset", &ImageParam::reset)
      .def("trace_loads", &ImageParam::trace_loads)
      .def(
          "__getitem__",
          [](const ImageParam &p, const py::object &key) { return p(to_indices(key), here()); },
          py::arg("key"))
      .def(
          "in_",
          [](ImageParam &p, const py::args &consumers) {
            if (consumers.empty()) return p.in(here());
            std::vector<Func> list;
            for (const py::object &c : spread(consumers)) list.push_back(to_func(c));
            return list.size() == 1 ? p.in(list[0], here()) : p.in(list, here());
          },
          "A Func that reads the image, to be scheduled: the consumers, or every one, read it in "
          "place of the image.")
      .def("__repr__",
           [](const ImageParam &p) {
             return "<polyhalite.ImageParam " + p.name() + ": " + p.type().to_string() + ", " +
                    std::to_string(p.dimensions()) + " axes>";
           })
      .attr("__iter__") = py::none();
}

}  // namespace

uint64_t to_scalar_bits(const Type &type, const std::string &name, const py::object &value) {
  Param<> p(type, name);
  set_value(p, value);
  return detail::parameter_bits(*p.parameter().contents());
}

void bind_params(py::module_ &m) {
  bind_param(m);
  bind_images(m);
  py::class_<Argument>(m, "Argument", "An input of a compiled function.")
      .def(py::init([](const py::object &p) {
             if (py::isinstance<Param<>>(p)) return Argument(p.cast<const Param<> &>());
             if (py::isinstance<OutputImageParam>(p)) {
               return Argument(p.cast<const OutputImageParam &>());
             }
             if (py::isinstance<Buffer<>>(p)) return Argument(p.cast<const Buffer<> &>());
             throw py::type_error("'" + py::cast<std::string>(py::repr(p)) +
                                  "' is used as an argument\n  why: it is no input\n  fix: give a "
                                  "Param, an ImageParam or a Buffer");
           }),
           py::arg("input"))
      .def_readonly("name", &Argument::name)
      .def_readonly("type", &Argument::type)
      .def_property_readonly("dimensions",
                             [](const Argument &a) { return static_cast<int>(a.dimensions); })
      .def("is_buffer", &Argument::is_buffer)
      .def("is_scalar", &Argument::is_scalar)
      .def("is_input", &Argument::is_input)
      .def("is_output", &Argument::is_output)
      .def("__repr__", [](const Argument &a) {
        return "<polyhalite.Argument " + a.name + ": " + a.type.to_string() + ">";
      });
  py::implicitly_convertible<Param<>, Argument>();
  py::implicitly_convertible<OutputImageParam, Argument>();
  py::implicitly_convertible<ImageParam, Argument>();
  py::implicitly_convertible<Buffer<>, Argument>();
}

}  // namespace polyhalite::python
