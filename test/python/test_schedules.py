"""Directives in Python: values stay, loops change, texts read back."""

import re

import numpy as np
import pytest

import polyhalite as ph
from stencil import stencil

i, j, k = ph.vars("i j k")
io, jo, ii, ji, u = ph.vars("io jo ii ji u")


def nest(f):
    return ph.Schedule(f).loop_nest()


SCHEDULES = {
    "inline": lambda f, g: None,
    "root": lambda f, g: f.compute_root(),
    "tiles": lambda f, g: (g.tile(j, i, ji, ii, 8, 4).vectorize(ji).parallel(i),
                           f.compute_at(g, j).vectorize(j, 8)),
    "named tiles": lambda f, g: (g.tile(j, i, jo, io, ji, ii, 8, 4), f.compute_at(g, jo)),
    "tiles by lists": lambda f, g: (g.tile([j, i], [jo, io], [ji, ii], [8, 4]),
                                    f.compute_at(g, jo)),
    "guarded tiles": lambda f, g: g.tile(j, i, ji, ii, 7, 3, ph.TailStrategy.GuardWithIf),
    "tails by name": lambda f, g: g.tile(j, i, ji, ii, 7, 3, tail=ph.TailStrategy.GuardWithIf),
    "sliding": lambda f, g: f.store_root().compute_at(g, i).fold_storage(i, 4),
    "order": lambda f, g: (g.reorder(i, j), f.compute_root().reorder_storage(i, j)),
    "packed": lambda f, g: f.compute_root().pack(j, 8).reorder_storage(i, j),
    "fused": lambda f, g: g.fuse(j, i, u).parallel(u, 16),
    "skewed": lambda f, g: (g.skew(j, i, u, 2).reorder(i, u).parallel(i), f.compute_at(g, u)),
    "skewed in place": lambda f, g: g.skew(j, i, 1).reverse(i).shift(j, 3),
    "unrolled": lambda f, g: (g.unroll(i, 2), f.compute_at(g, i).unroll(j, 3)),
    "stacked": lambda f, g: f.compute_at(g, i).store_in(ph.MemoryType.Heap),
    "levels": lambda f, g: (g.split(i, io, ii, 4), f.compute_at(ph.LoopLevel(g, io))),
    "bounds": lambda f, g: (g.bound(i, 0, 20).bound(j, 0, 30), f.compute_root().align_bounds(j, 8)),
    "async": lambda f, g: f.compute_root().async_(),
    "prefetched": lambda f, g: (f.compute_root(), g.prefetch(f, i, i, 2)),
    "wrapped": lambda f, g: (f.compute_root(), f.in_(g).compute_at(g, i)),
    "cloned": lambda f, g: f.clone_in(g).compute_root(),
    "partitioned": lambda f, g: g.partition(j, ph.Partition.Always),
    "streams": lambda f, g: (f.compute_root(), g.stream_stores().stream_loads(f)),
    "eager": lambda f, g: g.eager_inline(f),
    "retyped": lambda f, g: f.compute_root().change_type(ph.Int(64), True),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_keep_the_values(name):
    (_, f, g), expected = stencil()
    SCHEDULES[name](f, g)
    np.testing.assert_array_equal(g.realize([20, 30]), expected)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_print_as_python_and_read_back(name):
    (_, f, g), _ = stencil()
    SCHEDULES[name](f, g)
    printed = ph.Schedule(g).python()
    (_, f2, g2), expected = stencil()
    exec(printed, {"ph": ph, plain(f): f2, plain(g): g2})
    np.testing.assert_array_equal(g2.realize([20, 30]), expected)
    assert ph.Schedule(g2).python() == printed
    assert nest(g2) == nest(g)


def plain(f):
    return f.name().split("$")[0]


def test_directives_return_the_func_itself():
    f = ph.Func("f")
    f[i, j] = i + j
    assert f.tile(j, i, ji, ii, 4, 4).vectorize(ji) is f
    f[i, j] += 1
    stage = f.update(0)
    assert stage.vectorize(j, 4) is stage
    assert stage.loops()[0].startswith("j")


def test_loops_are_as_said():
    f = ph.Func("f")
    f[i, j] = i + j
    f.split(j, jo, ji, 8).reorder(ji, i, jo).vectorize(ji).parallel(jo)
    text = nest(f)
    assert re.findall(r"for f.s0.(\w+) (\w+)", text) == [("jo", "parallel"), ("i", "serial"),
                                                          ("ji", "vector")]


def test_reductions_in_parts():
    a = np.arange(64, dtype=np.int32)
    r = ph.RDom([(0, 64)], "r")
    total = ph.Func("total")
    total[()] = 0
    total[()] += ph.Buffer(a)[r]
    ro, ri = ph.rvars("ro ri")
    total.update().split(r, ro, ri, 8)
    partial = total.update().rfactor(ro, u)
    partial.compute_root().update().parallel(u)
    assert total.realize()[()] == a.sum()


def test_values_of_a_tuple_apart():
    a = np.arange(64, dtype=np.int32).reshape(8, 8)
    r, p = ph.RDom([(0, 8)], "r"), ph.RVar("p")
    f = ph.Func("f")
    image = ph.Buffer(a)
    f[i] = (0, 0)
    f[i] = (f[i][0] + image[i, r], ph.max(f[i][1], image[i, r]))
    loops = f.update(0).fission(i, p).loops()
    assert [name.split("$")[0] for name in loops] == ["r", "p", "i"]
    assert "f.update(0).fission(i, p)" in ph.Schedule(f).python()
    sums, largest = f.realize([8])
    np.testing.assert_array_equal(sums, a.sum(axis=1))
    np.testing.assert_array_equal(largest, a.max(axis=1))


def test_scans_in_blocks():
    f = ph.Func("f")
    r = ph.RDom([(1, 99)], "r")
    f[i] = i % 7
    f[r] = f[r - 1] + f[r]
    ro, ri = ph.rvars("ro ri")
    blocks = f.update(0).split(r, ro, ri, 16).scan(ro, u)
    blocks.compute_root().update(0).parallel(u)
    f.update(0).parallel(ro)
    assert ".update(0).scan(ro, u)" in ph.Schedule(f).python()
    np.testing.assert_array_equal(f.realize([100]), np.cumsum(np.arange(100) % 7))


def test_stages_share_loops():
    f, g = ph.Func("f"), ph.Func("g")
    f[i, j] = i
    g[i, j] = j
    h = ph.Func("h")
    h[i, j] = f[i, j] + g[i, j]
    f.compute_root()
    g.compute_root().compute_with(f, i)
    np.testing.assert_array_equal(h.realize([3, 4]), np.add.outer(np.arange(3), np.arange(4)))


def test_branches():
    p = ph.Param(ph.Int(32), "p", 1)
    f = ph.Func("f")
    f[i] = i * p
    f.specialize(p == 1).vectorize(i, 4)
    f.specialize_fail("only 1")
    np.testing.assert_array_equal(f.realize([8]), np.arange(8))
    p.set(2)
    with pytest.raises(ph.RuntimeError, match="only 1"):
        f.realize([8])


def test_kernels_are_refused_until_there_are_devices():
    f = ph.Func("f")
    f[i, j] = i + j
    f.gpu_tile(j, i, ji, ii, 8, 8)
    with pytest.raises(ph.CompileError):
        f.realize([8, 8])
