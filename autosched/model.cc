#include "autosched/model.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"
#include "polyhedral/interval.h"
#include "schedule/derive_algorithm.h"
#include "schedule/stage_exprs.h"

namespace polyhalite::autosched {

namespace {

// Where nothing says how large an input is: far outside of what is read.
constexpr int64_t kFar = int64_t{1} << 26;

struct Moves {
  std::vector<double> slope;
  int64_t offset = 0;
  bool affine = true;
  uint32_t found_by = 0;
};

class IndexReader {
 public:
  explicit IndexReader(const std::vector<std::string> &vars) : vars_(vars) {}

  IndexModel operator()(const Expr &e) const {
    const Moves m = read(e);
    return {m.slope, m.offset, m.affine ? 0 : structural_hash(e) | 1, m.found_by};
  }

 private:
  Moves none() const {
    Moves m;
    m.slope.assign(vars_.size(), 0.0);
    return m;
  }
  // The variables that it moves with, in whichever way.
  static uint32_t movers(const Moves &m) {
    uint32_t bits = m.found_by;
    for (size_t v = 0; v < m.slope.size(); v++) bits |= m.slope[v] != 0 ? bit_of(v) : 0;
    return bits;
  }
  static Moves sum(Moves a, const Moves &b, double sign) {
    for (size_t v = 0; v < a.slope.size(); v++) a.slope[v] += sign * b.slope[v];
    a.offset += static_cast<int64_t>(sign) * b.offset;
    a.affine = a.affine && b.affine;
    a.found_by |= b.found_by;
    return a;
  }
  static Moves scaled(Moves a, double k, bool affine) {
    for (double &s : a.slope) s *= k;
    a.offset = static_cast<int64_t>(std::floor(static_cast<double>(a.offset) * k));
    a.affine = a.affine && affine;
    return a;
  }
  // Steeper of both, for what takes the value of one of them.
  static Moves steeper(Moves a, const Moves &b) {
    for (size_t v = 0; v < a.slope.size(); v++) {
      if (std::abs(b.slope[v]) > std::abs(a.slope[v])) a.slope[v] = b.slope[v];
    }
    a.found_by |= b.found_by;
    return a;
  }

  Moves read(const Expr &e) const {
    int64_t k = 0;
    Moves m = none();
    if (is_const_int(e, &k)) {
      m.offset = k;
      return m;
    }
    if (const VariableNode *v = as_variable(e)) {
      const auto at = std::find(vars_.begin(), vars_.end(), v->name);
      if (at != vars_.end()) {
        m.slope[static_cast<size_t>(at - vars_.begin())] = 1;
      } else {
        m.affine = false;
      }
      return m;
    }
    if (const Expr inner = wrapped_value(e); inner.defined()) return read(inner);
    switch (e->op) {
      case Op::Cast:
        return read(e->args[0]);
      case Op::Add:
      case Op::Sub:
        return sum(read(e->args[0]), read(e->args[1]), e->op == Op::Add ? 1 : -1);
      case Op::Mul:
        if (is_const_int(e->args[1], &k)) {
          return scaled(read(e->args[0]), static_cast<double>(k), true);
        }
        if (is_const_int(e->args[0], &k)) {
          return scaled(read(e->args[1]), static_cast<double>(k), true);
        }
        break;
      case Op::Div:
        if (is_const_int(e->args[1], &k) && k != 0) {
          return scaled(read(e->args[0]), 1.0 / static_cast<double>(k), false);
        }
        break;
      case Op::Mod:
        m.affine = false;
        m.found_by = read(e->args[0]).found_by;
        return m;
      case Op::Min:
      case Op::Max: {
        // A clamp moves with what it clamps.
        const Moves a = read(e->args[0]), b = read(e->args[1]);
        if (!movers(b)) return a;
        if (!movers(a)) return b;
        m = steeper(a, b);
        m.affine = false;
        return m;
      }
      case Op::Select:
        m = steeper(read(e->args[1]), read(e->args[2]));
        m.affine = false;
        return m;
      default:
        break;
    }
    m.affine = false;
    for (const Expr &a : e->args) m.found_by |= movers(read(a));
    return m;
  }

