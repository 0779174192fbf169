// Types of values, and the named choices that directives take.
#include <pybind11/numpy.h>

#include "polyhalite/backend.h"
#include "polyhalite/choices.h"
#include "polyhalite/operators.h"
#include "polyhalite/tail_strategy.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

py::object dtype_of(const Type &type) {
  const Type t = type.is_handle() ? UInt(64) : type.element_of();
  if (t == Float(32)) return py::dtype::of<float>();
  if (t == Float(64)) return py::dtype::of<double>();
  if (t == Bool()) return py::dtype::of<bool>();
  if (t == UInt(8)) return py::dtype::of<uint8_t>();
  if (t == Int(8)) return py::dtype::of<int8_t>();
  if (t == UInt(16)) return py::dtype::of<uint16_t>();
  if (t == Int(16)) return py::dtype::of<int16_t>();
  if (t == UInt(32)) return py::dtype::of<uint32_t>();
  if (t == Int(32)) return py::dtype::of<int32_t>();
  if (t == UInt(64)) return py::dtype::of<uint64_t>();
  if (t == Int(64)) return py::dtype::of<int64_t>();
  const py::module_ numpy = py::module_::import("numpy");
  if (t.is_bfloat()) {
    return numpy.attr("dtype")(
        py::module_::import("polyhalite._arrays").attr("outside")("bfloat16"));
  }
  return numpy.attr("dtype")(t.to_string());
}

