#include "codegen/llvm/vector_math.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <limits>

namespace polyhalite {

using llvm::Value;

namespace {

constexpr double kRoundingTerm = 12582912.0;  // 1.5 * 2^23: sums have their integer part last
// ln 2 in two parts, of which the first has products with small integers that are exact.
constexpr double kLn2High32 = 0.693359375, kLn2Low32 = -2.12194440e-4;
// pi/2 in three parts of float32, for products that are not rounded, and in two of float64, of
// which the first has 31 bits.
constexpr double kHalfPi32First = 0x1.921fb6p+0, kHalfPi32Second = -0x1.777a5cp-25,
                 kHalfPi32Third = -0x1.ee59dap-50;
constexpr double kHalfPiHigh = 0x1.921fb544p+0, kHalfPiLow = 0x1.0b4611a626331p-34;
constexpr double kLn2 = 0.69314718055994531;
constexpr int kExponentBias = 127, kAhead = 64;

}  // namespace

Value *VectorMath::f(Value *like, double v) { return llvm::ConstantFP::get(like->getType(), v); }
Value *VectorMath::i(Value *like, int64_t v) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(v), true);
}
Value *VectorMath::ints(Value *x) {
  llvm::Type *t = b_.getIntNTy(x->getType()->getScalarSizeInBits());
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    t = llvm::FixedVectorType::get(t, v->getNumElements());
  }
  return b_.CreateBitCast(x, t);
}
Value *VectorMath::floats(Value *x, llvm::Type *type) { return b_.CreateBitCast(x, type); }

Value *VectorMath::magnitude(Value *x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
Value *VectorMath::with_sign_of(Value *a, Value *signed_value) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, signed_value);
}

Value *VectorMath::fused(Value *a, Value *b, Value *c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
}

Value *VectorMath::polynomial(Value *x, std::initializer_list<double> highest_first) {
  Value *sum = nullptr;
  for (const double c : highest_first) sum = sum ? fused(sum, x, f(x, c)) : f(x, c);
  return sum;
}

// 2^n for an integer n in [-126, 127], by its exponent; only n's last nine bits count.
Value *VectorMath::power_of_two(Value *n) {
  return number_of_exponent(b_.CreateAdd(n, i(n, kExponentBias)));
}

Value *VectorMath::number_of_exponent(Value *bits) {
  llvm::Type *type = b_.getFloatTy();
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(bits->getType())) {
    type = llvm::FixedVectorType::get(type, v->getNumElements());
  }
  return floats(b_.CreateShl(bits, i(bits, 23)), type);
}

// The bias of exponents comes with the rounding term: it takes no instruction, and no register for
// a constant, of which functions have about as many as there are registers.
VectorMath::Halvings VectorMath::halvings(Value *x, Powers powers) {
  const int bias = powers == Powers::Any ? 2 * kExponentBias : kExponentBias + kAhead;
  Value *shifted = fused(x, f(x, kLog2E), f(x, kRoundingTerm + bias));
  Value *n = b_.CreateFSub(shifted, f(x, kRoundingTerm + bias));
  Value *high = fused(n, f(x, -kLn2High32), x);
  return {powers, n, ints(shifted), high, fused(n, f(x, -kLn2Low32), high)};
}

// (e^r - 1 - r)/r^2 for |r| <= ln2/2.
Value *VectorMath::exp_beyond_linear(Value *r) {
  return polynomial(r,
                    {0x1.685148p-10, 0x1.123bd8p-7, 0x1.555b98p-5, 0x1.55548ep-3, 0x1.fffff8p-2});
}

// e^r - 1, with all its digits.
Value *VectorMath::exp_less_one(Value *r) {
  return fused(b_.CreateFMul(r, r), exp_beyond_linear(r), r);
}

// e^rest; the linear term in its two parts, so that rounding their sum costs nothing.
Value *VectorMath::exp_of_rest(const Halvings &h) {
  Value *beyond = b_.CreateFMul(exp_beyond_linear(h.rest), b_.CreateFMul(h.rest, h.rest));
  Value *p = fused(h.n, f(h.rest, -kLn2Low32), beyond);
  return b_.CreateFAdd(b_.CreateFAdd(h.high, p), f(h.rest, 1));
}

