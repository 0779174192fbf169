// ScheduleDraw: the state of random_schedule, whose own header this is.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "test/support/random_schedule.h"

namespace polyhalite::test {

class ScheduleDraw {
 public:
  ScheduleDraw(Dice &dice, const Algorithm &a, bool windows, const CheckSchedule &check);

  std::vector<Directive> draw();

 private:
  struct Branch {
    std::string func;
    int stage;
    Expr condition;
    std::vector<std::string> dims;
  };
  using Stage = std::pair<std::string, int>;
  using Dims = std::map<Stage, std::vector<std::string>>;

  // What cannot be is taken back, unless this program may have mistakes in it.
  template <typename F>
  void attempt(F &&draw) {
    const Algorithm algorithm = algorithm_;
    const Dims dims = dims_;
    const std::vector<Branch> branches = branches_;
    const std::vector<Directive> list = list_;
    draw();
    if (mistakes_ || list_.size() == list.size()) return;
    try {
      check_(original_, list_);
    } catch (const CompileError &) {
      algorithm_ = algorithm;
      dims_ = dims;
      branches_ = branches;
      list_ = list;
    }
  }

  // Draws change the Funcs that there are.
  std::vector<FuncDef> copy_of_funcs() const { return algorithm_.funcs; }

  // random_schedule.cc: what is drawn in which order, and loops and storage
  static std::vector<std::string> initial(const FuncDef &f, int stage);
  static bool reads(const Expr &e, const std::string &func);
  Directive &add(DirectiveKind kind, const std::string &func, int stage,
                 std::vector<std::string> loops);
  // Of a split, an alignment or a ring: mostly a constant, else the algorithm's scalar.
  Expr factor(int low, int high);
  void loop_directive();
  void loop_directive(const std::string &func, int stage, std::vector<std::string> &dims);
  void recount(const std::string &func, int stage, std::string &dim,
               const std::vector<std::string> &dims);
  void stream(const std::string &func, int stage);
  // How a Func is stored, and over what it is computed.
  void storage_directive();
  // Of what stage 0 of f reads, at a loop of it.
  void prefetch(const FuncDef &f);
  // A promise that changes nothing: the stage has no loop that runs at once.
  void allow_races();
  void in_place();
  // Code is made for the processor only: these are refused, or are copies to where the values are.
  void device_directive();

  // random_levels.cc: where Funcs are computed and stored
  void place_some(int percent);
  void place(const FuncDef &f);
  // Computed at a loop of the output, stored at one outside of it.
  void place_window(const FuncDef &f);
  // Memory for its storages, taken further outside.
  void hoist(const FuncDef &f);
  // A loop where `func` could be computed: mostly one of a stage that reads it.
  std::pair<Stage, std::string> random_loop(const std::string &func);
  // Does a value of `func` come from `producer`, through any number of Funcs?
  bool depends(const std::string &func, const std::string &producer) const;
  // Two stages with equal outer loops, mostly of Funcs of which none needs the other.
  void share_loops();
  // How many of their outermost loops have the same names.
  int common_loops(const Stage &a, const Stage &b) const;
  // The outermost loop of both becomes two.
  void split_both(const Stage &a, const Stage &b);
  // One compute level for both: the root, or a loop of a stage that reads one of them.
  void place_both(const std::string &a, const std::string &b);

  // random_derivations.cc: directives that change the algorithm
  // in, clone_in, rfactor, specialize or atomic; what cannot be is taken back.
  void deriving_directive();
  // eager_inline (0), change_type (1) or hoist_invariants (2); what cannot be is taken back, and
  // false is returned.
  bool rewriting_directive(int kind);
  // A Tuple's values apart; a scan in blocks, which often run at once. Nothing where no update is
  // one, but for programs with mistakes.
  void fission_directive();
  void scan_directive();
  // Takes the directives behind the first `before` into the algorithm, and the loops of the Func
  // that they make; false: they cannot be, and are taken back unless wrong ones are to be kept.
  bool derived_with(size_t before, const std::string &made, bool keep_wrong);
  std::vector<Stage> stages_where(bool (*fits)(const FuncDef &, int)) const;
  // Updates of Tuples with parts; updates that are scans.
  std::vector<Stage> with_parts() const;
  std::vector<Stage> scans() const;
  // Those with reduction variables.
  std::vector<Stage> updates() const;
  // Updates whose terms can be added up apart.
  std::vector<Stage> with_invariants() const;

  Dice &dice_;
  const Algorithm &original_;
  Algorithm algorithm_;  // with what directives have made of it
  const bool windows_;
  const CheckSchedule &check_;
  const bool mistakes_;
  Dims dims_;  // innermost first
  std::vector<Branch> branches_;
  std::vector<Directive> list_;
  int fresh_ = 0;
};

}  // namespace polyhalite::test
