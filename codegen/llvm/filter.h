// A compiled pipeline as its callers see it: names, arguments, and what is known of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct FilterArgument {
  enum Kind { InputScalar = 0, InputBuffer = 1, OutputBuffer = 2 };  // as in metadata
  std::string name;
  Kind kind = InputScalar;
  Type type;
  int dimensions = 0;
  Expr default_value, min, max, estimate;  // of scalars; null or not constant: not known
  std::vector<Expr> bounds_estimates;      // of buffers: min and extent of each dimension, or empty
};

struct Filter {
  std::vector<std::string> namespaces;
  std::string name;
  std::vector<FilterArgument> arguments;  // the user context first, where the target has it
  Target target;

  /// C++ linkage: with the arguments' types in the linker's name.
  bool is_mangled() const { return target.has_feature(Target::CPlusPlusMangling); }
  std::string symbol() const;
  /// A second name, where the parameters' types count: pipelines whose extern stages are this
  /// function hand their context on as a void *, and it takes a const void *.
  std::optional<std::string> symbol_for_stages() const;
  std::string argv_symbol() const;
  std::string metadata_symbol() const;
};

/// The user context's name among the arguments.
inline constexpr const char *kUserContextName = "__user_context";

/// "a::b::f" in its parts; CompileError where one is no C name or already taken.
Filter make_filter(const std::string &qualified_name, const Target &target);

/// The filter of a function of loop IR, of which no more is known than its arguments.
Filter filter_of(const Function &f, const Target &target);

/// The bytes of a constant of type t as one number, lowest first; nothing where e is none.
std::optional<uint64_t> constant_bits(const Expr &e, Type t);

/// `const void *`.
Type user_context_type();

/// "uint8_t", "float const *". In C, pointers to what only C++ can name are "void *".
std::string c_type(Type t, bool in_c = false);
/// A name as an identifier of C and C++.
std::string c_identifier(const std::string &name);

}  // namespace polyhalite
