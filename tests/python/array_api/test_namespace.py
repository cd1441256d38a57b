"""The namespace of the Array API standard against numpy's own, which follows it."""

import math

import numpy as np
import pytest
from ops.oracle import array, assert_same

import msvm
import msvm as ms
from msvm import array_api as xp

F = array((3, 4), "float64", 0.5, 3)
G = array((3, 4), "float64", 0.5, 3, seed=1)
I = array((3, 4), "int64", 1, 9)  # noqa: E741
J = array((3, 4), "int64", 1, 9, seed=1)
B = array((3, 4), "bool")
V = array((6,), "float64")
T = array((2, 3, 4), "float64")

UNARY = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log2",
    "log10",
    "negative",
    "positive",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "atan2",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "subtract",
]
OF_BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = {"acos": F / 4, "asin": F / 4, "atanh": F / 4, "acosh": F + 1}.get(name, F)
    assert_same(getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x), rtol=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    assert_same(getattr(xp, name)(xp.asarray(F), xp.asarray(G)), getattr(np, name)(F, G), rtol=1e-12)


@pytest.mark.parametrize("name", OF_BITS)
def test_bits(name):
    assert_same(getattr(xp, name)(xp.asarray(I), xp.asarray(J)), getattr(np, name)(I, J))
    assert_same(xp.bitwise_invert(xp.asarray(I)), ~I)
    for logical in ("logical_and", "logical_or", "logical_xor"):
        assert_same(getattr(xp, logical)(xp.asarray(B), xp.asarray(~B)), getattr(np, logical)(B, ~B))


CALLS = {
    "sum": [(F,), {}],
    "sum 1": [(I,), {"axis": 1, "keepdims": True}],
    "sum none": [(F,), {"axis": ()}],
    "prod": [(F,), {"axis": 0}],
    "mean": [(F,), {"axis": (0, 1)}],
    "max": [(F,), {"axis": 1}],
    "min": [(I,), {}],
    "std": [(F,), {"correction": 1, "axis": 0}],
    "var": [(F,), {"correction": 0.5}],
    "all": [(B,), {"axis": 0}],
    "any": [(B,), {}],
    "count_nonzero": [(B,), {"axis": 1}],
    "argmax": [(F,), {"axis": 1}],
    "argmin": [(F,), {}],
    "cumulative_sum": [(F,), {"axis": 1}],
    "cumulative_sum initial": [(I,), {"axis": 0, "include_initial": True}],
    "cumulative_prod": [(V,), {}],
    "diff": [(F,), {"n": 2}],
    "diff more": [(I,), {"axis": 0, "prepend": I[:1], "append": I[1:]}],
    "broadcast_to": [(V, (2, 6)), {}],
    "concat": [([F, G],), {"axis": 1}],
    "concat flat": [([F, G],), {"axis": None}],
    "stack": [([F, G],), {"axis": -1}],
    "expand_dims": [(F,), {"axis": 1}],
    "squeeze": [(F[:1], 0), {}],
    "flip": [(F,), {"axis": 1}],
    "roll": [(F, 2), {"axis": 1}],
    "roll both": [(F, (1, -1)), {"axis": (0, 1)}],
    "moveaxis": [(T, 0, 2), {}],
    "permute_dims": [(T, (2, 0, 1)), {}],
    "matrix_transpose": [(T,), {}],
    "reshape": [(F, (2, -1)), {}],
    "repeat": [(F, 2), {"axis": 0}],
    "tile": [(F, (2, 1)), {}],
    "tril": [(F,), {"k": 1}],
    "triu": [(F,), {"k": -1}],
    "sort": [(F,), {"axis": 0}],
    "argsort": [(F,), {"stable": True}],
    "nonzero": [(B,), {}],
    "take": [(F, I[0] % 4), {"axis": 1}],
    "take_along_axis": [(F, I % 4), {"axis": 1}],
    "where": [(B, F, G), {}],
    "clip": [(F, 1.0, 2.0), {}],
    "matmul": [(F, G.T), {}],
    "tensordot": [(F, G), {"axes": ((1,), (1,))}],
    "vecdot": [(F, G), {}],
    "unstack": [(F,), {"axis": 1}],
    "searchsorted": [(np.sort(V), F), {"side": "right"}],
    "unique_counts": [(I,), {}],
    "unique_inverse": [(I,), {}],
    "unique_all": [(I,), {}],
    "meshgrid": [(V, V[:2]), {"indexing": "ij"}],
    "isin": [(I, J[0]), {}],
}


def as_tensors(v):
    if isinstance(v, np.ndarray):
        return xp.asarray(v)
    return [as_tensors(x) for x in v] if isinstance(v, list) else v


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    name = call.split()[0]
    args, kwargs = CALLS[call]
    want = getattr(np, name)(*args, **kwargs)
    named = {k: as_tensors(v) for k, v in kwargs.items()}
    got = getattr(xp, name)(*map(as_tensors, args), **named)
    if hasattr(want, "_fields"):
        assert type(got)._fields == type(want)._fields
    assert_same(tuple(got) if isinstance(got, list) else got, tuple(want) if isinstance(want, list) else want, rtol=1e-12)


def test_unique_values():
    assert_same(xp.unique_values(xp.asarray(I)), np.unique(I))


def test_sort_descending():
    assert_same(xp.sort(xp.asarray(V), descending=True), np.sort(V)[::-1])
    assert_same(xp.argsort(xp.asarray(V), descending=True), np.argsort(-V))


