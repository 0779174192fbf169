// Buffer: arrays that numpy and pipelines share.
#include "polyhalite/buffer.h"

#include <pybind11/numpy.h>

#include "polyhalite/param.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Contents = std::shared_ptr<BufferContents>;
using RawBuffer = runtime::Buffer<>;

// A Buffer on memory that `owner` holds: contents, and with them every pipeline and crop that has
// them, keep the owner alive.
template <typename Owner>
Contents borrow(const RawBuffer &raw, const std::string &name, Owner owner) {
  const Contents plain = Buffer<>(raw, name).contents();
  return Contents(plain.get(), [plain, owner = std::move(owner)](BufferContents *) mutable {});
}

// A Python object that may be let go without the GIL.
struct PythonOwner {
  std::shared_ptr<py::object> object;
  explicit PythonOwner(py::object o)
      : object(new py::object(std::move(o)), [](py::object *p) {
          if (!Py_IsInitialized()) return;
          py::gil_scoped_acquire gil;
          delete p;
        }) {}
};

[[noreturn]] void refuse(const std::string &what, const std::string &why, const std::string &fix) {
  user_error(what, why, fix, place());
}

std::string shape_text(const py::array &a) {
  return py::cast<std::string>(py::str(py::tuple(a.attr("shape"))));
}

py::object to_array(const py::object &self) {
  const Buffer<> &b = self.cast<const Buffer<> &>();
  const Type type = b.type();
  if (!b.data()) {
    refuse("numpy() of a Buffer without memory", "it only asks for bounds",
           "read its bounds, as in buffer.min(0) and buffer.shape");
  }
  std::vector<ssize_t> shape, strides;
  for (int axis = 0; axis < b.dimensions(); axis++) {
    const int d = dimension_of_axis(axis, b.dimensions());
    shape.push_back(b.extent(d));
    strides.push_back(static_cast<ssize_t>(b.stride(d)) * type.bytes());
  }
  const bool plain = !type.is_bfloat();
  const py::object stored = plain ? dtype_of(type) : py::dtype("uint16");
  py::object array =
      py::array(py::reinterpret_borrow<py::dtype>(stored), shape, strides, b.data(), self);
  return plain ? array : array.attr("view")(dtype_of(type));
}

Contents from_array(const py::object &source, const std::string &name, bool copy) {
  const py::module_ numpy = py::module_::import("numpy");
  py::object given = source;
  if (py::isinstance<Buffer<>>(given)) given = to_array(given);
  if (!py::isinstance<py::array>(given)) {
    // Others share by DLPack where they can, else by the buffer protocol.
    const bool dlpack = py::hasattr(given, "__dlpack__");
    given = dlpack ? numpy.attr("from_dlpack")(given) : numpy.attr("asarray")(given);
  }
  if (copy) given = numpy.attr("array")(given);
  const py::array a = py::reinterpret_borrow<py::array>(given);
  const Type type = to_type(a.attr("dtype"));
  if (!a.attr("dtype").attr("isnative").cast<bool>()) {
    refuse("an array of dtype " + py::cast<std::string>(py::str(a.dtype())) + " as a Buffer",
           "its elements have the byte order of another machine",
           "convert it, as in array.astype(array.dtype.newbyteorder('='))");
  }
  if (!a.writeable() && !copy) {
    refuse("a read-only array of shape " + shape_text(a) + " as a Buffer",
           "a pipeline could write to it", "give a copy: Buffer(array, copy=True)");
  }
  std::vector<polyhalite_dimension_t> dims;
  for (ssize_t axis = 0; axis < a.ndim(); axis++) {
    const int64_t bytes = a.strides(axis), size = type.bytes();
    if (bytes % size != 0) {
      refuse("an array of stride " + std::to_string(bytes) + " bytes along axis " +
                 std::to_string(axis) + " as a Buffer",
             "strides are whole elements, of " + std::to_string(size) + " bytes",
             "give a copy: Buffer(array, copy=True)");
    }
    if (a.shape(axis) > INT32_MAX || bytes / size > INT32_MAX || bytes / size < INT32_MIN) {
      refuse("an array of shape " + shape_text(a) + " as a Buffer",
             "extents and strides have 32 bits", "work on parts of it");
    }
    dims.push_back({0, static_cast<int>(a.shape(axis)), static_cast<int>(bytes / size)});
  }
  dims = reversed(std::move(dims));
  void *data = const_cast<void *>(a.data());
  if (reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(type.bytes()) != 0) {
    refuse("an array of shape " + shape_text(a) + " as a Buffer",
           "its elements of " + type.to_string() + " are not aligned in memory",
           "give a copy: Buffer(array, copy=True)");
  }
  const RawBuffer raw(type, data, dims);
  return borrow(raw, name, PythonOwner(given));
}

