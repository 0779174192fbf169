// The golden text of a survey: loops with their bounds and symbols, boxes, guards, checks.
#include <algorithm>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/survey.h"

namespace polyhalite {

namespace {

std::string pad(int depth) { return std::string(2 * depth, ' '); }

void print_box(std::ostream &os, const Box &box) {
  for (const IndexRange &r : box) {
    os << " [" << to_text(simplify(r.min)) << ", " << to_text(simplify(r.max)) << "]";
  }
}

class Printer {
 public:
  Printer(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  std::string print() {
    for (const Assumption &a : survey_.assumptions) {
      os_ << "assume " << to_text(a.condition) << "\n";
    }
    for (const auto &[name, box] : survey_.inputs) {
      os_ << "needs " << name;
      print_box(os_, box);
      os_ << "\n";
    }
    symbols(survey_.root_symbols, 0);
    block(tree_.roots, 0);
    return os_.str();
  }

 private:
  void symbols(const std::vector<Symbol> &list, int depth) {
    for (const Symbol &s : list) {
      os_ << pad(depth) << "let " << s.name << " = " << to_text(s.value);
      if (s.lower.defined()) os_ << " >= " << to_text(s.lower);
      if (s.upper.defined()) os_ << " <= " << to_text(s.upper);
      os_ << "\n";
    }
  }

  void prefetches(int loop, int depth) {
    for (size_t i = 0; i < survey_.prefetches.size(); i++) {
      if (tree_.prefetches[i].at != loop) continue;
      os_ << pad(depth) << "prefetch " << tree_.prefetches[i].target;
      print_box(os_, survey_.prefetches[i].wanted);
      os_ << "\n";
    }
  }

  void print_rings(const std::vector<int64_t> &fold) {
    if (std::all_of(fold.begin(), fold.end(), [](int64_t n) { return n == 0; })) return;
    os_ << " ring";
    for (int64_t n : fold) os_ << " " << n;
  }

  void block(const std::vector<Tree> &nodes, int depth) {
    for (const Tree &n : nodes) node(*n, depth);
  }

  void node(const TreeNode &n, int depth) {
    switch (n.kind) {
      case TreeNode::Loop: {
        const LoopInfo &info = tree_.loops[n.loop];
        const LoopBounds &b = survey_.loops[n.loop];
        os_ << pad(depth) << loop_kind_name(info.kind) << " " << info.name << " from "
            << to_text(b.min) << " extent " << to_text(b.extent) << "\n";
        symbols(b.symbols, depth + 1);
        prefetches(n.loop, depth + 1);
        block(n.children, depth + 1);
        break;
      }
      case TreeNode::Stage: {
        const StageSurvey &st = survey_.stages[n.stage.func][n.stage.stage];
        os_ << pad(depth) << tree_.describe(n.stage);
        for (const std::string &a : tree_.func(n.stage).args) {
          auto it = st.dims.find(a);
          if (it != st.dims.end()) os_ << " " << a << "=" << to_text(it->second);
        }
        for (const ReductionVariable &r : tree_.definition(n.stage).rvars) {
          os_ << " " << r.var << "=" << to_text(st.dims.at(r.var));
        }
        for (const auto &[name, r] : st.used) {
          os_ << " uses " << name << " [" << (r.min.defined() ? to_text(r.min) : "..") << ", "
              << (r.max.defined() ? to_text(r.max) : "..") << "]";
        }
        for (const Guard &g : st.guards) {
          const char *words[] = {" if ", " stores if ", " loads if ", " blends if "};
          os_ << words[g.rest] << to_text(g.condition);
        }
        os_ << "\n";
        break;
      }
      case TreeNode::Allocate:
        os_ << pad(depth) << "allocate " << tree_.algorithm.funcs[n.stage.func].name;
        print_box(os_, survey_.funcs[n.stage.func].stored);
        print_rings(survey_.funcs[n.stage.func].fold);
        os_ << "\n";
        block(n.children, depth + 1);
        break;
      case TreeNode::Hoist: {
        const HoistedStorage &h = *survey_.funcs[n.stage.func].hoisted;
        os_ << pad(depth) << "hoist " << tree_.algorithm.funcs[n.stage.func].name << " [";
        for (size_t d = 0; d < h.extents.size(); d++) {
          os_ << (d ? ", " : "") << to_text(simplify(h.extents[d]));
        }
        os_ << "]";
        if (h.owner != n.stage.func) os_ << " of " << tree_.algorithm.funcs[h.owner].name;
        const Expr &ring = tree_.placements[n.stage.func].ring;
        if (ring.defined()) os_ << " ring " << to_text(ring) << " at " << to_text(h.slot);
        os_ << "\n";
        block(n.children, depth + 1);
        break;
      }
      case TreeNode::Branch:
        os_ << pad(depth) << "if " << to_text(n.condition) << "\n";
        block(n.children, depth + 1);
        if (!n.otherwise.empty()) {
          os_ << pad(depth) << "else\n";
          block(n.otherwise, depth + 1);
        }
        break;
      case TreeNode::Fork:
        os_ << pad(depth) << "fork " << tree_.algorithm.funcs[n.stage.func].name;
        if (const Expr &ahead = survey_.funcs[n.stage.func].async->ahead; ahead.defined()) {
          os_ << " ahead " << to_text(ahead);
        }
        os_ << "\n";
        block(n.children, depth + 1);
        break;
    }
  }

  const LoopTree &tree_;
  const Survey &survey_;
  std::ostringstream os_;
};

}  // namespace

std::string to_text(const LoopTree &tree, const Survey &s) { return Printer(tree, s).print(); }

}  // namespace polyhalite
