// The names of what a compilation can write.
#include "polyhalite/backend.h"

namespace polyhalite {

namespace {

struct EmitForm {
  Emit emit;
  const char *name, *extension;
  bool per_target;
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
};

const EmitForm &form_of(Emit e) { return kForms[static_cast<int>(e)]; }

}  // namespace

const std::vector<Emit> &all_emits() {
  static const std::vector<Emit> list = [] {
    std::vector<Emit> l;
    for (const EmitForm &f : kForms) l.push_back(f.emit);
    return l;
  }();
  return list;
}

const char *emit_name(Emit e) { return form_of(e).name; }
const char *emit_extension(Emit e) { return form_of(e).extension; }
bool is_per_target(Emit e) { return form_of(e).per_target; }

}  // namespace polyhalite
