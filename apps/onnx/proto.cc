#include "apps/onnx/proto.h"

#include <algorithm>

#include "apps/onnx/wire.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

// Reads messages; gathers what it does not know.
class Messages {
 public:
  std::vector<std::string> unknown;

  TensorProto tensor(WireReader r) {
    TensorProto t;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          r.integers(&t.dims);
          break;
        case 2:
          t.data_type = static_cast<int>(r.integer());
          break;
        case 3:
          t.segmented = true;
          r.skip();
          break;
        case 4:
          r.reals32(&t.floats);
          break;
        case 5:
          r.integers(&t.int32s);
          break;
        case 6:
          t.strings.push_back(r.text());
          break;
        case 7:
          r.integers(&t.int64s);
          break;
        case 8:
          t.name = r.text();
          break;
        case 9:
          t.raw = r.bytes();
          t.has_raw = true;
          break;
        case 10:
          r.reals64(&t.doubles);
          break;
        case 11:
          r.integers(&t.uint64s);
          break;
        case 13:
          t.external.push_back(entry(r.message()));
          break;
        case 14:
          t.data_location = static_cast<int>(r.integer());
          break;
        case 12:
        case 16:
          r.skip();
          break;  // text, metadata
        default:
          other("TensorProto", r);
      }
    }
    return t;
  }

  SequenceProto sequence(WireReader r) {
    SequenceProto s;
    while (r.next()) {
      switch (r.field()) {
        case 3:
          s.tensors.push_back(tensor(r.message()));
          break;
        case 1:
        case 2:
          r.skip();
          break;  // name, type
        default:
          s.other = true;
          r.skip();
      }
    }
    return s;
  }

  OptionalProto optional(WireReader r) {
    OptionalProto o;
    while (r.next()) {
      switch (r.field()) {
        case 3:
          o.tensor = tensor(r.message());
          break;
        case 5:
          o.sequence = sequence(r.message());
          break;
        case 1:
        case 2:
          r.skip();
          break;  // name, type
        default:
          o.other = true;
          r.skip();
      }
    }
    return o;
  }

  ModelProto model(WireReader r) {
    ModelProto m;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          m.ir_version = r.integer();
          break;
        case 2:
          m.producer = r.text();
          break;
        case 7: {
          if (m.graph) r.fail("the model has two graphs");
          m.graph = graph(r.message());
          break;
        }
        case 8:
          opset(r.message(), &m.opsets);
          break;
        case 20:
          m.training++;
          r.skip();
          break;
        case 25:
          m.functions.push_back(function(r.message()));
          break;
        // producer version, domain, model version, text, metadata, device configuration
        case 3:
        case 4:
        case 5:
        case 6:
        case 14:
        case 26:
          r.skip();
          break;
        default:
          other("ModelProto", r);
      }
    }
    return m;
  }

 private:
  void other(const char *message, WireReader &r) {
    const std::string text = std::string(message) + " field " + std::to_string(r.field());
    if (std::find(unknown.begin(), unknown.end(), text) == unknown.end()) unknown.push_back(text);
    r.skip();
  }

  std::pair<std::string, std::string> entry(WireReader r) {
    std::pair<std::string, std::string> e;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          e.first = r.text();
          break;
        case 2:
          e.second = r.text();
          break;
        default:
          other("StringStringEntryProto", r);
      }
    }
    return e;
  }

  void opset(WireReader r, std::map<std::string, int64_t> *to) {
    std::string domain;
    int64_t version = 0;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          domain = r.text();
          break;
        case 2:
          version = r.integer();
          break;
        default:
          other("OperatorSetIdProto", r);
      }
    }
    (*to)[domain == "ai.onnx" ? "" : domain] = version;
  }

  DimProto dim(WireReader r) {
    DimProto d;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          d.value = r.integer();
          break;
        case 2:
          d.param = r.text();
          break;
        case 3:
          r.skip();
          break;
        default:
          other("TensorShapeProto.Dimension", r);
      }
    }
    return d;
  }

  void tensor_type(WireReader r, TypeProto *t) {
    while (r.next()) {
      switch (r.field()) {
        case 1:
          t->element = static_cast<int>(r.integer());
          break;
        case 2: {
          t->shape.emplace();
          WireReader s = r.message();
          while (s.next()) {
            if (s.field() == 1) {
              t->shape->push_back(dim(s.message()));
            } else {
              other("TensorShapeProto", s);
            }
          }
          break;
        }
        default:
          other("TypeProto.Tensor", r);
      }
    }
  }

  // Of a sequence's elements, or of an optional value.
  std::shared_ptr<const TypeProto> type_inside(WireReader r) {
    TypeProto t;
    while (r.next()) {
      if (r.field() == 1) {
        t = type(r.message());
      } else {
        other("TypeProto.Sequence", r);
      }
    }
    return std::make_shared<const TypeProto>(std::move(t));
  }

  TypeProto type(WireReader r) {
    TypeProto t;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          t.kind = TypeProto::Tensor;
          tensor_type(r.message(), &t);
          break;
        case 4:
          t.kind = TypeProto::Sequence;
          t.inside = type_inside(r.message());
          break;
        case 5:
          t.kind = TypeProto::Map;
          r.skip();
          break;
        case 7:
          t.kind = TypeProto::Opaque;
          r.skip();
          break;
        case 8:
          t.kind = TypeProto::Sparse;
          r.skip();
          break;
        case 9:
          t.kind = TypeProto::Optional;
          t.inside = type_inside(r.message());
          break;
        case 6:
          r.skip();
          break;
        default:
          other("TypeProto", r);
      }
    }
    return t;
  }

  ValueInfoProto value_info(WireReader r) {
    ValueInfoProto v;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          v.name = r.text();
          break;
        case 2:
          v.type = type(r.message());
          break;
        case 3:
        case 4:
          r.skip();
          break;
        default:
          other("ValueInfoProto", r);
      }
    }
    return v;
  }

  AttributeProto attribute(WireReader r) {
    AttributeProto a;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          a.name = r.text();
          break;
        case 2:
          a.f = r.real32();
          if (!a.type) a.type = 1;
          break;
        case 3:
          a.i = r.integer();
          if (!a.type) a.type = 2;
          break;
        case 4:
          a.s = r.text();
          if (!a.type) a.type = 3;
          break;
        case 5:
          a.t.push_back(tensor(r.message()));
          if (!a.type) a.type = 4;
          break;
        case 6:
          a.g.push_back(graph(r.message()));
          if (!a.type) a.type = 5;
          break;
        case 7:
          r.reals32(&a.floats);
          if (!a.type) a.type = 6;
          break;
        case 8:
          r.integers(&a.ints);
          if (!a.type) a.type = 7;
          break;
        case 9:
          a.strings.push_back(r.text());
          if (!a.type) a.type = 8;
          break;
        case 10:
          a.tensors.push_back(tensor(r.message()));
          if (!a.type) a.type = 9;
          break;
        case 11:
          a.graphs.push_back(graph(r.message()));
          if (!a.type) a.type = 10;
          break;
        case 14:
        case 15:
        case 22:
        case 23:
          a.other = true;
          r.skip();
          break;
        case 20:
          a.type = static_cast<int>(r.integer());
          break;
        case 21:
          a.reference = r.text();
          break;
        case 13:
          r.skip();
          break;
        default:
          other("AttributeProto", r);
      }
    }
    return a;
  }

  NodeProto node(WireReader r) {
    NodeProto n;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          n.inputs.push_back(r.text());
          break;
        case 2:
          n.outputs.push_back(r.text());
          break;
        case 3:
          n.name = r.text();
          break;
        case 4:
          n.op_type = r.text();
          break;
        case 5:
          n.attributes.push_back(attribute(r.message()));
          break;
        case 7:
          n.domain = r.text();
          break;
        case 8:
          n.overload = r.text();
          break;
        case 6:
        case 9:
        case 10:
          r.skip();
          break;
        default:
          other("NodeProto", r);
      }
    }
    if (n.domain == "ai.onnx") n.domain.clear();
    return n;
  }

  GraphProto graph(WireReader r) {
    GraphProto g;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          g.nodes.push_back(node(r.message()));
          break;
        case 2:
          g.name = r.text();
          break;
        case 5:
          g.initializers.push_back(tensor(r.message()));
          break;
        case 11:
          g.inputs.push_back(value_info(r.message()));
          break;
        case 12:
          g.outputs.push_back(value_info(r.message()));
          break;
        case 13:
          g.value_info.push_back(value_info(r.message()));
          break;
        case 15:
          g.sparse_initializers++;
          r.skip();
          break;
        case 10:
        case 14:
        case 16:
          r.skip();
          break;
        default:
          other("GraphProto", r);
      }
    }
    return g;
  }

  FunctionProto function(WireReader r) {
    FunctionProto f;
    while (r.next()) {
      switch (r.field()) {
        case 1:
          f.name = r.text();
          break;
        case 4:
          f.inputs.push_back(r.text());
          break;
        case 5:
          f.outputs.push_back(r.text());
          break;
        case 6:
          f.attributes.push_back(r.text());
          break;
        case 7:
          f.nodes.push_back(node(r.message()));
          break;
        case 9:
          opset(r.message(), &f.opsets);
          break;
        case 10:
          f.domain = r.text();
          break;
        case 11:
          f.attribute_defaults.push_back(attribute(r.message()));
          break;
        case 13:
          f.overload = r.text();
          break;
        case 8:
        case 12:
        case 14:
          r.skip();
          break;
        default:
          other("FunctionProto", r);
      }
    }
    return f;
  }
};

}  // namespace

ModelProto read_model(const std::string &file, const uint8_t *bytes, size_t size) {
  Messages messages;
  ModelProto m = messages.model(WireReader(file, bytes, size));
  m.unknown = std::move(messages.unknown);
  if (!m.graph) {
    user_error("'" + file + "' is no ONNX model", "it has no graph", "give a whole model file");
  }
  return m;
}

TensorProto read_tensor(const std::string &file, const uint8_t *bytes, size_t size) {
  Messages messages;
  return messages.tensor(WireReader(file, bytes, size));
}

SequenceProto read_sequence(const std::string &file, const uint8_t *bytes, size_t size) {
  Messages messages;
  return messages.sequence(WireReader(file, bytes, size));
}

OptionalProto read_optional(const std::string &file, const uint8_t *bytes, size_t size) {
  Messages messages;
  return messages.optional(WireReader(file, bytes, size));
}

}  // namespace polyhalite::onnx
