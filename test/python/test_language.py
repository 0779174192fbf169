"""Algorithms written in Python, against numpy."""

import numpy as np
import pytest

import polyhalite as ph

i, j, k = ph.vars("i j k")


def values(expression, n=8):
    """f[i] = expression over i in [0, n)."""
    f = ph.Func("f")
    f[i] = expression
    return f.realize([n]).numpy()


def test_indices_read_as_numpys():
    f = ph.Func("f")
    f[i, j, k] = 100 * i + 10 * j + k
    result = f.realize([2, 3, 4])
    assert result.shape == (2, 3, 4)
    expected = np.fromfunction(lambda a, b, c: 100 * a + 10 * b + c, (2, 3, 4), dtype=np.int32)
    np.testing.assert_array_equal(result, expected)
    assert result[1, 2, 3] == 123


def test_the_last_index_is_contiguous_and_innermost():
    f = ph.Func("f")
    f[i, j] = i + j
    assert f.realize([4, 6]).numpy().strides == (24, 4)
    assert [v.name() for v in f.args()] == ["i", "j"]
    assert f.output_buffer().dimensions() == 2
    nest = ph.Schedule(f).loop_nest()
    assert nest.index("for f.s0.i ") < nest.index("for f.s0.j ")


def test_images_read_as_numpys():
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    image = ph.ImageParam(ph.Int(32), 2, "image")
    f = ph.Func("f")
    f[i, j] = image[i, j] * 10
    image.set(a)
    np.testing.assert_array_equal(f.realize([3, 4]), a * 10)
    constant = ph.Buffer(a)
    g = ph.Func("g")
    g[i, j] = constant[i, j] + 1
    np.testing.assert_array_equal(g.realize([3, 4]), a + 1)


OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
]


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_of_variables_and_numbers(operator):
    n = np.arange(8, dtype=np.int32)
    np.testing.assert_array_equal(values(operator(i, 3)), operator(n, 3))
    np.testing.assert_array_equal(values(operator(7, i + 1)), operator(7, n + 1))
    np.testing.assert_array_equal(values(operator(i * 5, i + 2)), operator(n * 5, n + 2))


def test_shifts_negation_and_powers():
    n = np.arange(8, dtype=np.int32)
    np.testing.assert_array_equal(values(i << 2), n << 2)
    np.testing.assert_array_equal(values((i * 16) >> 2), (n * 16) >> 2)
    np.testing.assert_array_equal(values(-i), -n)
    np.testing.assert_array_equal(values(~i), ~n)
    np.testing.assert_array_equal(values(abs(i - 4)), np.abs(n - 4))
    np.testing.assert_array_equal(values(i**2), n**2)


def test_conditions_join_with_symbols():
    n = np.arange(8)
    np.testing.assert_array_equal(values((i > 2) & (i < 6)), (n > 2) & (n < 6))
    np.testing.assert_array_equal(values((i < 2) | (i > 6)), (n < 2) | (n > 6))
    np.testing.assert_array_equal(values(~(i == 3)), n != 3)


def test_numbers_take_the_type_beside_them():
    byte = ph.u8(i)
    assert (byte + 1).type() == ph.UInt(8)
    assert (1 + byte).type() == ph.UInt(8)
    assert (ph.f64(i) * 0.1).type() == ph.Float(64)
    assert (i * 0.5).type() == ph.Float(32)
    assert (byte + np.int32(1)).type() == ph.Int(32)
    assert (np.float32(2) * i).type() == ph.Float(32)
    np.testing.assert_array_equal(values(ph.f64(i) * 0.1), np.arange(8) * 0.1)
    with pytest.raises(ph.CompileError, match="300 as a value of type uint8"):
        byte + 300