// The instruction takes 4, 8 or 16 lanes.
Value *VectorMath::scaled_by_instruction(Value *p, Value *n) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(p->getType());
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  const unsigned width = lanes <= 4 ? 4 : lanes <= 8 ? 8 : 16;
  auto *piece = llvm::FixedVectorType::get(b_.getFloatTy(), width);
  auto scale = [&](Value *a, Value *exponent) -> Value * {
    Value *all = b_.getIntN(width == 16 ? 16 : 8, width == 16 ? 0xffff : 0xff);
    std::vector<Value *> args{a, exponent, llvm::PoisonValue::get(piece), all};
    constexpr uint32_t kAsTheModeSays = 4;
    if (width == 16) args.push_back(b_.getInt32(kAsTheModeSays));
    return b_.CreateIntrinsic(width == 16  ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                              : width == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                                           : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128,
                              {}, args);
  };
  if (!vector) {
    Value *none = llvm::PoisonValue::get(piece);
    return b_.CreateExtractElement(scale(b_.CreateInsertElement(none, p, uint64_t{0}),
                                         b_.CreateInsertElement(none, n, uint64_t{0})),
                                   uint64_t{0});
  }
  if (lanes == width) return scale(p, n);
  auto lanes_from = [&](unsigned first, unsigned count) {
    std::vector<int> picked;
    for (unsigned l = first; l < first + count; l++)
      picked.push_back(l < lanes ? static_cast<int>(l) : -1);
    return picked;
  };
  std::vector<Value *> pieces;
  for (unsigned first = 0; first < lanes; first += width) {
    const std::vector<int> picked = lanes_from(first, width);
    pieces.push_back(scale(b_.CreateShuffleVector(p, picked), b_.CreateShuffleVector(n, picked)));
  }
  Value *all = llvm::concatenateVectors(b_, pieces);
  return b_.CreateShuffleVector(all, lanes_from(0, lanes));
}

// Any power is two factors, which reach infinity and denormals. Of those up to 1, which may be
// denormal, 2^(n + 64) is a normal number: only the product with 2^-64 is rounded.
Value *VectorMath::scaled(Value *p, const Halvings &h) {
  if (scales_) return scaled_by_instruction(p, h.n);
  if (h.powers == Powers::UpToOne) {
    return b_.CreateFMul(b_.CreateFMul(p, number_of_exponent(h.exponent)), f(p, 0x1p-64));
  }
  static_assert(kAhead == 64);
  Value *half = b_.CreateAShr(h.exponent, i(h.exponent, 1));
  Value *product = b_.CreateFMul(p, number_of_exponent(half));
  return b_.CreateFMul(product, number_of_exponent(b_.CreateSub(h.exponent, half)));
}

// Shorter than exp_of_rest(), at the price of half a unit.
Value *VectorMath::exp_of_short_rest(Value *rest) {
  return polynomial(
      rest, {0x1.685148p-10, 0x1.123bd8p-7, 0x1.555b98p-5, 0x1.55548ep-3, 0x1.fffff8p-2, 1, 1});
}

// e^x = 2^n e^rest.
Value *VectorMath::exp(Value *x) {
  Value *held = select(b_.CreateFCmpOGT(x, f(x, 89.0)), f(x, 89.0), x);
  held = select(b_.CreateFCmpOLT(held, f(x, -104.0)), f(x, -104.0), held);
  const Halvings h = halvings(held, Powers::Any);
  return scaled(exp_of_short_rest(h.rest), h);
}

// Next to exp() six instructions and two constants less: with 16 registers constants of exp(),
// which stay in them across a loop, were moved from one to the other in each step.
Value *VectorMath::exp_of_nonpositive(Value *x) {
  // Zero minus a number is its negation but for the sign of zero, whose power is 1 all the same.
  using namespace llvm::PatternMatch;
  Value *negated = nullptr;
  if (match(x, m_FSub(m_AnyZeroFP(), m_Value(negated)))) x = b_.CreateFNeg(negated);
  Value *held = select(b_.CreateFCmpOLT(x, f(x, -104.0)), f(x, -104.0), x);
  const Halvings h = halvings(held, Powers::UpToOne);
  return scaled(exp_of_short_rest(h.rest), h);
}

