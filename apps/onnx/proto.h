// The messages of an ONNX model as they stand in its file. Names and elements are views of the
// file. Field numbers are the format's (onnx.proto of IR 13).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace polyhalite::onnx {

class WireReader;

struct TensorProto {
  std::string name;
  std::vector<int64_t> dims;
  int data_type = 0;
  std::string_view raw;
  bool has_raw = false;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> int32s, int64s, uint64s;
  std::vector<std::string> strings;
  std::vector<std::pair<std::string, std::string>> external;
  int data_location = 0;  // 1: external
  bool segmented = false;
};

struct DimProto {
  std::optional<int64_t> value;
  std::string param;
};
struct TypeProto {
  enum Kind { None, Tensor, Sequence, Map, Optional, Opaque, Sparse } kind = None;
  int element = 0;
  std::optional<std::vector<DimProto>> shape;
  std::shared_ptr<const TypeProto> inside;  // of a sequence's elements, of an optional value
};
struct ValueInfoProto {
  std::string name;
  TypeProto type;
};

struct GraphProto;
struct AttributeProto {
  std::string name, reference;  // `reference`: of the function's attribute that it takes
  int type = 0;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<TensorProto> t, tensors;
  std::vector<GraphProto> g, graphs;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  bool other = false;  // a type or a sparse tensor
};

struct NodeProto {
  std::string name, op_type, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<AttributeProto> attributes;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfoProto> inputs, outputs, value_info;
  int sparse_initializers = 0;
};

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<AttributeProto> attribute_defaults;
  std::vector<NodeProto> nodes;
  std::map<std::string, int64_t> opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;
  std::optional<GraphProto> graph;
  std::vector<FunctionProto> functions;
  int training = 0;
  /// "GraphProto field 99": parts of the file that this reader does not know, each once.
  std::vector<std::string> unknown;
};

struct SequenceProto {
  std::vector<TensorProto> tensors;
  bool other = false;  // has elements that are no tensors
};
struct OptionalProto {
  std::optional<TensorProto> tensor;
  std::optional<SequenceProto> sequence;
  bool other = false;
};

/// Throws CompileError for what is no message; `file` names it there and outlives the reader.
ModelProto read_model(const std::string &file, const uint8_t *bytes, size_t size);
TensorProto read_tensor(const std::string &file, const uint8_t *bytes, size_t size);
SequenceProto read_sequence(const std::string &file, const uint8_t *bytes, size_t size);
OptionalProto read_optional(const std::string &file, const uint8_t *bytes, size_t size);

}  // namespace polyhalite::onnx
