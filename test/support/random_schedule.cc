#include "test/support/random_schedule.h"

#include <algorithm>
#include <functional>
#include <map>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/language/stream_rules.h"
#include "lang/simplify/distribute.h"
#include "polyhalite/error.h"
#include "polyhalite/param.h"
#include "schedule/derive_algorithm.h"

namespace polyhalite::test {

namespace {

class ScheduleDraw {
 public:
  ScheduleDraw(Dice &dice, const Algorithm &a, bool windows, const CheckSchedule &check)
      : dice_(dice),
        original_(a),
        algorithm_(a),
        windows_(windows),
        check_(check),
        mistakes_(dice.chance(8)) {
    for (const FuncDef &f : a.funcs) {
      for (size_t s = 0; s < f.stages.size(); s++) dims_[{f.name, int(s)}] = initial(f, int(s));
    }
  }

  std::vector<Directive> draw() {
    if (dice_.chance(35)) {
      for (int i = dice_.between(1, 2); i > 0; i--) attempt([&] { deriving_directive(); });
    }
    auto loops = [&](int count) {
      for (; count > 0; count--) attempt([&] { loop_directive(); });
    };
    auto storage = [&](int count) {
      for (; count > 0; count--) attempt([&] { storage_directive(); });
    };
    if (windows_) {
      loops(dice_.between(0, 2));
      for (const FuncDef &f : copy_of_funcs()) attempt([&] { place_window(f); });
      loops(dice_.between(0, 3));
      storage(dice_.between(0, 2));
    } else {
      if (dice_.chance(20)) attempt([&] { share_loops(); });
      place_some(75);
      loops(dice_.between(0, 8));
      if (dice_.chance(20)) attempt([&] { share_loops(); });
      // Levels name loops that exist by now.
      place_some(35);
      storage(dice_.chance(60) ? dice_.between(1, 3) : 0);
    }
    if (dice_.chance(10)) attempt([&] { allow_races(); });
    for (const FuncDef &f : algorithm_.funcs) {
      if (dice_.chance(3)) add(DirectiveKind::NoProfiling, f.name, 0, {});
    }
    if (dice_.chance(2)) device_directive();
    return std::move(list_);
  }

 private:
  struct Branch {
    std::string func;
    int stage;
    Expr condition;
    std::vector<std::string> dims;
  };
  using Stage = std::pair<std::string, int>;
  using Dims = std::map<Stage, std::vector<std::string>>;

  // What cannot be is taken back, unless this program may have mistakes in it.
  template <typename F>
  void attempt(F &&draw) {
    const Algorithm algorithm = algorithm_;
    const Dims dims = dims_;
    const std::vector<Branch> branches = branches_;
    const std::vector<Directive> list = list_;
    draw();
    if (mistakes_ || list_.size() == list.size()) return;
    try {
      check_(original_, list_);
    } catch (const CompileError &) {
      algorithm_ = algorithm;
      dims_ = dims;
      branches_ = branches;
      list_ = list;
    }
  }

  // Draws change the Funcs that there are.
  std::vector<FuncDef> copy_of_funcs() const { return algorithm_.funcs; }

  void place_some(int percent) {
    for (const FuncDef &f : copy_of_funcs()) {
      if (!algorithm_.is_output(f.name) && dice_.chance(percent)) attempt([&] { place(f); });
    }
  }

  // A promise that changes nothing: the stage has no loop that runs at once.
  void allow_races() {
    auto it = dims_.begin();
    std::advance(it, dice_.between(0, static_cast<int>(dims_.size()) - 1));
    const auto &[func, stage] = it->first;
    for (const Directive &d : list_) {
      if (d.func != func || d.stage != stage) continue;
      if (stage > 0 && (d.kind == DirectiveKind::Parallel || d.kind == DirectiveKind::Vectorize ||
                        d.kind == DirectiveKind::Reorder || d.kind == DirectiveKind::Fuse)) {
        return;
      }
    }
    add(DirectiveKind::AllowRaceConditions, func, stage, {});
  }

