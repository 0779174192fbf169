#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

const std::vector<GraphPass> &graph_passes() {
  static const std::vector<GraphPass> list = {
      {"remove_dead_nodes", remove_dead_nodes},
      {"widen_halves", widen_halves},
      {"remove_copies", remove_copies},
      {"fold_batch_norm", fold_batch_norm},
      {"join_group_norm", join_group_norm},
      {"crop_kernels", crop_kernels},
      {"split_kernels", split_kernels},
      {"share_common_nodes", share_common_nodes},
      {"join_swish", join_swish},
      {"sum_weights", sum_weights},
      {"remove_dead_nodes_last", remove_dead_nodes},
  };
  return list;
}

}  // namespace polyhalite::onnx
