"""Generators written in Python: in process, by command line, and their libraries from C."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import polyhalite as ph

i, j = ph.vars("i j")


@ph.alias(doubled_scale={"factor": 2})
@ph.generator("scale")
class Scale(ph.Generator):
    factor = ph.GeneratorParam(1, min=0, max=100)
    vectorize = ph.GeneratorParam(True)
    kind = ph.GeneratorParam("plus", choices={"plus": "plus", "minus": "minus"})
    input = ph.InputBuffer(ph.UInt(8), 2)
    offset = ph.InputScalar(ph.Int(32), 0, -10, 10)
    output = ph.OutputBuffer(ph.Int(32), 2)

    def generate(self):
        offset = self.offset if self.kind == "plus" else -self.offset
        self.output[i, j] = ph.i32(self.input[i, j]) * self.factor + offset

    def schedule(self):
        if self.vectorize:
            self.output.vectorize(j, self.natural_vector_size(ph.Int(32)))


A = np.arange(400, dtype=np.int32).reshape(10, 40).astype(np.uint8)
WIDE = A.astype(np.int32)


def run(callable_, *inputs):
    out = np.zeros(A.shape, np.int32)
    callable_(*inputs, out)
    return out


def test_generators_run_in_process():
    np.testing.assert_array_equal(run(Scale().compile_to_callable(), A, 3), WIDE + 3)
    call = Scale(factor=5, kind="minus", vectorize=False).compile_to_callable()
    np.testing.assert_array_equal(run(call, A, 3), WIDE * 5 - 3)
    named = ph.create_callable_from_generator("host", "doubled_scale")
    np.testing.assert_array_equal(run(named, A, 1), WIDE * 2 + 1)


def test_generators_are_called_with_funcs():
    doubled = ph.Func("doubled")
    doubled[i, j] = ph.u8(i + j)
    with pytest.raises(ph.CompileError, match="input 'input'"):
        Scale().apply(doubled, 4)
    output = Scale(factor=3).apply(A, 4)
    np.testing.assert_array_equal(output.realize(list(A.shape)), WIDE * 3 + 4)


@ph.generator("open_shapes")
class OpenShapes(ph.Generator):
    images = ph.InputBuffer(None, None, count=2)
    total = ph.OutputBuffer(None, 2)

    def configure(self):
        self.add_input("extra", ph.InputScalar(ph.Float(32)))
        self.add_output("second", ph.OutputBuffer((ph.Int(32), ph.Float(32)), 1))

    def generate(self):
        self.total[i, j] = ph.f32(self.images[0][i, j] + self.images[1][i, j]) + self.extra
        self.second[i] = (i, ph.f32(i) * self.extra)


def test_shapes_may_be_open():
    g = OpenShapes(**{"images.type": "float32", "images.dim": "2"})
    call = g.compile_to_callable()
    a = np.ones((2, 3), np.float32)
    total, whole, real = np.zeros((2, 3), np.float32), np.zeros(4, np.int32), np.zeros(4, np.float32)
    call(a, 2 * a, 0.5, total, whole, real)
    assert (total == 3.5).all()
    np.testing.assert_array_equal(whole, np.arange(4))
    np.testing.assert_array_equal(real, np.arange(4) * np.float32(0.5))


@ph.generator()
class Plain:
    value = ph.InputScalar(int)
    output = ph.OutputScalar(ph.Int(32))

    def generate(self):
        f = ph.Func("made_elsewhere")
        f[()] = self.value + 1
        self.output = f


def test_a_base_class_is_not_needed():
    out = np.zeros((), np.int32)
    Plain().compile_to_callable()(41, out)
    assert out == 42


def test_mistakes_are_told():
    for make, message in [
        (lambda: Scale(wrong=1), "generator has no parameter 'wrong'"),
        (lambda: Scale(factor=1000), "parameter 'factor' is 1000"),
        (lambda: Scale(factor="many"), "parameter 'factor' is 'many'"),
        (lambda: Scale(kind="times"), "choose from: plus, minus"),
        (lambda: ph.Generator().build_pipeline(), "has no outputs"),
        (lambda: Scale().add_input("late", ph.InputScalar(int)), "outside of configure()"),
        (lambda: Scale().bind(nothing=3), "has no input 'nothing'"),
    ]:
        with pytest.raises(ph.CompileError) as caught:
            make()
        assert message in str(caught.value)

    class Empty(ph.Generator):
        output = ph.OutputBuffer(int, 1)

        def generate(self):
            pass

    with pytest.raises(ph.CompileError, match="output 'output'.*is undefined"):
        Empty().build_pipeline()

    class Raises(Empty):
        def generate(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Raises().build_pipeline()


PROGRAM = """
    import polyhalite as ph
    i, j = ph.vars("i j")

    @ph.alias(add_seven={"amount": 7})
    @ph.generator("add")
    class Add(ph.Generator):
        amount = ph.GeneratorParam(1)
        input = ph.InputBuffer(ph.UInt(8), 2)
        output = ph.OutputBuffer(ph.UInt(8), 2)

        def generate(self):
            self.output[i, j] = self.input[i, j] + ph.u8(self.amount)

    if __name__ == "__main__":
        ph.main()
