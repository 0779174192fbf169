// A product of matrices for the matrix units of a GPU.
#pragma once

#include <string>

namespace polyhalite_apps {

/// PTX for compute capability 8.0 of a product of float16 matrices, written through `file`.
std::string ptx_of_product(const std::string &file);

}  // namespace polyhalite_apps
