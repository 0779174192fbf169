"""Models of ONNX's backend test data with one or two changes: attributes, operands, operators, versions;
sizes, ranks, types and values of the inputs."""

import functools
import math
import pathlib
import random

import numpy
import onnx
from case import Case, all_nodes, element_type
from onnx import helper, numpy_helper

SOURCE = pathlib.Path(__file__).resolve().parents[3]
TEXTS = [b"SAME_UPPER", b"SAME_LOWER", b"VALID", b"NOTSET", b"linear", b"cubic", b"nearest", b"half_pixel",
         b"align_corners", b"asymmetric", b"edge", b"wrap", b"reflect", b"max", b"min", b"mul", b"add",
         b"none", b"floor", b"ceil", b"mean", b"sum", b"reverse", b"bidirectional"]
OPERATORS = ["Relu", "Add", "Mul", "Softmax", "Transpose", "Reshape", "Squeeze", "ReduceSum", "MatMul",
             "Cast", "Gather", "ArgMax", "Concat", "Flatten", "Sigmoid", "Clip", "Pow", "Mod", "Where",
             "Expand", "Slice", "Pad", "Tile", "CumSum", "Split", "Unsqueeze"]
VERSIONS = [7, 9, 11, 13, 14, 16, 18, 20, 21]
MOST_ELEMENTS = 100000
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomUniform")


def data_folder():
    """Where the build or the package onnx has the data, or None."""
    for base in (SOURCE / "build" / "onnx-test-data" / "onnx", pathlib.Path(onnx.__file__).parent):
        folder = base / "backend" / "test" / "data"
        if (folder / "node").is_dir():
            return folder
    return None


@functools.cache
def models():
    folders = ("node", "simple", "pytorch-operator", "pytorch-converted")
    return [m for f in folders for m in sorted((data_folder() / f).glob("*/model.onnx"))]


def draw(seed):
    choose = random.Random(seed)
    while True:
        path = choose.choice(models())
        loaded = load(path)
        if loaded is None:
            continue
        model, arrays = loaded
        try:
            changes = [change(choose, model, arrays) for _ in range(choose.choice([1, 1, 1, 2]))]
            feeds, style = declare_inputs(choose, model, arrays)
        except (IndexError, ValueError, TypeError, KeyError):
            continue  # what was drawn cannot be done to this model
        note = "; ".join(c for c in changes if c)
        return Case("mutated", seed, model, feeds, note=f"{path.parent.name}: {note} ({style})")


def load(path):
    """(model, arrays of its inputs), or None where it has others, strings or random numbers."""
    model, arrays = onnx.load(str(path)), []
    for i, value in enumerate(model.graph.input):
        file = path.parent / "test_data_set_0" / f"input_{i}.pb"
        if not file.exists() or value.type.WhichOneof("value") != "tensor_type":
            return None
        tensor = onnx.TensorProto.FromString(file.read_bytes())
        if tensor.data_type == onnx.TensorProto.STRING:
            return None
        arrays.append(numpy_helper.to_array(tensor))
    known = list(all_nodes(model.graph))
    return (model, arrays) if known and not any(map(is_random, known)) else None


def is_random(node):
    return node.op_type.startswith(RANDOM) or (node.op_type == "Dropout" and len(node.input) == 3)


