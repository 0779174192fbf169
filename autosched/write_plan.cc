#include "autosched/write_plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace polyhalite::autosched {

namespace {

// One stage's loops while directives change them.
class StageWriter {
 public:
  StageWriter(const PipelineModel &m, const Plan &plan, int func, int stage,
              std::vector<Directive> *out)
      : m_(m), plan_(plan), func_(func), stage_(stage), out_(out) {
    const FuncDef &def = m.algorithm.funcs[static_cast<size_t>(func)];
    taken_.insert(def.args.begin(), def.args.end());
    for (const StageDef &s : def.stages) {
      for (const ReductionVariable &r : s.rvars) taken_.insert(r.var);
    }
    for (size_t v = 0; v < model().vars.size(); v++) {
      if (!model().has_loop[v]) continue;
      const bool reduction = v >= def.args.size();
      (reduction ? reductions_ : pure_).push_back(model().vars[v]);
    }
    // Innermost first.
    current_ = reductions_;
    current_.insert(current_.end(), pure_.begin(), pure_.end());
  }

  /// The names of the host's level loops, outermost first.
  std::vector<std::string> write() {
    const FuncPlan &p = plan_.funcs[static_cast<size_t>(func_)];
    const FuncModel &f = m_.funcs[static_cast<size_t>(func_)];
    const bool is_host = p.where == Where::Root;
    if (model().nest) {
      for (const Directive &d : model().nest->directives) {
        // Groups run at once as a whole.
        if (is_host || d.kind != DirectiveKind::Parallel) out_->push_back(d);
      }
      return {};
    }
    const bool tiled = is_host && stage_ == host_stage(f);
    const Nest n = p.nests[static_cast<size_t>(stage_)];
    std::vector<std::string> outer;
    std::map<int, std::string> inner;  // dimension -> its loop inside
    for (int d = 0; d < f.dimensions(); d++) {
      if (model().has_loop[static_cast<size_t>(d)]) inner[d] = variable(d);
    }
    if (is_host) {
      for (const OuterLoop &o : p.outer) {
        if (!inner.count(o.dim)) continue;
        // Stages before the last run in strips of their own.
        if (!tiled && !outer.empty()) continue;
        outer.push_back(variable(o.dim));
        if (o.tile == 1) {
          inner.erase(o.dim);
        } else {
          const std::string name = fresh(variable(o.dim) + "i");
          split(variable(o.dim), variable(o.dim), name, o.tile, o.dim);
          inner[o.dim] = name;
        }
      }
    }
    std::vector<std::string> innermost, vector, unrolled;  // innermost first
    if (n.lanes > 1 && inner.count(0)) {
      std::string whole = inner[0];
      if (extents_.count(whole) && extents_[whole] == n.lanes) {
        innermost = vector = {whole};
        inner.erase(0);
      } else if (n.whole) {
        const std::string lanes = fresh(variable(0) + "v");
        split(whole, whole, lanes, n.lanes, 0);
        innermost = {lanes};
        vector = {lanes};
        if (n.across > 1) {
          innermost.push_back(whole);
          unrolled = {whole};
          inner.erase(0);
        }
      } else if (n.across > 1) {
        const std::string block = fresh(variable(0) + "b");
        split(whole, whole, block, int64_t{n.lanes} * n.across, 0);
        const std::string lanes = fresh(variable(0) + "v");
        split(block, block, lanes, n.lanes, -1);
        innermost = {lanes, block};
        vector = {lanes};
        unrolled = {block};
      } else {
        const std::string lanes = fresh(variable(0) + "v");
        split(whole, whole, lanes, n.lanes, 0);
        innermost = {lanes};
        vector = {lanes};
      }
    }
    if (n.down > 1 && n.whole && inner.count(1)) {
      innermost.push_back(inner[1]);
      unrolled.push_back(inner[1]);
      inner.erase(1);
    } else if (n.down > 1 && inner.count(1)) {
      const std::string rows = fresh(variable(1) + "u");
      split(inner[1], inner[1], rows, n.down, 1);
      innermost.push_back(rows);
      unrolled.push_back(rows);
    }
    std::vector<std::string> order = innermost;
    // A reduction runs around the block of sums; without one its loops stay innermost.
    order.insert(order.end(), reductions_.begin(), reductions_.end());
    std::vector<int> dims;
    if (tiled && f.stages.size() == 1) {
      dims = inner_dimensions(m_, func_, p);
      std::reverse(dims.begin(), dims.end());
    } else {
      for (const auto &[d, name] : inner) dims.push_back(d);
    }
    for (const int d : dims) {
      if (inner.count(d)) order.push_back(inner[d]);
    }
    order.insert(order.end(), outer.rbegin(), outer.rend());
    if ((order != current_ || model().reordered) && order.size() > 1) {
      add(DirectiveKind::Reorder, order);
    }
    current_ = order;
    for (const std::string &l : vector) add(DirectiveKind::Vectorize, {l});
    for (const std::string &l : unrolled) add(DirectiveKind::Unroll, {l});
    if (!outer.empty()) add(DirectiveKind::Parallel, {outer[0]});
    if (tiled) {
      const int row = p.outer.empty() ? -1 : row_dimension(m_, func_, p);
      if (row >= 0) outer.push_back(inner.at(row));
    }
    return outer;
  }

