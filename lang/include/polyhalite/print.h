// The language's values in streams.
#pragma once

#include <iosfwd>

#include "polyhalite/choices.h"
#include "polyhalite/expr.h"
#include "polyhalite/rdom.h"
#include "polyhalite/stage.h"
#include "polyhalite/tail_strategy.h"
#include "polyhalite/target.h"
#include "polyhalite/type.h"
#include "polyhalite/var.h"

namespace polyhalite {

/// In the text form of algorithms; "(undefined)" for an undefined Expr.
std::ostream &operator<<(std::ostream &os, const Expr &e);
std::ostream &operator<<(std::ostream &os, const Type &t);
/// "r(0, 10)": the name, then min and extent.
std::ostream &operator<<(std::ostream &os, const RVar &r);
/// "RDom(r_x(0, 10), r_y(0, 5))".
std::ostream &operator<<(std::ostream &os, const RDom &r);
std::ostream &operator<<(std::ostream &os, const Target &t);
std::ostream &operator<<(std::ostream &os, const LoopLevel &l);
// Enumerators, by their names.
std::ostream &operator<<(std::ostream &os, const DeviceAPI &api);
std::ostream &operator<<(std::ostream &os, const MemoryType &m);
std::ostream &operator<<(std::ostream &os, const Partition &p);
std::ostream &operator<<(std::ostream &os, const NameMangling &m);
std::ostream &operator<<(std::ostream &os, const TailStrategy &t);
std::ostream &operator<<(std::ostream &os, const LoopAlignStrategy &a);
std::ostream &operator<<(std::ostream &os, const PrefetchBoundStrategy &s);

}  // namespace polyhalite
