"""Selection, scattering, search and order against numpy; indexing by generated indices, numpy is the oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ops.oracle import FLOATS, INTS, array, assert_same

import msvm
from msvm import ops

THOROUGH = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def indexed(draw):
    """A tensor and an index for it, mostly a good one."""
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5]), min_size=0, max_size=4))
    x = np.arange(int(np.prod(shape))).reshape(shape)
    common = draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2))
    parts, axis, dots = [], 0, False
    for _ in range(draw(st.integers(0, len(shape) + 2))):
        kind = draw(st.sampled_from(["int", "slice", "slice", "slice", "new", "dots", "array", "mask"]))
        if kind == "new" and sum(p is None for p in parts) < 2:
            parts.append(None)
        elif kind == "dots" and not dots:
            dots = True
            parts.append(Ellipsis)
            axis = max(axis, draw(st.integers(axis, len(shape))))
        elif axis < len(shape):
            n = shape[axis]
            if kind == "slice":
                b = st.none() | st.integers(-7, 7)
                parts.append(slice(draw(b), draw(b), draw(st.none() | st.sampled_from([1, 2, 3, -1, -2, -4]))))
            elif kind == "int" and n:
                parts.append(draw(st.integers(-n, n - 1)))
            elif kind == "array" and n:
                kept = common[draw(st.integers(0, len(common))) :]
                own = [d if draw(st.booleans()) else 1 for d in kept]
                parts.append(
                    np.array(
                        draw(st.lists(st.integers(-n, n - 1), min_size=int(np.prod(own)), max_size=int(np.prod(own)))), np.int64
                    ).reshape(own)
                )
            elif kind == "mask" and not any(isinstance(p, np.ndarray) for p in parts):
                k = draw(st.integers(1, len(shape) - axis))
                size = int(np.prod(shape[axis : axis + k]))
                parts.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(shape[axis : axis + k]))
                axis += k - 1
            else:
                continue
            axis += 1
    index = tuple(parts)
    return x, index[0] if len(index) == 1 and draw(st.booleans()) else index


def odd_mask(x, index):
    """A mask of another size than its axis: an error here, but numpy lets it pass where nothing is left to select from."""
    masks = [p for p in (index if isinstance(index, tuple) else (index,)) if isinstance(p, np.ndarray) and p.dtype == bool]
    return x.size == 0 and any(m.size == 0 for m in masks)


@given(indexed())
@THOROUGH
def test_getitem(case):
    x, index = case
    try:
        want = x[index]
    except IndexError:
        with pytest.raises((IndexError, msvm.Error)):
            ops.getitem(x, index)
        return
    if want.ndim > 8 or odd_mask(x, index):
        return
    assert_same(ops.getitem(x, index), want, what=repr(index))


@given(indexed(), st.data())
@THOROUGH
def test_setitem(case, data):
    x, index = case
    try:
        region = x[index]
    except IndexError:
        return
    if region.ndim > 7 or odd_mask(x, index):
        return
    kept = list(region.shape[data.draw(st.integers(0, region.ndim)) :])
    shape = [d if data.draw(st.booleans()) else 1 for d in kept]
    value = -1 - np.arange(int(np.prod(shape))).reshape(shape)
    if data.draw(st.booleans()):
        value = np.asarray(-1)
    want = x.copy()
    try:
        want[index] = value
    except ValueError:
        return
    assert_same(ops.setitem(x, index, value), want, what=f"{index!r} = {value!r}")


def test_index_kinds():
    x = array((4, 5, 6))
    for index in [
        [0, 2],
        ([0, 1], [2, 3]),
        np.int32(2),
        np.array([1, 2], np.uint8),
        np.array(1),
        (Ellipsis, [0, 0]),
        ([[0], [1]], slice(None), [[1, 2]]),
        True,
        (slice(None), False),
        [],
    ]:
        assert_same(ops.getitem(x, index), x[index], what=repr(index))
    big = np.iinfo(np.int64).max
    assert_same(ops.getitem(x, slice(None, big)), x)
    assert_same(ops.getitem(x, slice(-big, None, 2)), x[::2])
    assert_same(ops.getitem(x, slice(big, None, -1)), x[::-1])


@pytest.mark.parametrize("index", [4, -5, (0, 5), (0, 0, 0, 0), (Ellipsis, Ellipsis), 1.5, "a", np.array([0.5])])
def test_bad_indices(index):
    x = array((4, 5, 6))
    with pytest.raises(IndexError):
        ops.getitem(x, index)


def test_bad_positions_are_found_when_it_runs():
    x = array((4, 5))
    for index in (np.array([0, 4]), np.array([-5]), (np.array([0]), np.array([5]))):
        with pytest.raises((IndexError, msvm.InputError)):
            ops.getitem(x, index)
    with pytest.raises((IndexError, msvm.InputError)):
        ops.getitem(x, np.ones((4, 4), bool))
    with pytest.raises(ValueError, match="zero"):
        ops.getitem(x, slice(None, None, 0))
    with pytest.raises(TypeError):
        ops.getitem(x, slice(0.5, 2))


def test_setitem_casts_and_broadcasts():
    x = array((4, 5), "int32", 0, 9)
    y = x.copy()
    y[1:3] = np.array([1.7, 2.2, 3, 4, 5])
    assert_same(ops.setitem(x, slice(1, 3), np.array([1.7, 2.2, 3, 4, 5])), y)
    y = x.copy()
    y[[0, 0, 1]] = np.arange(15).reshape(3, 5)
    assert_same(ops.setitem(x, [0, 0, 1], np.arange(15).reshape(3, 5)), y)
    with pytest.raises(msvm.InputError):
        ops.setitem(x, 0, np.ones(4))
    with pytest.raises(msvm.InputError):
        ops.setitem(x, slice(0, 2), np.ones((3, 5)))


def test_gathering():
    x = array((4, 5, 6))
    at = np.array([[0, -1], [3, 2]])
    for axis in (0, 1, 2, -1):
        assert_same(ops.gather(x, at, axis), np.take(x, at, axis))
    assert_same(ops.take(x, at), np.take(x, at))
    assert_same(ops.index_select(x, 1, np.array([4, 0])), x[:, [4, 0]])
    at = array((4, 5, 3), "int64", 0, 5)
    assert_same(ops.gather_elements(x, 2, at), np.take_along_axis(x, at, 2))
    assert_same(ops.take_along_axis(x, at[:1], 2), np.take_along_axis(x, at[:1], 2))
    assert_same(ops.gather_nd(x, np.array([[0, 1], [3, 4]])), x[[0, 3], [1, 4]])
    b = np.array([[0, 1], [2, 3], [4, 0], [1, 1]])
    assert_same(ops.gather(x, b, 1, 1), np.stack([x[k][b[k]] for k in range(4)]))
    assert_same(ops.gather(x, b, 2, 1), np.stack([x[k][:, b[k]] for k in range(4)]))
    with pytest.raises(msvm.InputError):
        ops.gather(x, np.array([4]), 0)
    with pytest.raises(msvm.InputError, match="expected integers"):
        ops.gather(x, np.array([0.5]), 0)


def test_scattering():
    x = np.zeros((3, 4), np.float32)
    at = np.array([[0, 1], [2, 2], [0, 3]])
    up = array((3, 2))
    y = ops.tensor_scatter_elements(x[:2], at[:2], up[:2], 1)
    expected = x[:2].copy()
    expected[0, [0, 1]] = up[0]
    expected[1, 2] = up[1, 1]
    assert_same(y, expected)
    added = x.copy()
    np.add.at(added, (np.arange(3)[:, None], at), up)
    assert_same(ops.tensor_scatter_elements(x, at, up, 1, "add"), added)
    assert_same(ops.scatter(x, 1, at, up, reduce="add"), added)
    rows, values = np.array([[0], [2], [0]]), array((3, 4), seed=2)
    for name, f in (("add", np.add), ("sub", np.subtract), ("max", np.maximum), ("min", np.minimum), ("mul", np.multiply)):
        want = array((3, 4)).copy()
        f.at(want, rows[:, 0], values)
        assert_same(getattr(ops, f"tensor_scatter_{name}")(array((3, 4)), rows, values), want, what=name)
    want = array((3, 4)).copy()
    want[[0, 2]] = values[:2]
    assert_same(ops.tensor_scatter_update(array((3, 4)), rows[:2], values[:2]), want)
    assert_same(
        ops.scatter_nd(np.array([[1], [1]]), np.ones((2, 4), np.float32), (3, 4)), np.array([[0] * 4, [2] * 4, [0] * 4], np.float32)
    )
    want = x.copy()
    np.add.at(want.T, [1, 1], np.ones((2, 3), np.float32))
    assert_same(ops.index_add(x, 1, np.array([1, 1]), np.ones((3, 2), np.float32)), want)
    with pytest.raises(msvm.InputError, match="can't be written"):
        ops.tensor_scatter_update(np.zeros((3,), np.int32), np.array([[0]]), np.array([1.5], np.float32))


def test_caches():
    cache, new = np.zeros((2, 1, 4, 3), np.float32), array((2, 1, 1, 3))
    want = cache.copy()
    want[0, :, 1:2], want[1, :, 3:4] = new[0], new[1]
    assert_same(ops.tensor_scatter(cache, new, np.array([1, 3])), want)


def test_masks():
    x = array((3, 4))
    m = x > 0
    assert_same(ops.masked_fill(x, m, 9.0), np.where(m, np.float32(9), x))
    assert_same(ops.masked_select(x, m), x[m])
    assert_same(ops.masked_select(x, m[:1]), x[np.broadcast_to(m[:1], x.shape)])
    assert_same(ops.compress(np.array([True, False, True]), x, 0), x[[0, 2]])
    assert_same(ops.compress(np.array([True, False, True]), x), x.ravel()[[0, 2]])
    for shape in [(3, 4), (0, 2), (), (2, 3, 4)]:
        for dtype in ("float32", "int8", "bool"):
            y = array(shape, dtype, -1, 1)
            if shape:
                assert_same(ops.nonzero(y), np.argwhere(y))
                assert_same(ops.nonzero(y, as_tuple=True), np.nonzero(y))
    assert_same(ops.isin(np.array([1, 2, 5]), np.array([2, 3, 1])), np.array([True, True, False]))


def test_unique():
    for dtype in ("int64", "float32", "uint8", "bool"):
        x = array((5, 4), dtype, 0, 4) if dtype != "float32" else array((5, 4), "int32", 0, 4).astype(np.float32)
        values, first, inverse, counts = np.unique(x, True, True, True)
        assert_same(ops.unique(x, True, True, True, return_index=True), (values, first, inverse.reshape(x.shape), counts))
        assert_same(ops.unique(x), values)
    x = np.array([[1, 2], [1, 2], [0, 1]])
    assert_same(ops.unique(x, axis=0), np.unique(x, axis=0))
    x = np.array([1, 1, 2, 2, 2, 1, 3])
    assert_same(ops.unique_consecutive(x, True, True), (np.array([1, 2, 1, 3]), np.array([0, 0, 1, 1, 1, 2, 3]), np.array([2, 3, 1, 1])))
    assert_same(ops.unique_consecutive(x[:0]), x[:0])


def test_order():
    for dtype in [*FLOATS, *INTS, "bool"]:
        for shape in [(7,), (3, 5), (0, 3), (2, 3, 4)]:
            x = array(shape, dtype, 0, 4)
            for axis in range(-len(shape), len(shape)):
                assert_same(ops.sort(x, axis), (np.sort(x, axis), np.argsort(x, axis, kind="stable")), what=f"{dtype}{shape} {axis}")
                assert_same(ops.argsort(x, axis), np.argsort(x, axis, kind="stable"))
                assert_same(ops.sort(x, axis, True)[0], np.flip(np.sort(x, axis), axis))
    x = array((3, 7))
    for k, largest in itertools.product((0, 1, 3, 7), (True, False)):
        order = np.argsort(-x if largest else x, -1, kind="stable")[:, :k]
        assert_same(ops.topk(x, k, largest=largest), (np.take_along_axis(x, order, -1), order))
    with pytest.raises(msvm.InputError):
        ops.topk(x, 8)
    assert_same(ops.median(x, 1), (np.sort(x, 1)[:, 3], np.argsort(x, 1)[:, 3]))
    assert_same(ops.msort(x), np.sort(x, 0))


def test_sorted_search():
    a = np.array([1.0, 2, 2, 3, 5], np.float32)
    x = np.array([[0, 2, 2.5], [3, 5, 9]], np.float32)
    assert_same(ops.searchsorted(a, x), np.searchsorted(a, x))
    assert_same(ops.searchsorted(a, x, right=True), np.searchsorted(a, x, "right"))
    assert_same(ops.bucketize(x, a), np.searchsorted(a, x))


def test_one_hot_and_counts():
    x = np.array([[0, 2], [1, -1]])
    assert_same(ops.one_hot(x, 3, 1.0, 0.0), np.eye(3, dtype=np.float32)[x])
    assert_same(ops.one_hot(x, 3, axis=0), np.moveaxis(np.eye(3, dtype=np.int64)[x], -1, 0))
    y = np.array([0, 3, 3, 1])
    assert_same(ops.bincount(y), np.bincount(y))
    assert_same(ops.bincount(y, minlength=6), np.bincount(y, minlength=6))
    assert_same(ops.bincount(y, np.array([1.0, 2, 3, 4])), np.bincount(y, np.array([1.0, 2, 3, 4])))
    assert_same(ops.bincount(y[:0]), np.bincount(y[:0]))
    with pytest.raises(msvm.InputError, match="negative"):
        ops.bincount(np.array([-1]))


def suppressed(boxes, scores, threshold):
    kept = []
    for k in np.argsort(-scores, kind="stable"):
        ok = True
        for other in kept:
            w = np.minimum(boxes[k, 2:], boxes[other, 2:]) - np.maximum(boxes[k, :2], boxes[other, :2])
            inter = np.prod(np.maximum(w, 0))
            union = np.prod(boxes[k, 2:] - boxes[k, :2]) + np.prod(boxes[other, 2:] - boxes[other, :2]) - inter
            ok &= inter / union <= threshold
        if ok:
            kept.append(k)
    return np.array(kept, np.int64)


@pytest.mark.parametrize("n", [0, 1, 17])
def test_suppression(n):
    corners = array((n, 2), low=0, high=5)
    boxes = np.concatenate([corners, corners + array((n, 2), low=1, high=4, seed=1)], 1)
    scores = array((n,), low=0, high=1, seed=2)
    for threshold in (0.2, 0.5):
        assert_same(ops.nms(boxes, scores, threshold), suppressed(boxes, scores, threshold))
    rows = ops.non_max_suppression(boxes[None], scores[None, None], 3, 0.5, 0.4)
    want = [k for k in suppressed(boxes, np.where(scores > 0.4, scores, 0), 0.5) if scores[k] > 0.4][:3]
    assert_same(rows, np.array([[0, 0, k] for k in want], np.int64).reshape(-1, 3))


def test_bounds_that_are_tensors():
    x, two = array((5,)), msvm.Tensor(np.int64(2))
    assert_same(ops.getitem(x, slice(two, None)), x[2:])
    assert_same(ops.getitem(x, slice(None, np.int32(3))), x[:3])
    assert_same(ops.getitem(x, two), x[2])
    with pytest.raises(TypeError, match="slice indices must be integers"):
        ops.getitem(x, slice(msvm.Tensor(1.5), None))
