"""Models in the ONNX format.

    model = polyhalite.onnx.load("model.onnx")
    outputs = model.run({"input": array})

polyhalite.onnx.backend has the interface of onnx.backend.base.Backend.
"""

import os

from .. import _core


class Model:
    """A model that runs in process. Several threads may run it.

    `inputs` are (name, dtype, shape) of the arrays that run() takes; sizes that the file leaves open are
    texts. The first run compiles a program for its sizes; runs of other sizes share one for open sizes,
    where the model's operators allow that.

    A sequence is a list of arrays, an optional value that is absent None: inputs of the dtypes
    "sequence(float32)", "optional(float32)" and "optional(sequence(float32))", whose shapes are those of
    the elements, and outputs. Sequences of other lengths have programs of their own.

    Elements that numpy has not itself, as bfloat16, float8e4m3fn and int4, are arrays of the package
    ml_dtypes, which onnx brings along.
    """

    def __init__(self, session):
        self._session = session
        self.inputs = [tuple(i) for i in session.inputs()]
        self.outputs = list(session.output_names())

    def _named(self, inputs):
        if hasattr(inputs, "keys"):
            return dict(inputs)
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        return {name: value for (name, _, _), value in zip(self.inputs, inputs)}

    def run(self, inputs):
        """Arrays by name, or a list in the order of `inputs` -> arrays by name, in the order of
        `outputs`. Optional inputs may be left out. CompileError for arrays of other types or shapes that do not fit."""
        return self._session.run(self._named(inputs))

    def report(self, inputs):
        """What the model is compiled to for these inputs: kernels, memory, a line for each call."""
        return self._session.report(self._named(inputs))

    def __repr__(self):
        names = ", ".join(name for name, _, _ in self.inputs)
        return f"<polyhalite.onnx.Model {names} -> {', '.join(self.outputs)}>"


def load(model, folder="", target=None, interpret=False):
    """A Model of a file's path, of bytes, or of an onnx.ModelProto.

    `folder` is where weights outside of bytes lie. `interpret` runs the plain interpreter: slow, and the
    reference of what is compiled. CompileError with every problem of the model.
    """
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    elif not isinstance(model, bytes):
        model = os.fspath(model)
    target = _core.Target() if target is None else target
    return Model(_core._OnnxSession(model, folder, target, interpret))
