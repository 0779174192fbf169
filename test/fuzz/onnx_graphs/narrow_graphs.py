"""The random graphs of floats as onnxruntime's tools make them narrow: quantized with steps found from a
run, quantized with steps that each run finds, in float16."""

import logging
import pathlib
import random
import tempfile

import float_graphs
import numpy
import onnx
from case import Case
from onnx import TensorProto

KINDS = QUANTIZED, DYNAMIC, FLOAT16 = "quantized", "dynamic", "float16"


def draw(kind, seed):
    """None where the tool fails."""
    case, choose = float_graphs.draw(seed), random.Random(seed + 7)
    logging.disable(logging.CRITICAL)  # advice on how to call the tools
    try:
        model = in_half(case, choose) if kind == FLOAT16 else quantize(kind, case, choose)
    except Exception:  # pylint: disable=broad-except
        return None
    feeds = {i.name: case.feeds[i.name].astype(numpy.float16)
             if i.type.tensor_type.elem_type == TensorProto.FLOAT16 else case.feeds[i.name]
             for i in model.graph.input}
    return Case(kind, seed, model, feeds)


def in_half(case, choose):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    return convert_float_to_float16(case.model, keep_io_types=choose.random() < 0.5)


def quantize(kind, case, choose):
    from onnxruntime import quantization as tool

    class Reader(tool.CalibrationDataReader):
        def __init__(self):
            self.left = [case.feeds]

        def get_next(self):
            return self.left.pop() if self.left else None

    types, by_channel = [tool.QuantType.QInt8, tool.QuantType.QUInt8], choose.random() < 0.5
    with tempfile.TemporaryDirectory() as folder:
        floats, narrow = (str(pathlib.Path(folder) / name) for name in ("floats.onnx", "narrow.onnx"))
        onnx.save(case.model, floats)
        if kind == DYNAMIC:
            tool.quantize_dynamic(floats, narrow, weight_type=choose.choice(types), per_channel=by_channel)
        else:
            formats = [tool.QuantFormat.QDQ, tool.QuantFormat.QDQ, tool.QuantFormat.QOperator]
            tool.quantize_static(
                floats, narrow, Reader(), quant_format=choose.choice(formats), per_channel=by_channel,
                activation_type=choose.choice(types[1:] * 2 + types[:1]),
                weight_type=choose.choice(types[:1] * 2 + types[1:]),
                extra_options={"ActivationSymmetric": choose.random() < 0.2,
                               "WeightSymmetric": choose.random() < 0.7})
        return onnx.load(narrow)
