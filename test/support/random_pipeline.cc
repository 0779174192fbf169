#include "test/support/random_pipeline.h"

#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"
#include "schedule/build_tree.h"
#include "test/support/random_algorithm.h"
#include "test/support/random_extern.h"
#include "test/support/random_scans.h"

namespace polyhalite::test {

namespace {

// What images hold may differ between runs, unless the program says that it does not.
class TagImages : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Image) return r;
    return make_intrinsic(r.type(), intrinsic::kMemoizeTag, {r, Expr(0)});
  }
};

// Some Funcs are kept between runs.
void memoize_some(FrozenPipeline &p, Dice &dice) {
  if (dice.chance(60)) {  // a schedule of nothing else, which is seldom refused
    p.directives.clear();
    for (const FuncDef &f : p.algorithm.funcs) {
      if (p.algorithm.is_output(f.name) || dice.chance(30)) continue;
      Directive d;
      d.kind = DirectiveKind::ComputeRoot;
      d.func = f.name;
      d.where = {"memoize", 0};
      d.order = p.directives.size();
      p.directives.push_back(std::move(d));
    }
  }
  TagImages tag;
  for (FuncDef &f : p.algorithm.funcs) {
    for (StageDef &s : f.stages) {
      for (Expr &e : s.args) e = tag(e);
      for (Expr &e : s.values) e = tag(e);
      if (s.predicate.defined()) s.predicate = tag(s.predicate);
    }
    auto has = [&](std::initializer_list<DirectiveKind> kinds) {
      return std::any_of(p.directives.begin(), p.directives.end(), [&](const Directive &d) {
        return d.func == f.name && std::count(kinds.begin(), kinds.end(), d.kind) > 0;
      });
    };
    if (p.algorithm.is_output(f.name) || !dice.chance(70)) continue;
    if (!has({DirectiveKind::ComputeRoot, DirectiveKind::ComputeAt})) continue;
    // What cannot be kept is left out mostly: it is refused at once.
    if (dice.chance(90) && has({DirectiveKind::StoreRoot, DirectiveKind::StoreAt,
                                DirectiveKind::HoistStorage, DirectiveKind::HoistStorageRoot,
                                DirectiveKind::FoldStorage, DirectiveKind::ComputeWith})) {
      continue;
    }
    Directive d;
    d.kind = DirectiveKind::Memoize;
    d.func = f.name;
    if (dice.chance(20)) d.factors.push_back(Expr(dice.between(1, 3)));
    d.where = {"memoize", 1};
    d.order = p.directives.size();
    p.directives.push_back(std::move(d));
  }
}

void draw_trace(Dice &dice, FrozenPipeline &p) {
  for (const FuncDef &f : p.algorithm.funcs) {
    auto add = [&](DirectiveKind kind) {
      Directive d;
      d.kind = kind;
      d.func = f.name;
      p.directives.push_back(std::move(d));
    };
    if (dice.chance(60)) add(DirectiveKind::TraceRealizations);
    if (dice.chance(60)) add(DirectiveKind::TraceStores);
    if (dice.chance(60)) add(DirectiveKind::TraceLoads);
    if (dice.chance(20)) {
      add(DirectiveKind::TraceTag);
      p.directives.back().factors = {make_string("tag of " + f.name)};
    }
    if (p.algorithm.is_output(f.name) && dice.chance(30)) add(DirectiveKind::TracePipeline);
    // The format of Halide's own has no small floats.
    const bool has_format = !f.types[0].is_float() || f.types[0].bits() > 16;
    if (f.types.size() == 1 && dice.chance(10) && has_format) {
      add(DirectiveKind::DebugToFile);
      p.directives.back().factors = {make_string("/dev/null")};
    }
  }
}

}  // namespace

RandomPipeline random_pipeline(uint64_t seed) {
  return random_pipeline(seed, [](const Algorithm &a, const std::vector<Directive> &directives) {
    build_tree(a, directives);
  });
}

RandomPipeline random_pipeline(uint64_t seed, const CheckSchedule &check) {
  Dice dice(seed * 0x9e3779b97f4a7c15ull + 12345);
  RandomPipeline p;
  const bool stencils = dice.chance(30);
  const bool windows = stencils && dice.chance(70);
  p.frozen.algorithm = random_algorithm(dice, stencils);
  Dice steps(seed + 2029);
  if (steps.chance(15)) add_scan(steps, p.frozen.algorithm);
  std::vector<Directive> memory;  // for what C functions read
  Dice foreign(seed + 1213);
  if (foreign.chance(10)) {
    add_extern_stage(foreign, p.frozen.algorithm);
    memory = operands_at_root(foreign, p.frozen.algorithm);
  }
  auto with_memory = [&](const std::vector<Directive> &drawn) {
    std::vector<Directive> all = memory;
    for (const Directive &d : drawn) {
      all.push_back(d);
      all.back().order = all.size() - 1;
    }
    return all;
  };
  p.frozen.directives =
      with_memory(random_schedule(dice, p.frozen.algorithm, windows,
                                  [&](const Algorithm &a, const std::vector<Directive> &drawn) {
                                    check(a, with_memory(drawn));
                                  }));
  Dice kept(seed + 4711);
  if (kept.chance(30)) {
    const FrozenPipeline before = p.frozen;
    memoize_some(p.frozen, kept);
    try {
      check(p.frozen.algorithm, p.frozen.directives);
    } catch (const CompileError &) {
      if (kept.chance(95)) p.frozen = before;
    }
  }
  for (const std::string &output : p.frozen.algorithm.outputs) {
    p.boxes.emplace_back();
    for (int d = p.frozen.algorithm.find(output)->dimensions(); d > 0; d--) {
      p.boxes.back().min.push_back(dice.between(-2, 3));
      p.boxes.back().extent.push_back(dice.between(1, 11));
    }
  }
  if (dice.chance(20)) draw_trace(dice, p.frozen);
  return p;
}

}  // namespace polyhalite::test
