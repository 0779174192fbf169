// The words that schedule the loops of one stage, for Func and Stage alike.
//
// Each is a directive of lang/include/polyhalite/stage.h and returns the object that it is called
// on. Loops are named, so that they stand in C++'s order: innermost first.
#include "polyhalite/stage.h"

#include "polyhalite/func.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Self = const py::object &;
constexpr TailStrategy kAuto = TailStrategy::Auto;
constexpr DeviceAPI kGpu = DeviceAPI::Default_GPU;

std::vector<Expr> to_factors(const py::object &values) {
  std::vector<Expr> list;
  for (const py::handle v : values) list.push_back(to_expr(v));
  return list;
}
std::vector<VarOrRVar> loop_list(const py::object &values) {
  std::vector<VarOrRVar> list;
  for (const py::handle v : values) list.push_back(to_loop(v).v);
  return list;
}

void bind_splits(Classes &stages) {
  stages
      .def(
          "split",
          [](Self s, Loop old, Loop outer, Loop inner, Value factor, TailStrategy tail) {
            to_stage(s).split(old, outer, inner, factor, tail);
            return s;
          },
          py::arg("old"), py::arg("outer"), py::arg("inner"), py::arg("factor"),
          py::arg("tail") = kAuto,
          "old -> outer*factor + inner. `outer` or `inner` may repeat the name of `old`.")
      .def(
          "fuse",
          [](Self s, Loop inner, Loop outer, Loop fused) {
            to_stage(s).fuse(inner, outer, fused);
            return s;
          },
          py::arg("inner"), py::arg("outer"), py::arg("fused"),
          "The opposite of split: one loop over inner and outer.")
      .def(
          "reorder",
          [](Self s, const py::args &loops) {
            to_stage(s).reorder(to_loops(spread(loops)));
            return s;
          },
          "Innermost first; loops that are not named keep their places.")
      .def(
          "rename",
          [](Self s, Loop old, Loop fresh) {
            to_stage(s).rename(old, fresh);
            return s;
          },
          py::arg("old"), py::arg("new"))
      .def(
          "skew",
          [](Self s, Loop loop, Loop by, const py::object &skewed, const py::object &factor) {
            if (factor.is_none()) {
              to_stage(s).skew(loop, by, to_expr(skewed));
            } else {
              to_stage(s).skew(loop, by, to_loop(skewed), to_expr(factor));
            }
            return s;
          },
          py::arg("loop"), py::arg("by"), py::arg("skewed"), py::arg("factor") = py::none(),
          "skew(loop, by, skewed, factor): counts loop by loop + factor*by; skew(loop, by, factor) "
          "keeps its name. A stencil's loops, skewed by its loop over time, may be tiled and run "
          "in "
          "wavefronts.")
      .def(
          "reverse",
          [](Self s, Loop loop) {
            to_stage(s).reverse(loop);
            return s;
          },
          py::arg("loop"), "Runs the loop's iterations in the opposite order.")
      .def(
          "shift",
          [](Self s, Loop loop, Value offset) {
            to_stage(s).shift(loop, offset);
            return s;
          },
          py::arg("loop"), py::arg("offset"),
          "Counts the loop from another number on: loop + offset.")

      .def(
          "tile",
          [](Self s, const py::args &a, const py::kwargs &named) {
            TailStrategy tail = kAuto;
            for (const auto &[key, value] : named) {
              if (py::cast<std::string>(key) != "tail") {
                throw py::type_error("tile() has no argument '" + py::cast<std::string>(key) + "'");
              }
              tail = value.cast<TailStrategy>();
            }
            std::vector<py::object> list;
            for (const py::handle v : a) list.push_back(py::reinterpret_borrow<py::object>(v));
            std::vector<TailStrategy> tails;
            if (!list.empty() && py::isinstance<TailStrategy>(list.back())) {
              tail = list.back().cast<TailStrategy>();
              list.pop_back();
            } else if (list.size() == 5 && is_tuple(list[0])) {
              tails = list.back().cast<std::vector<TailStrategy>>();
              list.pop_back();
            }
            Stage stage = to_stage(s);
            if (list.size() == 4 && is_tuple(list[0])) {
              if (tails.empty()) {
                stage.tile(loop_list(list[0]), loop_list(list[1]), loop_list(list[2]),
                           to_factors(list[3]), tail);
              } else {
                stage.tile(loop_list(list[0]), loop_list(list[1]), loop_list(list[2]),
                           to_factors(list[3]), tails);
              }
            } else if (list.size() == 3 && is_tuple(list[0])) {
              stage.tile(loop_list(list[0]), loop_list(list[1]), to_factors(list[2]), tail);
            } else if (list.size() == 8) {
              stage.tile(to_loop(list[0]).v, to_loop(list[1]).v, to_loop(list[2]).v,
                         to_loop(list[3]).v, to_loop(list[4]).v, to_loop(list[5]).v,
                         to_expr(list[6]), to_expr(list[7]), tail);
            } else if (list.size() == 6) {
              stage.tile(to_loop(list[0]).v, to_loop(list[1]).v, to_loop(list[2]).v,
                         to_loop(list[3]).v, to_expr(list[4]), to_expr(list[5]), tail);
            } else {
              throw py::type_error(
                  "tile() of " + std::to_string(list.size()) +
                  " arguments\n  why: it names two loops and their parts, or lists of them\n  fix: "
                  "write tile(x, y, xi, yi, 8, 4), tile(x, y, xo, yo, xi, yi, 8, 4) or tile([x, "
                  "y], [xo, yo], [xi, yi], [8, 4])");
            }
            return s;
          },
          "tile(x, y, xi, yi, 8, 4): splits x and y and orders the loops xi, yi, x, y, innermost "
          "first. tile(x, y, xo, yo, xi, yi, 8, 4) names the outer loops; lists take any number of "
          "dimensions: tile([x, y], [xo, yo], [xi, yi], [8, 4]). The tail stands last.");
}

