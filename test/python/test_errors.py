"""Mistakes: what, why, fix, and the line of the Python program."""

import inspect
import warnings

import numpy as np
import pytest

import polyhalite as ph

i, j = ph.vars("i j")


def line_of(e):
    """How many lines the error's place stands behind the test's first line."""
    return e.line - inspect.stack()[1].frame.f_code.co_firstlineno


def test_directives_name_the_line_of_the_program():
    f = ph.Func("f")
    f[i, j] = i + j
    with pytest.raises(ph.CompileError) as caught:
        f.split(i, i, i,
                0)
    e = caught.value
    assert e.file == __file__ and line_of(e) in (4, 5)
    assert e.what and e.why and e.fix
    assert str(e).startswith(f"{__file__}:{e.line}: error: {e.what}\n  why: {e.why}\n  fix: ")


def test_refused_schedules_name_the_directive_and_the_instances():
    r = ph.RDom([(1, 99)], "r")
    running = ph.Func("running")
    running[i] = i
    running[r] += running[r - 1]
    running.update().parallel(r)
    with pytest.raises(ph.CompileError) as caught:
        running.realize([100])
    assert caught.value.file == __file__ and line_of(caught.value) == 5
    assert "cannot run 'r' in parallel" in caught.value.what or "parallel" in caught.value.what
    assert isinstance(caught.value, (ph.Error, ValueError))


@pytest.mark.parametrize("sizes", [[2**31], 2**31, [-2**31 - 1], [10**30]])
def test_sizes_beyond_32_bits_are_refused(sizes):
    f = ph.Func("f")
    f[i] = i
    with pytest.raises(ph.CompileError) as caught:
        f.realize(sizes)
    assert caught.value.file == __file__ and line_of(caught.value) == 5
    number = sizes[0] if isinstance(sizes, list) else sizes
    assert caught.value.what == f"realize() of a size of {number}"


def test_definitions_name_their_line():
    f = ph.Func("f")
    with pytest.raises(ph.CompileError) as caught:
        f[i, i] = 1
    assert caught.value.file == __file__ and line_of(caught.value) == 3


def test_expressions_name_their_line():
    with pytest.raises(ph.CompileError) as caught:
        ph.f32(i) & 3
    assert caught.value.file == __file__ and line_of(caught.value) == 2


@pytest.mark.parametrize("use", [
    lambda: i > 0 and i < 9,
    lambda: i > 0 or i < 9,
    lambda: not i > 0,
    lambda: 1 if i > 0 else 2,
    lambda: 0 < i < 9,
    lambda: bool(i),
    lambda: ph.Param(ph.Int(32)) == 3 and True,
])
def test_expressions_have_no_truth_value(use):
    with pytest.raises(ph.CompileError) as caught:
        use()
    e = caught.value
    assert e.what == "an expression is used as a condition of Python"
    assert e.fix == ("write &, | and ~ with brackets, as in (x > 0) & (x < 9), and "
                     "select(condition, a, b)")
    assert e.file == __file__


def test_what_is_no_expression():
    f = ph.Func("f")
    with pytest.raises(TypeError, match="a value of type 'str' is used as an expression"):
        f[i] = "three"
    with pytest.raises(TypeError, match="call the Func, as in f\\[x, y\\]"):
        f[i] = ph.sin(f)
    with pytest.raises(TypeError, match="Funcs are defined point by point"):
        f[0:3] = 1
    with pytest.raises(TypeError):
        i + "a"
    with pytest.raises(TypeError, match="name a Var, an RVar"):
        f[i] = 0
        f.vectorize("i", 8)
    with pytest.raises(TypeError, match="is used as a type"):
        ph.cast("no type", i)
    with pytest.raises(TypeError, match="select\\(condition, value, ..., otherwise\\)"):
        ph.select(i > 0, 1)
    with pytest.raises(TypeError, match="is used as a Func"):
        f.compute_at(3, i)
    with pytest.raises(TypeError):
        for _ in f:
            pass
    with pytest.raises(ph.CompileError, match="integers have at most 64 bits"):
        f[i] = 1 << 80


def test_runs_fail_with_runtime_errors():
    image = ph.ImageParam(ph.Int(32), 1, "image")
    f = ph.Func("f")
    f[i] = image[i + 1]
    with pytest.raises(ph.RuntimeError) as caught:
        f.realize([4])
    assert "image" in caught.value.what and caught.value.file == __file__
    image.set(np.zeros(4, np.int32))
    with pytest.raises(ph.RuntimeError, match="image"):
        f.realize([4])
    assert issubclass(ph.RuntimeError, RuntimeError)


def test_outputs_must_fit():
    f = ph.Func("f")
    f[i] = i
    with pytest.raises(ph.Error, match="uint8"):
        f.realize(np.zeros(4, np.uint8))
    with pytest.raises(ph.Error):
        f.realize(np.zeros((2, 2), np.int32))


def test_requirements_carry_their_message():
    p = ph.Param(ph.Int(32), "p", 3)
    f = ph.Func("f")
    f[i] = ph.require(p > 5, i, "p is", p)
    with pytest.raises(ph.RuntimeError, match="p is 3"):
        f.realize([2])


def test_params_refuse_numbers_of_more_bits():
    p = ph.Param(ph.Int(32), "p", 3)
    for value in (10**30, -(10**30), 2**64, -(2**63) - 1, 2**32):
        with pytest.raises(ph.CompileError, match=f"the value {value} for Param 'p'"):
            p.set(value)
    assert p.get() == 3
    real = ph.Param(ph.Float(64), "real", 0.0)
    real.set(-(10**30))
    assert real.get() == -1e30
    single = ph.Param(ph.Float(32), "single", 0.0)
    single.set(10**30)
    assert np.float32(single.get()) == np.float32(1e30)
    with pytest.raises(ph.CompileError, match="its type is float64"):
        real.set(10**400)
    whole = ph.Param(ph.UInt(64), "whole", 0)
    whole.set(2**64 - 1)
    assert whole.get() == 2**64 - 1


def test_warnings_are_warnings_of_python():
    f = ph.Func("f")
    f[i] = i
    f[i] += 1
    f.vectorize(i, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f.realize([8])
    assert [w.category for w in caught] == [ph.PolyhaliteWarning]
    assert caught[0].filename == __file__
    g = ph.Func("g")
    g[i] = i
    g[i] += 1
    g.vectorize(i, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ph.PolyhaliteWarning):
            g.realize([8])
