"""Arrays of numpy and Buffers: shared elements, shapes, types, lifetimes."""

import gc
import weakref

import numpy as np
import pytest

import polyhalite as ph

i, j, k = ph.vars("i j k")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64"]


def doubled(array):
    """A pipeline's view of the array: 2*a as the same type, and its result."""
    b = ph.Buffer(array)
    f = ph.Func("f")
    arguments = ph.vars("a b c d")[: array.ndim]
    f[arguments] = b[arguments] + b[arguments]
    return f.realize(list(array.shape)).numpy()


@pytest.mark.parametrize("name", DTYPES)
def test_types_map_both_ways(name):
    a = np.arange(6).reshape(2, 3).astype(name)
    b = ph.Buffer(a)
    assert b.type() == ph.Type(name) == ph.Type(np.dtype(name))
    assert b.dtype == a.dtype and b.numpy().dtype == a.dtype
    np.testing.assert_array_equal(b.numpy(), a)
    f = ph.Func("f")
    f[i, j] = b[i, j]
    result = f.realize([2, 3]).numpy()
    assert result.dtype == a.dtype
    np.testing.assert_array_equal(result, a)


@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "uint64", "float16", "float64"])
def test_elements_read_and_write(name):
    b = ph.Buffer(ph.Type(name), [2, 3])
    b.fill(1)
    b[1, 2] = 7
    assert b[1, 2] == 7 and b[0, 0] == 1
    assert b.numpy()[1, 2] == 7


def test_elements_are_shared_not_copied():
    a = np.zeros((3, 4), np.int32)
    b = ph.Buffer(a)
    a[1, 2] = 5
    assert b[1, 2] == 5
    b[2, 3] = 6
    assert a[2, 3] == 6
    back = b.numpy()
    assert back.ctypes.data == a.ctypes.data and back.strides == a.strides
    assert np.asarray(b).ctypes.data == a.ctypes.data
    assert np.array(b).ctypes.data != a.ctypes.data


STRIDED = {
    "transposed": lambda a: a.T,
    "every other": lambda a: a[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1],
    "one row reversed": lambda a: a[1:2, ::-1],
    "a column": lambda a: a[:, 2],
    "broadcast copy": lambda a: np.broadcast_to(a[0], a.shape).copy(),
    "fortran": np.asfortranarray,
    "three axes": lambda a: a.reshape(2, 3, 5).transpose(1, 2, 0),
}


@pytest.mark.parametrize("shape", STRIDED)
def test_strides_are_honoured(shape):
    a = STRIDED[shape](np.arange(30, dtype=np.int32).reshape(6, 5).copy())
    b = ph.Buffer(a)
    assert b.shape == a.shape
    np.testing.assert_array_equal(b.numpy(), a)
    np.testing.assert_array_equal(doubled(a), 2 * a)


def test_results_go_to_arrays_of_any_strides():
    f = ph.Func("f")
    f[i, j] = 10 * i + j
    expected = np.add.outer(10 * np.arange(3), np.arange(4))
    whole = np.zeros((6, 8), np.int32)
    with pytest.raises(ph.RuntimeError, match="the stride of dimension 0 of buffer 'f' is 2"):
        f.realize(whole[::2, ::2])
    f.output_buffer().dim(-1).set_stride(None)
    f.realize(whole[::2, ::2])
    np.testing.assert_array_equal(whole[::2, ::2], expected)
    assert not whole[1::2].any() and not whole[:, 1::2].any()


def test_arrays_that_cannot_be_shared_are_refused():
    a = np.zeros((2, 3), np.int32)
    a.flags.writeable = False
    with pytest.raises(ph.CompileError) as e:
        ph.Buffer(a)
    assert str(e.value).endswith(
        "error: a read-only array of shape (2, 3) as a Buffer\n"
        "  why: a pipeline could write to it\n"
        "  fix: give a copy: Buffer(array, copy=True)")
    ph.Buffer(a, copy=True)[0, 0] = 1
    with pytest.raises(ph.CompileError, match="byte order of another machine"):
        ph.Buffer(np.zeros(3, ">i4"))
    record = np.zeros(4, [("a", np.int8), ("b", np.int32)])
    with pytest.raises(ph.CompileError, match="strides are whole elements, of 4 bytes"):
        ph.Buffer(record["b"])
    with pytest.raises(TypeError, match="the language has bool, int and uint"):
        ph.Buffer(np.zeros(3, complex))


