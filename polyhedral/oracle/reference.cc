#include "polyhedral/oracle/reference.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "lang/simplify/written_values.h"

#include "polyhalite/error.h"

namespace polyhalite::oracle {

namespace {

uint64_t mix_place(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdull;
  h ^= h >> 29;
  return h * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
}

}  // namespace

uint64_t Point::hash() const {
  uint64_t h = mix_place(static_cast<uint64_t>(stage.func) + 1, static_cast<uint64_t>(stage.stage));
  for (int64_t c : at) h = mix_place(h, static_cast<uint64_t>(c));
  return h;
}

size_t CoordinatesHash::operator()(const Coordinates &c) const { return Point{{}, c}.hash(); }

Content Content::written(const Point &p) {
  const uint64_t h = p.hash();
  return {0, p.stage, h, mix_place(h, 7), false, p};
}

Content Content::with(const Point &p) const {
  Content c = *this;
  if (!is_set || stage != p.stage) c = {hash(), p.stage, 0, 0, true, p};
  const uint64_t h = p.hash();
  c.sum += h;
  c.mixed += mix_place(h, 7);
  c.last = p;
  return c;
}

uint64_t Content::hash() const {
  return mix_place(mix_place(mix_place(below + is_set, sum), mixed), stage.stage);
}

StageProgram::StageProgram(const FuncDef &f, int stage, const Constants &constants) {
  const StageDef &def = f.stages[stage];
  for (int d = 0; d < f.dimensions(); d++) {
    const VariableNode *v = as_variable(def.args[d]);
    if (!v || v->kind != VariableKind::Pure || v->name != f.args[d]) continue;
    pure.push_back(d);
    slot_of_pure.push_back(slots.of(v->name));
  }
  std::vector<Expr> limits;
  for (const ReductionVariable &r : def.rvars) {
    slot_of_rvar.push_back(slots.of(r.var));
    limits.push_back(r.min);
    limits.push_back(r.extent);
  }
  for (const CellWrite &w : cell_writes(def)) {
    std::vector<Expr> values, written;
    bool in_parts = false;
    for (const WrittenValue &v : written_values(f.name, def, w)) {
      in_parts = in_parts || v.where.defined();
      written.push_back(v.where.defined() ? v.where : make_true());
      values.push_back(v.where.defined() ? make_select(v.where, v.value, make_zero(v.value.type()))
                                         : v.value);
    }
    writes.push_back({Program(w.cell, slots, constants), Program(values, slots, constants), {}});
    if (in_parts) writes.back().written = Program(written, slots, constants);
  }
  if (def.predicate.defined()) predicate = Program({def.predicate}, slots, constants);
  bounds = Program(limits, slots, constants);
  const auto update = prove_associative(f, stage);
  is_reduction = update && update->commutative;
  in_place = !def.in_place.empty();
}

std::vector<Value> StageProgram::slots_at(const Coordinates &point) const {
  std::vector<Value> v(slots.size());
  for (size_t i = 0; i < slot_of_pure.size(); i++) v[slot_of_pure[i]].i = point[i];
  for (size_t i = 0; i < slot_of_rvar.size(); i++) {
    v[slot_of_rvar[i]].i = point[slot_of_pure.size() + i];
  }
  return v;
}

Content StageProgram::written(const Point &p) const {
  if (!one_value) return Content::written(p);
  Point any = p;
  any.at.resize(pure.size());
  Content c = Content::written(any);
  c.last = p;
  return c;
}

struct Reference::Column {
  std::unordered_map<Coordinates, Cell, CoordinatesHash> cells;
  std::unordered_map<Coordinates, Cell, CoordinatesHash> reads;  // [stage, point..., cell...]
};

struct Reference::FuncState {
  // Dimensions that every update leaves to its pure variable, in what it reads of the Func too:
  // cells apart in one of them never meet.
  std::vector<int> apart;
  // Of the others, those that some update has as a pure variable, and what it runs over.
  std::vector<int> ranged;
  std::vector<int64_t> low, high;
  bool has_universe = false;
  std::unordered_map<Coordinates, std::unique_ptr<Column>, CoordinatesHash> columns;
};

namespace {

// What pure variables run over has grown while they did.
struct Outgrown {};

// Does the definition have its Func's variable number d at its place, wherever it names the Func?
bool keeps_place(const FuncDef &f, const StageDef &def, int d) {
  auto is_own = [&](const Expr &e) {
    const VariableNode *v = as_variable(e);
    return v && v->kind == VariableKind::Pure && v->name == f.args[d];
  };
  bool keeps = is_own(def.args[d]);
  auto look = [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Func && c->name == f.name) keeps = keeps && is_own(c->args[d]);
    });
  };
  for (const Expr &e : def.args) look(e);
  for (const Expr &e : def.values) look(e);
  if (def.predicate.defined()) look(def.predicate);
  return keeps;
}

}  // namespace

