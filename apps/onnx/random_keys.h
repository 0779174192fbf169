// Random numbers: what makes them differ between runs, nodes and turns of loops. A kernel computes
// them from a key and from the places of its elements, so that they are the same for any schedule
// and any number of threads, and no kernel has a state.
#pragma once

#include <atomic>
#include <cstdint>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// The input that a graph with random nodes has beside those of the model: uint32[4], of which the
/// first two follow from the session and the others from the run.
inline constexpr const char *kRandomKey = "random key";

/// Nodes that draw numbers get keys, and a number each, so that no two of them draw the same:
///
///   %y = RandomNormalLike(%x) {seed = 7}
///     ->  %k = RandomKey(%"random key", {3, 1, 7});  %y = RandomNormalLike(%x, %k)
///
/// A node with a seed takes what follows from the run only. Keys are states of Loop and Scan, and
/// other ones in each turn. Bernoulli, Multinomial and Dropout that drops become nodes around
/// RandomUniformLike. Before close_regions(), and once for a graph with all of its regions.
Graph add_random_keys(Graph g);

/// Has the graph the input of a key; and will it have one?
bool has_random_key(const Graph &g);
bool takes_random_key(const Graph &g);

/// Keys of the runs of a session.
class RandomSource {
 public:
  /// From the system's random numbers.
  RandomSource();
  explicit RandomSource(uint64_t seed) : seed_(seed) {}
  Constant next();

 private:
  const uint64_t seed_;
  std::atomic<uint64_t> runs_{0};
};

}  // namespace polyhalite::onnx
