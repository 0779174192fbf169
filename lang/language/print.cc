#include "polyhalite/print.h"

#include <ostream>

#include "lang/ir/expr_text.h"
#include "lang/ir/function.h"
#include "lang/language/names.h"

namespace polyhalite {

std::ostream &operator<<(std::ostream &os, const Expr &e) {
  return os << (e.defined() ? to_text(e) : "(undefined)");
}

std::ostream &operator<<(std::ostream &os, const Type &t) { return os << t.to_string(); }

std::ostream &operator<<(std::ostream &os, const RVar &r) {
  return os << plain_name(r.name()) << "(" << r.min() << ", " << r.extent() << ")";
}

std::ostream &operator<<(std::ostream &os, const RDom &r) {
  os << "RDom(";
  for (int i = 0; r.defined() && i < r.dimensions(); i++) os << (i ? ", " : "") << r[i];
  return os << ")";
}

std::ostream &operator<<(std::ostream &os, const Target &t) { return os << t.to_string(); }
std::ostream &operator<<(std::ostream &os, const LoopLevel &l) { return os << l.to_string(); }

std::ostream &operator<<(std::ostream &os, const DeviceAPI &api) {
  const char *name = device_api_name(api);
  return os << (name ? name : "DeviceAPI(?)");
}

std::ostream &operator<<(std::ostream &os, const MemoryType &m) {
  return os << memory_type_name(m);
}

std::ostream &operator<<(std::ostream &os, const Partition &p) { return os << partition_name(p); }

std::ostream &operator<<(std::ostream &os, const NameMangling &m) {
  static constexpr const char *kNames[] = {"Default", "C", "CPlusPlus"};
  return os << kNames[static_cast<int>(m)];
}

std::ostream &operator<<(std::ostream &os, const TailStrategy &t) {
  return os << tail_strategy_name(t);
}

std::ostream &operator<<(std::ostream &os, const LoopAlignStrategy &a) {
  return os << align_strategy_name(a);
}

std::ostream &operator<<(std::ostream &os, const PrefetchBoundStrategy &s) {
  return os << prefetch_bound_name(s);
}

}  // namespace polyhalite
