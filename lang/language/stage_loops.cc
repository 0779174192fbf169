#include "lang/language/stage_loops.h"

#include <algorithm>

#include "lang/language/define.h"
#include "lang/language/names.h"

namespace polyhalite {

namespace {

struct Loop {
  std::string name;
  DirectiveKind kind = DirectiveKind::Serial;  // the directive that marked it
  bool is_reduction = false;
};

// Outermost first.
std::vector<Loop> default_loops(const FunctionContents &f, int stage) {
  const Definition &def = f.stage(stage);
  std::vector<Loop> loops;
  for (size_t i = f.pure_args.size(); i-- > 0;) {
    const VariableNode *v = as_variable(def.args[i]);
    if (v && v->kind == VariableKind::Pure && v->name == f.pure_args[i]) {
      loops.push_back({f.pure_args[i]});
    }
  }
  if (!def.domain) return loops;
  for (size_t i = def.domain->vars.size(); i-- > 0;) {
    loops.push_back({def.domain->vars[i].var, DirectiveKind::Serial, true});
  }
  return loops;
}

const char *kind_name(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Parallel:
      return "parallel";
    case DirectiveKind::Vectorize:
      return "vector";
    case DirectiveKind::Unroll:
      return "unrolled";
    case DirectiveKind::Serial:
      return "serial";
    default:
      return "GPU";
  }
}

const char *verb(DirectiveKind kind) {
  if (kind == DirectiveKind::Parallel) return "parallelize";
  if (kind == DirectiveKind::Serial) return "serialize";
  return directive_name(kind);
}

std::string list_of(const std::vector<Loop> &loops) {
  std::string text;
  for (const Loop &l : loops) text += (text.empty() ? "" : ", ") + plain_name(l.name);
  return text.empty() ? "none" : text;
}

// Applies directives to a list of loops.
class Replay {
 public:
  Replay(const FunctionContents &f, int stage)
      : f_(f), stage_(stage), loops_(default_loops(f, stage)) {}

  /// Innermost first.
  std::vector<CurrentLoop> loops() const {
    std::vector<CurrentLoop> loops;
    for (auto l = loops_.rbegin(); l != loops_.rend(); ++l) {
      loops.push_back({l->name, l->is_reduction});
    }
    return loops;
  }

  void apply(const Directive &d) {
    switch (d.kind) {
      case DirectiveKind::Split:
        return split(d);
      case DirectiveKind::Fuse:
        return fuse(d);
      case DirectiveKind::Reorder:
        return reorder(d);
      case DirectiveKind::Rename:
        loops_[place(d, d.loops[0])].name = fresh(d, d.loops[1], {d.loops[0]});
        return;
      case DirectiveKind::Skew:
        return skew(d);
      case DirectiveKind::Reverse:
      case DirectiveKind::Shift:
        place(d, d.loops[0]);
        return;
      case DirectiveKind::Parallel:
      case DirectiveKind::Vectorize:
      case DirectiveKind::Unroll:
      case DirectiveKind::Serial:
      case DirectiveKind::GpuBlocks:
      case DirectiveKind::GpuThreads:
      case DirectiveKind::GpuLanes:
        for (const std::string &l : d.loops) loops_[place(d, l)].kind = d.kind;
        return;
      case DirectiveKind::Tensorize:
        for (const std::string &l : d.loops) place(d, l);
        return;
      case DirectiveKind::Fission:
        return part(d);
      case DirectiveKind::Rfactor:
      case DirectiveKind::HoistInvariants:
        return factor(d);
      default:
        return;
    }
  }

 private:
  std::string whose() const { return describe_stage(f_, stage_); }

  size_t place(const Directive &d, const std::string &name) const {
    for (size_t i = 0; i < loops_.size(); i++) {
      if (loops_[i].name == name) return i;
    }
    user_error(std::string("cannot ") + verb(d.kind) + " '" + plain_name(name) + "': " + whose() +
                   " has no such loop",
               "", "its loops are, outermost first: " + list_of(loops_), d.where);
  }

  // `name`, which no loop but the replaced ones may have.
  std::string fresh(const Directive &d, const std::string &name,
                    const std::vector<std::string> &replaced) const {
    for (const Loop &l : loops_) {
      if (l.name != name || std::count(replaced.begin(), replaced.end(), name)) continue;
      user_error(std::string("cannot ") + verb(d.kind) + ": " + whose() + " already has a loop '" +
                     plain_name(name) + "'",
                 "", "give the new loop a name other than: " + list_of(loops_), d.where);
    }
    return name;
  }

  void split(const Directive &d) {
    const size_t at = place(d, d.loops[0]);
    Loop outer = loops_[at], inner = loops_[at];
    outer.name = fresh(d, d.loops[1], {d.loops[0]});
    inner.name = fresh(d, d.loops[2], {d.loops[0]});
    loops_[at] = outer;
    loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
  }

