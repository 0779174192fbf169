// Random numbers, as hashes of keys and of the places of elements.
#include <cmath>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

constexpr uint32_t kGolden = 0x9e3779b1U;

// A bijection of 32 bits with little bias, "lowbias32" of C. Wellons, Prospecting for Hash
// Functions (2018).
Expr scramble(Expr x) {
  x = (x ^ (x >> 16)) * Expr(0x7feb352dU);
  x = (x ^ (x >> 15)) * Expr(0x846ca68bU);
  return x ^ (x >> 16);
}

Expr mix(const Expr &h, const Expr &more) { return scramble(h * Expr(kGolden) + more); }

void infer_key(Inference &i) { i.result(0, ElementType::UInt32, {Dim(4)}); }

// Of a key, and of a node's number, whether it has a seed, and the seed.
std::vector<Tensor> lower_key(Lowering &l) {
  const Tensor key = l.in(0), node = l.in(1);
  const bool turn = l.node().integer("turn", 0) != 0;
  return {Tensor(UInt(32), l.result_sizes(0), [=](const Index &at) {
    auto k = [&](int i) { return key({Expr(i)}); };
    Expr h = scramble(cast<uint32_t>(at[0]) * Expr(0x85ebca6bU) + node({Expr(0)}));
    if (!turn) {
      const Expr seeded = node({Expr(1)}) != Expr(0U);
      h = mix(h, select(seeded, node({Expr(2)}), k(0)));
      h = mix(h, select(seeded, Expr(kGolden), k(1)));
    }
    h = mix(mix(h, k(2)), k(3));
    return turn ? select(at[0] < 2, key({at[0]}), h) : h;
  })};
}

// Word `which` of the element at a place, in row-major order; words are independent.
Expr word(const Tensor &key, const Expr &place, int which) {
  const uint32_t step = static_cast<uint32_t>(which / 2) * kGolden;
  const int first = which % 2 * 2;
  const Expr h = scramble(place + (key({Expr(first)}) ^ Expr(step)));
  return scramble(h ^ (key({Expr(first + 1)}) + Expr(step)));
}

// In [0, 1), a multiple of what the type has below 1. Words of a float64 stand behind each other.
Expr fraction(const Tensor &key, const Expr &place, int which, Type type) {
  if (type == Float(64)) {
    return cast<double>(word(key, place, 2 * which)) * Expr(std::ldexp(1.0, -32)) +
           cast<double>(word(key, place, 2 * which + 1) >> 11) * Expr(std::ldexp(1.0, -53));
  }
  const int bits = type == Float(16) ? 11 : type == BFloat(16) ? 8 : 24;
  return cast<float>(word(key, place, which) >> (32 - bits)) *
         Expr(static_cast<float>(std::ldexp(1.0, -bits)));
}

// Box and Muller, A Note on the Generation of Random Normal Deviates (1958). The logarithm's
// operand is in (0, 1].
Expr normal(const Tensor &key, const Expr &place, Type type) {
  const double turn = 2 * 3.14159265358979323846;
  if (type == Float(64)) {
    return sqrt(Expr(-2.0) * log(Expr(1.0) - fraction(key, place, 0, type))) *
           cos(Expr(turn) * fraction(key, place, 1, type));
  }
  // With all 32 bits there are numbers beyond 6 deviations.
  const Expr u = (cast<float>(word(key, place, 0)) + Expr(0.5f)) * Expr(0x1p-32f);
  return sqrt(Expr(-2.0f) * log(u)) *
         cos(Expr(static_cast<float>(turn)) * fraction(key, place, 1, Float(32)));
}

bool is_like(const Node &n) { return n.is("RandomNormalLike") || n.is("RandomUniformLike"); }
bool is_normal(const Node &n) { return n.is("RandomNormal") || n.is("RandomNormalLike"); }

void infer_random(Inference &i) {
  const Node &n = i.node();
  ElementType type =
      is_like(n) && !n.has("dtype") ? i.type(0) : static_cast<ElementType>(n.integer("dtype", 1));
  const auto of = language_type(type);
  if (!of || !of->is_float() || is_narrow(type)) {
    i.fail("its results are " + element_name(type),
           "random numbers are float16, bfloat16, float32 or float64");
  }
  if (is_normal(n)) {
    if (!(n.real("scale", 1) >= 0))
      i.fail("scale is " + std::to_string(n.real("scale", 1)), "a deviation is at least 0");
  } else if (!(n.real("low", 0) <= n.real("high", 1))) {
    i.fail("low is " + std::to_string(n.real("low", 0)) + " and high " +
               std::to_string(n.real("high", 1)),
           "numbers are from low to high");
  }
  if (is_like(n)) {
    i.result(0, type, i.shape(0));
    return;
  }
  if (!n.has("shape")) i.fail("it has no attribute 'shape'", "nothing else tells its sizes");
  const std::vector<int64_t> sizes = n.integers("shape");
  i.result(0, type, Shape(sizes.begin(), sizes.end()));
}

std::vector<Tensor> lower_random(Lowering &l) {
  const Node &n = l.node();
  const Tensor key = l.in(is_like(n) ? 1 : 0);
  const Index sizes = l.result_sizes(0);
  const Type type = l.result_type(0), computed = type == Float(64) ? type : Float(32);
  const bool of_bell = is_normal(n);
  const double first = of_bell ? n.real("mean", 0) : n.real("low", 0);
  const double factor = of_bell ? n.real("scale", 1) : n.real("high", 1) - first;
  return {Tensor(type, sizes, [=](const Index &at) {
    // Elements whose places differ by 2^32 are the same.
    Expr place = Expr(0U);
    for (size_t d = 0; d < at.size(); d++)
      place = place * cast<uint32_t>(sizes[d]) + cast<uint32_t>(at[d]);
    const Expr v = of_bell ? normal(key, place, type) : fraction(key, place, 0, type);
    return cast(type, v * cast(computed, Expr(factor)) + cast(computed, Expr(first)));
  })};
}

}  // namespace

std::vector<Operator> random_operators() {
  std::vector<Operator> list{{kInternalDomain, "RandomKey", Operator::Other, infer_key, lower_key}};
  for (const char *name :
       {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    list.push_back({"", name, Operator::Other, infer_random, lower_random});
  }
  return list;
}

}  // namespace polyhalite::onnx
