#include "polyhedral/dataflow/prove.h"

#include <isl/ctx.h>
#include <isl/options.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/dataflow/affine.h"
#include "polyhedral/dataflow/sample.h"

namespace polyhalite::dataflow {

namespace {

// What ends the work on one Func.
struct Stop {
  Finding::Verdict verdict;
  std::string why;
};
[[noreturn]] void undecided(const std::string &why) { throw Stop{Finding::Undecided, why}; }

Expr counter_variable(const std::string &name) {
  return make_variable(Int(32), VariableKind::Loop, name);
}

Map renamed(Map m, const std::string &tuple) {
  return Map(isl_map_set_tuple_name(m.release(), isl_dim_in, tuple.c_str()));
}
Map within(Map m, const Set &domain) {
  return Map(isl_map_intersect_domain(m.release(), domain.copy()));
}
UnionMap none(isl_ctx *ctx) { return UnionMap(isl_union_map_empty_ctx(ctx)); }
void add(UnionMap &all, Map m) {
  all = UnionMap(isl_union_map_union(all.release(), isl_union_map_from_map(m.release())));
}
UnionMap then(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_apply_range(a.copy(), b.copy()));
}
UnionMap reversed(const UnionMap &a) { return UnionMap(isl_union_map_reverse(a.copy())); }
UnionMap without(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_subtract(a.copy(), b.copy()));
}
UnionMap both(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_union(a.copy(), b.copy()));
}

// A statement's instances.
struct Instances {
  std::unique_ptr<Affine> frame;  // over the counters around it
  Set domain;                     // where it runs
  bool is_exact = true;           // else it runs in a part of the domain
};

// A read of a Func, by a statement or, at the end, by the caller.
struct Sink {
  int statement = -1, read = -1;  // -1: the caller
  std::string tuple;
  Map cell, wanted, time;
  bool is_exact = true;
};

class Prover {
 public:
  Prover(const Algorithm &algorithm, const Program &program, const ProveOptions &options)
      : algorithm_(algorithm), program_(program), options_(options), ctx_(isl_ctx_alloc()) {
    isl_options_set_on_error(ctx_, ISL_ON_ERROR_CONTINUE);
    for (const Statement &s : program.statements) {
      size_t loops = 0;
      for (const Around &a : s.around) loops += a.kind == Around::Loop;
      deepest_ = std::max(deepest_, loops);
    }
  }
  ~Prover() {
    instances_.clear();
    definitions_.clear();
    facts_ = Set();
    isl_ctx_free(ctx_);
  }

  Finding about(int func) {
    Finding f;
    f.func = algorithm_.funcs[func].name;
    isl_ctx_reset_error(ctx_);
    isl_ctx_reset_operations(ctx_);
    isl_ctx_set_max_operations(ctx_, options_.operations);
    try {
      prove_func(func);
    } catch (const Stop &s) {
      f.verdict = s.verdict;
      f.why = s.why;
    }
    if (isl_ctx_last_error(ctx_) != isl_error_none) {
      f.verdict = Finding::Undecided;
      f.why = isl_ctx_last_error(ctx_) == isl_error_quota
                  ? "isl's quota of " + std::to_string(options_.operations) + " operations ran out"
                  : std::string("isl failed: ") + isl_ctx_last_error_msg(ctx_);
    }
    isl_ctx_set_max_operations(ctx_, 0);
    return f;
  }

