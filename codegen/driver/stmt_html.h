// Loop IR as HTML: one foldable section per loop, condition and allocation.
#pragma once

#include <functional>
#include <string>

namespace polyhalite {

/// A page of the printed form.
std::string stmt_html(const std::string &title, const std::string &text);

/// The sections alone. `loop_heading` is what the heading of a loop says before its own text, in
/// HTML: an anchor, links.
using LoopHeading = std::function<std::string(const std::string &loop)>;
std::string stmt_sections(const std::string &text, const LoopHeading &loop_heading = {});

}  // namespace polyhalite
