#include "apps/onnx/attribute_texts.h"

#include <algorithm>

namespace polyhalite::onnx {

namespace {

struct Row {
  const char *attribute;
  std::vector<const char *> ops;
  std::vector<std::string> texts;
};

// Of all versions.
const Row kRows[] = {
    {"approximate", {"Gelu"}, {"none", "tanh"}},
    {"auto_pad",
     {"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"},
     {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}},
    {"coordinate_transformation_mode",
     {"Resize"},
     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
      "tf_crop_and_resize", "tf_half_pixel_for_nn"}},
    {"coordinate_transformation_mode", {"RoiAlign"}, {"half_pixel", "output_half_pixel"}},
    {"direction", {"BitShift"}, {"LEFT", "RIGHT"}},
    {"direction", {"GRU", "LSTM", "RNN"}, {"forward", "reverse", "bidirectional"}},
    {"keep_aspect_ratio_policy", {"Resize"}, {"stretch", "not_larger", "not_smaller"}},
    {"mode", {"DepthToSpace", "SpaceToDepth"}, {"DCR", "CRD"}},
    {"mode", {"GridSample"}, {"linear", "bilinear", "nearest", "cubic", "bicubic"}},
    {"mode", {"Pad"}, {"constant", "reflect", "edge", "wrap"}},
    {"mode", {"Resize"}, {"nearest", "linear", "cubic"}},
    {"mode", {"RoiAlign"}, {"avg", "max"}},
    {"mode", {"TensorScatter"}, {"linear", "circular"}},
    {"mode", {"TfIdfVectorizer"}, {"TF", "IDF", "TFIDF"}},
    {"mode", {"Upsample"}, {"nearest", "linear", "bilinear"}},
    {"nearest_mode", {"Resize"}, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}},
    {"padding_mode", {"GridSample"}, {"zeros", "border", "reflection"}},
    {"reduction",
     {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"},
     {"none", "sum", "mean"}},
    {"reduction", {"ScatterElements", "ScatterND"}, {"none", "add", "mul", "max", "min"}},
};

}  // namespace

std::vector<std::string> allowed_texts(const std::string &op, const std::string &attribute) {
  for (const Row &r : kRows) {
    if (attribute == r.attribute &&
        std::any_of(r.ops.begin(), r.ops.end(), [&](const char *name) { return op == name; }))
      return r.texts;
  }
  return {};
}

}  // namespace polyhalite::onnx
