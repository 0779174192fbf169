// Makes a failing case smaller: it drops directives, updates and values, and puts parts of
// expressions in the place of the whole, as long as the case fails in the same way.
#pragma once

#include <functional>

#include "test/fuzz/case_text.h"

namespace polyhalite::test {

/// The smallest case that was found of which `fails` still holds.
Case reduced(Case c, const std::function<bool(const Case &)> &fails);

}  // namespace polyhalite::test
