"""The same pipeline from C++ (same_pipelines.cc) and from Python has the same loop IR, to the letter."""

import os
import subprocess

import pytest

import polyhalite as ph

x, y, c, xi, yi = ph.vars("x y c xi yi")


def stencil():
    image = ph.ImageParam(ph.UInt(16), 2, "in")
    clamped, total, blur = ph.Func("clamped"), ph.Func("sum"), ph.Func("blur")
    height, width = image.shape
    clamped[y, x] = ph.u32(image[ph.clamp(y, 0, height - 1), ph.clamp(x, 0, width - 1)])
    total[y, x] = clamped[y, x - 1] + clamped[y, x] + clamped[y, x + 1]
    blur[y, x] = ph.u16((total[y - 1, x] + total[y, x] + total[y + 1, x]) / 9)
    blur.tile(x, y, xi, yi, 64, 16).vectorize(xi, 8).parallel(y)
    total.compute_at(blur, x).vectorize(x, 8)
    return blur


def histogram():
    image = ph.ImageParam(ph.UInt(8), 1, "in")
    r = ph.RDom([(0, image.dim(0).extent())], "r")
    counts = ph.Func("counts")
    counts[x] = 0
    counts[ph.i32(image[r])] += 1
    counts.vectorize(x, 8)
    return counts


def tuples():
    gain = ph.Param(ph.Float(32), "gain")
    pair, out = ph.Func("pair"), ph.Func("out")
    pair[y, x] = (ph.f32(x) * gain, y)
    pair[0, x][1] += 3
    out[c, y, x] = pair[y, x][0] + pair[x, y][1] + c
    pair.compute_root()
    out.reorder(c, x, y).bound(c, 0, 3).unroll(c)
    return out


def reductions():
    a, b = ph.ImageParam(ph.Float(32), 2, "a"), ph.ImageParam(ph.Float(32), 2, "b")
    k = ph.RDom([(0, a.dim(1).extent())], "k")
    product = ph.Func("product")
    product[y, x] += a[y, k] * b[k, x]
    product.update().reorder(x, k, y).vectorize(x, 8, ph.TailStrategy.GuardWithIf)
    return product


@pytest.mark.parametrize("make", [stencil, histogram, tuples, reductions])
def test_loop_ir_is_the_same(make):
    program = os.environ.get("POLYHALITE_SAME_PIPELINES")
    if not program:
        pytest.skip("POLYHALITE_SAME_PIPELINES names no program of the same pipelines in C++")
    done = subprocess.run([program, make.__name__], capture_output=True, text=True, check=True)
    assert make().emit_text(ph.Emit.stmt, [], "x86-64-linux-avx2-fma") == done.stdout
    assert len(done.stdout.splitlines()) > 10
