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
      {"pixel_products", pixel_products},
      {"share_common_nodes", share_common_nodes},
      {"join_swish", join_swish},
      {"sum_weights", sum_weights},
      {"remove_dead_nodes_last", remove_dead_nodes},
  };
  return list;
}

const std::vector<MachinePass> &machine_passes() {
  static const std::vector<MachinePass> list = {
      {"winograd_kernels", winograd_kernels},
      {"strip_kernels", strip_kernels},
      {"sign_weights", sign_weights},
      {"winograd_bytes", winograd_bytes},
      {"pack_bytes", pack_bytes},
      {"pack_blocks", pack_blocks},
  };
  return list;
}

const std::set<std::string> &switchable_passes() {
  static const std::set<std::string> all = [] {
    std::set<std::string> names = {"join_quantized", "fold_weights", "sort_between_kernels",
                                   "turn_images",    "fuse",         "choose_layouts"};
    for (const GraphPass &p : graph_passes()) names.insert(p.name);
    for (const MachinePass &p : machine_passes()) names.insert(p.name);
    return names;
  }();
  return all;
}

}  // namespace polyhalite::onnx