// x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), log x = e ln2 + log(1 + m).
Value *VectorMath::log(Value *x) {
  Value *denormal = b_.CreateFCmpOLT(x, f(x, 0x1p-126));
  Value *scaled = select(denormal, b_.CreateFMul(x, f(x, 0x1p23)), x);
  Value *bits = ints(scaled);
  // sqrt(1/2) becomes the place where the exponent steps.
  Value *from_root = b_.CreateSub(bits, i(bits, 0x3f3504f3));
  Value *exponent = b_.CreateAShr(from_root, i(bits, 23));
  Value *mantissa = b_.CreateSub(bits, b_.CreateShl(exponent, i(bits, 23)));
  Value *e = b_.CreateSIToFP(exponent, x->getType());
  e = b_.CreateFSub(e, select(denormal, f(x, 23), f(x, 0)));
  Value *m = b_.CreateFSub(floats(mantissa, x->getType()), f(x, 1));
  Value *square = b_.CreateFMul(m, m);
  Value *p = polynomial(m, {-0x1.3425e4p-4, 0x1.044d52p-3, -0x1.0def3cp-3, 0x1.230bfap-3,
                            -0x1.546baep-3, 0x1.999d38p-3, -0x1.00023ap-2, 0x1.55555ap-2});
  p = fused(e, f(x, kLn2Low32), b_.CreateFMul(b_.CreateFMul(p, m), square));
  p = fused(square, f(x, -0.5), p);
  Value *r = fused(e, f(x, kLn2High32), b_.CreateFAdd(m, p));
  r = select(b_.CreateFCmpOEQ(x, f(x, 0)), f(x, -kInfinity), r);
  r = select(b_.CreateFCmpOEQ(x, f(x, kInfinity)), x, r);
  Value *number = b_.CreateFCmpOGE(x, f(x, 0));
  return select(number, r, f(x, std::numeric_limits<double>::quiet_NaN()));
}

// e^(y log|x|) with the logarithm in float64, where float32's denormals are normal.
Value *VectorMath::pow(Value *x, Value *y) {
  llvm::Type *wide = b_.getDoubleTy();
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    wide = llvm::FixedVectorType::get(wide, v->getNumElements());
  }
  Value *a = b_.CreateFPExt(magnitude(x), wide);
  Value *bits = ints(a);
  Value *from_root = b_.CreateSub(bits, i(bits, 0x3fe6a09e667f3bcd));
  Value *exponent = b_.CreateAShr(from_root, i(bits, 52));
  Value *mantissa = floats(b_.CreateSub(bits, b_.CreateShl(exponent, i(bits, 52))), wide);
  // log m = 2 artanh((m - 1)/(m + 1)), by its series.
  Value *s = b_.CreateFDiv(b_.CreateFSub(mantissa, f(a, 1)), b_.CreateFAdd(mantissa, f(a, 1)));
  Value *square = b_.CreateFMul(s, s);
  Value *series = polynomial(square, {2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value *log2 = b_.CreateFMul(b_.CreateFMul(series, s), f(a, kLog2E));
  auto *narrow_type = ints(x)->getType();
  log2 = b_.CreateFAdd(log2, b_.CreateSIToFP(b_.CreateTrunc(exponent, narrow_type), wide));
  Value *t = b_.CreateFMul(b_.CreateFPExt(y, wide), log2);
  t = select(b_.CreateFCmpOGT(t, f(a, 129)), f(a, 129), t);
  t = select(b_.CreateFCmpOLT(t, f(a, -151)), f(a, -151), t);
  constexpr double kWideRoundingTerm = 6755399441055744.0;  // 1.5 * 2^52
  Value *shifted = b_.CreateFAdd(t, f(a, kWideRoundingTerm));
  Value *n = b_.CreateFSub(shifted, f(a, kWideRoundingTerm));
  Value *whole = b_.CreateTrunc(ints(shifted), narrow_type);
  Value *r =
      b_.CreateFPTrunc(b_.CreateFMul(b_.CreateFSub(t, n), f(a, 0.69314718055994531)), x->getType());
  Value *p = b_.CreateFAdd(exp_less_one(r), f(x, 1));
  Value *half = b_.CreateAShr(whole, i(whole, 1));
  p = b_.CreateFMul(p, power_of_two(half));
  p = b_.CreateFMul(p, power_of_two(b_.CreateSub(whole, half)));
  p = select(b_.CreateFCmpOEQ(x, f(x, 0)),
             select(b_.CreateFCmpOGT(y, f(x, 0)), f(x, 0), f(x, kInfinity)), p);
  // Negative numbers have integer powers only; those from 2^24 on are even.
  Value *floor = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, y);
  Value *half_y = b_.CreateFMul(y, f(x, 0.5));
  Value *odd = b_.CreateAnd(
      b_.CreateFCmpOEQ(floor, y),
      b_.CreateFCmpUNE(b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, half_y), half_y));
  Value *signed_p = select(odd, with_sign_of(p, x), p);
  Value *undefined = b_.CreateAnd(b_.CreateFCmpOLT(x, f(x, 0)), b_.CreateFCmpUNE(floor, y));
  signed_p = select(undefined, f(x, std::numeric_limits<double>::quiet_NaN()), signed_p);
  return select(b_.CreateFCmpOEQ(y, f(x, 0)), f(x, 1), signed_p);
}

