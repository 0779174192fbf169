// Models in the ONNX format.
#include <pybind11/numpy.h>

#include "apps/onnx/item_session.h"
#include "python/bind/doors.h"

namespace polyhalite::python {

namespace {

using onnx::Constant;
using onnx::ElementType;
using onnx::Item;
using onnx::ItemSession;

// A Python object that may be let go without the GIL.
std::shared_ptr<const void> keep(py::object o) {
  return std::shared_ptr<const void>(new py::object(std::move(o)), [](const void *p) {
    py::gil_scoped_acquire gil;
    delete static_cast<const py::object *>(p);
  });
}

// An array's elements, without a copy where they lie in order.
Constant to_constant(const std::string &name, const py::object &value) {
  py::object array = value;
  const auto in_order = [&] {
    if (!py::isinstance<py::array>(array)) return false;
    const auto a = py::reinterpret_borrow<py::array>(array);
    const char order = a.dtype().byteorder();
    return (a.flags() & py::array::c_style) != 0 && (order == '=' || order == '|');
  };
  if (!in_order()) {
    const py::module_ numpy = py::module_::import("numpy");
    array = numpy.attr("asarray")(value);
    const py::object native = array.attr("dtype").attr("newbyteorder")("=");
    array = numpy.attr("asarray")(array, native, py::arg("order") = "C");
  }
  const auto a = py::reinterpret_borrow<py::array>(array);
  const ElementType type = onnx::element_type(to_type(a.dtype()));
  if (type == ElementType::Undefined) {
    throw py::type_error("input '" + name + "' has elements that no model has");
  }
  const std::vector<int64_t> shape(a.shape(), a.shape() + a.ndim());
  return Constant(type, shape, keep(array), static_cast<const uint8_t *>(a.data()));
}

// Without a copy.
py::object to_array(const Constant &c) {
  const Type type = *onnx::language_type(c.type());
  auto *held = new Constant(c.is_splat() ? Constant::of_bytes(c.type(), c.shape(), c.packed()) : c);
  const py::capsule owner(held, [](void *p) { delete static_cast<Constant *>(p); });
  const py::object dtype = dtype_of(type);
  const py::object stored = type.is_bfloat() ? py::dtype::of<uint16_t>() : dtype;
  std::vector<ssize_t> strides(c.shape().size());
  ssize_t stride = type.bytes();
  for (size_t d = strides.size(); d-- > 0; stride *= c.shape()[d]) strides[d] = stride;
  const py::array array(py::reinterpret_borrow<py::dtype>(stored), c.shape(), strides, held->data(),
                        owner);
  return type.is_bfloat() ? py::object(array.attr("view")(dtype)) : py::object(array);
}

Item to_item(const std::string &name, onnx::ItemForm form, const py::object &value) {
  if (value.is_none()) return {};
  const bool listed = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  if (!form.sequence || !listed) return to_constant(name, value);
  std::vector<Constant> elements;
  for (const py::handle e : value)
    elements.push_back(to_constant(name, py::reinterpret_borrow<py::object>(e)));
  return elements;
}

// An array, a list of arrays, or None.
py::object to_object(const Item &item) {
  if (const auto *tensor = std::get_if<Constant>(&item)) return to_array(*tensor);
  const auto *elements = std::get_if<std::vector<Constant>>(&item);
  if (!elements) return py::none();
  py::list list;
  for (const Constant &c : *elements) list.append(to_array(c));
  return list;
}

onnx::Items to_items(const ItemSession &session, const py::dict &inputs) {
  onnx::Items items;
  for (const auto &[name, value] : inputs) {
    const std::string n = py::cast<std::string>(name);
    items.emplace(n, to_item(n, session.form(n), py::reinterpret_borrow<py::object>(value)));
  }
  return items;
}

// [name, dtype's name, [size or symbol's text...] or None]
py::tuple described(const onnx::Value &v, onnx::ItemForm form) {
  py::object shape = py::none();
  if (v.shape) {
    py::list sizes;
    for (const onnx::Dim &d : *v.shape) {
      if (const auto size = d.constant()) {
        sizes.append(*size);
      } else {
        sizes.append(d.to_string());
      }
    }
    shape = sizes;
  }
  std::string type = onnx::element_name(v.type);
  if (form.sequence) type = "sequence(" + type + ")";
  if (form.optional) type = "optional(" + type + ")";
  return py::make_tuple(v.name, type, shape);
}

std::unique_ptr<ItemSession> load(const py::object &source, const std::string &folder,
                                  const Target &target, bool interpret) {
  onnx::CompileOptions options;
  options.first_sizes = true;
  if (target != Target()) options.target = target;
  if (interpret) options.engine = onnx::Engine::Interpreter;
  if (!py::isinstance<py::bytes>(source)) {
    const std::string path = source.cast<std::string>();
    py::gil_scoped_release released;
    return std::make_unique<ItemSession>(path, options);
  }
  char *data = nullptr;
  ssize_t size = 0;
  if (PyBytes_AsStringAndSize(source.ptr(), &data, &size) != 0) throw py::error_already_set();
  const std::shared_ptr<const void> owner = keep(source);
  py::gil_scoped_release released;
  return std::make_unique<ItemSession>(
      onnx::load_model(reinterpret_cast<const uint8_t *>(data), static_cast<size_t>(size), "model",
                       folder, owner),
      options);
}

py::dict run(ItemSession &session, const py::dict &inputs) {
  const onnx::Items items = to_items(session, inputs);
  onnx::Items results;
  {
    py::gil_scoped_release released;
    results = session.run(items);
  }
  py::dict outputs;
  for (const std::string &name : session.output_names()) {
    outputs[py::str(name)] = to_object(results.at(name));
  }
  return outputs;
}

}  // namespace

void bind_onnx(py::module_ &m) {
  py::class_<ItemSession>(m, "_OnnxSession")
      .def(py::init(&load), py::arg("source"), py::arg("folder"), py::arg("target"),
           py::arg("interpret"))
      .def("inputs",
           [](const ItemSession &s) {
             py::list list;
             for (const std::string &name : s.input_names())
               list.append(described(s.input(name), s.form(name)));
             return list;
           })
      .def("output_names", &ItemSession::output_names)
      .def("run", &run)
      .def("report", [](ItemSession &s, const py::dict &inputs) {
        const onnx::Items items = to_items(s, inputs);
        py::gil_scoped_release released;
        const ItemSession::Prepared p = s.prepare(items);
        return p.session->program_for(p.tensors)->report();
      });
}

}  // namespace polyhalite::python