// Runs the definitions of one Func over one column.
class Reference::Run : public Surroundings {
 public:
  Run(Reference &r, int func, Column &column) : r_(r), func_(func), column_(column) {}

  const Cell &cell(const Coordinates &at) {
    auto [it, is_new] = column_.cells.try_emplace(at);
    if (is_new) {
      Cell first = initial(at);
      // Running it may have moved the map's cells.
      column_.cells[at] = std::move(first);
      return column_.cells[at];
    }
    return it->second;
  }

  void update(int stage, const Coordinates &apart) {
    stage_ = stage;
    const StageProgram &p = r_.program({func_, stage});
    const FuncState &state = r_.states_[func_];
    std::vector<Extent> ranges;  // in a point's order
    for (int d : p.pure) {
      auto fixed = std::find(state.apart.begin(), state.apart.end(), d);
      if (fixed != state.apart.end()) {
        ranges.push_back({apart[fixed - state.apart.begin()], 1});
      } else {
        ranges.push_back({state.low[d], state.high[d] - state.low[d] + 1});
      }
    }
    std::vector<Value> bounds = p.bounds.run(std::vector<Value>(p.slots.size()), *this);
    for (size_t r = 0; r < p.slot_of_rvar.size(); r++) {
      ranges.push_back({bounds[2 * r].i, bounds[2 * r + 1].i});
    }
    point_.assign(ranges.size(), 0);
    // Pure variables outside; of these, and of the reduction variables, the first innermost.
    std::vector<size_t> order;
    for (size_t i = p.pure.size(); i-- > 0;) order.push_back(i);
    for (size_t i = ranges.size(); i-- > p.pure.size();) order.push_back(i);
    if (p.in_place) before_ = column_.cells;
    visit(p, ranges, order, 0);
  }

  Value access(const CallNode &call, const Coordinates &at) override {
    if (call.kind == CallKind::Image) return r_.data_.image(call, at);
    const int callee = r_.algorithm_.index_of(call.name);
    if (callee != func_) return r_.final(callee, at).values[call.value_index];
    // What is read has to be updated in its turn. Neighbours of neighbours may go on for ever.
    constexpr int64_t kMost = 64;
    const bool in_place = stage_ > 0 && r_.program({func_, stage_}).in_place;
    if (in_place && stage_ == 1) return note_read(at, old(at)).values[call.value_index];
    if (r_.include(r_.states_[func_], at, kMost)) throw Outgrown();
    return note_read(at, in_place ? old(at) : cell(at)).values[call.value_index];
  }

  static Coordinates read_key(int stage, const Coordinates &point, const Coordinates &cell) {
    Coordinates key{stage};
    key.insert(key.end(), point.begin(), point.end());
    key.insert(key.end(), cell.begin(), cell.end());
    return key;
  }

 private:
  Cell note_read(const Coordinates &at, Cell read) {
    if (!r_.program({func_, stage_}).is_reduction) {
      column_.reads[read_key(stage_, point_, at)] = read;
    }
    return read;
  }

  // What was there before the definition that runs.
  Cell old(const Coordinates &at) {
    const auto it = before_.find(at);
    return it == before_.end() ? initial(at) : it->second;
  }

  Cell initial(const Coordinates &at) {
    const StageId pure{func_, 0};
    const StageProgram &p = r_.program(pure);
    std::vector<Value> values = p.writes[0].values.run(p.slots_at(at), *this);
    const size_t count = values.size();
    return {std::vector<Content>(count, Content::written({pure, at})), std::move(values)};
  }

  void visit(const StageProgram &p, const std::vector<Extent> &ranges,
             const std::vector<size_t> &order, size_t depth) {
    if (depth == order.size()) {
      instance(p);
      return;
    }
    const Extent &r = ranges[order[depth]];
    for (int64_t i = r.min; i < r.min + r.extent; i++) {
      point_[order[depth]] = i;
      visit(p, ranges, order, depth + 1);
    }
  }

  void instance(const StageProgram &p) {
    if (--r_.instances_left_ < 0) throw TooLarge();
    const std::vector<Value> slots = p.slots_at(point_);
    if (!p.predicate.empty() && !p.predicate.run(slots, *this)[0].i) return;
    const Point point{{func_, stage_}, point_};
    struct Written {
      Coordinates at;
      std::vector<Value> values, which;
    };
    std::vector<Written> written;
    for (const StageProgram::Write &w : p.writes) {
      Coordinates at;
      for (const Value &v : w.cell.run(slots, *this)) at.push_back(v.i);
      written.push_back({at, w.values.run(slots, *this), {}});
      if (!w.written.empty()) written.back().which = w.written.run(slots, *this);
    }
    for (const Written &w : written) {
      cell(w.at);
      Cell &now = column_.cells[w.at];
      for (size_t v = 0; v < w.values.size(); v++) {
        if (!w.which.empty() && !w.which[v].i) continue;
        now.contents[v] = p.is_reduction ? now.contents[v].with(point) : p.written(point);
        now.values[v] = w.values[v];
      }
    }
  }

