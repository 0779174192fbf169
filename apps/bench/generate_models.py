#!/usr/bin/env python3
"""Writes the networks that models are measured with, with seeded weights.

  generate_models.py FOLDER [NAME...]

Names: those of well-known networks, resnet50, mobilenet_v2 and bert_base, and of small ones of other
families: efficientnet, shufflenet, densenet, unet, detector, generator, style, speech, recurrent,
decoder.

Needs the Python packages onnx and numpy. Then, for instance:
  polyhalite run FOLDER/resnet50.onnx --benchmark --threads 1 --compare onnxruntime
  polyhalite run FOLDER/bert_base.onnx --shape ids=1,128 --benchmark --compare onnxruntime
"""

import argparse
import pathlib

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

    def numbers(self, *values):
        return self.weight(numpy.array(values, numpy.int64))

    def nodes_of(self, op, inputs, count, **attributes):
        names = [f"v{len(self.nodes)}.{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{op}_{names[0]}", **attributes))
        return names

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}", **attributes))
        return name

    def save(self, path, inputs, *results):
        outputs = [helper.make_empty_tensor_value_info(name) for name in results]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        domains = {"": 17, **{node.domain: 1 for node in self.nodes if node.domain}}
        opsets = [helper.make_opsetid(*version) for version in domains.items()]
        save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)

    def convolution(self, x, channels, results, size, stride=1, groups=1, activation="Relu"):
        pad = size // 2
        w = self.normal(results, channels // groups, size, size)
        x = self.node("Conv", [x, w], kernel_shape=[size, size], strides=[stride, stride],
                      pads=[pad] * 4, group=groups)
        x = self.node("BatchNormalization", [
            x, self.vector(results, 1.0), self.vector(results), self.vector(results),
            self.weight(self.random.uniform(0.5, 1.5, results).astype(numpy.float32))])
        if activation == "Silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x])])
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


def image(size=224):
    return [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])]


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
    def normalized(x):
        return net.node("LayerNormalization", [x, net.vector(n, 1.0), net.vector(n)], axis=-1)

    def split(x, order):
        x = net.node("Reshape", [x, net.numbers(0, 0, heads, n // heads)])
        return net.node("Transpose", [x], perm=order)

    x = net.node("Gather", [net.normal(30522, n, scale=0.02), "ids"])
    shape = net.node("Shape", ["ids"])
    length = net.node("Slice", [shape, net.numbers(1), net.numbers(2)])
    places = net.node("Slice", [net.normal(512, n, scale=0.02), net.numbers(0), length])
    x = normalized(net.node("Add", [x, places]))
    scale = net.weight(numpy.float32((n // heads) ** -0.5))
    for _ in range(12):
        q = split(net.linear(x, n, n), [0, 2, 1, 3])
        k = split(net.linear(x, n, n), [0, 2, 3, 1])
        v = split(net.linear(x, n, n), [0, 2, 1, 3])
        a = net.node("Softmax", [net.node("Mul", [net.node("MatMul", [q, k]), scale])], axis=-1)
        y = net.node("Transpose", [net.node("MatMul", [a, v])], perm=[0, 2, 1, 3])
        y = net.node("Reshape", [y, net.numbers(0, 0, n)])
        x = normalized(net.node("Add", [x, net.linear(y, n, n)]))
        y = net.linear(x, n, 4 * n)
        half = net.node("Erf", [net.node("Mul", [y, net.weight(numpy.float32(2 ** -0.5))])])
        half = net.node("Add", [half, net.weight(numpy.float32(1))])
        y = net.node("Mul", [net.node("Mul", [y, half]), net.weight(numpy.float32(0.5))])
        x = normalized(net.node("Add", [x, net.linear(y, 4 * n, n)]))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"])
    net.save(path, [ids], x)


def efficientnet(path):
    """Depthwise convolutions, and channels weighted by what the image has of all of them."""
    net = Network(4)
    x, channels = net.convolution("image", 3, 32, 3, 2, activation="Silu"), 32
    for factor, results, size, first, blocks in ((1, 16, 3, 1, 1), (6, 24, 3, 2, 2), (6, 40, 5, 2, 2),
                                                 (6, 80, 3, 2, 3), (6, 112, 5, 1, 3), (6, 192, 5, 2, 4),
                                                 (6, 320, 3, 1, 1)):
        for block in range(blocks):
            wide, few = channels * factor, max(channels // 4, 1)
            y = x if factor == 1 else net.convolution(x, channels, wide, 1, activation="Silu")
            y = net.convolution(y, wide, wide, size, first if block == 0 else 1, wide, "Silu")
            share = net.node("Conv", [net.node("GlobalAveragePool", [y]), net.normal(few, wide, 1, 1)])
            share = net.node("Conv", [net.node("Relu", [share]), net.normal(wide, few, 1, 1)])
            y = net.node("Mul", [y, net.node("Sigmoid", [share])])
            y = net.convolution(y, wide, results, 1, activation=None)
            x, channels = (net.node("Add", [x, y]) if block else y), results
    x = net.convolution(x, channels, 1280, 1, activation="Silu")
    net.save(path, image(), classifier(net, x, 1280))


def shufflenet(path):
    """Halves of the channels, which are mixed behind each block."""
    net = Network(5)
    x = net.node("MaxPool", [net.convolution("image", 3, 24, 3, 2)], kernel_shape=[3, 3], strides=[2, 2],
                 pads=[1] * 4)
    channels = 24
    for results, blocks, size in ((116, 4, 28), (232, 8, 14), (464, 4, 7)):
        half = results // 2
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            if block == 0:
                a = net.convolution(x, channels, channels, 3, 2, channels, None)
                a, y, n = net.convolution(a, channels, half, 1), x, channels
            else:
                (a, y), n = net.nodes_of("Split", [x], 2, axis=1), half
            y = net.convolution(net.convolution(y, n, half, 1), half, half, 3, stride, half, None)
            x = net.node("Concat", [a, net.convolution(y, half, half, 1)], axis=1)
            x = net.node("Reshape", [x, net.numbers(1, 2, half, size, size)])
            x = net.node("Transpose", [x], perm=[0, 2, 1, 3, 4])
            x = net.node("Reshape", [x, net.numbers(1, results, size, size)])
            channels = results
    net.save(path, image(), classifier(net, net.convolution(x, channels, 1024, 1), 1024))


def densenet(path):
    """Each block reads what all before it made."""
    net = Network(6)
    x = net.node("MaxPool", [net.convolution("image", 3, 64, 7, 2)], kernel_shape=[3, 3], strides=[2, 2],
                 pads=[1] * 4)
    channels = 64
    for blocks in (4, 6, 6):
        for _ in range(blocks):
            y = net.convolution(net.convolution(x, channels, 128, 1), 128, 32, 3)
            x, channels = net.node("Concat", [x, y], axis=1), channels + 32
        x = net.convolution(x, channels, channels // 2, 1)
        x, channels = net.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2]), channels // 2
    net.save(path, image(112), classifier(net, x, channels))


def unet(path):
    """Down and up again by transposed convolutions, beside what was there on the way down."""
    net, x, channels, kept = Network(7), "image", 3, []
    for results in (32, 64, 128):
        x = net.convolution(net.convolution(x, channels, results, 3), results, results, 3)
        kept.append((x, results))
        x, channels = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2]), results
    x, channels = net.convolution(x, channels, 256, 3), 256
    for beside, results in reversed(kept):
        x = net.node("ConvTranspose", [x, net.normal(channels, results, 2, 2, scale=channels ** -0.5)],
                     kernel_shape=[2, 2], strides=[2, 2])
        x = net.convolution(net.node("Concat", [beside, x], axis=1), 2 * results, results, 3)
        channels = results
    net.save(path, image(128), net.node("Sigmoid", [net.node("Conv", [x, net.normal(2, 32, 1, 1)])]))


def detector(path):
    """Features of three sizes, enlarged and joined; the hundred boxes with the best score."""
    net, features, channels = Network(8), [], 32
    x = net.convolution(net.convolution("image", 3, 16, 3, 2, activation="Silu"), 16, 32, 3, 2,
                        activation="Silu")
    for results in (64, 128, 256):
        a, b = net.nodes_of("Split", [net.convolution(x, channels, channels, 1, activation="Silu")], 2,
                            axis=1)
        half = channels // 2
        b = net.node("Add", [b, net.convolution(b, half, half, 3, activation="Silu")])
        x = net.convolution(net.node("Concat", [a, b], axis=1), channels, results, 3, 2,
                            activation="Silu")
        features.append((x, results))
        channels = results
    boxes = []
    for y, n in reversed(features[:2]):
        sizes = net.weight(numpy.array([1, 1, 2, 2], numpy.float32))
        x = net.node("Resize", [x, "", sizes], mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")
        x = net.convolution(net.node("Concat", [x, y], axis=1), channels + n, n, 3, activation="Silu")
        channels = n
        found = net.node("Conv", [x, net.normal(85, n, 1, 1)])
        found = net.node("Reshape", [found, net.numbers(1, 85, -1)])
        boxes.append(net.node("Transpose", [found], perm=[0, 2, 1]))
    all_boxes = net.node("Sigmoid", [net.node("Concat", boxes, axis=1)])
    score = net.node("ReduceMax", [all_boxes], axes=[2], keepdims=0)
    best, _ = net.nodes_of("TopK", [score, net.numbers(100)], 2)
    net.save(path, image(256), all_boxes, best)


def generator(path):
    """An image from a hundred numbers."""
    net = Network(9)
    x = net.node("Reshape", [net.linear("noise", 100, 4096), net.numbers(1, 256, 4, 4)])
    channels = 256
    for results in (128, 64, 32, 3):
        w = net.normal(channels, results, 4, 4, scale=(4 * channels) ** -0.5)
        x = net.node("ConvTranspose", [x, w], kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
        x, channels = net.node("Relu" if results > 3 else "Tanh", [x]), results
    net.save(path, [helper.make_tensor_value_info("noise", TensorProto.FLOAT, [1, 100])], x)


def style(path):
    """Mirrored borders, and normalisation over each channel's pixels."""
    net = Network(10)

    def layer(x, channels, results, size, stride=1):
        border = size // 2
        x = net.node("Pad", [x, net.numbers(0, 0, border, border, 0, 0, border, border)], mode="reflect")
        x = net.node("Conv", [x, net.normal(results, channels, size, size)], strides=[stride, stride])
        return net.node("InstanceNormalization", [x, net.vector(results, 1.0), net.vector(results)])

    relu = lambda x: net.node("Relu", [x])
    x = relu(layer(relu(layer(relu(layer("image", 3, 32, 9)), 32, 64, 3, 2)), 64, 128, 3, 2))
    for _ in range(3):
        x = net.node("Add", [x, layer(relu(layer(x, 128, 128, 3)), 128, 128, 3)])
    for channels, results in ((128, 64), (64, 32)):
        sizes = net.weight(numpy.array([1, 1, 2, 2], numpy.float32))
        x = net.node("Resize", [x, "", sizes], mode="nearest")
        x = relu(layer(x, channels, results, 3))
    net.save(path, image(128), layer(x, 32, 3, 9))


def recurrent_layers(path, seed, kind, gates, hidden, directions, steps):
    net = Network(seed)
    x = net.node("Relu", [net.node("Conv", ["sound", net.normal(hidden, 80, 3)], kernel_shape=[3],
                                   pads=[1, 1])])
    x, n = net.node("Transpose", [x], perm=[2, 0, 1]), hidden
    for _ in range(2):
        w = net.normal(directions, gates * hidden, n, scale=n ** -0.5)
        r = net.normal(directions, gates * hidden, hidden, scale=hidden ** -0.5)
        x = net.node(kind, [x, w, r], hidden_size=hidden,
                     direction="bidirectional" if directions == 2 else "forward")
        x = net.node("Transpose", [x], perm=[0, 2, 1, 3])
        x, n = net.node("Reshape", [x, net.numbers(steps, 1, directions * hidden)]), directions * hidden
    x = net.node("LogSoftmax", [net.linear(x, n, 40)], axis=-1)
    net.save(path, [helper.make_tensor_value_info("sound", TensorProto.FLOAT, [1, 80, steps])], x)


def speech(path):
    """Long short-term memory in both directions."""
    recurrent_layers(path, 11, "LSTM", 4, 128, 2, 200)


def recurrent(path):
    """Gated units in one direction."""
    recurrent_layers(path, 12, "GRU", 3, 192, 1, 100)


def decoder(path):
    """A language model of 4 layers with weights of 4 bits, for one word behind 512 others."""
    width, layers, heads, shared, size, hidden, words, past, block = 1024, 4, 16, 4, 64, 2816, 32000, 512, 32
    net = Network(13)

    def linear(x, n, m):
        codes = net.weight(net.random.integers(0, 256, (m, n // block, block // 2)).astype(numpy.uint8))
        scales = net.weight((net.random.standard_normal((m, n // block)) * 0.01).astype(numpy.float32))
        return net.node("MatMulNBits", [x, codes, scales], domain="com.microsoft", K=n, N=m, bits=4,
                        block_size=block, accuracy_level=4)

    def added(x, skip):
        names = net.nodes_of("SkipSimplifiedLayerNormalization", [x, skip, norm], 4, domain="com.microsoft",
                             epsilon=1e-5)
        return names[0], names[3]

    angles = numpy.arange(past + 1)[:, None] / 10000 ** (numpy.arange(size // 2) / (size // 2))
    cosines, sines = (net.weight(f(angles).astype(numpy.float32)) for f in (numpy.cos, numpy.sin))
    behind, total = (net.weight(numpy.array(v, numpy.int32)) for v in ([past], past + 1))
    norm = net.weight(numpy.ones(width, numpy.float32))
    skip = net.node("Gather", [net.normal(words, width, scale=0.1), "ids"])
    x = net.node("SimplifiedLayerNormalization", [skip, norm], axis=-1, epsilon=1e-5)
    inputs, results = [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 1])], []
    for layer in range(layers):
        states = [f"keys{layer}", f"values{layer}"]
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, shared, past, size])
                   for name in states]
        x, *grown = net.nodes_of(
            "GroupQueryAttention",
            [linear(x, width, (heads + 2 * shared) * size), "", "", *states, behind, total, cosines, sines],
            3, domain="com.microsoft", num_heads=heads, kv_num_heads=shared, do_rotary=1)
        results += grown
        x, skip = added(linear(x, heads * size, width), skip)
        gate, up = linear(x, width, hidden), linear(x, width, hidden)
        x = net.node("Mul", [net.node("Mul", [gate, net.node("Sigmoid", [gate])]), up])
        x, skip = added(linear(x, hidden, width), skip)
    net.save(path, inputs, linear(x, width, words), *results)


NETWORKS = {
    "resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "bert_base": bert_base,
    "efficientnet": efficientnet, "shufflenet": shufflenet, "densenet": densenet, "unet": unet,
    "detector": detector, "generator": generator, "style": style, "speech": speech,
    "recurrent": recurrent, "decoder": decoder}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NETWORKS]
    if unknown:
        parser.error(f"no network is called {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or NETWORKS:
        NETWORKS[name](options.folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