  void fuse(const Directive &d) {
    const size_t inner = place(d, d.loops[0]), outer = place(d, d.loops[1]);
    fresh(d, d.loops[2], {d.loops[0], d.loops[1]});
    // The fused loop runs as the inner one does, which says nothing of a reduction's.
    const bool of_reduction = loops_[inner].is_reduction || loops_[outer].is_reduction;
    if (loops_[inner].kind != loops_[outer].kind && of_reduction) {
      user_error("cannot fuse '" + plain_name(d.loops[0]) + "' (" + kind_name(loops_[inner].kind) +
                     ") with '" + plain_name(d.loops[1]) + "' (" + kind_name(loops_[outer].kind) +
                     ") of " + whose(),
                 "the fused loop would have two kinds",
                 "fuse first, then say how the fused loop runs", d.where);
    }
    loops_[inner].name = d.loops[2];
    loops_[inner].is_reduction |= loops_[outer].is_reduction;
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(outer));
  }

  void skew(const Directive &d) {
    const size_t at = place(d, d.loops[0]), by = place(d, d.loops[1]);
    loops_[at].name = fresh(d, d.loops[2], {d.loops[0]});
    loops_[at].is_reduction |= loops_[by].is_reduction;
  }

  // The new loop is next inside of the one that is named, or the outermost.
  void part(const Directive &d) {
    const size_t at = d.loops.size() > 1 ? place(d, d.loops[0]) + 1 : 0;
    const Loop loop = {fresh(d, d.loops.back(), {}), DirectiveKind::Unroll, true};
    loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(at), loop);
  }

  // What is left merges partial results: over the preserved loops, for every cell.
  void factor(const Directive &d) {
    std::vector<Loop> left;
    for (size_t i = f_.pure_args.size(); i-- > 0;) {
      const std::string &arg = f_.pure_args[i];
      const VariableNode *v = as_variable(f_.stage(stage_).args[i]);
      if (!v || v->name != arg) left.push_back({arg});
    }
    for (const Loop &l : loops_) {
      bool stays = !l.is_reduction;
      for (size_t i = 0; i < d.loops.size(); i += 2) stays |= d.loops[i] == l.name;
      if (stays) left.push_back(l);
    }
    loops_ = std::move(left);
  }

  void reorder(const Directive &d) {
    std::vector<size_t> places;
    for (const std::string &l : d.loops) places.push_back(place(d, l));
    std::vector<size_t> sorted = places;
    std::sort(sorted.rbegin(), sorted.rend());
    const std::vector<Loop> old = loops_;
    for (size_t i = 0; i < places.size(); i++) loops_[sorted[i]] = old[places[i]];
  }

  const FunctionContents &f_;
  int stage_;
  std::vector<Loop> loops_;
};

// The loops of a branch of the stage, or of the stage itself, after the directives so far.
Replay replayed(const FunctionContents &f, int stage, const std::vector<Expr> &branch) {
  Replay replay(f, stage);
  for (const Directive *d : directives_so_far(f, stage, branch)) replay.apply(*d);
  return replay;
}

}  // namespace

std::vector<const Directive *> directives_so_far(const FunctionContents &f, int stage,
                                                 const std::vector<Expr> &wanted) {
  std::vector<const Directive *> found;
  std::vector<Expr> branch;
  auto is_same = [](const std::vector<Expr> &a, const std::vector<Expr> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expr &x, const Expr &y) { return equal(x, y); });
  };
  for (const Directive &d : f.directives) {
    if (d.stage != stage || !is_same(d.branch, branch)) continue;
    if (d.kind != DirectiveKind::Specialize) {
      found.push_back(&d);
    } else if (branch.size() < wanted.size() && equal(d.factors[0], wanted[branch.size()])) {
      branch.push_back(d.factors[0]);
    }
  }
  return found;
}

void check_loops(const FunctionContents &f, const Directive &d) {
  if (!f.pure || !concerns_loops(d.kind) || d.stage > static_cast<int>(f.updates.size())) return;
  if (f.is_partial) return;  // its loops follow from those of the update that it is part of
  replayed(f, d.stage, d.branch).apply(d);
}

std::vector<CurrentLoop> current_loops(const FunctionContents &f, int stage,
                                       const std::vector<Expr> &branch) {
  return replayed(f, stage, branch).loops();
}

void check_kind_of_name(const FunctionContents &f, int stage, const char *word,
                        const VarOrRVar &loop) {
  if (loop.is_rvar || stage == 0) return;
  const auto &domain = f.updates[static_cast<size_t>(stage) - 1].domain;
  if (!domain) return;
  for (const ReductionVariable &v : domain->vars) {
    if (v.var != loop.name) continue;
    user_error(std::string("cannot ") + word + " '" + plain_name(loop.name) + "' of " +
                   describe_stage(f, stage) + ": it is named by a Var",
               "it is a reduction variable, whose order matters", "name it by the RVar of its RDom",
               loop.where);
  }
}

}  // namespace polyhalite
