#include "lang/interpret/stage.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "lang/ir/expr_text.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"

namespace polyhalite::interpreter {

namespace {

std::vector<Expr> all_exprs(const StageDef &s) {
  std::vector<Expr> all = s.args;
  all.insert(all.end(), s.values.begin(), s.values.end());
  if (s.predicate.defined()) all.push_back(s.predicate);
  return all;
}

bool is_pure_at(const Expr &e, const std::string &name) {
  const VariableNode *v = as_variable(e);
  return v && v->kind == VariableKind::Pure && v->name == name;
}

// Do instances that differ in pure variables touch different cells? Then they may run side by side.
bool instances_are_apart(const FuncDef &f, const StageDef &s,
                         const std::vector<std::string> &pure) {
  auto keeps_place = [&](const std::vector<Expr> &args) {
    for (size_t d = 0; d < f.args.size(); d++) {
      const bool is_loop = std::find(pure.begin(), pure.end(), f.args[d]) != pure.end();
      if (is_loop && !is_pure_at(args[d], f.args[d])) return false;
    }
    return true;
  };
  bool apart = true;
  for (const CellWrite &w : cell_writes(s)) apart &= keeps_place(w.cell);
  for (const Expr &e : all_exprs(s)) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Func && c->name == f.name) apart &= keeps_place(c->args);
    });
  }
  return apart;
}

// One of the cells that an instance writes, for a row of instances.
struct Write {
  std::vector<Register *> indices, results;
  std::vector<Register *> written;  // per result: where there is one, null for everywhere
  int64_t offset[kLanes];
  bool active[kLanes];
  bool is_run = false;  // every lane writes, one cell after the other

  bool writes(size_t result, int lane) const {
    return active[lane] && (!written[result] || written[result]->as<uint8_t>()[lane]);
  }
};

class StageRun {
 public:
  StageRun(const FuncDef &f, int stage, const Box &box, const Box &reduction,
           const Bindings &bindings, const std::vector<Grid> &values)
      : f_(f),
        s_(f.stages[stage]),
        stage_(stage),
        box_(box),
        reduction_(reduction),
        values_(values),
        program_(with_variables(bindings)) {
    if (s_.predicate.defined()) holds_ = program_.compile(s_.predicate);
    targets_are_fixed_ = !holds_ || program_.level_of(holds_) < Level::Point;
    for (const CellWrite &w : cell_writes(s_)) {
      writes_.emplace_back();
      for (const Expr &e : w.cell) {
        writes_.back().indices.push_back(program_.compile(e));
        targets_are_fixed_ &= program_.level_of(writes_.back().indices.back()) < Level::Point;
      }
      for (const Expr &e : w.values) {
        const PartlyDefined p = split_undef(e);
        writes_.back().results.push_back(program_.compile(p.value));
        writes_.back().written.push_back(p.condition.defined() ? program_.compile(p.condition)
                                                               : nullptr);
      }
    }
  }

  void run() {
    const std::vector<std::string> pure = pure_variables(f_, stage_);
    Box spans;
    for (size_t d = 0; d < f_.args.size(); d++) {
      if (std::find(pure.begin(), pure.end(), f_.args[d]) != pure.end()) spans.push_back(box_[d]);
    }
    if (is_empty(spans) || is_empty(reduction_)) return;
    if (stage_ == 0 || instances_are_apart(f_, s_, pure)) {
      run_in_rows(pure, spans);
    } else {
      run_in_order(pure, spans);
    }
  }

 private:
  Bindings with_variables(Bindings b) const {
    b.variables.clear();
    for (const std::string &name : f_.args) b.variables[name] = Level::Chunk;
    for (const ReductionVariable &r : s_.rvars) b.variables[r.var] = Level::Point;
    b.self = stage_ > 0 ? f_.name : "";
    return b;
  }

  // Rows of pure points, and for each row the reduction in order.
  void run_in_rows(const std::vector<std::string> &pure, const Box &spans) {
    PointLoop rows(pure, spans);
    Level from = Level::Once;
    while (const int n = rows.next(program_)) {
      const int64_t count = count_points(reduction_);
      std::vector<int64_t> at = first_of(reduction_);
      for (int64_t i = 0; i < count; i++) {
        set_reduction(at, n);
        program_.run(i == 0 ? from : Level::Point, n);
        store(n, i == 0, [&](int lane) { return rows.point(lane); }, pure, at);
        advance(at, reduction_);
      }
      from = Level::Chunk;
    }
  }

  // One point after the other, pure variables outside.
  void run_in_order(const std::vector<std::string> &pure, const Box &spans) {
    std::vector<int64_t> outer = first_of(spans);
    const int64_t outer_count = count_points(spans), count = count_points(reduction_);
    Level from = Level::Once;
    for (int64_t o = 0; o < outer_count; o++) {
      for (size_t d = 0; d < pure.size(); d++) {
        if (Register *r = program_.variable(pure[d])) {
          r->as<int32_t>()[0] = static_cast<int32_t>(outer[d]);
        }
      }
      std::vector<int64_t> at = first_of(reduction_);
      for (int64_t i = 0; i < count; i++) {
        set_reduction(at, 1);
        program_.run(i == 0 ? from : Level::Point, 1);
        store(1, i == 0, [&](int) { return outer; }, pure, at);
        advance(at, reduction_);
      }
      from = Level::Chunk;
      advance(outer, spans);
    }
  }

