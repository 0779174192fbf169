"""The interface of onnx.backend.base.Backend: prepare, run_model, run_node, supports_device."""

from . import load

try:
    from onnx.backend.base import Backend as _Backend
    from onnx.backend.base import BackendRep as _BackendRep
except ImportError:  # models as files and bytes run without the package onnx
    _Backend = _BackendRep = object


class PolyhaliteBackendRep(_BackendRep):
    """A model that is ready to run."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def run(self, inputs, **_):
        """A list of arrays, in the model's order, or arrays by name -> a tuple of arrays. A sequence
        is a list of arrays."""
        return tuple(self.model.run(inputs).values())


class PolyhaliteBackend(_Backend):
    """Runs models on the processor."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **_):
        """Whether prepare() would take the model."""
        if not cls.supports_device(device):
            return False
        try:
            load(model)
        except ValueError:
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        """A path, bytes or ModelProto -> a PolyhaliteBackendRep."""
        if not cls.supports_device(device):
            raise ValueError(f"no code is made for the device '{device}': use CPU")
        return PolyhaliteBackendRep(load(model))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **options):
        """prepare() and one run."""
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **options):
        """Runs one NodeProto on arrays."""
        import numpy
        from onnx import helper

        def array(value):
            """A list of arrays is a sequence, one of numbers an array."""
            sequence = isinstance(value, list) and value and isinstance(value[0], numpy.ndarray)
            return value if sequence else numpy.asarray(value)

        def info(name, value):
            if isinstance(value, list):
                return helper.make_tensor_sequence_value_info(
                    name, helper.np_dtype_to_tensor_dtype(value[0].dtype), None)
            return helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)

        arrays = [array(i) for i in inputs]
        named = [n for n in node.input if n]
        infos = [info(n, a) for n, a in zip(named, arrays)]
        outputs = [helper.make_empty_tensor_value_info(n) for n in node.output if n]
        if outputs_info is not None:
            outputs = [
                helper.make_tensor_value_info(o.name, helper.np_dtype_to_tensor_dtype(
                    numpy.dtype(dtype)), shape)
                for o, (dtype, shape) in zip(outputs, outputs_info)
            ]
        graph = helper.make_graph([node], "node", infos, outputs)
        opset = options.get("opset_version")
        imports = [helper.make_opsetid(node.domain, opset)] if opset else None
        model = helper.make_model(graph, opset_imports=imports)
        return cls.prepare(model, device).run(arrays)

    @classmethod
    def supports_device(cls, device):
        """Only CPU, with any number behind it."""
        return str(device).split(":")[0] == "CPU"


is_compatible = PolyhaliteBackend.is_compatible
prepare = PolyhaliteBackend.prepare
run_model = PolyhaliteBackend.run_model
run_node = PolyhaliteBackend.run_node
supports_device = PolyhaliteBackend.supports_device
