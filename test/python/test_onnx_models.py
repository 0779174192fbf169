"""Errors of models against a float64 reference, beside onnxruntime's. The benchmark
apps/bench/compare_models.py does the same with large ones."""

import os
import pathlib
import sys

import numpy as np
import pytest

for name in ("onnx", "onnxruntime"):
    pytest.importorskip(name)
SOURCE = os.environ.get("POLYHALITE_SOURCE")
if not SOURCE:
    pytest.skip("POLYHALITE_SOURCE names no source folder", allow_module_level=True)
sys.path.insert(0, str(pathlib.Path(SOURCE) / "apps" / "bench"))

import onnx  # noqa: E402
from compare_models import accuracy, is_accurate, make_inputs, relative_error  # noqa: E402
from generate_models import NETWORKS, Network, classifier  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402


def images(tmp_path):
    """Strides, a residual, channels on their own, pooling, a product at the end."""
    net = Network(11)
    x = net.convolution("image", 3, 16, 7, 2)
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = net.convolution(x, 16, 32, 1, activation="Relu6")
    y = net.convolution(y, 32, 32, 3, 1, 32, "Relu6")
    y = net.convolution(y, 32, 16, 1, activation=None)
    x = net.convolution(net.node("Add", [x, y]), 16, 64, 3, 2)
    path = tmp_path / "images.onnx"
    inputs = [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 64, 64])]
    net.save(path, inputs, classifier(net, x, 64))
    return path


def tokens(tmp_path):
    """One layer of attention with a symbolic length, with sums of many terms."""
    net, n, heads = Network(12), 64, 4
    numbers = lambda *list_: net.weight(np.array(list_, np.int64))

    def split(x, order):
        x = net.node("Reshape", [x, numbers(0, 0, heads, n // heads)])
        return net.node("Transpose", [x], perm=order)

    x = net.node("Gather", [net.normal(100, n, scale=1.0), "ids"])
    q = split(net.linear(x, n, n), [0, 2, 1, 3])
    k = split(net.linear(x, n, n), [0, 2, 3, 1])
    v = split(net.linear(x, n, n), [0, 2, 1, 3])
    a = net.node("Softmax", [net.node("MatMul", [q, k])], axis=-1)
    y = net.node("Transpose", [net.node("MatMul", [a, v])], perm=[0, 2, 1, 3])
    x = net.node("Add", [x, net.node("Reshape", [y, numbers(0, 0, n)])])
    x = net.node("LayerNormalization", [x, net.vector(n, 1.0), net.vector(n)], axis=-1)
    x = net.node("Erf", [net.linear(x, n, 2048)])
    x = net.linear(x, 2048, n)
    path = tmp_path / "tokens.onnx"
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"])
    net.save(path, [ids], x)
    return path


@pytest.mark.parametrize("network", [images, tokens])
def test_errors_are_onnxruntimes(network, tmp_path):
    ours, theirs = accuracy(onnx.load(network(tmp_path)), {"batch": 2, "length": 33})
    assert is_accurate(ours, theirs), f"{ours} beside {theirs}"


@pytest.mark.parametrize("name", ["generator", "style", "detector", "recurrent", "speech"])
def test_families_of_networks_agree(name, tmp_path):
    """All results beside onnxruntime's, which is as far from exact ones."""
    import onnxruntime
    import polyhalite.onnx

    path = tmp_path / f"{name}.onnx"
    NETWORKS[name](path)
    feed = make_inputs(onnx.load(path), {})
    peer = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    ours = list(polyhalite.onnx.load(path).run(feed).values())
    assert relative_error(ours, peer.run(None, feed)) < 2e-5


def test_a_wrong_result_is_found():
    assert not is_accurate(1e-5, 1e-6) and is_accurate(9e-7, 1e-8) and is_accurate(1.9e-5, 1e-5)