  // Code is made for the processor only: these are refused, or are copies to where the values are.
  void device_directive() {
    const FuncDef &f = dice_.pick(algorithm_.funcs);
    const auto &dims = dims_.at({f.name, 0});
    const auto kind = dice_.pick<DirectiveKind>(
        {DirectiveKind::GpuBlocks, DirectiveKind::GpuThreads, DirectiveKind::GpuLanes,
         DirectiveKind::GpuSingleThread, DirectiveKind::Hexagon, DirectiveKind::SmeStreaming,
         DirectiveKind::CopyToDevice, DirectiveKind::CopyToHost});
    const bool names_loop = kind == DirectiveKind::GpuBlocks || kind == DirectiveKind::GpuThreads ||
                            kind == DirectiveKind::GpuLanes;
    if (names_loop && dims.empty()) return;
    add(kind, f.name, 0,
        names_loop ? std::vector<std::string>{dice_.pick(dims)} : std::vector<std::string>{});
  }

  static std::vector<std::string> initial(const FuncDef &f, int stage) {
    std::vector<std::string> dims;
    const StageDef &s = f.stages[stage];
    for (const ReductionVariable &r : s.rvars) dims.push_back(r.var);
    for (size_t d = 0; d < f.args.size(); d++) {
      const VariableNode *v = as_variable(s.args[d]);
      if (v && v->kind == VariableKind::Pure && v->name == f.args[d]) dims.push_back(f.args[d]);
    }
    return dims;
  }

  // Of a split, an alignment or a ring: mostly a constant, else the algorithm's scalar.
  Expr factor(int low, int high) {
    if (dice_.chance(10)) {
      for (const AlgorithmInput &i : original_.inputs) {
        if (!i.param->is_buffer) return detail::parameter_value(i.param);
      }
    }
    return Expr(dice_.between(low, high));
  }

  Directive &add(DirectiveKind kind, const std::string &func, int stage,
                 std::vector<std::string> loops) {
    Directive d;
    d.kind = kind;
    d.func = func;
    d.stage = stage;
    d.loops = std::move(loops);
    d.where = {"random", static_cast<int>(list_.size()) + 1};
    d.order = list_.size();
    list_.push_back(std::move(d));
    return list_.back();
  }

  void place(const FuncDef &f) {
    if (f.num_definitions() == 1 && dice_.chance(8)) {
      add(DirectiveKind::ComputeInline, f.name, 0, {});
      return;
    }
    if (dice_.chance(30)) {
      add(DirectiveKind::ComputeRoot, f.name, 0, {});
      return;
    }
    const auto at = random_loop(f.name);
    if (at.second.empty()) return;
    Directive &d = add(DirectiveKind::ComputeAt, f.name, 0, {at.second});
    d.target_func = at.first.first;
    d.target_stage = at.first.second;
    if (dice_.chance(40)) {
      const auto outer = random_loop(f.name);
      if (dice_.chance(30) || outer.second.empty()) {
        add(DirectiveKind::StoreRoot, f.name, 0, {});
      } else {
        Directive &s = add(DirectiveKind::StoreAt, f.name, 0, {outer.second});
        s.target_func = outer.first.first;
        s.target_stage = outer.first.second;
      }
    }
    if (dice_.chance(20)) hoist(f);
    if (dice_.chance(15)) add(DirectiveKind::Async, f.name, 0, {});
  }

  // Does a value of `func` come from `producer`, through any number of Funcs?
  bool depends(const std::string &func, const std::string &producer) const {
    if (func == producer) return true;
    const FuncDef *f = algorithm_.find(func);
    if (!f) return false;
    for (const StageDef &s : f->stages) {
      for (const FuncDef &g : algorithm_.funcs) {
        bool reader = s.predicate.defined() && reads(s.predicate, g.name);
        for (const auto *list : {&s.args, &s.values}) {
          for (const Expr &e : *list) reader |= reads(e, g.name);
        }
        if (reader && g.name != func && depends(g.name, producer)) return true;
      }
    }
    return false;
  }