  static std::vector<int64_t> first_of(const Box &b) {
    std::vector<int64_t> at;
    for (const Span &s : b) at.push_back(s.min);
    return at;
  }

  static void advance(std::vector<int64_t> &at, const Box &b) {
    for (size_t d = 0; d < b.size(); d++) {
      if (++at[d] <= b[d].max) return;
      at[d] = b[d].min;
    }
  }

  void set_reduction(const std::vector<int64_t> &at, int n) {
    for (size_t d = 0; d < at.size(); d++) {
      if (Register *r = program_.variable(s_.rvars[d].var)) {
        std::fill_n(r->as<int32_t>(), n, static_cast<int32_t>(at[d]));
      }
    }
  }

  // `is_new_row`: the pure coordinates differ from those of the last call.
  template <typename PointOf>
  void store(int n, bool is_new_row, const PointOf &point_of, const std::vector<std::string> &pure,
             const std::vector<int64_t> &reduction) {
    auto require = [&](const Register *r, int lane) {
      if (r->poisoned && r->poison[lane]) fail(*r, lane, point_of(lane), pure, reduction);
    };
    for (Write &w : writes_) {
      if (is_new_row || !targets_are_fixed_) find_targets(w, n, require);
      for (size_t v = 0; v < w.results.size(); v++) {
        const Register *r = w.results[v], *written = w.written[v];
        for (int i = 0; written && i < n; i++) {
          if (w.active[i]) require(written, i);
        }
        for (int i = 0; r->poisoned && i < n; i++) {
          if (w.writes(v, i)) require(r, i);
        }
      }
    }
    for (const Write &w : writes_) {
      for (size_t v = 0; v < w.results.size(); v++) write(w, v, n);
    }
  }

  // Registers are not what is overwritten: all values are known.
  void write(const Write &w, size_t v, int n) {
    Register *r = w.results[v];
    with_type(r->type, [&]<typename T>() {
      T *host = reinterpret_cast<T *>(values_[v].host);
      const T *from = r->as<T>();
      if (w.is_run && !w.written[v]) {
        std::memcpy(host + w.offset[0], from, static_cast<size_t>(n) * sizeof(T));
        return;
      }
      for (int i = 0; i < n; i++) {
        if (w.writes(v, i)) host[w.offset[i]] = from[i];
      }
    });
  }

  // Which lanes write, and where.
  template <typename Require>
  void find_targets(Write &w, int n, const Require &require) {
    for (int i = 0; i < n; i++) {
      w.offset[i] = 0;
      w.active[i] = true;
      if (!holds_) continue;
      require(holds_, i);
      w.active[i] = holds_->as<uint8_t>()[i];
    }
    const Grid &grid = values_[0];
    for (size_t d = 0; d < w.indices.size(); d++) {
      const int32_t *at = w.indices[d]->template as<int32_t>();
      for (int i = 0; i < n; i++) {
        if (!w.active[i]) continue;
        if (w.indices[d]->poisoned) require(w.indices[d], i);
        const int64_t distance = at[i] - grid.min[d];
        w.active[i] = distance >= 0 && distance < grid.extent[d];
        w.offset[i] += distance * grid.stride[d];
      }
    }
    w.is_run = true;
    for (int i = 0; i < n; i++) {
      w.is_run = w.is_run && w.active[i] && w.offset[i] == w.offset[0] + i;
    }
  }

  [[noreturn]] void fail(const Register &r, int lane, const std::vector<int64_t> &point,
                         const std::vector<std::string> &pure,
                         const std::vector<int64_t> &reduction) const {
    Diagnostic d = program_.explain(r, lane);
    std::string at;
    auto name = [&](const std::string &variable, int64_t value) {
      at += (at.empty() ? "" : ", ") + variable + "=" + std::to_string(value);
    };
    for (size_t k = 0; k < pure.size(); k++) name(pure[k], point[k]);
    for (size_t k = 0; k < reduction.size(); k++) name(s_.rvars[k].var, reduction[k]);
    const std::string where =
        stage_ == 0 ? "'" + f_.name + "'"
                    : "update " + std::to_string(stage_ - 1) + " of '" + f_.name + "'";
    d.why = "in " + where + (at.empty() ? "" : " at (" + at + ")") +
            (d.why.empty() ? "" : "; " + d.why);
    d.where = s_.where;
    throw RuntimeError(d);
  }

  const FuncDef &f_;
  const StageDef &s_;
  int stage_;
  const Box &box_;
  const Box &reduction_;
  const std::vector<Grid> &values_;
  Program program_;
  Register *holds_ = nullptr;
  std::vector<Write> writes_;
  bool targets_are_fixed_;  // within a row, whatever the reduction variables are
};

}  // namespace

std::vector<std::string> pure_variables(const FuncDef &f, int stage) {
  if (stage == 0) return f.args;
  std::unordered_set<std::string> used;
  for (const Expr &e : all_exprs(f.stages[stage])) {
    for_each_node(e, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      if (v && v->kind == VariableKind::Pure) used.insert(v->name);
    });
  }
  std::vector<std::string> pure;
  for (const std::string &name : f.args) {
    if (used.count(name)) pure.push_back(name);
  }
  return pure;
}

void run_stage(const FuncDef &f, int stage, const Box &box, const Box &reduction,
               const Bindings &bindings, const std::vector<Grid> &values) {
  StageRun(f, stage, box, reduction, bindings, values).run();
}

}  // namespace polyhalite::interpreter
