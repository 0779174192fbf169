"""A short run of test/fuzz/onnx_graphs: random ONNX models beside onnxruntime."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

for name in ("onnx", "onnxruntime"):
    pytest.importorskip(name)
SOURCE = os.environ.get("POLYHALITE_SOURCE")
if not SOURCE:
    pytest.skip("POLYHALITE_SOURCE names no source folder", allow_module_level=True)
TOOL = pathlib.Path(SOURCE) / "test" / "fuzz" / "onnx_graphs"
sys.path.insert(0, str(TOOL))

import kinds  # noqa: E402
import mutated_models  # noqa: E402
import polyhalite.onnx  # noqa: E402, F401 children have it
import reduction  # noqa: E402
import trial  # noqa: E402

COUNTS = {"graphs": 20, "quantized": 12, "dynamic": 8, "float16": 10, "mutated": 60, "products": 40,
          "convolutions": 30}


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_random_models_agree(kind):
    if kind == "mutated" and mutated_models.data_folder() is None:
        pytest.skip("ONNX's backend test data is not here")
    counts, failed = kinds.try_seeds(kind, 0, 300, COUNTS[kind])
    text = kinds.summary(kind, 0, counts)
    assert not failed, f"{text}\n{failed}"
    assert counts[trial.SAME] > COUNTS[kind] / 3, text


@pytest.mark.parametrize("kind", ["graphs", "products", "convolutions", "dynamic"])
def test_cases_follow_from_seeds(kind):
    first, second = kinds.draw(kind, 3), kinds.draw(kind, 3)
    assert first.text() == second.text()
    assert all(np.array_equal(first.feeds[k], second.feeds[k]) for k in first.feeds)
    assert kinds.draw(kind, 4).text() != first.text()


class InternalError(Exception):
    pass


class CompileError(Exception):
    pass


def raise_(error):
    raise error


def changed(change):
    return lambda case: {k: change(v) for k, v in trial.run_peer(case).items()}


def one_wrong(x):
    x = x.copy()
    x.flat[-1] += 0.1 + np.abs(x).max()
    return x


@pytest.mark.parametrize("sort, ours", [
    (trial.SAME, trial.run_peer),
    ("died", lambda case: os.kill(os.getpid(), signal.SIGKILL)),
    ("hung", lambda case: time.sleep(60)),
    ("internal", lambda case: raise_(InternalError("an invariant is broken"))),
    ("internal", lambda case: raise_(MemoryError())),
    ("refused", lambda case: raise_(CompileError("cannot compute"))),
    ("values", changed(one_wrong)),
    ("values", changed(lambda x: np.full_like(x, np.nan))),
    ("shapes", changed(lambda x: x[None])),
    ("shapes", changed(lambda x: x.astype(np.float64))),
])
def test_failures_are_told_apart(sort, ours, monkeypatch):
    monkeypatch.setattr(trial, "run_ours", ours)
    assert trial.run(lambda: kinds.draw("graphs", 0), seconds=2).sort == sort


def test_mistakes_of_the_tool_are_no_outcomes():
    with pytest.raises(RuntimeError, match="cannot draw"):
        trial.run(lambda: raise_(KeyError("cannot draw")))
    # Outside of ours, a crash is not ours.
    outcome = trial.run(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert (outcome.sort, outcome.failed) == (trial.PEER_FAILED, False)


def test_a_failing_graph_is_made_small(monkeypatch):
    def dies(case):
        if any(n.op_type == "Softmax" for n in case.model.graph.node):
            os.kill(os.getpid(), signal.SIGKILL)
        return trial.run_peer(case)

    monkeypatch.setattr(trial, "run_ours", dies)
    case = next(c for c in map(lambda s: kinds.draw("graphs", s), range(100))
                if len(c.model.graph.node) > 8 and any(n.op_type == "Softmax" for n in c.model.graph.node))
    small, outcome = reduction.reduce(case)
    assert outcome.sort == "died"
    assert [n.op_type for n in small.model.graph.node] == ["Softmax"]
    assert small.feeds.keys() == {small.model.graph.input[0].name}
    monkeypatch.setattr(trial, "run_ours", trial.run_peer)
    assert reduction.reduce(case)[0] is None


def run_tool(*args, flags=()):
    return subprocess.run([sys.executable, "-B", *flags, str(TOOL), *args], capture_output=True,
                          text=True, check=False)


def test_the_tool_sums_up(tmp_path):
    run = run_tool("--kind", "products", "--from", "5", "--count", "3")
    assert (run.returncode, run.stdout) == (0, "products: seeds 5 to 7: 3 same\n"), run.stderr
    file = tmp_path / "saved.onnx"
    run = run_tool("--kind", "graphs", "--save", "1", str(file))
    assert run.returncode == 0 and file.exists() and run.stdout.startswith("graphs 1\n"), run.stderr
    run = run_tool("--kind", "graphs", "--reduce", "1")
    assert (run.returncode, run.stdout) == (0, "graphs 1 does not fail: same \n"), run.stderr
    run = run_tool("--kind", "odd")
    assert run.returncode == 2 and "there is no kind 'odd'; there are graphs, quantized" in run.stderr


def test_missing_packages_are_told():
    run = run_tool(flags=("-I", "-S"))
    assert run.returncode == 1
    assert run.stderr == ("onnx_graphs: error: the Python package numpy (No module named 'numpy') is "
                          "missing\n")
