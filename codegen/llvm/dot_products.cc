#include "codegen/llvm/dot_products.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <utility>

namespace polyhalite {

using llvm::Value;

namespace {

// An instruction and how many sums it makes.
struct Form {
  int sums;
  llvm::Intrinsic::ID id;
};

constexpr uint32_t kSignBits = 0x80808080, kOnes = 0x01010101;

class DotProducts {
 public:
  DotProducts(llvm::IRBuilderBase &b, const Target &target, int sums)
      : b_(b), target_(target), sums_(sums) {}

  Value *of_bytes(Value *c, DotFactors x, DotFactors y) {
    if (x.type == Int(8) && y.type == UInt(8)) std::swap(x, y);
    const bool mixed = x.type != y.type, is_signed = x.type.is_int();
    if (target_.arch == Target::ARM && target_.bits == 64) {
      if (!has_arm_dots()) return nullptr;
      if (mixed && has_arm86()) return arm(llvm::Intrinsic::aarch64_neon_usdot, c, x, y);
      if (mixed) return arm_mixed(c, x.words, y.words);
      return arm(
          is_signed ? llvm::Intrinsic::aarch64_neon_sdot : llvm::Intrinsic::aarch64_neon_udot, c, x,
          y);
    }
    if (target_.arch != Target::X86) return nullptr;
    if (!form(kMixedBytes, has_short_dots()).sums) return of_widened_bytes(c, x, y);
    if (mixed) return mixed_bytes(c, x.words, y.words);
    // What the instruction does not have is moved by 128 into what it has.
    Value *moved = b_.CreateXor(is_signed ? x.words : y.words, words(kSignBits));
    if (is_signed) {
      Value *excess = mixed_bytes(words(0), words(kSignBits), y.words);
      return mixed_bytes(b_.CreateSub(c, excess), moved, y.words);
    }
    Value *lack = b_.CreateShl(mixed_bytes(words(0), x.words, words(kOnes)), 7);
    return mixed_bytes(b_.CreateAdd(c, lack), x.words, moved);
  }

  // Pairs of signed numbers of 16 bits.
  Value *of_pairs(Value *c, Value *x, Value *y) {
    static constexpr Form kForms[] = {{16, llvm::Intrinsic::x86_avx512_pmaddw_d_512},
                                      {8, llvm::Intrinsic::x86_avx2_pmadd_wd},
                                      {4, llvm::Intrinsic::x86_sse2_pmadd_wd}};
    if (target_.arch != Target::X86) return nullptr;
    const Form f = form(kForms, true);
    if (!f.sums) return nullptr;
    Value *products = in_parts(f, {x, y}, [&](const std::vector<Value *> &part) {
      return b_.CreateIntrinsic(f.id, {}, {as_lanes(part[0], 16), as_lanes(part[1], 16)});
    });
    return b_.CreateAdd(c, products);
  }

  Value *of_bfloats(Value *c, Value *x, Value *y) {
    llvm::Type *bfloat = b_.getBFloatTy();
    auto pairs = [&](Value *v) {
      return b_.CreateBitCast(v, llvm::FixedVectorType::get(bfloat, 2 * lanes(v)));
    };
    if (target_.arch == Target::X86 && has_avx512_dots()) {
      static constexpr Form kForms[] = {{16, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
                                        {8, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256},
                                        {4, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128}};
      const Form f = form(kForms, true);
      if (f.sums) {
        return in_parts(f, {c, x, y}, [&](const std::vector<Value *> &part) {
          return b_.CreateIntrinsic(f.id, {}, {part[0], pairs(part[1]), pairs(part[2])});
        });
      }
    }
    if (target_.arch == Target::ARM && target_.bits == 64 && has_arm86() && sums_ % 4 == 0) {
      return in_parts({4, 0}, {c, x, y}, [&](const std::vector<Value *> &part) {
        Value *a = pairs(part[1]);
        return b_.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_bfdot,
                                  {part[0]->getType(), a->getType()}, {part[0], a, pairs(part[2])});
      });
    }
    // A bfloat16 is the upper half of a float32.
    llvm::Type *floats = c->getType();
    auto low = [&](Value *v) { return b_.CreateBitCast(b_.CreateShl(v, 16), floats); };
    auto high = [&](Value *v) {
      return b_.CreateBitCast(b_.CreateAnd(v, words(0xffff0000)), floats);
    };
    auto add = [&](Value *sum, Value *a, Value *b) {
      return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {floats}, {a, b, sum});
    };
    return add(add(c, low(x), low(y)), high(x), high(y));
  }

 private:
  static constexpr Form kMixedBytes[] = {{16, llvm::Intrinsic::x86_avx512_vpdpbusd_512},
                                         {8, llvm::Intrinsic::x86_avx512_vpdpbusd_256},
                                         {4, llvm::Intrinsic::x86_avx512_vpdpbusd_128}};

