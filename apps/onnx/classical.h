// What operators of ai.onnx.ml share.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/expansion_call.h"

namespace polyhalite::onnx {

/// A list of numbers as a constant, and the attribute's list; an empty one where it is left out.
ValueId number_list(Call *c, const std::vector<float> &list);
std::vector<float> reals(const Call &c, const std::string &attribute);

/// Scores [rows, classes or targets] behind the attribute post_transform.
ValueId post_transformed(Call *c, ValueId scores, const std::string &how);

/// Labels of columns as the attribute classlabels_ints or classlabels_int64s lists them.
/// CompileError where they are texts.
std::vector<int64_t> class_labels(const Call &c, const std::string &attribute);

}  // namespace polyhalite::onnx
