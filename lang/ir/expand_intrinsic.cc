#include "lang/ir/expand_intrinsic.h"

#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

Type unsigned_of(Type t) { return t.with_code(Type::UInt); }

Expr expand_saturating_add(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_uint()) {
    const Expr sum = a + b;
    return select(sum < a, t.max(), sum);
  }
  // In unsigned arithmetic, which wraps. Operands of one sign overflow where the sum has the other.
  const Type u = unsigned_of(t);
  const Expr x = cast(u, a), y = cast(u, b), sum = x + y;
  const Expr overflow = cast(t, (x ^ sum) & (y ^ sum)) < 0;
  return select(overflow, select(a < 0, t.min(), t.max()), cast(t, sum));
}

Expr expand_saturating_sub(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_uint()) return select(a < b, make_zero(t), a - b);
  const Type u = unsigned_of(t);
  const Expr x = cast(u, a), y = cast(u, b), difference = x - y;
  const Expr overflow = cast(t, (x ^ y) & (x ^ difference)) < 0;
  return select(overflow, select(a < 0, t.min(), t.max()), cast(t, difference));
}

Expr rounding_term(const Expr &a, const Expr &b) {
  return select(b > 0, (a >> (b - 1)) & 1, make_zero(a.type()));
}

// Halves round up. A shift the other way rounds nothing and wraps.
Expr expand_rounding_shift_right(const Expr &a, const Expr &b) {
  int64_t k = 0;
  if (is_const_int(b, &k) && k >= 2 && k < a.type().bits()) {
    // There is room for the 1.
    const Expr before = a >> make_int(b.type(), k - 1);
    return (before + make_one(a.type())) >> make_one(b.type());
  }
  if (is_const_int(b, &k) && k <= 0) return a << make_int(b.type(), -k);
  return (a >> b) + rounding_term(a, b);
}

Expr expand_rounding_shift_left(const Expr &a, const Expr &b) {
  int64_t k = 0;
  const bool never_right = b.type().is_uint() || (is_const_int(b, &k) && k >= 0);
  return never_right ? a << b : expand_rounding_shift_right(a, make_zero(b.type()) - b);
}

Expr product_shifted(const CallNode &c, bool rounds) {
  const Expr &a = c.args[0], &b = c.args[1], &q = c.args[2];
  const Expr product = widening_mul(a, b);
  const Expr amount = cast(unsigned_of(product.type()), q);
  const Expr shifted = rounds ? expand_rounding_shift_right(product, amount) : product >> amount;
  int64_t k;
  // What is left of 2n bits after n places fits n bits.
  if (is_const_int(q, &k) && k >= a.type().bits()) return cast(c.type, shifted);
  return saturating_cast(c.type, shifted);
}

// The quotient of the magnitudes; 0 where b is 0.
Expr quotient_of_magnitudes(const Expr &a, const Expr &b) {
  const Type t = a.type();
  const Expr q = abs(a) / abs(b);
  const Expr negative = (a < 0) != (b < 0);
  return cast(t, select(negative, make_zero(q.type()) - q, q));
}

Expr remainder_of_magnitudes(const Expr &a, const Expr &b) {
  const Expr r = abs(a) % abs(b);
  return cast(a.type(), select(a < 0, make_zero(r.type()) - r, r));
}

// One product after the other.
Expr expand_sum_products(const CallNode &c) {
  const int lanes = c.type.lanes(), terms = c.args[1].type().lanes() / lanes;
  auto term = [&](const Expr &factors, int i) {
    std::vector<int> picks;
    for (int l = 0; l < lanes; l++) picks.push_back(l * terms + i);
    const Expr picked = terms == 1 ? factors
                                   : Expr(std::make_shared<const ShuffleNode>(
                                         std::vector<Expr>{factors}, std::move(picks)));
    return make_cast(c.type, picked);
  };
  Expr sum = c.args[0];
  for (int i = 0; i < terms; i++) {
    const Expr product = make_binary(Op::Mul, term(c.args[1], i), term(c.args[2], i));
    sum = make_binary(Op::Add, sum, product);
  }
  return sum;
}

Expr expand_sum_matrix_products(const CallNode &c) {
  const MatrixLanes lanes = matrix_lanes(c);
  Expr sum = c.args[0];
  for (int k = 0; k < lanes.k; k++) {
    std::vector<int> of_a, of_b;
    for (int i = 0; i < lanes.m; i++) {
      for (int j = 0; j < lanes.n; j++) {
        of_a.push_back(lanes.of_a(i, k));
        of_b.push_back(lanes.of_b(k, j));
      }
    }
    auto term = [&](const Expr &factors, std::vector<int> picks) {
      return make_cast(c.type, Expr(std::make_shared<const ShuffleNode>(std::vector<Expr>{factors},
                                                                        std::move(picks))));
    };
    const Expr product =
        make_binary(Op::Mul, term(c.args[1], std::move(of_a)), term(c.args[2], std::move(of_b)));
    sum = make_binary(Op::Add, sum, product);
  }
  return sum;
}

}  // namespace

MatrixLanes matrix_lanes(const CallNode &c) {
  MatrixLanes lanes{};
  int64_t m = 0, group = 0;
  internal_check(is_const_int(c.args[3], &m) && is_const_int(c.args[4], &group),
                 "sum_matrix_products: a shape that is no constant");
  lanes.m = static_cast<int>(m);
  lanes.n = c.type.lanes() / lanes.m;
  lanes.k = c.args[1].type().lanes() / lanes.m;
  lanes.group = static_cast<int>(group);
  return lanes;
}

Expr expand_intrinsic(const CallNode &c) {
  if (c.kind != CallKind::Intrinsic || c.args.size() < 2) return Expr();
  const Expr &a = c.args[0], &b = c.args[1];
  const std::string &name = c.name;
  if (name == intrinsic::kSaturatingAdd) return expand_saturating_add(a, b);
  if (name == intrinsic::kSaturatingSub) return expand_saturating_sub(a, b);
  if (name == intrinsic::kHalvingAdd) return (a & b) + ((a ^ b) >> 1);
  if (name == intrinsic::kRoundingHalvingAdd) return (a | b) - ((a ^ b) >> 1);
  if (name == intrinsic::kHalvingSub) {
    // Unsigned, so that a difference of extremes wraps.
    const Type u = unsigned_of(a.type());
    return cast(a.type(), cast(u, a >> 1) - cast(u, b >> 1) - cast(u, ~a & b & 1));
  }
  if (name == intrinsic::kRoundingShiftRight) return expand_rounding_shift_right(a, b);
  if (name == intrinsic::kRoundingShiftLeft) return expand_rounding_shift_left(a, b);
  if (name == intrinsic::kMulShiftRight) return product_shifted(c, false);
  if (name == intrinsic::kRoundingMulShiftRight) return product_shifted(c, true);
  if (name == intrinsic::kDivRoundToZero) {
    return a.type().is_uint() ? a / b : quotient_of_magnitudes(a, b);
  }
  if (name == intrinsic::kModRoundToZero) {
    return a.type().is_uint() ? a % b : remainder_of_magnitudes(a, b);
  }
  if (name == intrinsic::kSumProducts) return expand_sum_products(c);
  if (name == intrinsic::kSumMatrixProducts) return expand_sum_matrix_products(c);
  return Expr();
}

}  // namespace polyhalite
