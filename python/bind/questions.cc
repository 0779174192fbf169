// What a schedule may say next.
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Self = const py::object &;

}  // namespace

void bind_questions(py::module_ &m) {
  Classes both({m.attr("Func"), m.attr("Pipeline")});
  both.def(
          "why_not",
          [](Self s, const std::string &directives,
             const Target &target) -> std::optional<py::object> {
            const Pipeline p = to_pipeline(s);
            const Here at = here();
            std::optional<Diagnostic> answer;
            {
              py::gil_scoped_release released;
              answer = p.why_not(directives, target_or_environment(target), at);
            }
            if (!answer) return std::nullopt;
            return to_python(*answer);
          },
          py::arg("directives"), py::arg("target") = Target(),
          "What compiling would say if these directives stood behind the schedule so far: a "
          "Diagnostic, with the instances that they would break, or None where they are legal. "
          "One directive a line, in the text form of a Schedule: \"f.update(0).parallel(r)\", "
          "\"f.vectorize(x, 8)\". Nothing is changed. A text that is broken, and names that are "
          "not there, are answered by a Diagnostic as well.")
      .def(
          "legal_alternatives",
          [](Self s, const py::object &stage, const Target &target) {
            const Pipeline p = to_pipeline(s);
            const Stage of = to_stage(stage);
            const Here at = here();
            py::gil_scoped_release released;
            return p.legal_alternatives(of, target_or_environment(target), at);
          },
          py::arg("stage"), py::arg("target") = Target(),
          "What the schedule may say next about a Func or a Stage of this pipeline: texts for "
          "why_not(), which has nothing against them. Of what could be said, any factor and any "
          "number of steps, it is a choice. CompileError where the schedule so far is illegal.");
}

}  // namespace polyhalite::python
