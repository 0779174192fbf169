#include "test/fuzz/reduce.h"

#include <algorithm>
#include <set>

#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite::test {

namespace {

// Every definition's expressions, one after the other.
std::vector<Expr *> roots(Algorithm &a) {
  std::vector<Expr *> all;
  for (FuncDef &f : a.funcs) {
    for (StageDef &s : f.stages) {
      for (Expr &e : s.values) all.push_back(&e);
      if (&s != &f.stages[0]) {
        for (Expr &e : s.args) all.push_back(&e);
      }
      if (s.predicate.defined()) all.push_back(&s.predicate);
    }
  }
  return all;
}

class Replace : public ExprRewriter {
 public:
  Replace(const Expr &what, const Expr &by) : what_(what), by_(by) {}

 protected:
  Expr rewrite(const Expr &e) override { return e.same_as(what_) ? by_ : rewrite_children(e); }

 private:
  const Expr &what_, &by_;
};

// Funcs, images and directives that no output leads to.
void drop_unused(Case &c) {
  Algorithm &a = c.pipeline.frozen.algorithm;
  std::set<std::string> used(a.outputs.begin(), a.outputs.end());
  for (auto f = a.funcs.rbegin(); f != a.funcs.rend(); ++f) {
    if (!used.count(f->name)) continue;
    for (const StageDef &s : f->stages) {
      auto note = [&](const Expr &e) {
        if (!e.defined()) return;
        for_each_node(e, [&](const Expr &n) {
          if (const CallNode *call = as_call(n)) used.insert(call->name);
        });
      };
      for (const Expr &e : s.args) note(e);
      for (const Expr &e : s.values) note(e);
      note(s.predicate);
    }
  }
  auto erase = [](auto &list, auto &&drop) {
    list.erase(std::remove_if(list.begin(), list.end(), drop), list.end());
  };
  std::set<std::string> gone;
  for (const FuncDef &f : a.funcs) {
    if (!used.count(f.name)) gone.insert(f.name);
  }
  erase(a.funcs, [&](const FuncDef &f) { return gone.count(f.name) > 0; });
  erase(a.inputs,
        [&](const AlgorithmInput &i) { return i.param->is_buffer && !used.count(i.param->name); });
  erase(c.pipeline.frozen.directives,
        [&](const Directive &d) { return gone.count(d.func) || gone.count(d.target_func); });
}

class Reducer {
 public:
  Reducer(Case c, const std::function<bool(const Case &)> &fails)
      : best_(std::move(c)), fails_(fails) {}

  Case run() {
    for (bool smaller = true; smaller;) {
      smaller = drop_directives();
      smaller |= drop_outputs();
      smaller |= drop_updates();
      smaller |= drop_values();
      smaller |= shrink_expressions();
      smaller |= shrink_numbers();
    }
    return best_;
  }

 private:
  bool take(Case c) {
    drop_unused(c);
    if (!fails_(c)) return false;
    best_ = std::move(c);
    return true;
  }

  bool drop_directives() {
    bool any = false;
    for (size_t n = best_.pipeline.frozen.directives.size(); n > 0; n /= 2) {
      for (size_t i = 0; i + n <= best_.pipeline.frozen.directives.size();) {
        Case c = best_;
        auto &list = c.pipeline.frozen.directives;
        list.erase(list.begin() + static_cast<long>(i), list.begin() + static_cast<long>(i + n));
        const bool taken = take(std::move(c));
        any |= taken;
        if (!taken) i++;
      }
    }
    return any;
  }

  bool drop_updates() {
    bool any = false;
    for (size_t f = 0; f < best_.pipeline.frozen.algorithm.funcs.size(); f++) {
      for (size_t s = best_.pipeline.frozen.algorithm.funcs[f].stages.size(); s-- > 1;) {
        Case c = best_;
        FuncDef &func = c.pipeline.frozen.algorithm.funcs[f];
        func.stages.erase(func.stages.begin() + static_cast<long>(s));
        const int gone = static_cast<int>(s);
        auto &list = c.pipeline.frozen.directives;
        list.erase(std::remove_if(list.begin(), list.end(),
                                  [&](const Directive &d) {
                                    return (d.func == func.name && d.stage == gone) ||
                                           (d.target_func == func.name && d.target_stage == gone);
                                  }),
                   list.end());
        for (Directive &d : list) {
          d.stage -= d.func == func.name && d.stage > gone;
          d.target_stage -= d.target_func == func.name && d.target_stage > gone;
        }
        const size_t funcs = best_.pipeline.frozen.algorithm.funcs.size();
        any |= take(std::move(c));
        if (best_.pipeline.frozen.algorithm.funcs.size() != funcs) return true;
      }
    }
    return any;
  }

