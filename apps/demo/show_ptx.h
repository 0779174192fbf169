// A text of PTX in a few lines: its kernels, what they are made of, how it begins.
#pragma once

#include <string>

namespace polyhalite_apps {

/// A line for each kernel: the instructions that matrix products are made of; registers and spills
/// where ptxas is in PATH or CUDA's usual place.
std::string table_of_kernels(const std::string &ptx, const std::string &file);
/// The first `count` lines that say something.
std::string first_lines(const std::string &ptx, int count);

}  // namespace polyhalite_apps
