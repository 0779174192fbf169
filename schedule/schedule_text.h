// The text forms of a schedule: one directive a line, and back.
//
//   schedule 1                                  version of the format
//   blur_y.split(y, yo, yi, 32, ShiftInwards)
//   blur_y.update(0).reorder(x, r)
//   blur_x.compute_at(blur_y, yo)
//   blur_x.store_at(blur_y.update(0), r)        a loop of an update
//   blur_y.bound(x, 0, n*4)                     n: a Param
//   dot_i32 = dot.change_type(int32)            a Func that the directive makes
//   s0, s1 = sum.update(0).hoist_invariants()   several
//
// As C++ (a block of statements on Func handles of the same names) and as Python:
//
//   // schedule 1                               # schedule 1
//   {                                           y = ph.Var("y")
//     Var y("y"), yo("yo"), yi("yi");           ...
//     blur_y.split(y, yo, yi, 32,               blur_y.split(y, yo, yi, 32,
//                  TailStrategy::ShiftInwards);              ph.TailStrategy.ShiftInwards)
//     blur_x.store_at(LoopLevel(blur_y, r, 1)); blur_x.store_at(ph.LoopLevel(blur_y, r, 1))
//   }
//
// A name that is no identifier there gets a handle that is; for a Func a comment says so:
// `// handle f_1 "f$1"`.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/directive.h"

namespace polyhalite {

std::string to_text(const std::vector<Directive> &directives);
std::string to_cpp(const std::vector<Directive> &directives);
std::string to_python(const std::vector<Directive> &directives);

/// Reads each of the three forms; the first line says which. Marks may have a size, as in
/// f.vectorize(x, 8): see shorthand.h. Scalars in factors are Params of type
/// int32, named only: build_tree binds them. A directive's place is NAME:LINE. Throws CompileError
/// there where the text is broken.
std::vector<Directive> parse_schedule(const std::string &text,
                                      const std::string &name = "schedule");

/// Do both say the same? Places and order stamps do not count, and a target stage of 0 equals the
/// unspecified one: at most one stage of a Func encloses a use.
bool same_directive(const Directive &a, const Directive &b);

}  // namespace polyhalite