// The address of an element; IndexError outside of the Buffer. `key` in Python's order.
void *element(const Buffer<> &b, const py::tuple &key) {
  const int n = b.dimensions();
  if (static_cast<int>(key.size()) != n) {
    throw py::index_error(std::to_string(key.size()) + " indices for a Buffer of " +
                          std::to_string(n) + (n == 1 ? " axis" : " axes"));
  }
  ptrdiff_t offset = 0;
  for (int axis = 0; axis < n; axis++) {
    const int d = dimension_of_axis(axis, n);
    const int64_t at = key[static_cast<size_t>(axis)].cast<int64_t>();
    const int64_t end = int64_t{b.min(d)} + b.extent(d);
    if (at < b.min(d) || at >= end) {
      throw py::index_error("index " + std::to_string(at) + " along axis " + std::to_string(axis) +
                            " of a Buffer that has " + std::to_string(b.min(d)) + " to " +
                            std::to_string(end - 1));
    }
    offset += (at - b.min(d)) * b.stride(d);
  }
  if (!b.data()) {
    refuse("an element of a Buffer without memory", "it only asks for bounds",
           "read its bounds, as in buffer.min(0) and buffer.shape");
  }
  return static_cast<uint8_t *>(b.data()) + offset * b.type().bytes();
}

py::tuple key_of(const py::object &key) {
  return py::isinstance<py::tuple>(key) ? py::tuple(key) : py::make_tuple(key);
}

bool is_coordinates(const py::tuple &key) {
  for (const py::handle k : key) {
    if (!PyIndex_Check(k.ptr()) || py::isinstance<Expr>(k)) return false;
  }
  return true;
}

// An element as an array of no axes, which numpy reads and writes.
py::object element_array(const py::object &self, const py::tuple &key) {
  const Buffer<> &b = self.cast<const Buffer<> &>();
  const py::dtype dtype = dtype_of(b.type());
  if (b.type().is_bfloat()) {
    void *data = element(b, key);
    return py::array(py::dtype("uint16"), std::vector<ssize_t>{}, std::vector<ssize_t>{}, data,
                     self)
        .attr("view")(dtype);
  }
  return py::array(dtype, std::vector<ssize_t>{}, std::vector<ssize_t>{}, element(b, key), self);
}

py::object get_item(const py::object &self, const py::object &key) {
  const py::tuple indices = key_of(key);
  if (is_coordinates(indices)) return element_array(self, indices).attr("item")();
  for (const py::handle k : indices) {
    if (!py::isinstance<py::slice>(k)) continue;
    refuse("a slice of a Buffer",
           "Buffers are read element by element, at coordinates from their "
           "mins on",
           "slice the array: buffer.numpy()[...]");
  }
  return py::cast(self.cast<const Buffer<> &>()(to_indices(key)));
}

void set_item(const py::object &self, const py::object &key, const py::object &value) {
  const py::tuple indices = key_of(key);
  if (!is_coordinates(indices)) {
    refuse("an assignment to a part of a Buffer", "Buffers are written element by element",
           "assign to the array: buffer.numpy()[...] = values");
  }
  element_array(self, indices)[py::tuple()] = value;
}

std::vector<int> to_sizes(const std::vector<int> &shape) { return reversed(shape); }

Buffer<> make(AnyType type, const std::vector<int> &shape, const std::string &name) {
  return Buffer<>(type.t, to_sizes(shape), name);
}

