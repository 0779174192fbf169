// Names that users give to Funcs, Vars and inputs.
#pragma once

#include <string>

namespace polyhalite {

/// `text` with every character but letters, digits and '_' as '_'; "_" before a leading digit.
std::string clean_name(const std::string &text);
/// A name that no user can give and nobody else gets: "hint$7".
std::string anonymous_name(const std::string &hint);
/// Funcs that are made from now on get other names (unique_name): an input keeps the name that the
/// user gives it.
void reserve_name(const std::string &name);
/// Without the "$7" that unique_name and anonymous_name add.
std::string plain_name(const std::string &name);
/// That, as messages name it: 'blur'.
std::string quoted_name(const std::string &name);

}  // namespace polyhalite
