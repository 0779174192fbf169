// The module polyhalite._core: what the package binds, subject by subject.
#include "python/bind/bind.h"
#include "python/bind/doors.h"

PYBIND11_MODULE(_core, m) {
  using namespace polyhalite::python;  // NOLINT
  m.doc() = "The compiled part of polyhalite.";
  m.attr("version") = POLYHALITE_VERSION;
  bind_errors(m);
  bind_types(m);
  bind_targets(m);
  bind_variables(m);
  bind_operators(m);
  bind_buffers(m);
  bind_params(m);
  bind_funcs(m);
  bind_loops(m);
  bind_placement(m);
  bind_math(m);
  bind_reductions(m);
  bind_effects(m);
  bind_running(m);
  bind_compiling(m);
  bind_autoscheduling(m);
  bind_texts(m);
  bind_questions(m);
  bind_generators(m);
  bind_onnx(m);
}
