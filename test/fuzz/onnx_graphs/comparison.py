"""How far results may be apart, which refusals are right, and where onnxruntime is no judge: the bounds
and the two lists that a verdict follows."""

import collections.abc
import dataclasses
import re

import numpy
from case import all_nodes
from onnx import numpy_helper


@dataclasses.dataclass(frozen=True)
class Bound:
    """The difference of two results, of the largest number in the result (at least `least`); `share` of
    the elements keep it."""

    difference: float
    share: float = 1.0
    least: float = 1e-3


BOUNDS = {
    # Float32 with sums of some thousand terms in another order, which normalisations magnify. Of 184
    # graphs the worst is 4.5e-6 apart.
    "graphs": Bound(1e-4),
    # A number in the middle of two steps may go to either one, 1/255 of the range away; what reads it
    # magnifies that. Few graphs have such a number: of 123 the worst is 0.034 apart, in 0.5% of its
    # elements 0.016.
    "quantized": Bound(0.05, 0.995),
    "dynamic": Bound(0.05, 0.995),
    # 11 bits, to which onnxruntime rounds behind each node and a kernel of several nodes at its end. Of
    # 152 graphs the worst is 0.0021 apart.
    "float16": Bound(0.01),
    # Numbers of all sizes meet here.
    "mutated": Bound(1e-3),
    "convolutions": Bound(1e-4),
}
# Against exact results: sums of up to 2000 terms in the type itself; half is summed in float32.
BY_TYPE = {"float32": Bound(1e-5), "float64": Bound(1e-13), "float16": Bound(4e-3)}
# Of bytes that are quantized, for the results of one operator: the middle of two steps.
STEP = 1


def difference(kind, name, wanted, got):
    """What is wrong with a result, or an empty text. (sort, text)."""
    if isinstance(wanted, list) or isinstance(got, list):
        if not isinstance(wanted, list) or not isinstance(got, list) or len(wanted) != len(got):
            return "shapes", f"{name} is a sequence of another length"
        for i, (a, b) in enumerate(zip(wanted, got)):
            sort, text = difference(kind, f"{name}[{i}]", a, b)
            if text:
                return sort, text
        return "", ""
    if wanted is None or got is None:
        return ("", "") if wanted is got else ("shapes", f"{name} is absent in one of both")
    wanted, got = numpy.asarray(wanted), numpy.asarray(got)
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return "shapes", f"{name} is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    if not wanted.size or wanted.dtype.kind not in "fiub":
        return "", ""
    return numbers_differ(kind, name, wanted, got)


def numbers_differ(kind, name, wanted, got):
    a, b = wanted.astype(numpy.float64), got.astype(numpy.float64)
    finite = numpy.isfinite(a)
    if kind != "float16" and not numpy.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "values", f"{name} differs in infinities or NaNs"
    if kind == "float16":  # sums that overflow in half only
        finite &= numpy.isfinite(b)
    if not finite.any():
        return "", ""
    # An infinity of ours where the other is finite is one that differs.
    apart = numpy.where(numpy.isfinite(b[finite]), numpy.abs(a[finite] - b[finite]), numpy.inf)
    if wanted.dtype.kind != "f" and kind in ("products", "convolutions", "mutated"):
        most = STEP if wanted.dtype.itemsize == 1 and wanted.dtype.kind != "b" else 0
        share = 1.0
    else:
        bound = BOUNDS[kind] if kind in BOUNDS else BY_TYPE[str(wanted.dtype)]
        if kind == "mutated" and wanted.dtype == numpy.float16:
            bound = BOUNDS["float16"]
        most, share = bound.difference * max(numpy.abs(a[finite]).max(), bound.least), bound.share
    if numpy.quantile(apart, share, method="lower") <= most:
        return "", ""
    worst = numpy.argmax(apart)
    return "values", (f"{name} {list(wanted.shape)}: {b[finite][worst]:.6g}, not {a[finite][worst]:.6g} "
                      f"where {most:.3g} is the most")



@dataclasses.dataclass(frozen=True)
class Refusal:
    """Of what onnxruntime runs: a pattern of the message, and why it is right."""

    pattern: str
    reason: str


ALLOWED_REFUSALS = [
    Refusal(r"its attribute '\w+' is ", "the format lists the texts of this attribute; onnxruntime takes "
            "those that it does not know for one of them"),
    Refusal(r"\(Concat, .*sizes of dimension \d+ are .* and ", "the format has equal sizes; onnxruntime "
            "leaves operands without elements out"),
    Refusal(r"\(Compress, .*the condition has rank", "the format has a list; onnxruntime takes any rank"),
    Refusal(r"\(CenterCropPad, .*there are \d+ sizes", "the format has one for each axis; onnxruntime reads "
            "behind the end of a shorter list"),
    Refusal(r"\(ReverseSequence, .*time_axis and batch_axis are", "the format has 0 and 1"),
    Refusal(r"\(CausalConvWithState, .*the kernels' sizes are not known", "it is written with other operators "
            "before sizes are known; kernels are weights where models are exported"),
    Refusal(r"kernel of (NegativeLogLikelihood|SoftmaxCrossEntropy)Loss .* is accessed at", "each class has a "
            "weight and a number; onnxruntime asks that of the targets it meets"),
    Refusal(r"kernel of GatherND .* is accessed at", "batches have equal sizes; onnxruntime divides them"),
]


