#!/usr/bin/env python3
"""Compares single operators of ONNX with onnxruntime: results, then speed.

  compare_operators.py [--threads N] [--rounds N] [--open] [--filter REGEX] [--below R] [--json FILE]

Needs the Python packages polyhalite (PYTHONPATH=build/python/package), onnx and onnxruntime. Each case
is a model of one operator, or of a few that make one kernel, on random inputs. With --open all sizes of
its inputs are open, and larger ones run first, so that the program for all sizes is measured. Both run in
turns; a ratio is the median of onnxruntime's time over ours, above 1 is faster. The lowest come first in
the summary. Exit status 1 where results differ, or a ratio is below R.
"""

import argparse
import json
import math
import os
import re
import statistics
import sys
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from compare_models import wait_for_idle_threads

OPSET, IR_VERSION = 21, 10
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "u8": TensorProto.UINT8, "b": TensorProto.BOOL}


def constant(values, dtype=numpy.int64):
    return numpy.array(values, dtype)


def noise(*shape):
    """Known weights."""
    return numpy.random.default_rng(3).standard_normal(shape).astype(numpy.float32)


class Case:
    """`inputs`: shapes of float32, (type, shape) of others, arrays of known operands, in the operator's
    order; None leaves one out. `then` names operators without attributes that follow. `fixed`: dimensions
    that stay known where sizes are open, of all inputs. `tolerance`: of the largest result, or of 1."""

    def __init__(self, op, inputs, *, name=None, then=(), fixed=(), outputs=1, tolerance=2e-4,
                 **attributes):
        self.op, self.inputs, self.then, self.fixed = op, inputs, then, fixed
        self.outputs, self.tolerance, self.attributes = outputs, tolerance, attributes
        self.name = name or op

    def shapes(self):
        for place, given in enumerate(self.inputs):
            if isinstance(given, tuple):
                kind, shape = given if given and isinstance(given[0], str) else ("f", given)
                yield f"x{place}", kind, shape

    def model(self, is_open):
        names, weights, graph_inputs = [], [], []
        for place, given in enumerate(self.inputs):
            names.append("" if given is None else f"x{place}")
            if isinstance(given, numpy.ndarray):
                weights.append(numpy_helper.from_array(given, f"x{place}"))
        for name, kind, shape in self.shapes():
            # Equal sizes have one name: operands that meet must go on doing so.
            dims = [f"n{n}" if is_open and n > 1 and d not in self.fixed else n for d, n in enumerate(shape)]
            graph_inputs.append(helper.make_tensor_value_info(name, TYPES[kind], dims))
        results = [f"y{i}" for i in range(self.outputs)]
        nodes = [helper.make_node(self.op, names, results, **self.attributes)]
        for i, op in enumerate(self.then):
            nodes.append(helper.make_node(op, [results[0]], [f"z{i}"]))
            results[0] = f"z{i}"
        graph = helper.make_graph(nodes, "operator", graph_inputs,
                                  [helper.make_empty_tensor_value_info(r) for r in results], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                 ir_version=IR_VERSION)

    def feed(self, larger=False):
        random = numpy.random.default_rng(7)
        feed = {}
        for name, kind, shape in self.shapes():
            shape = [n + 16 if larger and n > 1 and d not in self.fixed else n for d, n in enumerate(shape)]
            if kind == "f":
                feed[name] = random.standard_normal(shape).astype(numpy.float32)
            elif kind == "b":
                feed[name] = random.random(shape) < 0.5
            else:
                feed[name] = random.integers(0, 8, shape).astype(helper.tensor_dtype_to_np_dtype(TYPES[kind]))
        return feed