def test_division_of_integers_rounds_down():
    n = np.arange(8, dtype=np.int32)
    np.testing.assert_array_equal(values((i - 4) / 3), (n - 4) // 3)
    np.testing.assert_array_equal(values(ph.f32(i) / 2), n / np.float32(2))
    np.testing.assert_array_equal(values(ph.f32(i) // 2), n // np.float32(2))


FLOAT_FUNCTIONS = ["sqrt", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil",
                   "trunc"]


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
def test_functions_of_floats(name):
    x = (np.arange(8) / 7).astype(np.float64)
    got = values(getattr(ph, name)(ph.f64(i) / 7.0))
    np.testing.assert_allclose(got, getattr(np, name)(x), rtol=1e-12, atol=1e-15)


def test_choices():
    n = np.arange(8)
    np.testing.assert_array_equal(values(ph.select(i < 3, 1, i < 6, 2, 3)),
                                  np.select([n < 3, n < 6], [1, 2], 3))
    np.testing.assert_array_equal(values(ph.clamp(i, 2, 5)), np.clip(n, 2, 5))
    np.testing.assert_array_equal(values(ph.min(i, 4, 7 - i)), np.minimum(np.minimum(n, 4), 7 - n))
    np.testing.assert_array_equal(values(ph.max(i, 4)), np.maximum(n, 4))
    np.testing.assert_array_equal(values(ph.mux(i % 3, [10, 20, 30])), np.array([10, 20, 30])[n % 3])
    np.testing.assert_array_equal(values(ph.u8_sat(i * 100)), np.minimum(n * 100, 255))
    got = values(ph.lerp(ph.f32(0), ph.f32(10), ph.f32(i) / 8.0))
    np.testing.assert_allclose(got, 10 * n / 8, rtol=1e-6)


def test_updates():
    f = ph.Func("f")
    f[i, j] = i
    f[i, 0] = 100
    f[1, j] += j
    f[i, j] *= 2
    a = np.fromfunction(lambda p, q: p, (3, 4), dtype=np.int32)
    a[:, 0] = 100
    a[1, :] += np.arange(4)
    a *= 2
    np.testing.assert_array_equal(f.realize([3, 4]), a)
    assert f.num_update_definitions() == 3


def test_an_undefined_func_is_summed_from_zero():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    r = ph.RDom([(0, 3)])
    f = ph.Func("f")
    f[i] += ph.Buffer(a)[i, r]
    np.testing.assert_array_equal(f.realize([2]), a.sum(axis=1))


def test_domains_are_nested_loops_as_written():
    r = ph.RDom([(0, 2), (0, 3)], "r")
    assert len(r) == 2
    assert (r.x.name(), r.y.name()) == (r[0].name(), r[1].name()) == ("r_x", "r_y")
    assert repr(r) == "RDom(r_x(0, 2), r_y(0, 3))"
    steps = ph.Func("steps")
    steps[i] = 0
    steps[0] = steps[0] * 10 + r.x * 3 + r.y
    np.testing.assert_array_equal(steps.realize([1]), [12345])


def test_a_domain_over_an_image():
    a = np.random.default_rng(1).integers(0, 16, (7, 11)).astype(np.uint8)
    image = ph.ImageParam(ph.UInt(8), 2)
    r = ph.RDom(image)
    histogram = ph.Func("histogram")
    histogram[i] = 0
    histogram[ph.i32(image[r[0], r[1]])] += 1
    image.set(a)
    np.testing.assert_array_equal(histogram.realize([16]), np.bincount(a.ravel(), minlength=16))


def test_domains_with_a_condition():
    r = ph.RDom([(0, 10), (0, 10)])
    r.where(r.x <= r.y)
    f = ph.Func("f")
    f[i, j] = 1
    f[r.x, r.y] += 2
    np.testing.assert_array_equal(f.realize([10, 10]), 1 + 2 * np.triu(np.ones((10, 10), int)))


def test_inline_reductions():
    a = np.random.default_rng(2).integers(0, 99, (5, 7)).astype(np.int32)
    image = ph.Buffer(a)
    r = ph.RDom([(0, 7)])
    f = ph.Func("f")
    f[i] = (ph.sum(image[i, r]), ph.maximum(image[i, r]), ph.minimum(image[i, r]),
            ph.sum(r, image[i, r] * 2, "twice"))
    total, largest, smallest, twice = f.realize([5])
    np.testing.assert_array_equal(total, a.sum(axis=1))
    np.testing.assert_array_equal(largest, a.max(axis=1))
    np.testing.assert_array_equal(smallest, a.min(axis=1))
    np.testing.assert_array_equal(twice, 2 * a.sum(axis=1))


def test_argmax_names_axes_in_order():
    a = np.zeros((5, 7), np.float32)
    a[3, 6] = 1
    r = ph.RDom([(0, 5), (0, 7)])
    f = ph.Func("f")
    f[()] = ph.argmax(ph.Buffer(a)[r[0], r[1]])
    row, column, value = f.realize([])
    assert (row[()], column[()], value[()]) == (3, 6, 1)


def test_tuples():
    f = ph.Func("f")
    f[i] = (i, 2 * i)
    f[i][1] += 5
    g = ph.Func("g")
    g[i] = f[i][0] + f[i][1]
    np.testing.assert_array_equal(g.realize([4]), 3 * np.arange(4) + 5)
    h = ph.Func("h")
    h[i] = ph.select(i < 2, (i, 0), (7, i))
    a, b = h.realize([4])
    np.testing.assert_array_equal(a, [0, 1, 7, 7])
    np.testing.assert_array_equal(b, [0, 0, 2, 3])


def test_the_rest_of_the_indices():
    f, g = ph.Func("f"), ph.Func("g")
    f[i, j] = 10 * i + j
    g[..., j] = f[..., j] * 2
    np.testing.assert_array_equal(g.realize([2, 3]), [[0, 2, 4], [20, 22, 24]])
    h = ph.Func(f[ph._] + 1)
    np.testing.assert_array_equal(h.realize([2, 3]), [[1, 2, 3], [11, 12, 13]])


@pytest.mark.parametrize("name, mode", [("repeat_edge", "edge"), ("repeat_image", "wrap"),
                                        ("mirror_image", "symmetric"),
                                        ("mirror_interior", "reflect")])
def test_boundary_conditions(name, mode):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    f = getattr(ph.BoundaryConditions, name)(ph.Buffer(a))
    g = ph.Func("g")
    g[i, j] = f[i - 2, j - 2]
    np.testing.assert_array_equal(g.realize([7, 8]), np.pad(a, 2, mode))


def test_boundary_conditions_of_some_axes():
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    image = ph.Buffer(a)
    f = ph.BoundaryConditions.constant_exterior(image, 9, [(0, 3), (0, 4)])
    g = ph.Func("g")
    g[i, j] = f[i - 1, j - 1]
    np.testing.assert_array_equal(g.realize([5, 6]), np.pad(a, 1, constant_values=9))
    rows = ph.BoundaryConditions.repeat_edge(image, [(0, 3), None])
    h = ph.Func("h")
    h[i, j] = rows[i - 1, j]
    np.testing.assert_array_equal(h.realize([5, 4]), np.pad(a, ((1, 1), (0, 0)), "edge"))


def test_params():
    p = ph.Param(ph.Int(32), "p", 3)
    f = ph.Func("f")
    f[i] = i * p
    np.testing.assert_array_equal(f.realize([3]), [0, 3, 6])
    p.set(-1)
    assert p.get() == -1
    np.testing.assert_array_equal(f.realize([3]), [0, -1, -2])
    with pytest.raises(ph.CompileError):
        p.set(1 << 40)
    with pytest.raises(TypeError, match="that is no number"):
        p.set("three")


def test_derivatives():
    a = ph.Buffer(np.array([1, 2, 3], np.float32))
    f, loss = ph.Func("f"), ph.Func("loss")
    f[i] = a[i] * a[i]
    r = ph.RDom([(0, 3)])
    loss[()] = 0.0
    loss[()] += f[r] * 5.0
    d = ph.propagate_adjoints(loss)
    np.testing.assert_array_equal(d[a].realize([3]), [10, 20, 30])
    np.testing.assert_array_equal(d[f].realize([3]), [5, 5, 5])


def test_expressions_print_as_they_are_written():
    f = ph.Func("name_of_f")
    f[i, j] = i + 2 * j
    assert repr(f[i, j + 1]) == "name_of_f(i, j + 1)"
    assert str(f[i, 0] * 2).startswith("name_of_f(i, 0)*2")
    assert repr(i + 1) == "<polyhalite.Expr int32: i + 1>"
