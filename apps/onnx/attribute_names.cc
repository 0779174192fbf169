#include "apps/onnx/attribute_names.h"

#include <algorithm>
#include <climits>
#include <sstream>

namespace polyhalite::onnx {

namespace {

struct Names {
  const char *op, *attributes;
};

// Facts of the format up to opset 28, in order of names: "name first-end" of each attribute, where
// it came after the operator's first version, or went with a later one.
const Names kNames[] = {
    {"Abs", "consumed_inputs -6"},
    {"Acos", ""},
    {"Acosh", ""},
    {"Add", "axis -7, broadcast -7, consumed_inputs -6"},
    {"AffineGrid", "align_corners"},
    {"And", "axis -7, broadcast -7"},
    {"ArgMax", "axis, keepdims, select_last_index 12-"},
    {"ArgMin", "axis, keepdims, select_last_index 12-"},
    {"Asin", ""},
    {"Asinh", ""},
    {"Atan", ""},
    {"Atanh", ""},
    {"Attention",
     "is_causal, kv_num_heads, left_window_size 25-, q_num_heads, qk_matmul_output_mode, "
     "right_window_size 25-, scale, softcap, softmax_precision"},
    {"AveragePool",
     "auto_pad, ceil_mode 10-, count_include_pad 7-, dilations 19-, kernel_shape, pads, strides"},
    {"BatchNormalization",
     "consumed_inputs -6, epsilon, is_test -7, momentum, spatial -9, training_mode 14-"},
    {"Bernoulli", "dtype, seed"},
    {"BitCast", "to"},
    {"BitShift", "direction"},
    {"BitwiseAnd", ""},
    {"BitwiseNot", ""},
    {"BitwiseOr", ""},
    {"BitwiseXor", ""},
    {"BlackmanWindow", "output_datatype, periodic"},
    {"Cast", "round_mode 24-, saturate 19-, to"},
    {"CastLike", "round_mode 24-, saturate 19-"},
    {"CausalConvWithState", "activation"},
    {"Ceil", "consumed_inputs -6"},
    {"Celu", "alpha"},
    {"CenterCropPad", "axes"},
    {"Clip", "consumed_inputs -6, max -11, min -11"},
    {"Col2Im", "dilations, pads, strides"},
    {"Compress", "axis"},
    {"Concat", "axis"},
    {"ConcatFromSequence", "axis, new_axis"},
    {"Constant",
     "sparse_value 11-, value, value_float 12-, value_floats 12-, value_int 12-, value_ints 12-, "
     "value_string 12-, value_strings 12-"},
    {"ConstantOfShape", "value"},
    {"Conv", "auto_pad, dilations, group, kernel_shape, pads, strides"},
    {"ConvInteger", "auto_pad, dilations, group, kernel_shape, pads, strides"},
    {"ConvTranspose",
     "auto_pad, dilations, group, kernel_shape, output_padding, output_shape, pads, strides"},
    {"Cos", ""},
    {"Cosh", ""},
    {"CumProd", "exclusive, reverse"},
    {"CumSum", "exclusive, reverse"},
    {"DFT", "axis -20, inverse, onesided"},
    {"DeformConv", "dilations, group, kernel_shape, offset_group, pads, strides"},
    {"DepthToSpace", "blocksize, mode 11-"},
    {"DequantizeLinear", "axis 13-, block_size 21-, output_dtype 23-"},
    {"Det", ""},
    {"Div", "axis -7, broadcast -7, consumed_inputs -6"},
    {"Dropout", "consumed_inputs -6, is_test -7, ratio -12, seed 12-"},
    {"DynamicQuantizeLinear", ""},
    {"Einsum", "equation"},
    {"Elu", "alpha, consumed_inputs -6"},
    {"Equal", "axis -7, broadcast -7"},
    {"Erf", ""},
    {"Exp", "consumed_inputs -6"},
    {"Expand", ""},
    {"EyeLike", "dtype, k"},
    {"Flatten", "axis"},
    {"Floor", "consumed_inputs -6"},
    {"GRU",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, layout 14-, "
     "linear_before_reset 3-, output_sequence -7"},
    {"Gather", "axis"},
    {"GatherElements", "axis"},
    {"GatherND", "batch_dims 12-"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha, beta, broadcast -7, transA, transB"},
    {"GlobalAveragePool", ""},
    {"GlobalLpPool", "p"},
    {"GlobalMaxPool", ""},
    {"Greater", "axis -7, broadcast -7"},
    {"GreaterOrEqual", ""},
    {"GridSample", "align_corners, mode, padding_mode"},
    {"GroupNormalization", "epsilon, num_groups, stash_type 21-"},
    {"HammingWindow", "output_datatype, periodic"},
    {"HannWindow", "output_datatype, periodic"},
    {"HardSigmoid", "alpha, beta, consumed_inputs -6"},
    {"HardSwish", ""},
    {"Hardmax", "axis"},
    {"Identity", ""},
    {"If", "else_branch, then_branch"},
    {"ImageDecoder", "pixel_format"},
    {"InstanceNormalization", "consumed_inputs -6, epsilon"},
    {"IsInf", "detect_negative, detect_positive"},
    {"IsNaN", ""},
    {"LRN", "alpha, beta, bias, size"},
    {"LSTM",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, input_forget, "
     "layout 14-, output_sequence -7"},
    {"LayerNormalization", "axis, epsilon, stash_type"},
    {"LeakyRelu", "alpha, consumed_inputs -6"},
    {"Less", "axis -7, broadcast -7"},
    {"LessOrEqual", ""},
    {"LinearAttention", "chunk_size, kv_num_heads, q_num_heads, scale, update_rule"},
    {"Log", "consumed_inputs -6"},
    {"LogSoftmax", "axis"},
    {"Loop", "body"},
    {"LpNormalization", "axis, p"},
    {"LpPool", "auto_pad, ceil_mode 18-, dilations 18-, kernel_shape, p, pads, strides"},
    {"MatMul", ""},
    {"MatMulInteger", ""},
    {"Max", "consumed_inputs -6"},
    {"MaxPool",
     "auto_pad, ceil_mode 10-, dilations 10-, kernel_shape, pads, storage_order 8-, strides"},
    {"MaxRoiPool", "pooled_shape, spatial_scale"},
    {"MaxUnpool", "kernel_shape, pads, strides"},
    {"Mean", "consumed_inputs -6"},
    {"MeanVarianceNormalization", "axes"},
    {"MelWeightMatrix", "output_datatype"},
    {"Min", "consumed_inputs -6"},
    {"Mish", ""},
    {"Mod", "fmod"},
    {"Mul", "axis -7, broadcast -7, consumed_inputs -6"},
    {"Multinomial", "dtype, sample_size, seed"},
    {"Neg", "consumed_inputs -6"},
    {"NegativeLogLikelihoodLoss", "ignore_index, reduction"},
    {"NonMaxSuppression", "center_point_box"},
    {"NonZero", ""},
    {"Not", ""},
    {"OneHot", "axis"},
    {"Optional", "type"},
    {"OptionalGetElement", ""},
    {"OptionalHasElement", ""},
    {"Or", "axis -7, broadcast -7"},
    {"PRelu", "consumed_inputs -6"},
    {"Pad", "mode, paddings -2, pads 2-11, value -11"},
    {"Pow", "axis -7, broadcast -7"},
    {"QLinearConv", "auto_pad, dilations, group, kernel_shape, pads, strides"},
    {"QLinearMatMul", ""},
    {"QuantizeLinear", "axis 13-, block_size 21-, output_dtype 21-, precision 23-, saturate 19-"},
    {"RMSNormalization", "axis, epsilon, stash_type"},
    {"RNN",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, layout 14-, "
     "output_sequence -7"},
    {"RandomNormal", "dtype, mean, scale, seed, shape"},
    {"RandomNormalLike", "dtype, mean, scale, seed"},
    {"RandomUniform", "dtype, high, low, seed, shape"},
    {"RandomUniformLike", "dtype, high, low, seed"},
    {"Range", "stash_type 27-"},
    {"Reciprocal", "consumed_inputs -6"},
    {"ReduceL1", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceL2", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceLogSum", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceLogSumExp", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceMax", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceMean", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceMin", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceProd", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"ReduceSum", "axes -13, keepdims, noop_with_empty_axes 13-"},
    {"ReduceSumSquare", "axes -18, keepdims, noop_with_empty_axes 18-"},
    {"RegexFullMatch", "pattern"},
    {"Relu", "consumed_inputs -6"},
    {"Reshape", "allowzero 14-, consumed_inputs -5, shape -5"},
    {"Resize",
     "antialias 18-, axes 18-, coordinate_transformation_mode 11-, cubic_coeff_a 11-, "
     "exclude_outside 11-, extrapolation_value 11-, keep_aspect_ratio_policy 18-, mode, "
     "nearest_mode 11-"},
    {"ReverseSequence", "batch_axis, time_axis"},
    {"RoiAlign",
     "coordinate_transformation_mode 16-, mode, output_height, output_width, sampling_ratio, "
     "spatial_scale"},
    {"RotaryEmbedding", "interleaved, num_heads, rotary_embedding_dim"},
    {"Round", ""},
    {"STFT", "onesided"},
    {"Scan",
     "body, directions -9, num_scan_inputs, scan_input_axes 9-, scan_input_directions 9-, "
     "scan_output_axes 9-, scan_output_directions 9-"},
    {"Scatter", "axis"},
    {"ScatterElements", "axis, reduction 16-"},
    {"ScatterND", "reduction 16-"},
    {"Selu", "alpha, consumed_inputs -6, gamma"},
    {"SequenceAt", ""},
    {"SequenceConstruct", ""},
    {"SequenceEmpty", "dtype"},
    {"SequenceErase", ""},
    {"SequenceInsert", ""},
    {"SequenceLength", ""},
    {"SequenceMap", "body"},
    {"Shape", "end 15-, start 15-"},
    {"Shrink", "bias, lambd"},
    {"Sigmoid", "consumed_inputs -6"},
    {"Sign", ""},
    {"Sin", ""},
    {"Sinh", ""},
    {"Size", ""},
    {"Slice", "axes -10, ends -10, starts -10"},
    {"Softmax", "axis"},
    {"SoftmaxCrossEntropyLoss", "ignore_index, reduction"},
    {"Softplus", ""},
    {"Softsign", ""},
    {"SpaceToDepth", "blocksize, mode 28-"},
    {"Split", "axis, num_outputs 18-, split -13"},
    {"SplitToSequence", "axis, keepdims"},
    {"Sqrt", "consumed_inputs -6"},
    {"Squeeze", "axes -13"},
    {"StringConcat", ""},
    {"StringNormalizer", "case_change_action, is_case_sensitive, locale, stopwords"},
    {"StringSplit", "delimiter, maxsplit"},
    {"Sub", "axis -7, broadcast -7, consumed_inputs -6"},
    {"Sum", "consumed_inputs -6"},
    {"SwiGLU", "alpha"},
    {"Swish", "alpha"},
    {"Tan", ""},
    {"Tanh", "consumed_inputs -6"},
    {"TensorScatter", "axis, mode"},
    {"TfIdfVectorizer",
     "max_gram_length, max_skip_count, min_gram_length, mode, ngram_counts, ngram_indexes, "
     "pool_int64s, pool_strings, weights"},
    {"ThresholdedRelu", "alpha"},
    {"Tile", ""},
    {"TopK", "axis, k -10, largest 11-, sorted 11-"},
    {"Transpose", "perm"},
    {"Trilu", "upper"},
    {"Unique", "axis, sorted"},
    {"Unsqueeze", "axes -13"},
    {"Upsample", "height_scale -7, mode, scales 7-9, width_scale -7"},
    {"Where", ""},
    {"Xor", "axis -7, broadcast -7"},
};

}  // namespace

std::string why_unknown(const std::string &op, int version, const std::string &attribute) {
  const Names *row = std::lower_bound(
      std::begin(kNames), std::end(kNames), op,
      [](const Names &r, const std::string &name) { return name.compare(r.op) > 0; });
  if (row == std::end(kNames) || op != row->op) return "";
  std::istringstream attributes(row->attributes);
  std::string known;
  for (std::string one; std::getline(attributes >> std::ws, one, ',');) {
    const size_t space = one.find(' '), dash = one.find('-', space);
    const std::string name = one.substr(0, space);
    int first = 0, end = INT_MAX;
    if (space != std::string::npos) {
      if (dash > space + 1) first = std::stoi(one.substr(space + 1));
      if (dash + 1 < one.size()) end = std::stoi(one.substr(dash + 1));
    }
    const bool is_asked = name == attribute;
    if (is_asked && version < first) return "it came with version " + std::to_string(first);
    if (is_asked && version >= end) return "it went with version " + std::to_string(end);
    if (is_asked) return "";
    if (version >= first && version < end) known += (known.empty() ? "" : ", ") + name;
  }
  return known.empty() ? "the operator has none" : "the operator has " + known;
}

}  // namespace polyhalite::onnx