  Reference &r_;
  int func_;
  int stage_ = 0;
  Coordinates point_;
  Column &column_;
  std::unordered_map<Coordinates, Cell, CoordinatesHash> before_;  // of a definition in place
};

Reference::Reference(const Algorithm &algorithm, const Data &data, int64_t most_instances)
    : algorithm_(algorithm),
      data_(data),
      instances_left_(most_instances),
      states_(algorithm.funcs.size()) {
  const Constants constants = [&data](const VariableNode &v) { return data.constant(v); };
  for (size_t f = 0; f < algorithm.funcs.size(); f++) {
    const FuncDef &func = algorithm.funcs[f];
    programs_.emplace_back();
    for (size_t s = 0; s < func.stages.size(); s++) {
      programs_[f].emplace_back(func, static_cast<int>(s), constants);
    }
    take_branches(static_cast<int>(f), constants);
    for (int d = 0; d < func.dimensions(); d++) {
      size_t stages = 0;
      bool apart = true;
      const size_t definitions = func.num_definitions();
      for (size_t s = 0; s < definitions; s++) {
        const StageProgram &p = programs_[f][s];
        stages += std::count(p.pure.begin(), p.pure.end(), d);
        apart = apart && keeps_place(func, func.stages[s], d);
      }
      if (apart) {
        states_[f].apart.push_back(d);
      } else if (stages > 1) {
        states_[f].ranged.push_back(d);
      }
    }
  }
}

// Each definition runs as the branch that the parameters choose does.
void Reference::take_branches(int f, const Constants &constants) {
  const FuncDef &func = algorithm_.funcs[f];
  class Nothing : public Surroundings {
    Value access(const CallNode &, const Coordinates &) override { return {}; }
  } nothing;
  for (int s = func.num_definitions(); s < static_cast<int>(func.stages.size()); s++) {
    Slots slots;
    const Program where({runs_where(func, s)}, slots, constants);
    if (!where.run({}, nothing)[0].i) continue;
    programs_[f][func.definition_of(s)] = StageProgram(func, s, constants);
  }
}

Reference::~Reference() = default;

bool Reference::include(FuncState &state, const Coordinates &at, int64_t most) {
  bool grown = false;
  for (int d : state.ranged) {
    // A margin, so that neighbouring questions do not each begin anew.
    constexpr int64_t kMargin = 4;
    if (at[d] >= state.low[d] && at[d] <= state.high[d]) continue;
    const int64_t low = std::min(state.low[d], at[d] - kMargin);
    const int64_t high = std::max(state.high[d], at[d] + kMargin);
    if (high - low > most) continue;
    state.low[d] = low;
    state.high[d] = high;
    grown = true;
  }
  return grown;
}

Reference::Column &Reference::column(int func, const Coordinates &at) {
  FuncState &state = states_[func];
  if (!state.has_universe) {
    state.low = state.high = at;
    state.has_universe = true;
  }
  if (include(state, at, INT64_MAX)) state.columns.clear();
  Coordinates key;
  for (int d : state.apart) key.push_back(at[d]);
  while (!state.columns.count(key)) {
    auto column = std::make_unique<Column>();
    try {
      Run run(*this, func, *column);
      const int definitions = algorithm_.funcs[func].num_definitions();
      for (int s = 1; s < definitions; s++) run.update(s, key);
      state.columns[key] = std::move(column);
    } catch (const Outgrown &) {
      state.columns.clear();
    }
  }
  return *state.columns.at(key);
}

const Cell &Reference::final(int func, const Coordinates &at) {
  Column &c = column(func, at);
  return Run(*this, func, c).cell(at);
}

const Cell *Reference::read_by(const Point &p, const Coordinates &at) {
  const StageProgram &program = this->program(p.stage);
  // The point's own pure variables count too: it may read a cell elsewhere.
  Coordinates place = at;
  for (size_t i = 0; i < program.pure.size(); i++) place[program.pure[i]] = p.at[i];
  Column &c = column(p.stage.func, place);
  auto it = c.reads.find(Run::read_key(p.stage.stage, p.at, at));
  return it == c.reads.end() ? nullptr : &it->second;
}

}  // namespace polyhalite::oracle
