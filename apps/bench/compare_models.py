#!/usr/bin/env python3
"""Compares models with onnxruntime: errors against a float64 reference, speed, compile time.

  compare_models.py [--threads N] [--rounds N] [--size NAME=N] [--open] [--json FILE] MODEL...

Needs the Python packages polyhalite (PYTHONPATH=build/python/package), onnx and onnxruntime. Inputs are
random with a seed, and weights that are one number throughout become random as well. Both run in turns;
times are medians of a run's wall and of the process's CPU time, which a loaded machine disturbs less.
A size is of a dimension that the model names. With --open the numbers, rows and columns of images are
left open, and others run first, so that the program for all sizes is measured. Exit status 1 where an
error is more than twice onnxruntime's and more than 1e-6 of the largest result. Operators of
com.microsoft have no reference: --no-accuracy.
"""

import argparse
import json
import os
import statistics
import sys
import time

import numpy
import onnx
from onnx import TensorProto, numpy_helper

SIZES = {"batch": 1, "length": 128}


def random_weights(model, seed=5):
    """Weights that ConstantOfShape makes become random ones, of a size that keeps sums' variance."""
    random = numpy.random.default_rng(seed)
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in known:
            kept.append(node)
            continue
        shape = [int(n) for n in known[node.input[0]]]
        fan_in = int(numpy.prod(shape[1:])) if len(shape) > 1 else 16
        values = random.standard_normal(shape) * (1.5 / fan_in) ** 0.5
        if len(shape) == 1:
            values = numpy.abs(values) + 0.1  # variances are among the vectors
        model.graph.initializer.append(
            numpy_helper.from_array(values.astype(numpy.float32), node.output[0]))
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def in_double(model):
    """The same model with float64 in the place of float32."""
    double = onnx.ModelProto()
    double.CopyFrom(model)

    def widen(tensor):
        if tensor.data_type == TensorProto.FLOAT:
            name = tensor.name
            tensor.CopyFrom(numpy_helper.from_array(
                numpy_helper.to_array(tensor).astype(numpy.float64), name))

    for tensor in double.graph.initializer:
        widen(tensor)
    for node in double.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                widen(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for value in [*double.graph.input, *double.graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    del double.graph.value_info[:]
    return double


def convolution(x, w, b=None, group=1, kernel_shape=None, strides=None, pads=None, dilations=None,
                auto_pad="NOTSET", **_):
    """[image, channel, ...] with [result, channel / group, ...], as one product for each group."""
    spatial = x.ndim - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    pads = list(pads or [0] * (2 * spatial))
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    if str(auto_pad).startswith("SAME"):
        for d in range(spatial):
            size = x.shape[2 + d]
            total = max((-(-size // strides[d]) - 1) * strides[d] + reach[d] - size, 0)
            front = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            pads[d], pads[d + spatial] = front, total - front
    x = numpy.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:spatial], pads[spatial:])))
    windows = numpy.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, x.ndim)))
    steps = tuple(slice(None, None, s) for s in strides)
    taps = tuple(slice(None, None, d) for d in dilations)
    windows = windows[(slice(None), slice(None)) + steps + taps]
    results = []
    channels, made = w.shape[1], w.shape[0] // group
    for g in range(group):
        part = windows[:, g * channels:(g + 1) * channels]
        axes = [1] + list(range(2 + spatial, 2 + 2 * spatial))
        y = numpy.tensordot(part, w[g * made:(g + 1) * made], (axes, list(range(1, 2 + spatial))))
        results.append(numpy.moveaxis(y, -1, 1))
    y = numpy.concatenate(results, 1)
    return y if b is None else y + b.reshape([-1] + [1] * spatial)


class NoReference(Exception):
    """onnx's own evaluator does not know an operator of the model."""


def reference(model, feed):
    """Results of onnx's own evaluator in float64, with convolutions of ours: its own are slow."""
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

    class Conv(OpRun):
        def _run(self, x, w, b=None, **attributes):
            return (convolution(x, w, b, **attributes),)

    try:
        evaluator = ReferenceEvaluator(in_double(model), new_ops=[Conv])
    except (RuntimeError, NotImplementedError) as e:
        raise NoReference(str(e)) from e
    return evaluator.run(None, {k: v.astype(numpy.float64) if v.dtype == numpy.float32 else v
                                for k, v in feed.items()})