def is_allowed_refusal(message):
    return any(re.search(r.pattern, message) for r in ALLOWED_REFUSALS)


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Of onnxruntime from the format, or a case for which the format has no result."""

    reason: str
    applies: collections.abc.Callable


def operators(case):
    return list(all_nodes(case.model.graph))


def has(*names):
    return lambda case: any(n.op_type in names for n in operators(case))


def flag_is_odd(*names):
    """An attribute that is 0 or 1 in the format is another number."""
    return lambda case: any(a.name in names and a.i not in (0, 1)
                            for n in operators(case) for a in n.attribute)


def named_arrays(case):
    return {**case.feeds, **{t.name: numpy_helper.to_array(t) for t in case.model.graph.initializer}}


def arrays(case):
    return list(named_arrays(case).values())


def is_extreme(case):
    """NaNs, infinities, or numbers whose squares are infinite."""
    return any(x.dtype.kind == "f" and not (numpy.abs(x.astype(numpy.float64)) < 1e19).all()
               for x in arrays(case))


def has_no_elements(case):
    return any(x.size == 0 for x in arrays(case))


def both(*conditions):
    return lambda case: all(c(case) for c in conditions)


def aligns_corners(case):
    return any(a.name == "coordinate_transformation_mode" and a.s == b"align_corners"
               for n in operators(case) for a in n.attribute)


def has_odd_mode(case):
    return any(a.name == "qk_matmul_output_mode" and not 0 <= a.i <= 3
               for n in operators(case) for a in n.attribute)


def has_empty_axes(case):
    return any(a.name == "axes" and not a.ints for n in operators(case) for a in n.attribute)


def has_odd_rotation(case):
    return any(a.name == "rotary_embedding_dim" and a.i % 2 for n in operators(case) for a in n.attribute)


def has_odd_target(case):
    """One below 0, or not below the number of classes."""
    known = named_arrays(case)
    classes = [x.shape[1] for x in known.values() if x.dtype.kind == "f" and x.ndim > 1]
    targets = [x for x in known.values() if x.dtype.kind in "iu" and x.size]
    return any(x.min() < 0 or x.max() >= max(classes, default=0) for x in targets)


def has_odd_step(case):
    """That follows from other operands, or is no finite number above 0."""
    known = named_arrays(case)
    steps = [known.get(n.input[1]) for n in operators(case)
             if n.op_type == "QuantizeLinear" and len(n.input) > 1]
    return any(s is None or not (s > 0).all() or not numpy.isfinite(s).all() for s in steps)


LOSSES = ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
DEVIATIONS = [
    Deviation("flags are 0 or 1; onnxruntime takes some others for 0, some for 1",
              flag_is_odd("keepdims", "is_causal", "noop_with_empty_axes", "interleaved", "saturate",
                          "training_mode", "count_include_pad", "ceil_mode", "align_corners",
                          "select_last_index", "exclusive", "reverse", "sorted")),
    Deviation("an empty list of axes is not one that is left out, as onnxruntime takes it",
              both(has("Squeeze"), has_empty_axes)),
    Deviation("an attribute has a number that the format does not have", has_odd_mode),
    Deviation("indices of a MaxUnpool are places in what its sizes follow from, as ONNX's own data has it; "
              "onnxruntime takes them for places in the shape that is given",
              both(has("MaxUnpool"), lambda case: any(len(n.input) > 2 for n in operators(case)))),
    Deviation("with align_corners, onnxruntime's Resize by scales places pixels by the size before it was "
              "rounded, the format by the size that results", both(has("Resize"), aligns_corners)),
    Deviation("a rotation's width is even", has_odd_rotation),
    Deviation("the format says nothing of targets that are no classes; onnxruntime reads what lies there",
              both(has(*LOSSES), has_odd_target)),
    Deviation("the format has no value for the mean or the maximum of no elements", both(
        lambda case: any(n.op_type.startswith("Reduce") or n.op_type in LOSSES for n in operators(case)),
        has_no_elements)),
    Deviation("onnxruntime's poolings skip NaNs; the format says nothing of them",
              both(has("MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "MaxRoiPool"), is_extreme)),
    Deviation("the format does not say which pixel lies at a place that is no number",
              both(has("GridSample", "AffineGrid", "RoiAlign", "Resize"), is_extreme)),
    Deviation("an infinity less an infinity comes and goes with the order of a sum's terms, or with a "
              "normalisation that is recognised",
              both(has("Softmax", "LogSoftmax", "Attention", "Conv", "ConvTranspose", "MatMul", "Gemm",
                       "DFT", "ReduceMean", "LayerNormalization", *LOSSES), is_extreme)),
    Deviation("a NaN has no byte: quantized by a step that is 0 or no number",
              both(has("QuantizeLinear", "DynamicQuantizeLinear"),
                   lambda case: has_odd_step(case) or is_extreme(case))),
    Deviation("a NaN has no integer: a quotient that is converted",
              both(has("Div", "Mod", "Sqrt", "Log"), has("Cast", "CastLike"))),
]


def deviation(case):
    """Why onnxruntime is no judge of this case, or an empty text. What is not mutated has no excuse."""
    if case.kind != "mutated":
        return ""
    return next((d.reason for d in DEVIATIONS if d.applies(case)), "")
