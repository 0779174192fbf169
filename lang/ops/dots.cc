#include "lang/ops/dots.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/ir/node.h"
#include "lang/ops/common.h"
#include "polyhalite/error.h"

namespace polyhalite::ops {

namespace {

// The types of x and y in f += cast(x) * cast(y), the first update.
std::optional<std::pair<Type, Type>> factors_of(const Func &f) {
  if (!f.has_update_definition()) return std::nullopt;
  const Expr value = f.update_value();
  if (value->op != Op::Add) return std::nullopt;
  for (const Expr &term : value->args) {
    if (term->op != Op::Mul) continue;
    const Expr &x = term->args[0], &y = term->args[1];
    if (x->op != Op::Cast || y->op != Op::Cast) continue;
    return std::pair(x->args[0].type(), y->args[0].type());
  }
  return std::nullopt;
}

bool is_byte(const Type &t) { return t == Int(8) || t == UInt(8); }

// The widest first.
std::vector<Dot> dots_of(const Type &x, const Type &y, const Target &target) {
  const bool x86 = target.arch == Target::X86;
  const bool avx512_dots =
      target.has_feature(Target::AVX512_Zen4) || target.has_feature(Target::AVX512_SapphireRapids);
  const bool avx512 = avx512_dots || target.has_feature(Target::AVX512_Skylake);
  const bool avx2 = avx512 || target.has_feature(Target::AVX2);
  const bool arm86 =
      target.arch == Target::ARM &&
      target.features_any_of({Target::ARMv86a, Target::ARMv87a, Target::ARMv88a, Target::ARMv89a});
  const bool arm84 =
      arm86 || (target.arch == Target::ARM &&
                target.features_any_of({Target::ARMDotProd, Target::ARMv84a, Target::ARMv85a}));
  std::vector<Dot> dots;
  auto add = [&](bool has, const char *name, int sums, int terms) {
    const bool adds = std::string_view(name).find("maddwd") != std::string_view::npos;
    if (has) dots.push_back({name, sums, terms, adds && terms == 4, adds});
  };
  if (is_byte(x) && is_byte(y)) {
    const bool short_dots = avx512_dots || target.has_feature(Target::AVXVNNI);
    add(x86 && avx512_dots, "vpdpbusd_512", 16, 4);
    add(x86 && short_dots, "vpdpbusd_256", 8, 4);
    add(x86 && short_dots, "vpdpbusd_128", 4, 4);
    add(x86 && avx512 && !avx512_dots, "vpmaddwd_u8s8_512", 16, 4);
    add(x86 && avx2 && !short_dots, "vpmaddwd_u8s8_256", 8, 4);
    add(x86 && !short_dots && target.has_feature(Target::SSE41), "pmaddwd_u8s8_128", 4, 4);
    add(arm86 && x != y, "usdot", 4, 4);
    const bool is_unsigned = x == UInt(8) && y == UInt(8);
    add(arm84 && !is_unsigned, "sdot", 4, 4);
    add(arm84 && is_unsigned, "udot", 4, 4);
  } else if (x == Int(16) && y == Int(16)) {
    add(x86 && avx512, "vpmaddwd_512", 16, 2);
    add(x86 && avx2, "vpmaddwd_256", 8, 2);
    add(x86 && target.has_feature(Target::SSE41), "pmaddwd_128", 4, 2);
  } else if (x == BFloat(16) && y == BFloat(16)) {
    add(x86 && avx512_dots, "vdpbf16ps_512", 16, 2);
    add(x86 && avx512_dots, "vdpbf16ps_256", 8, 2);
    add(x86 && avx512_dots, "vdpbf16ps_128", 4, 2);
    add(arm86, "bfdot", 4, 2);
  }
  return dots;
}

}  // namespace

std::optional<Dot> dot_for(const Func &f, int64_t columns, const Target &target) {
  const auto factors = factors_of(f);
  const Type sums = f.types()[0];
  if (!factors || (sums != Int(32) && sums != Float(32))) return std::nullopt;
  for (const Dot &d : dots_of(factors->first, factors->second, target)) {
    if (columns >= d.sums) return d;
  }
  return std::nullopt;
}

void pack_for_dots(Func operand, const Dot &dot) {
  const Var column = operand.args()[0], depth = operand.args()[1];
  Var terms("terms"), sums("sums");
  operand.pack(depth, dot.terms)
      .split(depth, depth, terms, dot.terms, TailStrategy::GuardWithIf)
      .split(column, column, sums, dot.sums, TailStrategy::GuardWithIf)
      .reorder(terms, sums, column, depth)
      .vectorize(terms)
      .vectorize(sums);
}

std::optional<Dot> dot_of_widened(const Dot &dot, const Target &target) {
  for (const Dot &d : dots_of(Int(16), Int(16), target)) {
    if (d.sums == dot.sums) return d;
  }
  return std::nullopt;
}

bool widens_bytes(const Type &a, const Type &b, const Target &target) {
  const std::vector<Dot> dots = dots_of(a, b, target);
  return !dots.empty() && dots.front().widens;
}

std::optional<DotStrips> dot_strips(const Type &a, const Type &b, int columns,
                                    const Target &target) {
  for (const Dot &d : dots_of(a, b, target)) {
    if (columns < d.sums) continue;
    return columns % d.sums == 0 ? std::optional(DotStrips{d.sums, d.terms}) : std::nullopt;
  }
  return std::nullopt;
}

Tensor packed_matrix(const Tensor &packed) {
  std::vector<int> known;
  for (const Expr &size : packed.shape())
    known.push_back(static_cast<int>(constant(size).value_or(0)));
  if (known.size() != 4 || std::count(known.begin(), known.end(), 0) != 0) {
    user_error("a packed matrix has rank " + std::to_string(packed.rank()) + " or an open size",
               "it is packed[strip, k / terms, column, k % terms] of constant sizes",
               "lay it out as dot_strips() says");
  }
  const int width = known[2], terms = known[3];
  return Tensor(
      packed.type(), {known[1] * terms, known[0] * width},
      [packed, width, terms](const Index &at) {
        return packed({at[1] / width, at[0] / terms, at[1] % width, at[0] % terms});
      },
      packed.detached_stages());
}

}  // namespace polyhalite::ops
