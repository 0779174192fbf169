// Running pipelines: realize, Callable, and the handlers that Python programs give.
#include <optional>

#include "polyhalite/callable.h"
#include "polyhalite/cancellation.h"
#include "polyhalite/pipeline.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Self = const py::object &;

// The context of one call, with handlers in Python. They run in whatever thread the pipeline needs
// them, with the GIL; what they raise ends the call and is raised by realize().
struct PythonContext : JITUserContext {
  py::object print, error, trace;

  PythonContext(py::object print_with, py::object error_with, py::object trace_with)
      : print(std::move(print_with)), error(std::move(error_with)), trace(std::move(trace_with)) {
    // Without a handler, texts go where print() of Python writes to.
    handlers.custom_print = [](JITUserContext *context, const char *text) {
      py::gil_scoped_acquire gil;
      const py::object &handler = of(context).print;
      if (handler.is_none()) {
        py::module_::import("sys").attr("stdout").attr("write")(text);
      } else {
        handler(text);
      }
    };
    if (!error.is_none()) {
      handlers.custom_error = [](JITUserContext *context, const char *message) {
        py::gil_scoped_acquire gil;
        of(context).error(message);
      };
    }
    if (!trace.is_none()) handlers.custom_trace = report_event;
  }

 private:
  static PythonContext &of(JITUserContext *context) {
    return *static_cast<PythonContext *>(context);
  }
  static int32_t report_event(JITUserContext *context, const polyhalite_trace_event_t *event);
};

const char *event_name(int event) {
  constexpr const char *kNames[] = {
      "load",    "store",       "begin_realization", "end_realization", "produce", "end_produce",
      "consume", "end_consume", "begin_pipeline",    "end_pipeline",    "tag"};
  return event >= 0 && event < 11 ? kNames[event] : "unknown";
}

int32_t PythonContext::report_event(JITUserContext *context,
                                    const polyhalite_trace_event_t *event) {
  py::gil_scoped_acquire gil;
  py::dict d;
  d["func"] = event->func ? event->func : "";
  d["event"] = event_name(event->event);
  d["parent"] = event->parent_id;
  d["value_index"] = event->value_index;
  const bool is_access =
      event->event == polyhalite_trace_load || event->event == polyhalite_trace_store;
  const int lanes = std::max<int>(event->type.lanes, 1);
  py::list places;
  if (is_access) {
    // The indices of all lanes stand dimension by dimension.
    for (int lane = 0; lane < lanes; lane++) {
      py::list at;
      for (int i = event->dimensions / lanes - 1; i >= 0; i--) {
        at.append(event->coordinates[i * lanes + lane]);
      }
      places.append(py::tuple(at));
    }
  } else {
    for (int i = event->dimensions / 2 - 1; i >= 0; i--) {
      places.append(py::make_tuple(event->coordinates[2 * i], event->coordinates[2 * i + 1]));
    }
  }
  d[is_access ? "coordinates" : "bounds"] = places;
  if (event->value) {
    const Type type = Type(event->type).element_of();
    // A copy: the values live as long as the event.
    const Buffer<> values(type, const_cast<void *>(event->value), {lanes});
    d["values"] = py::cast(values.copy()).attr("numpy")();
  }
  if (event->trace_tag && *event->trace_tag) d["tag"] = event->trace_tag;
  const py::object id = of(context).trace(d);
  return id.is_none() ? 0 : id.cast<int32_t>();
}

// f(context) with the one that is given, or one of its own.
template <typename F>
auto with_context(const py::object &given, F f) {
  if (!given.is_none()) return f(&given.cast<PythonContext &>());
  PythonContext own{py::none(), py::none(), py::none()};
  return f(&own);
}

bool is_size(py::handle h) { return PyIndex_Check(h.ptr()) && !py::isinstance<Expr>(h); }

int to_size(py::handle h) {
  const py::object n = py::reinterpret_steal<py::object>(PyNumber_Index(h.ptr()));
  if (!n) throw py::error_already_set();
  int overflow = 0;
  const long long size = PyLong_AsLongLongAndOverflow(n.ptr(), &overflow);
  if (overflow != 0 || size < INT32_MIN || size > INT32_MAX) {
    user_error("realize() of a size of " + py::cast<std::string>(py::str(n)),
               "sizes and coordinates are 32-bit integers", "realize parts of the output", place());
  }
  return static_cast<int>(size);
}

