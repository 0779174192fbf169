"""Writes edges.onnx, the model of the demo: python make_edges_model.py, with the package onnx.

Edges of a colour image (1, 3, h, w), h and w symbolic: brightness by the weights of ITU-R BT.601, a
5x5 binomial blur, Sobel's two derivatives, the sum of their absolute values, clipped to 1.
"""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def weights(name, array):
    return numpy_helper.from_array(numpy.asarray(array, numpy.float32), name)


binomial = numpy.array([1, 4, 6, 4, 1]) / 16
sobel = numpy.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 2
graph = helper.make_graph(
    [
        helper.make_node("Conv", ["image", "brightness_weights"], ["gray"], name="brightness"),
        helper.make_node("Conv", ["gray", "blur_weights"], ["smooth"], name="blur", pads=[2, 2, 2, 2]),
        helper.make_node("Conv", ["smooth", "sobel_weights"], ["slopes"], name="sobel", pads=[1, 1, 1, 1]),
        helper.make_node("Abs", ["slopes"], ["steepness"], name="abs"),
        helper.make_node("ReduceSum", ["steepness", "channels"], ["sum"], name="sum"),
        helper.make_node("Clip", ["sum", "zero", "one"], ["edges"], name="clip"),
    ],
    "edges",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, "h", "w"])],
    [helper.make_tensor_value_info("edges", TensorProto.FLOAT, [1, 1, "h", "w"])],
    [
        weights("brightness_weights", numpy.reshape([0.299, 0.587, 0.114], (1, 3, 1, 1))),
        weights("blur_weights", numpy.outer(binomial, binomial)[None, None]),
        weights("sobel_weights", numpy.stack([sobel, sobel.T])[:, None]),
        numpy_helper.from_array(numpy.array([1]), "channels"),
        weights("zero", 0),
        weights("one", 1),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
onnx.checker.check_model(model)
onnx.save(model, "edges.onnx")
