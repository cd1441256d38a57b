"""Reductions against numpy: over all axes, each one, several; kept or not; every dtype."""

import itertools

import numpy as np
import pytest
from ops.oracle import FLOATS, INTS, array, assert_same

import msvm
from msvm import ops

CASES = [
    ((), [None]),
    ((5,), [None, 0, -1]),
    ((2, 3), [None, 0, 1, (0, 1)]),
    ((2, 3, 5), [None, 1, (0, 2), (-1, 0), (0, 1, 2)]),
    ((1, 1), [None, 0]),
    ((13, 17), [0, 1]),
]
SUMS = {"i": np.int64, "b": np.int64, "u": np.uint64}


def cases():
    for shape, axes in CASES:
        for axis, keep in itertools.product(axes, (False, True)):
            yield shape, axis, keep


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums(name):
    for dtype, (shape, axis, keep) in itertools.product([*FLOATS, *INTS, "bool"], cases()):
        x = array(shape, dtype, 0, 2)
        want = getattr(np, name)(
            x.astype(np.float64) if x.dtype.kind == "f" else x,
            axis=axis,
            keepdims=keep,
            dtype=None if x.dtype.kind == "f" else SUMS[x.dtype.kind],
        )
        assert_same(
            getattr(ops, name)(x, axis, keep),
            np.asarray(want).astype(dtype) if x.dtype.kind == "f" else want,
            what=f"{name} {dtype}{shape} {axis}",
            rtol=3e-3 if dtype == "float16" else None,
        )
    assert_same(ops.sum(np.zeros((0, 3), np.float32), 0), np.zeros(3, np.float32))
    assert_same(ops.prod(np.zeros((0, 3), np.float32), 0), np.ones(3, np.float32))
    assert_same(ops.sum(np.ones(3, np.int8), dtype="int8"), np.int8(3))


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_means(name):
    for dtype, (shape, axis, keep) in itertools.product([*FLOATS, "int32", "uint8", "bool"], cases()):
        x = array(shape, dtype, 0, 5)
        want = np.asarray(getattr(np, name)(x.astype(np.float64), axis=axis, keepdims=keep)).astype(
            dtype if dtype in FLOATS else np.float32
        )
        assert_same(
            getattr(ops, name)(x, axis, keepdims=keep),
            want,
            what=f"{name} {dtype}{shape} {axis}",
            rtol=1e-2 if dtype == "float16" else 1e-4,
        )
    x = array((4, 5))
    for ddof in (1, 2):
        assert_same(ops.var(x, 0, ddof), x.var(0, ddof=ddof))
        assert_same(ops.std(x, 1, correction=ddof), x.std(1, ddof=ddof))
    assert_same(ops.var_mean(x, 0, 1), (x.var(0, ddof=1), x.mean(0)))
    assert_same(ops.std_mean(x, 0), (x.std(0), x.mean(0)))


@pytest.mark.parametrize(("name", "reference"), [("amax", np.max), ("amin", np.min)])
def test_extremes(name, reference):
    for dtype, (shape, axis, keep) in itertools.product([*FLOATS, *INTS, "bool"], cases()):
        x = array(shape, dtype, -50, 50)
        assert_same(getattr(ops, name)(x, axis, keep), reference(x, axis=axis, keepdims=keep), what=f"{name} {dtype}{shape} {axis}")
    assert np.isnan(ops.amax(np.array([1.0, np.nan, 3.0])))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name):
    for dtype in [*FLOATS, *INTS, "bool"]:
        for shape, axes in CASES:
            for axis, keep in itertools.product([a for a in axes if not isinstance(a, tuple)], (False, True)):
                x = array(shape, dtype, 0, 4)
                assert_same(
                    getattr(ops, name)(x, axis, keep), getattr(np, name)(x, axis=axis, keepdims=keep), what=f"{name} {dtype}{shape} {axis}"
                )


def test_values_with_positions():
    x = array((4, 5))
    for axis in (0, 1, -1):
        assert_same(ops.max(x, axis), (x.max(axis), x.argmax(axis)))
        assert_same(ops.min(x, axis, True), (x.min(axis, keepdims=True), x.argmin(axis, keepdims=True)))
    assert_same(ops.max(x), (x.max(), x.argmax()))


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth(name):
    for dtype, (shape, axis, keep) in itertools.product(["bool", "int32", "float32"], cases()):
        x = array(shape, dtype, -1, 1)
        assert_same(getattr(ops, name)(x, axis, keep), getattr(np, name)(x, axis=axis, keepdims=keep))
    assert_same(getattr(ops, name)(np.zeros((0, 2), bool), 0), getattr(np, name)(np.zeros((0, 2), bool), 0))
    assert_same(ops.count_nonzero(array((3, 4), "int32", -1, 1), 1), np.count_nonzero(array((3, 4), "int32", -1, 1), 1))


def test_logarithms_and_norms():
    x = array((3, 4, 5), "float64", 0.1, 3)
    assert_same(ops.logsumexp(x, 1), np.log(np.exp(x).sum(1)))
    assert_same(ops.logsumexp(x * 1000, -1), (x * 1000).max(-1), rtol=1e-9)
    assert_same(ops.reduce_log_sum(x, 1), np.log(x.sum(1)))
    assert_same(ops.reduce_sum_square(x, (0, 2)), (x * x).sum((0, 2)))
    assert_same(ops.reduce_l1(-x, 0), x.sum(0))
    assert_same(ops.reduce_l2(x), np.sqrt((x * x).sum()))
    for p in (0, 1, 2, 3, 0.5, np.inf, -np.inf):
        assert_same(ops.norm(x, p, 1), np.linalg.norm(x, p, 1), rtol=1e-9)
    assert_same(ops.norm(x), np.sqrt((x * x).sum()))
    assert_same(ops.norm(x, "fro", (0, 1)), np.linalg.norm(x, "fro", (0, 1)))


def test_other_names_of_parameters():
    x = array((3, 4))
    for want in (x.sum(1, keepdims=True),):
        assert_same(ops.sum(x, dim=1, keepdim=True), want)
        assert_same(ops.sum(x, axis=1, keep_dims=True), want)
        assert_same(ops.reduce_sum(x, 1, keepdims=True), want)
    with pytest.raises(msvm.InputError, match="two names of one parameter"):
        ops.sum(x, 0, dim=1)


def test_bad_axes():
    x = array((3, 4))
    for bad in (2, -3, (0, 0), (0, -2), 1.5, "0"):
        with pytest.raises((msvm.InputError, TypeError)):
            ops.sum(x, bad)
    with pytest.raises(msvm.InputError):
        ops.argmax(np.zeros((0,), np.float32))
