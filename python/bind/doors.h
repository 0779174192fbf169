// What the module offers beside the language.
#pragma once

#include "python/bind/bind.h"

namespace polyhalite::python {

void bind_autoscheduling(py::module_ &m);
void bind_onnx(py::module_ &m);

}  // namespace polyhalite::python
