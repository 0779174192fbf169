#include "lang/language/names.h"

#include <cctype>

namespace polyhalite {

std::string clean_name(const std::string &text) {
  std::string s;
  for (char c : text) {
    s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) s = "_" + s;
  return s;
}

std::string plain_name(const std::string &name) {
  std::string s;
  for (size_t i = 0; i < name.size(); i++) {
    if (name[i] != '$') {
      s += name[i];
      continue;
    }
    while (i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1]))) i++;
  }
  return s;
}

std::string quoted_name(const std::string &name) { return "'" + plain_name(name) + "'"; }

}  // namespace polyhalite
