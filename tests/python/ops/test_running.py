"""What runs along an axis, the most frequent element, and distances: eager and compiled, against numpy."""

import numpy as np
import pytest

import msvm as ms

RNG = np.random.default_rng(11)
DTYPES = ["float32", "float64", "float16", "int64", "int8", "uint64", "uint8", "bool"]


def sample(dtype, shape):
    x = RNG.integers(0, 5, shape).astype(dtype)
    if x.dtype.kind == "f" and x.size > 3:
        x.flat[x.size // 2] = np.nan
        x.flat[1] = -np.inf
    return x


def best(x, axis, greater):
    """torch.cummax: the last of equal ones; NaN, and the last one, from the first on."""
    x = np.moveaxis(x, axis, 0)
    values, at = x.copy(), np.zeros(x.shape, np.int64)
    for k in range(1, len(x)):
        before, new = values[k - 1], x[k]
        take = np.isnan(new.astype(np.float64)) | (~np.isnan(before.astype(np.float64)) & (new >= before if greater else new <= before))
        values[k] = np.where(take, new, before)
        at[k] = np.where(take, k, at[k - 1])
    return np.moveaxis(values, 0, axis), np.moveaxis(at, 0, axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((7,), 0), ((3, 5, 2), 1), ((3, 5, 2), -1), ((600, 3), 0), ((0, 3), 1), ((3, 0), 1)])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_best_so_far(name, dtype, shape, axis):
    x = sample(dtype, shape)
    f = getattr(ms.ops, name)
    for g in (f, ms.jit(lambda x: f(x, axis))):
        values, at = g(x, axis) if g is f else g(x)
        wanted, places = best(x, axis, name == "cummax")
        assert values.asnumpy().dtype == x.dtype and at.asnumpy().dtype == np.int64
        np.testing.assert_array_equal(values.asnumpy(), wanted)
        np.testing.assert_array_equal(at.asnumpy(), places)


def test_best_so_far_of_views_and_of_one():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-2]
    values, at = ms.Tensor(x).cummin(1)
    np.testing.assert_array_equal(values.asnumpy(), np.minimum.accumulate(x, 1))
    np.testing.assert_array_equal(at.asnumpy(), best(x, 1, False)[1])
    values, at = ms.ops.cummax(ms.Tensor(3.0), 0)
    assert (float(values), int(at), values.shape) == (3.0, 0, ())
    with pytest.raises(ms.InputError, match="axis"):
        ms.ops.cummax(x, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("axis", [0, -1])
def test_logcumsumexp(dtype, axis):
    x = (RNG.standard_normal((5, 300)) * 30).astype(dtype)
    got = ms.ops.logcumsumexp(x, axis).asnumpy()
    assert got.dtype == (dtype if dtype.startswith("f") else "float32")
    np.testing.assert_allclose(got, np.logaddexp.accumulate(x.astype(np.float64), axis), rtol=2e-6)


def test_logcumsumexp_at_the_ends():
    inf, nan = np.inf, np.nan
    for row in ([-inf, -inf, 1.0, inf, inf], [1000.0, 1000.0, -1000.0], [0.0, nan, 1.0], [inf, -inf], [-inf, nan]):
        x = np.array(row, np.float32)
        with np.errstate(invalid="ignore"):
            wanted = np.logaddexp.accumulate(x.astype(np.float64))
        np.testing.assert_allclose(ms.ops.logcumsumexp(x, 0).asnumpy(), wanted.astype(np.float32), rtol=1e-6)
    assert float(ms.ops.logcumsumexp(ms.Tensor(2.5), 0)) == 2.5


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool"])
def test_diff(n, dtype):
    x = sample("int64", (4, 6)).astype(dtype)
    for axis in (0, 1):
        np.testing.assert_array_equal(ms.ops.diff(x, n, axis).asnumpy(), np.diff(x, n, axis))
        f = ms.jit(lambda x: ms.ops.diff(x, n, axis))  # noqa: B023
        np.testing.assert_array_equal(f(x).asnumpy(), np.diff(x, n, axis))
        assert f(x[:0, :0]).shape == (0, 0)


def test_diff_with_ends():
    x = sample("int64", (3, 4))
    np.testing.assert_array_equal(ms.ops.diff(x, prepend=0, append=x[:, :2]).asnumpy(), np.diff(x, prepend=0, append=x[:, :2]))
    np.testing.assert_array_equal(ms.Tensor(x).diff(axis=0, append=7).asnumpy(), np.diff(x, axis=0, append=7))
    with pytest.raises(ms.InputError, match="rank 1"):
        ms.ops.diff(ms.Tensor(1.0))
    with pytest.raises(ms.InputError, match="n is -1"):
        ms.ops.diff(x, -1)


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, np.inf])
def test_cdist(p):
    a, b = RNG.standard_normal((2, 5, 3)).astype(np.float32), RNG.standard_normal((7, 3)).astype(np.float32)
    a[0, 1] = b[2]
    d = np.abs(a[:, :, None].astype(np.float64) - b)
    wanted = {0: lambda: (d != 0).sum(-1), np.inf: lambda: d.max(-1)}.get(p, lambda: (d**p).sum(-1) ** (1 / p))()
    for f in (ms.ops.cdist, ms.jit(lambda a, b, p: ms.ops.cdist(a, b, p))):
        got = f(a, b, p).asnumpy()
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    assert ms.ops.cdist(a[:, :0], b, p).shape == (2, 0, 7)


def test_cdist_refuses():
    with pytest.raises(ms.InputError, match="rank 2"):
        ms.ops.cdist(np.zeros(3, np.float32), np.zeros((2, 3), np.float32))
    with pytest.raises(ms.InputError, match="p is"):
        ms.ops.cdist(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32), -1)


def most_frequent(x, axis):
    """torch.mode: of equally frequent ones the least; where it stands last."""
    rows = np.moveaxis(x, axis, -1)
    values, at = np.empty(rows.shape[:-1], x.dtype), np.empty(rows.shape[:-1], np.int64)
    for k in np.ndindex(values.shape):
        found, counts = np.unique(rows[k], return_counts=True)
        values[k] = found[counts.argmax()]
        at[k] = np.flatnonzero(rows[k] == values[k])[-1]
    return values, at


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
@pytest.mark.parametrize(("shape", "axis"), [((9,), 0), ((4, 50), 1), ((40, 3), 0), ((5, 1), -1)])
def test_mode(dtype, shape, axis):
    x = RNG.integers(0, 6, shape).astype(dtype)
    f = ms.jit(lambda x: ms.ops.mode(x, axis))
    for values, at in (ms.ops.mode(x, axis), f(x)):
        wanted, places = most_frequent(x, axis)
        np.testing.assert_array_equal(values.asnumpy(), wanted)
        np.testing.assert_array_equal(at.asnumpy(), places)
        assert at.asnumpy().dtype == np.int64
    assert ms.ops.mode(x, axis, True)[0].ndim == x.ndim


def test_mode_of_nothing():
    with pytest.raises(ms.InputError, match="empty"):
        ms.ops.mode(np.zeros((3, 0), np.float32))
