#include "polyhedral/dataflow/relations.h"

#include <algorithm>
#include <set>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

std::string memory_tuple(int memory) { return "A" + std::to_string(memory); }

// The variables that a statement, or the size of a memory, depends on.
std::set<std::string> variables_of(const Program &program) {
  std::set<std::string> used;
  auto use = [&](const Expr &e) {
    if (!e.defined()) return;
    for_each_node(e, [&](const Expr &n) {
      if (const VariableNode *v = as_variable(n)) used.insert(v->name);
    });
  };
  for (const Statement &s : program.statements) {
    for (const Around &a : s.around) {
      for (const Expr &e : {a.min, a.end, a.condition}) use(e);
    }
    for (const Expr &e : s.cell) use(e);
  }
  for (const Memory &m : program.memories) {
    for (const Expr &e : m.min) use(e);
    for (const Expr &e : m.end) use(e);
  }
  return used;
}

}  // namespace

std::string statement_tuple(int statement) { return "S" + std::to_string(statement); }
std::string point_tuple(int definition) { return "P" + std::to_string(definition); }

Expr counter_variable(const std::string &name) {
  return make_variable(Int(32), VariableKind::Loop, name);
}

void add_range(std::vector<Expr> &conditions, const Expr &v, const Expr &min, const Expr &end) {
  conditions.push_back(make_binary(Op::Ge, v, min));
  conditions.push_back(make_binary(Op::Lt, v, end));
}

std::vector<const Around *> loops_of(const Statement &s) {
  std::vector<const Around *> loops;
  for (const Around &a : s.around) {
    if (a.kind == Around::Loop) loops.push_back(&a);
  }
  return loops;
}

Relations::Relations(isl_ctx *ctx, const Algorithm &algorithm, const Program &program)
    : ctx_(ctx), algorithm_(algorithm), program_(program) {
  for (const Statement &s : program.statements) {
    deepest_ = std::max(deepest_, loops_of(s).size());
  }
}

const Read *Relations::read_of(const Sink &sink) const {
  return sink.statement < 0 ? nullptr : &statement(sink.statement).reads[sink.read];
}

std::vector<int> Relations::writers_of(int func) const {
  std::vector<int> writers;
  for (int j = 0; j < count(); j++) {
    if (statement(j).stage.func == func) writers.push_back(j);
  }
  return writers;
}

std::vector<Sink> Relations::sinks_of(int func) {
  const std::string &name = algorithm_.funcs[func].name;
  std::vector<Sink> sinks;
  for (int j = 0; j < count(); j++) {
    const std::vector<Read> &reads = statement(j).reads;
    for (size_t k = 0; k < reads.size(); k++) {
      if (reads[k].callee != name || reads[k].memory < 0) continue;
      sinks.push_back(statement_sink(j, static_cast<int>(k)));
    }
  }
  for (int memory : program_.outputs) {
    if (program_.memories[memory].func == name) sinks.push_back(output_sink(memory));
  }
  return sinks;
}

Sink Relations::statement_sink(int statement, int read) {
  const Read &r = this->statement(statement).reads[read];
  Sink sink;
  sink.statement = statement;
  sink.read = read;
  sink.memory = r.memory;
  sink.is_own = r.is_own;
  sink.tuple = "R" + std::to_string(statement) + "_" + std::to_string(read);
  const Set domain = using_read(statement, r, sink.is_exact);
  const Map cell = cell_read(statement, r);
  const Map wanted = affine_or_stop(statement, r.wanted, "V", "an index with which it is read");
  sink.cell = renamed(within(cell, domain), sink.tuple);
  sink.wanted = renamed(within(wanted, domain), sink.tuple);
  sink.time = renamed(time_of(statement, false), sink.tuple);
  return sink;
}

Sink Relations::output_sink(int memory) {
  const Memory &m = program_.memories[memory];
  std::vector<std::string> names;
  std::vector<Expr> cell, inside;
  for (size_t d = 0; d < m.min.size(); d++) {
    names.push_back("c" + std::to_string(d));
    cell.push_back(counter_variable(names.back()));
    add_range(inside, cell[d], m.min[d], m.end[d]);
  }
  Sink sink;
  sink.memory = memory;
  sink.tuple = kCaller;
  Affine frame = this->frame(sink.tuple, names);
  const Set domain = under_facts(frame.all_hold(inside, sink.is_exact));
  sink.cell = within(frame.values(cell, memory_tuple(memory)), domain);
  sink.wanted = within(frame.values(cell, "V"), domain);
  std::vector<Expr> end(2 * deepest_ + 2, Expr(0));
  end[0] = Expr(kEnd);
  sink.time = frame.values(end, "T");
  return sink;
}

Affine Relations::frame(const std::string &tuple, const std::vector<std::string> &dims) {
  return Affine(ctx_, shared_, tuple, dims);
}