void bind_kinds(Classes &stages) {
  stages
      .def(
          "serial",
          [](Self s, Loop loop) {
            to_stage(s).serial(loop);
            return s;
          },
          py::arg("loop"))
      .def(
          "parallel",
          [](Self s, Loop loop, const py::object &size, TailStrategy tail) {
            if (size.is_none()) {
              to_stage(s).parallel(loop);
            } else {
              to_stage(s).parallel(loop, to_expr(size), tail);
            }
            return s;
          },
          py::arg("loop"), py::arg("size") = py::none(), py::arg("tail") = kAuto,
          "With a size: tasks of so many iterations run in parallel.")
      .def(
          "vectorize",
          [](Self s, Loop loop, const py::object &factor, TailStrategy tail) {
            if (factor.is_none()) {
              to_stage(s).vectorize(loop);
            } else {
              to_stage(s).vectorize(loop, to_expr(factor), tail);
            }
            return s;
          },
          py::arg("loop"), py::arg("factor") = py::none(), py::arg("tail") = kAuto,
          "The whole loop, of constant extent; with a factor, its inner part after a split.")
      .def(
          "unroll",
          [](Self s, Loop loop, const py::object &factor, TailStrategy tail) {
            if (factor.is_none()) {
              to_stage(s).unroll(loop);
            } else {
              to_stage(s).unroll(loop, to_expr(factor), tail);
            }
            return s;
          },
          py::arg("loop"), py::arg("factor") = py::none(), py::arg("tail") = kAuto,
          "The whole loop, of constant extent; with a factor, its inner part after a split.")
      .def(
          "partition",
          [](Self s, Loop loop, Partition policy) {
            to_stage(s).partition(loop, policy);
            return s;
          },
          py::arg("loop"), py::arg("policy"),
          "Is the loop cut where guards and clamps inside it hold in its middle?")
      .def("never_partition",
           [](Self s, const py::args &loops) {
             to_stage(s).never_partition(to_loops(spread(loops)));
             return s;
           })
      .def("always_partition",
           [](Self s, const py::args &loops) {
             to_stage(s).always_partition(to_loops(spread(loops)));
             return s;
           })
      .def("never_partition_all",
           [](Self s) {
             to_stage(s).never_partition_all(here());
             return s;
           })
      .def("always_partition_all", [](Self s) {
        to_stage(s).always_partition_all(here());
        return s;
      });
}