// A Buffer that has no memory, for asking what a pipeline needs.
Buffer<> make_query(AnyType type, const std::vector<int> &shape, const std::string &name) {
  return Buffer<>(type.t, nullptr, to_sizes(shape), name);
}

// A part or another view of b, which shares its elements and keeps them alive.
Buffer<> view(const Buffer<> &b, const RawBuffer &raw) {
  return Buffer<>(borrow(raw, b.name(), b.contents()));
}

struct Axis {
  BufferDimension d;
};

void bind_shape(py::class_<Buffer<>> &buffer) {
  buffer.def("dimensions", &Buffer<>::dimensions, "How many axes.")
      .def_property_readonly("ndim", &Buffer<>::dimensions, "How many axes.")
      .def_property_readonly(
          "shape",
          [](const Buffer<> &b) {
            py::tuple shape(b.dimensions());
            for (int d = 0; d < b.dimensions(); d++) {
              shape[b.dimensions() - 1 - d] = b.extent(d);
            }
            return shape;
          },
          "Elements along each axis.")
      .def_property_readonly(
          "mins",
          [](const Buffer<> &b) {
            py::tuple mins(b.dimensions());
            for (int d = 0; d < b.dimensions(); d++) {
              mins[b.dimensions() - 1 - d] = b.min(d);
            }
            return mins;
          },
          "The first coordinate along each axis.")
      .def_property_readonly("dtype", [](const Buffer<> &b) { return dtype_of(b.type()); })
      .def_property_readonly(
          "size", [](const Buffer<> &b) { return b.number_of_elements(); }, "How many elements.")
      .def("type", &Buffer<>::type)
      .def(
          "dim",
          [](const Buffer<> &b, int axis) {
            return Axis{b.dim(dimension_of_axis(axis, b.dimensions()))};
          },
          py::arg("axis"))
      .def(
          "min",
          [](const Buffer<> &b, int axis) {
            return b.min(dimension_of_axis(axis, b.dimensions()));
          },
          py::arg("axis"), "The first coordinate along the axis.")
      .def(
          "extent",
          [](const Buffer<> &b, int axis) {
            return b.extent(dimension_of_axis(axis, b.dimensions()));
          },
          py::arg("axis"), "Elements along the axis.")
      .def(
          "stride",
          [](const Buffer<> &b, int axis) {
            return b.stride(dimension_of_axis(axis, b.dimensions()));
          },
          py::arg("axis"), "From one element to the next along the axis, in elements.")
      .def(
          "set_min", [](Buffer<> &b, const std::vector<int> &mins) { b.set_min(reversed(mins)); },
          py::arg("mins"), "Moves the coordinates; elements stay where they are.")
      .def(
          "crop",
          [](Buffer<> &b, int axis, int min, int extent) {
            b.crop(dimension_of_axis(axis, b.dimensions()), min, extent);
          },
          py::arg("axis"), py::arg("min"), py::arg("extent"),
          "Keeps [min, min + extent) along the axis, for all handles of this Buffer.")
      .def(
          "cropped",
          [](const Buffer<> &b, int axis, int min, int extent) {
            return view(b, b.cropped(dimension_of_axis(axis, b.dimensions()), min, extent));
          },
          py::arg("axis"), py::arg("min"), py::arg("extent"),
          "A Buffer of the part [min, min + extent) along the axis, which shares the elements.")
      .def(
          "translated",
          [](const Buffer<> &b, const std::vector<int> &delta) {
            return view(b, b.translated(reversed(delta)));
          },
          py::arg("delta"), "The same elements at other coordinates.")
      .def(
          "sliced",
          [](const Buffer<> &b, int axis, int at) {
            return view(b, RawBuffer(b.sliced(dimension_of_axis(axis, b.dimensions()), at)));
          },
          py::arg("axis"), py::arg("at"), "The elements at one coordinate, with an axis less.")
      .def(
          "transposed",
          [](const Buffer<> &b, int a1, int a2) {
            return view(b, b.transposed(dimension_of_axis(a1, b.dimensions()),
                                        dimension_of_axis(a2, b.dimensions())));
          },
          py::arg("axis1"), py::arg("axis2"), "With two axes exchanged; shares the elements.");
}

}  // namespace

