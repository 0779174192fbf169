#include "codegen/proof/prove_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "codegen/ir/visit.h"
#include "codegen/proof/match_stage.h"
#include "codegen/proof/task_loops.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "lang/simplify/simplify.h"
#include "lang/simplify/written_values.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

using dataflow::Around;
using dataflow::Finding;

// Are its results right in any order? Of equal keys an argmin may take any.
bool may_change_places(const FuncDef &f, int stage) {
  const auto update = stage > 0 ? prove_associative(f, stage) : std::nullopt;
  return update && (update->commutative || update->choices_alone);
}

class Reader {
 public:
  Reader(const Algorithm &algorithm, const LoopProofOptions &options, Modulo modulo)
      : algorithm_(algorithm), options_(options), modulo_(modulo) {}

  dataflow::Program program;
  std::map<int, std::string> undecided;  // [func] why
  std::map<int, std::string> refused;

  void read(const Function &f) {
    for (const std::string &name : algorithm_.outputs) {
      const FuncDef &def = *algorithm_.find(name);
      dataflow::Memory m;
      m.func = name;
      for (int d = 0; d < def.dimensions(); d++) {
        const std::string buffer = def.buffer_name(0), which = "." + std::to_string(d);
        const Expr min = make_variable(Int(32), VariableKind::BufferField, buffer + ".min" + which);
        const Expr extent =
            make_variable(Int(32), VariableKind::BufferField, buffer + ".extent" + which);
        m.min.push_back(sized(min));
        m.end.push_back(sized(make_binary(Op::Add, min, extent)));
        // The caller's buffers have no negative extents.
        program.facts.push_back(sized(make_binary(Op::Ge, extent, Expr(0))));
      }
      memory_[name] = static_cast<int>(program.memories.size());
      program.outputs.push_back(memory_[name]);
      program.memories.push_back(std::move(m));
    }
    for (size_t g = 0; g < algorithm_.funcs.size(); g++) {
      if (writes_in_part(algorithm_.funcs[g])) {
        doubt(static_cast<int>(g), "a value of it is undef");
      }
    }
    visit(f.body);
    for (const FuncDef &def : algorithm_.funcs) {
      const int func = algorithm_.index_of(def.name);
      if (algorithm_.is_output(def.name) && !written_.count(func) && !undecided.count(func)) {
        refused[func] = "nothing writes this output";
      }
    }
  }

 private:
  Expr placed(const Expr &e) const { return sized(substitute(lets_, e)); }
  Expr sized(const Expr &e) const {
    return options_.sizes.empty() ? e : simplify(substitute(options_.sizes, e));
  }
  std::vector<Expr> sized(std::vector<Expr> all) const {
    for (Expr &e : all) e = sized(e);
    return all;
  }

  void visit(const Stmt &s) {
    if (!s.defined()) return;
    switch (s->kind) {
      case StmtKind::Block:
      case StmtKind::Produce:
      case StmtKind::Profile:
      case StmtKind::Memoize:  // Where values are kept, they are what the block computes.
        for (const Stmt &b : s->body) visit(b);
        return;
      case StmtKind::For: {
        // Ends are often simpler than extents.
        const Expr end = simplify(make_binary(Op::Add, s->args[0], s->args[1]));
        around_.push_back(
            {Around::Loop, 0, s->name, placed(s->args[0]), placed(end), s->loop_kind, {}});
        around_.back().position = position_of(s, around_.back());
        visit(s->body[0]);
        around_.pop_back();
        return;
      }
      case StmtKind::Let: {
        // Names hold in their own block, and others may reuse them.
        const auto before = lets_;
        lets_[s->name] = substitute(lets_, s->args[0]);
        visit(s->body[0]);
        lets_ = before;
        return;
      }
      case StmtKind::Allocate:
      case StmtKind::Place:
        return allocate(s);
      case StmtKind::Provide:
        return provide(s);
      case StmtKind::If:
        for (size_t i = 0; i < s->body.size(); i++) {
          const Expr c = placed(s->args[0]);
          around_.push_back(
              {Around::Condition, 0, "", {}, {}, LoopKind::Serial, i == 0 ? c : make_not(c)});
          visit(s->body[i]);
          around_.pop_back();
        }
        return;
      case StmtKind::Assert:
        if (around_.empty()) program.facts.push_back(placed(s->args[0]));
        return;
      case StmtKind::Atomic: {
        const bool before = atomic_;
        atomic_ = true;
        visit(s->body[0]);
        atomic_ = before;
        return;
      }
      case StmtKind::Fork:
        return fork(s);
      case StmtKind::Evaluate:
        return for_each_node(s->args[0], [&](const Expr &e) { doubt_called(e); });
      case StmtKind::Acquire:
      case StmtKind::Release:
        waits_[s->name][s->kind == StmtKind::Release] = next_position();
        return;
      default:
        for (size_t f = 0; f < algorithm_.funcs.size(); f++) {
          doubt(static_cast<int>(f), "loop IR has a statement that this proof does not read");
        }
    }
  }

