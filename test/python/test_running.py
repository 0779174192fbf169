"""Runs: Callables, handlers, threads, bounds, files."""

import gc
import os
import subprocess
import threading
import tracemalloc

import numpy as np
import pytest

import polyhalite as ph

i, j = ph.vars("i j")


def test_callables_take_arrays_and_numbers():
    image = ph.ImageParam(ph.UInt(8), 2, "image")
    gain = ph.Param(ph.Float(32), "gain")
    f = ph.Func("scaled")
    f[i, j] = ph.f32(image[i, j]) * gain
    call = f.compile_to_callable([image, gain])
    assert [a.name for a in call.arguments()] == ["image", "gain", "scaled"]
    a = np.arange(6, dtype=np.uint8).reshape(2, 3)
    out = np.zeros((2, 3), np.float32)
    call(a, 1.5, out)
    np.testing.assert_array_equal(out, a * np.float32(1.5))
    call(gain=2, scaled=out, image=a)
    np.testing.assert_array_equal(out, a * np.float32(2))
    for wrong, message in [
        (lambda: call(a, 1.5), "argument 'scaled' of a Callable is missing"),
        (lambda: call(a, 1.5, out, out), "a Callable got 4 arguments"),
        (lambda: call(a, 1.5, out, image=a), "argument 'image' of a Callable is given twice"),
        (lambda: call(a, 1.5, out, other=1), "a Callable has no argument 'other'"),
        (lambda: call(a.astype(np.int32), 1.5, out), "was expected to be a buffer of type 'uint8'"),
    ]:
        with pytest.raises(ph.Error) as caught:
            wrong()
        assert message in str(caught.value)


def test_several_outputs():
    f, g = ph.Func("f"), ph.Func("g")
    f[i] = i
    g[i, j] = f[i] + j
    one, two = np.zeros(2, np.int32), np.zeros((2, 3), np.int32)
    ph.Pipeline([f, g]).realize([one, two])
    np.testing.assert_array_equal(one, [0, 1])
    np.testing.assert_array_equal(two, [[0, 1, 2], [1, 2, 3]])


def test_bounds_of_inputs_are_inferred():
    image = ph.ImageParam(ph.Int(32), 2, "image")
    f = ph.Func("f")
    f[i, j] = image[i - 1, j] + image[i, j + 3]
    f.infer_input_bounds([4, 5])
    b = image.get()
    assert b.mins == (-1, 0) and b.shape == (5, 8)
    query = ph.Buffer.make_bounds_query(ph.Int(32), [7, 8])
    image.reset()
    f.infer_input_bounds(query)
    assert image.get().shape == (8, 11)


def test_promises_of_axes():
    image = ph.ImageParam(ph.Int(32), 2, "image")
    image.dim(0).set_bounds(0, 3)
    f = ph.Func("f")
    f[i, j] = image[i, j]
    image.set(np.zeros((4, 2), np.int32))
    with pytest.raises(ph.RuntimeError, match="image"):
        f.realize([3, 2])
    image.set(np.ones((3, 2), np.int32))
    assert f.realize([3, 2]).numpy().all()
    f.output_buffer().dim(1).set_extent(2)
    with pytest.raises(ph.RuntimeError):
        f.realize(np.zeros((3, 1), np.int32))


def test_prints_go_to_pythons_stdout(capsys):
    f = ph.Func("f")
    f[i] = ph.print(i, "is printed")
    f.realize([2])
    assert capsys.readouterr().out == "0 is printed\n1 is printed\n"
    lines = []
    f.realize([2], context=ph.JITUserContext(print=lines.append))
    assert lines == ["0 is printed\n", "1 is printed\n"]


def test_handlers_take_errors_and_events():
    p = ph.Param(ph.Int(32), "p", 0)
    f = ph.Func("f")
    f[i] = ph.require(p > 0, i, "too small")
    messages = []
    f.realize([2], context=ph.JITUserContext(error=messages.append))
    assert len(messages) == 1 and "too small" in messages[0]
    g = ph.Func("g")
    g[i, j] = 10 * i + j
    g.trace_stores()
    events = []
    g.realize([1, 2], context=ph.JITUserContext(trace=events.append))
    stores = [e for e in events if e["event"] == "store"]
    assert [e["coordinates"] for e in stores] == [[(0, 0)], [(0, 1)]]
    assert [list(e["values"]) for e in stores] == [[0], [1]]


