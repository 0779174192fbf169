// Kernels: groups of nodes as pipelines of the language.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/target.h"

namespace polyhalite::onnx {

/// Nodes that run together: all results but those of the last node are used inside only.
struct Group {
  std::vector<size_t> nodes;  // positions in the graph, in order
  std::vector<ValueId> inputs, outputs;
};

/// How a value lies in memory: the dimension of the tensor that is dimension k, innermost first;
/// empty: the last dimension is innermost.
using Layout = std::vector<int>;

/// A pipeline whose arguments are the values of `symbols`, then buffers of inputs and outputs.
struct Kernel {
  std::string signature;  // equal kernels have equal ones
  std::string name;       // a C identifier
  std::vector<std::string> symbols;
  std::shared_ptr<const FrozenPipeline> pipeline;
  std::shared_ptr<CompiledPipeline> code;  // in process, once compiled
};

/// The text by which equal kernels are found, and how the group's symbols are called in it.
std::string kernel_signature(const Graph &g, const Group &group,
                             const std::map<ValueId, Layout> &layouts);

/// CompileError where an operand does not fit.
Kernel make_kernel(const Graph &g, const Group &group, const std::map<ValueId, Layout> &layouts,
                   const Target &target);

/// The results of one node whose operands are constants, computed by the plain interpreter.
std::vector<Constant> evaluate(const Graph &g, const Node &node);

/// Whether the value's one element is written into kernels.
bool is_literal(const Value &v);

/// A buffer that views elements of this type and shape in this layout. Where there are none, it has
/// one element along each empty dimension, which is 0.
class BufferView {
 public:
  BufferView(Type type, const std::vector<int64_t> &shape, const Layout &layout,
             const uint8_t *data = nullptr);
  BufferView(const BufferView &o) { *this = o; }
  BufferView &operator=(const BufferView &o) {
    raw_ = o.raw_;
    dims_ = o.dims_;
    nothing_ = o.nothing_;
    raw_.dim = dims_.data();
    return *this;
  }
  polyhalite_buffer_t *raw() { return &raw_; }
  const polyhalite_buffer_t &raw() const { return raw_; }
  bool is_empty() const { return nothing_ != nullptr; }

 private:
  polyhalite_buffer_t raw_{};
  std::vector<polyhalite_dimension_t> dims_;
  std::shared_ptr<std::vector<uint8_t>> nothing_;
};

}  // namespace polyhalite::onnx
