// The auto-scheduler.
#include "polyhalite/autoscheduler.h"

#include "python/bind/doors.h"

namespace polyhalite::python {

namespace {

// {"budget": "10s", "beam": 4} as texts.
std::map<std::string, std::string> to_options(const py::kwargs &options) {
  std::map<std::string, std::string> texts;
  for (const auto &[key, value] : options) {
    texts[py::cast<std::string>(key)] = py::cast<std::string>(py::str(value));
  }
  return texts;
}

Target target_or_jit(const Target &t) {
  return t == Target() ? get_jit_target_from_environment() : t;
}

}  // namespace

void bind_autoscheduling(py::module_ &m) {
  py::class_<AutoSchedulerResults>(
      m, "AutoSchedulerResults",
      "What an auto-scheduler wrote: directives as text, in C++ and in "
      "Python, and a report of what was chosen over what.")
      .def_readonly("target", &AutoSchedulerResults::target)
      .def_readonly("schedule_text", &AutoSchedulerResults::schedule_text)
      .def_readonly("schedule_python", &AutoSchedulerResults::schedule_python)
      .def_readonly("schedule_source", &AutoSchedulerResults::schedule_source, "C++.")
      .def_readonly("report", &AutoSchedulerResults::report)
      .def("__str__", [](const AutoSchedulerResults &r) { return r.report; });
  m.def(
      "auto_schedule",
      [](const py::object &pipeline, const Target &target, const py::kwargs &options) {
        const Pipeline p = to_pipeline(pipeline);
        const std::map<std::string, std::string> texts = to_options(options);
        const Here at = here();
        py::gil_scoped_release released;
        return auto_schedule(p, target_or_jit(target), texts, at);
      },
      py::arg("pipeline"), py::arg("target") = Target(),
      "Completes the schedule of a Func or Pipeline: what the program has scheduled stays, the "
      "rest "
      "is chosen for sizes like the estimates (set_estimates). Options: parallelism, budget "
      "(\"10s\"), beam, seed, measure, records. CompileError where an output has no estimate.");
  auto pipeline = py::reinterpret_borrow<py::class_<Pipeline>>(m.attr("Pipeline"));
  pipeline.def(
      "apply_autoscheduler",
      [](const Pipeline &p, const std::string &name, const Target &target,
         const py::kwargs &options) {
        const AutoschedulerParams params(name, to_options(options));
        const Here at = here();
        py::gil_scoped_release released;
        return p.apply_autoscheduler(target_or_jit(target), params, at);
      },
      py::arg("name"), py::arg("target") = Target(),
      "Has the auto-scheduler of this name write directives to the Funcs.");
  m.def(
      "load_plugin", [](const std::string &name) { load_plugin(name, here()); }, py::arg("name"),
      "Loads a library that registers auto-schedulers.");
}

}  // namespace polyhalite::python