// A list of sizes, in Python's order; none where `where` names buffers.
std::optional<std::vector<int>> as_sizes(const py::object &where) {
  if (where.is_none()) return std::vector<int>{};
  if (is_size(where) && !py::hasattr(where, "__array__"))
    return std::vector<int>{to_size(where)};
  if (!py::isinstance<py::tuple>(where) && !py::isinstance<py::list>(where)) return {};
  std::vector<int> sizes;
  for (const py::handle s : where) {
    if (!is_size(s) || py::hasattr(s, "shape") != py::hasattr(s, "item")) return {};
    if (py::hasattr(s, "ndim") && s.attr("ndim").cast<int>() != 0) return {};
    sizes.push_back(to_size(s));
  }
  return reversed(std::move(sizes));
}

std::vector<Buffer<>> to_buffers(const py::object &where) {
  std::vector<Buffer<>> list;
  if (py::isinstance<py::tuple>(where) || py::isinstance<py::list>(where)) {
    for (const py::handle b : where) {
      list.push_back(to_buffer(py::reinterpret_borrow<py::object>(b)));
    }
  } else {
    list.push_back(to_buffer(where));
  }
  return list;
}

py::object realize(Self self, const py::object &where, const Target &target,
                   const py::object &context) {
  Pipeline p = to_pipeline(self);
  const Here at = here();
  if (const auto sizes = as_sizes(where)) {
    const Realization r = with_context(context, [&](JITUserContext *c) {
      py::gil_scoped_release released;
      return p.realize(c, *sizes, target, at);
    });
    if (r.size() == 1) return py::cast(Buffer<>(r[0]));
    py::tuple all(r.size());
    for (size_t i = 0; i < r.size(); i++) all[i] = py::cast(Buffer<>(r[i]));
    return all;
  }
  const std::vector<Buffer<>> outputs = to_buffers(where);
  with_context(context, [&](JITUserContext *c) {
    py::gil_scoped_release released;
    p.realize(c, RealizationArg(outputs), target, at);
    return 0;
  });
  return py::none();
}

void infer_input_bounds(Self self, const py::object &where, const Target &target) {
  Pipeline p = to_pipeline(self);
  const Here at = here();
  if (const auto sizes = as_sizes(where)) {
    py::gil_scoped_release released;
    return p.infer_input_bounds(*sizes, target, at);
  }
  const std::vector<Buffer<>> outputs = to_buffers(where);
  py::gil_scoped_release released;
  p.infer_input_bounds(RealizationArg(outputs), target, at);
}

[[noreturn]] void wrong_arguments(const std::string &what, const std::string &why,
                                  const std::string &fix) {
  user_error(what, why, fix, place());
}

std::string argument_names(const std::vector<Argument> &list) {
  std::string s;
  for (const Argument &a : list) s += (s.empty() ? "" : ", ") + a.name;
  return s;
}

// What stands for each argument of a call, by position and then by name.
std::vector<py::object> matched(const std::vector<Argument> &wanted, const py::args &args,
                                const py::kwargs &named) {
  if (args.size() > wanted.size()) {
    wrong_arguments("a Callable got " + std::to_string(args.size()) + " arguments",
                    "it takes " + std::to_string(wanted.size()) + ": " + argument_names(wanted),
                    "give one value for each, inputs and then outputs");
  }
  std::vector<py::object> values(wanted.size());
  for (size_t i = 0; i < args.size(); i++) values[i] = args[i];
  for (const auto &[key, value] : named) {
    const std::string name = py::cast<std::string>(key);
    if (name == "context") continue;
    size_t i = 0;
    while (i < wanted.size() && wanted[i].name != name) i++;
    if (i == wanted.size()) {
      wrong_arguments("a Callable has no argument '" + name + "'",
                      "its arguments are: " + argument_names(wanted), "name one of them");
    }
    if (values[i]) {
      wrong_arguments("argument '" + name + "' of a Callable is given twice",
                      "it stands among the values without names too", "give it once");
    }
    values[i] = py::reinterpret_borrow<py::object>(value);
  }
  for (size_t i = 0; i < wanted.size(); i++) {
    if (values[i]) continue;
    wrong_arguments("argument '" + wanted[i].name + "' of a Callable is missing",
                    "its arguments are: " + argument_names(wanted),
                    "give one value for each, inputs and then outputs");
  }
  return values;
}

void run_callable(const Callable &callable, const py::args &args, const py::kwargs &named) {
  const std::vector<Argument> &wanted = callable.arguments();
  const std::vector<py::object> values = matched(wanted, args, named);
  std::vector<Buffer<>> buffers;  // alive during the call
  std::vector<detail::CallArgument> list;
  for (size_t i = 0; i < wanted.size(); i++) {
    if (wanted[i].is_buffer()) {
      buffers.push_back(to_buffer(values[i]));
      list.push_back(detail::call_argument(buffers.back()));
      list.back().type = buffers.back().type();
      list.back().dimensions = buffers.back().dimensions();
    } else {
      detail::CallArgument a;
      a.type = wanted[i].type;
      a.bits = to_scalar_bits(wanted[i].type, wanted[i].name, values[i]);
      list.push_back(a);
    }
  }
  const py::object context = named.contains("context") ? py::object(named["context"]) : py::none();
  with_context(context, [&](JITUserContext *c) {
    py::gil_scoped_release released;
    return callable.call(c, list);
  });
}

}  // namespace