const Set &Relations::facts() {
  if (facts_.defined()) return facts_;
  // Those of numbers that no statement depends on do not matter.
  const std::set<std::string> used = variables_of(program_);
  std::vector<Expr> facts;
  for (const Expr &fact : program_.facts) {
    const auto names = free_variables(fact);
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string &name) { return used.count(name) > 0; })) {
      facts.push_back(fact);
    }
  }
  bool exact = true;
  Affine frame(ctx_, shared_, "", {}, /*all_numbers=*/false);
  facts_ = Set(isl_set_params(frame.all_hold(facts, exact).release()));
  return facts_;
}

Set Relations::under_facts(Set s) {
  return Set(isl_set_intersect_params(s.release(), facts().copy()));
}

void Relations::refuse(const std::string &what, const UnionMap &where, bool is_exact) const {
  const Sample sample = sample_of(where);
  const std::string why = what + sample.text;
  if (!is_exact || !can_be(sample)) undecided("perhaps " + why);
  throw Stop{Finding::Refused, why};
}

// Do the facts hold for the sample, also those that isl does not know?
bool Relations::can_be(const Sample &sample) const {
  if (shared_.has_unknown()) return false;
  for (const Expr &fact : program_.facts) {
    std::map<std::string, Expr> values;
    for_each_node(fact, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      const auto at =
          v ? sample.parameters.find(SharedNumbers::name_of(*v)) : sample.parameters.end();
      if (at != sample.parameters.end()) values[v->name] = make_int(n.type(), at->second);
    });
    if (is_false(simplify(substitute(values, fact)))) return false;
  }
  return true;
}

Instances &Relations::instances_of(int statement) {
  Instances &found = instances_[statement];
  if (found.frame) return found;
  std::vector<std::string> counters;
  std::vector<Expr> conditions;
  for (const Around &a : this->statement(statement).around) {
    if (a.kind == Around::Condition) {
      conditions.push_back(a.condition);
      continue;
    }
    counters.push_back(a.counter);
    add_range(conditions, counter_variable(a.counter), a.min, a.end);
  }
  found.frame = std::make_unique<Affine>(ctx_, shared_, statement_tuple(statement), counters);
  const Set domain = under_facts(found.frame->all_hold(conditions, found.is_exact));
  found.domain = Set(isl_set_coalesce(domain.copy()));
  return found;
}

Set Relations::holding(int statement, const std::vector<Expr> &conditions, bool &exact) {
  Instances &i = instances_of(statement);
  exact = exact && i.is_exact;
  return meet(i.frame->all_hold(conditions, exact), i.domain);
}

Set Relations::running(int statement, bool &exact) {
  return holding(statement, this->statement(statement).where, exact);
}

Set Relations::using_read(int statement, const Read &r, bool &exact) {
  const Set runs = running(statement, exact);
  return meet(runs, instances_of(statement).frame->all_hold(r.where, exact));
}

Map Relations::time_of(int statement, bool writes) {
  const Statement &s = this->statement(statement);
  std::vector<Expr> time;
  for (const Around *loop : loops_of(s)) {
    time.push_back(Expr(loop->position));
    time.push_back(counter_variable(loop->counter));
  }
  time.push_back(Expr(s.position));
  time.resize(2 * deepest_ + 1, Expr(0));
  time.push_back(Expr(writes ? 1 : 0));
  return instances_of(statement).frame->values(time, "T");
}

std::vector<Expr> Relations::cell_in(int memory, const std::vector<Expr> &cell) const {
  std::vector<Expr> all;
  for (const std::string &l : program_.memories[memory].loops) {
    all.push_back(counter_variable(l));
  }
  all.insert(all.end(), cell.begin(), cell.end());
  return all;
}

Map Relations::affine_or_stop(int statement, const std::vector<Expr> &values,
                              const std::string &tuple, const char *what) {
  Map m = instances_of(statement).frame->values(values, tuple);
  if (!m.defined()) undecided(std::string(what) + " is not affine");
  return m;
}

Map Relations::cell_written(int statement) {
  const Statement &s = this->statement(statement);
  return affine_or_stop(statement, cell_in(s.memory, s.cell), memory_tuple(s.memory),
                        "an index of it");
}

Map Relations::written(int statement) {
  const Map cell = cell_written(statement);
  bool exact = true;
  return within(cell, running(statement, exact));
}

Map Relations::cell_read(int statement, const Read &r) {
  return affine_or_stop(statement, cell_in(r.memory, r.cell), memory_tuple(r.memory),
                        "an index with which it is read");
}

Map Relations::point(int statement) {
  const Statement &s = this->statement(statement);
  return affine_or_stop(statement, s.point, point_tuple(s.stage.stage), "an index of it");
}

}  // namespace polyhalite::dataflow
