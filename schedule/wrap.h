// wrap: Funcs between a Func (or an image) and its consumers.
#pragma once

#include <map>
#include <string>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// The Funcs that `in` made for every consumer, by what they copy.
using GlobalWrappers = std::map<std::string, std::string>;

/// in: a copy of f's values, which the consumers read in its place.
///   g(x) = f(x - 1) + f(x)   ->   f_in_g(x) = f(x);  g(x) = f_in_g(x - 1) + f_in_g(x)
/// f may be an image. A consumer that does not read f itself stands for those between it and f.
/// Without consumers named, all that read f and are no wrappers of it. Where the
/// algorithm has the new Func already, as the program calls it too, only calls change.
Algorithm wrap(Algorithm a, const Directive &d, GlobalWrappers &global);

/// clone_in: a Func with the definitions of f, which the consumers read in its place.
///   f(x) = e;  g(x) = f(x)   ->   f(x) = e;  f_clone_in_g(x) = e;  g(x) = f_clone_in_g(x)
Algorithm clone(Algorithm a, const Directive &d, const GlobalWrappers &global);

}  // namespace polyhalite
