#include "apps/onnx/item_file.h"

#include "apps/onnx/mapped_file.h"
#include "apps/onnx/read_constant.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

Item load_item(const std::string &path, ItemForm form) {
  const auto file = MappedFile::open(path);
  auto refuse = [&](bool other) {
    if (!other) return;
    user_error("'" + path + "' holds other things than tensors",
               "maps and sequences of sequences are not supported", "give tensors");
  };
  auto tensor = [&](const TensorProto &t) { return read_constant(t, nullptr, file); };
  auto sequence = [&](const SequenceProto &s) {
    refuse(s.other);
    std::vector<Constant> list;
    for (const TensorProto &t : s.tensors) list.push_back(tensor(t));
    return list;
  };
  if (form.optional) {
    const OptionalProto o = read_optional(path, file->data(), file->size());
    refuse(o.other);
    if (o.sequence) return sequence(*o.sequence);
    if (o.tensor) return tensor(*o.tensor);
    return std::monostate();
  }
  if (form.sequence) return sequence(read_sequence(path, file->data(), file->size()));
  return tensor(read_tensor(path, file->data(), file->size()));
}

}  // namespace polyhalite::onnx
