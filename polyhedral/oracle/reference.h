// reference: what the sequential algorithm leaves in each cell of each Func: the value, and which
// instances of which definitions made it. Computed on demand, one column at a time: the cells that
// updates can reach from one another.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/ir/algorithm.h"
#include "polyhedral/oracle/experiment.h"
#include "schedule/loop_tree.h"

namespace polyhalite::oracle {

/// One run of a definition: its pure variables in argument order (those that an update's left side
/// fixes are left out), then its reduction variables.
struct Point {
  StageId stage;
  Coordinates at;
  uint64_t hash() const;
  bool operator==(const Point &o) const { return stage == o.stage && at == o.at; }
};

/// Who made a cell's content. A definition that is no reduction replaces what was there; a
/// reduction's instances add up to a set whose order is free.
struct Content {
  uint64_t below = 0;           // what the set stands on
  StageId stage;                // of the last writer
  uint64_t sum = 0, mixed = 0;  // of the set of instances
  bool is_set = false;
  Point last;  // for messages; not compared

  static Content written(const Point &p);
  Content with(const Point &p) const;  // one more instance of a reduction
  uint64_t hash() const;
  bool operator==(const Content &o) const {
    return below == o.below && stage == o.stage && sum == o.sum && mixed == o.mixed &&
           is_set == o.is_set;
  }
  bool operator!=(const Content &o) const { return !(*this == o); }
};

struct Cell {
  std::vector<Content> contents;  // of each value
  std::vector<Value> values;
};

struct CoordinatesHash {
  size_t operator()(const Coordinates &c) const;
};

/// A definition ready to run.
struct StageProgram {
  Slots slots;
  std::vector<int> pure;          // the dimensions whose variables it has
  std::vector<int> slot_of_pure;  // parallel to `pure`
  std::vector<int> slot_of_rvar;
  struct Write {
    Program cell, values;
    // Bool, of each value: is it written? Empty: all are. A value that is not counts as 0.
    Program written;
  };
  std::vector<Write> writes;  // of an instance, see cell_writes()
  Program predicate, bounds;  // bounds: min, extent of each reduction variable
  bool is_reduction = false;  // its order is free
  bool in_place = false;      // it reads what was there before any of its instances ran
  bool one_value = false;     // whatever its reduction variables are, a cell gets the same

  StageProgram(const FuncDef &f, int stage, const Constants &constants);
  std::vector<Value> slots_at(const Coordinates &point) const;
  /// Of a cell that instance p replaces.
  Content written(const Point &p) const;
};

/// An enumeration has more instances than its limit.
struct TooLarge {};

class Reference {
 public:
  /// Throws TooLarge after so many instances of updates.
  Reference(const Algorithm &algorithm, const Data &data, int64_t most_instances);
  ~Reference();

  /// After the last update.
  const Cell & final(int func, const Coordinates &at);
  /// What instance `p` of an update that is no reduction reads there; null: there is no such read.
  const Cell *read_by(const Point &p, const Coordinates &at);
  const StageProgram &program(StageId s) const { return programs_[s.func][s.stage]; }
  /// Instances of an update that write one value by its form stand for each other.
  void note_one_value(StageId s) { programs_[s.func][s.stage].one_value = true; }

 private:
  struct Column;
  class Run;
  struct FuncState;
  void take_branches(int func, const Constants &constants);
  Column &column(int func, const Coordinates &at);
  /// Pure variables of updates run over this cell too, unless over `most` cells; true: they did
  /// not.
  static bool include(FuncState &state, const Coordinates &at, int64_t most);

  const Algorithm &algorithm_;
  const Data &data_;
  int64_t instances_left_;
  std::vector<std::vector<StageProgram>> programs_;  // [func][stage]
  std::vector<FuncState> states_;                    // [func]
};

}  // namespace polyhalite::oracle
