"""pip install from a clone, into an environment of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

SOURCE = os.environ.get("POLYHALITE_SOURCE")

PROGRAM = """
    import os
    import numpy as np
    import polyhalite as ph

    assert "site-packages" in ph.__file__ and os.path.exists(ph.__path__[0] + "/_core.pyi")
    i, j = ph.vars("i j")
    f = ph.Func("f")
    f[i, j] = 10 * i + j
    f.vectorize(j, 8)
    assert (f.realize([4, 16]).numpy() == np.add.outer(10 * np.arange(4), np.arange(16))).all()
    print(ph.__version__)
"""


@pytest.mark.skipif(not os.environ.get("POLYHALITE_TEST_PIP"),
                    reason="compiles the library anew and may download build tools: set "
                           "POLYHALITE_TEST_PIP=1 to run it")
def test_pip_installs_a_clone(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*words):
        return subprocess.run(words, check=True, env=environment, cwd=tmp_path,
                              stdout=subprocess.PIPE, text=True).stdout

    run(sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "env"))
    python = str(tmp_path / "env" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", SOURCE)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    with open(f"{SOURCE}/CMakeLists.txt", encoding="utf-8") as file:
        assert f"VERSION {run(python, 'program.py').strip()} " in file.read()
