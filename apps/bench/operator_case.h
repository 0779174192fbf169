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
  /// After each has run once: empty, or whose result differs from ours, and by how much.
  std::function<std::string()> check;
};

struct OperatorCase {
  std::string name, shape, type;
  double work = 0;  // operations
  /// Operations of this type per second at best, over those of f32 multiply-adds.
  double share_of_peak = 1;
  std::function<PreparedOperator()> prepare;
};

std::vector<OperatorCase> matmul_cases();
std::vector<OperatorCase> convolution_cases();
std::vector<OperatorCase> operator_cases();

/// Of every peer.
void set_peer_threads(int threads);

}  // namespace polyhalite_apps