IMAGE, SMALL = (1, 64, 56, 56), (1, 256, 14, 14)
ROWS, LONG = (128, 768), (16, 8400)
POINTWISE = ["Abs", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish",
             "LeakyRelu", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin",
             "Softplus", "Softsign", "Tan", "Tanh", "Atan", "Sinh", "Cosh"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"]

CASES = [
    *(Case(op, [IMAGE]) for op in POINTWISE),
    *(Case(op, [IMAGE, IMAGE]) for op in BINARY),
    *(Case(op, [ROWS, (768,)], name=f"{op}_row") for op in ("Add", "Mul")),
    Case("Add", [IMAGE, (1, 64, 1, 1)], name="Add_channel"),
    Case("Pow", [IMAGE, constant(2, numpy.float32)], name="Pow_square"),
    Case("Where", [("b", IMAGE), IMAGE, IMAGE]),
    Case("Clip", [IMAGE, constant(-1, numpy.float32), constant(1, numpy.float32)]),
    Case("Cast", [IMAGE], to=TensorProto.INT32),
    Case("Cast", [("u8", IMAGE)], name="Cast_u8", to=TensorProto.FLOAT),
    Case("Greater", [IMAGE, IMAGE]),
    *(Case(op, [ROWS, constant([1])], name=f"{op}_row") for op in REDUCTIONS),
    *(Case(op, [ROWS, constant([0])], name=f"{op}_column") for op in REDUCTIONS[:3]),
    *(Case(op, [IMAGE, constant([2, 3])], name=f"{op}_image") for op in REDUCTIONS[:3]),
    Case("ReduceMean", [IMAGE, constant([1])], name="ReduceMean_channel"),
    Case("GlobalAveragePool", [(1, 2048, 7, 7)]),
    Case("ArgMax", [(128, 1000)], axis=1),
    Case("CumSum", [(512, 512), constant(1)], name="CumSum_row"),
    Case("CumSum", [(512, 512), constant(0)], name="CumSum_column"),
    Case("TopK", [(128, 1000), constant([5])], outputs=2, name="TopK_5"),
    Case("TopK", [(1, 8400), constant([100])], outputs=2, name="TopK_100"),
    Case("Softmax", [(128, 1000)], axis=-1),
    Case("Softmax", [(1000, 21)], axis=-1, name="Softmax_short"),
    Case("Softmax", [(12, 128, 128)], axis=-1, name="Softmax_attention"),
    Case("Softmax", [(1, 21, 64, 64)], axis=1, name="Softmax_channel"),
    Case("LogSoftmax", [(128, 1000)], axis=-1),
    Case("LayerNormalization", [(128, 768), noise(768), noise(768)], axis=-1, fixed=(1,)),
    Case("GroupNormalization", [IMAGE, noise(64), noise(64)], num_groups=8, fixed=(1,)),
    Case("InstanceNormalization", [IMAGE, noise(64), noise(64)], fixed=(1,)),
    Case("BatchNormalization", [IMAGE, noise(64), noise(64), noise(64), abs(noise(64)) + 1], fixed=(1,)),
    Case("LpNormalization", [ROWS], axis=-1, p=2),
    Case("LRN", [IMAGE], size=5),
    Case("MaxPool", [IMAGE], kernel_shape=[2, 2], strides=[2, 2], name="MaxPool_2x2"),
    Case("MaxPool", [(1, 64, 112, 112)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
         name="MaxPool_3x3"),
    Case("MaxPool", [SMALL], kernel_shape=[5, 5], pads=[2] * 4, name="MaxPool_5x5"),
    Case("MaxPool", [SMALL], kernel_shape=[13, 13], pads=[6] * 4, name="MaxPool_13x13"),
    Case("MaxPool", [IMAGE], kernel_shape=[7, 7], strides=[2, 2], pads=[3] * 4, name="MaxPool_7x7"),
    Case("AveragePool", [IMAGE], kernel_shape=[3, 3], pads=[1] * 4, name="AveragePool_3x3"),
    Case("AveragePool", [IMAGE], kernel_shape=[7, 7], name="AveragePool_7x7"),
    Case("MaxPool", [(1, 64, 1024)], kernel_shape=[3], strides=[2], name="MaxPool_1d"),
    Case("Transpose", [IMAGE], perm=[0, 2, 3, 1], name="Transpose_last"),
    Case("Transpose", [(1, 56, 56, 64)], perm=[0, 3, 1, 2], name="Transpose_first"),
    Case("Transpose", [(1, 128, 12, 64)], perm=[0, 2, 1, 3], name="Transpose_heads"),
    Case("Transpose", [(12, 128, 64)], perm=[0, 2, 1], name="Transpose_keys"),
    Case("Transpose", [(1000, 1200)], perm=[1, 0], name="Transpose_matrix"),
    Case("Concat", [IMAGE, IMAGE], axis=1, name="Concat_channel"),
    Case("Concat", [(128, 384), (128, 384)], axis=1, name="Concat_row"),
    Case("Split", [(128, 768)], axis=1, num_outputs=2, outputs=2),
    Case("Slice", [IMAGE, constant([1, 2]), constant([-1, -1]), constant([2, 3])], name="Slice_inner"),
    Case("Slice", [IMAGE, constant([0]), constant([1000]), constant([3]), constant([2])], name="Slice_step"),
    Case("Pad", [IMAGE, constant([0, 0, 1, 1, 0, 0, 1, 1])], name="Pad_zero"),
    Case("Pad", [IMAGE, constant([0, 0, 1, 1, 0, 0, 1, 1])], mode="reflect", name="Pad_reflect"),
    Case("Pad", [IMAGE, constant([0, 0, 1, 1, 0, 0, 1, 1])], mode="edge", name="Pad_edge"),
    Case("Tile", [(64, 96), constant([4, 4])]),
    Case("Expand", [(64, 1, 56), constant([1, 64, 1])]),
    Case("Gather", [(3000, 768), ("i", (128,))], fixed=(1,)),
    Case("GatherElements", [(128, 768), ("i", (128, 768))], axis=1),
    Case("GatherND", [(64, 64, 128), ("i", (512, 2))], fixed=(1, 2)),
    Case("ScatterND", [(256, 512), ("i", (64, 1)), (64, 512)], fixed=(1,)),
    Case("DepthToSpace", [(1, 64, 56, 56)], blocksize=2, fixed=(1,)),
    Case("SpaceToDepth", [(1, 16, 112, 112)], blocksize=2, fixed=(1, 2, 3)),
    Case("Resize", [IMAGE, None, constant([1, 1, 2, 2], numpy.float32)], mode="nearest",
         name="Resize_nearest"),
    Case("Resize", [IMAGE, None, constant([1, 1, 2, 2], numpy.float32)], mode="linear", name="Resize_linear"),
    Case("GridSample", [(1, 16, 64, 64), (1, 64, 64, 2)], fixed=(3,)),
    Case("Trilu", [(12, 256, 256)], upper=0),
    Case("Einsum", [(12, 128, 64), (12, 128, 64)], equation="bqd,bkd->bqk"),
    Case("MatMul", [(128, 768), noise(768, 768)], name="MatMul_known", fixed=(1,)),
    Case("MatMul", [(128, 768), (768, 768)], name="MatMul_both"),
    Case("MatMul", [(12, 128, 64), (12, 64, 128)], name="MatMul_batch"),
    Case("MatMul", [(1, 768), noise(768, 3072)], name="MatMul_row", fixed=(1,)),
    Case("MatMul", [(7, 7), (7, 7)], name="MatMul_tiny"),
    Case("Gemm", [(128, 768), noise(768, 768), noise(768)], transB=1, fixed=(1,)),
    Case("Gemm", [(64, 512), (128, 512)], transB=1, name="Gemm_turned"),
    Case("Conv", [IMAGE, noise(64, 64, 3, 3)], pads=[1] * 4, fixed=(1,), name="Conv_3x3", tolerance=1e-3),
    Case("Conv", [IMAGE, noise(64, 64, 1, 1)], fixed=(1,), name="Conv_1x1", then=["Relu"]),
    Case("Conv", [IMAGE, noise(64, 64, 1, 1)], fixed=(1,), name="Conv_1x1_Gelu", then=["Gelu"]),
    Case("Conv", [SMALL, noise(256, 256, 1, 1)], fixed=(1,), name="Conv_1x1_Mish", then=["Mish"]),
    Case("Conv", [IMAGE, noise(128, 64, 3, 3)], strides=[2, 2], pads=[1] * 4, fixed=(1,), name="Conv_strided",
         tolerance=1e-3),
    Case("Conv", [IMAGE, noise(64, 1, 3, 3)], pads=[1] * 4, group=64, fixed=(1,), name="Conv_depthwise"),
    Case("Conv", [IMAGE, noise(64, 64, 3, 3)], pads=[2] * 4, dilations=[2, 2], fixed=(1,),
         name="Conv_dilated"),
    Case("Conv", [IMAGE, noise(64, 16, 3, 3)], pads=[1] * 4, group=4, fixed=(1,), name="Conv_groups"),
    Case("Conv", [(1, 3, 224, 224), noise(64, 3, 7, 7)], strides=[2, 2], pads=[3] * 4, fixed=(1,),
         name="Conv_7x7", tolerance=1e-3),
    Case("Conv", [(1, 64, 1024), noise(64, 64, 3)], pads=[1, 1], fixed=(1,), name="Conv_1d"),
    Case("ConvTranspose", [(1, 64, 28, 28), noise(64, 32, 4, 4)], strides=[2, 2], pads=[1] * 4, fixed=(1,),
         tolerance=1e-3),
    Case("LSTM", [(64, 1, 128), noise(1, 512, 128) / 8, noise(1, 512, 128) / 8], hidden_size=128, outputs=3,
         fixed=(1, 2)),
    Case("GRU", [(64, 1, 128), noise(1, 384, 128) / 8, noise(1, 384, 128) / 8], hidden_size=128, outputs=2,
         fixed=(1, 2)),
    Case("DynamicQuantizeLinear", [ROWS], outputs=3, tolerance=1.01),
    Case("QuantizeLinear", [IMAGE, constant(0.05, numpy.float32), constant(128, numpy.uint8)],
         tolerance=1.01),
    Case("DequantizeLinear", [("u8", IMAGE), constant(0.05, numpy.float32), constant(128, numpy.uint8)]),
    Case("NonZero", [ROWS]),
    Case("Unique", [("i", (4096,))], sorted=1),
    Case("Det", [(64, 8, 8)]),
]


def differs(ours, theirs, tolerance):
    for a, b in zip(ours, theirs):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} is {b.dtype}{b.shape} in onnxruntime"
        if a.size and a.dtype != bool:
            apart = numpy.abs(a.astype(numpy.float64) - b.astype(numpy.float64)).max()
            if not apart <= tolerance * max(1.0, float(numpy.abs(b.astype(numpy.float64)).max())):
                return f"results are {apart:.3g} apart"
    return None


def median_run(run, warm=3, least=0.01):
    """Seconds of a run, the median of those that take `least` together: what interrupts a few of them
    does not count."""
    wait_for_idle_threads()
    for _ in range(warm):
        run()
    times, end = [], time.perf_counter() + least
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def compare(case, threads, rounds, is_open):
    import onnxruntime
    import polyhalite.onnx

    model = case.model(is_open).SerializeToString()
    feed = case.feed()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    peer = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    mine = polyhalite.onnx.load(model)
    if is_open:
        mine.run(case.feed(larger=True))
    problem = differs(list(mine.run(feed).values()), peer.run(None, feed), case.tolerance)
    if problem:
        raise ValueError(problem)
    times = {"ours": [], "onnxruntime": []}
    for _ in range(rounds):
        times["ours"].append(median_run(lambda: mine.run(feed)))
        times["onnxruntime"].append(median_run(lambda: peer.run(None, feed)))
    return {k: statistics.median(v) for k, v in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--open", action="store_true", help="leave all sizes of inputs open")
    parser.add_argument("--filter", default="", metavar="REGEX", help="of names of cases")
    parser.add_argument("--below", type=float, default=0, metavar="R", help="the least ratio that is well")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    os.environ["PH_NUM_THREADS"] = str(args.threads)
    rows, failures = [], []
    for case in CASES:
        if not re.search(args.filter, case.name):
            continue
        try:
            seconds = compare(case, args.threads, args.rounds, args.open)
        except Exception as error:  # one case's trouble is no reason to leave out the others
            failures.append(case.name)
            print(f"{case.name:24} fails: {str(error).splitlines()[0][:200]}", flush=True)
            continue
        row = {"operator": case.name, "threads": args.threads, "open": args.open,
               "ours_ms": seconds["ours"] * 1e3, "onnxruntime_ms": seconds["onnxruntime"] * 1e3,
               "ratio": seconds["onnxruntime"] / seconds["ours"]}
        rows.append(row)
        print(f"{case.name:24} {row['ours_ms']:9.4f} ms, onnxruntime {row['onnxruntime_ms']:9.4f}: "
              f"{row['ratio']:6.2f}", flush=True)
    if rows:
        lowest = sorted(rows, key=lambda row: row["ratio"])
        mean = math.exp(statistics.mean(math.log(row["ratio"]) for row in rows))
        print(f"\n{len(rows)} operators, geometric mean {mean:.2f}; lowest: " +
              ", ".join(f"{row['operator']} {row['ratio']:.2f}" for row in lowest[:12]))
    if failures:
        print("failed: " + ", ".join(failures))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=2)
    sys.exit(1 if failures or any(row["ratio"] < args.below for row in rows) else 0)


if __name__ == "__main__":
    main()