  const std::vector<std::string> &vars_;
};

// Instructions that a node takes, were vectors one lane wide.
double instructions(const Expr &e) {
  const bool integer = e.type().is_int_or_uint();
  switch (e->op) {
    case Op::Add:
    case Op::Sub:
      // A product and its sum are one instruction.
      if (e.type().is_float() && (e->args[0]->op == Op::Mul || e->args[1]->op == Op::Mul)) return 0;
      return 1;
    case Op::Min:
    case Op::Max:
    case Op::Select:
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      return 1;
    case Op::Mul:
      return integer && (e.type().bits() == 64 || e.type().bits() == 8) ? 3 : 1;
    case Op::Div:
    case Op::Mod:
      if (!integer) return 5;
      return is_const(e->args[1]) ? 4 : 25;
    case Op::Cast:
      return e.type() == e->args[0].type() ? 0 : 1;
    case Op::Call: {
      const CallNode &c = *as_call(e);
      if (c.kind == CallKind::Func || c.kind == CallKind::Image) return 0;
      if (wrapped_value(e).defined()) return 0;
      if (c.kind == CallKind::Intrinsic) return 2;
      if (c.kind == CallKind::Math) return c.name.rfind("sqrt", 0) == 0 ? 6 : 20;
      return 50;
    }
    default:
      return 0;
  }
}

class StageReader {
 public:
  StageReader(const std::map<std::string, int> &callees, const Estimates &estimates)
      : callees_(callees), estimates_(estimates) {}

  StageModel operator()(const FuncDef &def, int number) {
    const StageDef &stage = def.stages[static_cast<size_t>(number)];
    StageModel s;
    s.vars = def.args;
    for (size_t d = 0; d < def.args.size(); d++) {
      const VariableNode *v = number == 0 ? nullptr : as_variable(stage.args[d]);
      s.has_loop.push_back(number == 0 || (v && v->name == def.args[d]));
      s.scatters = s.scatters || !s.has_loop.back();
    }
    for (const ReductionVariable &r : stage.rvars) {
      s.vars.push_back(r.var);
      s.has_loop.push_back(true);
      s.rvars.push_back(range_of(r));
    }
    if (number > 0) {
      s.associative = prove_associative(def, number).has_value();
      s.accumulates = !s.scatters && s.associative;
    }
    for (int v = 0; v < static_cast<int>(s.vars.size()); v++) {
      slots_[s.vars[static_cast<size_t>(v)] + ".lo"] = 2 * v;
      slots_[s.vars[static_cast<size_t>(v)] + ".hi"] = 2 * v + 1;
    }
    if (const CallNode *c = as_extern_stage(stage)) {
      read_extern(*c, &s);
    } else {
      count_operations(stage, &s);
      read_accesses(def, stage, &s);
      if (stage.predicate.defined()) s.share = passing_share(stage.predicate, s);
    }
    slots_.clear();
    return s;
  }

 private:
  NumberRange range_of(const ReductionVariable &r) {
    int64_t min = 0, extent = 1;
    is_const_int(estimates_.with_numbers(r.min), &min);
    if (!is_const_int(estimates_.with_numbers(r.extent), &extent)) extent = 64;
    return {min, min + std::max<int64_t>(extent, 1) - 1};
  }

  // By points drawn at random; 1 where arguments take part, or more than arithmetic.
  double passing_share(const Expr &predicate, const StageModel &s) const {
    std::map<std::string, int> slots;
    const size_t first = s.vars.size() - s.rvars.size();
    for (size_t r = 0; r < s.rvars.size(); r++) {
      slots[s.vars[first + r]] = static_cast<int>(r);
    }
    const std::optional<NumberProgram> passes =
        NumberProgram::compile(estimates_.with_numbers(strip_hints(predicate)), slots);
    if (!passes) return 1;
    constexpr int kDraws = 1024;
    int passed = 0;
    std::mt19937 random(1);
    std::vector<int64_t> point(s.rvars.size());
    for (int i = 0; i < kDraws; i++) {
      for (size_t r = 0; r < point.size(); r++) {
        point[r] = s.rvars[r].lo + static_cast<int64_t>(random() % s.rvars[r].extent());
      }
      passed += (*passes)(point) != 0;
    }
    return std::max(passed, 1) / static_cast<double>(kDraws);
  }

