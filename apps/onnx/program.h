// Program: a model compiled for certain sizes: kernels, the order of their calls, and where in
// memory each value lies.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "apps/onnx/control.h"
#include "apps/onnx/fuse.h"
#include "apps/onnx/infer.h"
#include "apps/onnx/kernel.h"
#include "apps/onnx/kernel_cache.h"
#include "apps/onnx/memory_pool.h"
#include "apps/onnx/model.h"
#include "apps/onnx/random_keys.h"
#include "apps/onnx/run_plan.h"

namespace polyhalite::onnx {

enum class Engine { Compiled, Interpreter };

struct CompileOptions {
  Target target;  // by default this machine
  Engine engine = Engine::Compiled;
  bool optimize = true;                                // fusion and the passes over graphs
  std::set<std::string> switched_off;                  // names of passes
  std::map<std::string, int64_t> sizes;                // of symbols, to be constants
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs by name
  std::map<std::string, Constant> constants;           // inputs whose elements are known
  Findings findings;                                   // of values that the graph computes
  int threads = 2;                                     // that compile
  // Of a Session: the sizes of the first run become constants, in a program of its own. Others
  // share the one for open sizes.
  bool first_sizes = false;
  // What the keys of runs are drawn from; where it is null, from the system's random numbers.
  std::shared_ptr<RandomSource> random;
  // Code of programs made before; where it is null, of none.
  std::shared_ptr<KernelCache> kernels;
};

/// How a kernel sees a value.
struct BufferShape {
  Shape shape;
  Layout layout;
};

/// One call of a kernel, or of a node that runs between kernels.
struct Step {
  size_t kernel;  // where there is no `host`
  std::vector<ValueId> inputs, outputs;
  std::vector<Dim> symbols;               // the kernel's, over those of the program
  std::string nodes;                      // for reports: "Conv 'conv1' + Relu 'relu1'"
  size_t node = 0;                        // of `host`
  HostRoutine host = nullptr;             // all operands and results of the node, in order
  std::vector<BufferShape> buffers = {};  // of a kernel, for inputs and then for outputs
};

/// Where a value's elements are while the program runs.
struct Place {
  enum Kind { Nowhere, Input, Output, Weight, Arena } kind = Nowhere;
  size_t index = 0;  // of an input, output or weight
};

struct KernelTime {
  std::string nodes;
  double seconds = 0;
};

/// What has to be known before a program can be made.
struct Needs {
  std::set<std::string> sizes;  // symbols of the inputs' shapes
  std::set<ValueId> inputs;     // their elements
  // Values whose elements are wanted, and values whose shapes are, which follow from elements: what
  // makes them has to be run.
  std::set<ValueId> elements, shapes;
  bool empty() const {
    return sizes.empty() && inputs.empty() && elements.empty() && shapes.empty();
  }
};

/// A run has found sizes that differ, and the program takes them for equal. Where these symbols are
/// numbers, another program serves.
class UnequalSizes : public RuntimeError {
 public:
  UnequalSizes(Diagnostic d, std::set<std::string> names)
      : RuntimeError(std::move(d)), symbols(std::move(names)) {}
  std::set<std::string> symbols;
};

class Program {
 public:
  /// CompileError with every problem of the model for these sizes.
  Program(const Model &model, const CompileOptions &options);

  using Tensors = std::map<std::string, Constant>;
  /// Outputs by name, for inputs by name. CompileError for inputs that are missing, of another type
  /// or of shapes that do not fit; RuntimeError where a kernel fails, UnequalSizes (which a Session
  /// knows what to do with). `times`: seconds of each step
  /// are added to it. Where random numbers are drawn and no key is given, the run has one of its
  /// own. May be called from many threads.
  Tensors run(const Tensors &inputs, std::vector<KernelTime> *times = nullptr) const;
  /// CompileError for inputs that do not fit.
  std::shared_ptr<const RunPlan> plan_for(const Tensors &inputs) const;

