// The names of what a compilation can write.
#include "polyhalite/backend.h"

namespace polyhalite {

const char *emit_name(Emit e) {
  switch (e) {
    case Emit::object:
      return "object";
    case Emit::static_library:
      return "static_library";
    case Emit::c_header:
      return "c_header";
    case Emit::assembly:
      return "assembly";
    case Emit::llvm_assembly:
      return "llvm_assembly";
    case Emit::stmt:
      return "stmt";
    case Emit::schedule:
      return "schedule";
    case Emit::algorithm:
      return "algorithm";
    case Emit::tree:
      return "tree";
  }
  return "";
}

const char *emit_extension(Emit e) {
  switch (e) {
    case Emit::object:
      return ".o";
    case Emit::static_library:
      return ".a";
    case Emit::c_header:
      return ".h";
    case Emit::assembly:
      return ".s";
    case Emit::llvm_assembly:
      return ".ll";
    case Emit::stmt:
      return ".stmt";
    case Emit::schedule:
      return ".schedule";
    case Emit::algorithm:
      return ".algorithm";
    case Emit::tree:
      return ".tree";
  }
  return "";
}

}  // namespace polyhalite