  void count_operations(const StageDef &stage, StageModel *s) {
    std::vector<Expr> computed = stage.values;
    for (size_t d = 0; d < stage.args.size(); d++) {
      if (!s->has_loop[d]) computed.push_back(stage.args[d]);
    }
    if (stage.predicate.defined()) computed.push_back(stage.predicate);
    std::set<const ExprNode *> indices;
    for (const Expr &e : computed) {
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
        for (const Expr &i : c->args) {
          for_each_node(i, [&](const Expr &x) { indices.insert(x.get()); });
        }
      });
    }
    for (const Expr &e : computed) {
      s->widest = std::max(s->widest, e.type().bytes());
      for_each_node(e, [&](const Expr &n) {
        // Indices are counted once for many elements, unless they differ from lane to lane.
        double count = instructions(n);
        const bool linear = n->op == Op::Add || n->op == Op::Sub || n->op == Op::Mul;
        if (indices.count(n.get())) count *= linear ? 0 : 0.3;
        if (count == 0) return;
        const int bytes = is_comparison(n->op) ? n->args[0].type().bytes() : n.type().bytes();
        s->operations += count;
        s->operation_bytes += count * bytes;
        if (!indices.count(n.get())) s->widest = std::max(s->widest, bytes);
      });
    }
  }

  void read_accesses(const FuncDef &def, const StageDef &stage, StageModel *s) {
    const IndexReader read_index(s->vars);
    std::set<std::pair<int, uint64_t>> seen;
    std::map<int, Footprint> joined;
    for_each_expr(stage, [&](const Expr &e) {
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
        if (c->kind == CallKind::Func && c->name == def.name) {
          s->reads_itself = true;
          return;
        }
        const int callee = callees_.at(c->image   ? c->image->name
                                       : c->param ? c->param->name
                                                  : c->name);
        uint64_t hash = 17;
        for (const Expr &i : c->args) hash = hash * 1099511628211ull + structural_hash(i);
        if (!seen.insert({callee, hash}).second) return;
        Access a;
        a.callee = callee;
        for (const Expr &i : c->args) a.index.push_back(read_index(i));
        s->accesses.push_back(std::move(a));
        join_footprint(*c, callee, &joined[callee]);
      });
    });
    for (auto &[callee, footprint] : joined) s->footprints.push_back(std::move(footprint));
  }

  void join_footprint(const CallNode &call, int callee, Footprint *f) {
    f->callee = callee;
    f->dims.resize(call.args.size());
    Bounder bound([&](const VariableNode &v) -> std::optional<Interval> {
      if (!slots_.count(v.name + ".lo")) return std::nullopt;
      return Interval{make_variable(Int(32), VariableKind::Symbol, v.name + ".lo"),
                      make_variable(Int(32), VariableKind::Symbol, v.name + ".hi")};
    });
    for (size_t d = 0; d < call.args.size(); d++) {
      Footprint::Dimension &dim = f->dims[d];
      if (dim.unbounded) continue;
      const Interval i = bound(estimates_.with_numbers(strip_hints(call.args[d])));
      add_end(i.min, &dim.lo, &dim);
      add_end(i.max, &dim.hi, &dim);
    }
  }

  void add_end(const Expr &end, std::vector<NumberProgram> *programs, Footprint::Dimension *dim) {
    if (dim->unbounded) return;
    std::optional<NumberProgram> p;
    if (end.defined()) p = NumberProgram::compile(estimates_.with_numbers(end), slots_);
    if (p) {
      programs->push_back(std::move(*p));
    } else {
      dim->unbounded = true;
    }
  }

  void read_extern(const CallNode &stage, StageModel *s) {
    for (const ExternOperand &o : extern_operands(stage)) {
      if (!o.buffer) continue;
      const CallNode &b = *o.buffer;
      Footprint f;
      f.callee = callees_.at(b.image ? b.image->name : b.param ? b.param->name : b.name);
      f.dims.resize(b.args.size());
      for (Footprint::Dimension &d : f.dims) d.unbounded = true;
      s->footprints.push_back(std::move(f));
    }
    s->operations = s->operation_bytes = 100;
  }

  const std::map<std::string, int> &callees_;
  const Estimates &estimates_;
  std::map<std::string, int> slots_;
};

std::map<std::string, int> name_callees(const Algorithm &a, PipelineModel *m) {
  std::map<std::string, int> callees;
  for (const FuncDef &f : a.funcs) {
    callees.emplace(f.name, static_cast<int>(callees.size()));
  }
  for (const FuncDef &f : a.funcs) {
    for (const StageDef &s : f.stages) {
      for_each_expr(s, [&](const Expr &e) {
        for_each_node(e, [&](const Expr &n) {
          const CallNode *c = as_call(n);
          if (!c || (!c->image && !c->param)) return;
          const std::string &name = c->image ? c->image->name : c->param->name;
          if (!callees.emplace(name, static_cast<int>(callees.size())).second) return;
          ImageModel image;
          image.name = name;
          image.bytes = c->type.bytes();
          image.whole.resize(c->args.size());
          m->images.push_back(std::move(image));
        });
      });
    }
  }
  return callees;
}