// x = n*pi/2 + rest, |rest| <= pi/4.
VectorMath::Octant VectorMath::quarter_turns(Value *x) {
  Value *shifted = fused(x, f(x, 0.63661977236758134), f(x, kRoundingTerm));
  Value *n = b_.CreateFSub(shifted, f(x, kRoundingTerm));
  if (!fused_) return {ints(shifted), wide_rest(x, n)};
  Value *rest = fused(n, f(x, -kHalfPi32First), x);
  rest = fused(n, f(x, -kHalfPi32Second), rest);
  return {ints(shifted), fused(n, f(x, -kHalfPi32Third), rest)};
}

// x - n*pi/2 where products are rounded.
Value *VectorMath::wide_rest(Value *x, Value *turns) {
  llvm::Type *wide = b_.getDoubleTy();
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    wide = llvm::FixedVectorType::get(wide, v->getNumElements());
  }
  Value *n = b_.CreateFPExt(turns, wide), *rest = b_.CreateFPExt(x, wide);
  rest = b_.CreateFSub(rest, b_.CreateFMul(n, f(n, kHalfPiHigh)));
  rest = b_.CreateFSub(rest, b_.CreateFMul(n, f(n, kHalfPiLow)));
  return b_.CreateFPTrunc(rest, x->getType());
}

// A single number may wait for another's sine: one within a quarter of a turn goes on without the
// turns, of which there are none to take off, to the same bits.
Value *VectorMath::sine(Value *x, bool cosine) {
  const auto of = [&](const Octant &o) {
    Value *r = sine_of(o, cosine);
    return cosine ? r : select(b_.CreateFCmpOEQ(x, f(x, 0)), x, r);  // sin(-0) is -0
  };
  if (x->getType()->isVectorTy() || !branches_) return of(quarter_turns(x));
  constexpr double kWithinAQuarter = 0.75;  // of pi/4 = 0.785
  llvm::Function *function = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char *name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function);
  };
  llvm::BasicBlock *near = block("near"), *far = block("far"), *done = block("sine");
  b_.CreateCondBr(b_.CreateFCmpOLT(magnitude(x), f(x, kWithinAQuarter)), near, far);
  b_.SetInsertPoint(near);
  Value *of_near = of({b_.getInt32(0), x});
  b_.CreateBr(done);
  b_.SetInsertPoint(far);
  Value *of_far = of(quarter_turns(x));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode *result = b_.CreatePHI(x->getType(), 2);
  result->addIncoming(of_near, near);
  result->addIncoming(of_far, far);
  return result;
}

Value *VectorMath::sine_of(const Octant &o, bool cosine) {
  Value *const x = o.rest;  // for constants of its type
  Value *z = b_.CreateFMul(o.rest, o.rest);
  Value *s = polynomial(z, {-0x1.992cfp-13, 0x1.1106e6p-7, -0x1.555544p-3});
  s = fused(b_.CreateFMul(s, z), o.rest, o.rest);
  Value *c = polynomial(z, {0x1.99e90ep-16, -0x1.6c0c2ap-10, 0x1.55554ap-5, -0.5, 1});
  Value *turns = cosine ? b_.CreateAdd(o.index, i(o.index, 1)) : o.index;
  Value *is_odd = b_.CreateICmpNE(b_.CreateAnd(turns, i(turns, 1)), i(turns, 0));
  // The second bit of the turns is the sign.
  Value *sign = b_.CreateShl(b_.CreateAnd(turns, i(turns, 2)), i(turns, 30));
  return floats(b_.CreateXor(ints(select(is_odd, c, s)), sign), x->getType());
}

