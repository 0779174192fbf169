// The library's errors as Python's exceptions, and its warnings as Python's warnings.
#include <cstdlib>

#include "polyhalite/cancellation.h"
#include "polyhalite/error.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

py::object error_class(const char *name) {
  return py::module_::import("polyhalite._errors").attr(name);
}

// Names from a file may hold any bytes.
py::str readable(const std::string &text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
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

// A diagnostic's text, "FILE:LINE: KIND: WHAT\n  why: WHY\n  fix: FIX", taken apart.
Diagnostic parsed(const std::string &text, const std::string &kind) {
  Diagnostic d;
  const size_t at = std::min(text.find(kind + ": "), text.size());
  const size_t colon = at < 3 ? std::string::npos : text.rfind(':', at - 3);
  if (colon != std::string::npos) {
    d.where = {text.substr(0, colon), std::atoi(text.c_str() + colon + 1)};
  }
  std::string rest = text.substr(std::min(at + kind.size() + 2, text.size()));
  auto cut = [&](const std::string &word) {
    const size_t begin = rest.rfind("\n  " + word + ": ");
    if (begin == std::string::npos) return std::string();
    const std::string part = rest.substr(begin + word.size() + 5);
    rest.resize(begin);
    return part;
  };
  d.fix = cut("fix");
  d.why = cut("why");
  d.what = rest;
  return d;
}

// Warnings become Python's. Errors stay exceptions.
class Reporter : public CompileTimeErrorReporter {
 public:
  void warning(const char *message) override {
    // warnings.simplefilter("error") makes exceptions of warnings: they pass through the library.
    py::gil_scoped_acquire gil;
    py::module_::import("polyhalite._errors").attr("warn")(to_python(parsed(message, "Warning")));
  }
  [[noreturn]] void error(const char *message) override {
    throw CompileError(parsed(message, "error"));
  }
};

}  // namespace

py::object to_python(const Diagnostic &d) {
  return error_class("Diagnostic")(readable(d.what), readable(d.why), readable(d.fix),
                                   readable(d.where.file), d.where.line);
}

void bind_errors(py::module_ &m) {
  m.def("_place", [] {
    const SourceLocation where = place();
    return py::make_tuple(std::string(where.file), where.line);
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
  static Reporter *const reporter = new Reporter;  // until the process ends
  set_custom_compile_time_error_reporter(reporter);
}

}  // namespace polyhalite::python
