"""Models in the ONNX format from Python. The models are written here, byte by byte."""

import importlib.util
import os
import subprocess

import numpy as np
import pytest

import polyhalite as ph
import polyhalite.onnx
import polyhalite.onnx.backend


def field(number, value):
    """One field of a message: bytes and texts with their length, ints as varints."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def value_info(name, shape, element=1):
    dims = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, dims)))


def node(op, inputs, outputs, **integers):
    attributes = (field(5, field(1, n) + field(3, v) + field(20, 2)) for n, v in integers.items())
    return b"".join([*(field(1, i) for i in inputs), *(field(2, o) for o in outputs), field(4, op),
                     *attributes])


def model():
    """y = relu(x @ w + b) of x: float32 [batch, 3], with w and b inputs too."""
    graph = b"".join([
        field(1, node("MatMul", ["x", "w"], ["xw"])), field(1, node("Add", ["xw", "b"], ["s"])),
        field(1, node("Relu", ["s"], ["y"])), field(2, "graph"),
        field(11, value_info("x", ["batch", 3])), field(11, value_info("w", [3, 4])),
        field(11, value_info("b", [4])), field(12, value_info("y", ["batch", 4]))])
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


def operands(batch):
    rng = np.random.default_rng(batch)
    return [rng.standard_normal(s).astype(np.float32) for s in [(batch, 3), (3, 4), (4,)]]


def expected(x, w, b):
    return np.maximum(x @ w + b, 0)


def test_models_run_on_arrays():
    m = ph.onnx.load(model())
    assert m.inputs == [("x", "float32", ["batch", 3]), ("w", "float32", [3, 4]),
                        ("b", "float32", [4])]
    assert m.outputs == ["y"]
    for batch in (1, 5):
        x, w, b = operands(batch)
        result = m.run({"x": x, "w": w.T.copy().T, "b": b})
        assert list(result) == ["y"] and result["y"].dtype == np.float32
        np.testing.assert_allclose(result["y"], expected(x, w, b), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(m.run([x, w, b])["y"], result["y"])


def test_results_are_the_callers_own():
    """Runs share memory with the arrays that they are given and that they return, not with each other."""
    graph = b"".join([
        field(1, node("Relu", ["x"], ["y"])), field(1, node("Identity", ["x"], ["same"])),
        field(1, node("Identity", ["y"], ["again"])), field(2, "graph"),
        field(11, value_info("x", [300, 200])), field(12, value_info("y", [300, 200])),
        field(12, value_info("same", [300, 200])), field(12, value_info("again", [300, 200]))])
    m = ph.onnx.load(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal((300, 200)).astype(np.float32) for _ in range(6)]
    kept = [x.copy() for x in inputs]
    outputs = [m.run([x]) for x in inputs]
    strided = np.zeros((300, 400), np.float32)
    strided[:, ::2] = kept[0]
    unaligned = np.frombuffer(b"x" + kept[1].tobytes(), np.uint8)[1:].view(np.float32).reshape(300, 200)
    foreign = kept[2].astype(kept[2].dtype.newbyteorder())  # the bytes of another machine
    outputs += [m.run([x]) for x in (strided[:, ::2], unaligned, foreign)]
    for x, out in zip(kept + kept[:3], outputs):
        np.testing.assert_array_equal(out["y"], np.maximum(x, 0))
        np.testing.assert_array_equal(out["again"], out["y"])
        np.testing.assert_array_equal(out["same"], x)
        out["y"][:] = -1
        np.testing.assert_array_equal(out["again"], np.maximum(x, 0))
        out["same"][:] = -2
    for x, kept_x in zip(inputs, kept):
        np.testing.assert_array_equal(x, kept_x)
    del m
    np.testing.assert_array_equal(outputs[3]["again"], np.maximum(kept[3], 0))


def test_sequences_are_lists_of_arrays():
    """The first array of x, where o is absent, x in another order, o."""
    def of_type(name, field_number):
        tensor = field(1, field(1, 1) + field(2, field(1, field(2, "n"))))
        return field(1, name) + field(2, field(field_number, field(1, tensor)))

    graph = b"".join([
        field(1, node("SequenceErase", ["x", "first"], ["rest"])),
        field(1, node("SequenceAt", ["x", "first"], ["y"])),
        field(1, node("SequenceInsert", ["rest", "y"], ["z"])),
        field(1, node("Identity", ["o"], ["same"])), field(2, "graph"),
        field(5, field(2, 7) + field(8, "first") + field(9, bytes(8))),
        field(11, of_type("x", 4)), field(11, of_type("o", 9)), field(12, of_type("y", 4)),
        field(12, of_type("z", 4)), field(12, of_type("same", 9))])
    m = ph.onnx.load(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
    assert m.inputs == [("x", "sequence(float32)", ["n"]), ("o", "optional(float32)", ["n"])]
    x = [np.float32([1, 2]), np.float32([3]), np.float32([4, 5, 6])]
    for o in (None, x[1]):
        out = m.run({"x": x, "o": o})
        np.testing.assert_array_equal(out["y"], x[0])
        assert [list(z) for z in out["z"]] == [[3], [4, 5, 6], [1, 2]]
        assert (out["same"] is None) == (o is None)
    assert m.run({"x": tuple(x[:1])})["z"][0].shape == (2,)
    with pytest.raises(ph.CompileError, match="input 'x' gets a tensor"):
        m.run({"x": x[0]})
    with pytest.raises(ph.CompileError, match="input 'x' gets nothing"):
        m.run({"x": None})
    assert "0 calls" in m.report({"x": x[:2]})


def test_models_are_files_too(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model())
    x, w, b = operands(3)
    plain = ph.onnx.load(path, interpret=True).run([x, w, b])["y"]
    np.testing.assert_allclose(plain, expected(x, w, b), rtol=1e-5, atol=1e-6)
    assert "MatMul" in ph.onnx.load(str(path)).report([x, w, b])


def test_the_backends_interface():
    x, w, b = operands(2)
    backend = ph.onnx.backend
    (y,) = backend.prepare(model()).run([x, w, b])
    np.testing.assert_allclose(y, expected(x, w, b), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(backend.run_model(model(), [x, w, b])[0], y)
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA:0")
    assert backend.is_compatible(model()) and not backend.is_compatible(b"no model")
    with pytest.raises(ValueError, match="use CPU"):
        backend.prepare(model(), "CUDA")


def test_nodes_run_where_onnx_is_installed():
    if importlib.util.find_spec("onnx") is None:
        pytest.skip("the package onnx is not installed")
    from onnx import helper

    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    (y,) = ph.onnx.backend.run_node(helper.make_node("Neg", ["a"], ["y"]), [a])
    np.testing.assert_array_equal(y, -a)


# The format's numbers of elements of fewer than 8 bits, and of floats of 8, by ml_dtypes' names.
NARROW = {"float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20,
          "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24, "uint2": 25, "int2": 26,
          "float6_e2m3fn": 27, "float6_e3m2fn": 28}


@pytest.mark.parametrize("name", NARROW)
def test_narrow_elements(name):
    element = NARROW[name]
    graph = b"".join([
        field(1, node("Cast", ["x"], ["wide"], to=1)), field(1, node("Cast", ["f"], ["narrow"], to=element)),
        field(2, "graph"), field(11, value_info("x", ["N"], element)), field(11, value_info("f", ["N"])),
        field(12, value_info("wide", ["N"])), field(12, value_info("narrow", ["N"], element))])
    m = ph.onnx.load(field(1, 8) + field(8, field(2, 28)) + field(7, graph))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, name, None)
    if dtype is None:
        pytest.skip(f"this ml_dtypes has no {name}")
    exact = np.array([0, 1, 2, -2, 0.5], np.float32)
    if name.startswith(("int", "uint")) or name == "float8_e8m0fnu":
        exact = np.array({"int2": [0, 1, -1, -2], "int4": [-8, 7, -1, 3], "uint2": [0, 1, 2, 3],
                          "uint4": [0, 9, 15, 1]}.get(name, [1, 2, 0.25, 2.0**100]), np.float32)
    x = exact.astype(dtype)
    for given in (x, np.repeat(x, 2)[::2]):
        out = m.run({"x": given, "f": exact})
        np.testing.assert_array_equal(out["wide"], exact)
        assert out["narrow"].dtype == dtype
        np.testing.assert_array_equal(out["narrow"].view(np.uint8), x.view(np.uint8))


def test_bad_models_and_inputs_are_told():
    with pytest.raises(ph.CompileError):
        ph.onnx.load(model()[:-9])
    with pytest.raises(ph.CompileError, match="(?i)no such file"):
        ph.onnx.load("/no/such/file.onnx")
    x, w, b = operands(2)
    m = ph.onnx.load(model())
    with pytest.raises(ph.Error, match="w"):
        m.run({"x": x, "b": b})
    with pytest.raises(ph.Error):
        m.run([x.astype(np.float64), w, b])


needs_command = pytest.mark.skipif(
    "POLYHALITE_CLI" not in os.environ, reason="the command is not built")


@needs_command
def test_the_command_tells_which_sizes_it_wants(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model())
    command = [os.environ["POLYHALITE_CLI"], "run", str(path)]
    asked = subprocess.run(command, capture_output=True, text=True)
    assert asked.returncode != 0
    assert asked.stderr == ("polyhalite: error: input 'x' has the shape [batch, 3]\n"
                            "  why: random elements need sizes\n"
                            "  fix: give them: --shape 'x=1,3'\n")
    subprocess.run([*command, "--shape", "x=1,3"], check=True, capture_output=True)


@needs_command
def test_the_command_tells_what_it_cannot_have(tmp_path):
    path = tmp_path / "model.onnx"
    graph = b"".join([
        field(1, node("Relu", ["x"], ["y"])), field(2, "graph"),
        field(11, value_info("x", ["A", "B", "C"])), field(12, value_info("y", ["A", "B", "C"]))])
    path.write_bytes(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
    command = [os.environ["POLYHALITE_CLI"], "run", str(path)]
    for shape in (f"{2**30},{2**20},3", f"{2**30},{2**30},16"):
        asked = subprocess.run([*command, "--shape", f"x={shape}"], capture_output=True, text=True)
        assert asked.returncode == 1 and asked.stderr == (
            "polyhalite: error: the memory does not suffice\n"
            "  why: what the model is given, or computes, is larger\n"
            "  fix: give smaller sizes with --shape, or run it where there is more\n"), shape
    asked = subprocess.run([*command, "--shape", "x=1,3,1", "-O", "99"], capture_output=True, text=True)
    assert asked.returncode != 0 and "-O" in asked.stderr and "0 to 1" in asked.stderr