Value *VectorMath::tan(Value *x) {
  Value *r = tan_of(quarter_turns(x));
  return select(b_.CreateFCmpOEQ(x, f(x, 0)), x, r);  // tan(-0) is -0
}

Value *VectorMath::tan_of(const Octant &o) {
  Value *const x = o.rest;
  Value *z = b_.CreateFMul(o.rest, o.rest);
  Value *t = polynomial(z, {9.38540185543e-3, 3.11992232697e-3, 2.44301354525e-2, 5.34112807005e-2,
                            1.33387994085e-1, 3.33331568548e-1});
  t = fused(b_.CreateFMul(t, z), o.rest, o.rest);
  Value *is_odd = b_.CreateICmpNE(b_.CreateAnd(o.index, i(o.index, 1)), i(o.index, 0));
  return select(is_odd, b_.CreateFDiv(f(x, -1), t), t);
}

// Of a >= 0. Above tan(3pi/8) the angle of -1/a beyond pi/2, above tan(pi/8) that of (a-1)/(a+1)
// beyond pi/4.
Value *VectorMath::atan_of_magnitude(Value *a) {
  Value *large = b_.CreateFCmpOGT(a, f(a, 2.414213562373095));
  Value *medium = b_.CreateFCmpOGT(a, f(a, 0.4142135623730950));
  Value *numerator = select(large, f(a, -1), select(medium, b_.CreateFSub(a, f(a, 1)), a));
  Value *denominator = select(large, a, select(medium, b_.CreateFAdd(a, f(a, 1)), f(a, 1)));
  Value *beyond =
      select(large, f(a, 1.5707963267948966), select(medium, f(a, 0.78539816339744831), f(a, 0)));
  Value *t = b_.CreateFDiv(numerator, denominator);
  Value *z = b_.CreateFMul(t, t);
  Value *p =
      polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return b_.CreateFAdd(beyond, fused(b_.CreateFMul(p, z), t, t));
}

Value *VectorMath::atan(Value *x) { return with_sign_of(atan_of_magnitude(magnitude(x)), x); }

Value *VectorMath::atan2(Value *y, Value *x) {
  Value *a = magnitude(x), *o = magnitude(y);
  Value *quotient = b_.CreateFDiv(o, a);
  // 0/0 stands for the angle of (+-0, +-0).
  Value *both_zero = b_.CreateAnd(b_.CreateFCmpOEQ(a, f(x, 0)), b_.CreateFCmpOEQ(o, f(x, 0)));
  quotient = select(both_zero, f(x, 0), quotient);
  Value *angle = atan_of_magnitude(quotient);
  Value *behind = b_.CreateICmpSLT(ints(x), llvm::Constant::getNullValue(ints(x)->getType()));
  angle = select(behind, b_.CreateFSub(f(x, 3.14159265358979324), angle), angle);
  return with_sign_of(angle, y);
}

// A power of two and the rest of x next to a multiple of `step`, which is that power's logarithm.
// For small x: of a large one the step's last digits would be missed.
VectorMath::Steps VectorMath::steps(Value *x, double step) {
  Value *shifted = fused(x, f(x, 1 / step), f(x, kRoundingTerm + kExponentBias));
  Value *n = b_.CreateFSub(shifted, f(x, kRoundingTerm + kExponentBias));
  return {number_of_exponent(ints(shifted)), fused(n, f(x, -step), x)};
}

