"""Memory shared with other libraries, both ways: whoever made it may go first, and nothing is left behind."""

import ctypes
import gc
import hashlib
import sys
import threading
import weakref

import numpy as np
import pytest
from msvm._core import Tensor, from_dlpack, from_numpy

import msvm


class Watched(np.ndarray):
    """An array that weak references see go."""


def watched(shape=(1000,)) -> tuple[np.ndarray, weakref.ref]:
    x = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape).view(Watched)
    return x, weakref.ref(x)


class OldDlpack:
    """A producer of before version 1."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


IN = {
    "Tensor": Tensor,
    "from_numpy": from_numpy,
    "from_dlpack": from_dlpack,
    "old DLPack": lambda x: from_dlpack(OldDlpack(x)),
    "memoryview": lambda x: Tensor(memoryview(x)),
}
OUT = {
    "asnumpy": Tensor.asnumpy,
    "asarray": np.asarray,
    "from_dlpack": np.from_dlpack,
    "memoryview": lambda t: np.asarray(memoryview(t)),
    "a slice": lambda t: t.asnumpy()[:],
    "Tensor": lambda t: Tensor(t).asnumpy(),
    "old DLPack": lambda t: from_dlpack(OldDlpack(t)).asnumpy(),
}


@pytest.mark.parametrize("out", OUT)
@pytest.mark.parametrize("how", IN)
def test_the_producer_goes_first(how, out):
    x, alive = watched()
    want = x.tolist()
    t = IN[how](x)
    del x
    gc.collect()
    assert alive() is not None
    assert t.tolist() == want
    y = OUT[out](t)
    y[3] = 77  # the same memory
    assert t.tolist()[3] == 77
    del t
    gc.collect()
    assert alive() is not None
    assert y[4] == 4 and y[3] == 77
    del y
    gc.collect()
    assert alive() is None


def test_results_of_programs(tmp_path):
    from programs import copy_program

    program = copy_program(tmp_path, "f32", 1)
    (y,) = program.run({"x": np.arange(1000, dtype=np.float32)})
    t = Tensor(y)
    del y, program
    gc.collect()
    assert t.tolist() == list(range(1000))


@pytest.mark.parametrize("how", IN)
@pytest.mark.parametrize("out", OUT)
def test_memory_stays_flat(how, out):
    x = np.zeros(1 << 16, np.float32)
    there = sys.getrefcount(x)
    into, outof = IN[how], OUT[out]

    def resident() -> int:
        with open("/proc/self/statm") as f:  # noqa: PTH123
            return int(f.read().split()[1]) * 4096

    def work(n):
        for _ in range(n):
            outof(into(x))

    work(1000)
    before = resident()
    work(10000)
    assert resident() - before < 4 << 20
    gc.collect()
    assert sys.getrefcount(x) == there


def test_capsules_that_nobody_takes():
    x, alive = watched()
    t = Tensor(x)
    del x
    capsules = [t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), t.__dlpack__(copy=True)]
    del t
    gc.collect()
    assert alive() is not None
    del capsules
    gc.collect()
    assert alive() is None


def test_a_capsule_is_taken_once():
    class Once:
        def __init__(self, x):
            self.capsule = x.__dlpack__()

        def __dlpack__(self, **_):
            return self.capsule

    for make in (np.arange(3.0), Tensor(np.arange(3.0))):
        once = Once(make)
        assert from_dlpack(once).tolist() == [0, 1, 2]
        with pytest.raises(TypeError, match="unused"):
            from_dlpack(once)


def test_read_only_memory():
    x = np.arange(3.0)
    x.setflags(write=False)
    for t in (Tensor(x), from_dlpack(x), Tensor(b"abc"), from_dlpack(Tensor(x)), Tensor(Tensor(x))):
        assert not t.is_writable and not t.asnumpy().flags.writeable and memoryview(t).readonly
        assert not np.from_dlpack(t).flags.writeable
        with pytest.raises(BufferError, match="read-only"):
            t.__dlpack__()
        copied = np.from_dlpack(t, copy=True)
        assert copied.flags.writeable and not np.shares_memory(copied, t.asnumpy())
        with pytest.raises(TypeError, match="not writable"):
            (ctypes.c_char * t.nbytes).from_buffer(t)
    assert Tensor(x, copy=True).is_writable


def test_dlpack_arguments():
    t = Tensor(np.arange(3.0))
    assert t.__dlpack_device__() == (1, 0)
    with pytest.raises(ValueError, match="stream"):
        t.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="CPU"):
        t.__dlpack__(dl_device=(2, 0))
    assert "dltensor_versioned" in repr(t.__dlpack__(max_version=(1, 1), dl_device=(1, 0)))
    assert '"dltensor"' in repr(t.__dlpack__(max_version=(0, 8))) and '"dltensor"' in repr(t.__dlpack__())
    with pytest.raises(TypeError, match="__dlpack__"):
        from_dlpack([1, 2])
    with pytest.raises(TypeError, match="numpy array"):
        from_numpy([1, 2])
    with pytest.raises(ValueError, match="device"):
        from_dlpack(t, device="cuda")
    assert not np.shares_memory(from_dlpack(t, copy=True).asnumpy(), t.asnumpy())


def test_devices_that_arent_the_cpu():
    class Far:
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, **_):
            raise AssertionError("asked for in vain")

    for f in (from_dlpack, Tensor):
        with pytest.raises(msvm.InputError, match="CPU"):
            f(Far())


def test_strides_over_dlpack():
    base = np.arange(48.0).reshape(6, 8)
    for x in (base.T, base[::2, ::3], base[::-1], np.broadcast_to(base[0], (3, 8)), base[:0], base[2:3, 3:4], np.array(2.0)):
        t = from_dlpack(x)
        np.testing.assert_array_equal(t.asnumpy(), x)
        np.testing.assert_array_equal(np.from_dlpack(t), x)
        np.testing.assert_array_equal(from_dlpack(t).asnumpy(), x)
    with pytest.raises(msvm.InputError, match="rank 9"):
        from_dlpack(np.zeros((1,) * 9))
    with pytest.raises(msvm.UnsupportedError, match="dtype"):
        from_dlpack(np.zeros(2, complex))


def test_buffers_that_want_more():
    t = Tensor(np.arange(6.0).reshape(2, 3).T)
    view = memoryview(t)
    assert view.format == "d" and view.shape == (3, 2) and view.strides == (8, 24) and not view.c_contiguous
    with pytest.raises(BufferError, match="contiguous"):
        hashlib.sha256(t)
    assert bytes(Tensor(np.arange(3, dtype=np.uint8))) == b"\0\1\2"
    assert view.tolist() == t.tolist()


def test_threads_drop_what_others_made():
    x, alive = watched()
    kept = [Tensor(x) for _ in range(100)]
    del x
    threads = [threading.Thread(target=lambda: [kept.pop() for _ in range(25)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    gc.collect()
    assert alive() is None


def test_torch_both_ways():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        for x in (
            torch.ones(3, 4).to(dtype),
            torch.ones(3, 4).to(dtype).t(),
            torch.ones(6)[::2].to(dtype),
            torch.zeros(0, 3).to(dtype),
            torch.tensor(1).to(dtype),
        ):
            t = Tensor(x)
            assert t.shape == tuple(x.shape) and str(x.dtype) == f"torch.{t.dtype.name}"
            if x.numel():
                assert torch.from_dlpack(t).data_ptr() == x.data_ptr()
            assert torch.equal(torch.from_dlpack(t), x)
    x = torch.arange(10.0)
    t = Tensor(x)
    del x
    gc.collect()
    y = torch.from_dlpack(t)
    del t
    gc.collect()
    assert y.tolist() == list(range(10))
    with pytest.raises(Exception, match=r"gradient|detach"):
        Tensor(torch.ones(2, requires_grad=True))
