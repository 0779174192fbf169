#include "codegen/driver/embedded_runtime.h"

#include "polyhalite/error.h"

// The object lies in read-only data between two symbols.
asm(R"(
    .section .rodata
    .balign 16
    .hidden polyhalite_embedded_runtime_begin
    .hidden polyhalite_embedded_runtime_end
    .globl polyhalite_embedded_runtime_begin
    .globl polyhalite_embedded_runtime_end
polyhalite_embedded_runtime_begin:
    .incbin ")" POLYHALITE_RUNTIME_OBJECT R"("
polyhalite_embedded_runtime_end:
    .text
)");

extern "C" {
extern const char polyhalite_embedded_runtime_begin[] __attribute__((visibility("hidden")));
extern const char polyhalite_embedded_runtime_end[] __attribute__((visibility("hidden")));
}

namespace polyhalite {

namespace {

#if defined(__aarch64__)
constexpr Target::Arch kArch = Target::ARM;
#else
constexpr Target::Arch kArch = Target::X86;
#endif

}  // namespace

bool has_runtime_object(const Target &target) {
  return target.arch == kArch && target.bits == 64 && target.os == Target::Linux;
}

std::string runtime_object(const Target &target) {
  if (!has_runtime_object(target)) {
    user_error("there is no ready runtime for target '" + target.to_string() + "'",
               "this library carries the runtime of the machine that it was built for",
               "compile codegen/runtime of the source tree for that machine");
  }
  return std::string(polyhalite_embedded_runtime_begin, polyhalite_embedded_runtime_end);
}

}  // namespace polyhalite