void bind_sharing(Classes &stages) {
  stages
      .def(
          "prefetch",
          [](Self s, const py::object &what, Loop at, Loop from, Value offset,
             PrefetchBoundStrategy strategy) {
            if (py::isinstance<ImageParam>(what)) {
              to_stage(s).prefetch(what.cast<const ImageParam &>(), at, from, offset, strategy);
            } else {
              to_stage(s).prefetch(to_func(what), at, from, offset, strategy);
            }
            return s;
          },
          py::arg("what"), py::arg("at"), py::arg("from_"), py::arg("offset") = 1,
          py::arg("strategy") = PrefetchBoundStrategy::GuardWithIf,
          "At the top of loop `at`, asks the caches for what iteration `from_` + `offset` reads.")
      .def(
          "compute_with",
          [](Self s, const py::object &leader, const py::object &loop, const py::object &aligned) {
            Stage stage = to_stage(s);
            const bool at_level = py::isinstance<LoopLevel>(leader);
            // A LoopLevel names its loop, so that the alignment may stand second.
            const py::object &align = at_level && !loop.is_none() ? loop : aligned;
            auto with = [&](const auto &alignment) {
              if (at_level) {
                stage.compute_with(leader.cast<const LoopLevel &>(), alignment);
              } else {
                stage.compute_with(to_stage(leader), to_loop(loop).v, alignment);
              }
            };
            if (py::isinstance<LoopAlignStrategy>(align)) {
              with(align.cast<LoopAlignStrategy>());
            } else {
              std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> list;
              for (const py::handle p : align) {
                const auto pair = py::reinterpret_borrow<py::sequence>(p);
                list.emplace_back(to_loop(pair[0]).v, pair[1].cast<LoopAlignStrategy>());
              }
              with(list);
            }
            return s;
          },
          py::arg("leader"), py::arg("loop") = py::none(),
          py::arg("align") = LoopAlignStrategy::Auto,
          "Runs this stage in the loops of another one, from the outermost down to `loop`. "
          "`leader` "
          "is a Func, a Stage, or a LoopLevel, which names the loop itself. `align`: one strategy, "
          "or [(loop, strategy), ...].")
      .def(
          "specialize",
          [](Self s, Value condition) { return to_stage(s).specialize(condition.e, here()); },
          py::arg("condition"),
          "A branch of the stage for runs where the condition over Params and shapes holds, to be "
          "scheduled.")
      .def(
          "specialize_fail",
          [](Self s, const std::string &message) { to_stage(s).specialize_fail(message, here()); },
          py::arg("message"), "Runs where no branch's condition holds end with an error.")
      .def(
          "atomic",
          [](Self s, bool override_associativity_test) {
            to_stage(s).atomic(override_associativity_test, here());
            return s;
          },
          py::arg("override_associativity_test") = false,
          "Each update of a cell is one atomic step.")
      .def(
          "allow_race_conditions",
          [](Self s) {
            to_stage(s).allow_race_conditions(here());
            return s;
          },
          "Promises that iterations that touch one cell do no harm.")
      .def(
          "stream_stores",
          [](Self s) {
            to_stage(s).stream_stores(here());
            return s;
          },
          "Stores go past the caches.")
      .def(
          "stream_loads",
          [](Self s, const py::args &funcs) {
            std::vector<Func> list;
            for (const py::object &f : spread(funcs)) list.push_back(to_func(f));
            if (list.empty()) {
              to_stage(s).stream_loads(here());
            } else {
              to_stage(s).stream_loads(list, here());
            }
            return s;
          },
          "Reads of these, or of all, leave no trace in the caches.")
      .def(
          "eager_inline",
          [](Self s, const py::args &funcs) {
            std::vector<Func> list;
            for (const py::object &f : spread(funcs)) list.push_back(to_func(f));
            to_stage(s).eager_inline(list, here());
            return s;
          },
          "Puts definitions of pure Funcs in the place of the stage's calls of them.");
}

