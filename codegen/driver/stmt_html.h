// Loop IR as a page: one foldable section per loop, condition and allocation.
#pragma once

#include <string>

namespace polyhalite {

/// From the printed form.
std::string stmt_html(const std::string &title, const std::string &text);

}  // namespace polyhalite