def test_exceptions_of_handlers_end_the_run():
    class Stop(Exception):
        pass

    def stop(text):
        raise Stop(text)

    f = ph.Func("f")
    f[i] = ph.print_when(i == 3, i)
    f.parallel(i)
    with pytest.raises(Stop, match="3"):
        f.realize([100], context=ph.JITUserContext(print=stop))


def test_other_threads_run_meanwhile():
    f = ph.Func("f")
    r = ph.RDom([(0, 2000)])
    f[i] = ph.sum(ph.sin(ph.f32(i + r)))
    f.compile_jit()
    done, ticks = threading.Event(), 0
    worker = threading.Thread(target=lambda: (f.realize([20000]), done.set()))
    worker.start()
    while not done.wait(0.001):
        ticks += 1
    worker.join()
    assert ticks > 3


def test_pipelines_run_in_many_threads():
    def work(n, results):
        image = ph.ImageParam(ph.Int(32), 1)
        f = ph.Func("f")
        f[i] = image[i] * n
        image.set(np.arange(50, dtype=np.int32))
        for _ in range(5):
            results.append(np.array_equal(f.realize([50]), n * np.arange(50)))

    results = []
    threads = [threading.Thread(target=work, args=(n, results)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 40 and all(results)


def test_runs_do_not_leak():
    image = ph.ImageParam(ph.Int(32), 2)
    f = ph.Func("f")
    f[i, j] = image[i, j] + 1
    call = f.compile_to_callable([image])
    a, out = np.zeros((64, 64), np.int32), np.zeros((64, 64), np.int32)

    def memory():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    image.set(a)
    for _ in range(20):
        f.realize([64, 64])
        call(a, out)
    tracemalloc.start()
    before, blocks = memory(), tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        f.realize([64, 64]).numpy()
        call(a, out)
    grown, more = memory() - before, tracemalloc.get_traced_memory()[0] - blocks
    tracemalloc.stop()
    assert grown < 8 << 20  # 2000 results have 32 MiB
    assert more < 1 << 16


def test_files_are_written(tmp_path):
    image = ph.ImageParam(ph.UInt(8), 2, "image")
    f = ph.Func("plus_one")
    f[i, j] = image[i, j] + 1
    f.compile_to_static_library(str(tmp_path / "plus_one"), [image], "plus_one", "host")
    f.compile_to({ph.Emit.stmt: str(tmp_path / "f.stmt"), ph.Emit.assembly: str(tmp_path / "f.s")})
    f.compile_to_llvm_assembly(str(tmp_path / "f.ll"))
    f.compile_to_object(str(tmp_path / "f.o"), [image], "plus_one")
    assert {p.name for p in tmp_path.iterdir()} == {"plus_one.a", "plus_one.h", "f.stmt", "f.s",
                                                    "f.ll", "f.o"}
    assert "int plus_one(" in (tmp_path / "plus_one.h").read_text()
    symbols = subprocess.run(["nm", str(tmp_path / "f.o")], capture_output=True, text=True,
                             check=True).stdout
    assert " T plus_one\n" in symbols


def test_pipelines_move_as_bytes():
    f = ph.Func("f")
    f[i, j] = 10 * i + j
    f.vectorize(j, 4)
    back = ph.deserialize_pipeline(ph.serialize_pipeline(f))
    np.testing.assert_array_equal(back.realize([2, 8]), f.realize([2, 8]))
    assert back.emit_text(ph.Emit.stmt) == ph.Pipeline(f).emit_text(ph.Emit.stmt)


def test_targets():
    t = ph.Target("x86-64-linux-avx2-fma")
    assert t.has_feature("avx2") and t.has_feature(ph.TargetFeature.FMA)
    assert not t.with_feature("avx512").without_feature("avx2") == t
    assert t.natural_vector_size(np.float32) == 8
    assert str(ph.Target("host")) == str(ph.get_host_target())
    with pytest.raises(ph.CompileError, match="there is no target feature 'avx3'"):
        t.has_feature("avx3")
    with pytest.raises(ph.CompileError):
        ph.Target("x87-64-linux")
