#include "polyhedral/oracle/run.h"

#include <algorithm>

#include "lang/simplify/associative.h"
#include "polyhalite/error.h"
#include "polyhedral/model/stage_model.h"

namespace polyhalite::oracle {

Run::Run(const LoopTree &tree, const Survey &survey, const Experiment &experiment,
         const Limits &limits)
    : tree_(tree),
      survey_(survey),
      experiment_(experiment),
      limits_(limits),
      data_(experiment),
      constants_([this](const VariableNode &v) { return data_.constant(v); }),
      reference_(tree.algorithm, data_, limits.reference),
      storages_(tree.algorithm.funcs.size()) {
  for (int f = 0; f < static_cast<int>(tree.algorithm.funcs.size()); f++) {
    const int definitions = tree.algorithm.funcs[f].num_definitions();
    for (int d = 1; d < definitions; d++)
      if (writes_one_value(tree, {f, d})) reference_.note_one_value({f, d});
  }
  compile();
}

void Run::compile() {
  root_symbols_ = compile_symbols(survey_.root_symbols);
  for (const LoopInfo &l : tree_.loops) {
    const LoopBounds &b = survey_.loops[l.id];
    CompiledLoop loop;
    loop.slot = slots_.of(l.name);
    loop.bounds = program({b.min, b.extent});
    loop.symbols = compile_symbols(b.symbols);
    loops_.push_back(std::move(loop));
  }
  for (int f = 0; f < static_cast<int>(tree_.nests.size()); f++) {
    stages_.emplace_back();
    for (int s = 0; s < static_cast<int>(tree_.nests[f].size()); s++) {
      stages_[f].push_back(compile_stage({f, s}));
    }
    const FuncSurvey &func = survey_.funcs[f];
    funcs_.push_back({compile_box(func.stored), {}, {}});
    if (!func.hoisted) continue;
    funcs_[f].slot = program({func.hoisted->slot});
    funcs_[f].extents = program(func.hoisted->extents);
  }
  parent_.assign(tree_.loops.size(), kRoot);
  for (const Tree &n : tree_.roots) compile_node(*n, kRoot);
}

Program Run::compile_box(const Box &box) {
  std::vector<Expr> ends;
  for (const IndexRange &r : box) ends.insert(ends.end(), {r.min, r.max});
  return program(ends);
}

void Run::compile_node(const TreeNode &n, int enclosing) {
  if (n.kind == TreeNode::Branch) branches_[&n] = program({n.condition});
  if (n.kind == TreeNode::Loop) {
    parent_[n.loop] = enclosing;
    enclosing = n.loop;
  }
  for (const Tree &c : n.children) compile_node(*c, enclosing);
  for (const Tree &c : n.otherwise) compile_node(*c, enclosing);
}

std::vector<Run::CompiledSymbol> Run::compile_symbols(const std::vector<Symbol> &symbols) {
  std::vector<CompiledSymbol> list;
  for (const Symbol &s : symbols) {
    CompiledSymbol c{s.name, slots_.of(s.name), program({s.value}), {}, {}};
    if (s.lower.defined()) c.lower = program({s.lower});
    if (s.upper.defined()) c.upper = program({s.upper});
    list.push_back(std::move(c));
  }
  return list;
}

Run::CompiledStage Run::compile_stage(StageId s) {
  const StageSurvey &survey = survey_.stages[s.func][s.stage];
  std::vector<Expr> point;
  // A branch that specialize_fail() ends has no instances.
  if (survey.dims.empty()) return {program(point), {}, {}, {}, {}};
  for (int d : reference_.program(s).pure) point.push_back(survey.dims.at(tree_.func(s).args[d]));
  for (const ReductionVariable &r : tree_.definition(s).rvars) {
    point.push_back(survey.dims.at(r.var));
  }
  CompiledStage stage{program(point), {}, {}, {}, {}};
  stage.variables = point.size();
  const StageNest &nest = tree_.nest(s);
  const auto update = nest.atomic ? prove_associative(tree_.func(s), s.stage) : std::nullopt;
  stage.any_order = nest.any_order || (update && (update->commutative || update->choices_alone));
  for (const auto &[name, range] : survey.used) {
    const Expr &at = survey.dims.at(name);
    if (range.min.defined()) {
      stage.used.push_back(program({make_binary(Op::Le, range.min, at)}));
    }
    if (range.max.defined()) {
      stage.used.push_back(program({make_binary(Op::Le, at, range.max)}));
    }
  }
  for (const Guard &g : survey.guards) {
    std::vector<Program> &list = g.rest == Guard::Blends   ? stage.blends
                                 : g.rest == Guard::Stores ? stage.loads
                                                           : stage.guards;
    list.push_back(program({g.condition}));
  }
  return stage;
}

std::vector<Value> Run::evaluate(const Program &p) {
  if (static_cast<int>(values_.size()) < slots_.size()) values_.resize(slots_.size());
  return p.run(values_, *this);
}

int64_t Run::evaluate_one(const Program &p) {
  if (static_cast<int>(values_.size()) < slots_.size()) values_.resize(slots_.size());
  return p.run_one(values_, *this).i;
}

std::vector<Extent> Run::evaluate_box(const Program &ends) {
  const std::vector<Value> values = evaluate(ends);
  std::vector<Extent> result;
  for (size_t d = 0; d < values.size(); d += 2) {
    result.push_back({values[d].i, values[d + 1].i - values[d].i + 1});
  }
  return result;
}

void Run::assign(const CompiledSymbol &s) {
  const int64_t value = evaluate_one(s.value);
  values_[s.slot].i = value;
}

void Run::bind(const std::vector<CompiledSymbol> &symbols) {
  for (const CompiledSymbol &s : symbols) {
    assign(s);
    const int64_t value = values_[s.slot].i;
    const bool low = !s.lower.empty() && value < evaluate_one(s.lower);
    const bool high = !s.upper.empty() && value > evaluate_one(s.upper);
    if (low || high) beyond_ = {s.name, value};
  }
}

void Run::check_symbols() {
  if (!beyond_) return;
  const auto &[name, value] = *beyond_;
  fail('a', name, {value},
       "symbol '" + name + "' is " + std::to_string(value) + ", outside of its bounds");
}

bool Run::enlarge(Experiment &experiment) {
  for (const CompiledSymbol &s : root_symbols_) assign(s);
  bool changed = false;
  auto grow = [&](const std::string &func, size_t d, int64_t low, int64_t high) {
    if (!tree_.algorithm.is_output(func)) return;
    Extent &has = experiment.buffers.at(func).at(d);
    const int64_t min = std::min(has.min, low), max = std::max(has.min + has.extent - 1, high);
    changed |= min != has.min || max - min + 1 != has.extent;
    has = {min, max - min + 1};
  };
  for (const Assumption &a : survey_.assumptions) {
    if (a.dimension < 0 || !a.wanted.defined() || evaluate_one(program({a.condition}))) continue;
    if (!tree_.algorithm.is_output(a.func)) continue;
    const int64_t min = experiment.buffers.at(a.func).at(a.dimension).min;
    grow(a.func, a.dimension, min, min + evaluate_one(program({a.wanted})) - 1);
  }
  for (const auto &[name, box] : survey_.inputs) {
    const std::vector<Extent> need = evaluate_box(compile_box(box));
    for (size_t d = 0; d < need.size(); d++) {
      if (need[d].extent > 0) grow(name, d, need[d].min, need[d].min + need[d].extent - 1);
    }
  }
  return changed;
}

std::string Run::enter() {
  // Symbols keep their bounds only where the assumptions hold.
  for (const CompiledSymbol &s : root_symbols_) assign(s);
  for (const Assumption &a : survey_.assumptions) {
    if (!evaluate_one(program({a.condition}))) return a.text;
  }
  bind(root_symbols_);
  check_symbols();
  for (const auto &[name, box] : survey_.inputs) {
    inputs_[name] = evaluate_box(compile_box(box));
    auto given = experiment_.buffers.find(name);
    if (given == experiment_.buffers.end()) continue;
    for (size_t d = 0; d < box.size(); d++) {
      const Extent &need = inputs_[name][d], &has = given->second[d];
      if (need.extent <= 0) continue;
      if (need.min < has.min || need.min + need.extent > has.min + has.extent) {
        return "'" + name + "' is too small in dimension " + std::to_string(d);
      }
    }
  }
  return "";
}

Enumeration Run::all() {
  try {
    result_.unmet = enter();
    if (!result_.unmet.empty()) return result_;
    for (const std::string &name : tree_.algorithm.outputs) {
      const int f = tree_.algorithm.index_of(name);
      storages_[f] = std::make_unique<Storage>();
      storages_[f]->func = f;
      storages_[f]->box = experiment_.buffers.at(name);
    }
    block(tree_.roots);
    check_outputs();
  } catch (const Stop &) {
  } catch (const TooLarge &) {
    const bool runs = result_.instances > limits_.instances;
    result_.unmet =
        "more than " + std::to_string(runs ? limits_.instances : limits_.reference) + " instances";
  }
  return result_;
}

void Run::block(const std::vector<Tree> &nodes) {
  for (const Tree &n : nodes) {
    switch (n->kind) {
      case TreeNode::Loop:
        loop(*n);
        break;
      case TreeNode::Stage:
        stage(n->stage);
        break;
      case TreeNode::Allocate:
        allocate(*n);
        break;
      case TreeNode::Hoist:
        hoist(*n);
        break;
      case TreeNode::Branch:
        block(evaluate_one(branches_.at(n.get())) ? n->children : n->otherwise);
        break;
      case TreeNode::Fork:  // one of the orders that its waits allow
        forks_[n->stage.func] = running_.size();
        block(n->children);
        forks_.erase(n->stage.func);
        break;
    }
  }
}

void Run::loop(const TreeNode &n) {
  const CompiledLoop &l = loops_[n.loop];
  const std::vector<Value> bounds = evaluate(l.bounds);
  const LoopKind kind = tree_.loops[n.loop].kind;
  const bool concurrent = runs_at_once(kind);
  if (concurrent) concurrent_.push_back(std::make_unique<ConcurrentLoop>(n.loop));
  running_.push_back({n.loop, 0, bounds[1].i});
  const auto beyond_outside = beyond_;
  for (int64_t i = bounds[0].i; i < bounds[0].i + bounds[1].i; i++) {
    if (++result_.instances > limits_.instances) throw TooLarge();
    values_[l.slot].i = running_.back().iteration = i;
    if (concurrent) concurrent_.back()->set_iteration(i);
    bind(l.symbols);
    block(n.children);
    beyond_ = beyond_outside;
  }
  running_.pop_back();
  if (concurrent) concurrent_.pop_back();
}

void Run::allocate(const TreeNode &n) {
  const int f = n.stage.func;
  auto storage = std::make_unique<Storage>();
  storage->func = f;
  storage->box = evaluate_box(funcs_[f].stored);
  storage->fold = survey_.funcs[f].fold;
  storage->depth = concurrent_.size();
  if (survey_.funcs[f].hoisted) {
    storage->memory = memories_.at(f).get();
    storage->depth = storage->memory->depth;
    storage->slot = evaluate_one(funcs_[f].slot);
    for (size_t d = 0; d < storage->box.size(); d++) {
      const int64_t ring = storage->fold[d];
      const int64_t extent = ring > 0 ? ring : storage->box[d].extent;
      if (extent <= storage->memory->extents[d]) continue;
      fail('f', tree_.algorithm.funcs[f].name, {},
           "storage of extent " + std::to_string(extent) + " in dimension " + std::to_string(d) +
               " does not fit in the hoisted memory");
    }
  }
  std::swap(storages_[f], storage);
  block(n.children);
  std::swap(storages_[f], storage);
}

void Run::hoist(const TreeNode &n) {
  const int f = n.stage.func;
  auto memory = std::make_unique<HoistedMemory>();
  for (const Value &v : evaluate(funcs_[f].extents)) {
    memory->extents.push_back(v.i);
  }
  memory->depth = concurrent_.size();
  std::swap(memories_[f], memory);
  block(n.children);
  std::swap(memories_[f], memory);
}

void Run::stage(StageId s) {
  const CompiledStage &compiled = stages_[s.func][s.stage];
  // A branch does what its definition does.
  branch_ = s;
  s.stage = tree_.func(s).definition_of(s.stage);
  Point p{s, {}};
  for (const Value &v : evaluate(compiled.point)) p.at.push_back(v.i);
  now_ = p;
  for (const Program &guard : compiled.guards) {
    if (!evaluate_one(guard)) return;
  }
  check_symbols();
  const StageProgram &definition = reference_.program(s);
  for (const Program &load : compiled.loads) {
    if (!evaluate_one(load)) return write_anything(definition);
  }
  for (const Program &blend : compiled.blends) {
    if (!evaluate_one(blend)) return write_back(definition);
  }
  unused_ = false;
  for (const Program &used : compiled.used) unused_ |= !evaluate_one(used);
  result_.instances++;
  check_domain(definition);
  const std::vector<Value> slots = definition.slots_at(p.at);
  for (const StageProgram::Write &w : definition.writes) w.values.run(slots, *this);
  for (const auto &[at, values] : written_cells(definition, slots)) {
    Storage &storage = storage_of(s.func, at, "writes");
    for (const int v : values) {
      touch(storage, at, v, true);
      auto [cell, is_new] = storage.cells.try_emplace(storage.cell_of(at, v));
      if (unused_) {
        cell->second = Content::written(Point());
      } else {
        cell->second = definition.is_reduction ? cell->second.with(p) : definition.written(p);
      }
    }
  }
  unused_ = false;
}

Run::WrittenCells Run::written_cells(const StageProgram &definition,
                                     const std::vector<Value> &slots) {
  WrittenCells cells;
  for (const StageProgram::Write &w : definition.writes) {
    cells.emplace_back();
    for (const Value &v : w.cell.run(slots, *this)) cells.back().first.push_back(v.i);
    std::vector<Value> which;
    if (!w.written.empty()) which = w.written.run(slots, *this);
    for (size_t v = 0; v < tree_.func(now_->stage).types.size(); v++) {
      if (which.empty() || which[v].i) cells.back().second.push_back(static_cast<int>(v));
    }
  }
  return cells;
}

// Of what is no instance and touches the cells of one. It is marked as unlike the instance.
Run::WrittenCells Run::cells_of_no_instance(const StageProgram &definition) {
  unused_ = true;
  WrittenCells cells = written_cells(definition, definition.slots_at(now_->at));
  unused_ = false;
  now_->at.push_back(0);
  return cells;
}

// Reads cells, and writes them as they are: harmless unless some other iteration makes them at
// once, with another value than this one has made there.
void Run::write_back(const StageProgram &definition) {
  for (const auto &[at, values] : cells_of_no_instance(definition)) {
    Storage &storage = storage_of(now_->stage.func, at, "writes");
    for (const int v : values) {
      const auto cell = storage.cells.find(storage.cell_of(at, v));
      const Point there = cell == storage.cells.end() ? Point() : cell->second.last;
      touch(storage, at, v, true, &there);
    }
  }
}

// Reads nothing, and leaves what nobody may read.
void Run::write_anything(const StageProgram &definition) {
  for (const auto &[at, values] : cells_of_no_instance(definition)) {
    Storage &storage = storage_of(now_->stage.func, at, "writes");
    for (const int v : values) {
      touch(storage, at, v, true);
      storage.cells[storage.cell_of(at, v)] = Content::written(Point());
    }
  }
}

void Run::check_domain(const StageProgram &p) {
  const std::vector<Value> bounds = p.bounds.run(std::vector<Value>(p.slots.size()), *this);
  const size_t pure = p.pure.size();
  for (size_t r = 0; r < p.slot_of_rvar.size(); r++) {
    const int64_t at = now_->at[pure + r], min = bounds[2 * r].i;
    if (at >= min && at < min + bounds[2 * r + 1].i) continue;
    fail('a', tree_.func(now_->stage).name, {},
         describe(*now_) + " runs outside of its reduction domain");
  }
}

Value Run::access(const CallNode &call, const Coordinates &at) {
  internal_check(now_.has_value(), "only stages read data");
  if (call.kind == CallKind::Image) {
    auto box = inputs_.find(call.name);
    Storage image;
    if (box != inputs_.end()) image.box = box->second;
    if (box == inputs_.end() || !image.holds(at)) {
      fail('f', call.name, at,
           describe(*now_) + " reads " + cell_text(call.name, at) +
               ", outside of the box that is read");
    }
    return data_.image(call, at);
  }
  const int func = tree_.algorithm.index_of(call.name);
  return func == now_->stage.func ? read_own(at, call.value_index)
                                  : read_other(func, at, call.value_index);
}

void Run::idle_access(const CallNode &call, const Coordinates &at) {
  if (call.kind == CallKind::Func) storage_of(tree_.algorithm.index_of(call.name), at, "reads");
}

Storage &Run::storage_of(int func, const Coordinates &at, const char *verb) {
  const std::string &name = tree_.algorithm.funcs[func].name;
  internal_check(storages_[func] != nullptr, "a Func is allocated where it is used");
  if (!storages_[func]->holds(at)) {
    fail('f', name, at,
         describe(*now_) + " " + verb + " " + cell_text(name, at) + ", outside of its storage");
  }
  return *storages_[func];
}

Value Run::read_other(int func, const Coordinates &at, int value_index) {
  Storage &storage = storage_of(func, at, "reads");
  check_pairing(func, at);
  touch(storage, at, value_index, false);
  const Cell &wanted = reference_.final(func, at);
  check_content(storage, at, value_index, wanted.contents[value_index]);
  return wanted.values[value_index];
}

Value Run::read_own(const Coordinates &at, int value_index) {
  const Point p = *now_;
  Storage &storage = storage_of(p.stage.func, at, "reads");
  touch(storage, at, value_index, false);
  // The cell that a reduction builds up is compared once it is complete.
  if (reference_.program(p.stage).is_reduction) return {};
  const Cell *wanted = reference_.read_by(p, at);
  if (unused_) return wanted ? wanted->values[value_index] : Value{};
  if (!wanted) {
    fail('a', tree_.func(p.stage).name, at, describe(p) + " runs outside of its domain");
  }
  check_content(storage, at, value_index, wanted->contents[value_index]);
  return wanted->values[value_index];
}

int Run::num_values(const Storage &storage) const {
  return static_cast<int>(tree_.algorithm.funcs[storage.func].types.size());
}

void Run::check_content(const Storage &storage, const Coordinates &at, int value_index,
                        const Content &wanted) {
  if (unused_) return;
  const std::string &name = tree_.algorithm.funcs[storage.func].name;
  const std::string what = cell_text(name, at);
  auto cell = storage.cells.find(storage.cell_of(at, value_index));
  if (cell == storage.cells.end()) {
    fail('b', name, at,
         now_ ? describe(*now_) + " reads " + what + ", which nothing wrote"
              : "nothing wrote the output " + what);
  }
  if (cell->second == wanted) return;
  const Point &has = cell->second.last;
  fail('c', name, at,
       (now_ ? describe(*now_) + " reads " + what : "the output " + what + " is") + " as " +
           describe(has) + " left it, " +
           (has == wanted.last ? "with other instances before it"
                               : "not as " + describe(wanted.last) + " does"),
       has);
}

void Run::check_outputs() {
  now_.reset();
  for (const std::string &name : tree_.algorithm.outputs) {
    const int f = tree_.algorithm.index_of(name);
    const Storage &storage = *storages_[f];
    Coordinates at;
    for (const Extent &e : storage.box) {
      if (e.extent <= 0) return;
      at.push_back(e.min);
    }
    for (;;) {
      for (int v = 0; v < num_values(storage); v++) {
        check_content(storage, at, v, reference_.final(f, at).contents[v]);
      }
      size_t d = 0;
      for (; d < at.size(); d++) {
        if (++at[d] < storage.box[d].min + storage.box[d].extent) break;
        at[d] = storage.box[d].min;
      }
      if (d == at.size()) break;
    }
  }
}

NamedPoint Run::named(const Point &p) const {
  NamedPoint n{p.stage, {}};
  const StageProgram &program = reference_.program(p.stage);
  size_t i = 0;
  for (int d : program.pure) n.at.push_back({tree_.func(p.stage).args[d], p.at[i++]});
  for (const ReductionVariable &r : tree_.definition(p.stage).rvars) {
    n.at.push_back({r.var, p.at[i++]});
  }
  return n;
}

std::string Run::describe(const Point &p) const {
  if (p.stage.func < 0) return "nothing";
  std::string text = tree_.describe(p.stage) + " at (";
  const char *separator = "";
  for (const auto &[name, value] : named(p).at) {
    text += separator + name + "=" + std::to_string(value);
    separator = ", ";
  }
  return text + ")";
}

std::string Run::cell_text(const std::string &func, const Coordinates &at) const {
  std::string text = func + "(";
  for (size_t d = 0; d < at.size(); d++) text += (d ? ", " : "") + std::to_string(at[d]);
  return text + ")";
}

void Run::fail(char claim, const std::string &func, const Coordinates &cell,
               const std::string &text, const std::optional<Point> &other) {
  Violation v{claim, func, cell, {}, text};
  if (now_) v.instances.push_back(named(*now_));
  if (other && other->stage.func >= 0) v.instances.push_back(named(*other));
  result_.violation = std::move(v);
  throw Stop();
}

}  // namespace polyhalite::oracle
