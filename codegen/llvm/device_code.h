// The kernels of a function as PTX, the assembly language that NVIDIA's driver takes. No LLVM
// types, so that the driver of the compiler needs no LLVM header.
//
//   Function { ... kernel a {...} ... kernel b {...} }  ->  .entry a, .entry b
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/kernel.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct DeviceKernel {
  std::string symbol;         // in the PTX
  std::string stage;          // as loop IR names it
  int64_t dynamic_bytes = 0;  // of block memory, for which the launch has to ask
  int aligned = -1;           // the number of the same kernel for aligned operands; -1: none
};

struct DeviceCode {
  std::string portable;  // for `capability` and later
  std::string sm_90a;    // for compute capability 9.0 only; empty where nobody asked for it
  int capability = 0;    // 80 is 8.0
  std::vector<DeviceKernel> kernels;
  std::map<const StmtNode *, int> numbers;  // of Kernel statements
};

/// What a kernel with vectors can be promised, so that it reads and writes 16 bytes at once: the
/// addresses of these buffers are multiples of 16 bytes, these fields of buffers multiples of so
/// many elements.
struct AlignedOperands {
  std::set<std::string> buffers;
  std::map<std::string, int64_t> fields;
};
AlignedOperands aligned_operands(const Stmt &kernel, const KernelOperands &operands);

bool has_kernels(const Function &f);
/// CompileError where a kernel does what no GPU of the target does.
DeviceCode compile_kernels(const Function &f, const Target &target);
/// What a file of PTX holds: the text for sm_90a where the target has it, else the portable one.
/// CompileError where there are no kernels.
std::string ptx_text(const Function &f, const Target &target);

}  // namespace polyhalite