void read_user_words(const std::vector<Directive> &directives, PipelineModel *m) {
  auto find = [&](const std::string &name) -> FuncModel * {
    const int i = m->algorithm.index_of(name);
    return i < 0 ? nullptr : &m->funcs[static_cast<size_t>(i)];
  };
  for (const Directive &d : directives) {
    FuncModel *f = find(d.func);
    if (names_level(d.kind)) {
      if (FuncModel *target = find(d.target_func)) target->is_host = true;
    }
    if (!f) continue;
    switch (d.kind) {
      case DirectiveKind::ComputeRoot:
        f->fixed_place = true;
        break;
      case DirectiveKind::ComputeInline:
        f->fixed_place = f->user_inline = true;
        break;
      case DirectiveKind::Bound:
      case DirectiveKind::BoundExtent:
      case DirectiveKind::AlignBounds:
      case DirectiveKind::AlignExtent:
      case DirectiveKind::TraceLoads:
      case DirectiveKind::TraceStores:
      case DirectiveKind::TraceRealizations:
      case DirectiveKind::TracePipeline:
      case DirectiveKind::TraceTag:
        break;
      case DirectiveKind::ComputeAt:
        f->fixed_place = f->fixed_loops = true;
        break;
      default:
        f->fixed_loops = true;
    }
  }
}

// Consumers come first: all that the outputs need.
void find_wholes(const Estimates &estimates, PipelineModel *m) {
  std::vector<NumberBox> needs(m->funcs.size() + m->images.size());
  for (size_t f = 0; f < m->funcs.size(); f++) {
    m->funcs[f].whole.assign(m->algorithm.funcs[f].args.size(), {0, -1});
    if (m->funcs[f].is_output) needs[f] = estimates.outputs.at(m->funcs[f].name);
  }
  for (size_t f = m->funcs.size(); f-- > 0;) {
    FuncModel &func = m->funcs[f];
    if (needs[f].empty()) needs[f].assign(func.whole.size(), {0, 0});
    func.whole = needs[f];
    for (const StageModel &s : func.stages) add_needs(*m, s, func.whole, &needs);
  }
  for (size_t i = 0; i < m->images.size(); i++) {
    NumberBox &box = needs[m->funcs.size() + i];
    if (box.empty()) box.assign(m->images[i].whole.size(), {0, 0});
    m->images[i].whole = box;
  }
}

}  // namespace

IndexModel read_index(const Expr &index, const std::vector<std::string> &vars) {
  return IndexReader(vars)(index);
}

void add_needs(const PipelineModel &model, const StageModel &stage, const NumberBox &box,
               std::vector<NumberBox> *needs) {
  std::vector<int64_t> slots(2 * stage.vars.size(), 0);
  for (size_t v = 0; v < stage.vars.size(); v++) {
    const NumberRange r = v < box.size() ? box[v] : stage.rvars[v - box.size()];
    slots[2 * v] = r.lo;
    slots[2 * v + 1] = r.hi;
  }
  for (const Footprint &f : stage.footprints) {
    NumberBox &need = (*needs)[static_cast<size_t>(f.callee)];
    const NumberBox &whole = model.whole(f.callee);
    const bool first = need.empty();
    need.resize(f.dims.size());
    for (size_t d = 0; d < f.dims.size(); d++) {
      const Footprint::Dimension &dim = f.dims[d];
      NumberRange r;
      if (dim.unbounded) {
        // While wholes are being found there is none; then as much as the consumer.
        r = d < whole.size() && whole[d].extent() > 1 ? whole[d]
            : d < box.size()                          ? box[d]
                                                      : NumberRange{0, 255};
      } else {
        r = {INT64_MAX, INT64_MIN};
        for (const NumberProgram &p : dim.lo) r.lo = std::min(r.lo, p(slots));
        for (const NumberProgram &p : dim.hi) r.hi = std::max(r.hi, p(slots));
        r.hi = std::max(r.hi, r.lo);
      }
      need[d] = first ? r : NumberRange{std::min(need[d].lo, r.lo), std::max(need[d].hi, r.hi)};
    }
  }
}