  // How many of their outermost loops have the same names.
  int common_loops(const Stage &a, const Stage &b) const {
    const std::vector<std::string> &of_a = dims_.at(a), &of_b = dims_.at(b);
    const auto end = std::mismatch(of_a.rbegin(), of_a.rend(), of_b.rbegin(), of_b.rend());
    return static_cast<int>(end.first - of_a.rbegin());
  }

  // Two stages with equal outer loops, mostly of Funcs of which none needs the other.
  void share_loops() {
    std::vector<std::pair<Stage, Stage>> pairs;
    const bool any = dice_.chance(10);
    for (const auto &leader : dims_) {
      for (const auto &follower : dims_) {
        const Stage &a = leader.first, &b = follower.first;
        if (a.first == b.first || common_loops(a, b) == 0) continue;
        if (any || !(depends(a.first, b.first) || depends(b.first, a.first))) {
          pairs.push_back({a, b});
        }
      }
    }
    if (pairs.empty()) return;
    const auto [leader, follower] = dice_.pick(pairs);
    if (dice_.chance(30)) split_both(leader, follower);
    place_both(leader.first, follower.first);
    const std::vector<std::string> &dims = dims_.at(leader);
    const int depth = dice_.between(1, common_loops(leader, follower));
    const std::string loop = dims[dims.size() - static_cast<size_t>(depth)];
    if (dice_.chance(25)) {
      for (const Stage &s : {leader, follower}) {
        add(DirectiveKind::Parallel, s.first, s.second, {dims.back()});
      }
    }
    Directive &d = add(DirectiveKind::ComputeWith, follower.first, follower.second, {loop});
    d.target_func = leader.first;
    d.target_stage = leader.second;
    if (dice_.chance(60)) {
      d.loops.push_back(loop);
      d.aligns = {
          dice_.pick<LoopAlignStrategy>({LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd,
                                         LoopAlignStrategy::NoAlign})};
    }
  }

  // The outermost loop of both becomes two.
  void split_both(const Stage &a, const Stage &b) {
    const std::string n = std::to_string(fresh_++), dim = dims_.at(a).back();
    const Expr by = factor(1, 4);
    const auto tail = dice_.pick<TailStrategy>({TailStrategy::Auto, TailStrategy::GuardWithIf});
    for (const Stage &s : {a, b}) {
      Directive &d =
          add(DirectiveKind::Split, s.first, s.second, {dim, dim + "o" + n, dim + "i" + n});
      d.factors = {by};
      d.tail = tail;
      dims_.at(s).back() = dim + "i" + n;
      dims_.at(s).push_back(dim + "o" + n);
    }
  }

  // One compute level for both: the root, or a loop of a stage that reads one of them.
  void place_both(const std::string &a, const std::string &b) {
    const auto at = random_loop(dice_.chance(50) ? a : b);
    const bool at_root = dice_.chance(65) || at.second.empty();
    for (const std::string &f : {a, b}) {
      if (algorithm_.is_output(f)) continue;
      if (at_root) {
        add(DirectiveKind::ComputeRoot, f, 0, {});
        continue;
      }
      Directive &d = add(DirectiveKind::ComputeAt, f, 0, {at.second});
      d.target_func = at.first.first;
      d.target_stage = at.first.second;
    }
  }

  // Memory for its storages, taken further outside.
  void hoist(const FuncDef &f) {
    const auto outer = random_loop(f.name);
    if (dice_.chance(50) || outer.second.empty()) {
      add(DirectiveKind::HoistStorageRoot, f.name, 0, {});
    } else {
      Directive &d = add(DirectiveKind::HoistStorage, f.name, 0, {outer.second});
      d.target_func = outer.first.first;
      d.target_stage = outer.first.second;
    }
    if (dice_.chance(40)) {
      add(DirectiveKind::RingBuffer, f.name, 0, {}).factors = {factor(1, 3)};
    }
  }

