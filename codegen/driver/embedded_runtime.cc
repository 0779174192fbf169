#include "codegen/driver/embedded_runtime.h"

#include "polyhalite/error.h"

// Each object lies in read-only data between two symbols.
#define PH_EMBED(NAME, FILE)                                                  \
  asm("    .section .rodata\n"                                                \
      "    .balign 16\n"                                                      \
      "    .hidden " #NAME                                                    \
      "_begin\n"                                                              \
      "    .hidden " #NAME                                                    \
      "_end\n"                                                                \
      "    .globl " #NAME                                                     \
      "_begin\n"                                                              \
      "    .globl " #NAME "_end\n" #NAME                                      \
      "_begin:\n"                                                             \
      "    .incbin \"" FILE "\"\n" #NAME                                      \
      "_end:\n"                                                               \
      "    .text\n");                                                         \
  extern "C" const char NAME##_begin[] __attribute__((visibility("hidden"))); \
  extern "C" const char NAME##_end[] __attribute__((visibility("hidden")))

PH_EMBED(polyhalite_embedded_runtime, POLYHALITE_RUNTIME_OBJECT);
PH_EMBED(polyhalite_embedded_standalone_runtime, POLYHALITE_STANDALONE_RUNTIME_OBJECT);

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

namespace {

void check_runtime(const Target &target) {
  if (!has_runtime_object(target)) {
    user_error("there is no ready runtime for target '" + target.to_string() + "'",
               "this library carries the runtime of the machine that it was built for",
               "compile codegen/runtime of the source tree for that machine");
  }
}

}  // namespace

std::string runtime_object(const Target &target) {
  check_runtime(target);
  return std::string(polyhalite_embedded_runtime_begin, polyhalite_embedded_runtime_end);
}

std::string standalone_runtime(const Target &target) {
  check_runtime(target);
  return std::string(polyhalite_embedded_standalone_runtime_begin,
                     polyhalite_embedded_standalone_runtime_end);
}

std::string runtime_header(const Target &target) {
  return "/* The runtime of compiled pipelines for " + target.to_string() +
         ". Made by Polyhalite. */\n#include \"polyhalite_runtime.h\"\n";
}

}  // namespace polyhalite
