// RegionProgram: the graph inside an If, a Loop or a Scan as a program of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/onnx/session.h"

namespace polyhalite::onnx {

class RegionProgram {
 public:
  /// The last operands of the region are the node's operands from `captures` on.
  RegionProgram(const Graph &g, const Node &n, const std::string &attribute, size_t captures,
                const CompileOptions &options);

  /// Results in order, for the region's operands in order.
  std::vector<Constant> run(const std::vector<Constant> &operands) const;
  /// Session::program_by_shapes.
  std::shared_ptr<const Program> program_by_shapes(const std::vector<Constant> &operands) const;
  /// Operands by the names that they have in the program.
  Program::Tensors named(const std::vector<Constant> &operands) const;
  /// Which operand has this name.
  size_t position(const std::string &name) const;

 private:
  std::shared_ptr<const Graph> region_;
  std::shared_ptr<Session> session_;
};

}  // namespace polyhalite::onnx