  // Updates whose terms can be added up apart.
  std::vector<Stage> with_invariants() const {
    std::vector<Stage> found;
    for (const FuncDef &f : algorithm_.funcs) {
      for (int s = 1; s < f.num_definitions(); s++) {
        std::string why;
        const auto terms = reduction_terms(f, s, constant_ranges(f, s, list_), &why);
        if (terms) found.push_back({f.name, s});
      }
    }
    return found;
  }

  // eager_inline, change_type or hoist_invariants; what cannot be is taken back, and false is
  // returned.
  bool rewriting_directive() {
    int kind = dice_.between(0, 2);
    const std::vector<Stage> hoistable = with_invariants();
    if (kind == 2 && hoistable.empty()) kind = dice_.between(0, 1);
    const FuncDef f =
        kind == 2 ? *algorithm_.find(dice_.pick(hoistable).first) : dice_.pick(algorithm_.funcs);
    int stage = dice_.between(0, f.num_definitions() - 1);
    while (kind == 2 && !std::count(hoistable.begin(), hoistable.end(), Stage{f.name, stage})) {
      stage = dice_.between(1, f.num_definitions() - 1);
    }
    const std::string made = f.name + "_made" + std::to_string(fresh_++);
    if (kind == 0) {
      std::vector<std::string> names;
      for (const FuncDef &g : algorithm_.funcs) {
        if (g.num_definitions() == 1 && g.name != f.name && dice_.chance(60)) {
          names.push_back(g.name);
        }
      }
      if (names.empty()) return false;
      add(DirectiveKind::EagerInline, f.name, stage, {}).funcs = std::move(names);
    } else if (kind == 1) {
      Directive &d = add(DirectiveKind::ChangeType, f.name, 0, {});
      d.type = dice_.pick<Type>({Int(64), Int(32), Int(16), UInt(16), Float(64), Float(32)});
      d.factors = {make_false()};
      d.makes = made;
    } else {
      Directive &d = add(DirectiveKind::HoistInvariants, f.name, stage, {});
      d.makes = made;
      std::string why;
      const auto terms = reduction_terms(f, stage, constant_ranges(f, stage, list_), &why);
      for (size_t i = 1; terms && i < terms->size(); i++) {
        d.makes_more.push_back(made + "_" + std::to_string(i));
      }
    }
    try {
      algorithm_ = derive_algorithm(original_, list_).algorithm;
    } catch (const CompileError &) {
      list_.pop_back();
      return false;
    }
    for (int s = 0; s < f.num_definitions(); s++) dims_.erase({f.name, s});
    std::vector<FuncDef> fresh;
    for (const FuncDef &g : algorithm_.funcs) {
      const bool is_made = g.name.rfind(made, 0) == 0;
      if (!is_made && g.name != f.name) continue;
      for (int s = 0; s < g.num_definitions(); s++) dims_[{g.name, s}] = initial(g, s);
      if (is_made) fresh.push_back(g);
    }
    for (const FuncDef &g : fresh) {
      if (dice_.chance(75)) place(g);
    }
    return true;
  }

