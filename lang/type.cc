#include "polyhalite/type.h"

#include <mutex>
#include <set>

namespace polyhalite {

namespace {

struct Word {
  const char *text;
  Pointee::Kind kind;
};
constexpr Word kKinds[] = {
    {"struct ", Pointee::Struct}, {"class ", Pointee::Class}, {"union ", Pointee::Union}};

}  // namespace

std::string Pointee::to_string() const {
  std::string text = std::string(is_const ? "const " : "") + (is_volatile ? "volatile " : "");
  for (const Word &w : kKinds) text += w.kind == kind ? w.text : "";
  return text + name;
}

const Pointee *Pointee::parse(const std::string &text) {
  Pointee p;
  std::string rest = text;
  auto accept = [&](const std::string &word) {
    if (rest.compare(0, word.size(), word) != 0) return false;
    rest.erase(0, word.size());
    return true;
  };
  p.is_const = accept("const ");
  p.is_volatile = accept("volatile ");
  for (const Word &w : kKinds) {
    if (p.kind == Simple && accept(w.text)) p.kind = w.kind;
  }
  p.name = rest;
  const char *const in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
  if (rest.empty() || rest.find_first_not_of(in_names) != std::string::npos) return nullptr;
  static std::mutex mutex;
  static std::set<Pointee> known;
  const std::lock_guard<std::mutex> lock(mutex);
  return &*known.insert(p).first;
}

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
