// exact_cast: an expression's value in another type, where every value of it is a whole number that
// both types hold.
//
//   cast<float>(a)*cast<float>(b), a and b int8   as int32   ->   cast<int32>(a)*cast<int32>(b)
//   clamp(a, 0, 100), a int16                     as int8    ->   cast<int8>(clamp(a, 0, 100))
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/simplify/simplify.h"

namespace polyhalite {

/// Ends of the integers of 64 bits, and sums of many of them.
__extension__ using WideInt = __int128;

struct WholeRange {
  WideInt min = 0, max = 0;
};

WholeRange hull(const WholeRange &a, const WholeRange &b);
/// Does the type hold each whole number of the range, exactly?
bool holds(Type t, const WholeRange &range);
/// Of an integer type.
WholeRange range_of_type(Type t);

class ExactCast {
 public:
  /// The value of a Func with a pure definition only, over its own variables; undefined where the
  /// Func has updates or is not known.
  using Definition = std::function<Expr(const CallNode &)>;

  /// `bounds` are those of variables that `e` below is evaluated with.
  ExactCast(Definition definition, VariableBounds bounds)
      : definition_(std::move(definition)), bounds_(std::move(bounds)) {}

  /// Of a value that is a whole number everywhere; nothing where that is not known.
  std::optional<WholeRange> range(const Expr &e);
  /// `e` in type t, with the same value everywhere; undefined where that is not proven.
  Expr operator()(Type t, const Expr &e);

 private:
  std::optional<WholeRange> find_range(const Expr &e);
  std::optional<WholeRange> arithmetic(const Expr &e);
  Expr arithmetic_in(Type t, const Expr &e);
  Expr inside(Type t, const Expr &e);

  Definition definition_;
  VariableBounds bounds_;
  std::map<const ExprNode *, std::optional<WholeRange>> memo_;
  std::vector<Expr> keep_;  // keys of memo_ stay alive
  int depth_ = 0;           // of producers
};

}  // namespace polyhalite
