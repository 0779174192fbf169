// run: executes a surveyed loop tree on content tags instead of values.
#pragma once

#include "polyhedral/oracle/brute_force.h"
#include "polyhedral/oracle/memory.h"

namespace polyhalite::oracle {

class Run : public Surroundings {
 public:
  Run(const LoopTree &tree, const Survey &survey, const Experiment &experiment,
      const Limits &limits);
  Enumeration all();
  /// Enlarges the outputs of `experiment`, a copy of this run's, to what the entry asks of this
  /// run's sizes; false where nothing is to do.
  bool enlarge(Experiment &experiment);
  Value access(const CallNode &call, const Coordinates &at) override;
  /// It needs memory, and may find anything there.
  void idle_access(const CallNode &call, const Coordinates &at) override;

 private:
  struct CompiledSymbol {
    std::string name;
    int slot;
    Program value, lower, upper;  // lower, upper: empty where the survey has none
  };
  struct CompiledLoop {
    Program bounds;  // min, extent
    std::vector<CompiledSymbol> symbols;
    int slot = -1;
  };
  struct CompiledStage {
    Program point;
    std::vector<Program> guards;
    std::vector<Program> blends;  // where one does not hold, cells are written as they are
    std::vector<Program> loads;   // where one does not hold, cells take any value
    std::vector<Program> used;    // conditions under which somebody uses what the instance stores
    bool any_order = false;       // atomic updates may be made in any order
    size_t variables = 0;         // of a point
  };
  struct CompiledFunc {
    Program stored;  // min, max of each dimension
    Program slot;    // of hoisted memory; else empty
    Program extents;
  };
  struct RunningLoop {
    int loop;
    int64_t iteration, extent;
  };
  // What writes a cell as it is, or anything into it, is marked by one number more.
  bool is_instance(const Point &p) const {
    return p.at.size() <= stages_[p.stage.func][p.stage.stage].variables;
  }
  struct Stop {};  // a violation was found

  void compile();
  Program program(const std::vector<Expr> &e) { return Program(e, slots_, constants_); }
  std::vector<CompiledSymbol> compile_symbols(const std::vector<Symbol> &symbols);
  CompiledStage compile_stage(StageId s);
  Program compile_box(const Box &box);
  void compile_node(const TreeNode &n, int enclosing);
  std::vector<Value> evaluate(const Program &p);
  int64_t evaluate_one(const Program &p);
  std::vector<Extent> evaluate_box(const Program &ends);
  void assign(const CompiledSymbol &symbol);
  void bind(const std::vector<CompiledSymbol> &symbols);
  /// An instance runs: the symbols around it keep their bounds. Loops over threads are as long as
  /// the longest needs, and where guards let no instance run, a symbol may be anything.
  void check_symbols();
  /// Binds what is known at the root; what the entry would refuse, if anything.
  std::string enter();

  void block(const std::vector<Tree> &nodes);
  void loop(const TreeNode &n);
  void allocate(const TreeNode &n);
  void hoist(const TreeNode &n);
  void stage(StageId s);
  /// Cells, and which of their values.
  using WrittenCells = std::vector<std::pair<Coordinates, std::vector<int>>>;
  void write_back(const StageProgram &definition);
  void write_anything(const StageProgram &definition);
  WrittenCells cells_of_no_instance(const StageProgram &definition);
  /// With the points of an instance as its slots.
  WrittenCells written_cells(const StageProgram &definition, const std::vector<Value> &slots);
  void check_outputs();

  Value read_other(int func, const Coordinates &at, int value_index);
  Value read_own(const Coordinates &at, int value_index);
  void check_domain(const StageProgram &p);
  void touch(Storage &storage, const Coordinates &at, int value_index, bool writes,
             const Point *again = nullptr);
  /// The place of the instance that runs in the order in which lanes of `loop` take turns: what is
  /// inside of it runs around them.
  Coordinates turn_of(const LoopInfo &loop) const;
  /// Productions and consumptions of an async Func are counted, which pairs those of one iteration
  /// only where iterations have an order.
  void check_pairing(int func, const Coordinates &at);
  Storage &storage_of(int func, const Coordinates &at, const char *verb);
  int num_values(const Storage &storage) const;
  void check_content(const Storage &storage, const Coordinates &at, int value_index,
                     const Content &wanted);

  NamedPoint named(const Point &p) const;
  std::string describe(const Point &p) const;
  std::string cell_text(const std::string &func, const Coordinates &at) const;
  [[noreturn]] void fail(char claim, const std::string &func, const Coordinates &cell,
                         const std::string &text, const std::optional<Point> &other = {});

  const LoopTree &tree_;
  const Survey &survey_;
  const Experiment &experiment_;
  const Limits limits_;
  Data data_;
  Constants constants_;
  Reference reference_;
  Slots slots_;
  std::vector<Value> values_;  // by slot
  std::vector<CompiledLoop> loops_;
  std::vector<std::vector<CompiledStage>> stages_;
  std::vector<CompiledFunc> funcs_;
  std::unordered_map<const TreeNode *, Program> branches_;   // their conditions
  std::vector<std::unique_ptr<Storage>> storages_;           // [func]; null: not allocated now
  std::map<int, std::unique_ptr<HoistedMemory>> memories_;   // [func]
  std::vector<std::unique_ptr<ConcurrentLoop>> concurrent_;  // outermost first
  std::vector<RunningLoop> running_;                         // outermost first
  std::vector<int> parent_;                                  // [loop]
  std::map<int, size_t> forks_;  // [func] how many loops were running where its task began
  std::map<std::string, std::vector<Extent>> inputs_;  // boxes that are read
  std::vector<CompiledSymbol> root_symbols_;
  std::optional<std::pair<std::string, int64_t>> beyond_;  // a symbol that is, and its value
  std::optional<Point> now_;                               // the instance that runs
  StageId branch_;       // its stage, or the branch that runs in its place
  bool unused_ = false;  // what it stores, nobody uses: what it reads may be anything
  Enumeration result_;
};

}  // namespace polyhalite::oracle
