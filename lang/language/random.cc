#include "lang/language/random.h"

#include <atomic>
#include <cstdint>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

Expr constant(uint32_t v) { return Expr(v); }

// A bijection of 32 bits with little bias, "lowbias32" of C. Wellons, Prospecting for Hash
// Functions (2018).
Expr scramble(Expr x) {
  x = (x ^ (x >> 16)) * constant(0x7feb352dU);
  x = (x ^ (x >> 15)) * constant(0x846ca68bU);
  return x ^ (x >> 16);
}

Expr mix(const Expr &h, const Expr &more) {
  return scramble(h * constant(0x9e3779b1U) + cast<uint32_t>(more));
}

uint32_t hash_of(const std::string &text) {
  uint32_t h = 2166136261U;
  for (const unsigned char c : text) h = (h ^ c) * 16777619U;
  return h;
}

class Resolve : public ExprRewriter {
 public:
  Resolve(const std::string &definition, const std::vector<Expr> &variables)
      : definition_(hash_of(definition)), variables_(variables) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *c = as_intrinsic(e, intrinsic::kRandom);
    if (!c) return rewrite_children(e);
    int64_t call = 0;
    is_const_int(c->args[0], &call);
    Expr h = constant(static_cast<uint32_t>(call) * 0x85ebca6bU ^ definition_);
    for (size_t i = 1; i < c->args.size(); i++) h = mix(h, (*this)(c->args[i]));
    for (const Expr &v : variables_) h = mix(h, v);
    return scramble(h);
  }

 private:
  const uint32_t definition_;
  const std::vector<Expr> &variables_;
};

}  // namespace

namespace {
std::atomic<uint32_t> calls{0};
}  // namespace

uint32_t next_random_call() { return ++calls; }

SameRandomCalls::SameRandomCalls() : before_(calls.exchange(0)) {}
SameRandomCalls::~SameRandomCalls() {
  if (calls < before_) calls = before_;
}

Expr resolve_random(const Expr &e, const std::string &definition,
                    const std::vector<Expr> &variables) {
  return Resolve(definition, variables)(e);
}

}  // namespace polyhalite