  // Behind all that came before; in the second task of a fork in front of the loop that it will run
  // in step with the first, which has its place there.
  int next_position() {
    const bool is_early = in_step_ && in_step_->is_second &&
                          in_step_->entered < in_step_->loops.consumes.size() &&
                          in_step_->entered < in_step_->produces.size();
    if (!is_early) return ++position_;
    internal_check(in_step_->early < kRoom, "a task has few statements in front of its loops");
    return in_step_->produces[in_step_->entered].position - kRoom + in_step_->early++;
  }

  // A loop that the second task of a fork runs in step with the first has the place of that one's.
  int position_of(const Stmt &s, const Around &loop) {
    if (!in_step_) return ++position_;
    const auto is_it = [&](const Stmt &l) { return l.same_as(s); };
    const TaskLoops &tasks = in_step_->loops;
    if (std::any_of(tasks.produces.begin(), tasks.produces.end(), is_it)) {
      in_step_->produces.push_back(loop);
      position_ += kRoom + 1;
      in_step_->produces.back().position = position_;
      return position_;
    }
    const auto at = std::find_if(tasks.consumes.begin(), tasks.consumes.end(), is_it);
    if (at == tasks.consumes.end()) return next_position();
    const auto i = static_cast<size_t>(at - tasks.consumes.begin());
    in_step_->entered = i + 1;
    if (i < in_step_->produces.size()) {
      const Around &same = in_step_->produces[i];
      const bool alike =
          same.counter == loop.counter && equal(same.min, loop.min) && equal(same.end, loop.end);
      if (alike) return same.position;
    }
    in_step_->is_alike = false;
    return ++position_;
  }

  void fork(const Stmt &s) {
    const int func = algorithm_.index_of(s->name);
    const std::string at_once = "its productions run at the same time as their uses";
    std::string why = "it has no memory around its tasks";
    const auto loops = memory_.count(s->name) ? task_loops(s, why) : std::nullopt;
    if (!loops) {
      doubt(func, at_once + ": " + why);
      for (const Stmt &b : s->body) visit(b);
      return;
    }
    in_step_ = InStep{*loops, {}};
    dataflow::Task task;
    for (const Around &a : around_) task.outer += a.kind == Around::Loop;
    task.in_step = loops->produces.size();
    const size_t memories = program.memories.size();
    task.first = static_cast<int>(program.statements.size());
    visit(s->body[0]);
    task.middle = static_cast<int>(program.statements.size());
    in_step_->is_second = true;
    visit(s->body[1]);
    task.end = static_cast<int>(program.statements.size());
    const bool is_alike = in_step_->is_alike;
    in_step_.reset();
    if (!is_alike) return doubt(func, at_once + ": its tasks do not run in step");
    for (size_t m = 0; m < memories; m++) {
      task.memory = static_cast<int>(m);
      add_task(task, *loops, at_once);
    }
  }

  // Notes that tasks share a memory, if they do: of what the first one writes, it tells the second
  // by the semaphore `ready` only.
  void add_task(dataflow::Task task, const TaskLoops &loops, const std::string &at_once) {
    struct Touched {
      int first = std::numeric_limits<int>::max(), last = -1;
      bool writes = false;
    } touched[2];
    for (int j = task.first; j < task.end; j++) {
      const dataflow::Statement &st = program.statements[static_cast<size_t>(j)];
      Touched &t = touched[j >= task.middle];
      bool touches = st.memory == task.memory;
      t.writes = t.writes || touches;
      for (const dataflow::Read &r : st.reads) touches = touches || r.memory == task.memory;
      if (!touches) continue;
      t.first = std::min(t.first, st.position);
      t.last = std::max(t.last, st.position);
    }
    const auto &[produces, consumes] = touched;
    if (produces.last < 0 || consumes.last < 0 || (!produces.writes && !consumes.writes)) return;
    auto &ready = waits_[loops.ready];
    if (consumes.writes || produces.last > ready[1] || consumes.first < ready[0]) {
      const std::string &func = program.memories[static_cast<size_t>(task.memory)].func;
      return doubt(algorithm_.index_of(func), at_once + ": not all of them wait");
    }
    if (!loops.room.empty()) {
      auto &room = waits_[loops.room];
      if (produces.first > room[0] && consumes.last < room[1]) task.ahead = loops.ahead;
    }
    program.tasks.push_back(task);
  }