// h/(1 + h) of h = (e^2x - 1)/2, which x and its polynomial give with all digits, however small.
// What roundings of 1 + h and of the quotient took is given back: (h - y(1 + h))/(1 + h).
Value *VectorMath::tanh(Value *x) {
  Value *a = magnitude(x);
  const Steps s = steps(select(b_.CreateFCmpOGT(a, f(a, 9.5)), f(a, 9.5), a), kLn2 / 2);
  Value *p = polynomial(s.rest, {0x1.6d5178p-5, 0x1.120eaap-3, 0x1.5554e6p-2, 0x1.5554dap-1, 1});
  Value *rest = fused(b_.CreateFMul(s.rest, s.rest), p, s.rest);
  Value *h = fused(s.power, rest, fused(s.power, f(a, 0.5), f(a, -0.5)));
  Value *inverse = b_.CreateFDiv(f(a, 1), b_.CreateFAdd(h, f(a, 1)));
  Value *quotient = b_.CreateFMul(h, inverse);
  Value *left = fused(b_.CreateFNeg(quotient), h, b_.CreateFSub(h, quotient));
  Value *y = fused(left, inverse, quotient);
  // Products that are rounded leave too little of a large h.
  if (!fused_) {
    y = select(b_.CreateFCmpOGT(h, f(h, 1)), b_.CreateFSub(f(a, 1), inverse), y);
  }
  return with_sign_of(y, x);
}

// 1 - e^-Q(|x|); the exponential's linear term is what small x leave of it.
Value *VectorMath::erf(Value *x) {
  Value *a = magnitude(x), *held = select(b_.CreateFCmpOGT(a, f(a, 4)), f(a, 4), a);
  Value *q =
      polynomial(held, {-0x1.3c8b02p-17, 0x1.f412cp-14, -0x1.4ec252p-11, 0x1.b7ba94p-10,
                        -0x1.666708p-13, -0x1.39b58ep-6, 0x1.a4f8bp-4, 0x1.45f3p-1, 0x1.06eba8p-3});
  const Steps s = steps(b_.CreateFNeg(fused(q, held, held)), kLn2);
  Value *rest = exp_less_one(s.rest);
  return with_sign_of(fused(b_.CreateFNeg(s.power), rest, b_.CreateFSub(f(a, 1), s.power)), x);
}

// e^a / 2 for a >= 0, which is finite a little beyond where e^a is.
Value *VectorMath::half_exp(Value *a) {
  Halvings h = halvings(select(b_.CreateFCmpOGT(a, f(a, 90)), f(a, 90), a), Powers::Any);
  Value *p = exp_of_rest(h);
  h.n = b_.CreateFSub(h.n, f(a, 1));
  h.exponent = b_.CreateSub(h.exponent, i(h.exponent, 1));
  return scaled(p, h);
}

// x + x^3 P(x^2) below 1; the other half of the sum counts above it.
Value *VectorMath::sinh(Value *x) {
  Value *a = magnitude(x), *z = b_.CreateFMul(x, x);
  Value *p = polynomial(z, {0x1.7a167ep-19, 0x1.9ffe8cp-13, 0x1.111136p-7, 0x1.555556p-3});
  Value *small = fused(b_.CreateFMul(p, z), a, a);
  Value *half = half_exp(a);
  Value *large = b_.CreateFSub(half, b_.CreateFDiv(f(a, 0.25), half));
  return with_sign_of(select(b_.CreateFCmpOLT(a, f(a, 1)), small, large), x);
}

Value *VectorMath::cosh(Value *x) {
  Value *half = half_exp(magnitude(x));
  return b_.CreateFAdd(half, b_.CreateFDiv(f(x, 0.25), half));
}

// s + s^3 P(s^2) for s in [0, 1/2]: of a number above that s is the root of (1 - a)/2, whose arc
// sine is half of what is left to pi/2. The large term is taken off pi/2 first, which is exact.
VectorMath::ArcSine VectorMath::arc_sine_of_magnitude(Value *a) {
  Value *beyond = b_.CreateFCmpOGT(a, f(a, 0.5));
  Value *z = select(beyond, fused(a, f(a, -0.5), f(a, 0.5)), b_.CreateFMul(a, a));
  Value *s = select(beyond, sqrt(z), a);
  Value *p =
      polynomial(z, {0x1.597a06p-5, 0x1.8c18e6p-6, 0x1.747fdap-5, 0x1.3301d4p-4, 0x1.5555c8p-3});
  return {beyond, s, b_.CreateFMul(b_.CreateFMul(p, z), s)};
}

// quarters * pi/2 - (large + small)
Value *VectorMath::from_quarters(double quarters, Value *large, Value *small) {
  Value *high = b_.CreateFSub(f(large, quarters * kHalfPi32First), large);
  return b_.CreateFSub(high, b_.CreateFSub(small, f(small, quarters * kHalfPi32Second)));
}

