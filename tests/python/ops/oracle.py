"""What the sweeps of operators share: arrays to try, and how results are held against numpy's."""

import numpy as np

SHAPES = [(), (0,), (1,), (7,), (2, 3), (3, 0, 2), (2, 3, 5), (13, 17)]
FLOATS = ["float32", "float64", "float16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}


def array(shape, dtype="float32", low=-3.0, high=3.0, seed=0):
    """Values of a dtype in [low, high); the same for the same arguments."""
    r = np.random.default_rng([seed, int(np.prod(shape)), len(shape)])
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return r.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        low = max(low, 0) if dtype.kind == "u" else low
        return r.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape).astype(dtype)
    return r.uniform(low, high, shape).astype(dtype)


def assert_same(got, want, *, rtol=None, atol=None, dtype=True, what=""):
    """Equal shapes and dtypes, and values within the tolerance of the dtype; tuples one by one."""
    if isinstance(want, tuple | list):
        assert isinstance(got, tuple | list) and len(got) == len(want), f"{what}: expected {len(want)} results, found {got!r}"
        for g, w in zip(got, want, strict=True):
            assert_same(g, w, rtol=rtol, atol=atol, dtype=dtype, what=what)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if dtype:
        assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    if want.dtype.kind == "f":
        t = TOLERANCE.get(got.dtype.name, 1e-6) if rtol is None else rtol
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=t, atol=t if atol is None else atol, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)
