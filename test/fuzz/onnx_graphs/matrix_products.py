"""Products of matrices of floats and of bytes, whose sizes are around those of tiles."""

import random

import numpy
from case import Case, Writer

SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 20, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65,
         100, 127, 129, 200]
BYTE_SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64]
BATCHES = [[], [], [], [1], [2], [2, 3], [1, 4]]


def draw(seed):
    choose, numbers = random.Random(seed), numpy.random.default_rng(seed)
    make = choose.choice([float_product, float_product, byte_product])
    writer = Writer(13)
    feeds, expected, note = make(choose, numbers, writer)
    return Case("products", seed, writer.model(feeds, ["y"], declared(choose, feeds)), feeds,
                {"y": expected}, note)


def declared(choose, feeds):
    """All sizes are known, all are open, or some are."""
    style = choose.random()
    if style > 0.35:
        return {}
    return {name: [f"{name}{i}" if style < 0.2 or choose.random() < 0.5 else d
                   for i, d in enumerate(array.shape)] for name, array in feeds.items()}


def operands(choose, writer, a, b):
    """Their names, and feeds: the second one may be known."""
    feeds = {"a": a}
    if choose.random() < 0.5:
        return "a", writer.constant(b, b.dtype), feeds
    return "a", "b", {**feeds, "b": b}


def turned(array):
    return numpy.swapaxes(array, -1, -2)


def name_result(writer):
    writer.nodes[-1].output[0] = "y"


def float_product(choose, numbers, writer):
    """Gemm, or MatMul of what may be transposed, with a sum and a Relu behind it at times."""
    rows, columns = choose.choice(SIZES), choose.choice(SIZES)
    terms = choose.choice([513, 1024, 2000]) if choose.random() < 0.1 else choose.choice(SIZES)
    batch = choose.choice(BATCHES)
    dtype = choose.choice([numpy.float32] * 3 + [numpy.float64, numpy.float16])
    turn_a, turn_b = choose.random() < 0.25, choose.random() < 0.25
    a = numbers.standard_normal([*batch, rows, terms]).astype(dtype)
    b = numbers.standard_normal([*(batch if choose.random() < 0.5 else []), terms, columns]).astype(dtype)
    exact = a.astype(numpy.float64) @ b.astype(numpy.float64)
    a, b = turned(a) if turn_a else a, turned(b) if turn_b else b
    left, right, feeds = operands(choose, writer, numpy.ascontiguousarray(a), numpy.ascontiguousarray(b))
    if not batch and choose.random() < 0.5:
        alpha, names = choose.choice([1.0, 0.5]), [left, right]
        exact *= alpha
        if choose.random() < 0.6:
            shape = choose.choice([(columns,), (1, columns), (rows, 1), (1,), (rows, columns)])
            c = numbers.standard_normal(shape).astype(dtype)
            names.append(writer.constant(c, dtype))
            exact = exact + c
        writer.node("Gemm", names, transA=int(turn_a), transB=int(turn_b), alpha=alpha)
    else:
        def turn(name, rank):
            return writer.node("Transpose", [name], perm=[*range(rank - 2), rank - 1, rank - 2])

        y = writer.node("MatMul", [turn(left, a.ndim) if turn_a else left,
                                   turn(right, b.ndim) if turn_b else right])
        if choose.random() < 0.4:
            c = numbers.standard_normal(columns).astype(dtype)
            writer.node("Relu", [writer.node("Add", [y, writer.constant(c, dtype)])])
            exact = numpy.maximum(exact + c, 0)
    name_result(writer)
    return feeds, exact.astype(dtype), f"{rows}x{terms}x{columns} {batch} {numpy.dtype(dtype)}"


def byte_product(choose, numbers, writer):
    terms, rows, columns = (choose.choice(BYTE_SIZES) for _ in range(3))
    batch = choose.choice(BATCHES)
    type_a = choose.choice([numpy.uint8, numpy.uint8, numpy.int8])
    type_b = choose.choice([numpy.int8, numpy.int8, numpy.uint8])
    a = random_bytes(numbers, [*batch, rows, terms], type_a)
    b = random_bytes(numbers, [*(batch if choose.random() < 0.5 else []), terms, columns], type_b)
    point_a = choose.choice([0, 3, 128 if type_a == numpy.uint8 else -5])
    point_b = choose.choice([0, 0, 7])
    exact = (a.astype(numpy.int64) - point_a) @ (b.astype(numpy.int64) - point_b)
    left, right, feeds = operands(choose, writer, a, b)
    points = [writer.constant(point_a, type_a), writer.constant(point_b, type_b)]
    if choose.random() < 0.5:
        writer.node("MatMulInteger", [left, right, *points])
        exact = exact.astype(numpy.int32)
    else:
        # The results fill their bytes.
        steps = [numpy.float32(s) for s in (0.02, 0.01, 0.05 * terms ** 0.5)]
        names = [writer.constant(s, numpy.float32) for s in steps]
        writer.node("QLinearMatMul", [left, names[0], points[0], right, names[1], points[1], names[2],
                                      writer.constant(100, numpy.uint8)])
        real = exact * (float(steps[0]) * float(steps[1]) / float(steps[2]))
        exact = numpy.clip(numpy.rint(real) + 100, 0, 255).astype(numpy.uint8)
    name_result(writer)
    return feeds, exact, f"{rows}x{terms}x{columns} {batch} {writer.nodes[-1].op_type}"


def random_bytes(numbers, shape, dtype):
    limits = numpy.iinfo(dtype)
    return numbers.integers(limits.min, limits.max + 1, shape).astype(dtype)
