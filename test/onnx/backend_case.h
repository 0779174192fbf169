// Cases of ONNX's backend test data: a model, and inputs and outputs as files.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/program.h"

namespace polyhalite::onnx {

/// Folders below `root` that hold a model.onnx and test_data_set_0, in order.
std::vector<std::string> find_cases(const std::string &root);

/// What is wrong with the outputs for the case's inputs, or "": relative tolerance 1e-3, absolute
/// 1e-7, equal shapes and types; NaN meets NaN.
std::string run_case(const std::string &folder, const CompileOptions &options);

/// What differs, or "".
std::string compare(const Constant &got, const Constant &wanted, double relative, double absolute);
std::string compare(const Item &got, const Item &wanted, double relative, double absolute);

}  // namespace polyhalite::onnx
