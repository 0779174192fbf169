#!/usr/bin/env python3
"""Writes the networks that models are measured with, with seeded weights.

  generate_models.py FOLDER [resnet50] [mobilenet_v2] [bert_base]

Needs the Python packages onnx and numpy. Then, for instance:
  polyhalite run FOLDER/resnet50.onnx --benchmark --threads 1 --compare onnxruntime
  polyhalite run FOLDER/bert_base.onnx --shape ids=1,128 --benchmark --compare onnxruntime
"""

import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save


class Network:
    """Nodes and weights under construction; methods return the name of what they make."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, *shape, scale=None):
        # Sums keep their variance.
        scale = scale or (2 / numpy.prod(shape[1:])) ** 0.5
        return self.weight((self.random.standard_normal(shape) * scale).astype(numpy.float32))

    def vector(self, n, mean=0.0, spread=0.1):
        return self.weight((mean + spread * self.random.standard_normal(n)).astype(numpy.float32))

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}", **attributes))
        return name

    def save(self, path, inputs, output):
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def convolution(self, x, channels, results, size, stride=1, groups=1, activation="Relu"):
        pad = size // 2
        w = self.normal(results, channels // groups, size, size)
        x = self.node("Conv", [x, w], kernel_shape=[size, size], strides=[stride, stride],
                      pads=[pad] * 4, group=groups)
        x = self.node("BatchNormalization", [
            x, self.vector(results, 1.0), self.vector(results), self.vector(results),
            self.weight(self.random.uniform(0.5, 1.5, results).astype(numpy.float32))])
        if activation == "Relu6":
            limits = [self.weight(numpy.float32(v)) for v in (0, 6)]
            return self.node("Clip", [x, *limits])
        return self.node(activation, [x]) if activation else x

    def linear(self, x, n, m):
        x = self.node("MatMul", [x, self.normal(n, m, scale=n ** -0.5)])
        return self.node("Add", [x, self.vector(m)])


def classifier(net, x, channels):
    x = net.node("GlobalAveragePool", [x])
    x = net.node("Flatten", [x])
    return net.node("Gemm", [x, net.normal(1000, channels), net.vector(1000)], transB=1)


def image():
    return [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])]


def resnet50(path):
    net = Network(1)
    x = net.convolution("image", 3, 64, 7, 2)
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            stride = first if block == 0 else 1
            y = net.convolution(x, channels, width, 1)
            y = net.convolution(y, width, width, 3, stride)
            y = net.convolution(y, width, 4 * width, 1, activation=None)
            if block == 0:
                x = net.convolution(x, channels, 4 * width, 1, stride, activation=None)
            x = net.node("Relu", [net.node("Add", [y, x])])
            channels = 4 * width
    net.save(path, image(), classifier(net, x, channels))


def mobilenet_v2(path):
    net = Network(2)
    x, channels = net.convolution("image", 3, 32, 3, 2, activation="Relu6"), 32
    for factor, results, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                           (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride, wide = first if block == 0 else 1, channels * factor
            y = x if factor == 1 else net.convolution(x, channels, wide, 1, activation="Relu6")
            y = net.convolution(y, wide, wide, 3, stride, wide, "Relu6")
            y = net.convolution(y, wide, results, 1, activation=None)
            x = net.node("Add", [x, y]) if stride == 1 and channels == results else y
            channels = results
    x = net.convolution(x, channels, 1280, 1, activation="Relu6")
    net.save(path, image(), classifier(net, x, 1280))


def bert_base(path):
    net, n, heads = Network(3), 768, 12
    numbers = lambda *list_: net.weight(numpy.array(list_, numpy.int64))

    def normalized(x):
        return net.node("LayerNormalization", [x, net.vector(n, 1.0), net.vector(n)], axis=-1)

    def split(x, order):
        x = net.node("Reshape", [x, numbers(0, 0, heads, n // heads)])
        return net.node("Transpose", [x], perm=order)

    x = net.node("Gather", [net.normal(30522, n, scale=0.02), "ids"])
    shape = net.node("Shape", ["ids"])
    length = net.node("Slice", [shape, numbers(1), numbers(2)])
    places = net.node("Slice", [net.normal(512, n, scale=0.02), numbers(0), length])
    x = normalized(net.node("Add", [x, places]))
    scale = net.weight(numpy.float32((n // heads) ** -0.5))
    for _ in range(12):
        q = split(net.linear(x, n, n), [0, 2, 1, 3])
        k = split(net.linear(x, n, n), [0, 2, 3, 1])
        v = split(net.linear(x, n, n), [0, 2, 1, 3])
        a = net.node("Softmax", [net.node("Mul", [net.node("MatMul", [q, k]), scale])], axis=-1)
        y = net.node("Transpose", [net.node("MatMul", [a, v])], perm=[0, 2, 1, 3])
        y = net.node("Reshape", [y, numbers(0, 0, n)])
        x = normalized(net.node("Add", [x, net.linear(y, n, n)]))
        y = net.linear(x, n, 4 * n)
        half = net.node("Erf", [net.node("Mul", [y, net.weight(numpy.float32(2 ** -0.5))])])
        half = net.node("Add", [half, net.weight(numpy.float32(1))])
        y = net.node("Mul", [net.node("Mul", [y, half]), net.weight(numpy.float32(0.5))])
        x = normalized(net.node("Add", [x, net.linear(y, 4 * n, n)]))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"])
    net.save(path, [ids], x)


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "bert_base": bert_base}


def main():
    if len(sys.argv) < 2 or any(name not in NETWORKS for name in sys.argv[2:]):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        NETWORKS[name](folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
