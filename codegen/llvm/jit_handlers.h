// What code in this process calls instead of the runtime: the handlers of its context, else the
// runtime.
#pragma once

#include <vector>

namespace polyhalite {

struct RuntimeSymbol {
  const char *name;
  void *address;
};

/// polyhalite_malloc, _free, _print, _trace and _do_par_for_ranges for contexts that are
/// JITUserContexts, and polyhalite_keep_exception, which takes what a function of the program
/// throws.
const std::vector<RuntimeSymbol> &handled_runtime();

}  // namespace polyhalite
