// Expr: a handle to an immutable expression.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "polyhalite/error.h"
#include "polyhalite/type.h"

namespace polyhalite {

struct ExprNode;

/// A value in an algorithm: an immutable, shared expression tree. A default-made Expr is undefined.
///
/// Copied and moved in a program it notes the line, so that operators, which take it by value, can
/// name theirs in errors. (They take nothing else, and it converts from nothing more, so that a
/// program's own class that an Expr converts to may have operators of its own.)
class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(const Expr &o, ExprSite site = ExprSite()) : node_(o.node_) {
    if (site.file) detail::note_site(site.file, site.line);
  }
  Expr(Expr &&o, ExprSite site = ExprSite()) noexcept : node_(std::move(o.node_)) {
    if (site.file) detail::note_site(site.file, site.line);
  }
  Expr &operator=(const Expr &) = default;
  Expr &operator=(Expr &&) = default;

  explicit Expr(bool x);
  explicit Expr(int8_t x);
  explicit Expr(int16_t x);
  Expr(int32_t x);  // NOLINT: literals read as expressions
  explicit Expr(int64_t x);
  explicit Expr(uint8_t x);
  explicit Expr(uint16_t x);
  explicit Expr(uint32_t x);
  explicit Expr(uint64_t x);
  Expr(float16_t x);   // NOLINT
  Expr(bfloat16_t x);  // NOLINT
  Expr(float x);       // NOLINT
  explicit Expr(double x);
  explicit Expr(long long x) : Expr(static_cast<int64_t>(x)) {}
  explicit Expr(unsigned long long x) : Expr(static_cast<uint64_t>(x)) {}
  Expr(const std::string &text);  // NOLINT: a string constant, for print

  bool defined() const { return node_ != nullptr; }
  bool same_as(const Expr &o) const { return node_ == o.node_; }
  Type type() const;
  const ExprNode &operator*() const { return *node_; }
  const ExprNode *operator->() const { return node_.get(); }
  const ExprNode *get() const { return node_.get(); }

 private:
  std::shared_ptr<const ExprNode> node_;
};

}  // namespace polyhalite
