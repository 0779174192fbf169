"""pip install from a clone, into an environment of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

SOURCE = os.environ.get("POLYHALITE_SOURCE")

PROGRAM = """
    import os
    import subprocess
    import sys
    import numpy as np
    import polyhalite as ph
    import polyhalite.onnx

    assert "site-packages" in ph.__file__ and os.path.exists(ph.__path__[0] + "/_core.pyi")
    i, j = ph.vars("i j")
    f = ph.Func("f")
    f[i, j] = 10 * i + j
    f.vectorize(j, 8)
    assert (f.realize([4, 16]).numpy() == np.add.outer(10 * np.arange(4), np.arange(16))).all()
    # A library for programs in C has its runtime with it.
    f.compile_to_static_library("tables", [], "table")
    subprocess.run(["cc", "caller.c", "tables.a", "-o", "caller", "-I.", "-I" + ph.include_folder(),
                    "-lpthread", "-ldl", "-lm"], check=True)
    assert subprocess.run(["./caller"], capture_output=True, text=True, check=True).stdout == "37\\n"
    assert ph.onnx.load(bytes.fromhex(sys.argv[1])).outputs == ["x"]
    print(ph.__version__)
"""

CALLER = """
    #include <stdio.h>
    #include "polyhalite_buffer.h"
    #include "tables.h"

    int main(void) {
      static int32_t cells[4][16];
      struct polyhalite_dimension_t dims[2] = {{0, 16, 1, 0}, {0, 4, 16, 0}};
      struct polyhalite_buffer_t b = {0};
      b.host = (uint8_t *)cells;
      b.type.code = 0;
      b.type.bits = 32;
      b.type.lanes = 1;
      b.dimensions = 2;
      b.dim = dims;
      if (table(&b) != 0) return 1;
      printf("%d\\n", cells[3][7]);
      return 0;
    }
"""

# A model of ONNX whose output is its input x, three floats.
MODEL = "0808420210113a251201675a0f0a0178120a0a08080112040a020803620f0a0178120a0a08080112040a020803"


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
    (tmp_path / "caller.c").write_text(textwrap.dedent(CALLER))
    with open(f"{SOURCE}/CMakeLists.txt", encoding="utf-8") as file:
        assert f"VERSION {run(python, 'program.py', MODEL).strip()} " in file.read()
