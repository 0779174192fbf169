// Arguments that somebody has to make up so that a pipeline can be run: buffers of given boxes with
// small numbers in them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "autosched/estimates.h"
#include "lang/ir/freeze.h"
#include "polyhalite/runtime_buffer.h"

namespace polyhalite {

class MadeUpArguments {
 public:
  using Boxes = std::map<std::string, autosched::NumberBox>;  // by parameter
  /// `outputs` in the algorithm's order. Scalars have their values, or 1. An image without a box
  /// has no memory, so that a call asks for its box.
  MadeUpArguments(const Algorithm &algorithm, const Boxes &images,
                  const std::vector<autosched::NumberBox> &outputs);

  /// For CompiledPipeline::call(), while this object is there.
  const std::vector<void *> &pointers() const { return pointers_; }
  /// The boxes of the images, as a call that was asked for them left them behind.
  Boxes image_boxes() const;

 private:
  std::vector<runtime::Buffer<>> buffers_;
  std::vector<uint64_t> scalars_;
  std::vector<void *> pointers_;
  std::map<std::string, size_t> images_;  // among the buffers
};

}  // namespace polyhalite
