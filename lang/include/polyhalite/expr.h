// Expr: a handle to an immutable expression.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "polyhalite/type.h"

namespace polyhalite {

struct ExprNode;

/// A value in an algorithm: an immutable, shared expression tree. A default-made Expr is undefined.
class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

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
