// The pass list and its runner: names, times, verifies, and can dump or switch off each pass.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "codegen/ir/verify.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct Pass {
  const char *name;
  IrLevel result;     // the level that holds after it
  bool optional;      // may be switched off: an optimisation, not a lowering
  bool for_machines;  // makes vectors, copies and fences, which PassOptions::scalar does without
  Function (*run)(const Function &, const Target &);
};

/// The whole lowering after lower.h, in order.
const std::vector<Pass> &pass_list();

struct PassOptions {
  std::vector<std::string> switched_off;  // names of optional passes
  bool scalar = false;                    // vector and unrolled loops stay as they are: no passes
                                          // that make machine vectors and copies run
  bool verify = false;                    // between passes; on in tests and debug builds
  std::function<void(const char *pass, const Function &)> after;  // dump hook, or null
};

struct PassTime {
  const char *name;
  double seconds;
};

Function run_passes(Function f, const Target &target, const PassOptions &options = {},
                    std::vector<PassTime> *times = nullptr);

}  // namespace polyhalite
