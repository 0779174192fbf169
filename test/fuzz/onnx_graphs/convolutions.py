"""Convolutions of floats and bytes, also transposed ones, of one to three dimensions."""

import random

import numpy
from case import Case, Writer
from matrix_products import random_bytes

SIDES = [1, 2, 3, 5, 7, 8, 9, 13, 14, 16, 17, 28, 31]
CHANNELS = [1, 2, 3, 4, 5, 8, 16, 24, 32, 48, 64]
MADE = [1, 2, 3, 4, 7, 8, 16, 24, 32, 33, 64, 96]


def draw(seed):
    choose, numbers = random.Random(seed), numpy.random.default_rng(seed)
    op = choose.choice(["Conv", "Conv", "Conv", "ConvTranspose", "QLinearConv", "QLinearConv",
                        "ConvInteger"])
    floats = op.startswith("Conv") and op != "ConvInteger"
    spatial = choose.choice([1, 2, 2, 2, 2, 3] if floats else [1, 2, 2, 2])
    sides = [min(choose.choice(SIDES), 8 if spatial == 3 else 31) for _ in range(spatial)]
    kernel = draw_kernel(choose, spatial)
    channels, made, group = draw_channels(choose)
    if op == "ConvTranspose" and spatial == 3:
        channels, made, group = min(channels, 16), min(made, 16), 1
    attributes = draw_attributes(choose, op, kernel)
    attributes["group"] = group
    shape = [choose.choice([1, 1, 1, 2, 3]), channels, *sides]
    if op == "ConvTranspose":
        weights = [channels, max(1, made // group), *kernel]
        made = weights[1] * group
    else:
        weights = [made, channels // group, *kernel]
    writer = Writer(17)
    make = write_floats if floats else write_bytes
    feeds = make(choose, numbers, writer, op, shape, weights, made, attributes)
    writer.nodes[-1].output[0] = "y"
    style = choose.random()
    dims = {"x": [f"d{i}" if style < 0.12 or (style < 0.5 and i != 1) else d
                  for i, d in enumerate(shape)]}
    return Case("convolutions", seed, writer.model(feeds, ["y"], dims), feeds,
                note=f"{op} {shape} {weights}")


def draw_kernel(choose, spatial):
    if choose.random() < 0.7:
        kernel = [choose.choice([1, 1, 2, 3, 3, 3, 5, 7])] * spatial
    else:
        kernel = [choose.choice([1, 2, 3, 5]) for _ in range(spatial)]
    return [min(k, 3) for k in kernel] if spatial == 3 else kernel


def draw_channels(choose):
    """(channels, results, groups): a group for each channel, for some, or one group."""
    channels, made, group = choose.choice(CHANNELS), choose.choice(MADE), 1
    u = choose.random()
    if u < 0.25:
        group, made = channels, channels * choose.choice([1, 1, 2])
    elif u < 0.45:
        group = choose.choice([d for d in range(1, channels + 1) if channels % d == 0])
        made = group * choose.choice([1, 2, 3, 4, 8, 16])
    return channels, made, group


def draw_attributes(choose, op, kernel):
    spatial = len(kernel)
    if choose.random() < 0.8:
        strides = [choose.choice([1, 1, 1, 2, 3])] * spatial
    else:
        strides = [choose.choice([1, 2]) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel, "strides": strides,
                  "dilations": [choose.choice([1, 1, 1, 2])] * spatial}
    if op == "ConvTranspose":
        attributes["output_padding"] = [choose.choice([0, 0, s - 1]) for s in strides]
    if op != "ConvTranspose" and choose.random() < 0.15:
        attributes["auto_pad"] = choose.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        attributes["dilations"] = [1] * spatial
    else:
        attributes["pads"] = [choose.choice([0, 0, 1, 2, 3]) if choose.random() < 0.5
                              else kernel[i % spatial] // 2 for i in range(2 * spatial)]
    return attributes


def write_floats(choose, numbers, writer, op, shape, weights, made, attributes):
    x = numbers.standard_normal(shape).astype(numpy.float32)
    kernels = numbers.standard_normal(weights) / numpy.sqrt(numpy.prod(weights[1:]))
    names = [writer.node("Relu", ["x"]) if choose.random() < 0.3 else "x",
             writer.constant(kernels, numpy.float32)]
    if choose.random() < 0.6:
        names.append(writer.constant(numbers.standard_normal(made), numpy.float32))
    y = writer.node(op, names, **attributes)
    behind = choose.choice([None, None, "Relu", "Sigmoid", "Add"])
    if behind == "Add":
        writer.node("Add", [y, writer.node("Tanh", [y])])
    elif behind:
        writer.node(behind, [y])
    return {"x": x}


def write_bytes(choose, numbers, writer, op, shape, weights, made, attributes):
    dtype = choose.choice([numpy.uint8, numpy.uint8, numpy.int8]) if op == "QLinearConv" else numpy.uint8
    kernel_dtype = choose.choice([numpy.int8, numpy.int8, numpy.uint8]) if dtype == numpy.uint8 else dtype
    x, kernels = random_bytes(numbers, shape, dtype), random_bytes(numbers, weights, kernel_dtype)
    middle = 128 if dtype == numpy.uint8 else -7
    point = writer.constant(choose.choice([0, 3, middle]), dtype)
    w = writer.constant(kernels, kernel_dtype)
    each = op == "QLinearConv" and choose.random() < 0.4  # a step for each result
    kernel_point = 0 if each else choose.choice([0, 0, 5, 128 if kernel_dtype == numpy.uint8 else 0])
    w_point = writer.constant([kernel_point] * made if each else kernel_point, kernel_dtype)
    if op == "ConvInteger":
        writer.node(op, ["x", w, point, w_point], **attributes)
        return {"x": x}
    real = lambda values: writer.constant(values, numpy.float32)
    w_step = real(numbers.random(made) * 0.01 + 0.005 if each else 0.01)
    y_step = real(0.15 * numpy.sqrt(numpy.prod(weights[1:])))  # results fill their bytes
    names = ["x", real(0.02), point, w, w_step, w_point, y_step,
             writer.constant(100 if dtype == numpy.uint8 else 5, dtype)]
    if choose.random() < 0.5:
        names.append(writer.constant(numbers.integers(-1000, 1000, made), numpy.int32))
    writer.node(op, names, **attributes)
    return {"x": x}
