// Elements of tensors in the ONNX format as numpy's arrays, and back.
#pragma once

#include "apps/onnx/constant.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

/// A Python object that may be let go without the GIL.
std::shared_ptr<const void> keep(py::object o);

/// An array's elements, without a copy where they lie in order. TypeError, which names the input,
/// for elements that the format has not.
onnx::Constant constant_of(const std::string &name, const py::object &value);

/// Without a copy, but of integers of fewer than 8 bits. TypeError where the elements are known to
/// numpy through the package ml_dtypes only, and it is not there.
py::object array_of(const onnx::Constant &c);

}  // namespace polyhalite::python