  static bool writes_in_part(const FuncDef &f) {
    bool found = false;
    for (const StageDef &s : f.stages) {
      for (const Expr &v : s.values) found = found || split_undef(v).condition.defined();
    }
    return found;
  }

  // What a C function is given, it may read and write.
  void doubt_called(const Expr &e) {
    const CallNode *c = as_call(e);
    if (!c || c->kind != CallKind::Func) return;
    if (c->name.empty()) return;
    doubt(algorithm_.index_of(func_of_buffer(c->name)), "a C function has its memory");
  }

  void doubt(int func, const std::string &why) {
    if (func < 0) return;
    undecided.emplace(func, why);
    program.is_complete = false;
  }

  void allocate(const Stmt &s) {
    const std::string func = func_of_buffer(s->name);
    const auto before = memory_.find(func) == memory_.end() ? -1 : memory_[func];
    const BlockedMemories blocked_before = blocked_;
    const bool is_first = s->name == func || s->name == func + ".0";
    if (is_first && algorithm_.index_of(func) >= 0) {
      dataflow::Memory m;
      m.func = func;
      for (const Around &a : around_) {
        if (a.kind == Around::Loop) m.loops.push_back(a.counter);
      }
      const std::vector<BlockedDimension> blocks = blocks_of(func, s);
      const size_t dims = s->args.size() / 2 - blocks.size();
      for (size_t d = 0; d < dims; d++) {
        m.min.push_back(placed(s->args[2 * d]));
        m.end.push_back(placed(simplify(make_binary(Op::Add, s->args[2 * d], s->args[2 * d + 1]))));
      }
      for (const BlockedDimension &b : blocks) {
        const auto d = static_cast<size_t>(b.dimension);
        const auto begin = [&](const Expr &block) {
          const Expr first = make_binary(Op::Mul, block, make_int(block.type(), b.size));
          return simplify(make_binary(Op::Add, first, b.min));
        };
        m.min[d] = begin(m.min[d]);
        m.end[d] = begin(m.end[d]);
      }
      if (!blocks.empty()) blocked_[func] = blocks;
      memory_[func] = static_cast<int>(program.memories.size());
      program.memories.push_back(std::move(m));
    }
    visit(s->body[0]);
    if (is_first) {
      blocked_ = blocked_before;
      if (before >= 0) {
        memory_[func] = before;
      } else {
        memory_.erase(func);
      }
    }
  }

  void provide(const Stmt &s) {
    const int position = next_position();
    const int func = algorithm_.index_of(s->name);
    if (func < 0) return;
    written_.insert(func);
    const FuncDef &f = algorithm_.funcs[func];
    const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
    std::vector<Expr> cell, values;
    for (size_t i = 0; i < s->args.size(); i++) {
      (i < dims ? cell : values).push_back(substitute(lets_, s->args[i]));
    }
    const VariableBounds counters = counter_bounds();
    InOnePiece one_piece(blocked_, counters);
    cell = one_piece.indices(f.name, cell);
    for (Expr &v : values) v = one_piece(v);
    for (const std::string &name : one_piece.unseen()) {
      doubt(algorithm_.index_of(name), "a place in a block of its memory is not seen to be in it");
    }
    if (cell.size() != f.args.size()) return doubt(func, "its memory is laid out in blocks");
    if (const char *why = beyond_cells(f)) return doubt(func, why);
    std::vector<std::pair<int, Match>> matches;
    for (size_t i = 0; i < f.stages.size(); i++) {
      if (cell_writes(f.stages[i]).size() != 1) continue;
      if (auto m = match_stage(f, f.stages[i], cell, values, modulo_)) {
        matches.emplace_back(static_cast<int>(i), std::move(*m));
      }
    }
    if (matches.empty() || is_of_another(f, matches)) {
      return doubt(func, "a statement is not seen to be an instance of a definition: " +
                             to_text(values[0]).substr(0, 200));
    }
    const auto &[stage, match] = matches[meant(f, matches)];
    const int definition = f.definition_of(stage);
    if (definition != stage && !runs_in_branch(f, stage)) {
      return doubt(func, "a branch of it runs where its condition is not seen to hold");
    }
    if (!has_loops_of(f.stages[stage], f.stages[definition])) {
      return doubt(func, "a branch of it sums over other variables");
    }
    dataflow::Statement st;
    st.around = around_;
    st.position = position;
    st.stage = {func, definition};
    const StageDef &def = f.stages[definition];
    std::vector<std::string> variables;
    for (int d = 0; d < f.dimensions(); d++) {
      const VariableNode *v = as_variable(def.args[d]);
      if (!v || v->kind != VariableKind::Pure || v->name != f.args[d]) continue;
      variables.push_back(v->name);
    }
    for (const ReductionVariable &r : def.rvars) variables.push_back(r.var);
    for (const std::string &v : variables) {
      const auto at = match.point.find(v);
      if (at == match.point.end()) return doubt(func, "a variable of an instance is not seen");
      st.point.push_back(sized(at->second));
    }
    st.where = sized(match.where);
    st.memory = memory_of(f.name);
    st.cell = sized(cell);
    const auto is_promised = [&](const std::vector<std::string> &promises) {
      return std::find(promises.begin(), promises.end(), f.name) != promises.end();
    };
    st.is_atomic = atomic_;
    st.takes_any_order =
        atomic_ && (is_promised(options_.promised_orders) || may_change_places(f, definition));
    st.races_are_promised = is_promised(options_.promised_races);
    for (const MatchedRead &r : match.reads) {
      const int callee = r.is_image ? -1 : algorithm_.index_of(r.callee);
      if (r.is_image && !r.is_held) continue;  // the same by its form
      dataflow::Read read{r.callee,       memory_of(r.callee), sized(r.cell), sized(r.wanted),
                          sized(r.where), sized(r.touched),    callee == func};
      st.reads.push_back(std::move(read));
    }
    program.statements.push_back(std::move(st));
  }

