// The words that say where a Func is computed and stored, and how its storage is laid out.
#include "polyhalite/func.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Self = const py::object &;

Func &of(Self s) { return s.cast<Func &>(); }

// (func, loop) or one LoopLevel.
template <typename AtLoop, typename AtLevel>
auto at_level(AtLoop at_loop, AtLevel at_place) {
  return [=](Self s, const py::object &consumer, const py::object &loop) {
    if (py::isinstance<LoopLevel>(consumer)) {
      at_place(of(s), consumer.cast<const LoopLevel &>());
    } else if (loop.is_none()) {
      throw py::type_error(
          "a level without a loop\n  why: a Func is placed at a loop of another "
          "one\n  fix: name both, as in compute_at(consumer, x), or a LoopLevel");
    } else {
      at_loop(of(s), to_func(consumer), to_loop(loop).v);
    }
    return s;
  };
}

void bind_levels(py::module_ &m) {
  py::class_<LoopLevel>(m, "LoopLevel", R"(A place for compute_at and store_at.

LoopLevel(func, loop) is a loop of a Func's stage. Copies share the place, and set() gives all of them
another one until a pipeline that has it is compiled.)")
      .def(py::init<>())
      .def(py::init([](AnyFunc f, Loop loop, int stage) { return LoopLevel(f.f, loop.v, stage); }),
           py::arg("func"), py::arg("loop"), py::arg("stage") = -1)
      .def_static(
          "root", [] { return LoopLevel::root(here()); }, "Outside of all loops.")
      .def_static("inlined", [] { return LoopLevel::inlined(here()); })
      .def("defined", &LoopLevel::defined)
      .def(
          "set", [](LoopLevel &l, const LoopLevel &other) { l.set(other, here()); },
          py::arg("other"))
      .def("__repr__", [](const LoopLevel &l) {
        return l.defined() ? std::string("<polyhalite.LoopLevel>")
                           : std::string("<polyhalite.LoopLevel, undefined>");
      });
}

void bind_places(py::class_<Func> &func) {
  const char *level = "(consumer, loop) or a LoopLevel.";
  func.def(
          "compute_root",
          [](Self s) {
            of(s).compute_root(here());
            return s;
          },
          "Computed in full before its first use.")
      .def(
          "compute_inline",
          [](Self s) {
            of(s).compute_inline(here());
            return s;
          },
          "Computed anew at each use.")
      .def("compute_at",
           at_level([](Func &f, const Func &c, const VarOrRVar &v) { f.compute_at(c, v); },
                    [](Func &f, const LoopLevel &l) { f.compute_at(l, here()); }),
           py::arg("consumer"), py::arg("loop") = py::none(),
           "What an iteration of the consumer's loop needs is computed at its begin. (consumer, "
           "loop) or a LoopLevel.")
      .def("store_root",
           [](Self s) {
             of(s).store_root(here());
             return s;
           })
      .def("store_at",
           at_level([](Func &f, const Func &c, const VarOrRVar &v) { f.store_at(c, v); },
                    [](Func &f, const LoopLevel &l) { f.store_at(l, here()); }),
           py::arg("consumer"), py::arg("loop") = py::none(), level)
      .def("hoist_storage",
           at_level([](Func &f, const Func &c, const VarOrRVar &v) { f.hoist_storage(c, v); },
                    [](Func &f, const LoopLevel &l) { f.hoist_storage(l, here()); }),
           py::arg("consumer"), py::arg("loop") = py::none(),
           "Memory is taken once outside of the loop. (consumer, loop) or a LoopLevel.")
      .def("hoist_storage_root",
           [](Self s) {
             of(s).hoist_storage_root(here());
             return s;
           })
      .def(
          "ring_buffer",
          [](Self s, Value extent) {
            of(s).ring_buffer(extent, here());
            return s;
          },
          py::arg("extent"), "Hoisted memory holds so many storages, taken in turn.")
      .def(
          "async_",
          [](Self s) {
            of(s).async(here());
            return s;
          },
          "Productions run in a task beside what consumes them.")
      .def(
          "memoize",
          [](Self s, const py::object &key) {
            of(s).memoize(key.is_none() ? EvictionKey() : EvictionKey(to_expr(key)), here());
            return s;
          },
          py::arg("key") = py::none(), "Keeps what a production computes beyond the run.")
      .def(
          "copy_to_device",
          [](Self s, DeviceAPI api) {
            of(s).copy_to_device(api, here());
            return s;
          },
          py::arg("device") = DeviceAPI::Default_GPU)
      .def("copy_to_host", [](Self s) {
        of(s).copy_to_host(here());
        return s;
      });
}