Buffer<> to_buffer(const py::object &value) {
  if (py::isinstance<Buffer<>>(value)) return value.cast<Buffer<>>();
  return Buffer<>(from_array(value, "", false));
}

void bind_buffers(py::module_ &m) {
  py::class_<Axis>(m, "BufferAxis", "One axis of a Buffer.")
      .def("min", [](const Axis &a) { return a.d.min(); })
      .def("extent", [](const Axis &a) { return a.d.extent(); })
      .def("max", [](const Axis &a) { return a.d.max(); })
      .def("stride", [](const Axis &a) { return a.d.stride(); }, "In elements.");

  py::class_<Buffer<>> buffer(m, "Buffer", R"(An array that pipelines read and write.

Buffer(array) shares the elements of a numpy array, of an object with __dlpack__ or with the buffer
protocol, whatever its strides; the array lives as long as the Buffer, its crops and the pipelines
that use it. Buffer(type, shape) has elements of its own, not initialised. numpy.asarray(buffer) and
buffer.numpy() share them. buffer[i, j] is an element at coordinates, which count from buffer.mins,
or with expressions a value of an algorithm.)");
  buffer
      .def(py::init([](const py::object &array, const std::string &name, bool copy) {
             if (py::isinstance<Buffer<>>(array) && !copy) return array.cast<Buffer<>>();
             return Buffer<>(from_array(array, name, copy));
           }),
           py::arg("array"), py::arg("name") = "", py::arg("copy") = false)
      .def(py::init(&make), py::arg("type"), py::arg("shape"), py::arg("name") = "")
      .def_static(
          "make_scalar",
          [](AnyType t, const std::string &name) { return Buffer<>::make_scalar(t.t, name); },
          py::arg("type"), py::arg("name") = "")
      .def_static("make_bounds_query", &make_query, py::arg("type"), py::arg("shape"),
                  py::arg("name") = "",
                  "Without memory: a pipeline writes to its mins and shape what it needs.")
      .def("defined", [](const Buffer<> &b) { return b.defined(); })
      .def("name", &Buffer<>::name)
      .def("set_name", &Buffer<>::set_name, py::arg("name"))
      .def("numpy", &to_array, "A numpy array of the same elements, without a copy.")
      .def(
          "__array__",
          [](const py::object &self, const py::object &dtype, const py::object &copy) {
            const py::object array = to_array(self);
            if (dtype.is_none() && (copy.is_none() || !copy.cast<bool>())) return array;
            const bool must_copy = !copy.is_none() && copy.cast<bool>();
            return py::object(
                array.attr("astype")(dtype.is_none() ? py::object(array.attr("dtype")) : dtype,
                                     py::arg("copy") = must_copy));
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack__",
           [](const py::object &self, const py::kwargs &options) {
             return to_array(self).attr("__dlpack__")(**options);
           })
      .def("__dlpack_device__",
           [](const py::object &self) { return to_array(self).attr("__dlpack_device__")(); })
      .def("__getitem__", &get_item, py::arg("key"))
      .def("__setitem__", &set_item, py::arg("key"), py::arg("value"))
      .def("__len__",
           [](const Buffer<> &b) {
             if (b.dimensions() == 0) throw py::type_error("a Buffer of no axes has no length");
             return b.extent(b.dimensions() - 1);
           })
      .def(
          "fill",
          [](const py::object &self, const py::object &value) {
            to_array(self).attr("fill")(value);
            return self;
          },
          py::arg("value"))
      .def(
          "copy", [](const Buffer<> &b) { return b.copy(); },
          "A dense copy with the same mins, shape and order in memory.")
      .def("same_as", [](const Buffer<> &a, const Buffer<> &b) { return a.same_as(b); })
      .def("__repr__", [](const py::object &self) {
        const Buffer<> &b = self.cast<const Buffer<> &>();
        return "<polyhalite.Buffer of " + b.type().to_string() + ", shape " +
               py::cast<std::string>(py::str(self.attr("shape"))) + ">";
      });
  buffer.attr("__iter__") = py::none();
  buffer.attr("__array_priority__") = 100;
  bind_shape(buffer);
}

}  // namespace polyhalite::python
