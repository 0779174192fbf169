"""A model with its inputs, and what writes such models."""

import dataclasses
import random

import numpy
import onnx
from onnx import helper, numpy_helper


@dataclasses.dataclass
class Case:
    """`expected`: the exact results by name, where they are known without onnxruntime."""

    kind: str
    seed: int
    model: onnx.ModelProto
    feeds: dict
    expected: dict | None = None
    note: str = ""

    def text(self):
        """The note, and a line for each node."""
        shapes = {k: list(numpy.shape(v)) for k, v in self.feeds.items()}
        shapes.update((t.name, list(t.dims)) for t in self.model.graph.initializer)
        lines = [f"{self.kind} {self.seed} {self.note}".rstrip()]
        for value in self.model.graph.input:
            dims = [d.dim_param or d.dim_value if d.WhichOneof("value") else "?"
                    for d in value.type.tensor_type.shape.dim]
            lines.append(f"  {value.name} {shapes.get(value.name)} declared {dims}")
        for node in self.model.graph.node:
            attributes = ", ".join(attribute_text(a) for a in node.attribute)
            operands = ", ".join(f"{n} {shapes[n]}" if n in shapes else n for n in node.input)
            lines.append(f"  {', '.join(node.output)} = {node.op_type}({operands}) {attributes}")
        return "\n".join(lines)

    def other_feeds(self):
        """The inputs with other numbers for the sizes that the model leaves open; None where there are
        none."""
        choose, more, feeds = random.Random(self.seed), {}, dict(self.feeds)
        for value in self.model.graph.input:
            array = numpy.asarray(feeds.get(value.name))
            shape, dims = list(array.shape), value.type.tensor_type.shape.dim
            if value.name not in feeds or array.dtype == object or len(dims) != len(shape):
                continue
            for i, d in enumerate(dims):
                if d.WhichOneof("value") != "dim_value":
                    key = d.dim_param or (value.name, i)
                    shape[i] += more.setdefault(key, choose.choice([1, 2, 16, 17, 23]))
            feeds[value.name] = numpy.resize(array, shape)
        return feeds if more else None

    def save(self, path):
        """The model, and its inputs beside it as NAME.npz."""
        onnx.save(self.model, path)
        numpy.savez(path + ".npz", **self.feeds)


def all_nodes(graph):
    """Those of graphs inside, too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from all_nodes(attribute.g)


def attribute_text(attribute):
    if attribute.type in (attribute.GRAPH, attribute.GRAPHS, attribute.TENSOR):
        return attribute.name
    value = helper.get_attribute_value(attribute)
    return f"{attribute.name}={value.decode() if isinstance(value, bytes) else value}"


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))


class Writer:
    """A graph under construction: nodes, weights by fresh names."""

    def __init__(self, opset):
        self.opset, self.nodes, self.weights, self.names = opset, [], [], 0

    def fresh(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, values, dtype=numpy.int64):
        name = self.fresh()
        self.weights.append(numpy_helper.from_array(numpy.array(values, dtype), name))
        return name

    def node(self, op, operands, outputs=1, **attributes):
        """The name of its result, or a list where there are several."""
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def model(self, feeds, outputs, dims=None):
        """`dims`: an input's sizes as they are declared, where they are not those of its array."""
        inputs = [helper.make_tensor_value_info(k, element_type(v.dtype), (dims or {}).get(k, v.shape))
                  for k, v in feeds.items()]
        results = [onnx.ValueInfoProto(name=n) for n in outputs]  # their types are inferred
        graph = helper.make_graph(self.nodes, "graph", inputs, results, self.weights)
        # What onnxruntime's releases of these years read.
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8)
