// evaluate: expressions as flat programs over numbered slots, for evaluating them many times.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite::oracle {

using Coordinates = std::vector<int64_t>;

/// A scalar; the node that made it knows its type. Integers are sign- or zero-extended in `i`, as
/// uint64 wraps there.
struct Value {
  int64_t i = 0;
  double f = 0;
};

/// Where variables' values stand while a program runs.
class Slots {
 public:
  int of(const std::string &name);
  int size() const { return static_cast<int>(names_.size()); }

 private:
  std::unordered_map<std::string, int> names_;
};

/// What a program asks its surroundings for.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// A call of a Func, an image or a constant Buffer.
  virtual Value access(const CallNode &call, const Coordinates &at) = 0;
  /// The same where a select takes its other side.
  virtual void idle_access(const CallNode &, const Coordinates &) {}
};

/// Values of parameters and buffer fields, fixed when a program is made; nullopt: a slot.
using Constants = std::function<std::optional<Value>(const VariableNode &)>;

/// Several expressions, their shared parts evaluated once. Both sides of a select are; where its
/// condition is no matter of data, what only the other side wants is an idle access. One thread
/// runs a program at a time; within a run of it, it may run again.
class Program {
 public:
  Program() = default;
  Program(const std::vector<Expr> &results, Slots &slots, const Constants &constants);

  /// The results' values, in order; `slots` by number.
  std::vector<Value> run(const std::vector<Value> &slots, Surroundings &surroundings) const;
  /// Of a program of one result.
  Value run_one(const std::vector<Value> &slots, Surroundings &surroundings) const;
  bool empty() const { return results_.empty(); }

 private:
  /// What a function makes of its arguments.
  using Meaning = Value (*)(const CallNode &call, const Value *args);
  struct Step {
    Expr node;
    int args[3] = {0, 0, 0};  // earlier steps: the first ones
    int slot = -1;            // Variable
    Value constant;           // immediates and fixed variables
    Meaning meaning = nullptr;
    std::vector<int> all;  // of a call, all arguments
    bool asks = false;     // it or what it is made of asks the surroundings
  };
  static Meaning meaning_of(const Expr &e);
  int add(const Expr &e, Slots &slots, const Constants &constants,
          std::unordered_map<const ExprNode *, int> &known);
  void run_steps(const std::vector<Value> &slots, Surroundings &surroundings,
                 std::vector<Value> &values) const;
  Value run_step(const Step &step, const std::vector<Value> &slots, Surroundings &surroundings,
                 const std::vector<Value> &values) const;
  std::vector<bool> wanted_steps(const std::vector<Value> &values) const;
  static Value call(const Step &step, const std::vector<Value> &values, Surroundings &surroundings);
  std::vector<Value> take_scratch() const;

  std::vector<Step> steps_;
  std::vector<int> results_;
  bool chooses_ = false;  // some select between what asks has a condition that does not ask
  mutable std::vector<std::vector<Value>> scratch_;  // the steps' values, of runs that are over
};

/// v as type t holds it: wrapped, rounded.
Value normalize(Type t, Value v);

}  // namespace polyhalite::oracle
