// A program as files for other programs: a library of its kernels, a C header that calls them in
// order, the weights as a file to be mapped, a report.
#pragma once

#include <string>

#include "apps/onnx/program.h"

namespace polyhalite::onnx {

struct LibraryFiles {
  std::string library, header, weights, report;  // paths
};

/// Writes folder/NAME.a, NAME.h, NAME.weights and NAME.txt; the C function is NAME_run. All sizes
/// of the program must be numbers: CompileError that names a size which is none.
LibraryFiles emit_library(const Program &program, const std::string &folder,
                          const std::string &name, const Target &target);

}  // namespace polyhalite::onnx
