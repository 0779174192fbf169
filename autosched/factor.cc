#include "autosched/factor.h"

#include <algorithm>
#include <set>
#include <string>

namespace polyhalite::autosched {

namespace {

constexpr double kLeastWork = 1 << 16;  // points of an update that partial results may pay for
constexpr int kSumsAtOnce = 4;          // vectors of sums: they hide an addition's latency
constexpr int kTasksPerCore = 4;

class UpdateFactoring {
 public:
  UpdateFactoring(const PipelineModel &m, const Machine &machine, int func, int stage,
                  std::set<std::string> *taken)
      : machine_(machine),
        def_(m.algorithm.funcs[static_cast<size_t>(func)]),
        f_(m.funcs[static_cast<size_t>(func)]),
        s_(f_.stages[static_cast<size_t>(stage)]),
        stage_(stage),
        funcs_(taken) {
    names_.insert(def_.args.begin(), def_.args.end());
    names_.insert(s_.vars.begin(), s_.vars.end());
  }

  /// Nothing where the update has enough to run at once, or not enough to do.
  std::vector<Directive> run() {
    if (!s_.associative || s_.rvars.empty() || work() < kLeastWork) return {};
    const std::vector<ReductionVariable> &rvars = def_.stages[static_cast<size_t>(stage_)].rvars;
    const ReductionVariable &first = rvars.front(), &last = rvars.back();
    const int64_t lanes = lane_count();
    if (!needs_tasks()) {
      if (divides(lanes, first)) take_lanes(first.var, lanes);
    } else {
      const bool one = rvars.size() == 1;
      const int64_t chunk = chunk_of(last, one ? lanes : 1);
      const std::string outer = fresh(last.var + "o"), inner = fresh(last.var + "i");
      add_split(last.var, outer, inner, chunk);
      // A guard of the last chunk's end must not stand between a vector's lanes.
      if (one && chunk % lanes == 0 && divides(chunk, last)) take_lanes(inner, lanes);
      if (!one && divides(lanes, first)) take_lanes(first.var, lanes);
      preserve(outer, fresh("task"));
    }
    if (preserved_.empty()) return {};
    Directive d = directive(DirectiveKind::Rfactor, preserved_);
    d.makes = def_.name + "_intm";
    for (int i = 1; !funcs_->insert(d.makes).second; i++) {
      d.makes = def_.name + "_intm$" + std::to_string(i);
    }
    list_.push_back(std::move(d));
    return list_;
  }

 private:
  double work() const {
    double n = points(s_.rvars);
    for (size_t d = 0; d < f_.whole.size(); d++) {
      if (s_.has_loop[d]) n *= static_cast<double>(f_.whole[d].extent());
    }
    return n;
  }

  bool needs_tasks() const {
    if (machine_.cores == 1) return false;
    for (size_t d = 0; d < f_.whole.size(); d++) {
      const int64_t least = d == 0 ? 64 * natural_lanes() : 2 * int64_t{machine_.cores};
      if (s_.has_loop[d] && f_.whole[d].extent() >= least) return false;
    }
    // Partial results are written and read once more.
    return points(f_.whole) * kTasksPerCore * machine_.cores <= work() / 4;
  }

  int64_t natural_lanes() const { return std::max(1, machine_.vector_bytes / s_.widest); }

  // More than 1 where the partial results' first dimension, which is that of vectors, is free.
  int64_t lane_count() const {
    return f_.whole.empty() && natural_lanes() >= 4 ? kSumsAtOnce * natural_lanes() : 1;
  }

  static bool divides(int64_t factor, const ReductionVariable &r) {
    int64_t n = 0;
    return is_const_int(r.extent, &n) && n % factor == 0;
  }

  // Iterations of one task: of those that make a few tasks per core, the first that leaves no rest.
  int64_t chunk_of(const ReductionVariable &r, int64_t lanes) const {
    const size_t index = s_.rvars.size() - 1;
    const int64_t n = s_.rvars[index].extent(), tasks = int64_t{kTasksPerCore} * machine_.cores;
    const int64_t least = std::max<int64_t>(1, (n + tasks - 1) / tasks);
    for (int64_t chunk = least; chunk <= 2 * least; chunk++) {
      if (chunk % lanes == 0 && divides(chunk, r)) return chunk;
    }
    return least;
  }

  // The loop's innermost iterations, as many as `lanes`, become a dimension.
  void take_lanes(const std::string &loop, int64_t lanes) {
    if (lanes == 1) return;
    const std::string inner = fresh(loop + "l");
    add_split(loop, loop, inner, lanes);
    preserve(inner, fresh("lane"));
  }

  std::string fresh(const std::string &hint) {
    std::string name = hint;
    for (int i = 1; !names_.insert(name).second; i++) name = hint + std::to_string(i);
    return name;
  }

  Directive directive(DirectiveKind kind, std::vector<std::string> loops) const {
    Directive d;
    d.kind = kind;
    d.func = def_.name;
    d.stage = stage_;
    d.loops = std::move(loops);
    return d;
  }

  void add_split(const std::string &old, const std::string &outer, const std::string &inner,
                 int64_t factor) {
    Directive d = directive(DirectiveKind::Split, {old, outer, inner});
    d.factors = {make_int(Int(32), factor)};
    list_.push_back(std::move(d));
  }

  void preserve(const std::string &loop, const std::string &var) {
    preserved_.push_back(loop);
    preserved_.push_back(var);
  }

  const Machine &machine_;
  const FuncDef &def_;
  const FuncModel &f_;
  const StageModel &s_;
  const int stage_;
  std::set<std::string> *funcs_;
  std::set<std::string> names_;
  std::vector<std::string> preserved_;
  std::vector<Directive> list_;
};

}  // namespace

std::vector<Directive> factor_reductions(const PipelineModel &m, const Machine &machine) {
  std::vector<Directive> list;
  std::set<std::string> names;
  for (const FuncModel &f : m.funcs) names.insert(f.name);
  for (size_t f = 0; f < m.funcs.size(); f++) {
    const FuncModel &func = m.funcs[f];
    if (func.fixed_loops || func.is_host || func.is_extern || func.user_inline) continue;
    for (size_t s = 1; s < func.stages.size(); s++) {
      for (Directive &d :
           UpdateFactoring(m, machine, static_cast<int>(f), static_cast<int>(s), &names).run()) {
        list.push_back(std::move(d));
      }
    }
  }
  return list;
}

}  // namespace polyhalite::autosched
