// Definitions: the algorithm's side of one Func: the points of its definitions, the cells that they
// write, the order that they run in, and what reads find then.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/dataflow/relations.h"

namespace polyhalite::dataflow {

struct Definition {
  Set domain;
  Map cell;      // to V
  Map time;      // to T
  Map identity;  // to what tells apart instances that write other values
  size_t pure = 0;
  bool is_reduction = false;  // its instances may run in any order
  bool is_in_place = false;   // its instances read what the definitions before it left
  bool reads_before() const { return is_reduction || is_in_place; }
};

class Definitions {
 public:
  /// Stops where one is not affine.
  Definitions(Relations &relations, int func);

  int func() const { return func_; }
  int count() const { return static_cast<int>(definitions_.size()); }
  const Definition &operator[](int stage) const { return definitions_[stage]; }

  /// Each instance of the Func's statements to its identity. Refuses one that is no point of its
  /// definition's domain.
  UnionMap actual_identities() const;
  /// Each sink to the instance that the algorithm's own order leaves in its cell: of a reduction's
  /// own reads, in front of it.
  UnionMap expected_sources(const std::vector<Sink> &sinks) const;
  /// Each sink to what tells it apart from others, and of a reduction's own reads to itself, too:
  /// any instance may have come before.
  UnionMap expected_identities(const std::vector<Sink> &sinks, const UnionMap &sources) const;

 private:
  Definition definition(int stage) const;
  std::vector<Expr> time_of(int stage, size_t pure, const std::vector<Expr> &variables,
                            bool writes) const;
  Map expected_time(const Sink &sink, int before) const;
  int reads_before(const Sink &sink) const;

  Relations &relations_;
  const int func_;
  const FuncDef &def_;
  size_t longest_ = 0;  // variables of a definition
  std::vector<Definition> definitions_;
};

}  // namespace polyhalite::dataflow
