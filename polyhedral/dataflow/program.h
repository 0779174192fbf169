// A program of loops as the dataflow proof sees it: which instance of which definition each
// statement runs, what it reads and writes, where it stands. Made of loop IR (codegen/proof), free
// of isl.
#pragma once

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
};

struct Program {
  std::vector<Expr> facts;  // of parameters
  std::vector<Memory> memories;
  std::vector<Statement> statements;
  std::vector<int> outputs;  // memories that the caller reads when the program has ended
};

/// What is known of one Func.
struct Finding {
  enum Verdict : uint8_t { Proven, Undecided, Refused } verdict = Proven;
  std::string func;
  std::string why;  // of Undecided and Refused
};

}  // namespace polyhalite::dataflow
