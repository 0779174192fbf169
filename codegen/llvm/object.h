// Compiled forms of a function: object, assembly, LLVM assembly, static library. No LLVM types, so
// that the driver needs no LLVM header.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/ir/stmt.h"
#include "codegen/llvm/filter.h"
#include "polyhalite/target.h"

namespace polyhalite {

enum class CodeForm : uint8_t { Object, Assembly, LlvmAssembly, Bitcode };

/// For files: names, target and metadata are the filter's, constant buffers are embedded, a user
/// context is taken where the target has it.
std::string compile(const Function &f, const Filter &filter, CodeForm form);
/// Before the names of what is compiled for this process: no C function has such a name.
inline constexpr const char *kProcessSymbolPrefix = "pipeline.";
/// For this process: a user context comes first, constant buffers are used where they lie.
std::string compile_for_process(const Function &f, const Target &target, CodeForm form);

/// An archive (.a, .lib) with a symbol table, the same in every run, in the form that linkers of
/// the system read. Members are named without extension.
std::string make_archive(const std::vector<std::pair<std::string, std::string>> &members,
                         Target::OS system);

}  // namespace polyhalite
