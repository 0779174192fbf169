#include "test/support/random_kernels.h"

#include <algorithm>
#include <map>
#include <string>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"

namespace polyhalite::test {

namespace {

class KernelDraw {
 public:
  KernelDraw(Dice &dice, const Algorithm &a) : dice_(dice), a_(a) {}

  std::vector<Directive> draw() {
    // Consumers first: their loops are what producers are computed at.
    for (size_t i = a_.funcs.size(); i-- > 0;) func(a_.funcs[i]);
    return std::move(list_);
  }

 private:
  struct Place {
    std::string func, loop;
    std::string around;  // of a serial loop: the loop next around it, where that is of blocks
  };

  Directive &add(DirectiveKind kind, const FuncDef &f, int stage, std::vector<std::string> loops) {
    Directive d;
    d.kind = kind;
    d.func = f.name;
    d.stage = stage;
    d.loops = std::move(loops);
    d.where = {"kernels", static_cast<int>(list_.size()) + 1};
    d.order = list_.size();
    list_.push_back(std::move(d));
    return list_.back();
  }

  std::vector<std::string> pure_dims(const FuncDef &f, int stage) const {
    std::vector<std::string> dims;
    for (size_t d = 0; d < f.args.size(); d++) {
      const VariableNode *v = as_variable(f.stages[stage].args[d]);
      if (v && v->kind == VariableKind::Pure && v->name == f.args[d]) dims.push_back(f.args[d]);
    }
    return dims;
  }

  static std::vector<std::string> reductions(const FuncDef &f, int stage) {
    std::vector<std::string> dims;
    for (const ReductionVariable &r : f.stages[stage].rvars) dims.push_back(r.var);
    return dims;
  }

  bool reads(const FuncDef &f, const std::string &name) const {
    bool found = false;
    for (const StageDef &s : f.stages) {
      for (const auto *exprs : {&s.args, &s.values}) {
        for (const Expr &e : *exprs) {
          for_each_node(e, [&](const Expr &n) {
            const CallNode *c = as_call(n);
            found = found || (c && c->kind == CallKind::Func && c->name == name);
          });
        }
      }
    }
    return found;
  }

  void func(const FuncDef &f) {
    if (a_.is_output(f.name)) return root(f);
    std::vector<const FuncDef *> consumers;
    for (const FuncDef &g : a_.funcs) {
      if (g.name != f.name && reads(g, f.name)) consumers.push_back(&g);
    }
    std::vector<Place> places;
    for (const Place &p : places_) {
      for (const FuncDef *g : consumers) {
        if (g->name == p.func) places.push_back(p);
      }
    }
    if (is_copy(f) && dice_.chance(70)) {
      // Rings want a serial loop.
      const auto ends = std::remove_if(places.begin(), places.end(),
                                       [](const Place &p) { return p.around.empty(); });
      if (ends != places.begin()) places.erase(ends, places.end());
    }
    if (!places.empty() && dice_.chance(60)) return at(f, dice_.pick(places));
    if (dice_.chance(25)) return;  // inlined
    add(DirectiveKind::ComputeRoot, f, 0, {});
    if (dice_.chance(80)) root(f);
  }

  // Kernels of its own.
  void root(const FuncDef &f) {
    for (int s = 0; s < f.num_definitions(); s++) {
      if (dice_.chance(90)) tile(f, s);
    }
  }

  // A split of loop `x`; the names of its parts.
  std::pair<std::string, std::string> split(const FuncDef &f, int stage, const std::string &x,
                                            int factor, bool pure) {
    const std::string outer = x + "o", inner = x + "i";
    Directive &d = add(DirectiveKind::Split, f, stage, {x, outer, inner});
    d.factors = {Expr(factor)};
    d.tail = dice_.chance(50) ? TailStrategy::Auto : TailStrategy::GuardWithIf;
    if (pure && dice_.chance(20)) d.tail = TailStrategy::RoundUp;
    return {outer, inner};
  }

  void tile(const FuncDef &f, int stage) {
    std::vector<std::string> dims = pure_dims(f, stage), blocks, threads, inside, between, host;
    const bool pure = stage == 0;
    for (const std::string &x : dims) {
      if (blocks.size() < 2 && dice_.chance(85)) {
        auto [outer, inner] = split(f, stage, x, dice_.between(1, 6), pure);
        blocks.push_back(outer);
        if (dice_.chance(30)) {
          auto [part, rest] = split(f, stage, inner, dice_.between(1, 3), false);
          (dice_.chance(50) ? inside : between).push_back(rest);
          inner = part;
        }
        (dice_.chance(90) ? threads : inside).push_back(inner);
      } else {
        (dice_.chance(50) ? inside : dice_.chance(50) ? between : host).push_back(x);
      }
    }
    for (const std::string &r : reductions(f, stage)) {
      if (blocks.empty() && dice_.chance(50)) {
        auto [outer, inner] = split(f, stage, r, dice_.between(1, 5), false);
        blocks.push_back(outer);
        threads.push_back(inner);
        add(DirectiveKind::Atomic, f, stage, {}).factors = {make_false()};
        continue;
      }
      (dice_.chance(60) ? inside : between).push_back(r);
    }
    if (blocks.empty()) return;
    finish(f, stage, blocks, threads, inside, between, host);
    if (stage == 0) {
      places_.push_back({f.name, blocks[0], ""});
      if (!threads.empty() && dice_.chance(30)) places_.push_back({f.name, threads[0], ""});
      if (!between.empty() && dice_.chance(80)) {
        places_.push_back({f.name, between.back(), blocks[0]});
      }
    }
  }

