#include "polyhalite/type.h"

namespace polyhalite {

std::string Type::to_string() const {
  std::string s;
  if (is_bool()) {
    s = "bool";
  } else {
    switch (code_) {
      case Int:
        s = "int";
        break;
      case UInt:
        s = "uint";
        break;
      case Float:
        s = "float";
        break;
      case Handle:
        s = "handle";
        break;
      case BFloat:
        s = "bfloat";
        break;
    }
    s += std::to_string(bits_);
  }
  if (lanes_ != 1) s += "x" + std::to_string(lanes_);
  return s;
}

}  // namespace polyhalite
