"""msvm.Tensor: what it is made from, what it says of itself, what it gives as numbers and text."""

import array
import copy
import pickle
import sys
import weakref

import numpy as np
import pytest
from msvm._core import Tensor
from msvm._mutable import Symbol

import msvm
from msvm import _core

DTYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


def sample(dtype: str, shape=(2, 3, 4)) -> np.ndarray:
    return (np.arange(int(np.prod(shape))) % 2 if dtype == "bool" else np.arange(int(np.prod(shape)))).astype(dtype).reshape(shape)


def layouts(base: np.ndarray) -> dict[str, tuple[np.ndarray, bool]]:
    """Arrays from a base of two axes, and whether their memory can be shared."""
    read_only = base.copy()
    read_only.setflags(write=False)
    unaligned = np.zeros(base.nbytes + 1, np.uint8)[1:].view(base.dtype).reshape(base.shape)
    unaligned[:] = base
    wide = base.itemsize > 1
    return {
        "plain": (base, True),
        "read-only": (read_only, True),
        "transposed": (base.T, True),
        "stepped": (base[::2, 1::3], True),
        "broadcast": (np.broadcast_to(base[:1], (7, base.shape[1])), True),
        "negative strides": (base[::-1, ::-2], False),
        "Fortran": (np.asfortranarray(base), True),
        "big-endian": (base.astype(base.dtype.newbyteorder(">")), not wide),
        "unaligned": (unaligned, not wide),
        "in a struct": (np.zeros(5, np.dtype([("a", "u1"), ("b", base.dtype.str)]))["b"].reshape(5, 1), not wide),
        "empty": (base[:0], True),
        "empty, turned": (base[3:3:-1, ::2], True),
        "rank 0": (base[1:2, 1:2].reshape(()), True),
        "one element, turned": (base[1:2, 2:3][::-1, ::-1], True),
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_shared_where_possible(dtype):
    for name, (x, shared) in layouts(sample(dtype, (6, 8))).items():
        t = Tensor(x)
        assert t.shape == x.shape and t.ndim == x.ndim and t.size == x.size and t.itemsize == x.itemsize and t.nbytes == x.nbytes, name
        assert t.dtype.numpy == dtype, name
        y = t.asnumpy()
        np.testing.assert_array_equal(y, x, err_msg=name)
        assert y.dtype == x.dtype.newbyteorder("="), name
        if x.size:
            assert np.shares_memory(x, y) == shared, name
        if shared and min(x.shape, default=0) > 1:
            assert t.strides == x.strides, name
        assert y.flags.writeable == (x.flags.writeable or not shared) == t.is_writable, name
        assert not np.shares_memory(Tensor(x, copy=True).asnumpy(), x), name
        np.testing.assert_array_equal(np.asarray(t), x, err_msg=name)
        np.testing.assert_array_equal(np.from_dlpack(t), x, err_msg=name)
        np.testing.assert_array_equal(np.asarray(memoryview(t)), x, err_msg=name)


def test_python_values():
    cases = [
        (3, "int64", ()),
        (2.5, "float32", ()),
        (True, "bool", ()),
        ([1, 2, 3], "int64", (3,)),
        ([[1.0, 2], [3, 4]], "float32", (2, 2)),
        ((True, False), "bool", (2,)),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
        (np.float64(2.5), "float64", ()),
        ([np.float64(2.5)], "float64", (1,)),
        (np.float32(1), "float32", ()),
        ([np.zeros(2), np.ones(2)], "float64", (2, 2)),
        ([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])], "float32", (2, 2)),
        (range(4), "int64", (4,)),
        (array.array("i", [1, 2]), "int32", (2,)),
        (bytearray(b"ab"), "uint8", (2,)),
        (memoryview(np.ones((2, 2), np.int16)), "int16", (2, 2)),
        (_core.Mutable(5), "int64", ()),
        ([_core.Mutable(5), 6], "int64", (2,)),
        (2**63, "uint64", ()),
    ]
    for value, dtype, shape in cases:
        t = Tensor(value)
        assert (t.dtype.numpy, t.shape) == (dtype, shape), value
    assert Tensor([[1.0, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]

    class OfItsOwn:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3, np.float64)

    assert Tensor(OfItsOwn()).dtype is _core.to_dtype("float64")


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(source):
    x = sample(source)
    for target in DTYPES:
        for t in (Tensor(x, target), Tensor(Tensor(x), dtype=_core.to_dtype(target)), Tensor(x, np.dtype(target))):
            assert t.dtype.numpy == target
            np.testing.assert_array_equal(t.asnumpy(), x.astype(target))
    assert np.shares_memory(Tensor(x, source).asnumpy(), x)


def test_names_of_dtypes():
    for given, want in {
        float: "float32",
        int: "int64",
        bool: "bool",
        "f32": "float32",
        "bf16": "bfloat16",
        np.int8: "int8",
        "<f8": "float64",
        str: "string",
    }.items():
        assert _core.to_dtype(given).name == want
    for wrong in ("float33", None, 3, "complex64", np.complex64, object, "datetime64[s]", []):
        with pytest.raises(TypeError, match="expected a dtype"):
            _core.to_dtype(wrong)


def test_bfloat16():
    x = np.array([1.0, -2.5, 3.140625, np.inf], np.float32)
    t = Tensor(x, "bfloat16")
    assert t.dtype.name == "bfloat16" and t.itemsize == 2 and t.tolist() == x.tolist()
    assert "bfloat16" in repr(t) and "3.140625" in repr(t)
    assert Tensor(t, "float32").tolist() == x.tolist()
    bits = np.array([0x3F80, 0xC020], np.uint16)
    t = Tensor(bits, "bfloat16")
    assert t.tolist() == [1.0, -2.5] and t.asnumpy().view(np.uint16).tolist() == bits.tolist()
    assert Tensor(1.5, "bf16").item() == 1.5
    assert pickle.loads(pickle.dumps(t)).tolist() == copy.deepcopy(t).tolist() == [1.0, -2.5]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    y = x.astype(ml_dtypes.bfloat16)
    t = Tensor(y)
    assert t.dtype.name == "bfloat16" and np.shares_memory(y, t.asnumpy()) and t.asnumpy().dtype == y.dtype
    assert Tensor(y, "float64").tolist() == x.tolist()


def test_bfloat16_without_its_package(tmp_path):
    import subprocess

    code = f"""
import sys
sys.modules["ml_dtypes"] = None
sys.path.append({next(p for p in sys.path if p.endswith("release/python"))!r})
import numpy as np
from msvm._core import Tensor
t = Tensor([1.0, -2.5], "bfloat16")
assert t.asnumpy().dtype == np.uint16 and t.asnumpy().tolist() == [0x3F80, 0xC020]
assert t.tolist() == [1.0, -2.5] and "-2.5" in str(t)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_strings():
    for value in (["a", "größer als fünfzehn Byte \N{GRINNING FACE}"], np.array([["a", ""]]), np.array(["x"], object), "word"):
        t = Tensor(value)
        assert t.dtype.name == "string"
        assert t.tolist() == np.asarray(value).tolist() and t.asnumpy().dtype == object
        with pytest.raises(BufferError):
            memoryview(t)
        with pytest.raises(BufferError):
            t.__dlpack__()
    assert Tensor("word").item() == "word"
    assert pickle.loads(pickle.dumps(Tensor(["a", "b"]))).tolist() == ["a", "b"]


REFUSED = [
    (np.zeros((1,) * 9), msvm.InputError, "rank 9"),
    (np.zeros(2, complex), TypeError, "complex128"),
    (np.zeros(2, "datetime64[s]"), TypeError, "datetime64"),
    (np.zeros(2, np.longdouble), TypeError, "longdouble|float128"),
    (np.zeros(2, [("a", "f4")]), TypeError, "dtype"),
    (np.array([object()]), msvm.InputError, "object"),
    (np.array(["a", 1], object), msvm.InputError, "str"),
    ([1, [2]], msvm.InputError, "inhomogeneous"),
    (None, TypeError, "None"),
    ({}, msvm.InputError, "object"),
    (2**70, msvm.InputError, "object"),
    (object(), msvm.InputError, "object"),
    ("\ud800", msvm.InputError, "UTF-8"),
]


@pytest.mark.parametrize("value, error, match", REFUSED, ids=lambda v: getattr(v, "__name__", None))
def test_what_it_refuses(value, error, match):
    with pytest.raises(error, match=match):
        Tensor(value)


def test_deep_and_endless_lists():
    deep = 1
    for _ in range(100):
        deep = [deep]
    endless = [_core.Mutable(1)]
    endless.append(endless)
    for value in (deep, endless):
        with pytest.raises((msvm.InputError, RecursionError)):
            Tensor(value)


def test_scalars():
    t = Tensor([[7]])
    assert (t.item(), int(t), float(t), complex(t), bool(t), t.__index__()) == (7, 7, 7.0, 7 + 0j, True, 7)
    assert isinstance(t.item(), int) and "abcdefgh"[t] == "h" and len(range(t)) == 7
    for dtype in DTYPES:
        x = np.array(1, dtype)
        assert Tensor(x).item() == x.item() and type(Tensor(x).item()) is type(x.item())
        assert Tensor(sample(dtype)).item(1, 2, 1) == sample(dtype)[1, 2, 1]
    for f in (int, float, complex, bool, Tensor.item):
        for wrong in (Tensor([1, 2]), Tensor([])):
            with pytest.raises(ValueError, match="one element"):
                f(wrong)
    with pytest.raises(TypeError, match="integers"):
        range(Tensor(1.5))
    assert len(Tensor([[1, 2], [3, 4], [5, 6]])) == 3
    with pytest.raises(TypeError):
        len(Tensor(1))


def test_text():
    for x in (np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array(True), np.arange(10000), np.zeros((0, 3), np.int8)):
        t = Tensor(x)
        assert str(t) == str(x)
        assert repr(t) == f"Tensor({np.array2string(x, separator=', ', prefix='Tensor(')}, shape={x.shape}, dtype={x.dtype})"
    assert "..." in repr(Tensor(np.arange(10000))) and repr(Tensor([[1.0, 2.0]])) == "Tensor([[1., 2.]], shape=(1, 2), dtype=float32)"
    assert f"{Tensor(2.5):.3f}" == "2.500" and f"{Tensor([1, 2])}" == "[1 2]"
    with pytest.raises(ValueError):
        f"{Tensor([1, 2]):.3f}"


def test_copies():
    x = np.arange(4.0)
    t = Tensor(x)
    assert np.shares_memory(copy.copy(t).asnumpy(), x) and not np.shares_memory(copy.deepcopy(t).asnumpy(), x)
    for dtype in DTYPES:
        y = sample(dtype)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(Tensor(y.T), protocol))
            np.testing.assert_array_equal(again.asnumpy(), y.T)
            assert again.dtype is Tensor(y).dtype and again.is_writable
    assert copy.deepcopy(t.dtype) is t.dtype and pickle.loads(pickle.dumps(t.dtype)) is t.dtype


class Named(Tensor):
    pass


def test_identity():
    t, u = Tensor([1]), Tensor([1])
    assert hash(t) != hash(u) and len({t, u, t}) == 2
    assert weakref.ref(t)() is t

    n = Named([1.0, 2.0])
    n.name = "w"
    assert n.shape == (2,) and np.shares_memory(Tensor(n).asnumpy(), n.asnumpy()) and type(pickle.loads(pickle.dumps(n))) is Named


def test_declarations():
    n = Symbol("n", max=8)
    t = Tensor(shape=[None, 3, n], dtype=_core.to_dtype("float32"))
    assert t.is_declared and t.shape == (None, 3, n) and t.ndim == 3 and t.dtype.name == "float32"
    assert repr(t) == "Tensor(shape=(None, 3, Symbol('n', max=8)), dtype=float32)" == str(t)
    assert not Tensor([1]).is_declared
    for use in (
        Tensor.asnumpy,
        np.asarray,
        Tensor,
        float,
        len,
        bool,
        Tensor.tolist,
        lambda t: t.size,
        lambda t: t.nbytes,
        Tensor.__dlpack__,
        copy.copy,
    ):
        with pytest.raises(TypeError, match="declaration"):
            use(t)
    with pytest.raises(BufferError):
        memoryview(t)
    again = pickle.loads(pickle.dumps(Tensor(shape=[None, 3], dtype="int8")))
    assert again.is_declared and again.shape == (None, 3) and again.dtype.name == "int8"
    for shape, error in (
        ([-1], msvm.InputError),
        ([True], msvm.InputError),
        (["n"], msvm.InputError),
        ([1.5], msvm.InputError),
        ([1] * 9, msvm.InputError),
        (3, TypeError),
    ):
        with pytest.raises(error):
            Tensor(shape=shape, dtype="float32")
    with pytest.raises(TypeError, match="dtype"):
        Tensor(shape=[1])
    with pytest.raises(TypeError, match="reshape"):
        Tensor([1], shape=[1])


def test_the_array_protocol():
    t = Tensor(np.arange(3, dtype=np.float32))
    assert t.__array__("float64").dtype == np.float64 and np.array(t, dtype=int).tolist() == [0, 1, 2]
    assert np.shares_memory(t.__array__(copy=False), t.asnumpy()) and not np.shares_memory(t.__array__(copy=True), t.asnumpy())
    with pytest.raises(ValueError, match="copy"):
        t.__array__("float64", copy=False)


def test_symbols_can_be_set():
    t, m = Tensor(np.zeros((2, 3))), _core.Mutable(2)
    assert t.symbols is None
    t.symbols = (m, None)
    assert t.symbols[0] is m and Tensor(t).symbols[0] is m
    for wrong in ((m,), [m, None], 3):
        with pytest.raises(TypeError):
            t.symbols = wrong
    t.symbols = None
    assert t.symbols is None