  void finish(const FuncDef &f, int stage, const std::vector<std::string> &blocks,
              const std::vector<std::string> &threads, const std::vector<std::string> &inside,
              const std::vector<std::string> &between, const std::vector<std::string> &host) {
    std::vector<std::string> order;
    for (const auto *part : {&inside, &threads, &between, &blocks, &host}) {
      order.insert(order.end(), part->begin(), part->end());
    }
    if (order.size() > 1) add(DirectiveKind::Reorder, f, stage, order);
    if (!blocks.empty()) add(DirectiveKind::GpuBlocks, f, stage, blocks);
    if (!threads.empty()) {
      const bool lanes = dice_.chance(15);
      if (lanes) add(DirectiveKind::GpuLanes, f, stage, {threads[0]});
      const std::vector<std::string> rest(threads.begin() + lanes, threads.end());
      if (!rest.empty()) add(DirectiveKind::GpuThreads, f, stage, rest);
    }
    if (!inside.empty() && dice_.chance(25)) add(DirectiveKind::Unroll, f, stage, {inside[0]});
    if (!inside.empty() && dice_.chance(15)) add(DirectiveKind::Vectorize, f, stage, {inside[0]});
  }

  static bool is_copy(const FuncDef &f) {
    if (f.num_definitions() > 1 || f.types.size() > 1) return false;
    const CallNode *c = as_call(f.stages[0].values[0]);
    return c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
  }

  // In another Func's kernel.
  void at(const FuncDef &f, const Place &p) {
    add(DirectiveKind::ComputeAt, f, 0, {p.loop}).target_func = p.func;
    if (is_copy(f) && !p.around.empty() && dice_.chance(60)) {
      add(DirectiveKind::HoistStorage, f, 0, {p.around}).target_func = p.func;
      add(DirectiveKind::RingBuffer, f, 0, {}).factors = {Expr(dice_.between(2, 4))};
      add(DirectiveKind::Async, f, 0, {});
    } else if (dice_.chance(30)) {
      add(DirectiveKind::StoreIn, f, 0, {}).option =
          dice_.pick<std::string>({"GPUShared", "Register", "Stack"});
    }
    for (int s = 0; s < f.num_definitions(); s++) {
      std::vector<std::string> threads, inside, between;
      for (const std::string &x : pure_dims(f, s)) {
        std::string loop = x;
        if (dice_.chance(30)) {
          auto [part, rest] = split(f, s, x, dice_.between(1, 3), false);
          (dice_.chance(60) ? inside : between).push_back(rest);
          loop = part;
        }
        (dice_.chance(75) ? threads : inside).push_back(loop);
      }
      for (const std::string &r : reductions(f, s)) {
        if (dice_.chance(20)) {
          threads.push_back(r);
          add(DirectiveKind::Atomic, f, s, {}).factors = {make_false()};
        } else {
          (dice_.chance(60) ? inside : between).push_back(r);
        }
      }
      finish(f, s, {}, threads, inside, between, {});
    }
  }

  Dice &dice_;
  const Algorithm &a_;
  std::vector<Directive> list_;
  std::vector<Place> places_;
};

// Reads of images become reads of Funcs, which are noted with a read of each.
class StagedReads : public ExprRewriter {
 public:
  explicit StagedReads(std::string prefix) : prefix_(std::move(prefix)) {}

  std::map<std::string, Expr> images;  // [Func]

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Image) return r;
    images.emplace(prefix_ + c->name, r);
    return make_func_call(c->type, prefix_ + c->name, c->args);
  }

 private:
  const std::string prefix_;
};

FuncDef copy_of(const std::string &name, const Expr &read) {
  FuncDef copy;
  copy.name = name;
  std::vector<Expr> args;
  for (size_t d = 0; d < read->args.size(); d++) {
    copy.args.push_back("i" + std::to_string(d));
    args.push_back(make_variable(Int(32), VariableKind::Pure, copy.args.back()));
  }
  copy.types = {read.type()};
  auto call = std::make_shared<CallNode>(*as_call(read));
  call->args = args;
  StageDef stage;
  stage.args = args;
  stage.values = {Expr(std::shared_ptr<const ExprNode>(std::move(call)))};
  copy.stages = {stage};
  return copy;
}

}  // namespace

void stage_images(Dice &dice, Algorithm &algorithm) {
  std::vector<FuncDef> funcs;
  for (FuncDef f : algorithm.funcs) {
    if (!as_extern_stage(f.stages[0]) && dice.chance(40)) {
      StagedReads staged("staged_" + f.name + "_");
      for (StageDef &s : f.stages) {
        for (auto *exprs : {&s.args, &s.values}) {
          for (Expr &e : *exprs) e = staged(e);
        }
      }
      for (const auto &[name, read] : staged.images) funcs.push_back(copy_of(name, read));
    }
    funcs.push_back(std::move(f));
  }
  algorithm.funcs = std::move(funcs);
}

std::vector<Directive> random_kernels(Dice &dice, const Algorithm &algorithm) {
  return KernelDraw(dice, algorithm).draw();
}

}  // namespace polyhalite::test
