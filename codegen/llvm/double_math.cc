#include "codegen/llvm/double_math.h"

#include <limits>

namespace polyhalite {

using llvm::Value;

namespace {

// ln 2 in two numbers, of which the first has 42 bits: whole multiples up to 2^11 are exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
// What is left of pi/2 behind two numbers.
constexpr double kHalfPi3 = -1.4973849048591698e-33;
constexpr int64_t kRootHalfBits = 0x3fe6a09e667f3bcd;

}  // namespace

Value *DoubleMath::fma(Value *a, Value *b, Value *c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

// ((highest*x + a)*x + b)*x + ...
Value *DoubleMath::horner(Value *x, std::initializer_list<double> highest_first, Value *highest) {
  Value *sum = highest;
  for (const double c : highest_first) sum = sum ? fma(sum, x, f(x, c)) : f(x, c);
  return sum;
}

Value *DoubleMath::as_int(Value *x) {
  return b_.CreateFreeze(b_.CreateFPToSI(x, ints(x)->getType()));
}

// 2^n for an integer n in [-1022, 1023], by its exponent.
Value *DoubleMath::two_to(Value *n) {
  llvm::Type *type = b_.getDoubleTy();
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(n->getType())) {
    type = llvm::FixedVectorType::get(type, v->getNumElements());
  }
  return floats(b_.CreateShl(b_.CreateAdd(n, i(n, 1023)), i(n, 52)), type);
}

// In two steps, which reach infinity and denormals.
Value *DoubleMath::times_two_to(Value *x, Value *n) {
  Value *half = b_.CreateAShr(n, i(n, 1));
  return mul(mul(x, two_to(half)), two_to(b_.CreateSub(n, half)));
}

// a + b = high + low, exactly.
DoubleMath::Pair DoubleMath::sum_of(Value *a, Value *b) {
  Value *high = add(a, b), *of_b = sub(high, a);
  return {high, add(sub(a, sub(high, of_b)), sub(b, of_b))};
}

// x = n ln2 + r, e^x = 2^n e^r.
Value *DoubleMath::exp_of(Value *x) {
  Value *held = select(less(x, 710), x, f(x, 710));
  held = select(greater(held, -746), held, f(x, -746));
  Value *n = nearest(mul(held, f(x, kLog2E))), *minus = b_.CreateFNeg(n);
  Value *r = fma(minus, f(x, kLn2Low), fma(minus, f(x, kLn2High), held));
  Value *p =
      horner(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  p = add(fma(p, mul(r, r), r), f(x, 1));
  return select(is_nan(x), x, times_two_to(p, as_int(n)));
}

// 2^n (e^r - 1) + (2^n - 1), the second exact for all n that matter.
Value *DoubleMath::expm1_of(Value *x) {
  Value *held = select(less(x, 709), x, f(x, 709));
  held = select(greater(held, -40), held, f(x, -40));
  Value *n = nearest(mul(held, f(x, kLog2E))), *minus = b_.CreateFNeg(n);
  Value *r = fma(minus, f(x, kLn2Low), fma(minus, f(x, kLn2High), held));
  Value *p = horner(
      r, {1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
          1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  p = fma(p, mul(r, r), r);
  Value *scale =
      two_to(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, as_int(n), i(ints(x), 1023)));
  return select(is_nan(x), x, fma(p, scale, sub(scale, f(x, 1))));
}

DoubleMath::Parts DoubleMath::parts_of(Value *x) {
  Value *denormal = less(x, 0x1p-1022);
  Value *bits = ints(select(denormal, mul(x, f(x, 0x1p54)), x));
  // sqrt(1/2) becomes the place where the exponent steps.
  Value *exponent = b_.CreateAShr(b_.CreateSub(bits, i(bits, kRootHalfBits)), i(bits, 52));
  Value *fraction = b_.CreateSub(bits, b_.CreateShl(exponent, i(bits, 52)));
  Value *e = b_.CreateSIToFP(exponent, x->getType());
  return {sub(e, select(denormal, f(x, 54), f(x, 0))), floats(fraction, x->getType())};
}

Value *DoubleMath::with_limits_of_log(Value *x, Value *log) {
  Value *r = select(b_.CreateFCmpOEQ(x, f(x, 0)), f(x, -kInfinity), log);
  r = select(b_.CreateFCmpOEQ(x, f(x, kInfinity)), x, r);
  return select(b_.CreateFCmpOGE(x, f(x, 0)), r, f(x, std::numeric_limits<double>::quiet_NaN()));
}

// log(1 + m) = m - (m^2/2 - s (m^2/2 + R)) with s = m/(2 + m), R = 2/3 s^2 + 2/5 s^4 + ...
Value *DoubleMath::log_of(Value *x) {
  const Parts parts = parts_of(x);
  Value *m = sub(parts.fraction, f(x, 1)), *s = div(m, add(m, f(x, 2))), *z = mul(s, s);
  Value *rest = mul(z, horner(z, {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15,
                                  2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3}));
  Value *half = mul(f(x, 0.5), mul(m, m));
  Value *low = fma(parts.exponent, f(x, kLn2Low), mul(s, add(half, rest)));
  Value *log = sub(mul(parts.exponent, f(x, kLn2High)), sub(sub(half, low), m));
  return with_limits_of_log(x, log);
}

// 2 artanh(s) with s and the first terms of its series in two numbers. For positive numbers.
DoubleMath::Pair DoubleMath::precise_log(Value *x) {
  const Parts parts = parts_of(x);
  Value *m = sub(parts.fraction, f(x, 1));
  const Pair below = sum_of(m, f(x, 2));
  Value *s = div(m, below.high);
  Value *s_low =
      div(fma(b_.CreateFNeg(s), below.low, fma(b_.CreateFNeg(s), below.high, m)), below.high);
  Value *z = mul(s, s), *z_low = fma(s, s, b_.CreateFNeg(z));
  z_low = fma(mul(s, f(x, 2)), s_low, z_low);
  // Of s^2/3 + s^4/5 + ..., the first term precisely.
  constexpr double kThird = 1.0 / 3, kThirdLow = 1.850371707708594e-17;
  Value *third = mul(z, f(x, kThird));
  Value *third_low = fma(z, f(x, kThird), b_.CreateFNeg(third));
  third_low = fma(z_low, f(x, kThird), fma(z, f(x, kThirdLow), third_low));
  Value *rest =
      mul(mul(z, z), horner(z, {1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5}));
  const Pair factor = sum_of(third, add(rest, third_low));
  // 2s (1 + factor)
  Value *product = mul(s, factor.high);
  Value *product_low = fma(s, factor.high, b_.CreateFNeg(product));
  product_low = fma(s, factor.low, fma(s_low, factor.high, product_low));
  const Pair artanh = sum_of(s, product);
  Value *artanh_low = add(artanh.low, add(product_low, s_low));
  const Pair all = sum_of(mul(parts.exponent, f(x, kLn2High)), mul(artanh.high, f(x, 2)));
  Value *low = fma(parts.exponent, f(x, kLn2Low), fma(artanh_low, f(x, 2), all.low));
  Value *high = add(all.high, low);
  return {high, add(sub(all.high, high), low)};
}

Value *DoubleMath::log1p_of(Value *s) {
  Value *u = add(s, f(s, 1));
  Value *r = div(mul(log_of(u), s), sub(u, f(s, 1)));
  return select(b_.CreateFCmpOEQ(u, f(s, 1)), s,
                select(b_.CreateFCmpOEQ(u, f(s, kInfinity)), u, r));
}

Value *DoubleMath::pow_of(Value *x, Value *y) {
  Value *a = magnitude(x), *zero = f(x, 0), *one = f(x, 1), *infinity = f(x, kInfinity);
  const Pair log = precise_log(a);
  // Powers that are beyond all numbers, or vanish, whatever y is exactly.
  Value *held = select(less(y, 0x1p70), y, f(y, 0x1p70));
  held = select(greater(held, -0x1p70), held, f(y, -0x1p70));
  Value *power = mul(held, log.high);
  Value *low = fma(held, log.low, fma(held, log.high, b_.CreateFNeg(power)));
  Value *size = exp_of(power);
  Value *tail = select(b_.CreateFCmpOLT(magnitude(low), one), low, zero);
  Value *r = select(b_.CreateFCmpOEQ(size, infinity), size, fma(size, tail, size));
  Value *large = b_.CreateFCmpOGT(a, one), *positive = b_.CreateFCmpOGT(y, zero);
  r = select(b_.CreateFCmpOEQ(a, zero), select(positive, zero, infinity), r);
  r = select(b_.CreateFCmpOEQ(a, infinity), select(positive, infinity, zero), r);
  Value *of_infinite_y = select(b_.CreateICmpEQ(large, positive), infinity, zero);
  Value *infinite_y = b_.CreateFCmpOEQ(magnitude(y), infinity);
  r = select(infinite_y, of_infinite_y, r);
  Value *is_whole = b_.CreateFCmpOEQ(whole_part(y), y);
  Value *half = mul(y, f(y, 0.5));
  Value *odd = b_.CreateAnd(is_whole, b_.CreateFCmpUNE(whole_part(half), half));
  r = select(odd, with_sign_of(r, x), r);
  Value *negative = b_.CreateAnd(b_.CreateFCmpOLT(x, zero), b_.CreateFCmpOLT(a, infinity));
  Value *no_root = b_.CreateAnd(negative, b_.CreateNot(is_whole));
  r = select(no_root, f(x, std::numeric_limits<double>::quiet_NaN()), r);
  r = select(b_.CreateFCmpUNO(x, y), add(x, y), r);
  Value *minus_one = b_.CreateAnd(infinite_y, b_.CreateFCmpOEQ(a, one));
  Value *always_one = b_.CreateOr(b_.CreateFCmpOEQ(y, zero), b_.CreateFCmpOEQ(x, one));
  return select(b_.CreateOr(minus_one, always_one), one, r);
}

// x = n pi/2 + r + low.
DoubleMath::Turned DoubleMath::turned(Value *x) {
  Value *n = nearest(mul(x, f(x, 0.63661977236758134))), *minus = b_.CreateFNeg(n);
  Value *t = fma(minus, f(x, kHalfPi1), x);
  Value *r = fma(minus, f(x, kHalfPi2), t);
  Value *low = fma(minus, f(x, kHalfPi2), sub(t, r));
  low = fma(minus, f(x, kHalfPi3), low);
  Value *z = mul(r, r), *cube = mul(z, r);
  Value *of_sine = horner(z, {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                              -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  // sin(r + low) = sin r + low cos r
  Value *sine = add(r, fma(cube, of_sine, mul(low, fma(z, f(x, -0.5), f(x, 1)))));
  Value *of_cosine = horner(z, {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24});
  Value *half = mul(z, f(x, 0.5)), *w = sub(f(x, 1), half);
  Value *rest = sub(sub(f(x, 1), w), half);
  rest = add(rest, sub(mul(mul(z, z), of_cosine), mul(r, low)));
  return {as_int(n), sine, add(w, rest)};
}

Value *DoubleMath::sine_or_cosine(Value *x, bool cosine) {
  const Turned t = turned(x);
  Value *quarters = cosine ? b_.CreateAdd(t.quarters, i(t.quarters, 1)) : t.quarters;
  auto bit = [&](int64_t b) {
    return b_.CreateICmpNE(b_.CreateAnd(quarters, i(quarters, b)), i(quarters, 0));
  };
  Value *value = select(bit(1), t.cosine, t.sine);
  value = select(bit(2), b_.CreateFNeg(value), value);
  // Infinities have none, and sin(-0) is -0.
  Value *finite = b_.CreateFCmpOLT(magnitude(x), f(x, kInfinity));
  value = select(finite, value, f(x, std::numeric_limits<double>::quiet_NaN()));
  return cosine ? value : select(b_.CreateFCmpOEQ(x, f(x, 0)), x, value);
}

Value *DoubleMath::tangent(Value *x) {
  const Turned t = turned(x);
  Value *odd = b_.CreateICmpNE(b_.CreateAnd(t.quarters, i(t.quarters, 1)), i(t.quarters, 0));
  Value *value = select(odd, div(b_.CreateFNeg(t.cosine), t.sine), div(t.sine, t.cosine));
  Value *finite = b_.CreateFCmpOLT(magnitude(x), f(x, kInfinity));
  value = select(finite, value, f(x, std::numeric_limits<double>::quiet_NaN()));
  return select(b_.CreateFCmpOEQ(x, f(x, 0)), x, value);
}

// Of a number in [0, 1]: beyond tan(pi/8) by atan a = pi/4 + atan((a - 1)/(a + 1)).
Value *DoubleMath::arctangent(Value *a) {
  Value *beyond = greater(a, 0.41421356237309503);
  Value *t = select(beyond, div(sub(a, f(a, 1)), add(a, f(a, 1))), a);
  Value *z = mul(t, t);
  Value *p = horner(
      z, {0.016285756855221028, -0.034570561981427744, 0.04551593220626549, -0.05230454270650244,
          0.05878928997834775, -0.06666424885738255, 0.07692296375032143, -0.09090908753500877,
          0.11111111105155447, -0.14285714285659828, 0.19999999999999804, -0.3333333333333333});
  Value *low = select(beyond, f(a, kHalfPi2 / 2), f(a, 0));
  Value *rest = fma(mul(p, z), t, low);
  return add(select(beyond, f(a, kHalfPi1 / 2), f(a, 0)), add(t, rest));
}

Value *DoubleMath::arctangent2(Value *y, Value *x) {
  // Infinities stand for 1 beside 0.
  Value *far_x = b_.CreateFCmpOEQ(magnitude(x), f(x, kInfinity));
  Value *far_y = b_.CreateFCmpOEQ(magnitude(y), f(x, kInfinity));
  Value *any_far = b_.CreateOr(far_x, far_y);
  auto near = [&](Value *v, Value *far) {
    return select(any_far, select(far, f(x, 1), f(x, 0)), magnitude(v));
  };
  Value *a = near(x, far_x), *b = near(y, far_y);
  Value *steep = b_.CreateFCmpOGT(b, a);
  Value *small = select(steep, a, b), *large = select(steep, b, a);
  Value *none = b_.CreateFCmpOEQ(large, f(x, 0));
  Value *angle = arctangent(div(small, select(none, f(x, 1), large)));
  angle = select(steep, add(sub(f(x, kHalfPi1), angle), f(x, kHalfPi2)), angle);
  Value *negative = b_.CreateICmpSLT(ints(x), i(ints(x), 0));
  angle = select(negative, add(sub(f(x, 2 * kHalfPi1), angle), f(x, 2 * kHalfPi2)), angle);
  return select(b_.CreateFCmpUNO(x, y), add(x, y), with_sign_of(angle, y));
}

// (E + E/(E + 1))/2 with E = e^a - 1; far out e^(a/2) e^(a/2)/2.
Value *DoubleMath::sinh_of(Value *x) {
  Value *a = magnitude(x), *e = expm1_of(a);
  Value *near = mul(f(x, 0.5), add(e, div(e, add(e, f(x, 1)))));
  Value *root = exp_of(mul(a, f(x, 0.5)));
  Value *far = mul(mul(root, f(x, 0.5)), root);
  return with_sign_of(select(greater(a, 40), far, near), x);
}

Value *DoubleMath::cosh_of(Value *x) {
  Value *a = magnitude(x), *e = exp_of(a);
  Value *near = mul(f(x, 0.5), add(e, div(f(x, 1), e)));
  Value *root = exp_of(mul(a, f(x, 0.5)));
  Value *far = mul(mul(root, f(x, 0.5)), root);
  return select(greater(a, 40), far, near);
}

Value *DoubleMath::tanh_of(Value *x) {
  Value *a = magnitude(x);
  Value *e = expm1_of(mul(select(greater(a, 22), f(x, 22), a), f(x, 2)));
  Value *value = div(e, add(e, f(x, 2)));
  return select(is_nan(x), x, with_sign_of(select(greater(a, 22), f(x, 1), value), x));
}

Value *DoubleMath::asinh_of(Value *x) {
  Value *a = magnitude(x), *square = mul(a, a);
  Value *near = log1p_of(add(a, div(square, add(root(add(square, f(a, 1))), f(a, 1)))));
  Value *far = add(log_of(a), f(a, kLn2High + kLn2Low));
  return with_sign_of(select(greater(a, 1e100), far, near), x);
}

Value *DoubleMath::acosh_of(Value *x) {
  Value *s = sub(x, f(x, 1));
  Value *near = log1p_of(add(s, root(mul(s, add(x, f(x, 1))))));
  return select(greater(x, 1e100), add(log_of(x), f(x, kLn2High + kLn2Low)), near);
}

Value *DoubleMath::atanh_of(Value *x) {
  Value *a = magnitude(x);
  return with_sign_of(mul(log1p_of(div(add(a, a), sub(f(a, 1), a))), f(a, 0.5)), x);
}

Value *DoubleMath::erf_of(Value *x) {
  Value *a = magnitude(x), *z = mul(x, x);
  Value *small = horner(z, {-4.230945824295338e-12, 8.709045129053106e-11, -1.216456005728345e-09,
                            1.4792401209404813e-08, -1.6364642158167616e-07, 1.6462045441468418e-06,
                            -1.4925647567519332e-05, 0.00012055332902888736, -0.000854832702193483,
                            0.0052239776254232985, -0.02686617064512984, 0.1128379167095512,
                            -0.37612638903183754, 1.1283791670955126});
  // log(1 - erf) over [1, 5/2] and [5/2, 6], each as a polynomial over [-1, 1].
  Value *held = select(less(a, 6), a, f(a, 6));
  Value *u = mul(sub(held, f(a, 1.75)), f(a, 1 / 0.75));
  Value *middle = horner(
      u, {-4.5361416403568975e-12, 8.75550731251268e-12, 6.781175031623205e-11,
          -7.383309262865253e-10, 4.777297129448414e-09, -2.2627777036099397e-08,
          6.68898548291191e-08, 8.284244351103732e-08, -3.169102745143354e-06,
          3.1061356718162366e-05, -0.0002287851286249952, 0.0014633569155670261,
          -0.00866482328600392, -0.5118413436544099, -2.9697081756100614, -4.317863525433222});
  Value *v = mul(sub(held, f(a, 4.25)), f(a, 1 / 1.75));
  Value *outer = horner(v, {1.9506157255063214e-10, 3.0786274738839566e-08, -2.2646981512260376e-07,
                            1.100955503808787e-06, -4.852267606489833e-06, 2.0242007469467685e-05,
                            -8.07637995399996e-05, 0.0003124862099776561, -0.0011879762323830348,
                            0.004506833723867729, -0.017491629510699564, -2.989259015188096,
                            -15.26660750216324, -20.107769901469986});
  Value *large = sub(f(a, 1), exp_of(select(less(a, 2.5), middle, outer)));
  Value *r = select(less(a, 1), mul(small, x), with_sign_of(large, x));
  return select(is_nan(x), x, r);
}

Value *DoubleMath::emit_double(const std::string &name, const std::vector<Value *> &args) {
  Value *x = args[0];
  auto side = [&] { return root(mul(sub(f(x, 1), x), add(f(x, 1), x))); };
  if (name == "exp") return exp_of(x);
  if (name == "log") return log_of(x);
  if (name == "pow") return pow_of(x, args[1]);
  if (name == "sin" || name == "cos") return sine_or_cosine(x, name == "cos");
  if (name == "tan") return tangent(x);
  if (name == "atan") return arctangent2(x, f(x, 1));
  if (name == "atan2") return arctangent2(x, args[1]);
  if (name == "asin") return arctangent2(x, side());
  if (name == "acos") return arctangent2(side(), x);
  if (name == "sinh") return sinh_of(x);
  if (name == "cosh") return cosh_of(x);
  if (name == "tanh") return tanh_of(x);
  if (name == "asinh") return asinh_of(x);
  if (name == "acosh") return acosh_of(x);
  if (name == "atanh") return atanh_of(x);
  if (name == "erf") return erf_of(x);
  return nullptr;
}

}  // namespace polyhalite