void bind_running(py::module_ &m) {
  py::class_<PythonContext>(m, "JITUserContext", R"(Handlers for one or several calls.

print(text) takes what pipelines print (sys.stdout without it), error(message) the message of a
failed call, which then returns as if nothing had happened, trace(event) a dict for each trace event.
What a handler raises ends the call and is raised by it.)")
      .def(py::init<py::object, py::object, py::object>(), py::arg("print") = py::none(),
           py::arg("error") = py::none(), py::arg("trace") = py::none())
      .def_readwrite("print", &PythonContext::print)
      .def_readonly("error", &PythonContext::error)
      .def_readonly("trace", &PythonContext::trace);

  py::class_<Pipeline> pipeline(
      m, "Pipeline", "One or several output Funcs, compiled together: Pipeline([f, g]).");
  pipeline
      .def(py::init([](const py::object &outputs) { return Pipeline(to_funcs(outputs)); }),
           py::arg("outputs"))
      .def("outputs", [](const Pipeline &p) -> std::vector<Func> { return p.outputs(); })
      .def("trace_pipeline", [](Pipeline &p) { p.trace_pipeline(here()); })
      .def(
          "add_requirement",
          [](Pipeline &p, Value condition, const py::args &message) {
            p.add_requirement(condition.e, to_message(message), here());
          },
          "Checked before a run computes anything; the message's texts and values are the error's.")
      .def("__repr__", [](const Pipeline &p) {
        std::string s;
        for (const Func &f : p.outputs()) s += (s.empty() ? "" : ", ") + f.name();
        return "<polyhalite.Pipeline of " + s + ">";
      });

  Classes both({m.attr("Func"), pipeline});
  both.def(
          "realize", &realize, py::arg("where") = py::none(), py::arg("target") = Target(),
          py::arg("context") = py::none(),
          "realize([n, m]) computes the box of this shape, from 0 on, and returns a Buffer, or a "
          "tuple of Buffers for several outputs. realize(array) or realize([a, b]) writes to "
          "arrays "
          "or Buffers that exist, over the coordinates that they have. Compiles for this machine "
          "where definitions or directives have changed. CompileError where the pipeline cannot be "
          "compiled, RuntimeError where it fails. Other threads run meanwhile.")
      .def("infer_input_bounds", &infer_input_bounds, py::arg("where") = py::none(),
           py::arg("target") = Target(),
           "Sets each ImageParam that has no array to a new one of the shape that is needed.")
      .def(
          "compile_jit",
          [](Self s, const Target &target) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            p.compile_jit(target == Target() ? get_jit_target_from_environment() : target);
          },
          py::arg("target") = Target())
      .def(
          "invalidate_cache",
          [](Self s) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            p.invalidate_cache();
          },
          "Compiles anew at the next use.")
      .def(
          "compile_times",
          [](Self s) {
            Pipeline p = to_pipeline(s);
            CompileTimes t;
            {
              py::gil_scoped_release released;
              t = p.compile_times();
            }
            py::dict d;
            d["schedule"] = t.schedule;
            d["survey"] = t.survey;
            d["judge"] = t.judge;
            d["lower"] = t.lower;
            d["llvm"] = t.llvm;
            d["total"] = t.total();
            return d;
          },
          "Of the last compilation in process, in seconds.")
      .def(
          "compile_to_callable",
          [](Self s, const std::vector<Argument> &args, const Target &target) {
            Pipeline p = to_pipeline(s);
            py::gil_scoped_release released;
            return p.compile_to_callable(
                args, target == Target() ? get_jit_target_from_environment() : target);
          },
          py::arg("args"), py::arg("target") = Target(),
          "Compiled as a function of these inputs and the outputs, which are arrays or Buffers.");

  py::class_<Callable>(m, "Callable", R"(A pipeline compiled in process, called like a function.

Inputs stand in the order that compile_to_callable() was given, then outputs; each may be named.
Arrays are shared. Several threads may call it.)")
      .def("__call__", &run_callable)
      .def("arguments", &Callable::arguments);

  py::class_<Cancellation>(m, "Cancellation", "A request, from any thread, to end compilations.")
      .def(py::init<>())
      .def("request", &Cancellation::request)
      .def("requested", &Cancellation::requested);
}

}  // namespace polyhalite::python
