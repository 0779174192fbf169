// Tensors of the command line: names and shapes, files, random elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/onnx/constant.h"

namespace polyhalite::cli {

/// "name=1,3,224,224" entries by name. CompileError for other texts.
std::map<std::string, std::vector<int64_t>> parse_shapes(const std::vector<std::string> &list);
/// "name=file" entries by name; those of one name in order.
std::map<std::string, std::vector<std::string>> parse_files(const std::vector<std::string> &list);

/// A .npy or .pb file.
onnx::Constant read_tensor_file(const std::string &path);
void write_npy(const std::string &path, const onnx::Constant &tensor);
/// Floats of a normal distribution, integers from 0 to 9; equal seeds give equal elements.
onnx::Constant random_tensor(onnx::ElementType type, const std::vector<int64_t> &shape,
                             uint64_t seed);

}  // namespace polyhalite::cli
