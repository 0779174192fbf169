// A program of loops as the dataflow proof sees it: which instance of which definition each
// statement runs, what it reads and writes, where it stands. Made of loop IR (codegen/proof), free
// of isl.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "schedule/loop_tree.h"

namespace polyhalite::dataflow {

/// A loop or a condition around a statement. Expressions are over the counters of loops outside.
struct Around {
  enum Kind : uint8_t { Loop, Condition } kind;
  int position = 0;     // Loop: its place in the text, which no other statement has
  std::string counter;  // Loop
  Expr min, end;        // Loop: from min, below end
  LoopKind loop_kind = LoopKind::Serial;
  Expr condition;  // Condition
};

/// Memory of a Func. Each time that the loops around it reach it, its content is arbitrary.
struct Memory {
  std::string func;
  std::vector<std::string> loops;  // counters of the loops around it
  std::vector<Expr> min, end;      // of each dimension: from min, below end
};

struct Read {
  std::string callee;
  int memory = -1;            // of a Func; -1: an image
  std::vector<Expr> cell;     // that is read
  std::vector<Expr> wanted;   // that the algorithm reads here
  std::vector<Expr> where;    // its value is used where all of these hold only
  std::vector<Expr> touched;  // it takes place where all of these hold only
  bool is_own = false;        // by an update, of its Func
};

/// A statement that runs an instance of a definition.
struct Statement {
  std::vector<Around> around;  // outermost first
  int position = 0;
  StageId stage;  // a definition, not a branch
  /// The values of the definition's pure variables, in the order of the Func's arguments (those
  /// that an update fixes are left out), then of its reduction variables.
  std::vector<Expr> point;
  std::vector<Expr> where;  // it runs the instance where these hold, else it writes back what is
                            // there
  int memory = -1;
  std::vector<Expr> cell;
  std::vector<Read> reads;
  bool is_atomic = false, races_are_promised = false;
  bool takes_any_order = false;  // of atomic ones: their results are right in any order
};

/// Two tasks that run at the same time, and a memory that one of them writes and the other reads.
/// Loops that they run in step stand around statements of both: an iteration of the second task
/// begins when the same one of the first has ended.
struct Task {
  int memory = -1;
  int first = 0, middle = 0, end = 0;  // statements: of the first task, then of the second
  size_t outer = 0, in_step = 0;       // loops: around both tasks, and of these inside
  std::optional<int64_t> ahead;  // iteration i + ahead of the first begins when iteration i of
                                 // the second has ended; none: it may begin at once
};

struct Program {
  std::vector<Expr> facts;  // of parameters
  std::vector<Memory> memories;
  std::vector<Statement> statements;
  std::vector<Task> tasks;
  std::vector<int> outputs;  // memories that the caller reads when the program has ended
  bool is_complete = true;   // else there are other statements, of which nothing is known
};

/// What is known of one Func.
struct Finding {
  enum Verdict : uint8_t { Proven, Undecided, Refused } verdict = Proven;
  std::string func;
  std::string why;  // of Undecided and Refused
};

}  // namespace polyhalite::dataflow