 private:
  const StageModel &model() const {
    return m_.funcs[static_cast<size_t>(func_)].stages[static_cast<size_t>(stage_)];
  }
  std::string variable(int d) const { return model().vars[static_cast<size_t>(d)]; }
  std::string fresh(const std::string &hint) {
    std::string name = hint;
    for (int i = 1; !taken_.insert(name).second; i++) name = hint + std::to_string(i);
    return name;
  }

  Directive &add(DirectiveKind kind, std::vector<std::string> loops) {
    Directive d;
    d.kind = kind;
    d.func = m_.funcs[static_cast<size_t>(func_)].name;
    d.stage = stage_;
    d.loops = std::move(loops);
    out_->push_back(std::move(d));
    return out_->back();
  }

  // `dim`: of the Func, or -1 for a loop of known extent that the factor divides.
  void split(const std::string &old, const std::string &outer, const std::string &inner,
             int64_t factor, int dim) {
    Directive &d = add(DirectiveKind::Split, {old, outer, inner});
    d.factors = {make_int(Int(32), factor)};
    // Updates of outputs, and those that read inputs, must not run beyond what there is.
    if (stage_ > 0 && dim >= 0 && !may_round_up(old, factor)) d.tail = TailStrategy::GuardWithIf;
    const auto at = std::find(current_.begin(), current_.end(), old);
    *at = outer;
    current_.insert(at, inner);
    extents_[inner] = factor;
  }

  bool may_round_up(const std::string &loop, int64_t factor) const {
    const auto known = extents_.find(loop);
    return known != extents_.end() && known->second % factor == 0;
  }

  const PipelineModel &m_;
  const Plan &plan_;
  const int func_, stage_;
  std::vector<Directive> *out_;
  std::set<std::string> taken_;
  std::vector<std::string> reductions_, pure_, current_;
  std::map<std::string, int64_t> extents_;  // of inner loops
};

}  // namespace

std::vector<Directive> write_plan(const PipelineModel &m, const Plan &plan) {
  std::vector<Directive> out;
  std::map<int, std::vector<std::string>> levels;  // host -> its loops
  // Consumers first: levels exist before they are named.
  for (size_t f = m.funcs.size(); f-- > 0;) {
    const FuncModel &func = m.funcs[f];
    const FuncPlan &p = plan.funcs[f];
    if (p.where == Where::Inline) continue;
    const int index = static_cast<int>(f);
    if (!func.fixed_place) {
      if (p.where == Where::Root) {
        if (!func.is_output) {
          Directive d;
          d.kind = DirectiveKind::ComputeRoot;
          d.func = func.name;
          out.push_back(d);
        }
      } else {
        const std::vector<std::string> &loops = levels.at(p.host);
        const FuncModel &host = m.funcs[static_cast<size_t>(p.host)];
        Directive d;
        d.func = func.name;
        d.target_func = host.name;
        d.target_stage = host_stage(host);
        if (p.slides) {
          d.kind = DirectiveKind::StoreAt;
          d.loops = {loops[static_cast<size_t>(p.level) - 1]};
          out.push_back(d);
        }
        d.kind = DirectiveKind::ComputeAt;
        d.loops = {loops[static_cast<size_t>(p.level)]};
        out.push_back(d);
      }
    }
    if (func.fixed_loops || func.is_host || func.is_extern) continue;
    for (size_t s = 0; s < func.stages.size(); s++) {
      const std::vector<std::string> loops =
          StageWriter(m, plan, index, static_cast<int>(s), &out).write();
      if (static_cast<int>(s) == host_stage(func)) levels[index] = loops;
    }
  }
  return out;
}

}  // namespace polyhalite::autosched