  bool has_avx512_dots() const {
    return target_.has_feature(Target::AVX512_Zen4) ||
           target_.has_feature(Target::AVX512_SapphireRapids);
  }
  bool has_short_dots() const { return has_avx512_dots() || target_.has_feature(Target::AVXVNNI); }
  bool has_arm86() const {
    return target_.features_any_of(
        {Target::ARMv86a, Target::ARMv87a, Target::ARMv88a, Target::ARMv89a});
  }
  bool has_arm_dots() const {
    return has_arm86() ||
           target_.features_any_of({Target::ARMDotProd, Target::ARMv84a, Target::ARMv85a});
  }

  // The longest form that divides the sums; 0 sums where there is none.
  template <size_t N>
  Form form(const Form (&forms)[N], bool has_any) const {
    for (const Form &f : forms) {
      const bool is_byte_dot = f.id == llvm::Intrinsic::x86_avx512_vpdpbusd_512;
      const bool has = f.sums == 16  ? is_byte_dot ? has_avx512_dots()
                                                   : has_avx512_dots() ||
                                                        target_.has_feature(Target::AVX512_Skylake)
                        : f.sums == 8 ? target_.has_feature(Target::AVX2) || has_short_dots()
                                     : true;
      if (has_any && has && sums_ % f.sums == 0) return f;
    }
    return {0, 0};
  }

  static unsigned lanes(Value *v) {
    return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
  }
  Value *words(uint32_t value) {
    return b_.CreateVectorSplat(static_cast<unsigned>(sums_), b_.getInt32(value));
  }
  Value *as_lanes(Value *v, unsigned bits) {
    return b_.CreateBitCast(v,
                            llvm::FixedVectorType::get(b_.getIntNTy(bits), lanes(v) * (32 / bits)));
  }

  // f of each run of as many lanes as the form has sums, one after the other.
  template <typename F>
  Value *in_parts(const Form &form, const std::vector<Value *> &operands, const F &f) {
    std::vector<Value *> parts;
    for (int first = 0; first < sums_; first += form.sums) {
      std::vector<int> picks;
      for (int i = 0; i < form.sums; i++) picks.push_back(first + i);
      std::vector<Value *> part;
      for (Value *v : operands) {
        part.push_back(form.sums == sums_ ? v : b_.CreateShuffleVector(v, picks));
      }
      parts.push_back(f(part));
    }
    return llvm::concatenateVectors(b_, parts);
  }

  Value *mixed_bytes(Value *c, Value *x, Value *y) {
    const Form f = form(kMixedBytes, has_short_dots());
    return in_parts(f, {c, x, y}, [&](const std::vector<Value *> &part) {
      return b_.CreateIntrinsic(f.id, {}, part);
    });
  }

  // Bytes at even places and those at odd places, each widened to 16 bits, as pairs.
  Value *of_widened_bytes(Value *c, const DotFactors &x, const DotFactors &y) {
    auto halves = [&](const DotFactors &f) -> std::pair<Value *, Value *> {
      Value *v = as_lanes(f.words, 16);
      if (f.type.is_uint()) {
        return {b_.CreateAnd(v, llvm::ConstantInt::get(v->getType(), 0xff)), b_.CreateLShr(v, 8)};
      }
      return {b_.CreateAShr(b_.CreateShl(v, 8), 8), b_.CreateAShr(v, 8)};
    };
    auto as_words = [&](Value *v) { return b_.CreateBitCast(v, c->getType()); };
    const auto [x_even, x_odd] = halves(x);
    const auto [y_even, y_odd] = halves(y);
    Value *even = of_pairs(c, as_words(x_even), as_words(y_even));
    return even ? of_pairs(even, as_words(x_odd), as_words(y_odd)) : nullptr;
  }

  Value *arm(llvm::Intrinsic::ID id, Value *c, const DotFactors &x, const DotFactors &y) {
    if (sums_ % 4 != 0) return nullptr;
    return in_parts({4, id}, {c, x.words, y.words}, [&](const std::vector<Value *> &part) {
      Value *a = as_lanes(part[1], 8);
      return b_.CreateIntrinsic(id, {part[0]->getType(), a->getType()},
                                {part[0], a, as_lanes(part[2], 8)});
    });
  }

  // Unsigned factors, moved by 128, are signed.
  Value *arm_mixed(Value *c, Value *x, Value *y) {
    const auto dot = llvm::Intrinsic::aarch64_neon_sdot;
    const Type t = Int(8);
    Value *lack = arm(dot, words(0), {words(kOnes), t}, {y, t});
    if (!lack) return nullptr;
    return arm(dot, b_.CreateAdd(c, b_.CreateShl(lack, 7)), {b_.CreateXor(x, words(kSignBits)), t},
               {y, t});
  }

  llvm::IRBuilderBase &b_;
  const Target &target_;
  const int sums_;
};

}  // namespace

Value *emit_dot_products(llvm::IRBuilderBase &b, const Target &target, const Type &sums, Value *c,
                         const DotFactors &x, const DotFactors &y) {
  DotProducts dots(b, target, sums.lanes());
  if (sums.is_float()) return dots.of_bfloats(c, x.words, y.words);
  if (x.type.bits() == 8 && y.type.bits() == 8) return dots.of_bytes(c, x, y);
  const bool pairs = x.type == Int(16) && y.type == Int(16);
  return pairs ? dots.of_pairs(c, x.words, y.words) : nullptr;
}

}  // namespace polyhalite
