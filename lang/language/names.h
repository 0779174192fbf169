// Names that users give to Funcs, Vars and inputs.
#pragma once

#include <string>

namespace polyhalite {

/// The name of Var::outermost(), the loop outside all loops of a stage.
inline constexpr const char *kOutermost = "__outermost";
/// `text` with every character but letters, digits and '_' as '_'; "_" before a leading digit.
std::string clean_name(const std::string &text);
/// A name that no user can give and nobody else gets: "hint$7".
std::string anonymous_name(const std::string &hint);
/// Without the "$7" that unique_name and anonymous_name add.
std::string plain_name(const std::string &name);

}  // namespace polyhalite
