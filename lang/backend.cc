// The names of what a compilation can write.
#include "polyhalite/backend.h"

namespace polyhalite {

namespace {

struct EmitForm {
  Emit emit;
  const char *name, *extension;
  bool per_target;
  const char *absent = nullptr;  // why a compilation does not write it
};

// In the order of the enumeration.
constexpr EmitForm kForms[] = {
    {Emit::object, "object", ".o", true},
    {Emit::static_library, "static_library", ".a", false},
    {Emit::c_header, "c_header", ".h", false},
    {Emit::assembly, "assembly", ".s", true},
    {Emit::bitcode, "bitcode", ".bc", true},
    {Emit::llvm_assembly, "llvm_assembly", ".ll", true},
    {Emit::stmt, "stmt", ".stmt", true},
    {Emit::stmt_html, "stmt_html", ".stmt.html", true},
    {Emit::conceptual_stmt, "conceptual_stmt", ".conceptual.stmt", true},
    {Emit::schedule, "schedule", ".schedule", true},
    {Emit::algorithm, "algorithm", ".algorithm", true},
    {Emit::tree, "tree", ".tree", true},
    {Emit::function_info_header, "function_info_header", ".function_info.h", false},
    {Emit::registration, "registration", ".registration.cpp", false},
    {Emit::python_extension, "python_extension", ".py.cpp", false},
    {Emit::compiler_log, "compiler_log", ".halide_compiler_log", true},
    {Emit::hlpipe, "hlpipe", ".hlpipe", true},
    {Emit::conceptual_stmt_html, "conceptual_stmt_html", ".conceptual.stmt.html", true},
    {Emit::c_source, "c_source", ".halide_generated.cpp", true},
    {Emit::ptx, "ptx", ".ptx", true},
    {Emit::explanation, "explanation", ".explain.html", true},
    {Emit::timed_explanation, "timed_explanation", ".timed.explain.html", true},
    {Emit::cpp_stub, "cpp_stub", ".stub.h", false,
     "a stub calls a generator: the program that has the generator writes it"},
    {Emit::featurization, "featurization", ".featurization", true,
     "no auto-scheduler is there that would read it"},
    {Emit::pytorch_wrapper, "pytorch_wrapper", ".pytorch.h", false,
     "there is no wrapper for PyTorch"},
    {Emit::device_code, "device_code", ".device_code", true, "code for GPUs is PTX: ask for ptx"},
};

const EmitForm &form_of(Emit e) { return kForms[static_cast<int>(e)]; }

}  // namespace

const std::vector<Emit> &all_emits() {
  static const std::vector<Emit> list = [] {
    std::vector<Emit> l;
    for (const EmitForm &f : kForms) {
      if (!f.absent) l.push_back(f.emit);
    }
    return l;
  }();
  return list;
}

std::string emit_names() {
  std::string s;
  for (Emit e : all_emits()) s += std::string(emit_name(e)) + ", ";
  return s + emit_name(Emit::cpp_stub);
}

Emit emit_from_name(const std::string &name) {
  for (const EmitForm &f : kForms) {
    if (name != f.name) continue;
    if (!f.absent) return f.emit;
    user_error("the output '" + name + "' is not available", f.absent,
               "choose from: " + emit_names());
  }
  user_error("cannot emit '" + name + "'", "it is no output of a compilation",
             "choose from: " + emit_names());
}

const char *emit_name(Emit e) { return form_of(e).name; }

const char *emit_extension(Emit e, const Target &target) {
  const bool windows = target.os == Target::Windows;
  if (windows && e == Emit::object) return ".obj";
  if (windows && e == Emit::static_library) return ".lib";
  return form_of(e).extension;
}

bool is_per_target(Emit e) { return form_of(e).per_target; }

}  // namespace polyhalite
