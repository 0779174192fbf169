#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// Codes [column, block, byte], rows of a block side by side, as ops::block_product() takes them:
// the bytes are the same for both of its forms.
Constant packed_codes(const Constant &codes, int64_t bits, int64_t block, int64_t width,
                      bool as_bytes) {
  const int64_t columns = codes.shape()[0], each = 8 / bits, of_group = 4 * each;
  const int64_t depth = codes.shape()[1] * block, groups = depth / of_group;
  const int64_t strips = (columns + width - 1) / width, mask = (1 << bits) - 1;
  const int64_t size = strips * groups * width * 4;
  const auto bytes = weight_memory(static_cast<size_t>(size));
  std::memset(bytes.get(), 0, static_cast<size_t>(size));
  for (int64_t column = 0; column < columns; column++) {
    const uint8_t *from = codes.at(column * depth / each);
    for (int64_t group = 0; group < groups; group++) {
      uint8_t *to = bytes.get() + ((column / width * groups + group) * width + column % width) * 4;
      for (int64_t k = 0; k < of_group; k++) {
        const int64_t row = group * of_group + k, h = k / 4;
        const int64_t code = from[row / each] >> (row % each * bits) & mask;
        to[k % 4] = static_cast<uint8_t>(to[k % 4] | code << (h * bits));
      }
    }
  }
  if (as_bytes) return Constant(ElementType::UInt8, {strips, groups, width, 4}, bytes, bytes.get());
  return Constant(ElementType::UInt32, {strips, groups, width}, bytes, bytes.get());
}

// [column, block] as [strip, block, column], zeros beyond the last one.
Constant packed_list(const Constant &list, int64_t width) {
  const int64_t columns = list.shape()[0], blocks = list.shape()[1];
  const int64_t strips = (columns + width - 1) / width;
  const auto size = static_cast<size_t>(list.element_bytes());
  const size_t count = static_cast<size_t>(strips * blocks * width) * size;
  const auto bytes = weight_memory(count);
  std::memset(bytes.get(), 0, count);
  for (int64_t column = 0; column < columns; column++) {
    for (int64_t block = 0; block < blocks; block++) {
      const int64_t to = (column / width * blocks + block) * width + column % width;
      std::memcpy(bytes.get() + static_cast<size_t>(to) * size, list.at(column * blocks + block),
                  size);
    }
  }
  return Constant(list.type(), {strips, blocks, width}, bytes, bytes.get());
}

}  // namespace

Graph pack_blocks(Graph g, const Target &target) {
  constexpr int64_t kBytes = 4;  // the format's accuracy_level
  const int64_t width = ops::block_strip_width(target);
  const bool has_dots =
      target.arch == Target::X86 &&
      ops::dot_strips(Int(8), UInt(8), static_cast<int>(width), target).has_value();
  std::map<std::tuple<ValueId, bool>, ValueId> done;
  const auto packed = [&](ValueId v, bool as_bytes, const auto &pack) {
    const auto [at, fresh] = done.emplace(std::make_tuple(v, as_bytes), kNone);
    if (fresh) {
      const Value value = g.value(v);
      at->second = g.add_constant(value.name + ".strips", pack(*value.constant));
    }
    return at->second;
  };
  for (Node &n : g.nodes) {
    if (n.domain != kInternalDomain || n.op != "BlockProduct" || n.has("strips_of")) continue;
    const int64_t bits = n.integer("bits", 4), block = n.integer("block_size", 32);
    const auto known = [&](size_t i) { return g.value(n.inputs[i]).constant.has_value(); };
    if (block % (32 / bits) != 0 || !known(1) || !known(2) || (n.has_input(3) && !known(3)))
      continue;
    const bool as_bytes = has_dots && n.integer("accuracy_level", 0) == kBytes;
    n.inputs[1] = packed(n.inputs[1], as_bytes, [&](const Constant &c) {
      return packed_codes(c, bits, block, width, as_bytes);
    });
    for (size_t i = 2; i < n.inputs.size(); i++) {
      if (n.inputs[i] == kNone) continue;
      n.inputs[i] =
          packed(n.inputs[i], false, [&](const Constant &c) { return packed_list(c, width); });
    }
    n.attributes["strips_of"] = n.integer("N", 0);
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
