// The library's errors as Python's exceptions, and its warnings as Python's warnings.
#include "polyhalite/cancellation.h"
#include "polyhalite/error.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

py::object error_class(const char *name) {
  return py::module_::import("polyhalite._errors").attr(name);
}

py::object to_python(const Diagnostic &d) {
  return error_class("Diagnostic")(d.what, d.why, d.fix, d.where.file, d.where.line);
}

// Raises polyhalite.NAME. An error without a place has that of the Python line that runs.
void raise(const char *name, const Error &e) {
  py::list diagnostics;
  for (Diagnostic d : e.diagnostics()) {
    if (d.where.line == 0) d.where = place();
    diagnostics.append(to_python(d));
  }
  const py::object cls = error_class(name);
  PyErr_SetObject(cls.ptr(), cls(diagnostics).ptr());
}

void warn(const Diagnostic &d) {
  // warnings.simplefilter("error") makes exceptions of warnings: they pass through the library.
  py::gil_scoped_acquire gil;
  py::module_::import("polyhalite._errors").attr("warn")(to_python(d));
}

}  // namespace

void bind_errors(py::module_ &m) {
  m.def("_place", [] {
    const SourceLocation where = place();
    return py::make_tuple(where.file, where.line);
  });
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Cancelled &e) {
      raise("Cancelled", e);
    } catch (const CompileError &e) {
      raise("CompileError", e);
    } catch (const polyhalite::RuntimeError &e) {
      raise("RuntimeError", e);
    } catch (const InternalError &e) {
      raise("InternalError", e);
    } catch (const Error &e) {
      raise("Error", e);
    }
  });
  set_warning_handler(warn);
}

}  // namespace polyhalite::python