void bind_wrappers(py::class_<Func> &func) {
  func.def(
          "in_",
          [](Func &f, const py::args &consumers) {
            if (consumers.empty()) return f.in(here());
            std::vector<Func> list;
            for (const py::object &c : spread(consumers)) list.push_back(to_func(c));
            return list.size() == 1 ? f.in(list[0], here()) : f.in(list, here());
          },
          "A Func between this one and its consumers, or all of them, to be scheduled.")
      .def(
          "clone_in",
          [](Func &f, const py::args &consumers) {
            std::vector<Func> list;
            for (const py::object &c : spread(consumers)) list.push_back(to_func(c));
            return list.size() == 1 ? f.clone_in(list[0], here()) : f.clone_in(list, here());
          },
          "A copy of this Func that the consumers read in its place.")
      .def(
          "change_type",
          [](Func &f, AnyType t, bool unproven) { return f.change_type(t.t, unproven, here()); },
          py::arg("type"), py::arg("unproven") = false,
          "Computes the values in another type; this Func becomes a cast of them.");
}

void bind_bounds(py::class_<Func> &func) {
  func.def(
          "bound",
          [](Self s, Loop var, Value min, Value extent) {
            of(s).bound(var, min, extent);
            return s;
          },
          py::arg("var"), py::arg("min"), py::arg("extent"),
          "Promises that the Func is needed over [min, min + extent) only; checked.")
      .def(
          "bound_extent",
          [](Self s, Loop var, Value extent) {
            of(s).bound_extent(var, extent);
            return s;
          },
          py::arg("var"), py::arg("extent"))
      .def(
          "align_bounds",
          [](Self s, Loop var, Value modulus, Value remainder) {
            of(s).align_bounds(var, modulus, remainder);
            return s;
          },
          py::arg("var"), py::arg("modulus"), py::arg("remainder") = 0,
          "Grows the region: its min is `remainder` modulo `modulus`, its extent a multiple.")
      .def(
          "align_extent",
          [](Self s, Loop var, Value modulus) {
            of(s).align_extent(var, modulus);
            return s;
          },
          py::arg("var"), py::arg("modulus"))
      .def(
          "set_estimate",
          [](Self s, Loop var, Value min, Value extent) {
            of(s).set_estimate(var, min, extent);
            return s;
          },
          py::arg("var"), py::arg("min"), py::arg("extent"),
          "Bounds that an auto-scheduler may assume.")
      .def(
          "set_estimates",
          [](Self s, const py::object &bounds) {
            of(s).set_estimates(to_region(bounds), here());
            return s;
          },
          py::arg("bounds"), "[(min, extent), ...] of the axes.");
}

void bind_storage(py::class_<Func> &func) {
  func.def(
          "reorder_storage",
          [](Self s, const py::args &dims) {
            std::vector<Var> list;
            for (const py::object &d : spread(dims)) list.push_back(d.cast<Var>());
            of(s).reorder_storage(list, here());
            return s;
          },
          "The order of the dimensions in memory, innermost first.")
      .def(
          "align_storage",
          [](Self s, Loop dim, Value alignment) {
            of(s).align_storage(dim, alignment);
            return s;
          },
          py::arg("dim"), py::arg("alignment"))
      .def(
          "pack",
          [](Self s, Loop dim, Value factor) {
            of(s).pack(dim, factor);
            return s;
          },
          py::arg("dim"), py::arg("factor"),
          "Stores a dimension in blocks of `factor` cells, each block dense in memory.")
      .def(
          "fold_storage",
          [](Self s, Loop dim, Value extent, bool fold_forward) {
            of(s).fold_storage(dim, extent, fold_forward);
            return s;
          },
          py::arg("dim"), py::arg("extent"), py::arg("fold_forward") = true,
          "Stores a dimension in a ring of `extent` cells.")
      .def(
          "bound_storage",
          [](Self s, Loop dim, Value extent) {
            of(s).bound_storage(dim, extent);
            return s;
          },
          py::arg("dim"), py::arg("extent"))
      .def(
          "in_place",
          [](Self s, const Func &func) {
            of(s).in_place(func, here());
            return s;
          },
          py::arg("func"), "Computes this Func in the memory of another one, which it reads.")
      .def(
          "store_in",
          [](Self s, MemoryType memory) {
            of(s).store_in(memory, here());
            return s;
          },
          py::arg("memory"));
}

void bind_tracing(py::class_<Func> &func) {
  func.def("trace_loads",
           [](Self s) {
             of(s).trace_loads(here());
             return s;
           })
      .def("trace_stores",
           [](Self s) {
             of(s).trace_stores(here());
             return s;
           })
      .def("trace_realizations",
           [](Self s) {
             of(s).trace_realizations(here());
             return s;
           })
      .def(
          "add_trace_tag",
          [](Self s, const std::string &text) {
            of(s).add_trace_tag(text, here());
            return s;
          },
          py::arg("text"))
      .def(
          "debug_to_file",
          [](Func &f, const std::string &filename) { f.debug_to_file(filename, here()); },
          py::arg("filename"),
          "Writes the values to a file when they are whole: .npy, .tif, .mat or raw.");
}

}  // namespace

void bind_placement(py::module_ &m) {
  bind_levels(m);
  auto func = py::reinterpret_borrow<py::class_<Func>>(m.attr("Func"));
  bind_places(func);
  bind_wrappers(func);
  bind_bounds(func);
  bind_storage(func);
  bind_tracing(func);
}

}  // namespace polyhalite::python
