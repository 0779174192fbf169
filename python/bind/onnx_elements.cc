#include "python/bind/onnx_elements.h"

#include <pybind11/numpy.h>

namespace polyhalite::python {

using onnx::Constant;
using onnx::ElementType;

namespace {

// Elements of which numpy knows through the package ml_dtypes, by its names.
struct NarrowName {
  ElementType type;
  const char *name;
};
constexpr NarrowName kNarrowNames[] = {{ElementType::Float8E4M3FN, "float8_e4m3fn"},
                                       {ElementType::Float8E4M3FNUZ, "float8_e4m3fnuz"},
                                       {ElementType::Float8E5M2, "float8_e5m2"},
                                       {ElementType::Float8E5M2FNUZ, "float8_e5m2fnuz"},
                                       {ElementType::UInt4, "uint4"},
                                       {ElementType::Int4, "int4"},
                                       {ElementType::Float4E2M1, "float4_e2m1fn"},
                                       {ElementType::Float8E8M0, "float8_e8m0fnu"},
                                       {ElementType::UInt2, "uint2"},
                                       {ElementType::Int2, "int2"},
                                       {ElementType::Float6E2M3, "float6_e2m3fn"},
                                       {ElementType::Float6E3M2, "float6_e3m2fn"}};

ElementType narrow_type(const py::dtype &dtype) {
  constexpr int kFirstFromOutside = 256;  // numpy's NPY_USERDEF
  if (dtype.num() < kFirstFromOutside) return ElementType::Undefined;
  const auto name = py::cast<std::string>(dtype.attr("name"));
  for (const NarrowName &n : kNarrowNames) {
    if (name == n.name) return n.type;
  }
  return ElementType::Undefined;
}

py::object narrow_dtype(ElementType type) {
  for (const NarrowName &n : kNarrowNames) {
    if (n.type != type) continue;
    const py::object found = py::module_::import("polyhalite._arrays").attr("outside")(n.name);
    return py::module_::import("numpy").attr("dtype")(found);
  }
  return py::none();
}

// ml_dtypes' integers have zeros above their bits, a Constant's have their sign there. Floats are
// codes in both.
py::object as_stored(const py::object &array, ElementType type) {
  const py::object dtype = dtype_of(*onnx::language_type(type));
  return array.attr(onnx::is_narrow_integer(type) ? "astype" : "view")(dtype);
}
py::object as_numbers(const py::object &array, ElementType type) {
  return array.attr(onnx::is_narrow_integer(type) ? "astype" : "view")(narrow_dtype(type));
}

}  // namespace

std::shared_ptr<const void> keep(py::object o) {
  return std::shared_ptr<const void>(new py::object(std::move(o)), [](const void *p) {
    py::gil_scoped_acquire gil;
    delete static_cast<const py::object *>(p);
  });
}

Constant constant_of(const std::string &name, const py::object &value) {
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
  ElementType type = narrow_type(py::reinterpret_borrow<py::array>(array).dtype());
  const bool is_narrow = type != ElementType::Undefined;
  if (is_narrow) array = as_stored(array, type);
  const auto a = py::reinterpret_borrow<py::array>(array);
  if (!is_narrow) type = onnx::element_type(to_type(a.dtype()));
  if (type == ElementType::Undefined) {
    throw py::type_error("input '" + name + "' has elements that no model has");
  }
  const std::vector<int64_t> shape(a.shape(), a.shape() + a.ndim());
  return Constant(type, shape, keep(array), static_cast<const uint8_t *>(a.data()));
}

py::object array_of(const Constant &c) {
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
  if (onnx::is_narrow(c.type())) return as_numbers(array, c.type());
  return type.is_bfloat() ? py::object(array.attr("view")(dtype)) : py::object(array);
}

}  // namespace polyhalite::python
