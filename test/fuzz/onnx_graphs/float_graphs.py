"""Random graphs of float operators, with the shapes that networks have and odd ones."""

import random

import numpy
from case import Case, Writer

MOST_ELEMENTS = 200000
# The opset in which axes became an operand.
AXES_SINCE = {"Squeeze": 13, "Unsqueeze": 13, "ReduceSum": 13, "ReduceMean": 18, "ReduceMax": 18,
              "ReduceL2": 18, "ReduceMin": 18}


def draw(seed):
    return Drawing(seed).case()


class Drawing(Writer):
    """`shapes`: of each value so far. Functions jump nowhere, so that a rounding decides nothing."""

    def __init__(self, seed):
        self.choose, self.numbers = random.Random(seed), numpy.random.default_rng(seed)
        super().__init__(self.choose.choice([11, 13, 13, 17, 17, 20, 21]))
        self.seed, self.shapes, self.feeds, self.read = seed, {}, {}, set()

    def case(self):
        choose = self.choose
        for i in range(choose.choice([1, 1, 2])):
            self.add_input(f"x{i}")
        wanted, tries = choose.choice([3, 6, 10, 16, 24]), 0
        while len(self.nodes) < wanted and tries < 200:
            tries += 1
            self.step()
        outputs = [n for n in self.shapes if n not in self.read and n not in self.feeds]
        if choose.random() < 0.3:
            more = choose.choice(list(self.shapes))
            if more not in outputs and more not in self.feeds:
                outputs.append(more)
        style = choose.random()
        dims = {n: self.declared(style, n) for n in self.feeds}
        return Case("graphs", self.seed, self.model(self.feeds, outputs, dims), self.feeds)

    def add_input(self, name):
        choose, rank, images = self.choose, self.choose.randrange(4), self.choose.choice([1, 1, 1, 2, 3])
        if rank < 2:
            shape = [images, choose.choice([1, 3, 4, 8, 16, 24, 32, 48]),
                     choose.choice([1, 5, 7, 8, 14, 16, 28]), choose.choice([5, 7, 8, 14, 16, 28])]
        elif rank == 2:
            shape = [images, choose.choice([4, 7, 16, 33]), choose.choice([8, 16, 32, 48])]
        else:
            shape = [choose.choice([1, 2, 16, 33]), choose.choice([8, 20, 64])]
        if self.feeds and choose.random() < 0.5:
            shape = self.shapes["x0"]
        self.shapes[name] = tuple(shape)
        self.feeds[name] = self.numbers.standard_normal(shape).astype(numpy.float32)

    def declared(self, style, name):
        """Most graphs have known sizes; images may be open, all but channels, or all."""
        shape = self.shapes[name]
        if style < 0.6:
            return list(shape)
        if style < 0.75:
            return [f"{name}_0", *shape[1:]]
        if style < 0.9:
            return [d if len(shape) == 4 and i < 2 else f"{name}_{i}" for i, d in enumerate(shape)]
        return [None] * len(shape)

    # What steps are made of.

    def weight(self, *shape, size=None):
        if size is None:
            size = 1 / numpy.sqrt(max(1, numpy.prod(shape[1:]))) if len(shape) > 1 else 0.5
        return self.constant(self.numbers.standard_normal(shape) * size, numpy.float32)

    def scalar(self, value):
        return self.constant(value, numpy.float32)

    def add(self, op, operands, shape, **attributes):
        name = self.node(op, operands, **attributes)
        self.shapes[name] = tuple(int(d) for d in shape)
        self.read.update(operands)
        return name

    def add_with_axes(self, op, x, axes, shape, **attributes):
        if self.opset >= AXES_SINCE[op]:
            return self.add(op, [x, self.constant(axes)], shape, **attributes)
        return self.add(op, [x], shape, axes=axes, **attributes)

    def pick(self, fits=lambda shape: True):
        """A value, one of the last most of the time: chains are long."""
        names = [n for n, s in self.shapes.items() if fits(s) and numpy.prod(s) < MOST_ELEMENTS]
        if not names:
            return None
        return self.choose.choice(names[-4:] if self.choose.random() < 0.7 else names)

    def step(self):
        x = self.pick()
        if x is None:
            return
        kinds = ALWAYS + BY_RANK.get(len(self.shapes[x]), [])
        self.choose.choice(kinds)(self, x, self.shapes[x])

    # Element by element.

    def function(self, x, shape):
        op = self.choose.choice(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Abs", "Neg",
                                 "Erf", "Softplus", "Exp", "Sqrt", "HardSwish", "Gelu", "Identity",
                                 "Sin", "Selu", "Swish"])
        if op == "Swish":
            return self.add("Mul", [x, self.add("Sigmoid", [x], shape)], shape)
        if op == "Gelu" and self.opset < 20:
            e = self.add("Erf", [self.add("Div", [x, self.scalar(2 ** 0.5)], shape)], shape)
            y = self.add("Mul", [x, self.add("Add", [e, self.scalar(1)], shape)], shape)
            return self.add("Mul", [y, self.scalar(0.5)], shape)
        if op == "Gelu":
            return self.add(op, [x], shape, approximate=self.choose.choice(["none", "tanh"]))
        if op == "Exp":  # no overflow
            x = self.add("Tanh", [x], shape)
        if op == "Sqrt":
            x = self.add("Add", [self.add("Abs", [x], shape), self.scalar(0.1)], shape)
        return self.add("Relu" if op == "HardSwish" and self.opset < 14 else op, [x], shape)

    def clip(self, x, shape):
        self.add("Clip", [x, self.scalar(0), self.scalar(self.choose.choice([1, 6]))], shape)

    def meet_value(self, x, shape):
        fits = lambda s: all(a == b or 1 in (a, b) for a, b in zip(shape[::-1], s[::-1]))
        y = self.pick(fits)
        result = numpy.broadcast_shapes(shape, self.shapes[y])
        if numpy.prod(result) > MOST_ELEMENTS:
            return
        pair = [x, y] if self.choose.random() < 0.7 else [y, x]
        self.add(self.choose.choice(["Add", "Add", "Add", "Mul", "Sub", "Max", "Min"]), pair, result)

    def meet_weights(self, x, shape):
        dims = [d if self.choose.random() < 0.6 else 1 for d in shape]
        dims = dims[self.choose.randrange(len(dims) + 1):]
        self.add(self.choose.choice(["Add", "Mul", "Sub"]), [x, self.weight(*dims, size=0.7)], shape)

    def select(self, x, shape):
        """By known conditions, or continuous where the condition changes."""
        if self.choose.random() < 0.5:
            least = self.scalar(0.1)
            condition, y = self.node("Greater", [x, least]), least
        else:
            condition = self.constant(self.numbers.random(shape) < 0.5, bool)
            y = self.pick(lambda s: s == shape)
        self.add("Where", [condition, x, y], shape)

    # Moves.

    def concatenate(self, x, shape):
        axis = self.choose.randrange(len(shape))
        y = self.pick(lambda s: len(s) == len(shape) and all(
            a == b for i, (a, b) in enumerate(zip(shape, s)) if i != axis))
        operands = [x, y, x] if self.choose.random() < 0.3 else [x, y]
        result = list(shape)
        result[axis] = sum(self.shapes[n][axis] for n in operands)
        self.add("Concat", operands, result, axis=axis - self.choose.choice([0, 0, len(shape)]))

    def slice(self, x, shape):
        choose, axis = self.choose, self.choose.randrange(len(shape))
        size = shape[axis]
        if size < 2:
            return
        begin = choose.randrange(size - 1)
        end, step = choose.randrange(begin + 1, size + 1), choose.choice([1, 1, 2, 3])
        result = list(shape)
        if choose.random() < 0.15:
            begin, end, step = -1, -10**9, -1
        else:
            result[axis] = -(-(end - begin) // step)
            if end == size and choose.random() < 0.5:
                end = 2**31 - 1
        self.add("Slice", [x] + [self.constant([v]) for v in (begin, end, axis, step)], result)

    def pad(self, x, shape):
        choose, rank = self.choose, len(shape)
        pads = [0] * (2 * rank)
        for _ in range(choose.choice([1, 2])):
            pads[choose.randrange(2 * rank)] = choose.randrange(3)
        mode = choose.choice(["constant", "constant", "edge", "reflect"])
        if mode == "constant" and choose.random() < 0.2 and shape[-1] > 2:
            pads[-1] = -1
        if mode == "reflect":
            pads = [min(p, shape[i % rank] - 1) for i, p in enumerate(pads)]
        result = [d + a + b for d, a, b in zip(shape, pads[:rank], pads[rank:])]
        operands = [x, self.constant(pads)]
        if mode == "constant" and choose.random() < 0.5:
            operands.append(self.scalar(choose.choice([0, 0.5, -1])))
        self.add("Pad", operands, result, mode=mode)

    def transpose(self, x, shape):
        order = self.choose.sample(range(len(shape)), len(shape))
        if len(shape) == 4 and self.choose.random() < 0.5:
            order = self.choose.choice([[0, 2, 3, 1], [0, 3, 1, 2]])
        self.add("Transpose", [x], [shape[i] for i in order], perm=order)

    def reshape(self, x, shape):
        choose, n, rank = self.choose, int(numpy.prod(shape)), len(shape)
        way = choose.randrange(4)
        if way == 0 and rank > 1:
            result = [shape[0], n // shape[0]]
        elif way == 1 and rank == 4:
            result = [shape[0], shape[1], shape[2] * shape[3]]
        elif way == 2:
            divisor = lambda m: choose.choice([d for d in range(1, min(m, 64) + 1) if m % d == 0])
            a = divisor(n)
            b = divisor(n // a)
            result = [a, b, n // a // b] if choose.random() < 0.6 else [1, a, b, n // a // b]
        else:
            result = [shape[0], *shape[:0:-1]] if rank > 2 else [n]
        target = list(result)
        if choose.random() < 0.5:
            target[choose.randrange(len(target))] = -1
        self.add("Reshape", [x, self.constant(target)], result)

    def change_units(self, x, shape):
        choose, result = self.choose, list(shape)
        units = [i for i, d in enumerate(shape) if d == 1]
        if units and len(shape) > 1 and choose.random() < 0.6:
            axis = choose.choice(units)
            del result[axis]
            self.add_with_axes("Squeeze", x, [axis], result)
        elif len(shape) < 5:
            axis = choose.randrange(len(shape) + 1)
            result.insert(axis, 1)
            self.add_with_axes("Unsqueeze", x, [axis], result)

    def split(self, x, shape):
        axis = self.choose.randrange(len(shape))
        if shape[axis] < 2:
            return
        first = self.choose.randrange(1, shape[axis])
        parts = [first, shape[axis] - first]
        if self.opset >= 13:
            names = self.node("Split", [x, self.constant(parts)], 2, axis=axis)
        else:
            names = self.node("Split", [x], 2, axis=axis, split=parts)
        self.read.add(x)
        for name, part in zip(names, parts):
            self.shapes[name] = (*shape[:axis], part, *shape[axis + 1:])

    def repeat(self, x, shape):
        choose = self.choose
        if 1 in shape and choose.random() < 0.5:
            result = [choose.randrange(1, 5) if d == 1 and choose.random() < 0.5 else d for d in shape]
            self.add("Expand", [x, self.constant(result)], result)
        elif choose.random() < 0.3:
            times = [choose.choice([1, 1, 1, 2]) for _ in shape]
            self.add("Tile", [x, self.constant(times)], [a * b for a, b in zip(shape, times)])

    # Along axes.

    def reduce(self, x, shape):
        choose, rank = self.choose, len(shape)
        axes = sorted(choose.sample(range(rank), choose.choice([1, 1, min(2, rank), rank])))
        keep = choose.randrange(2)
        result = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
        if result:
            op = choose.choice(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"])
            self.add_with_axes(op, x, axes, result, keepdims=keep)

    def softmax(self, x, shape):
        if self.opset < 13:  # of all axes from this one
            self.add("Softmax", [x], shape, axis=len(shape) - 1)
        else:
            self.add(self.choose.choice(["Softmax", "Softmax", "LogSoftmax"]), [x], shape,
                     axis=self.choose.randrange(-len(shape), len(shape)))

    def cumulate(self, x, shape):
        if self.choose.random() < 0.3:
            y = self.add("Mul", [x, self.scalar(0.1)], shape)
            self.add("CumSum", [y, self.constant(self.choose.randrange(len(shape)))], shape,
                     exclusive=self.choose.randrange(2), reverse=self.choose.randrange(2))

    def layer_normalize(self, x, shape):
        if shape[-1] >= 4 and self.opset >= 17:
            self.add("LayerNormalization", [x, self.weight(shape[-1]), self.weight(shape[-1])], shape)

    def batch_normalize(self, x, shape):
        variance = self.constant(numpy.abs(self.numbers.standard_normal(shape[1])) + 0.3, numpy.float32)
        return self.add("BatchNormalization",
                        [x, *(self.weight(shape[1]) for _ in range(3)), variance], shape)

    def instance_normalize(self, x, shape):
        if shape[2] * shape[3] < 4:  # of numbers that are nearly the same: a magnified rounding
            return
        if self.opset >= 21 and self.choose.random() < 0.5:
            groups = self.choose.choice([d for d in range(1, shape[1] + 1) if shape[1] % d == 0])
            self.add("GroupNormalization", [x, self.weight(shape[1]), self.weight(shape[1])], shape,
                     num_groups=groups)
        else:
            self.add("InstanceNormalization", [x, self.weight(shape[1]), self.weight(shape[1])], shape)

    # Of images.

    def convolve(self, x, shape):
        choose, channels = self.choose, shape[1]
        high = choose.choice([1, 1, 1, 3, 3, 3, 5, 7, 2])
        kernel = [high, high if choose.random() < 0.85 else choose.choice([1, 3])][:len(shape) - 2]
        stride, dilation = choose.choice([1, 1, 1, 2]), choose.choice([1, 1, 1, 1, 2])
        pads = [choose.choice([0, k // 2 * dilation, k // 2 * dilation]) for k in kernel]
        padded = [d + 2 * p - dilation * (k - 1) - 1 for d, p, k in zip(shape[2:], pads, kernel)]
        if min(padded) < 0:
            return
        group, made, u = 1, choose.choice([1, 3, 4, 8, 16, 24, 32, 48, 64, 7, 33]), choose.random()
        if u < 0.3:
            group, made = channels, channels * choose.choice([1, 1, 1, 2])
        elif u < 0.42:
            group = choose.choice([d for d in range(1, channels + 1) if channels % d == 0])
            made = group * choose.choice([1, 2, 4, 5, 8])
        result = [shape[0], made, *(p // stride + 1 for p in padded)]
        operands = [x, self.weight(made, channels // group, *kernel)]
        if choose.random() < 0.7:
            operands.append(self.weight(made))
        y = self.add("Conv", operands, result, kernel_shape=kernel, strides=[stride] * len(kernel),
                     dilations=[dilation] * len(kernel), pads=pads * 2, group=group)
        if choose.random() < 0.25:
            y = self.batch_normalize(y, result)
        if choose.random() < 0.2:
            self.add("Mul", [y, self.add("Sigmoid", [y], result)], result)
        elif choose.random() < 0.5:
            self.add(choose.choice(["Relu", "Relu", "Tanh", "LeakyRelu", "Sigmoid"]), [y], result)

    def convolve_transposed(self, x, shape):
        choose, (images, channels, rows, columns) = self.choose, shape
        if rows * columns > 900:
            return
        kernel, stride, pad = choose.choice([2, 3, 4]), choose.choice([1, 2]), choose.choice([0, 1])
        more, made = choose.choice([0, 0, stride - 1]), choose.choice([1, 4, 8, 16])
        sides = [(d - 1) * stride - 2 * pad + kernel + more for d in (rows, columns)]
        if min(sides) > 0:
            self.add("ConvTranspose", [x, self.weight(channels, made, kernel, kernel, size=0.2)],
                     [images, made, *sides], strides=[stride] * 2, pads=[pad] * 4,
                     output_padding=[more] * 2, kernel_shape=[kernel] * 2)

    def pool(self, x, shape):
        choose = self.choose
        kernel, stride, up = choose.choice([2, 3, 3, 5]), choose.choice([1, 2, 2, 3]), choose.random() < 0.25
        pad = choose.choice([0, 0, kernel // 2])
        if min(shape[2:]) + 2 * pad < kernel:
            return
        sides = [(-(-(d + 2 * pad - kernel) // stride) if up else (d + 2 * pad - kernel) // stride) + 1
                 for d in shape[2:]]
        if up and any((s - 1) * stride >= d + pad for s, d in zip(sides, shape[2:])):
            return  # a window without an element
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        if up:
            attributes["ceil_mode"] = 1
        if choose.random() < 0.5:
            self.add("MaxPool", [x], [*shape[:2], *sides], **attributes)
        elif not up or self.opset >= 19:
            self.add("AveragePool", [x], [*shape[:2], *sides], count_include_pad=choose.randrange(2),
                     **attributes)

    def global_pool(self, x, shape):
        self.add(self.choose.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x], [*shape[:2], 1, 1])

    def gate_channels(self, x, shape):
        one = lambda n: [shape[0], n, 1, 1]
        channels, few = shape[1], max(1, shape[1] // 4)
        y = self.add("GlobalAveragePool", [x], one(channels))
        y = self.add("Conv", [y, self.weight(few, channels, 1, 1), self.weight(few)], one(few))
        y = self.add("Conv", [self.add("Relu", [y], one(few)), self.weight(channels, few, 1, 1)],
                     one(channels))
        gate = self.add(self.choose.choice(["Sigmoid", "HardSigmoid"]), [y], one(channels))
        self.add("Mul", [x, gate], shape)

    def resize(self, x, shape):
        choose, scale = self.choose, self.choose.choice([2, 2, 3, 1.5, 0.5])
        sides = [int(d * scale) for d in shape[2:]]
        if self.opset < 13 or numpy.prod(shape[1:]) > 6000 or min(sides) < 2:
            return
        mode = choose.choice(["nearest", "linear", "cubic"])
        # onnxruntime's float coordinates of other kinds fall on either side of the middle of two pixels.
        attributes = {"nearest_mode": "floor"} if mode == "nearest" else {}
        places = "asymmetric" if mode == "nearest" else choose.choice(
            ["asymmetric", "half_pixel", "pytorch_half_pixel"])
        result = [*shape[:2], *sides]
        operands = [x, "", self.constant([1, 1, scale, scale], numpy.float32)] if choose.random() < 0.5 \
            else [x, "", "", self.constant(result)]
        self.add("Resize", operands, result, mode=mode, coordinate_transformation_mode=places, **attributes)

    def swap_depth(self, x, shape):
        images, channels, rows, columns = shape
        if channels % 4 == 0 and self.choose.random() < 0.6:
            self.add("DepthToSpace", [x], [images, channels // 4, rows * 2, columns * 2], blocksize=2,
                     mode=self.choose.choice(["DCR", "CRD"]))
        elif rows % 2 == 0 and columns % 2 == 0:
            self.add("SpaceToDepth", [x], [images, channels * 4, rows // 2, columns // 2], blocksize=2)

    def by_channel(self, x, shape):
        if self.choose.random() < 0.5:
            self.add("PRelu", [x, self.weight(shape[1], 1, 1)], shape)
        else:
            self.add("LRN", [x], shape, size=self.choose.choice([3, 5]))

    # Products.

    def multiply(self, x, shape):
        terms, columns = shape[-1], self.choose.choice([1, 3, 8, 16, 31, 32, 64])
        result = [*shape[:-1], columns]
        y = self.add("MatMul", [x, self.weight(terms, columns, size=terms ** -0.5)], result)
        if self.choose.random() < 0.6:
            self.add("Add", [y, self.weight(columns)], result)

    def multiply_transposed(self, x, shape):
        images, rows, terms = shape
        turned = self.add("Transpose", [x], [images, terms, rows], perm=[0, 2, 1])
        y = self.add("MatMul", [x, turned], [images, rows, rows])
        self.add("Mul", [y, self.scalar(0.1)], [images, rows, rows])

    def attend(self, x, shape):
        images, rows, width = shape
        heads = self.choose.choice([1, 2, 4])
        if width % heads or width // heads < 2 or rows > 128:
            return
        part, parts = width // heads, []
        for i in range(3):
            y = self.add("MatMul", [x, self.weight(width, width)], shape)
            y = self.add("Add", [y, self.weight(width)], shape)
            y = self.add("Reshape", [y, self.constant([images, rows, heads, part])],
                         [images, rows, heads, part])
            order = [0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]
            parts.append(self.add("Transpose", [y], [images, heads, part, rows] if i == 1 else
                                  [images, heads, rows, part], perm=order))
        scores = [images, heads, rows, rows]
        y = self.add("MatMul", parts[:2], scores)
        y = self.add("Div", [y, self.scalar(part ** 0.5)], scores)
        if self.choose.random() < 0.4:
            y = self.add("Add", [y, self.weight(1, 1, rows, rows)], scores)
        y = self.add("Softmax", [y], scores, axis=3)
        y = self.add("MatMul", [y, parts[2]], [images, heads, rows, part])
        y = self.add("Transpose", [y], [images, rows, heads, part], perm=[0, 2, 1, 3])
        y = self.add("Reshape", [y, self.constant([images, rows, width])], shape)
        self.add("Add", [self.add("MatMul", [y, self.weight(width, width)], shape), x], shape)

    def gemm(self, x, shape):
        terms, columns = shape[1], self.choose.choice([1, 4, 10, 16, 32, 64])
        turned = self.choose.randrange(2)
        weights = (columns, terms) if turned else (terms, columns)
        operands = [x, self.weight(*weights, size=terms ** -0.5)]
        if self.choose.random() < 0.7:
            operands.append(self.weight(columns))
        self.add("Gemm", operands, [shape[0], columns], transB=turned,
                 alpha=self.choose.choice([1.0, 1.0, 0.5]), beta=self.choose.choice([1.0, 1.0, 2.0]))


ALWAYS = [
    Drawing.function, Drawing.function, Drawing.meet_value, Drawing.meet_value, Drawing.meet_weights,
    Drawing.concatenate, Drawing.slice, Drawing.pad, Drawing.transpose, Drawing.reshape, Drawing.reduce,
    Drawing.softmax, Drawing.change_units, Drawing.split, Drawing.select, Drawing.cumulate, Drawing.repeat,
    Drawing.clip]
BY_RANK = {
    2: [Drawing.gemm, Drawing.gemm, Drawing.multiply, Drawing.layer_normalize],
    3: [Drawing.multiply, Drawing.multiply, Drawing.layer_normalize, Drawing.convolve, Drawing.attend,
        Drawing.multiply_transposed, Drawing.batch_normalize],
    4: [Drawing.convolve] * 8 + [Drawing.pool] * 3 + [
        Drawing.batch_normalize, Drawing.global_pool, Drawing.resize, Drawing.swap_depth,
        Drawing.swap_depth, Drawing.gate_channels, Drawing.instance_normalize,
        Drawing.convolve_transposed, Drawing.by_channel]}