def test_other_arrays_are_shared_by_protocol():
    memory = bytearray(range(6))
    b = ph.Buffer(memory)
    b[2] = 99
    assert memory[2] == 99
    a = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(np.from_dlpack(ph.Buffer(a)), a)
    assert ph.Buffer(a).__dlpack_device__() == a.__dlpack_device__()


def test_coordinates_are_checked():
    b = ph.Buffer(ph.Int(32), [2, 3])
    with pytest.raises(IndexError, match="index 3 along axis 1 of a Buffer that has 0 to 2"):
        b[0, 3]
    with pytest.raises(IndexError, match="index -1 along axis 0"):
        b[-1, 0] = 1
    with pytest.raises(IndexError, match="1 indices for a Buffer of 2 axes"):
        b[0]
    with pytest.raises(ph.CompileError, match="slice the array"):
        b[0:1, 0]
    with pytest.raises(IndexError, match="axis 2 of 2 axes"):
        b.extent(2)


def test_mins_crops_and_views():
    a = np.arange(24, dtype=np.int32).reshape(4, 6)
    b = ph.Buffer(a)
    part = b.cropped(1, 2, 3)
    assert part.shape == (4, 3) and part.mins == (0, 2)
    np.testing.assert_array_equal(part.numpy(), a[:, 2:5])
    assert part[1, 2] == a[1, 2]
    moved = b.translated([10, -5])
    assert moved.mins == (10, -5) and moved[10, -5] == 0
    assert b.mins == (0, 0)
    row = b.sliced(0, 2)
    np.testing.assert_array_equal(row.numpy(), a[2])
    np.testing.assert_array_equal(b.transposed(0, 1).numpy(), a.T)
    f = ph.Func("f")
    f[i, j] = 10 * i + j
    out = ph.Buffer(ph.Int(32), [2, 2])
    out.set_min([5, 7])
    f.realize(out)
    np.testing.assert_array_equal(out.numpy(), [[57, 58], [67, 68]])


def test_scalars_and_empty_shapes():
    f = ph.Func("f")
    f[()] = 42
    result = f.realize()
    assert result.shape == () and result[()] == 42
    assert f.realize([]).numpy() == 42
    assert ph.Buffer.make_scalar(ph.Float(32)).ndim == 0


class Owner(np.ndarray):
    """An array that weak references can watch."""


def test_buffers_keep_arrays_alive():
    a = np.arange(5, dtype=np.int32).view(Owner)
    alive = weakref.ref(a)
    crop = ph.Buffer(a).cropped(0, 1, 3)
    del a
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(crop.numpy(), [1, 2, 3])
    view = crop.numpy()
    del crop
    gc.collect()
    assert alive() is not None and view.sum() == 6
    del view
    gc.collect()
    assert alive() is None


def test_pipelines_keep_arrays_alive():
    a = np.arange(5, dtype=np.int32).view(Owner)
    alive = weakref.ref(a)
    f = ph.Func("f")
    f[i] = ph.Buffer(a)[i] + 1
    image = ph.ImageParam(ph.Int(32), 1)
    image.set(a)
    del a
    gc.collect()
    np.testing.assert_array_equal(f.realize([5]), [1, 2, 3, 4, 5])
    del f
    gc.collect()
    assert alive() is not None
    image.reset()
    gc.collect()
    assert alive() is None


def test_results_outlive_their_pipeline():
    f = ph.Func("f")
    f[i] = i
    array = f.realize([1000]).numpy()
    del f
    gc.collect()
    np.testing.assert_array_equal(array, np.arange(1000))


def test_bfloat16():
    b = ph.Buffer(ph.BFloat(16), [3])
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(TypeError, match="ml_dtypes is not installed"):
            b.numpy()
        return
    b.fill(1.5)
    assert b.numpy().dtype == ml_dtypes.bfloat16
    assert ph.Buffer(np.ones(3, ml_dtypes.bfloat16)).type() == ph.BFloat(16)
