// Texts as HTML.
#pragma once

#include <string>

namespace polyhalite {

/// With the characters that mean something in HTML, attributes included, written out.
std::string escaped(const std::string &text);

}  // namespace polyhalite
