#include "lang/ir/resolve_target.h"

#include "lang/ir/cxx_symbol.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/target_query.h"

namespace polyhalite {

namespace {

constexpr const char *kArchIs = "target_arch_is";
constexpr const char *kOsIs = "target_os_is";
constexpr const char *kHasFeature = "target_has_feature";
constexpr const char *kBits = "target_bits";
constexpr const char *kNaturalVectorSize = "target_natural_vector_size";  // of code, bits

class Resolver : public ExprRewriter {
 public:
  explicit Resolver(const Target &target) : target_(target) {}

  void resolve(Expr *e) {
    if (e->defined()) *e = (*this)(*e);
  }

 protected:
  Expr rewrite(const Expr &e) override {
    if (as_intrinsic(e, kArchIs)) return make_bool(target_.arch == constant(e, 0));
    if (as_intrinsic(e, kOsIs)) return make_bool(target_.os == constant(e, 0));
    if (as_intrinsic(e, kHasFeature)) {
      return make_bool(target_.has_feature(static_cast<Target::Feature>(constant(e, 0))));
    }
    if (as_intrinsic(e, kBits)) return make_int(Int(32), target_.bits);
    if (as_intrinsic(e, kNaturalVectorSize)) {
      const Type t(static_cast<Type::Code>(constant(e, 0)), static_cast<int>(constant(e, 1)));
      return make_int(Int(32), target_.natural_vector_size(t));
    }
    if (as_intrinsic(e, intrinsic::kPromiseClamped) &&
        target_.has_feature(Target::CheckUnsafePromises)) {
      return checked_promise(rewrite_children(e));
    }
    const CallNode *c = as_call(e);
    if (c && is_extern(*c) && is_cxx_name(c->name)) return by_symbol(rewrite_children(e));
    return rewrite_children(e);
  }

 private:
  // extern<int32>(a::f, x)  ->  extern<int32>(_ZN1a1fEi, x)
  Expr by_symbol(const Expr &e) const {
    const CallNode &c = *as_call(e);
    std::vector<Type> types;
    for (const Expr &a : c.args) types.push_back(a.type());
    auto call = std::make_shared<CallNode>(c.type, c.kind,
                                           extern_symbol(c.name, types, target_.bits), c.args);
    return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
  }

  // promise_clamped(x, a, b)  ->  require(x >= a && x <= b, promise_clamped(x, a, b), text, x)
  static Expr checked_promise(const Expr &promise) {
    const Expr &x = promise->args[0], &min = promise->args[1], &max = promise->args[2];
    const Expr kept =
        make_binary(Op::And, make_binary(Op::Ge, x, min), make_binary(Op::Le, x, max));
    return make_intrinsic(
        promise.type(), intrinsic::kRequire,
        {kept, promise, make_string("a promise of unsafe_promise_clamped() is broken: from"), min,
         make_string("to"), max, make_string("was promised, found"), x});
  }

  static Expr make_bool(bool value) { return value ? make_true() : make_false(); }
  static int64_t constant(const Expr &e, int i) {
    int64_t value = 0;
    is_const_int(e->args[i], &value);
    return value;
  }
  const Target &target_;
};

Expr question(Type t, const char *name, std::vector<Expr> args) {
  return make_intrinsic(t, name, std::move(args));
}

}  // namespace

Expr target_arch_is(Target::Arch arch) { return question(Bool(), kArchIs, {Expr(int{arch})}); }
Expr target_os_is(Target::OS os) { return question(Bool(), kOsIs, {Expr(int{os})}); }
Expr target_has_feature(Target::Feature f) { return question(Bool(), kHasFeature, {Expr(int{f})}); }
Expr target_bits() { return question(Int(32), kBits, {}); }
Expr target_natural_vector_size(Type t) {
  return question(Int(32), kNaturalVectorSize, {Expr(int{t.code()}), Expr(t.bits())});
}

namespace {

// extern_c_stage("f", 0, ...)  ->  extern_stage("f", 0, ...)
// extern_stage("a::f", 0, x)   ->  extern_stage("_ZN1a1fEi...", 0, x)
void resolve_extern_stage(FuncDef &f, StageDef &stage, const Target &target) {
  const CallNode *call = as_extern_stage(stage);
  if (!call) return;
  const Expr symbol = make_string(extern_stage_symbol(*call, f.types.size(), target));
  for (Expr &value : stage.values) {
    std::vector<Expr> args = as_extern_stage(value)->args;
    args[0] = symbol;
    value = extern_call_node(value.type(), intrinsic::kExternStage, std::move(args));
  }
}

}  // namespace

FrozenPipeline resolve_target(FrozenPipeline pipeline, const Target &target) {
  Resolver r(target);
  for (FuncDef &f : pipeline.algorithm.funcs) {
    for (StageDef &s : f.stages) {
      for (Expr &e : s.args) r.resolve(&e);
      for (Expr &e : s.values) r.resolve(&e);
      for (ReductionVariable &v : s.rvars) {
        r.resolve(&v.min);
        r.resolve(&v.extent);
      }
      r.resolve(&s.predicate);
      resolve_extern_stage(f, s, target);
    }
  }
  for (Expr &e : pipeline.algorithm.requirements) r.resolve(&e);
  for (Directive &d : pipeline.directives) {
    for (Expr &e : d.factors) r.resolve(&e);
  }
  return pipeline;
}

}  // namespace polyhalite
