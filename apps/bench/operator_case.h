// The library's operators as the benchmark measures them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace polyhalite_apps {

struct Contender {
  std::string name;
  std::function<void()> run;
};

/// An operator with its operands, compiled, and what computes the same into results of its own.
struct PreparedOperator {
  std::function<void()> ours;
  std::vector<Contender> peers;
  /// Where memory is the limit: a copy that moves as many bytes. Empty elsewhere.
  std::function<void()> copy;
  /// After each has run once: empty, or whose result differs from ours, and by how much.
  std::function<std::string()> check;
};

struct OperatorCase {
  std::string group = "operator";  // what the row's name begins with
  std::string name, shape, type;
  double work = 0;   // operations; 0: none are counted
  double bytes = 0;  // read and written at least, where memory is the limit; else 0
  /// Operations of this type per second at best, over those of f32 multiply-adds.
  double share_of_peak = 1;
  std::function<PreparedOperator()> prepare;
};

/// (rows, depth) times (depth, columns).
struct ProductSize {
  int rows, columns, depth;
};

/// The sizes that are always measured, and `further` ones.
std::vector<OperatorCase> matmul_cases(const std::vector<ProductSize> &further);
std::vector<OperatorCase> convolution_cases();
std::vector<OperatorCase> math_cases();
std::vector<OperatorCase> layer_cases();
std::vector<OperatorCase> operator_cases(const std::vector<ProductSize> &further_products);

/// Of every peer.
void set_peer_threads(int threads);

}  // namespace polyhalite_apps
