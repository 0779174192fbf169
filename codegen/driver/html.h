// Texts as HTML.
#pragma once

#include <string>

namespace polyhalite {

/// With the characters that mean something in HTML, attributes included, written out.
std::string escaped(const std::string &text);

/// "1.5 KiB", "640 B".
std::string bytes_text(double bytes);

}  // namespace polyhalite
