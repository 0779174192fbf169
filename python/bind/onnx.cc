// Models in the ONNX format.
#include "apps/onnx/item_session.h"
#include "python/bind/doors.h"
#include "python/bind/onnx_elements.h"

namespace polyhalite::python {

namespace {

using onnx::Constant;
using onnx::Item;
using onnx::ItemSession;

Item to_item(const std::string &name, onnx::ItemForm form, const py::object &value) {
  if (value.is_none()) return {};
  const bool listed = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  if (!form.sequence || !listed) return constant_of(name, value);
  std::vector<Constant> elements;
  for (const py::handle e : value)
    elements.push_back(constant_of(name, py::reinterpret_borrow<py::object>(e)));
  return elements;
}

// An array, a list of arrays, or None.
py::object to_object(const Item &item) {
  if (const auto *tensor = std::get_if<Constant>(&item)) return array_of(*tensor);
  const auto *elements = std::get_if<std::vector<Constant>>(&item);
  if (!elements) return py::none();
  py::list list;
  for (const Constant &c : *elements) list.append(array_of(c));
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