def change(choose, model, arrays):
    """Says what it did; empty where nothing came of it."""
    node = choose.choice(list(all_nodes(model.graph)))
    way = choose.randrange(10)
    if way < 3 and node.attribute:
        return change_attribute(choose, node)
    if way == 3 and node.attribute:
        index = choose.randrange(len(node.attribute))
        name = node.attribute[index].name
        del node.attribute[index]
        return f"{node.op_type} without {name}"
    if 4 <= way < 8 and arrays:
        index = choose.randrange(len(arrays))
        before = arrays[index]
        arrays[index] = (change_size, change_rank, change_value, change_type)[way - 4](choose, before)
        after = arrays[index]
        return f"input {index} {before.dtype}{list(before.shape)} -> {after.dtype}{list(after.shape)}"
    if way == 8 and node.input:
        if choose.random() < 0.5:
            index = choose.randrange(len(node.input))
            node.input[index] = choose.choice(["", *node.input])
            return f"{node.op_type} operand {index} = '{node.input[index]}'"
        return f"{node.op_type} without {node.input.pop()}"
    if way == 9 and choose.random() < 0.5:
        before, node.op_type = node.op_type, choose.choice(OPERATORS)
        return f"{before} -> {node.op_type}"
    if way == 9:
        for opset in model.opset_import:
            if opset.domain == "":
                opset.version = choose.choice(VERSIONS)
                return f"opset {opset.version}"
    return ""


def change_attribute(choose, node):
    a = choose.choice(node.attribute)
    if a.type == a.INT:
        a.i = choose.choice([a.i + 1, a.i - 1, -a.i, 0, 1, -1, 2, choose.randrange(-5, 6)])
    elif a.type == a.INTS and a.ints:
        index, way = choose.randrange(len(a.ints)), choose.randrange(4)
        if way == 0:
            del a.ints[index]
        elif way == 1:
            a.ints.append(choose.randrange(-1, 3))
        else:
            a.ints[index] = choose.choice([a.ints[index] + 1, a.ints[index] - 1, 0, 1, 2, -1, 3])
    elif a.type == a.FLOAT:
        a.f = choose.choice([0, -a.f, a.f * 2, 1.0, -1.0, 0.5])
    elif a.type == a.STRING:
        a.s = choose.choice(TEXTS)
    return f"{node.op_type}.{a.name} changed"


def change_size(choose, x):
    axis, shape = choose.randrange(x.ndim), list(x.shape)
    size = shape[axis]
    shape[axis] = choose.choice([1, size + 1, max(0, size - 1), size * 2, 0, 17, 33])
    if math.prod(shape) > MOST_ELEMENTS:
        return x
    return numpy.resize(x, shape) if x.size else numpy.zeros(shape, x.dtype)


def change_rank(choose, x):
    if choose.random() < 0.6 or not x.ndim or not x.shape[0]:
        return x[None]
    return numpy.asarray(x[0])


def change_value(choose, x):
    x = x.copy()
    index = choose.randrange(x.size)
    if x.dtype.kind == "f":
        x.flat[index] = choose.choice([0, numpy.inf, -numpy.inf, numpy.nan, 1e30, -0.0])
    elif x.dtype.kind in "iu":
        x.flat[index] = choose.choice([0, 1, 2, 3, 100] + ([-1] if x.dtype.kind == "i" else []))
    return x


def change_type(choose, x):
    with numpy.errstate(invalid="ignore"):
        return x.astype(choose.choice(["f4", "f8", "f2", "i4", "i8", "u1", "i1", "?", "i2", "u4"]))


def declare_inputs(choose, model, arrays):
    """Inputs say what is given, their sizes known or open, or become weights. (feeds, how.)"""
    style = choose.choice(["known sizes", "open sizes", "some sizes open", "some inputs known"])
    names, feeds, inputs = [v.name for v in model.graph.input], {}, []
    for name, x in zip(names, arrays):
        if style == "some inputs known" and name and choose.random() < 0.6:
            model.graph.initializer.append(numpy_helper.from_array(numpy.ascontiguousarray(x), name))
            continue
        shape = list(x.shape)
        if style == "open sizes":
            shape = [None] * x.ndim
        elif style == "some sizes open":
            shape = [f"{name}_{i}" if choose.random() < 0.5 else d for i, d in enumerate(shape)]
        inputs.append(helper.make_tensor_value_info(name, element_type(x.dtype), shape))
        feeds[name] = x
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    for output in model.graph.output:
        if output.type.WhichOneof("value") == "tensor_type":
            output.type.tensor_type.ClearField("shape")
    return feeds, style