namespace {

void bind_type(py::module_ &m) {
  py::class_<Type> type(m, "Type", R"(The type of a value: a code, a width in bits and lanes.

Type(dtype) takes what numpy.dtype takes, and bool, int (int32) and float (float32).)");
  py::enum_<Type::Code>(type, "Code")
      .value("Int", Type::Int)
      .value("UInt", Type::UInt)
      .value("Float", Type::Float)
      .value("Handle", Type::Handle)
      .value("BFloat", Type::BFloat);
  type.def(py::init([](AnyType t) { return t.t; }), py::arg("type"))
      .def(py::init<Type::Code, int, int>(), py::arg("code"), py::arg("bits"), py::arg("lanes") = 1)
      .def("code", &Type::code)
      .def("bits", &Type::bits, "Of one lane; a bool has one.")
      .def("bytes", &Type::bytes, "Of one lane in memory.")
      .def("lanes", &Type::lanes)
      .def("is_bool", &Type::is_bool)
      .def("is_int", &Type::is_int, "Signed integers.")
      .def("is_uint", &Type::is_uint, "Unsigned integers; bool is one.")
      .def("is_float", &Type::is_float)
      .def("is_bfloat", &Type::is_bfloat)
      .def("is_handle", &Type::is_handle)
      .def("is_scalar", &Type::is_scalar)
      .def("is_vector", &Type::is_vector)
      .def("with_bits", &Type::with_bits, py::arg("bits"))
      .def("with_code", &Type::with_code, py::arg("code"))
      .def("with_lanes", &Type::with_lanes, py::arg("lanes"))
      .def("element_of", &Type::element_of)
      .def("widen", &Type::widen, "Twice the bits.")
      .def("narrow", &Type::narrow, "Half of the bits.")
      .def(
          "can_represent", [](const Type &t, AnyType other) { return t.can_represent(other.t); },
          py::arg("other"), "Does the type hold every value of the other?")
      .def("max", &Type::max, "The largest value as a constant; of floats infinity.")
      .def("min", &Type::min, "The smallest value as a constant; of floats minus infinity.")
      .def_property_readonly("dtype", &dtype_of, "numpy's dtype of the elements.")
      .def("__eq__",
           [](const Type &a, py::object b) {
             return py::isinstance<Type>(b) && a == b.cast<const Type &>();
           })
      .def("__hash__",
           [](const Type &t) { return (t.code() << 24) ^ (t.bits() << 16) ^ t.lanes(); })
      .def("__str__", &Type::to_string)
      .def("__repr__", [](const Type &t) { return "<polyhalite.Type " + t.to_string() + ">"; });
  m.def("Int", &Int, py::arg("bits"), py::arg("lanes") = 1, "Signed integers: Int(32).");
  m.def("UInt", &UInt, py::arg("bits"), py::arg("lanes") = 1, "Unsigned integers: UInt(8).");
  m.def("Float", &Float, py::arg("bits"), py::arg("lanes") = 1,
        "IEEE floats of 16, 32 or 64 bits: Float(32).");
  m.def("BFloat", &BFloat, py::arg("bits"), py::arg("lanes") = 1,
        "The upper half of a float32: BFloat(16).");
  m.def("Bool", &Bool, py::arg("lanes") = 1);
  m.def("Handle", [](int lanes) { return Handle(lanes); }, py::arg("lanes") = 1, "Pointers.");
}

void bind_choices(py::module_ &m) {
  py::enum_<TailStrategy>(m, "TailStrategy",
                          "What a split does where its factor does not divide the extent.")
      .value("RoundUp", TailStrategy::RoundUp, "Stage, producers and storage grow to whole tiles.")
      .value("GuardWithIf", TailStrategy::GuardWithIf, "An if around the body.")
      .value("Predicate", TailStrategy::Predicate, "GuardWithIf with masked vectors.")
      .value("PredicateLoads", TailStrategy::PredicateLoads, "Loads within the range only.")
      .value("PredicateStores", TailStrategy::PredicateStores, "Stores within the range only.")
      .value("ShiftInwards", TailStrategy::ShiftInwards,
             "The last tile ends where the range ends. Pure definitions only.")
      .value("ShiftInwardsAndBlend", TailStrategy::ShiftInwardsAndBlend,
             "The same for updates, too.")
      .value("RoundUpAndBlend", TailStrategy::RoundUpAndBlend,
             "RoundUp that leaves points beyond the range as they are.")
      .value("Auto", TailStrategy::Auto,
             "ShiftInwards for pure definitions, RoundUp for pure variables of updates, "
             "GuardWithIf for reduction variables.");
  py::enum_<MemoryType>(m, "MemoryType", "Where a Func's values are kept.")
      .value("Auto", MemoryType::Auto)
      .value("Heap", MemoryType::Heap)
      .value("Stack", MemoryType::Stack)
      .value("Register", MemoryType::Register)
      .value("GPUShared", MemoryType::GPUShared)
      .value("GPUTexture", MemoryType::GPUTexture)
      .value("LockedCache", MemoryType::LockedCache)
      .value("VTCM", MemoryType::VTCM)
      .value("AMXTile", MemoryType::AMXTile);
  py::enum_<Partition>(m, "Partition", "Is a loop cut into a steady state and its ends?")
      .value("Auto", Partition::Auto)
      .value("Never", Partition::Never)
      .value("Always", Partition::Always);
  py::enum_<PrefetchBoundStrategy>(m, "PrefetchBoundStrategy",
                                   "What a prefetch does beyond the bounds of what it fetches.")
      .value("Clamp", PrefetchBoundStrategy::Clamp)
      .value("GuardWithIf", PrefetchBoundStrategy::GuardWithIf)
      .value("NonFaulting", PrefetchBoundStrategy::NonFaulting);
  py::enum_<LoopAlignStrategy>(m, "LoopAlignStrategy",
                               "How compute_with lines up two loops of different bounds.")
      .value("AlignStart", LoopAlignStrategy::AlignStart)
      .value("AlignEnd", LoopAlignStrategy::AlignEnd)
      .value("NoAlign", LoopAlignStrategy::NoAlign)
      .value("Auto", LoopAlignStrategy::Auto);
  py::enum_<NameMangling>(m, "NameMangling", "How symbols of external functions are made.")
      .value("Default", NameMangling::Default)
      .value("C", NameMangling::C)
      .value("CPlusPlus", NameMangling::CPlusPlus);
  py::enum_<StmtOutputFormat>(m, "StmtOutputFormat")
      .value("Text", StmtOutputFormat::Text)
      .value("HTML", StmtOutputFormat::HTML);
  py::enum_<DeviceAPI> device(m, "DeviceAPI", "The device that a loop runs on.");
  const char *const device_words[] = {"None_",        "Host",   "Default_GPU", "CUDA",
                                      "OpenCL",       "Metal",  "Hexagon",     "HexagonDma",
                                      "D3D12Compute", "Vulkan", "WebGPU"};
  for (const DeviceAPI api : all_device_apis)
    device.value(device_words[static_cast<int>(api)], api);
  py::enum_<Emit> emit(m, "Emit", "What a compilation can write.");
  for (const Emit e : all_emits()) emit.value(emit_name(e), e);
}

}  // namespace

void bind_types(py::module_ &m) {
  bind_type(m);
  bind_choices(m);
}

}  // namespace polyhalite::python