def test_creation():
    for name, args, kwargs in [
        ("zeros", ((2, 3),), {"dtype": "int8"}),
        ("ones", (4,), {"dtype": "float64"}),
        ("full", ((2,), 7), {}),
        ("eye", (3,), {"k": 1, "dtype": "float64"}),
        ("arange", (2, 9, 3), {}),
        ("linspace", (0.0, 1.0, 5), {"dtype": "float64"}),
        ("linspace", (0.0, 1.0, 5), {"dtype": "float64", "endpoint": False}),
    ]:
        assert_same(getattr(xp, name)(*args, **kwargs), getattr(np, name)(*args, **kwargs))
    x = xp.asarray(F)
    for name in ("zeros_like", "ones_like"):
        assert_same(getattr(xp, name)(x), getattr(np, name)(F))
    assert_same(xp.full_like(x, 2), np.full_like(F, 2))
    assert xp.empty((2, 0)).shape == (2, 0) and xp.empty_like(x).dtype is xp.float64
    assert xp.asarray(1).dtype is xp.int64 and xp.asarray(1.0).dtype is xp.float32 and xp.asarray(True).dtype is xp.bool
    assert xp.asarray(0.1, dtype=xp.float64).item() == 0.1
    a = np.ones(3)
    t = xp.asarray(a, copy=True)
    a[0] = 5
    assert_same(t, np.ones(3))
    assert xp.asarray(t, copy=False) is t
    with pytest.raises(ValueError, match="without a copy"):
        xp.asarray([1], copy=False)
    assert_same(xp.from_dlpack(np.arange(3)), np.arange(3))
    with pytest.raises(msvm.InputError, match="one device"):
        xp.zeros(2, device="gpu")


def test_dtypes():
    assert xp.result_type(xp.int8, xp.uint8) is xp.int16 and xp.result_type(xp.asarray(F), xp.float32) is xp.float64
    assert xp.result_type(xp.int8, 1) is xp.int8 and xp.result_type(xp.float32, 1.0) is xp.float32
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.float64, xp.float32) and not xp.can_cast(xp.uint64, xp.int64)
    assert xp.isdtype(xp.uint8, "unsigned integer") and xp.isdtype(xp.int8, ("bool", "integral")) and not xp.isdtype(xp.bool, "numeric")
    assert xp.isdtype(xp.float32, xp.float32)
    for d in ("float32", "float64"):
        got, want = xp.finfo(getattr(xp, d)), np.finfo(d)
        assert (got.bits, got.eps, got.max, got.min, got.smallest_normal) == (want.bits, want.eps, want.max, want.min, want.smallest_normal)
    assert xp.iinfo(xp.int16).max == 32767 and xp.iinfo(xp.asarray(I)).min == np.iinfo(np.int64).min
    for bad in (lambda: xp.finfo(xp.int8), lambda: xp.iinfo(xp.float32), lambda: xp.isdtype(xp.int8, "number"), lambda: xp.result_type()):
        with pytest.raises(msvm.InputError):
            bad()
    assert xp.astype(xp.asarray(F), xp.float32).dtype is xp.float32


def test_what_it_says_of_itself():
    x = xp.asarray(F)
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2023.12") is xp
    assert x.device == "cpu" and x.to_device("cpu") is x
    with pytest.raises(msvm.InputError, match=r"version 2031\.12"):
        x.__array_namespace__(api_version="2031.12")
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] is xp.float32 and info.devices() == ["cpu"]
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert info.capabilities()["boolean indexing"]
    assert xp.pi == math.pi and xp.newaxis is None and math.isnan(xp.nan)
    for name in xp.__all__:
        assert getattr(xp, name, 0) is not None or name == "newaxis"
    standard = set(np.__array_namespace_info__().dtypes()) | {"linalg"}
    assert {n for n in standard if "complex" not in n} <= set(xp.__all__)


def test_linear_algebra():
    x, y = xp.asarray(T), xp.asarray(T[:, :, :3])
    assert_same(xp.linalg.diagonal(x, offset=1), np.linalg.diagonal(T, offset=1))
    assert_same(xp.linalg.trace(x), np.linalg.trace(T))
    assert_same(xp.linalg.det(y), np.linalg.det(T[:, :, :3]), rtol=1e-9)
    assert_same(xp.linalg.vector_norm(x, axis=(0, 2), ord=3), np.linalg.vector_norm(T, axis=(0, 2), ord=3), rtol=1e-9)
    assert_same(
        xp.linalg.vector_norm(x, axis=(0, 2), ord=1, keepdims=True), np.linalg.vector_norm(T, axis=(0, 2), ord=1, keepdims=True), rtol=1e-9
    )
    assert_same(xp.linalg.matrix_norm(x), np.linalg.matrix_norm(T))
    assert_same(xp.linalg.cross(y[..., :3], y[..., :3] + 1), np.linalg.cross(T[:, :, :3], T[:, :, :3] + 1))


def test_compiled():
    @ms.jit
    def standardised(x):
        xp_ = x.__array_namespace__()
        y = (x - xp_.mean(x, axis=0)) / xp_.std(x, axis=0, correction=1)
        return (
            xp_.concat([y, xp_.zeros((1, x.shape[1]), dtype=y.dtype)], axis=0),
            xp_.max(y),
            xp_.cumulative_sum(y, axis=0, include_initial=True),
        )

    y = (F - F.mean(0)) / F.std(0, ddof=1)
    assert_same(
        standardised(xp.asarray(F)),
        (np.concatenate([y, np.zeros((1, 4))]), y.max(), np.cumulative_sum(y, axis=0, include_initial=True)),
        rtol=1e-9,
    )
