#include "polyhedral/oracle/reference.h"

#include <algorithm>

#include "polyhalite/error.h"

namespace polyhalite::oracle {

namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdull;
  h ^= h >> 29;
  return h * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
}

}  // namespace

uint64_t Point::hash() const {
  uint64_t h = mix(static_cast<uint64_t>(stage.func) + 1, static_cast<uint64_t>(stage.stage));
  for (int64_t c : at) h = mix(h, static_cast<uint64_t>(c));
  return h;
}

size_t CoordinatesHash::operator()(const Coordinates &c) const { return Point{{}, c}.hash(); }

Content Content::written(const Point &p) {
  const uint64_t h = p.hash();
  return {0, p.stage, h, mix(h, 7), false, p};
}

Content Content::with(const Point &p) const {
  Content c = *this;
  if (!is_set || stage != p.stage) c = {hash(), p.stage, 0, 0, true, p};
  const uint64_t h = p.hash();
  c.sum += h;
  c.mixed += mix(h, 7);
  c.last = p;
  return c;
}

uint64_t Content::hash() const { return mix(mix(mix(below + is_set, sum), mixed), stage.stage); }

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
    writes.push_back({Program(w.cell, slots, constants), Program(w.values, slots, constants)});
  }
  if (def.predicate.defined()) predicate = Program({def.predicate}, slots, constants);
  bounds = Program(limits, slots, constants);
  is_reduction = is_reduction_update(f, stage);
}

std::vector<Value> StageProgram::slots_at(const Coordinates &point) const {
  std::vector<Value> v(slots.size());
  for (size_t i = 0; i < slot_of_pure.size(); i++) v[slot_of_pure[i]].i = point[i];
  for (size_t i = 0; i < slot_of_rvar.size(); i++) {
    v[slot_of_rvar[i]].i = point[slot_of_pure.size() + i];
  }
  return v;
}

struct Reference::Column {
  std::unordered_map<Coordinates, Cell, CoordinatesHash> cells;
  std::unordered_map<Coordinates, Cell, CoordinatesHash> reads;  // [stage, point..., cell...]
};

struct Reference::FuncState {
  // Dimensions that every update leaves to its pure variable: cells apart in one of them never
  // meet.
  std::vector<int> apart;
  // Of the others, those that some update has as a pure variable, and what it runs over.
  std::vector<int> ranged;
  std::vector<int64_t> low, high;
  bool has_universe = false;
  std::unordered_map<Coordinates, std::unique_ptr<Column>, CoordinatesHash> columns;
};

// Runs the definitions of one Func over one column.
class Reference::Run : public Surroundings {
 public:
  Run(Reference &r, int func, Column &column) : r_(r), func_(func), column_(column) {}

  const Cell &cell(const Coordinates &at) {
    auto [it, is_new] = column_.cells.try_emplace(at);
    if (is_new) {
      StageId pure{func_, 0};
      const StageProgram &p = r_.program(pure);
      std::vector<Value> values = p.writes[0].values.run(p.slots_at(at), *this);
      // Running it may have moved the map's cells.
      column_.cells[at] = {Content::written({pure, at}), std::move(values)};
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
    // Pure variables outside; of the reduction variables the first innermost.
    std::vector<size_t> order;
    for (size_t i = 0; i < p.pure.size(); i++) order.push_back(i);
    for (size_t i = ranges.size(); i-- > p.pure.size();) order.push_back(i);
    visit(p, ranges, order, 0);
  }

  Value access(const CallNode &call, const Coordinates &at) override {
    if (call.kind == CallKind::Image) return r_.data_.image(call, at);
    const int callee = r_.algorithm_.index_of(call.name);
    if (callee != func_) return r_.final(callee, at).values[call.value_index];
    const Cell read = cell(at);
    if (!r_.program({func_, stage_}).is_reduction)
      column_.reads[read_key(stage_, point_, at)] = read;
    return read.values[call.value_index];
  }

  static Coordinates read_key(int stage, const Coordinates &point, const Coordinates &cell) {
    Coordinates key{stage};
    key.insert(key.end(), point.begin(), point.end());
    key.insert(key.end(), cell.begin(), cell.end());
    return key;
  }

 private:
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
    const std::vector<Value> slots = p.slots_at(point_);
    if (!p.predicate.empty() && !p.predicate.run(slots, *this)[0].i) return;
    const Point point{{func_, stage_}, point_};
    std::vector<std::pair<Coordinates, std::vector<Value>>> written;
    for (const StageProgram::Write &w : p.writes) {
      Coordinates at;
      for (const Value &v : w.cell.run(slots, *this)) at.push_back(v.i);
      written.emplace_back(at, w.values.run(slots, *this));
    }
    for (auto &[at, values] : written) {
      const Cell old = cell(at);
      column_.cells[at] = {p.is_reduction ? old.content.with(point) : Content::written(point),
                           std::move(values)};
    }
  }

  Reference &r_;
  int func_;
  int stage_ = 0;
  Coordinates point_;
  Column &column_;
};

Reference::Reference(const Algorithm &algorithm, const Data &data)
    : algorithm_(algorithm), data_(data), states_(algorithm.funcs.size()) {
  const Constants constants = [&data](const VariableNode &v) { return data.constant(v); };
  for (size_t f = 0; f < algorithm.funcs.size(); f++) {
    const FuncDef &func = algorithm.funcs[f];
    programs_.emplace_back();
    for (size_t s = 0; s < func.stages.size(); s++) {
      programs_[f].emplace_back(func, static_cast<int>(s), constants);
    }
    for (int d = 0; d < func.dimensions(); d++) {
      size_t stages = 0;
      for (const StageProgram &p : programs_[f])
        stages += std::count(p.pure.begin(), p.pure.end(), d);
      if (stages == programs_[f].size()) {
        states_[f].apart.push_back(d);
      } else if (stages > 1) {
        states_[f].ranged.push_back(d);
      }
    }
  }
}

Reference::~Reference() = default;

Reference::Column &Reference::column(int func, const Coordinates &at) {
  FuncState &state = states_[func];
  if (!state.has_universe) {
    state.low = state.high = at;
    state.has_universe = true;
  }
  for (int d : state.ranged) {
    // A margin, so that neighbouring questions do not each begin anew.
    constexpr int64_t kMargin = 4;
    if (at[d] >= state.low[d] && at[d] <= state.high[d]) continue;
    state.low[d] = std::min(state.low[d], at[d] - kMargin);
    state.high[d] = std::max(state.high[d], at[d] + kMargin);
    state.columns.clear();
  }
  Coordinates key;
  for (int d : state.apart) key.push_back(at[d]);
  std::unique_ptr<Column> &column = state.columns[key];
  if (!column) {
    column = std::make_unique<Column>();
    Run run(*this, func, *column);
    for (size_t s = 1; s < programs_[func].size(); s++) run.update(static_cast<int>(s), key);
  }
  return *column;
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
