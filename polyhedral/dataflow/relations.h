// Relations: a program's statements as relations of isl: where they run, when, and which cells they
// read and write.
//
// Names of tuples: S1 instances of statement 1, R1_0 those as its read 0, R_output the caller's
// reads, A1 cells of memory 1 under the loops around it, V cells as the algorithm names them, P1
// points of definition 1, T times.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "polyhedral/dataflow/affine.h"
#include "polyhedral/dataflow/program.h"
#include "polyhedral/dataflow/sample.h"

namespace polyhalite::dataflow {

/// A statement's instances.
struct Instances {
  std::unique_ptr<Affine> frame;  // over the counters around it
  Set domain;                     // where it runs
  bool is_exact = true;           // else it runs in a part of the domain
};

/// A read of a Func, by a statement or, at the end, by the caller.
struct Sink {
  int statement = -1, read = -1;  // -1: the caller
  int memory = -1;
  bool is_own = false;  // by an update, of its Func
  std::string tuple;
  Map cell, wanted, time;
  bool is_exact = true;
};

class Relations {
 public:
  /// Refers to all three.
  Relations(isl_ctx *ctx, const Algorithm &algorithm, const Program &program);

  isl_ctx *ctx() const { return ctx_; }
  const Algorithm &algorithm() const { return algorithm_; }
  const Program &program() const { return program_; }
  int count() const { return static_cast<int>(program_.statements.size()); }
  const Statement &statement(int j) const { return program_.statements[j]; }
  /// The read that a sink is; null: the caller's.
  const Read *read_of(const Sink &sink) const;
  /// The statements that run definitions of the Func.
  std::vector<int> writers_of(int func) const;
  /// All that read the Func out of memory, the caller among them.
  std::vector<Sink> sinks_of(int func);

  Affine frame(const std::string &tuple, const std::vector<std::string> &dims);
  /// The points of s whose parameters are as the program's facts say.
  Set under_facts(Set s);
  /// Stops: `where` is not empty, and `what` tells of its elements, with one of them for example.
  /// Where it may hold more than there is, or the example cannot be, that is a doubt.
  [[noreturn]] void refuse(const std::string &what, const UnionMap &where,
                           bool is_exact = true) const;

  Instances &instances_of(int statement);
  /// The instances of which the conditions hold; clears `exact` where that is a part of them.
  Set holding(int statement, const std::vector<Expr> &conditions, bool &exact);
  /// Where the statement runs its instance.
  Set running(int statement, bool &exact);
  /// Where it does and uses what it reads.
  Set using_read(int statement, const Read &r, bool &exact);
  /// The order in which statements run; reads come before the write of their statement.
  Map time_of(int statement, bool writes);

  /// Its instances to these values; stops where they are not affine, which `what` are.
  Map affine_or_stop(int statement, const std::vector<Expr> &values, const std::string &tuple,
                     const char *what);
  /// To the cell that the statement writes: of all instances, and of those that run.
  Map cell_written(int statement);
  Map written(int statement);
  Map cell_read(int statement, const Read &r);
  /// To the point of its definition.
  Map point(int statement);

 private:
  const Set &facts();
  bool can_be(const Sample &sample) const;
  Sink statement_sink(int statement, int read);
  Sink output_sink(int memory);
  std::vector<Expr> cell_in(int memory, const std::vector<Expr> &cell) const;

  isl_ctx *ctx_;
  const Algorithm &algorithm_;
  const Program &program_;
  SharedNumbers shared_;
  Set facts_;
  std::map<int, Instances> instances_;
  size_t deepest_ = 0;  // loops around a statement
};

constexpr int kEnd = 1 << 30;  // a position behind all statements
constexpr const char *kCaller = "R_output";
std::string statement_tuple(int statement);
std::string point_tuple(int definition);

Expr counter_variable(const std::string &name);
/// min <= v, v < end.
void add_range(std::vector<Expr> &conditions, const Expr &v, const Expr &min, const Expr &end);
/// The loops around a statement, outermost first.
std::vector<const Around *> loops_of(const Statement &s);

}  // namespace polyhalite::dataflow
