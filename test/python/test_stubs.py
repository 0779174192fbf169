"""The stubs are those of the module, and programs check against them."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import polyhalite as ph

SOURCE = os.environ.get("POLYHALITE_SOURCE")
needs_source = pytest.mark.skipif(not SOURCE, reason="POLYHALITE_SOURCE names no source folder")


@needs_source
def test_stubs_are_current():
    done = subprocess.run([sys.executable, "-B", f"{SOURCE}/python/tools/make_stubs.py", "--check"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


PROGRAM = """
    import numpy as np
    import polyhalite as ph

    i, j = ph.vars("i j")
    image = ph.ImageParam(ph.UInt(8), 2, "image")
    f = ph.Func("f")
    f[i, j] = ph.f32(image[i, j]) * 2 + ph.select(i > 0, 1.0, 0.0)
    f.tile(j, i, ph.Var("ji"), ph.Var("ii"), 8, 8).parallel(i)
    image.set(np.zeros((4, 4), np.uint8))
    result: np.ndarray = f.realize([4, 4]).numpy()
"""


@needs_source
def test_programs_check_against_the_stubs(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    package = pathlib.Path(SOURCE) / "python"
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(textwrap.dedent(PROGRAM))
    bad.write_text(textwrap.dedent(PROGRAM) + "f.no_such_directive(i)\nph.Var(3.5, 4)\n")

    def check(program):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(program)],
            capture_output=True, text=True, check=False,
            env={**os.environ, "MYPYPATH": str(package), "PYTHONPATH": ""})

    done = check(good)
    assert done.returncode == 0, done.stdout
    done = check(bad)
    assert 'has no attribute "no_such_directive"' in done.stdout
    assert "Var" in done.stdout


def test_everything_public_has_a_text():
    missing = []
    for name in dir(ph):
        value = getattr(ph, name)
        if name.startswith("_") or not callable(value):
            continue
        if not (value.__doc__ or "").strip():
            missing.append(name)
    assert missing == []