  // The last of several values, where nothing reads it.
  bool drop_values() {
    bool any = false;
    for (size_t f = 0; f < best_.pipeline.frozen.algorithm.funcs.size(); f++) {
      Case c = best_;
      FuncDef &func = c.pipeline.frozen.algorithm.funcs[f];
      if (func.types.size() == 1) continue;
      const int last = static_cast<int>(func.types.size()) - 1;
      func.types.pop_back();
      for (StageDef &s : func.stages) s.values.pop_back();
      bool read = false;
      for (Expr *e : roots(c.pipeline.frozen.algorithm)) {
        for_each_node(*e, [&](const Expr &n) {
          const CallNode *call = as_call(n);
          read |= call && call->name == func.name && call->value_index == last;
        });
      }
      if (read) continue;
      const size_t funcs = best_.pipeline.frozen.algorithm.funcs.size();
      any |= take(std::move(c));
      if (best_.pipeline.frozen.algorithm.funcs.size() != funcs) return true;
    }
    return any;
  }

  bool shrink_expressions() {
    bool any = false;
    for (size_t r = 0; r < roots(best_.pipeline.frozen.algorithm).size(); r++) {
      for (bool smaller = true; smaller;) {
        smaller = false;
        const auto all = roots(best_.pipeline.frozen.algorithm);
        if (r >= all.size()) return any;
        // A C function is given all that it expects.
        if (const CallNode *call = as_call(*all[r]);
            call && call->name == intrinsic::kExternStage) {
          break;
        }
        std::vector<Expr> nodes;
        for_each_node(*all[r], [&](const Expr &n) { nodes.push_back(n); });
        std::reverse(nodes.begin(), nodes.end());  // the whole first
        for (const Expr &n : nodes) {
          std::vector<Expr> choices;
          const Type t = n.type();
          if (!is_const(n) && !t.is_float())
            choices.push_back(t.is_bool() ? make_true() : make_zero(t));
          for (const Expr &a : n->args) {
            if (a.type() == t) choices.push_back(a);
          }
          for (const Expr &by : choices) {
            Case c = best_;
            Expr &root = *roots(c.pipeline.frozen.algorithm)[r];
            root = Replace(n, by)(root);
            if (take(std::move(c))) {
              smaller = any = true;
              break;
            }
          }
          if (smaller) break;
        }
      }
    }
    return any;
  }

  bool drop_outputs() {
    bool any = false;
    for (size_t o = 0; o < best_.pipeline.boxes.size() && best_.pipeline.boxes.size() > 1;) {
      Case c = best_;
      auto &outputs = c.pipeline.frozen.algorithm.outputs;
      outputs.erase(outputs.begin() + static_cast<long>(o));
      c.pipeline.boxes.erase(c.pipeline.boxes.begin() + static_cast<long>(o));
      const bool taken = take(std::move(c));
      any |= taken;
      if (!taken) o++;
    }
    return any;
  }

  bool shrink_numbers() {
    bool any = false;
    for (size_t o = 0; o < best_.pipeline.boxes.size(); o++) {
      for (size_t d = 0; d < best_.pipeline.boxes[o].min.size(); d++) {
        const OutputBox box = best_.pipeline.boxes[o];
        for (const int n : {1, 2, 4, box.extent[d] - 1}) {
          if (n < 1 || n >= best_.pipeline.boxes[o].extent[d]) continue;
          Case c = best_;
          c.pipeline.boxes[o].extent[d] = n;
          any |= take(std::move(c));
        }
        if (box.min[d] == 0) continue;
        Case c = best_;
        c.pipeline.boxes[o].min[d] = 0;
        any |= take(std::move(c));
      }
    }
    return any;
  }

  Case best_;
  const std::function<bool(const Case &)> &fails_;
};

}  // namespace

Case reduced(Case c, const std::function<bool(const Case &)> &fails) {
  return Reducer(std::move(c), fails).run();
}

}  // namespace polyhalite::test