  // Definitions that say the same, by number: the loops' names tell which one lowering meant; one
  // of a single instance has no loops. A wrong answer refuses what is right, and never accepts what
  // is wrong.
  size_t meant(const FuncDef &f, const std::vector<std::pair<int, Match>> &matches) const {
    size_t chosen = 0;
    for (size_t i = matches.size(); i-- > 0;) {
      if (matches[i].second.point.empty()) chosen = i;
    }
    for (size_t i = 0; i < matches.size(); i++) {
      if (is_in_loop_of(f, matches[i].first)) chosen = i;
    }
    return chosen;
  }

  // Do the loops' names tell of a definition that says nothing of its variables,
  // f(x) += 0 over r, as which another one's instance may be read?
  bool is_of_another(const FuncDef &f, const std::vector<std::pair<int, Match>> &matches) const {
    for (const auto &m : matches) {
      if (is_in_loop_of(f, m.first)) return false;
    }
    for (size_t s = 0; s < f.stages.size(); s++) {
      if (is_in_loop_of(f, static_cast<int>(s))) return true;
    }
    return false;
  }

  bool is_in_loop_of(const FuncDef &f, int stage) const {
    const std::string prefix = f.name + ".s" + std::to_string(stage) + ".";
    return std::any_of(around_.begin(), around_.end(),
                       [&](const Around &a) { return a.counter.rfind(prefix, 0) == 0; });
  }

  // What is not told by who wrote a cell last; null: nothing.
  static const char *beyond_cells(const FuncDef &f) {
    for (const StageDef &def : f.stages) {
      if (f.types.size() == 1) continue;
      for (const CellWrite &w : cell_writes(def)) {
        for (const WrittenValue &v : written_values(f.name, def, w)) {
          bool other_cells = v.where.defined();
          for_each_node(v.value, [&](const Expr &n) {
            const CallNode *c = as_call(n);
            if (!c || c->kind != CallKind::Func || c->name != f.name) return;
            for (size_t d = 0; d < c->args.size(); d++) {
              other_cells = other_cells || !equal(c->args[d], w.cell[d]);
            }
          });
          if (other_cells) return "its values have memory of their own, and orders of their own";
        }
      }
    }
    return nullptr;
  }

  // What is known of the counters of the loops around.
  VariableBounds counter_bounds() const {
    VariableBounds bounds;
    for (const Around &a : around_) {
      if (a.kind != Around::Loop) continue;
      ConstantBounds &b = bounds[a.counter];
      b.min = constant_bounds(a.min, bounds).min;
      const auto end = constant_bounds(a.end, bounds).max;
      if (end) b.max = *end - 1;
    }
    return bounds;
  }