  // in, clone_in, rfactor, specialize or atomic; what cannot be is taken back.
  void deriving_directive() {
    if (dice_.chance(45)) {
      for (int tries = 6; tries > 0 && !rewriting_directive();) tries--;
      return;
    }
    const size_t before = list_.size();
    const FuncDef &f = dice_.pick(algorithm_.funcs);
    const std::string func = f.name, made = func + "_made" + std::to_string(fresh_++);
    const int stage = dice_.between(0, f.num_definitions() - 1);
    const int kind = dice_.between(0, 99);
    if (kind < 40 && !algorithm_.is_output(func)) {
      Directive &d = add(kind < 25 ? DirectiveKind::In : DirectiveKind::CloneIn, func, 0, {});
      d.makes = made;
      for (const FuncDef &g : algorithm_.funcs) {
        bool reader = false;
        for (const StageDef &s : g.stages) {
          for (const Expr &e : s.values) reader |= reads(e, func);
        }
        if (reader && g.name != func && dice_.chance(70)) d.consumers.push_back(g.name);
      }
      if (d.kind == DirectiveKind::CloneIn && d.consumers.empty()) d.consumers = {func};
    } else if (kind < 70 && stage > 0 && !f.stages[stage].rvars.empty()) {
      std::vector<std::string> loops;
      for (const ReductionVariable &r : f.stages[stage].rvars) {
        std::string loop = r.var;
        if (dice_.chance(40)) {
          Directive &d = add(DirectiveKind::Split, func, stage, {loop, loop + "o", loop + "i"});
          d.factors = {Expr(dice_.between(1, 4))};
          loop += dice_.chance(60) ? "o" : "i";
        }
        if (loops.empty() || dice_.chance(40)) {
          loops.insert(loops.end(), {loop, "u" + std::to_string(fresh_++)});
        }
      }
      add(DirectiveKind::Rfactor, func, stage, loops).makes = made;
    } else if (kind < 90) {
      const std::string buffer = algorithm_.find(algorithm_.outputs[0])->buffer_name(0);
      const Expr extent = make_variable(Int(32), VariableKind::BufferField, buffer + ".extent.0");
      const Expr condition =
          make_binary(dice_.pick<Op>({Op::Eq, Op::Gt, Op::Le}), extent, Expr(dice_.between(1, 12)));
      // Of a run that no branch serves nothing could be compared.
      const bool fails = dice_.chance(15);
      const Expr holds = make_binary(Op::Gt, extent, Expr(0));
      add(DirectiveKind::Specialize, func, stage, {}).factors = {fails ? holds : condition};
      branches_.push_back({func, stage, fails ? holds : condition, dims_.at({func, stage})});
      if (fails) {
        add(DirectiveKind::SpecializeFail, func, stage, {}).factors = {make_string("no branch")};
      }
    } else if (stage > 0) {
      add(DirectiveKind::Atomic, func, stage, {}).factors = {make_false()};
    }
    try {
      algorithm_ = derive_algorithm(original_, list_).algorithm;
    } catch (const CompileError &) {
      list_.resize(before);
      return;
    }
    for (const FuncDef &g : algorithm_.funcs) {
      if (g.name == made) {
        for (int s = 0; s < g.num_definitions(); s++) dims_[{made, s}] = initial(g, s);
        if (dice_.chance(75)) place(FuncDef(g));
      } else if (g.name == func) {
        dims_[{func, stage}] = initial(g, stage);
      }
    }
  }

  // Computed at a loop of the output, stored at one outside of it.
  void place_window(const FuncDef &f) {
    const auto &dims = dims_.at({algorithm_.outputs[0], 0});
    if (algorithm_.is_output(f.name) || dice_.chance(15)) return;
    const int at = dice_.between(0, static_cast<int>(dims.size()) - 1);
    add(DirectiveKind::ComputeAt, f.name, 0, {dims[at]}).target_func = algorithm_.outputs[0];
    if (dice_.chance(25)) add(DirectiveKind::Async, f.name, 0, {});
    if (at + 1 == static_cast<int>(dims.size()) || dice_.chance(50)) {
      add(DirectiveKind::StoreRoot, f.name, 0, {});
      return;
    }
    Directive &s = add(DirectiveKind::StoreAt, f.name, 0,
                       {dims[dice_.between(at + 1, static_cast<int>(dims.size()) - 1)]});
    s.target_func = algorithm_.outputs[0];
  }

  static bool reads(const Expr &e, const std::string &func) {
    if (!e.defined()) return false;
    const CallNode *c = as_call(e);
    if (c && c->kind == CallKind::Func && c->name == func) return true;
    return std::any_of(e->args.begin(), e->args.end(),
                       [&](const Expr &a) { return reads(a, func); });
  }