  /// Empty where the program can run. Where it is not, the graph is canonical and inferred as far
  /// as that goes.
  const Needs &needs() const { return needs_; }
  /// Symbols of sizes that were taken for equal to others, and are not for these inputs.
  std::set<std::string> unequal_sizes(const Tensors &inputs) const;
  const Graph &graph() const { return graph_; }
  /// An output of the model, and its tensors by the names that run() has for them: "y"; "y[0]" and
  /// so on of a sequence; "y" for all elements of one shape, whose number the run decides.
  struct Output {
    std::string name;
    OutputForm form;
    std::vector<std::string> tensors;
  };
  const std::vector<Output> &outputs() const { return outputs_; }
  const std::vector<Kernel> &kernels() const { return kernels_; }
  const std::vector<Step> &steps() const { return steps_; }
  const Place &place(ValueId v) const {
    return places_[static_cast<size_t>(roots_[static_cast<size_t>(v)])];
  }
  ValueId root(ValueId v) const { return roots_[static_cast<size_t>(v)]; }
  /// Elements as kernels read them, in the order of Place::index.
  struct Weight {
    ValueId value;
    std::vector<uint8_t> packed;  // empty: a view of the model
    const uint8_t *data;
    size_t bytes;
  };
  const std::vector<Weight> &weights() const { return weights_; }
  /// For sizes of the symbols. Values whose sizes are not known before the program runs have
  /// memory of their own.
  ArenaPlan arena(const std::map<std::string, int64_t> &sizes) const;
  struct Times {
    double import = 0, kernels = 0, code = 0;  // seconds
  };
  const Times &times() const { return times_; }
  /// Text of the program: counts, memory, one line for each step.
  std::string report() const;

 private:
  friend class ProgramRun;
  void specialize(const CompileOptions &options);
  void name_outputs(const Model &model, const InferenceReport &report);
  void find_needs(const InferenceReport &report);
  void place_values();
  void compile_kernels(const CompileOptions &options);
  bool fits(const RunPlan &plan, const Tensors &inputs) const;
  CallPlan plan_call(const Step &s, const std::map<std::string, int64_t> &sizes) const;
  std::map<std::string, int64_t> sizes_of(const Tensors &inputs) const;
  Type type_of(ValueId v) const { return *language_type(graph_.value(v).type); }
  int64_t bytes_of(ValueId v, const std::vector<int64_t> &shape) const;
  std::vector<int64_t> shape_of(ValueId v, const std::map<std::string, int64_t> &sizes) const {
    return sizes_in(*graph_.value(v).shape, v, sizes);
  }
  /// Of a shape of v. CompileError where a size is too large.
  std::vector<int64_t> sizes_in(const Shape &shape, ValueId v,
                                const std::map<std::string, int64_t> &sizes) const;
  bool has_sizes(ValueId v, const std::map<std::string, int64_t> &sizes) const;

  Graph graph_;
  std::vector<Output> outputs_;
  std::vector<std::string> output_names_;  // of the graph's outputs
  Needs needs_;
  Engine engine_;
  std::shared_ptr<RandomSource> random_;
  Target target_;
  std::vector<Group> groups_;
  std::vector<Kernel> kernels_;
  std::vector<Step> steps_;
  std::vector<ValueId> roots_;
  std::vector<Place> places_;
  std::map<ValueId, Layout> layouts_;
  std::vector<Weight> weights_;
  // Differences of sizes that are taken for equal, by each symbol that runs find.
  std::map<std::string, std::vector<Dim>> assumed_zero_;
  std::shared_ptr<MemoryPool> memory_ = std::make_shared<MemoryPool>();
  // Of the last run: the next one's inputs have the same shapes most of the time.
  struct LastPlan {
    std::mutex mutex;
    std::shared_ptr<const RunPlan> plan;
  };
  std::shared_ptr<LastPlan> last_plan_ = std::make_shared<LastPlan>();
  Times times_;
};

}  // namespace polyhalite::onnx
