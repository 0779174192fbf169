"""Schedules that the auto-scheduler writes, asked for from Python."""

import numpy as np
import pytest

import polyhalite as ph

i, j = ph.vars("i j")


def blur():
    a = np.random.default_rng(4).integers(0, 100, (64, 96)).astype(np.uint16)
    image = ph.BoundaryConditions.repeat_edge(ph.Buffer(a))
    across, both = ph.Func("across"), ph.Func("both")
    across[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    both[i, j] = across[i - 1, j] + across[i, j] + across[i + 1, j]
    p = np.pad(a, 1, "edge")
    rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return across, both, rows[:-2] + rows[1:-1] + rows[2:]


def test_what_is_chosen_keeps_the_values():
    _, both, expected = blur()
    both.set_estimates([(0, 64), (0, 96)])
    result = ph.auto_schedule(both, budget="2s", beam=2, parallelism=2)
    assert result.report and result.schedule_text.startswith("schedule 1\n")
    np.testing.assert_array_equal(both.realize([64, 96]), expected)


def test_what_is_chosen_reads_back_as_python():
    across, both, _ = blur()
    both.set_estimates([(0, 64), (0, 96)])
    result = ph.auto_schedule(both, budget="2s", beam=2, parallelism=2)
    across2, both2, expected = blur()
    names = {f.name().split("$")[0]: f for f in (across2, both2)}
    exec(result.schedule_python, {"ph": ph, **names})
    assert ph.Schedule(both2).loop_nest() == ph.Schedule(both).loop_nest()
    np.testing.assert_array_equal(both2.realize([64, 96]), expected)


def test_estimates_are_asked_for_by_name():
    f = ph.Func("nameless_size")
    f[i] = i
    with pytest.raises(ph.CompileError, match="nameless_size"):
        ph.auto_schedule(f)


def test_generators_may_leave_their_schedule():
    class Left(ph.Generator):
        output = ph.OutputBuffer(ph.Int(32), 1)

        def generate(self):
            f = ph.Func("f")
            f[i] = i * i
            self.output[i] = f[i] + f[i + 1]
            self.output.set_estimates([(0, 1000)])

        def schedule(self):
            assert self.using_autoscheduler()

    out = np.zeros(1000, np.int32)
    Left(autoscheduler="polyhalite").compile_to_callable()(out)
    n = np.arange(1000)
    np.testing.assert_array_equal(out, n * n + (n + 1) ** 2)