  // The blocks that a memory of the Func has, as it is allocated here: what they are told to begin
  // with is known outside of the loops that are to come. Empty where it is not.
  std::vector<BlockedDimension> blocks_of(const std::string &func, const Stmt &allocate) const {
    const auto hint = options_.blocked.find(func);
    const size_t dims = allocate->args.size() / 2;
    if (hint == options_.blocked.end() || hint->second.size() > dims) return {};
    std::vector<BlockedDimension> blocks = hint->second;
    const size_t own = dims - blocks.size();
    for (size_t i = 0; i < blocks.size(); i++) {
      blocks[i].min = placed(blocks[i].min);
      int64_t size = 0;
      bool is_known = is_const_int(allocate->args[2 * (own + i) + 1], &size) &&
                      size == blocks[i].size && is_zero(allocate->args[2 * (own + i)]);
      for_each_node(blocks[i].min, [&](const Expr &n) {
        const VariableNode *v = as_variable(n);
        if (!v || v->kind == VariableKind::Param || v->kind == VariableKind::BufferField) return;
        is_known = is_known && std::any_of(around_.begin(), around_.end(), [&](const Around &a) {
                     return a.kind == Around::Loop && a.counter == v->name;
                   });
      });
      if (!is_known) return {};
    }
    return blocks;
  }

  // A branch's reduction may be factored where the definition's is not, and the other way round:
  // then it has other variables, or other values of them.
  static bool has_loops_of(const StageDef &branch, const StageDef &definition) {
    const auto &a = branch.rvars, &b = definition.rvars;
    const Expr &p = branch.predicate, &q = definition.predicate;
    const bool same_values = p.defined() && q.defined() ? equal(p, q) : p.defined() == q.defined();
    return same_values && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                     [](const auto &x, const auto &y) { return x.var == y.var; });
  }

  // Do the conditions around say that the branch is the one that runs?
  bool runs_in_branch(const FuncDef &f, int stage) const {
    Expr where = runs_where(f, stage);
    if (where.defined()) where = sized(where);
    std::vector<Expr> known;
    for (const Around &a : around_) {
      if (a.kind == Around::Condition) known.push_back(a.condition);
    }
    return !where.defined() || follows(where, known);
  }
  static bool follows(const Expr &e, const std::vector<Expr> &known) {
    if (e->op == Op::And) return follows(e->args[0], known) && follows(e->args[1], known);
    return std::any_of(known.begin(), known.end(), [&](const Expr &k) { return equal(k, e); });
  }

  int memory_of(const std::string &func) const {
    const auto at = memory_.find(func);
    return at == memory_.end() ? -1 : at->second;
  }

  const Algorithm &algorithm_;
  const LoopProofOptions &options_;
  const Modulo modulo_;
  std::vector<Around> around_;
  std::map<std::string, Expr> lets_;
  std::map<std::string, int> memory_;  // of Funcs, where the walk is
  BlockedMemories blocked_;            // of those
  std::set<int> written_;
  static constexpr int kRoom = 1 << 16;
  int position_ = 0;
  bool atomic_ = false;
  // Of the fork around: its tasks' loops, those of the first task as they were met, and how many of
  // the second's were.
  struct InStep {
    TaskLoops loops;
    std::vector<Around> produces;
    size_t entered = 0;
    int early = 0;  // statements of the second task in front of those loops
    bool is_alike = true, is_second = false;
  };
  std::optional<InStep> in_step_;
  std::map<std::string, std::map<bool, int>> waits_;  // positions of acquire and release
};

std::vector<Finding> findings_of(const Algorithm &algorithm, const Function &f,
                                 const LoopProofOptions &options, Modulo first) {
  Reader reader(algorithm, options, first);
  reader.read(f);
  std::vector<Finding> findings = dataflow::prove(algorithm, reader.program, options.dataflow);
  std::vector<Finding> all;
  for (size_t i = 0; i < algorithm.funcs.size(); i++) {
    const int func = static_cast<int>(i);
    const std::string &name = algorithm.funcs[i].name;
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding &x) { return x.func == name; });
    if (const auto r = reader.refused.find(func); r != reader.refused.end()) {
      all.push_back({Finding::Refused, name, r->second});
    } else if (const auto u = reader.undecided.find(func); u != reader.undecided.end()) {
      all.push_back({Finding::Undecided, name, u->second});
    } else if (found != findings.end()) {
      all.push_back(*found);
    }
  }
  return all;
}

}  // namespace

std::vector<Finding> prove_loops(const Algorithm &algorithm, const Function &f,
                                 const LoopProofOptions &options) {
  auto refuses = [](const std::vector<Finding> &findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding &x) { return x.verdict == Finding::Refused; });
  };
  std::vector<Finding> fused = findings_of(algorithm, f, options, Modulo::Fused);
  if (!refuses(fused)) return fused;
  // A wrong reading refuses what is right, and never accepts what is wrong.
  std::vector<Finding> rings = findings_of(algorithm, f, options, Modulo::Ring);
  return refuses(rings) ? fused : rings;
}

}  // namespace polyhalite