// gpu_tile(x, [y, [z,]] [bx, [by, [bz,]]] tx, [ty, [tz,]] sizes..., tail, device)
py::object gpu_tile(Self s, const py::args &args) {
  std::vector<VarOrRVar> loops;
  std::vector<Expr> sizes;
  TailStrategy tail = kAuto;
  DeviceAPI api = kGpu;
  for (const py::handle a : args) {
    if (py::isinstance<TailStrategy>(a)) {
      tail = a.cast<TailStrategy>();
    } else if (py::isinstance<DeviceAPI>(a)) {
      api = a.cast<DeviceAPI>();
    } else if (is_number(a) || py::isinstance<Expr>(a) || py::isinstance<Param<>>(a)) {
      sizes.push_back(to_expr(a));
    } else {
      loops.push_back(to_loop(a).v);
    }
  }
  Stage stage = to_stage(s);
  const size_t n = sizes.size();
  const std::vector<VarOrRVar> &l = loops;
  const std::vector<Expr> &e = sizes;
  if (n == 1 && l.size() == 2) {
    stage.gpu_tile(l[0], l[1], e[0], tail, api);
  } else if (n == 1 && l.size() == 3) {
    stage.gpu_tile(l[0], l[1], l[2], e[0], tail, api);
  } else if (n == 2 && l.size() == 4) {
    stage.gpu_tile(l[0], l[1], l[2], l[3], e[0], e[1], tail, api);
  } else if (n == 2 && l.size() == 6) {
    stage.gpu_tile(l[0], l[1], l[2], l[3], l[4], l[5], e[0], e[1], tail, api);
  } else if (n == 3 && l.size() == 6) {
    stage.gpu_tile(l[0], l[1], l[2], l[3], l[4], l[5], e[0], e[1], e[2], tail, api);
  } else if (n == 3 && l.size() == 9) {
    stage.gpu_tile(l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], e[0], e[1], e[2], tail,
                   api);
  } else {
    throw py::type_error("gpu_tile() of " + std::to_string(l.size()) + " loops and " +
                         std::to_string(n) +
                         " sizes\n  why: each of one to three loops has a thread loop, a size and "
                         "perhaps a block loop\n  fix: write gpu_tile(x, y, xi, yi, 16, 8)");
  }
  return s;
}

// tensorize(m, n, [k,] instruction)
py::object tensorize(Self s, const py::args &args) {
  std::vector<VarOrRVar> l;
  std::string instruction;
  for (const py::handle a : args) {
    if (py::isinstance<py::str>(a)) {
      instruction = a.cast<std::string>();
    } else {
      l.push_back(to_loop(a).v);
    }
  }
  Stage stage = to_stage(s);
  if (l.size() == 2 && !instruction.empty()) {
    stage.tensorize(l[0], l[1], instruction);
  } else if (l.size() == 3 && !instruction.empty()) {
    stage.tensorize(l[0], l[1], l[2], instruction);
  } else {
    throw py::type_error("tensorize() of " + std::to_string(l.size()) +
                         " loops\n  why: an instruction stands for the loops m and n, and perhaps "
                         "k\n  fix: write tensorize(m, n, k, \"mma_m16n8k16_f16_f32\")");
  }
  return s;
}

// One to three loops and perhaps a device.
template <typename One, typename Two, typename Three>
auto gpu_loops(const char *word, One one, Two two, Three three) {
  return [=](Self s, const py::args &args) {
    std::vector<VarOrRVar> l;
    DeviceAPI api = kGpu;
    for (const py::handle a : args) {
      if (py::isinstance<DeviceAPI>(a)) {
        api = a.cast<DeviceAPI>();
      } else {
        l.push_back(to_loop(a).v);
      }
    }
    Stage stage = to_stage(s);
    if (l.size() == 1) {
      one(stage, l, api);
    } else if (l.size() == 2) {
      two(stage, l, api);
    } else if (l.size() == 3) {
      three(stage, l, api);
    } else {
      throw py::type_error(std::string(word) + "() of " + std::to_string(l.size()) +
                           " loops\n  why: kernels have one to three dimensions\n  fix: name the "
                           "loops, innermost first");
    }
    return s;
  };
}

