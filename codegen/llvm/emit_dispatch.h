// Several compilations of one pipeline behind one function: the first whose instructions the
// machine has is called.
//
//   int NAME(args) {
//     static choice; if none yet: the first i for which can_use_target_features(i), else the last
//     return NAME_SUFFIX_i(args);
//   }
#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/filter.h"
#include "codegen/llvm/object.h"

namespace polyhalite {

/// One of the compilations: its own name and the features that it needs.
struct DispatchChoice {
  std::string symbol;  // of its function, which takes the arguments of the filter
  Target target;
};

/// The module with NAME, NAME_argv and NAME_metadata. The last choice is called where no other can
/// be. The target of `filter` is the last choice's.
std::string compile_dispatch(const Filter &filter, const std::vector<DispatchChoice> &choices,
                             CodeForm form);

}  // namespace polyhalite
