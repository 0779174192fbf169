#!/usr/bin/env python3
"""Writes models once more with 8-bit weights, as onnxruntime's quantiser makes them.

  quantize_models.py [--dynamic] MODEL...

Beside MODEL.onnx stands MODEL.qdq.onnx then: uint8 values and int8 weights of each channel, between
operators of the format that dequantise and quantise, with scales from four random inputs. With
--dynamic it is MODEL.dynamic.onnx: values become uint8 as the model runs, in products only.

Needs the Python packages onnx and onnxruntime. For models of one size; dimensions with a name are
taken to be those of compare_models.py.
"""

import argparse
import pathlib
import tempfile

import onnx
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)
from onnxruntime.quantization.shape_inference import quant_pre_process

from compare_models import SIZES, make_inputs


class RandomInputs(CalibrationDataReader):
    def __init__(self, model, count=4):
        self.inputs = iter([make_inputs(model, SIZES, seed) for seed in range(count)])

    def get_next(self):
        return next(self.inputs, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--dynamic", action="store_true",
                        help="values are quantised as the model runs")
    options = parser.parse_args()
    for path in options.models:
        form = "dynamic" if options.dynamic else "qdq"
        result = path.with_suffix(f".{form}.onnx")
        with tempfile.TemporaryDirectory() as folder:
            prepared = pathlib.Path(folder) / "prepared.onnx"
            quant_pre_process(path, prepared, skip_symbolic_shape=True)
            if options.dynamic:
                quantize_dynamic(prepared, result, weight_type=QuantType.QInt8)
            else:
                quantize_static(prepared, result, RandomInputs(onnx.load(path)), per_channel=True,
                                quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                                weight_type=QuantType.QInt8)
        print(result)


if __name__ == "__main__":
    main()
