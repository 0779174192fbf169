// isl_wrap: the judge's only door to isl. Owned objects, a quota on every question, and errors as
// "unknown".
//
// Nothing of isl is visible here: the other files of polyhedral/ speak in integer rows. A question
// that exceeds the quota or fails inside isl answers nullopt, never by abort or exception. isl
// reports objects that outlive their context on stderr, which tests of this file capture.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct isl_ctx;
struct isl_set;

namespace polyhalite {

/// One isl context. Contexts share nothing, and objects never cross from one to another.
class IslContext {
 public:
  /// `operations` bounds the work of one question; 0 means without bound.
  explicit IslContext(unsigned long operations);
  ~IslContext();
  IslContext(const IslContext &) = delete;
  IslContext &operator=(const IslContext &) = delete;

  isl_ctx *get() const { return ctx_; }
  unsigned long operations() const { return operations_; }
  /// Why the last question had no answer: the quota, or isl's own message.
  std::string last_problem() const { return last_problem_; }

 private:
  friend class IslQuestion;
  isl_ctx *ctx_;
  unsigned long operations_;
  std::string last_problem_;
};

/// Columns: the constant, then one per dimension.
using IntegerRow = std::vector<int64_t>;

/// A union of integer polyhedra in a space of `dimensions` unnamed dimensions. A value: copying
/// shares isl's reference-counted object.
class IslSet {
 public:
  /// The points with row = 0 for all `equalities` and row >= 0 for all `inequalities`.
  static IslSet from_rows(IslContext &context, int dimensions,
                          const std::vector<IntegerRow> &equalities,
                          const std::vector<IntegerRow> &inequalities);
  static IslSet empty(IslContext &context, int dimensions);

  IslSet unite(const IslSet &other) const;
  /// Keeps the first `count` dimensions; the rest become existentially quantified.
  IslSet keep_first(int count) const;

  std::optional<bool> is_empty() const;
  std::optional<bool> is_subset_of(const IslSet &other) const;
  /// The lexicographically smallest point. nullopt also where there is none.
  std::optional<std::vector<int64_t>> smallest() const;
  /// A point of this set that is not in `other`, the smallest one.
  std::optional<std::vector<int64_t>> smallest_outside(const IslSet &other) const;
  /// isl's own notation, for tests and debugging.
  std::string to_text() const;

 private:
  IslSet(IslContext &context, isl_set *owned);
  IslContext *context_;
  std::shared_ptr<isl_set> set_;
};

}  // namespace polyhalite