Value *VectorMath::asin(Value *x) {
  const ArcSine arc = arc_sine_of_magnitude(magnitude(x));
  Value *rest =
      from_quarters(1, b_.CreateFAdd(arc.large, arc.large), b_.CreateFAdd(arc.small, arc.small));
  return with_sign_of(select(arc.beyond, rest, b_.CreateFAdd(arc.large, arc.small)), x);
}

Value *VectorMath::acos(Value *x) {
  const ArcSine arc = arc_sine_of_magnitude(magnitude(x));
  Value *negative = b_.CreateFCmpOLT(x, f(x, 0));
  Value *large = b_.CreateFAdd(arc.large, arc.large), *small = b_.CreateFAdd(arc.small, arc.small);
  Value *near = from_quarters(1, with_sign_of(arc.large, x), with_sign_of(arc.small, x));
  return select(arc.beyond,
                select(negative, from_quarters(2, large, small), b_.CreateFAdd(large, small)),
                near);
}

// After W. Kahan: log(u)*s/(u - 1) with u = 1 + s.
Value *VectorMath::log1p(Value *s) {
  Value *u = b_.CreateFAdd(s, f(s, 1));
  Value *r = b_.CreateFDiv(b_.CreateFMul(log(u), s), b_.CreateFSub(u, f(s, 1)));
  return select(b_.CreateFCmpOEQ(u, f(s, 1)), s,
                select(b_.CreateFCmpOEQ(u, f(s, kInfinity)), u, r));
}

Value *VectorMath::asinh(Value *x) {
  Value *a = magnitude(x), *square = b_.CreateFMul(a, a);
  Value *root = sqrt(b_.CreateFAdd(square, f(a, 1)));
  Value *near = log1p(b_.CreateFAdd(a, b_.CreateFDiv(square, b_.CreateFAdd(root, f(a, 1)))));
  Value *far = b_.CreateFAdd(log(a), f(a, kLn2));
  return with_sign_of(select(b_.CreateFCmpOGT(a, f(a, 1e10)), far, near), x);
}

Value *VectorMath::acosh(Value *x) {
  Value *s = b_.CreateFSub(x, f(x, 1));
  Value *near = log1p(b_.CreateFAdd(s, sqrt(b_.CreateFMul(s, b_.CreateFAdd(x, f(x, 1))))));
  Value *r = select(b_.CreateFCmpOGT(x, f(x, 1e10)), b_.CreateFAdd(log(x), f(x, kLn2)), near);
  return select(b_.CreateFCmpOLT(s, f(x, 0)), f(x, std::numeric_limits<double>::quiet_NaN()), r);
}

Value *VectorMath::atanh(Value *x) {
  Value *a = magnitude(x);
  Value *quotient = b_.CreateFDiv(b_.CreateFAdd(a, a), b_.CreateFSub(f(a, 1), a));
  return with_sign_of(b_.CreateFMul(log1p(quotient), f(a, 0.5)), x);
}

// As exp, with a shorter polynomial; beyond the largest and below the smallest normal number it is
// held to them.
Value *VectorMath::fast_exp(Value *x) {
  Value *t = b_.CreateFMul(x, f(x, kLog2E));
  t = select(b_.CreateFCmpOLT(t, f(x, 127.49)), t, f(x, 127.49));
  t = select(b_.CreateFCmpOGT(t, f(x, -126)), t, f(x, -126));
  Value *shifted = b_.CreateFAdd(t, f(x, kRoundingTerm));
  Value *n = b_.CreateFSub(shifted, f(x, kRoundingTerm));
  Value *r = b_.CreateFSub(t, n);
  // 2^r on [-1/2, 1/2], interpolated at Chebyshev points, as are the other two.
  Value *p = polynomial(r, {1.3390863365e-3, 9.6760319183e-3, 5.5503571142e-2, 2.4022107485e-1,
                            6.9314718803e-1, 1.0000000755});
  Value *places = b_.CreateShl(ints(shifted), i(ints(shifted), 23));
  return floats(b_.CreateAdd(ints(p), places), x->getType());
}