  // A loop where `func` could be computed: mostly one of a stage that reads it.
  std::pair<std::pair<std::string, int>, std::string> random_loop(const std::string &func) {
    std::vector<std::pair<std::string, int>> stages;
    const bool any = dice_.chance(15);
    for (const FuncDef &f : algorithm_.funcs) {
      for (int i = 0; i < f.num_definitions(); i++) {
        const StageDef &s = f.stages[i];
        bool reader = any;
        for (const Expr &e : s.args) reader |= reads(e, func);
        for (const Expr &e : s.values) reader |= reads(e, func);
        if (reader && (f.name != func || any)) stages.push_back({f.name, i});
      }
    }
    if (stages.empty()) return {{func, 0}, ""};
    const auto stage = dice_.pick(stages);
    const auto &dims = dims_.at(stage);
    return {stage, dims.empty() ? "" : dice_.pick(dims)};
  }

  void loop_directive() {
    if (!branches_.empty() && dice_.chance(40)) {
      Branch &b = branches_[dice_.between(0, static_cast<int>(branches_.size()) - 1)];
      const size_t before = list_.size();
      loop_directive(b.func, b.stage, b.dims);
      for (size_t i = before; i < list_.size(); i++) list_[i].branch = {b.condition};
      return;
    }
    auto it = dims_.begin();
    std::advance(it, dice_.between(0, static_cast<int>(dims_.size()) - 1));
    loop_directive(it->first.first, it->first.second, it->second);
  }

  void loop_directive(const std::string &func, int stage, std::vector<std::string> &dims) {
    if (dims.empty()) return;
    const int kind = dice_.between(0, 99);
    const std::string dim = mistakes_ && dice_.chance(10) ? "nowhere" : dice_.pick(dims);
    const auto at = std::find(dims.begin(), dims.end(), dim);
    if (kind < 40) {
      const std::string n = std::to_string(fresh_++);
      const std::string outer = dim + "o" + n, inner = dim + "i" + n;
      Directive &d = add(DirectiveKind::Split, func, stage, {dim, outer, inner});
      d.factors = {mistakes_ && dice_.chance(10) ? Expr(0) : factor(1, 6)};
      d.tail = dice_.pick<TailStrategy>(
          {TailStrategy::Auto, TailStrategy::Auto, TailStrategy::Auto, TailStrategy::GuardWithIf,
           TailStrategy::GuardWithIf, TailStrategy::Predicate, TailStrategy::PredicateLoads,
           TailStrategy::PredicateStores, TailStrategy::RoundUp, TailStrategy::ShiftInwards,
           TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend});
      if (stage > 0 && d.tail == TailStrategy::ShiftInwards && dice_.chance(90)) {
        d.tail = TailStrategy::Auto;
      }
      if (at == dims.end()) return;
      *at = outer;
      dims.insert(std::find(dims.begin(), dims.end(), outer), inner);
      if (dice_.chance(45)) {
        add(dice_.chance(65) ? DirectiveKind::Vectorize : DirectiveKind::Unroll, func, stage,
            {inner});
      }
    } else if (kind < 50 && dims.size() >= 2) {
      const size_t i = dice_.between(0, static_cast<int>(dims.size()) - 2);
      const std::string fused = dims[i] + dims[i + 1] + std::to_string(fresh_++);
      add(DirectiveKind::Fuse, func, stage, {dims[i], dims[i + 1], fused});
      dims[i] = fused;
      dims.erase(dims.begin() + static_cast<long>(i) + 1);
    } else if (kind < 55 && at != dims.end()) {
      const std::string name = dim + "n" + std::to_string(fresh_++);
      add(DirectiveKind::Rename, func, stage, {dim, name});
      *at = name;
    } else if (kind < 75 && dims.size() >= 2) {
      std::vector<std::string> order = dims;
      for (size_t i = order.size() - 1; i > 0; i--) {
        std::swap(order[i], order[dice_.between(0, static_cast<int>(i))]);
      }
      add(DirectiveKind::Reorder, func, stage, order);
      dims = order;
    } else {
      // Whole loops seldom have constant extents, but those of reduction variables do here.
      const bool constant = dim[0] == 'r' || dice_.chance(15);
      const auto kinds =
          constant ? std::vector<DirectiveKind>{DirectiveKind::Parallel, DirectiveKind::Vectorize,
                                                DirectiveKind::Unroll}
                   : std::vector<DirectiveKind>{DirectiveKind::Parallel, DirectiveKind::Parallel,
                                                DirectiveKind::Serial};
      add(dice_.pick(kinds), func, stage, {dim});
      if (dice_.chance(10)) {
        add(DirectiveKind::Partition, func, stage, {dim}).option =
            dice_.pick<std::string>({"Never", "Auto"});
      }
      if (dice_.chance(15)) stream(func, stage);
    }
  }