 private:
  // Do the facts hold for the sample, also those that isl does not know?
  bool can_be(const Sample &sample) const {
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

  [[noreturn]] void refused(const std::string &what, const UnionMap &where,
                            bool is_exact = true) const {
    const Sample sample = sample_of(where);
    const std::string why = what + sample.text;
    if (!is_exact || !can_be(sample)) undecided("perhaps " + why);
    throw Stop{Finding::Refused, why};
  }
  static UnionMap alone(const Map &m) { return UnionMap(isl_union_map_from_map(m.copy())); }

  bool is_empty(const UnionMap &m) const {
    const isl_bool empty = isl_union_map_is_empty(m.get());
    if (empty == isl_bool_error) undecided("isl gave up");
    return empty == isl_bool_true;
  }

  const Set &facts() {
    if (facts_.defined()) return facts_;
    // Those of numbers that no statement depends on do not matter.
    std::set<std::string> used;
    auto use = [&](const Expr &e) {
      for_each_node(e, [&](const Expr &n) {
        if (const VariableNode *v = as_variable(n)) used.insert(v->name);
      });
    };
    for (const Statement &s : program_.statements) {
      for (const Around &a : s.around) {
        for (const Expr &e : {a.min, a.end, a.condition}) {
          if (e.defined()) use(e);
        }
      }
      for (const Expr &e : s.cell) use(e);
    }
    for (const Memory &m : program_.memories) {
      for (const Expr &e : m.min) use(e);
      for (const Expr &e : m.end) use(e);
    }
    std::vector<Expr> facts;
    for (const Expr &fact : program_.facts) {
      bool matters = true;
      for (const std::string &name : free_variables(fact)) matters = matters && used.count(name);
      if (matters) facts.push_back(fact);
    }
    bool exact = true;
    Affine frame(ctx_, shared_, "", {}, /*all_numbers=*/false);
    facts_ = Set(isl_set_params(frame.all_hold(facts, exact).release()));
    return facts_;
  }

  Instances &instances_of(int statement) {
    auto &found = instances_[statement];
    if (found.frame) return found;
    const Statement &s = program_.statements[statement];
    std::vector<std::string> counters;
    std::vector<Expr> conditions;
    for (const Around &a : s.around) {
      if (a.kind == Around::Condition) {
        conditions.push_back(a.condition);
        continue;
      }
      counters.push_back(a.counter);
      const Expr i = counter_variable(a.counter);
      conditions.push_back(make_binary(Op::Ge, i, a.min));
      conditions.push_back(make_binary(Op::Lt, i, a.end));
    }
    found.frame =
        std::make_unique<Affine>(ctx_, shared_, "S" + std::to_string(statement), counters);
    Set domain = found.frame->all_hold(conditions, found.is_exact);
    found.domain =
        Set(isl_set_coalesce(isl_set_intersect_params(domain.release(), Set(facts()).release())));
    return found;
  }

  // The order in which statements run; reads come before the write of their statement.
  Map time_of(int statement, bool writes) {
    const Statement &s = program_.statements[statement];
    std::vector<Expr> time;
    for (const Around &a : s.around) {
      if (a.kind != Around::Loop) continue;
      time.push_back(Expr(a.position));
      time.push_back(counter_variable(a.counter));
    }
    time.push_back(Expr(s.position));
    time.resize(2 * deepest_ + 1, Expr(0));
    time.push_back(Expr(writes ? 1 : 0));
    return instances_of(statement).frame->values(time, "T");
  }

  std::vector<Expr> cell_in(int memory, const std::vector<Expr> &cell) const {
    std::vector<Expr> all;
    for (const std::string &l : program_.memories[memory].loops) {
      all.push_back(counter_variable(l));
    }
    all.insert(all.end(), cell.begin(), cell.end());
    return all;
  }
  static std::string memory_tuple(int memory) { return "A" + std::to_string(memory); }
  static std::string point_tuple(int stage) { return "P" + std::to_string(stage); }

  // Where the statement runs its instance.
  Set running(int statement, bool &exact) {
    Instances &i = instances_of(statement);
    const Statement &s = program_.statements[statement];
    exact = exact && i.is_exact;
    Set where = i.frame->all_hold(s.where, exact);
    return Set(isl_set_intersect(where.release(), i.domain.copy()));
  }

  Map affine_or_stop(int statement, const std::vector<Expr> &values, const std::string &tuple,
                     const char *what) {
    Map m = instances_of(statement).frame->values(values, tuple);
    if (!m.defined()) undecided(std::string(what) + " is not affine");
    return m;
  }

  // -- The algorithm's side.

  struct Definition {
    std::unique_ptr<Affine> frame;
    Set domain;
    Map cell;      // to V
    Map time;      // to T
    Map identity;  // to what tells apart instances that write other values
    bool is_reduction = false, reads_own = false;
    std::vector<Expr> variables;
  };

  std::vector<Expr> definition_time(int stage, const std::vector<Expr> &variables, int pure,
                                    bool writes) const {
    // Pure variables outside, the last outermost; of reduction variables, too.
    std::vector<Expr> time = {Expr(stage)};
    for (int i = pure; i-- > 0;) time.push_back(variables[i]);
    for (int i = static_cast<int>(variables.size()); i-- > pure;) time.push_back(variables[i]);
    time.resize(1 + longest_, Expr(0));
    time.push_back(Expr(writes ? 1 : 0));
    return time;
  }

  static int pure_variables(const FuncDef &f, const StageDef &def, std::vector<Expr> *out) {
    int n = 0;
    for (int d = 0; d < f.dimensions(); d++) {
      const VariableNode *v = as_variable(def.args[d]);
      if (!v || v->kind != VariableKind::Pure || v->name != f.args[d]) continue;
      out->push_back(def.args[d]);
      n++;
    }
    return n;
  }

  void make_definitions(int func) {
    const FuncDef &f = algorithm_.funcs[func];
    definitions_.clear();
    longest_ = 0;
    for (int s = 0; s < f.num_definitions(); s++) {
      const size_t n = f.stages[s].rvars.size() + static_cast<size_t>(f.dimensions());
      longest_ = std::max(longest_, n);
    }
    for (int s = 0; s < f.num_definitions(); s++) {
      const StageDef &def = f.stages[s];
      Definition d;
      const int pure = pure_variables(f, def, &d.variables);
      std::vector<std::string> names;
      std::vector<Expr> conditions;
      for (const Expr &v : d.variables) names.push_back(as_variable(v)->name);
      for (const ReductionVariable &r : def.rvars) {
        const Expr v = make_variable(Int(32), VariableKind::Reduction, r.var);
        d.variables.push_back(v);
        names.push_back(r.var);
        conditions.push_back(make_binary(Op::Ge, v, r.min));
        conditions.push_back(make_binary(Op::Lt, v, make_binary(Op::Add, r.min, r.extent)));
      }
      if (def.predicate.defined()) conditions.push_back(def.predicate);
      d.frame = std::make_unique<Affine>(ctx_, shared_, point_tuple(s), names);
      bool exact = true;
      Set domain = d.frame->all_hold(conditions, exact);
      if (!exact) undecided("the domain of its definition " + std::to_string(s) + " is not affine");
      d.domain = Set(isl_set_intersect_params(domain.release(), Set(facts()).release()));
      Map cell = d.frame->values(def.args, "V");
      if (!cell.defined()) {
        undecided("definition " + std::to_string(s) + " writes where data say");
      }
      d.cell = within(cell, d.domain);
      d.time = d.frame->values(definition_time(s, d.variables, pure, true), "T");
      for (const Expr &v : def.values) d.reads_own = d.reads_own || calls_func(v, f.name);
      const auto update = s > 0 ? prove_associative(f, s) : std::nullopt;
      d.is_reduction = update && update->commutative;
      std::vector<Expr> telling = d.variables;
      if (d.is_reduction) {
        telling = def.args;
      } else if (!d.reads_own) {
        telling.erase(std::remove_if(telling.begin(), telling.end(),
                                     [&](const Expr &v) {
                                       const std::string &name = as_variable(v)->name;
                                       return std::none_of(
                                           def.values.begin(), def.values.end(),
                                           [&](const Expr &e) { return uses_variable(e, name); });
                                     }),
                      telling.end());
      }
      d.identity = d.frame->values(telling, "Q" + std::to_string(s));
      definitions_.push_back(std::move(d));
    }
  }

  // -- The program's side.

  std::vector<Sink> sinks_of(int func) {
    const std::string &name = algorithm_.funcs[func].name;
    std::vector<Sink> sinks;
    for (size_t j = 0; j < program_.statements.size(); j++) {
      const Statement &s = program_.statements[j];
      for (size_t k = 0; k < s.reads.size(); k++) {
        const Read &r = s.reads[k];
        if (r.callee != name || r.memory < 0) continue;
        const int statement = static_cast<int>(j);
        Sink sink;
        sink.statement = statement;
        sink.read = static_cast<int>(k);
        sink.tuple = "R" + std::to_string(j) + "_" + std::to_string(k);
        Set domain = running(statement, sink.is_exact);
        Set where = instances_of(statement).frame->all_hold(r.where, sink.is_exact);
        domain = Set(isl_set_intersect(domain.release(), where.release()));
        Map cell = affine_or_stop(statement, cell_in(r.memory, r.cell), memory_tuple(r.memory),
                                  "an index with which it is read");
        Map wanted = affine_or_stop(statement, r.wanted, "V", "an index with which it is read");
        sink.cell = renamed(within(cell, domain), sink.tuple);
        sink.wanted = renamed(within(wanted, domain), sink.tuple);
        sink.time = renamed(time_of(statement, false), sink.tuple);
        sinks.push_back(std::move(sink));
      }
    }
    for (int memory : program_.outputs) {
      if (program_.memories[memory].func == name) sinks.push_back(output_sink(memory));
    }
    return sinks;
  }

  Sink output_sink(int memory) {
    const Memory &m = program_.memories[memory];
    std::vector<std::string> names;
    std::vector<Expr> cell, inside;
    for (size_t d = 0; d < m.min.size(); d++) {
      names.push_back("c" + std::to_string(d));
      cell.push_back(counter_variable(names.back()));
      inside.push_back(make_binary(Op::Ge, cell[d], m.min[d]));
      inside.push_back(make_binary(Op::Lt, cell[d], m.end[d]));
    }
    Sink sink;
    sink.tuple = "R_output";
    Affine frame(ctx_, shared_, sink.tuple, names);
    Set domain = frame.all_hold(inside, sink.is_exact);
    domain = Set(isl_set_intersect_params(domain.release(), Set(facts()).release()));
    sink.cell = within(frame.values(cell, memory_tuple(memory)), domain);
    sink.wanted = within(frame.values(cell, "V"), domain);
    std::vector<Expr> end(2 * deepest_ + 2, Expr(0));
    end[0] = Expr(kEnd);
    sink.time = frame.values(end, "T");
    return sink;
  }

  struct Flow {
    UnionMap source;   // sink -> source
    UnionMap missing;  // sink -> cell that nobody wrote
  };
  static Flow flow(const UnionMap &sinks, const UnionMap &sources, const UnionMap &times) {
    isl_union_access_info *info = isl_union_access_info_from_sink(sinks.copy());
    info = isl_union_access_info_set_must_source(info, sources.copy());
    info = isl_union_access_info_set_schedule_map(info, times.copy());
    isl_union_flow *f = isl_union_access_info_compute_flow(info);
    Flow result{UnionMap(isl_union_map_reverse(isl_union_flow_get_must_dependence(f))),
                UnionMap(isl_union_flow_get_must_no_source(f))};
    isl_union_flow_free(f);
    return result;
  }

  void prove_func(int func) {
    make_definitions(func);
    std::vector<int> writers;
    for (size_t j = 0; j < program_.statements.size(); j++) {
      if (program_.statements[j].stage.func == func) writers.push_back(static_cast<int>(j));
    }
    check_images(writers);
    check_addresses(func);
    const std::vector<Sink> sinks = sinks_of(func);
    const UnionMap identity = points_and_identities(writers);
    if (!writes_what_cells_say(func, writers) || !is_covered(writers, sinks)) {
      prove_by_flow(func, writers, sinks, identity);
    }
    check_races(func, identity);
  }

  // What the instances of statements are told apart by.
  UnionMap points_and_identities(const std::vector<int> &writers) {
    UnionMap all = none(ctx_);
    for (int j : writers) {
      const Statement &s = program_.statements[j];
      bool exact = true;
      const Set domain = running(j, exact);
      if (!exact) undecided("whether its definition runs depends on data");
      const Map point = affine_or_stop(j, s.point, point_tuple(s.stage.stage), "an index of it");
      check_domain(j, point, domain);
      add(all, Map(isl_map_apply_range(within(point, domain).release(),
                                       definitions_[s.stage.stage].identity.copy())));
    }
    return all;
  }

  // A Func without updates, of which each cell has its own place in memory: whoever wrote it last,
  // it holds its value.
  bool writes_what_cells_say(int func, const std::vector<int> &writers) const {
    if (algorithm_.funcs[func].num_definitions() > 1) return false;
    return std::all_of(writers.begin(), writers.end(), [&](int j) {
      const Statement &s = program_.statements[j];
      return std::equal(s.cell.begin(), s.cell.end(), s.point.begin(), s.point.end(),
                        [](const Expr &a, const Expr &b) { return equal(a, b); });
    });
  }

  static std::vector<const Around *> loops_of(const Statement &s) {
    std::vector<const Around *> loops;
    for (const Around &a : s.around) {
      if (a.kind == Around::Loop) loops.push_back(&a);
    }
    return loops;
  }

  // Of statements that stand in front of the reads: do those of the same iteration of all loops
  // that the read and they have in common write all cells that are read? Of such Funcs only.
  bool is_covered(const std::vector<int> &writers, const std::vector<Sink> &sinks) {
    for (const Sink &sink : sinks) {
      if (!reads_wanted(sink)) return false;
      const std::vector<const Around *> around =
          sink.statement < 0 ? std::vector<const Around *>()
                             : loops_of(program_.statements[sink.statement]);
      const int position = sink.statement < 0 ? kEnd : program_.statements[sink.statement].position;
      size_t common = around.size();
      for (int j : writers) {
        const std::vector<const Around *> loops = loops_of(program_.statements[j]);
        size_t n = 0;
        while (n < common && n < loops.size() && loops[n]->position == around[n]->position) n++;
        common = n;
      }
      const int own = common < around.size() ? around[common]->position : position;
      isl_set *written = nullptr;
      for (int j : writers) {
        const Statement &s = program_.statements[j];
        if (memory_tuple(s.memory) != isl_map_get_tuple_name(sink.cell.get(), isl_dim_out)) {
          continue;
        }
        const std::vector<const Around *> loops = loops_of(s);
        const int at = common < loops.size() ? loops[common]->position : s.position;
        if (at >= own) return false;
        bool exact = true;
        const Map cell = within(instances_of(j).frame->values(in_loops(loops, common, s.cell), "C"),
                                running(j, exact));
        isl_set *its = isl_map_range(cell.copy());
        written = written ? isl_set_union(written, its) : its;
      }
      if (!written) return false;
      const Set all(written);
      const Set read(isl_map_range(sink_cells(sink, around, common).release()));
      if (isl_set_is_subset(read.get(), all.get()) != isl_bool_true) return false;
    }
    return true;
  }

  static std::vector<Expr> in_loops(const std::vector<const Around *> &loops, size_t count,
                                    const std::vector<Expr> &cell) {
    std::vector<Expr> all;
    for (size_t l = 0; l < count; l++) all.push_back(counter_variable(loops[l]->counter));
    all.insert(all.end(), cell.begin(), cell.end());
    return all;
  }

  Map sink_cells(const Sink &sink, const std::vector<const Around *> &around, size_t common) {
    if (sink.statement < 0) {
      return Map(isl_map_set_tuple_name(Map(sink.wanted).release(), isl_dim_out, "C"));
    }
    const Read &r = program_.statements[sink.statement].reads[sink.read];
    const Map cell =
        instances_of(sink.statement).frame->values(in_loops(around, common, r.cell), "C");
    const Set domain(isl_map_domain(sink.cell.copy()));
    return within(renamed(cell, sink.tuple), domain);
  }

  // Is the cell that is read the one that the definition wants, by its form or by isl?
  bool reads_wanted(const Sink &sink) {
    if (sink.statement < 0) return true;
    const Read &r = program_.statements[sink.statement].reads[sink.read];
    if (std::equal(r.cell.begin(), r.cell.end(), r.wanted.begin(), r.wanted.end(),
                   [](const Expr &a, const Expr &b) { return equal(a, b); })) {
      return true;
    }
    const Map cell = instances_of(sink.statement).frame->values(r.cell, "V");
    const Map read = within(renamed(cell, sink.tuple), Set(isl_map_domain(sink.cell.copy())));
    return isl_map_is_subset(read.get(), sink.wanted.get()) == isl_bool_true;
  }

  void prove_by_flow(int func, const std::vector<int> &writers, const std::vector<Sink> &sinks,
                     const UnionMap &actual_identity) {
    const FuncDef &f = algorithm_.funcs[func];

    // What the statements do.
    UnionMap writes = none(ctx_), times = none(ctx_), identities = none(ctx_);
    for (int j : writers) {
      const Statement &s = program_.statements[j];
      bool exact = true;
      const Map cell =
          affine_or_stop(j, cell_in(s.memory, s.cell), memory_tuple(s.memory), "an index of it");
      add(writes, within(cell, running(j, exact)));
      add(times, time_of(j, true));
    }
    for (const Definition &d : definitions_) add(identities, d.identity);

    UnionMap cells = none(ctx_);
    for (const Sink &s : sinks) {
      add(cells, s.cell);
      add(times, s.time);
    }
    const Flow actual = flow(cells, writes, times);
    if (!is_empty(actual.missing)) {
      fail(sinks, actual.missing, "reads", "which nothing wrote");
    }
    // What they should do.
    UnionMap expected = expected_identities(func, sinks, identities);
    const UnionMap wrong = without(then(actual.source, actual_identity), expected);
    if (!is_empty(wrong)) {
      fail(sinks, wrong, "reads", "and finds what another instance left there");
    }
    for (int s = 1; s < f.num_definitions(); s++) {
      if (definitions_[s].is_reduction) check_reduction(s, writers, sinks, times);
    }
  }

  void check_domain(int j, const Map &point, const Set &domain) {
    const Definition &d = definitions_[program_.statements[j].stage.stage];
    const Map outside(isl_map_subtract_range(within(point, domain).release(), d.domain.copy()));
    const isl_bool empty = isl_map_is_empty(outside.get());
    if (empty == isl_bool_error) undecided("isl gave up");
    if (empty) return;
    refused("a statement runs outside of its reduction domain, ", alone(outside));
  }

  // For each sink, what the algorithm's own order leaves in the cell.
  UnionMap expected_identities(int func, const std::vector<Sink> &sinks,
                               const UnionMap &identities) {
    const FuncDef &f = algorithm_.funcs[func];
    UnionMap all = none(ctx_);
    // -1: the stages are as they are; else sinks are own reads of that reduction.
    std::map<int, std::vector<const Sink *>> groups;
    for (const Sink &s : sinks) {
      const bool own = s.read >= 0 && program_.statements[s.statement].reads[s.read].is_own;
      const int stage = own ? program_.statements[s.statement].stage.stage : -1;
      groups[own && definitions_[stage].is_reduction ? stage : -1].push_back(&s);
    }
    for (const auto &[reduction, group] : groups) {
      UnionMap cells = none(ctx_), sources = none(ctx_), times = none(ctx_);
      const int stages = reduction >= 0 ? reduction : f.num_definitions();
      for (int s = 0; s < stages; s++) {
        add(sources, definitions_[s].cell);
        add(times, definitions_[s].time);
      }
      for (const Sink *s : group) {
        add(cells, s->wanted);
        add(times, expected_time(func, *s, reduction));
        if (reduction < 0) continue;
        // Any other instance may have come before.
        const Map own(isl_map_set_tuple_name(Map(s->wanted).release(), isl_dim_out,
                                             ("Q" + std::to_string(reduction)).c_str()));
        add(all, own);
      }
      all = both(all, then(flow(cells, sources, times).source, identities));
    }
    return all;
  }

  Map expected_time(int func, const Sink &sink, int reduction) {
    const bool own = sink.read >= 0 && program_.statements[sink.statement].reads[sink.read].is_own;
    if (own && reduction < 0) {
      const Statement &s = program_.statements[sink.statement];
      std::vector<Expr> variables;
      const FuncDef &f = algorithm_.funcs[func];
      const int pure = pure_variables(f, f.stages[s.stage.stage], &variables);
      Map time =
          affine_or_stop(sink.statement, definition_time(s.stage.stage, s.point, pure, false), "T",
                         "an index of it");
      return renamed(time, sink.tuple);
    }
    // In front of the reduction, or behind all.
    const Set domain(isl_set_universe(isl_space_domain(isl_map_get_space(sink.wanted.get()))));
    isl_map *m = isl_map_from_domain(domain.copy());
    for (size_t i = 0; i < longest_ + 2; i++) {
      const int stage = reduction >= 0 ? reduction : algorithm_.funcs[func].num_definitions();
      isl_val *v = isl_val_int_from_si(ctx_, i == 0 ? stage : 0);
      m = isl_map_flat_range_product(
          m, isl_map_from_pw_aff(isl_pw_aff_val_on_domain(domain.copy(), v)));
    }
    return Map(isl_map_set_tuple_name(m, isl_dim_out, "T"));
  }

  // What reads the reduction's cells finds all of its instances there, each once.
  void check_reduction(int stage, const std::vector<int> &writers, const std::vector<Sink> &sinks,
                       const UnionMap &times) {
    UnionMap others = none(ctx_), cells = none(ctx_), its_points = none(ctx_);
    UnionMap its_times = none(ctx_), sink_times = none(ctx_), all_times = UnionMap(times);
    for (int j : writers) {
      const Statement &s = program_.statements[j];
      bool exact = true;
      const Set domain = running(j, exact);
      const Map cell = within(
          affine_or_stop(j, cell_in(s.memory, s.cell), memory_tuple(s.memory), "an index of it"),
          domain);
      if (s.stage.stage != stage) {
        add(others, cell);
        continue;
      }
      const std::string tuple = "I" + std::to_string(j);
      add(cells, renamed(cell, tuple));
      add(all_times, renamed(time_of(j, false), tuple));
      add(its_times, renamed(time_of(j, true), tuple));
      const Map point = affine_or_stop(j, s.point, point_tuple(stage), "an index of it");
      add(its_points, renamed(within(point, domain), tuple));
    }
    const UnionMap begun = flow(cells, others, all_times).source;  // I -> what it begins with
    // Twice the same instance, with one beginning.
    const UnionMap twice(isl_union_map_intersect(then(its_points, reversed(its_points)).release(),
                                                 then(begun, reversed(begun)).release()));
    const UnionMap self(isl_union_set_identity(isl_union_map_domain(its_points.copy())));
    const UnionMap again = without(twice, self);
    if (!is_empty(again)) {
      refused("an instance of its reduction " + std::to_string(stage) + " is taken in twice, ",
              again);
    }
    UnionMap read_cells = none(ctx_), needed = none(ctx_);
    for (const Sink &s : sinks) {
      const bool own = s.read >= 0 && program_.statements[s.statement].reads[s.read].is_own &&
                       program_.statements[s.statement].stage.stage <= stage;
      if (own) continue;
      add(read_cells, s.cell);
      add(sink_times, s.time);
      // Later definitions may replace the cell.
      Map instances(
          isl_map_apply_range(s.wanted.copy(), isl_map_reverse(definitions_[stage].cell.copy())));
      for (size_t later = static_cast<size_t>(stage) + 1; later < definitions_.size(); later++) {
        const Set replaced(isl_map_range(definitions_[later].cell.copy()));
        const Map reads_it(isl_map_intersect_range(s.wanted.copy(), replaced.copy()));
        instances =
            Map(isl_map_subtract_domain(instances.release(), isl_map_domain(reads_it.copy())));
      }
      add(needed, instances);
    }
    const UnionMap reads_of = flow(read_cells, others, all_times).source;  // sink -> beginning
    const UnionMap before(isl_union_map_lex_gt_union_map(sink_times.copy(), its_times.copy()));
    const UnionMap taken(
        isl_union_map_intersect(then(reads_of, reversed(begun)).release(), before.copy()));
    const UnionMap missing = without(needed, then(taken, its_points));
    if (!is_empty(missing)) {
      fail(sinks, missing, "reads", "in which an instance of a reduction is missing");
    }
  }

  // What is read of images is what the definition reads.
  void check_images(const std::vector<int> &writers) {
    for (int j : writers) {
      for (const Read &r : program_.statements[j].reads) {
        if (r.memory >= 0) continue;
        bool exact = true;
        Set domain = running(j, exact);
        domain = Set(isl_set_intersect(domain.release(),
                                       instances_of(j).frame->all_hold(r.where, exact).release()));
        const char *what = "an index with which an image is read";
        const Map cell = affine_or_stop(j, r.cell, "V", what);
        const Map wanted = affine_or_stop(j, r.wanted, "V", what);
        const Map other(isl_map_subtract(within(cell, domain).release(), wanted.copy()));
        const isl_bool empty = isl_map_is_empty(other.get());
        if (empty == isl_bool_error) undecided("isl gave up");
        if (empty) continue;
        refused("a statement reads another element of '" + r.callee + "', ", alone(other), exact);
      }
    }
  }

  void check_addresses(int func) {
    const std::string &name = algorithm_.funcs[func].name;
    for (size_t j = 0; j < program_.statements.size(); j++) {
      const Statement &s = program_.statements[j];
      const int statement = static_cast<int>(j);
      Instances &i = instances_of(statement);
      if (s.stage.func == func) {
        check_address(statement, s.memory, s.cell, i.domain, i.is_exact, "writes");
      }
      for (const Read &r : s.reads) {
        if (r.callee != name || r.memory < 0) continue;
        bool exact = i.is_exact;
        Set domain = i.frame->all_hold(r.touched, exact);
        domain = Set(isl_set_intersect(domain.release(), i.domain.copy()));
        check_address(statement, r.memory, r.cell, domain, exact, "reads");
      }
    }
  }

  void check_address(int statement, int memory, const std::vector<Expr> &cell, const Set &domain,
                     bool exact, const char *verb) {
    const Memory &m = program_.memories[memory];
    Affine &frame = *instances_of(statement).frame;
    for (size_t d = 0; d < m.min.size(); d++) {
      const Set inside = frame.holds(make_binary(Op::And, make_binary(Op::Ge, cell[d], m.min[d]),
                                                 make_binary(Op::Lt, cell[d], m.end[d])));
      if (!inside.defined()) undecided("the size of its memory is not affine");
      const Map outside = within(affine_or_stop(statement, cell, "V", "an index of it"),
                                 Set(isl_set_subtract(domain.copy(), inside.copy())));
      const isl_bool empty = isl_map_is_empty(outside.get());
      if (empty == isl_bool_error) undecided("isl gave up");
      if (empty) continue;
      refused(std::string("a statement ") + verb + " outside of its memory, ", alone(outside),
              exact);
    }
  }

  // Accesses of the Func's memories by iterations that run at once.
  struct Touch {
    int statement;
    Map cell;
    bool writes, is_exact, is_atomic;
  };

  void check_races(int func, const UnionMap &identity) {
    const std::string &name = algorithm_.funcs[func].name;
    std::vector<Touch> touches;
    for (size_t j = 0; j < program_.statements.size(); j++) {
      const Statement &s = program_.statements[j];
      const int statement = static_cast<int>(j);
      if (!has_parallel_loop(s)) continue;
      Instances &i = instances_of(statement);
      if (s.stage.func == func && !s.races_are_promised) {
        Map cell = affine_or_stop(statement, cell_in(s.memory, s.cell), memory_tuple(s.memory),
                                  "an index of it");
        bool exact = i.is_exact;
        const Set writes = running(statement, exact);
        touches.push_back({statement, within(cell, writes), true, exact, s.is_atomic});
        if (!s.where.empty()) {
          // What is written back may be what this iteration has written before.
          const Set back(isl_set_subtract(i.domain.copy(), writes.copy()));
          touches.push_back({statement, within(cell, back), true, false, s.is_atomic});
        }
      }
      for (const Read &r : s.reads) {
        if (r.callee != name || r.memory < 0) continue;
        if (r.is_own && s.races_are_promised) continue;
        bool exact = i.is_exact;
        Set domain = i.frame->all_hold(r.where, exact);
        domain = Set(isl_set_intersect(domain.release(), i.domain.copy()));
        Map cell = affine_or_stop(statement, cell_in(r.memory, r.cell), memory_tuple(r.memory),
                                  "an index with which it is read");
        touches.push_back({statement, within(cell, domain), false, exact, s.is_atomic && r.is_own});
      }
    }
    // Two that write one value may meet.
    const UnionMap alike = then(identity, reversed(identity));
    for (size_t a = 0; a < touches.size(); a++) {
      for (size_t b = a; b < touches.size(); b++) {
        const Touch &x = touches[a], &y = touches[b];
        if (!x.writes && !y.writes) continue;
        if (x.is_atomic && y.is_atomic) continue;
        if (!isl_space_is_equal_range(x.cell, y.cell)) continue;
        check_race(x, y, alike);
      }
    }
  }

  static bool isl_space_is_equal_range(const Map &a, const Map &b) {
    const char *x = isl_map_get_tuple_name(a.get(), isl_dim_out);
    const char *y = isl_map_get_tuple_name(b.get(), isl_dim_out);
    return x && y && std::string(x) == y;
  }

  static bool runs_at_once(const Around &a) {
    return a.kind == Around::Loop &&
           (a.loop_kind == LoopKind::Parallel || a.loop_kind == LoopKind::Vector ||
            a.loop_kind == LoopKind::GpuBlock);
  }
  static bool has_parallel_loop(const Statement &s) {
    return std::any_of(s.around.begin(), s.around.end(), runs_at_once);
  }

  void check_race(const Touch &x, const Touch &y, const UnionMap &alike) {
    const Statement &s = program_.statements[x.statement], &t = program_.statements[y.statement];
    const std::vector<const Around *> first = loops_of(s), second = loops_of(t);
    for (size_t l = 0; l < first.size() && l < second.size(); l++) {
      if (first[l]->position != second[l]->position) return;
      if (!runs_at_once(*first[l])) continue;
      isl_map *meet = isl_map_apply_range(x.cell.copy(), isl_map_reverse(y.cell.copy()));
      const int n = static_cast<int>(l);
      for (int outer = 0; outer < n; outer++) {
        meet = isl_map_equate(meet, isl_dim_in, outer, isl_dim_out, outer);
      }
      isl_map *less = isl_map_order_lt(isl_map_copy(meet), isl_dim_in, n, isl_dim_out, n);
      isl_map *more = isl_map_order_gt(meet, isl_dim_in, n, isl_dim_out, n);
      UnionMap at_once(isl_union_map_from_map(isl_map_union(less, more)));
      if (is_empty(at_once)) continue;
      if (x.writes && y.writes) at_once = without(at_once, alike);
      if (is_empty(at_once)) continue;
      refused(std::string("iterations of the ") + loop_kind_name(first[l]->loop_kind) + " loop '" +
                  first[l]->counter + "' meet in a cell, ",
              at_once, x.is_exact && y.is_exact);
    }
  }

  // A message about the first sink that `wrong` has.
  [[noreturn]] void fail(const std::vector<Sink> &sinks, const UnionMap &wrong,
                         const std::string &verb, const std::string &what) {
    const Sink *chosen = nullptr;
    UnionMap where;
    for (const Sink &s : sinks) {
      const Set of(isl_map_domain(s.wanted.copy()));
      UnionMap here(
          isl_union_map_intersect_domain(wrong.copy(), isl_union_set_from_set(of.copy())));
      if (is_empty(here)) continue;
      // A sink that is exact decides.
      if (chosen && (chosen->is_exact || !s.is_exact)) continue;
      chosen = &s;
      where = here;
    }
    const std::string who =
        chosen->statement < 0
            ? std::string("the caller")
            : "a statement of '" +
                  algorithm_.funcs[program_.statements[chosen->statement].stage.func].name + "'";
    refused(who + " " + verb + " a cell " + what + ": ", where, chosen->is_exact);
  }

  static constexpr int kEnd = 1 << 30;  // behind all statements

  const Algorithm &algorithm_;
  const Program &program_;
  const ProveOptions options_;
  isl_ctx *ctx_;
  SharedNumbers shared_;
  Set facts_;
  std::map<int, Instances> instances_;
  std::vector<Definition> definitions_;
  size_t deepest_ = 0;  // loops around a statement
  size_t longest_ = 0;  // variables of a definition
};

}  // namespace

std::vector<Finding> prove(const Algorithm &algorithm, const Program &program,
                           const ProveOptions &options) {
  std::set<int> funcs;
  for (const Statement &s : program.statements) {
    funcs.insert(s.stage.func);
    for (const Read &r : s.reads) {
      if (r.memory >= 0) funcs.insert(algorithm.index_of(r.callee));
    }
  }
  std::vector<Finding> findings;
  Prover prover(algorithm, program, options);
  for (int f : funcs) findings.push_back(prover.about(f));
  return findings;
}

}  // namespace polyhalite::dataflow
