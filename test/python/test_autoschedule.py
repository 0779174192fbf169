"""Schedules that the auto-scheduler writes, asked for from Python."""

import numpy as np
import pytest

import polyhalite as ph
from stencil import stencil

i, j = ph.vars("i j")


def test_what_is_chosen_keeps_the_values():
    (*_, both), expected = stencil((64, 96), np.uint16)
    both.set_estimates([(0, 64), (0, 96)])
    result = ph.auto_schedule(both, budget="2s", beam=2, parallelism=2)
    assert result.report and result.schedule_text.startswith("schedule 1\n")
    np.testing.assert_array_equal(both.realize([64, 96]), expected)


def test_what_is_chosen_reads_back_as_python():
    (*_, both), _ = stencil((64, 96), np.uint16)
    both.set_estimates([(0, 64), (0, 96)])
    result = ph.auto_schedule(both, budget="2s", beam=2, parallelism=2)
    funcs, expected = stencil((64, 96), np.uint16)
    names = {f.name().split("$")[0]: f for f in funcs}
    both2 = funcs[-1]
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
