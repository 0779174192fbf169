// Target: the machine that code is made for.
#include "polyhalite/target.h"

#include "polyhalite/target_query.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

Target::Feature feature(const std::string &name) {
  const Target::Feature f = Target::feature_from_name(name);
  if (f == Target::FeatureEnd) {
    user_error("there is no target feature '" + name + "'", "features have fixed names",
               "name one as in a target's text, such as avx2 or no_runtime", place());
  }
  return f;
}

// What is written where a feature is wanted: its name, or a member of TargetFeature.
struct Feature {
  Target::Feature f;
};
Feature to_feature(py::handle value) {
  if (py::isinstance<py::str>(value)) return {feature(value.cast<std::string>())};
  return {value.cast<Target::Feature>()};
}
std::vector<Target::Feature> to_features(const py::iterable &values) {
  std::vector<Target::Feature> list;
  for (const py::handle v : values) list.push_back(to_feature(v).f);
  return list;
}

template <typename Class>
void bind_features(Class &target) {
  target
      .def(
          "has_feature",
          [](const Target &t, py::object f) { return t.has_feature(to_feature(f).f); },
          py::arg("feature"), "A member of TargetFeature or its name.")
      .def(
          "set_feature",
          [](Target &t, py::object f, bool on) { t.set_feature(to_feature(f).f, on); },
          py::arg("feature"), py::arg("value") = true)
      .def(
          "set_features",
          [](Target &t, const py::iterable &list, bool on) {
            t.set_features(to_features(list), on);
          },
          py::arg("features"), py::arg("value") = true)
      .def(
          "with_feature",
          [](const Target &t, py::object f) { return t.with_feature(to_feature(f).f); },
          py::arg("feature"))
      .def(
          "without_feature",
          [](const Target &t, py::object f) { return t.without_feature(to_feature(f).f); },
          py::arg("feature"))
      .def("features_any_of",
           [](const Target &t, const py::iterable &list) {
             return t.features_any_of(to_features(list));
           })
      .def("features_all_of", [](const Target &t, const py::iterable &list) {
        return t.features_all_of(to_features(list));
      });
}

}  // namespace

void bind_targets(py::module_ &m) {
  py::enum_<Target::OS>(m, "TargetOS")
      .value("OSUnknown", Target::OSUnknown)
      .value("Linux", Target::Linux)
      .value("Windows", Target::Windows)
      .value("OSX", Target::OSX)
      .value("Android", Target::Android)
      .value("IOS", Target::IOS)
      .value("QuRT", Target::QuRT)
      .value("NoOS", Target::NoOS)
      .value("Fuchsia", Target::Fuchsia)
      .value("WebAssemblyRuntime", Target::WebAssemblyRuntime);
  py::enum_<Target::Arch>(m, "TargetArch")
      .value("ArchUnknown", Target::ArchUnknown)
      .value("X86", Target::X86)
      .value("ARM", Target::ARM)
      .value("Hexagon", Target::Hexagon)
      .value("POWERPC", Target::POWERPC)
      .value("WebAssembly", Target::WebAssembly)
      .value("RISCV", Target::RISCV);
  py::enum_<Target::Feature> features(m, "TargetFeature");
#define POLYHALITE_TARGET_FEATURE(c_name, name, word) features.value(#name, Target::name);
  POLYHALITE_TARGET_FEATURES(POLYHALITE_TARGET_FEATURE)
#undef POLYHALITE_TARGET_FEATURE

  py::class_<Target> target(m, "Target", R"(The machine that code is made for.

Target("x86-64-linux-avx2-fma"): architecture, bits, system, then features in any order. "host" is
this machine. CompileError for a text that names an unknown part.)");
  target.def(py::init<>(), "Unknown in all parts.")
      .def(py::init<const std::string &>(), py::arg("text"))
      .def(py::init([](Target::OS os, Target::Arch arch, int bits, const py::iterable &list) {
             return Target(os, arch, bits, to_features(list));
           }),
           py::arg("os"), py::arg("arch"), py::arg("bits"), py::arg("features") = py::tuple())
      .def_readwrite("os", &Target::os)
      .def_readwrite("arch", &Target::arch)
      .def_readwrite("bits", &Target::bits, "32 or 64.")
      .def_readwrite("vector_bits", &Target::vector_bits)
      .def_static("validate_target_string", &Target::validate_target_string, py::arg("text"))
      .def("has_unknowns", &Target::has_unknowns)
      .def("has_gpu_feature", &Target::has_gpu_feature)
      .def("has_large_buffers", &Target::has_large_buffers)
      .def("maximum_buffer_size", &Target::maximum_buffer_size, "In bytes.")
      .def("supported", &Target::supported, "Whether this library makes code for it.")
      .def(
          "supports_type", [](const Target &t, AnyType type) { return t.supports_type(type.t); },
          py::arg("type"))
      .def("supports_device_api", &Target::supports_device_api, py::arg("device"))
      .def(
          "natural_vector_size",
          [](const Target &t, AnyType type) { return t.natural_vector_size(type.t); },
          py::arg("type"), "Lanes of a full native vector of this type.")
      .def("to_string", &Target::to_string)
      .def("__eq__",
           [](const Target &a, py::object b) {
             return py::isinstance<Target>(b) && a == b.cast<const Target &>();
           })
      .def("__hash__", [](const Target &t) { return std::hash<std::string>()(t.to_string()); })
      .def("__str__", &Target::to_string)
      .def("__repr__", [](const Target &t) { return "<polyhalite.Target " + t.to_string() + ">"; });
  bind_features(target);
  py::implicitly_convertible<py::str, Target>();

  m.def("get_host_target", &get_host_target, "The machine this runs on.");
  m.def("get_target_from_environment", &get_target_from_environment,
        "PH_TARGET or HL_TARGET, else the host.");
  m.def("get_jit_target_from_environment", &get_jit_target_from_environment,
        "PH_JIT_TARGET or HL_JIT_TARGET, else the host, with the feature jit.");

  // Questions about the target, constant once a pipeline is compiled.
  m.def("target_arch_is", &target_arch_is, py::arg("arch"));
  m.def("target_os_is", &target_os_is, py::arg("os"));
  m.def(
      "target_has_feature", [](py::object f) { return target_has_feature(to_feature(f).f); },
      py::arg("feature"));
  m.def("target_bits", &target_bits);
  m.def(
      "target_natural_vector_size", [](AnyType t) { return target_natural_vector_size(t.t); },
      py::arg("type"));
}

}  // namespace polyhalite::python
