// A stage's loops while splits, skews, orders and marks change them, and the directives that say
// so.
//
//   NestGuess g(model, "f", 1);              r_x inside of r_y
//   g.move(1, 0);                            r_y inside of r_x
//   g.loops[g.split(0, 8, "v")].mark = ...   r_yv inside of r_y: reorder(r_yv, r_y, r_x), ...
#pragma once

#include <string>
#include <vector>

#include "autosched/model.h"

namespace polyhalite::autosched {

enum class LoopMark : uint8_t { Serial, Vector, Unrolled, Parallel };

struct GuessedLoop {
  std::string name;
  int var = -1;  // of the stage, that it is or is a part of
  double extent = 1;
  LoopMark mark = LoopMark::Serial;
};

class NestGuess {
 public:
  /// The loops as the definition has them.
  NestGuess(const FuncModel &model, const std::string &func, int stage);

  std::vector<GuessedLoop> loops;  // innermost first
  double cycles = 0;               // a point
  bool apart = false;              // the innermost loop's iterations should not wait for each other
  std::string what;                // for the report

  size_t outermost() const { return loops.size() - 1; }
  size_t place(const std::string &name) const;
  void move(size_t from, size_t to);
  /// Splits a loop in its place. The inner part, named by the variable and `suffix`, stands at that
  /// place then, just inside of the outer one.
  size_t split(size_t at, int64_t factor, const std::string &suffix);
  /// The loop's coordinate becomes its own plus the other one's times the factor.
  void skew(size_t loop, size_t by, int factor);
  void add_word(const std::string &word) { what += (what.empty() ? "" : ", ") + word; }

  /// As directives; `serial_cycles` of a point as the definition has it.
  FixedNest fixed(double serial_cycles) const;

 private:
  Directive directive(DirectiveKind kind, std::vector<std::string> names) const;

  const FuncModel *model_;
  const StageModel *stage_model_;
  std::string func_;
  int stage_;
  std::vector<Directive> changes_;  // splits and skews
  std::vector<std::string> first_order_;
};

}  // namespace polyhalite::autosched
