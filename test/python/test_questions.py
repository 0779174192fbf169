"""What a schedule may say next, asked from Python."""

import polyhalite as ph

i, j, u = ph.vars("i j u")


def sweep():
    f = ph.Func("f")
    r = ph.RDom([(1, 6), (1, 8)], "r")
    f[i, j] = i + j
    f[r[0], r[1]] = f[r[0], r[1] - 1] + f[r[0] - 1, r[1] + 1]
    return f, r


def test_why_not_names_the_instances():
    f, _ = sweep()
    why = f.why_not("f.update(0).parallel(r_x)")
    assert isinstance(why, ph.Diagnostic) and why.file == __file__
    assert why.what == "cannot run loop 'r_x' of update 0 of 'f' in parallel"
    assert why.why == "f at (r_x=2, r_y=1) reads f(2, 1), which (r_x=1, r_y=2) writes"
    assert f.why_not("f.parallel(i)") is None
    assert "unknown directive" in f.why_not("f.paralel(i)").what
    assert "'z'" in str(f.why_not("f.parallel(z)"))


def test_asking_changes_nothing():
    f, r = sweep()
    before = str(ph.Schedule(f))
    f.why_not("f.update(0).parallel(r_x)")
    assert f.legal_alternatives(f.update())
    assert str(ph.Schedule(f)) == before
    f.realize([10, 10])


def test_legal_alternatives_are_legal():
    f, r = sweep()
    pipeline = ph.Pipeline(f)
    steps = pipeline.legal_alternatives(f.update())
    assert "f.update(0).skew(r_y, r_x, r_y, 1)\nf.update(0).reorder(r_x, r_y)" in steps
    assert not any(step == "f.update(0).parallel(r_x)" for step in steps)
    for step in steps:
        assert pipeline.why_not(step) is None, step
    assert "f.parallel(i)" in pipeline.legal_alternatives(f)