  void stream(const std::string &func, int stage) {
    const FuncDef *f = algorithm_.find(func);
    if (f && stage < f->num_definitions() && !why_not_streamed(*f, stage) && dice_.chance(60)) {
      add(DirectiveKind::StreamStores, func, stage, {});
    } else {
      Directive &d = add(DirectiveKind::StreamLoads, func, stage, {});
      if (dice_.chance(50)) d.funcs = {"in"};
    }
  }

  // How a Func is stored, and over what it is computed.
  void storage_directive() {
    const FuncDef &f = dice_.pick(algorithm_.funcs);
    const std::string dim = dice_.pick(f.args);
    switch (dice_.between(0, 9)) {
      case 0:
        add(DirectiveKind::ReorderStorage, f.name, 0, {f.args.rbegin(), f.args.rend()});
        return;
      case 1:
        add(DirectiveKind::AlignStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 8))};
        return;
      case 2:
        add(DirectiveKind::FoldStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 12))};
        return;
      case 3:
        add(DirectiveKind::BoundStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(4, 40))};
        return;
      case 4:
        add(DirectiveKind::StoreIn, f.name, 0, {}).option =
            dice_.pick<std::string>({"Heap", "Stack", "Auto"});
        return;
      case 5:
        add(DirectiveKind::AlignBounds, f.name, 0, {dim}).factors = {factor(1, 5),
                                                                     Expr(dice_.between(-1, 4))};
        return;
      case 6:
        add(DirectiveKind::AlignExtent, f.name, 0, {dim}).factors = {factor(1, 5)};
        return;
      case 7:
        add(DirectiveKind::BoundExtent, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 20))};
        return;
      case 8:
        add(DirectiveKind::Bound, f.name, 0, {dim}).factors = {Expr(dice_.between(-3, 3)),
                                                               Expr(dice_.between(1, 20))};
        return;
      default:
        prefetch(f);
    }
  }

  // Of what stage 0 of f reads, at a loop of it.
  void prefetch(const FuncDef &f) {
    const auto &dims = dims_.at({f.name, 0});
    std::vector<std::string> targets = {"in"};
    for (const FuncDef &g : algorithm_.funcs) {
      if (reads(f.stages[0].values[0], g.name)) targets.push_back(g.name);
    }
    const int at = dice_.between(0, static_cast<int>(dims.size()) - 1);
    Directive &d = add(DirectiveKind::Prefetch, f.name, 0,
                       {dims[at], dims[dice_.between(at, static_cast<int>(dims.size()) - 1)]});
    d.factors = {Expr(dice_.between(-1, 3))};
    d.target_func = dice_.pick(targets);
    d.option = dice_.pick<std::string>({"Clamp", "GuardWithIf", "NonFaulting"});
  }

  Dice &dice_;
  const Algorithm &original_;
  Algorithm algorithm_;  // with what directives have made of it
  const bool windows_;
  const CheckSchedule &check_;
  const bool mistakes_;
  Dims dims_;  // innermost first
  std::vector<Branch> branches_;
  std::vector<Directive> list_;
  int fresh_ = 0;
};

}  // namespace

std::vector<Directive> random_schedule(Dice &dice, const Algorithm &algorithm, bool windows,
                                       const CheckSchedule &check) {
  return ScheduleDraw(dice, algorithm, windows, check).draw();
}

}  // namespace polyhalite::test