void bind_devices(Classes &stages) {
  using Loops = std::vector<VarOrRVar>;
  stages
      .def("gpu_blocks",
           gpu_loops(
               "gpu_blocks", [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_blocks(l[0], d); },
               [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_blocks(l[0], l[1], d); },
               [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_blocks(l[0], l[1], l[2], d); }),
           "The loops are the blocks of a kernel, innermost first.")
      .def("gpu_threads",
           gpu_loops(
               "gpu_threads", [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_threads(l[0], d); },
               [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_threads(l[0], l[1], d); },
               [](Stage &s, const Loops &l, DeviceAPI d) { s.gpu_threads(l[0], l[1], l[2], d); }),
           "The loops are the threads of a block, innermost first.")
      .def(
          "gpu_lanes",
          [](Self s, Loop loop, DeviceAPI api) {
            to_stage(s).gpu_lanes(loop, api);
            return s;
          },
          py::arg("loop"), py::arg("device") = kGpu)
      .def(
          "gpu_single_thread",
          [](Self s, DeviceAPI api) {
            to_stage(s).gpu_single_thread(api, here());
            return s;
          },
          py::arg("device") = kGpu)
      .def("tensorize", &tensorize,
           "tensorize(m, n, k, instruction): the innermost loops are one instruction, of a warp "
           "or of a processor, whose dot products have no m.")
      .def("gpu_tile", &gpu_tile,
           "gpu_tile(x, y, xi, yi, 16, 8): tiles; a tile is a block, its points are the threads.")
      .def(
          "hexagon",
          [](Self s, const py::object &loop) {
            to_stage(s).hexagon(loop.is_none() ? Loop().v : to_loop(loop).v);
            return s;
          },
          py::arg("loop") = py::none())
      .def(
          "host",
          [](Self s, const py::object &loop) {
            to_stage(s).host(loop.is_none() ? Loop().v : to_loop(loop).v);
            return s;
          },
          py::arg("loop") = py::none());
}

// [(r.x, u), ...] or (r.x, u)
std::vector<std::pair<RVar, Var>> preserved(const py::object &r, const py::object &v) {
  auto rvar = [](const py::handle &h) {
    return py::isinstance<RDom>(h) ? static_cast<RVar>(h.cast<const RDom &>()) : h.cast<RVar>();
  };
  if (!v.is_none()) return {{rvar(r), v.cast<Var>()}};
  std::vector<std::pair<RVar, Var>> list;
  for (const py::handle p : r) {
    const auto pair = py::reinterpret_borrow<py::sequence>(p);
    const py::object first = pair[0], second = pair[1];
    list.emplace_back(rvar(first), second.cast<Var>());
  }
  return list;
}

}  // namespace

void bind_loops(py::module_ &m) {
  py::class_<Stage> stage(m, "Stage", "One definition of a Func, to be scheduled.");
  stage.def("name", &Stage::name)
      .def(
          "unscheduled", [](Stage &s) { s.unscheduled(here()); },
          "Says that the stage has no schedule on purpose.")
      .def("dump_argument_list", &Stage::dump_argument_list)
      .def(
          "loops",
          [](const Stage &s) {
            std::vector<std::string> names;
            for (const StageSchedule::Dim &d : s.get_schedule().dims()) names.push_back(d.var);
            return names;
          },
          "The loops after all directives so far, innermost first.")
      .def(
          "rfactor",
          [](Stage &s, const py::object &r, const py::object &v) {
            return s.rfactor(preserved(r, v), here());
          },
          py::arg("r"), py::arg("v") = py::none(),
          "rfactor(r.x, u) or rfactor([(r.x, u), ...]): splits an associative update into partial "
          "results and their merging. Returns the Func that holds partial results.")
      .def(
          "scan", [](Stage &s, Loop blocks, const Var &v) { return s.scan(blocks, v); },
          py::arg("blocks"), py::arg("v"),
          "Runs a scan in blocks: `blocks` is the outer part of a split of its loop. Returns the "
          "Func of the blocks' totals.")
      .def(
          "fission",
          [](const py::object &s, Loop around, const py::object &part) {
            if (part.is_none()) {
              s.cast<Stage &>().fission(around);
            } else {
              s.cast<Stage &>().fission(around, to_loop(part).v);
            }
            return s;
          },
          py::arg("around"), py::arg("part") = py::none(),
          "fission(part) or fission(around, part): takes the values of a Tuple's update apart. "
          "Inside of loop `around`, or outside of all loops, the new loop `part` runs the loops "
          "once for each.")
      .def(
          "hoist_invariants",
          [](Stage &s) {
            const FuncVec made = s.hoist_invariants(here());
            return std::vector<Func>(made.begin(), made.end());
          },
          "Takes factors that are the same in all steps of a reduction out of it; returns the "
          "Funcs "
          "that this makes.")
      .def("__repr__", [](const Stage &s) { return "<polyhalite.Stage " + s.name() + ">"; });
  const py::object func = m.attr("Func");
  Classes stages({func, stage});
  bind_splits(stages);
  bind_kinds(stages);
  bind_sharing(stages);
  bind_devices(stages);
}

}  // namespace polyhalite::python