"""
CALLER = r"""
    #include <stdio.h>
    #include "polyhalite_buffer.h"
    #include "add.h"
    int main(void) {
      uint8_t in[6] = {0, 1, 2, 3, 4, 5}, out[6] = {0};
      struct polyhalite_dimension_t shape[2] = {{0, 3, 1, 0}, {0, 2, 3, 0}};
      struct polyhalite_buffer_t a = {0}, b = {0};
      a.host = in; b.host = out;
      a.dim = b.dim = shape; a.dimensions = b.dimensions = 2;
      a.type.code = b.type.code = 1; a.type.bits = b.type.bits = 8;
      a.type.lanes = b.type.lanes = 1;
      if (add(&a, &b) != 0) return 1;
      for (int n = 0; n < 6; n++) printf("%d ", out[n]);
      return 0;
    }
"""


def command(program, *words):
    return subprocess.run([sys.executable, str(program), *words], capture_output=True, text=True,
                          check=False)


def test_the_command_line_is_that_of_generators(tmp_path):
    program = tmp_path / "add_generator.py"
    program.write_text(textwrap.dedent(PROGRAM))
    done = command(program, "-g", "add", "-o", str(tmp_path), "amount=5", "target=host",
                   "-e", "static_library,c_header,stmt,schedule")
    assert (done.returncode, done.stderr) == (0, "")
    assert {"add.a", "add.h", "add.stmt", "add.schedule"} <= set(os.listdir(tmp_path))
    assert "parameters of add:\n  amount=1\n" in command(program, "--help").stdout
    for words, message in [
        (["-g", "sub", "-o", "."], "there is no generator 'sub'\n  why: this program has: add, "
                                   "add_seven"),
        (["-g", "add", "-o", ".", "amount=x"], "parameter 'amount' is 'x'"),
        (["-g", "add", "-o", ".", "speed=9"], "has no parameter 'speed'"),
        (["-g", "add"], "no output folder is named"),
    ]:
        done = command(program, *words)
        assert done.returncode == 1 and message in done.stderr


def test_libraries_are_called_from_c(tmp_path):
    program, caller = tmp_path / "add_generator.py", tmp_path / "caller.c"
    program.write_text(textwrap.dedent(PROGRAM))
    caller.write_text(textwrap.dedent(CALLER))
    done = command(program, "-g", "add_seven", "-f", "add", "-o", str(tmp_path), "target=host")
    assert (done.returncode, done.stderr) == (0, "")
    headers = os.environ.get("POLYHALITE_HEADERS", "").split(os.pathsep)
    if headers == [""]:
        pytest.skip("POLYHALITE_HEADERS names no folders with the C headers")
    subprocess.run(["cc", str(caller), str(tmp_path / "add.a"), "-o", str(tmp_path / "caller"),
                    *(f"-I{h}" for h in headers), "-lpthread", "-ldl", "-lm"], check=True)
    done = subprocess.run([str(tmp_path / "caller")], capture_output=True, text=True, check=True)
    assert done.stdout == "7 8 9 10 11 12 "
