"""Pictures for notebooks, and the notebook of first steps."""

import importlib.util
import json
import os
import xml.etree.ElementTree

import numpy as np
import pytest

import polyhalite as ph

i, j = ph.vars("i j")
SOURCE = os.environ.get("POLYHALITE_SOURCE")


def pipeline():
    image = ph.ImageParam(ph.Int(32), 2, "image")
    gain = ph.Param(ph.Int(32), "gain", 2)
    f, g = ph.Func("across"), ph.Func("down")
    f[i, j] = image[i, j] * gain
    g[i, j] = f[i, j] + f[i + 1, j]
    g[i, 0] += 5
    f.compute_root()
    image.set(np.ones((9, 8), np.int32))
    return image, f, g


def test_a_func_shows_its_equations():
    _, f, g = pipeline()
    assert "across(i, j) = image(i, j)*gain" in f._repr_html_()
    text = g._repr_html_()
    assert "down(i, j) = across(i, j) + across(i + 1, j)" in text
    assert "down(i, 0) = down(i, 0) + 5" in text
    r = ph.RDom([(0, 3), (0, 4)], "r")
    h = ph.Func("h")
    h[i] = 0
    h[i] += r[0] * r[1]
    assert "<b>over</b> r_x(0, 3), r_y(0, 4): h(i) = h(i) + r_x*r_y" in h._repr_html_()
    assert ph.Func("later")._repr_html_().count("undefined") == 1


def test_a_schedule_shows_its_loops():
    _, f, g = pipeline()
    g.parallel(i)
    text = ph.Schedule(g)._repr_html_()
    assert "down.s0.i <b>parallel</b>" in text and "across" in text
    assert "across.compute_root()" in str(ph.Schedule(g))
    assert "down.parallel(i);" in ph.Schedule(g).cpp()


def test_a_pipeline_shows_its_graph():
    _, f, g = pipeline()
    svg = ph.Pipeline(g)._repr_html_()
    root = xml.etree.ElementTree.fromstring(svg)
    names = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert names == ["image", "gain", "across", "down"]
    arrows = [p for p in root.iter("{http://www.w3.org/2000/svg}path") if p.get("marker-end")]
    assert len(arrows) == 3


def test_a_profile_names_every_func():
    _, f, g = pipeline()
    p = ph.profile(g, [8, 8], runs=3)
    assert p.runs == 3 and p.pipeline == "down"
    assert {"across", "down"} <= {row["name"] for row in p.funcs}
    assert str(p).startswith("down: ")
    assert "<td>across</td>" in p._repr_html_()
    assert "PH_PROFILE_JSON" not in os.environ


def notebook():
    if not SOURCE:
        pytest.skip("POLYHALITE_SOURCE names no source folder")
    path = f"{SOURCE}/python/notebooks/first_steps.ipynb"
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def test_the_notebooks_cells_run(capsys):
    names = {}
    for number, cell in enumerate(notebook()["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert "cannot" in printed and "ph.Var" in printed


def test_the_notebook_runs_in_jupyter():
    for module in ("nbclient", "nbformat", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    import nbclient
    import nbformat

    nb = nbformat.reads(json.dumps(notebook()), as_version=4)
    nbclient.NotebookClient(nb, timeout=300, kernel_name="python3").execute()
    shown = [o for c in nb.cells if c.cell_type == "code" for o in c.outputs
             if "text/html" in o.get("data", {})]
    assert len(shown) == 5