PipelineModel build_model(const FrozenPipeline &pipeline, const std::vector<Directive> &deriving,
                          Estimates *estimates) {
  PipelineModel m;
  const DerivedAlgorithm users = derive_algorithm(pipeline.algorithm, pipeline.directives);
  const DerivedAlgorithm derived = derive_algorithm(users.algorithm, deriving);
  m.algorithm = derived.algorithm;
  const std::map<std::string, int> callees = name_callees(m.algorithm, &m);
  m.funcs.resize(m.algorithm.funcs.size());

  // Unknown fields of inputs are taken as boundless first, and then as what is read.
  std::vector<std::string> unknown;
  Estimates first = *estimates;
  for (const AlgorithmInput &i : m.algorithm.inputs) {
    for (size_t d = 0; d < i.param->dims.size(); d++) {
      const std::string min = i.param->name + ".min." + std::to_string(d);
      const std::string extent = i.param->name + ".extent." + std::to_string(d);
      if (!estimates->numbers.count(min)) first.numbers[min] = -kFar;
      if (!estimates->numbers.count(extent)) {
        first.numbers[extent] = 2 * kFar;
        unknown.push_back(i.param->name);
      }
    }
  }
  for (const bool final : {false, true}) {
    const Estimates &known = final ? *estimates : first;
    for (size_t f = 0; f < m.funcs.size(); f++) {
      const FuncDef &def = m.algorithm.funcs[f];
      FuncModel &func = m.funcs[f];
      func.name = def.name;
      func.bytes = 0;
      for (const Type &t : def.types) func.bytes += t.bytes();
      func.is_output = m.algorithm.is_output(def.name);
      func.is_extern = is_extern_stage(def.stages[0]);
      func.stages.clear();
      StageReader read(callees, known);
      for (int s = 0; s < static_cast<int>(def.stages.size()); s++) {
        func.stages.push_back(read(def, s));
      }
    }
    find_wholes(known, &m);
    if (final) break;
    for (const AlgorithmInput &i : m.algorithm.inputs) {
      const auto image = callees.find(i.param->name);
      for (size_t d = 0; d < i.param->dims.size(); d++) {
        const std::string dim = "." + std::to_string(d);
        const NumberRange read =
            image == callees.end() ? NumberRange{0, 0} : m.whole(image->second)[d];
        estimates->numbers.emplace(i.param->name + ".min" + dim, read.lo);
        estimates->numbers.emplace(i.param->name + ".extent" + dim,
                                   std::max<int64_t>(read.extent(), 1));
      }
    }
  }
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  for (const std::string &name : unknown) {
    estimates->assumed.push_back("input " + name + " is as large as what is read of it");
  }

  for (size_t f = 0; f < m.funcs.size(); f++) {
    for (const StageModel &s : m.funcs[f].stages) {
      for (const Footprint &p : s.footprints) {
        if (!m.is_func(p.callee)) continue;
        FuncModel &callee = m.funcs[static_cast<size_t>(p.callee)];
        callee.consumers.push_back(static_cast<int>(f));
        callee.feeds_extern = callee.feeds_extern || m.funcs[f].is_extern;
      }
    }
    if (m.funcs[f].is_output) m.outputs.push_back(static_cast<int>(f));
  }
  for (size_t f = 0; f < m.funcs.size(); f++) {
    FuncModel &func = m.funcs[f];
    std::sort(func.consumers.begin(), func.consumers.end());
    func.consumers.erase(std::unique(func.consumers.begin(), func.consumers.end()),
                         func.consumers.end());
    func.can_inline =
        func.stages.size() == 1 && !func.is_output && !func.is_extern && !func.feeds_extern;
    // Funcs that the user's directives make are as the user wants them.
    if (pipeline.algorithm.index_of(func.name) < 0 && users.algorithm.index_of(func.name) >= 0) {
      func.fixed_place = func.fixed_loops = true;
    }
  }
  for (const Directive &d : derived.directives) {
    if (d.kind != DirectiveKind::Reorder) continue;
    FuncModel &f = m.funcs[static_cast<size_t>(m.algorithm.index_of(d.func))];
    f.stages[static_cast<size_t>(d.stage)].reordered = true;
  }
  read_user_words(pipeline.directives, &m);
  read_user_words(users.directives, &m);
  for (size_t f = 0; f < m.funcs.size(); f++) {
    FuncModel &func = m.funcs[f];
    if (func.fixed_place && func.fixed_loops) {
      bool placed = false;
      for (const Directive &d : users.directives) {
        placed = placed || (d.func == func.name && (d.kind == DirectiveKind::ComputeRoot ||
                                                    d.kind == DirectiveKind::ComputeAt));
      }
      if (!placed && func.can_inline) func.user_inline = true;
    }
  }
  return m;
}

}  // namespace polyhalite::autosched