def make_inputs(model, sizes, seed=7):
    random = numpy.random.default_rng(seed)
    weights = {t.name for t in model.graph.initializer}
    feed = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value or sizes.get(d.dim_param, 1) for d in tensor.shape.dim]
        if tensor.elem_type == TensorProto.FLOAT:
            feed[value.name] = random.standard_normal(shape).astype(numpy.float32)
        else:
            feed[value.name] = random.integers(0, 100, shape).astype(
                onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    return feed


def relative_error(results, exact):
    """The largest difference, of the largest result; infinite where NaNs or infinities differ."""
    worst = 0.0
    for a, b in zip(results, exact):
        if a.shape != b.shape or not numpy.array_equal(numpy.isfinite(a), numpy.isfinite(b)):
            return float("inf")
        finite = numpy.isfinite(b)
        if finite.any():
            difference = numpy.abs(a[finite].astype(numpy.float64) - b[finite]).max()
            worst = max(worst, float(difference / max(numpy.abs(b[finite]).max(), 1e-30)))
    return worst


def accuracy(model, sizes=None):
    """(our error, onnxruntime's) for a ModelProto; its graph optimisations are off."""
    import onnxruntime
    import polyhalite.onnx

    feed = make_inputs(model, {**SIZES, **(sizes or {})})
    exact = reference(model, feed)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    peer = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])
    ours = list(polyhalite.onnx.load(model).run(feed).values())
    return relative_error(ours, exact), relative_error(peer.run(None, feed), exact)


def is_accurate(ours, theirs):
    return ours <= max(2 * theirs, 1e-6)


def wait_for_idle_threads(step=0.02, most=10):
    """Those of whoever ran before wait with busy cores for some 30 ms, which the next one needs. Kernels
    may count their time in ticks of 10 ms."""
    for _ in range(most):
        busy = time.process_time()
        time.sleep(step)
        if time.process_time() - busy < step / 20:
            return


def seconds_of(run, warm=0.01, least=0.02):
    """Wall and processor seconds of one of the runs that take `least` together, after warm ones."""
    wait_for_idle_threads()
    end = time.perf_counter() + warm
    while True:
        run()
        if time.perf_counter() >= end:
            break
    runs, before, busy = 0, time.perf_counter(), time.process_time()
    while runs == 0 or time.perf_counter() - before < least:
        run()
        runs += 1
    return (time.perf_counter() - before) / runs, (time.process_time() - busy) / runs


def with_open_images(model):
    """The model with names for the sizes of images but their channels; nothing follows from the old ones."""
    opened = onnx.ModelProto()
    opened.CopyFrom(model)
    for value in opened.graph.input:
        dims = value.type.tensor_type.shape.dim
        for i in (0, 2, 3) if len(dims) == 4 else ():
            dims[i].dim_param = f"{value.name}_{i}"
    for value in opened.graph.output:
        for i, d in enumerate(value.type.tensor_type.shape.dim):
            d.dim_param = f"{value.name}_{i}"
    del opened.graph.value_info[:]
    return opened


def larger_images(feed):
    return {k: numpy.pad(v, [(0, 0), (0, 0), (0, 32), (0, 64)]) if v.ndim == 4 else v
            for k, v in feed.items()}


def speed(path, model, sizes, threads, rounds, is_open=False):
    import onnxruntime
    import polyhalite.onnx

    feed = make_inputs(model, sizes)
    source = with_open_images(onnx.load(path)).SerializeToString() if is_open else path
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    peer = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    start = time.perf_counter()
    mine = polyhalite.onnx.load(source)
    if is_open:
        mine.run(larger_images(feed))
        start = time.perf_counter()
    mine.run(feed)
    seconds = {"compile": time.perf_counter() - start}
    runs = {"ours": lambda: mine.run(feed), "onnxruntime": lambda: peer.run(None, feed)}
    wall, processor = {k: [] for k in runs}, {k: [] for k in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds_wall, seconds_processor = seconds_of(run)
            wall[name].append(seconds_wall)
            processor[name].append(seconds_processor)
    for name in runs:
        seconds[name] = statistics.median(wall[name])
        seconds[name + "_cpu"] = statistics.median(processor[name])
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--size", action="append", default=[], metavar="NAME=N")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--no-accuracy", action="store_true")
    parser.add_argument("--no-speed", action="store_true")
    args = parser.parse_args()
    os.environ["PH_NUM_THREADS"] = str(args.threads)
    sizes = {**SIZES, **{k: int(v) for k, v in (s.split("=") for s in args.size)}}
    rows, good = [], True
    for path in args.models:
        model = random_weights(onnx.load(path))
        row = {"model": os.path.basename(path), "threads": args.threads,
               "load": os.getloadavg()[0]}
        if not args.no_speed:
            row.update(speed(path, model, sizes, args.threads, args.rounds, args.open))
            row["ratio"] = row["onnxruntime"] / row["ours"]
            row["ratio_cpu"] = row["onnxruntime_cpu"] / row["ours_cpu"]
        if not args.no_accuracy:
            try:
                row["error"], row["onnxruntime_error"] = accuracy(model, sizes)
                good = good and is_accurate(row["error"], row["onnxruntime_error"])
            except NoReference as e:
                row["error"] = f"not checked ({e})"
                good = False
        rows.append(row)
        print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}"
                        for k, v in row.items()), flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=2)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
