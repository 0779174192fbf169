// What the front end's handles (Func, Param, ImageParam, RDom) point to while an algorithm is being
// written. Mutable and shared; the freeze (freeze.h) turns it into values.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/ir/directive.h"
#include "lang/ir/node.h"
#include "polyhalite/error.h"

namespace polyhalite {

struct BufferContents;  // polyhalite/buffer_contents.h: storage behind Buffer<T>

/// One dimension of a reduction domain: var runs over [min, min + extent).
struct ReductionVariable {
  std::string var;
  Expr min, extent;
};

/// An RDom. The first variable is the innermost loop. `predicate` (where) is null if none; the
/// domain's own variables stand in it without a domain, which would own itself.
struct ReductionDomain {
  std::vector<ReductionVariable> vars;
  Expr predicate;
};

struct FunctionContents;

/// A Func that a directive made of another. Its owner is what it was made of, and handles to it
/// keep the owner alive.
struct DerivedFunc {
  DirectiveKind kind;
  std::vector<std::string> consumers;  // In, CloneIn: process-unique; none: all
  std::shared_ptr<FunctionContents> func;
};

/// A scalar Param or an ImageParam, identified by its address; `name` is unique in a pipeline.
struct ParameterContents : std::enable_shared_from_this<ParameterContents> {
  std::string name;
  Type type;
  bool is_buffer = false;
  bool is_output = false;                  // the buffer of an output: constraints on it only
  int dimensions = 0;                      // of a buffer
  int host_alignment = 0;                  // of a buffer, in bytes; 0 for that of its elements
  std::shared_ptr<BufferContents> buffer;  // bound for JIT, or null
  uint64_t scalar_bits = 0;                // bound value for JIT, bits of `type`
  bool has_scalar = false;
  Expr min_value, max_value, estimate;  // of a scalar; null if none
  Expr default_value;                   // of a scalar, for who calls the function by its metadata
  bool keeps_coordinates = false;  // of a scalar: who passes it sees to it that they fit 32 bits
  bool trace_loads = false;
  std::vector<std::string> trace_tags;
  bool constant = false;  // of a buffer: stands for the elements of `buffer`
  struct DimConstraint {
    Expr min, extent, stride;  // fixed by the user, or null
    Expr min_estimate, extent_estimate;
  };
  std::vector<DimConstraint> dims;  // one per dimension of a buffer
  // What limits and constraints name without owning it, since it owns this one: see unowned.h.
  std::vector<std::pair<const ParameterContents *, std::weak_ptr<ParameterContents>>> not_owned;
  uint64_t edits = 0;                 // changes of limits and constraints, for caches
  std::vector<Directive> directives;  // of a buffer: In
  std::vector<DerivedFunc> derived;
};

/// A scalar argument of which the caller may pass any number.
inline bool is_any_scalar(const VariableNode &v) {
  return v.kind == VariableKind::Param && !(v.param && v.param->keeps_coordinates);
}

/// One definition: f(args) = values, under `domain` for updates.
struct Definition {
  std::vector<Expr> args;  // pure definition: the Vars themselves
  std::vector<Expr> values;
  std::shared_ptr<const ReductionDomain> domain;  // null if none
  SourceLocation where;
};

/// The bounds that an auto-scheduler may assume for a dimension; null where none are given.
struct BoundsEstimate {
  Expr min, extent;
};

struct FunctionContents {
  std::string name;      // as the user gave it, made unique in the process ("f", "f$1")
  bool is_named = true;  // did the user give it?
  std::vector<std::string> pure_args;
  std::vector<Type> types;           // of the values; empty while undefined
  std::vector<Type> required_types;  // of every definition; any where empty
  int required_dimensions = -1;      // any where negative
  std::optional<Definition> pure;
  std::vector<Definition> updates;
  std::vector<Directive> directives;  // in the order of their calls, stamped by Directive::order
  std::set<int> unscheduled;          // stages that are left alone on purpose: no warning
  std::vector<BoundsEstimate> estimates;                          // one per argument, or empty
  std::vector<std::shared_ptr<ParameterContents>> output_params;  // one per value once
                                                                  // asked for, or empty
  std::vector<DerivedFunc> derived;
  // Made by rfactor, hoist_invariants or change_type of `made_of`, which owns it: the definitions
  // show what a program can ask of them, and no program may call it.
  bool is_partial = false;
  FunctionContents *made_of = nullptr;
  bool frozen = false;  // a consumer has been realized: no more definitions
  SourceLocation where;

  /// Of stage 0, the pure definition, or of an update.
  const Definition &stage(int index) const { return index == 0 ? *pure : updates[index - 1]; }
};

/// A name not used before in this process: the hint itself, else "hint$1", "hint$2"...
std::string unique_name(const std::string &hint);

}  // namespace polyhalite