// Of normal numbers above 0.
Value *VectorMath::fast_log(Value *x) {
  Value *bits = ints(x);
  Value *from_root = b_.CreateSub(bits, i(bits, 0x3f3504f3));
  Value *exponent = b_.CreateAShr(from_root, i(bits, 23));
  Value *mantissa = b_.CreateSub(bits, b_.CreateShl(exponent, i(bits, 23)));
  Value *m = b_.CreateFSub(floats(mantissa, x->getType()), f(x, 1));
  Value *p = polynomial(m, {1.1657806143e-1, -1.8573840134e-1, 2.0525443620e-1, -2.4920336265e-1,
                            3.3313563287e-1, -5.0000877395e-1, 1.0000010274});
  Value *e = b_.CreateSIToFP(exponent, x->getType());
  return fused(p, m, b_.CreateFMul(e, f(x, 0.69314718055994531)));
}

// x = m*pi + rest, |rest| <= pi/2, where m is whole, of cosines half more: sines of odd turns are
// those of the rest with the other sign.
Value *VectorMath::fast_sine(Value *x, bool cosine) {
  Value *per_turn = f(x, 0.31830988618379067), *whole = f(x, kRoundingTerm);
  Value *shifted =
      cosine ? b_.CreateFAdd(fused(x, per_turn, f(x, 0.5)), whole) : fused(x, per_turn, whole);
  Value *m = b_.CreateFSub(shifted, whole);
  if (cosine) m = b_.CreateFSub(m, f(x, 0.5));
  // Products with the first part are exact.
  Value *rest = fused(m, f(x, -3.140625), x);
  rest = fused(m, f(x, -9.67653589793e-4), rest);
  Value *z = b_.CreateFMul(rest, rest);
  Value *r = polynomial(z, {-0x1.83b234p-13, 0x1.105ce8p-7, -0x1.554f7cp-3, 0x1.ffffep-1});
  r = b_.CreateFMul(r, rest);
  Value *sign = b_.CreateShl(ints(shifted), i(ints(shifted), 31));
  return floats(b_.CreateXor(ints(r), sign), x->getType());
}

Value *VectorMath::emit(const std::string &name, const std::vector<Value *> &args,
                        Value **exact_inside) {
  Value *x = args[0];
  *exact_inside = nullptr;
  auto below = [&](double limit) { return b_.CreateFCmpOLT(magnitude(x), f(x, limit)); };
  if (name == "exp") return exp(x);
  if (name == "exp_of_nonpositive") return exp_of_nonpositive(x);
  if (name == "log") return log(x);
  if (name == "atan") return atan(x);
  if (name == "tanh") return tanh(x);
  if (name == "erf") return erf(x);
  if (name == "sinh") return sinh(x);
  if (name == "cosh") return cosh(x);
  if (name == "asin") return asin(x);
  if (name == "acos") return acos(x);
  if (name == "asinh") return asinh(x);
  if (name == "acosh") return acosh(x);
  if (name == "atanh") return atanh(x);
  if (name == "fast_exp") return fast_exp(x);
  if (name == "fast_log") return fast_log(x);
  if (name == "fast_sin" || name == "fast_cos") return fast_sine(x, name == "fast_cos");
  if (name == "fast_inverse") return b_.CreateFDiv(f(x, 1), x);
  if (name == "fast_inverse_sqrt") {
    return b_.CreateFDiv(f(x, 1), b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
  }
  if (name == "fast_pow") {
    Value *p = fast_exp(b_.CreateFMul(fast_log(x), args[1]));
    Value *of_zero = select(b_.CreateFCmpOEQ(args[1], f(x, 0)), f(x, 1), f(x, 0));
    return select(b_.CreateFCmpOEQ(x, f(x, 0)), of_zero, p);
  }
  // Of more turns the third part of pi/2 is not enough.
  constexpr double kMostReduced = 10001;
  if (name == "sin" || name == "cos") {
    *exact_inside = below(kMostReduced);
    return sine(x, name == "cos");
  }
  if (name == "tan") {
    *exact_inside = below(kMostReduced);
    return tan(x);
  }
  if (name == "atan2") {
    *exact_inside =
        b_.CreateAnd(below(kInfinity), b_.CreateFCmpOLT(magnitude(args[1]), f(x, kInfinity)));
    return atan2(x, args[1]);
  }
  if (name == "pow") {
    *exact_inside =
        b_.CreateAnd(below(kInfinity), b_.CreateFCmpOLT(magnitude(args[1]), f(x, kInfinity)));
    return pow(x, args[1]);
  }
  return nullptr;
}

}  // namespace polyhalite
