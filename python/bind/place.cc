// Where in the user's program a call comes from.
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

// The folder of the package's own files, with a slash at its end.
const std::string &package_folder() {
  static const std::string folder = [] {
    const std::string file = py::module_::import("polyhalite").attr("__file__").cast<std::string>();
    return file.substr(0, file.rfind('/') + 1);
  }();
  return folder;
}

}  // namespace

SourceLocation place() {
  py::object frame =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
  while (frame) {
    auto *raw = reinterpret_cast<PyFrameObject *>(frame.ptr());
    const auto code =
        py::reinterpret_steal<py::object>(reinterpret_cast<PyObject *>(PyFrame_GetCode(raw)));
    const std::string file = code.attr("co_filename").cast<std::string>();
    if (file.rfind(package_folder(), 0) != 0 && file.rfind("<frozen ", 0) != 0) {
      return {file, PyFrame_GetLineNumber(raw)};
    }
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject *>(PyFrame_GetBack(raw)));
  }
  return {};
}

int dimension_of_axis(int axis, int n) {
  const int from_front = axis < 0 ? axis + n : axis;
  if (from_front < 0 || from_front >= n) {
    throw py::index_error("axis " + std::to_string(axis) + " of " + std::to_string(n) +
                          (n == 1 ? " axis" : " axes"));
  }
  return n - 1 - from_front;
}

}  // namespace polyhalite::python
